//! Text from outside, parsed once into types that cannot be wrong.
//!
//! Each type states its bounds; what is inside has no NUL or control character, so that it can reach SQL,
//! a message and a page as it is. The fault of a refused value is a [`BadText`], whose words follow the
//! name of the field.

use unicode_normalization::UnicodeNormalization;

/// Why a text was refused. Display completes a sentence that begins with the field's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadText {
    /// Nothing, or only white space.
    #[error("is empty: give at least one character")]
    Empty,
    /// Longer than `max` characters.
    #[error("is too long: give at most {max} characters")]
    TooLong {
        /// The most characters allowed.
        max: usize,
    },
    /// Shorter than `min` characters.
    #[error("is too short: give at least {min} characters")]
    TooShort {
        /// The fewest characters allowed.
        min: usize,
    },
    /// A control character, NUL among them.
    #[error("contains a control character: remove it")]
    Control,
    /// A character outside the allowed ones.
    #[error("contains a character that is not allowed: use {allowed}")]
    Alphabet {
        /// The characters that are.
        allowed: &'static str,
    },
    /// Not an e-mail address.
    #[error("is not an e-mail address: give one such as buyer@example.com")]
    Email,
}

fn bounded(text: &str, max: usize) -> Result<(), BadText> {
    if text.trim().is_empty() {
        return Err(BadText::Empty);
    }
    if text.chars().count() > max {
        return Err(BadText::TooLong { max });
    }
    match text.chars().any(char::is_control) {
        true => Err(BadText::Control),
        false => Ok(()),
    }
}

fn of_alphabet(
    text: &str,
    max: usize,
    allowed: &'static str,
    is: fn(char) -> bool,
) -> Result<String, BadText> {
    bounded(text, max)?;
    match text.chars().all(is) {
        true => Ok(text.to_owned()),
        false => Err(BadText::Alphabet { allowed }),
    }
}

