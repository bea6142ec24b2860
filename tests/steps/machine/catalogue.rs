//! What the machine's shop sells, and who buys there.

/// A product, as the reference knows it.
#[derive(Clone, Copy)]
pub(super) struct Article {
    pub(super) sku: &'static str,
    /// Of one, in minor units.
    pub(super) price: i64,
    pub(super) currency: &'static str,
    pub(super) hold_minutes: u64,
    pub(super) max_per_order: Option<i64>,
    pub(super) per_customer: Option<i64>,
    pub(super) open_orders: Option<i64>,
    pub(super) new_only: bool,
    pub(super) backorders: bool,
    /// Codes are given in a random order, not in that of the file.
    pub(super) random: bool,
    pub(super) sort: Sort,
}

/// Where an article's codes come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// Files.
    Imported,
    /// So many are made with the product.
    Coupon { count: usize },
    /// Rounds of so many shares, and so many rounds.
    Raffle { shares: usize, rounds: usize },
}

impl Article {
    /// How many codes there will ever be, if that is fixed.
    pub(super) fn made(&self) -> Option<usize> {
        match self.sort {
            Sort::Imported => None,
            Sort::Coupon { count } => Some(count),
            Sort::Raffle { shares, rounds } => Some(shares * rounds),
        }
    }
}

const PLAIN: Article = Article {
    sku: "card",
    price: 1_000,
    currency: "CNY",
    hold_minutes: 15,
    max_per_order: None,
    per_customer: None,
    open_orders: None,
    new_only: false,
    backorders: false,
    random: false,
    sort: Sort::Imported,
};

/// The first four are ordered most.
pub(super) const ARTICLES: [Article; 9] = [
    PLAIN,
    Article { sku: "pass", price: 700, hold_minutes: 5, per_customer: Some(4), ..PLAIN },
    Article { sku: "ahead", price: 500, backorders: true, random: true, ..PLAIN },
    Article { sku: "later", price: 300, hold_minutes: 5, per_customer: Some(6), backorders: true, ..PLAIN },
    Article {
        sku: "flash",
        price: 900,
        hold_minutes: 1,
        max_per_order: Some(2),
        open_orders: Some(1),
        ..PLAIN
    },
    Article { sku: "gift", price: 0, per_customer: Some(1), new_only: true, random: true, ..PLAIN },
    Article { sku: "euro", price: 400, currency: "EUR", ..PLAIN },
    Article { sku: "coupon", price: 200, random: true, sort: Sort::Coupon { count: 12 }, ..PLAIN },
    Article {
        sku: "raffle",
        price: 100,
        hold_minutes: 5,
        random: true,
        sort: Sort::Raffle { shares: 5, rounds: 4 },
        ..PLAIN
    },
];

/// How somebody writes their id.
pub(super) struct Buyer {
    /// In a script.
    pub(super) name: &'static str,
    /// To the shop.
    pub(super) given: &'static str,
    /// The same number is the same person.
    pub(super) person: usize,
}

pub(super) const PERSONS: usize = 4;

/// Several write the same id differently: in capitals, full width, or with another letter that folds to theirs.
pub(super) const BUYERS: [Buyer; 8] = [
    Buyer { name: "ann", given: "ann", person: 0 },
    Buyer { name: "ann-in-capitals", given: "ANN", person: 0 },
    Buyer { name: "ann-in-full-width", given: "\u{ff41}\u{ff4e}\u{ff4e}", person: 0 },
    Buyer { name: "bob", given: "bob", person: 1 },
    Buyer { name: "strasse", given: "stra\u{df}e", person: 2 },
    Buyer { name: "strasse-in-capitals", given: "STRASSE", person: 2 },
    Buyer { name: "dan", given: "dan", person: 3 },
    Buyer { name: "dan-in-capitals", given: "Dan", person: 3 },
];

/// One spelling of each person's id.
pub(super) fn spelling(person: usize) -> &'static str {
    BUYERS.iter().find(|buyer| buyer.person == person).unwrap().given
}
