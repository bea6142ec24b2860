//! `/v1/orders` and below.

mod cancel;
mod codes;
mod events;
mod many;
mod pay;
mod place;
mod proof;
mod refused;
mod repeated;
mod show;
mod token;
mod unreadable;
mod waiting;