macro_rules! text {
    ($($(#[$doc:meta])* $name:ident = $parse:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Parses it.
            ///
            /// # Errors
            /// [`BadText`] says what is wrong and what to do.
            pub fn parse(text: &str) -> Result<Self, BadText> {
                let parse: fn(&str) -> Result<String, BadText> = $parse;
                parse(text).map(Self)
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

fn sku_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

text! {
    /// A product's name in URLs and files: 1–64 of letters, digits, `-`, `_` and `.`, for example `iqiyi-month`.
    Sku = |t| of_alphabet(t, 64, "letters, digits, '-', '_' and '.'", sku_char);
    /// What buyers call a product: 1–200 characters.
    ProductName = |t| bounded(t, 200).map(|()| t.to_owned());
    /// A payment provider's name: 1–32 of letters, digits, `-` and `_`.
    Provider = |t| of_alphabet(t, 32, "letters, digits, '-' and '_'", |c| c != '.' && sku_char(c));
    /// A provider's name for one payment: 1–128 characters.
    Reference = |t| bounded(t, 128).map(|()| t.to_owned());
    /// What a payment notice calls our order: any text up to 64 characters, for it may be no order of ours.
    OrderReference = |t| bounded(t, 64).map(|()| t.to_owned());
    /// Who a batch of codes was bought from: 1–200 characters.
    Supplier = |t| bounded(t, 200).map(|()| t.to_owned());
    /// Why an operator did something: 1–500 characters.
    Reason = |t| bounded(t, 500).map(|()| t.to_owned());
    /// A merchant's `Idempotency-Key`: 8–128 visible ASCII characters. A secret: only its hash is stored.
    IdempotencyKey = idempotency_key;
}

fn idempotency_key(text: &str) -> Result<String, BadText> {
    // draft-ietf-httpapi-idempotency-key-header writes it as a quoted string; many clients send it bare.
    let bare = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text);
    let key = of_alphabet(bare, 128, "visible ASCII characters", |c| c.is_ascii_graphic())?;
    match key.len() < 8 {
        true => Err(BadText::TooShort { min: 8 }),
        false => Ok(key),
    }
}

/// A usage note shown with the codes: up to 2 000 characters, may be empty, may hold line breaks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note(String);

impl Note {
    /// Parses it.
    ///
    /// # Errors
    /// [`BadText::TooLong`], or [`BadText::Control`] for a control character other than tab and line breaks.
    pub fn parse(text: &str) -> Result<Self, BadText> {
        if text.chars().count() > 2_000 {
            return Err(BadText::TooLong { max: 2_000 });
        }
        match text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
            true => Err(BadText::Control),
            false => Ok(Self(text.to_owned())),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An e-mail address: up to 254 characters, one `@` with something on each side. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Email(String);

impl Email {
    /// Parses it. Deliverability is not our business, so the check is coarse (RFC 5321's length).
    ///
    /// # Errors
    /// [`BadText`] says what is wrong.
    pub fn parse(text: &str) -> Result<Self, BadText> {
        bounded(text, 254)?;
        let parts = text.rsplit_once('@').is_some_and(|(local, domain)| {
            !local.is_empty() && !domain.is_empty() && !text.contains(char::is_whitespace)
        });
        if parts { Ok(Self(text.to_owned())) } else { Err(BadText::Email) }
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Email {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Email(…)")
    }
}

/// Who buys, in the merchant's words: 1–128 characters, kept as given and compared folded.
///
/// `A@x.com`, `a@x.com ` and full-width `ａ@x.com` are one customer: NFKC, full case folding, trimmed. The
/// fold is done here, not in the database, so that both engines agree. Never printed: it is often an address.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CustomerId {
    folded: String,
    given: String,
}

impl CustomerId {
    /// Parses it.
    ///
    /// # Errors
    /// [`BadText`] says what is wrong.
    pub fn parse(text: &str) -> Result<Self, BadText> {
        bounded(text, 128)?;
        let folded = fold(text);
        bounded(&folded, 512)?;
        Ok(Self { folded, given: text.to_owned() })
    }

    /// One that was parsed before and stored in both forms.
    pub const fn from_stored(folded: String, given: String) -> Self {
        Self { folded, given }
    }

    /// As the merchant wrote it.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// As customers are compared.
    pub fn folded(&self) -> &str {
        &self.folded
    }
}

impl std::fmt::Debug for CustomerId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CustomerId(…)")
    }
}

/// Folding can make new characters that fold again, so it is repeated until nothing changes.
fn fold(text: &str) -> String {
    let once = |t: &str| caseless::default_case_fold_str(&t.nfkc().collect::<String>()).trim().to_owned();
    let mut folded = once(text);
    for _ in 0..3 {
        let again = once(&folded);
        if again == folded {
            break;
        }
        folded = again;
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_customer_however_it_is_written() {
        let a = CustomerId::parse("A@x.com").unwrap();
        for other in ["a@x.com ", " ａ@X.COM", "a@x.com"] {
            assert_eq!(a.folded(), CustomerId::parse(other).unwrap().folded(), "{other}");
        }
        assert_eq!(a.given(), "A@x.com");
        assert_eq!(CustomerId::parse("Straße").unwrap().folded(), "strasse");
    }

    #[test]
    fn a_nul_is_refused_everywhere() {
        assert_eq!(CustomerId::parse("a\0b"), Err(BadText::Control));
        assert_eq!(Sku::parse("a\0b"), Err(BadText::Control));
        assert_eq!(Reference::parse("\0"), Err(BadText::Control));
        assert_eq!(Note::parse("a\0"), Err(BadText::Control));
        assert_eq!(CustomerId::parse(" \u{3000}"), Err(BadText::Empty));
    }

    #[test]
    fn idempotency_keys_may_be_quoted_or_bare() {
        let bare = IdempotencyKey::parse("8e03978e-40d5-43dd").unwrap();
        assert_eq!(IdempotencyKey::parse("\"8e03978e-40d5-43dd\"").unwrap(), bare);
        assert_eq!(IdempotencyKey::parse("short"), Err(BadText::TooShort { min: 8 }));
        assert!(IdempotencyKey::parse("with space").is_err());
    }

    #[test]
    fn personal_data_is_not_printed() {
        let id = CustomerId::parse("someone@example.com").unwrap();
        let email = Email::parse("someone@example.com").unwrap();
        assert!(!format!("{id:?} {email:?}").contains("someone"));
    }

    #[test]
    fn an_address_needs_two_sides() {
        for bad in ["a", "@b", "a@", "a b@c"] {
            assert!(Email::parse(bad).is_err(), "{bad}");
        }
    }
}
