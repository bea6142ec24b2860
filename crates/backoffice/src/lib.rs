//! What operators do: products, imports, keys, and tidying up after what died.
//!
//! The commands and the operators' HTTP routes call the same functions, so that both do the same. What
//! buyers do is `orders`' business, what hands out codes the `issuer`'s.

pub mod api_keys;
pub mod cards;
pub mod import;
pub mod janitor;
pub mod keyring;
pub mod products;
