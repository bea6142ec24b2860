//! Text and bytes: what goes in comes out, to the last sign.

use std::slice::from_ref;

use tessera_model::text::{CustomerId, Email, Note, OrderReference, ProductName, Reference};

use super::Fixture;
use super::letters::letter_about;
use super::shop::{place, sku};
use crate::letters::Letter;
use crate::payments::Payment;

/// Signs that a careless way to SQL would break.
const TEXTS: [&str; 12] = [
    r#"it's "quoted""#,
    r"back\slash \n \u0041 \\",
    "会员卡 🎫👩‍👩‍👧",
    "\u{ffff}\u{10ffff}\u{fdd0}",
    "line\u{2028}separator\u{2029} and \u{feff}mark",
    "e\u{301} is not é",
    "$1 ?1 :a @b %s {} ';--",
    "007",
    "1e5",
    "null",
    "true",
    "[1,2]",
];

/// Names, notes, customers and addresses.
pub async fn texts_of_orders_round_trip(fixture: &Fixture) {
    for (n, text) in TEXTS.into_iter().enumerate() {
        let mut product = fixture.new_product(&format!("card-{n}"));
        product.rules.name = ProductName::parse(text).expect("a name");
        product.rules.note = Note::parse(&format!("{text}\n\t\r\n{text}")).expect("a note");
        fixture.write(async |tx| tx.products_put(from_ref(&product)).await).await;
        let found = fixture.read(async |tx| tx.products_read(&[product.id]).await).await;
        assert_eq!(found, [product.clone()], "{text}");
        let mut placed = fixture.new_order(text, &[(&product, 1)]);
        let address: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        placed.order.email = Some(Email::parse(&format!("{address}@x.com")).expect("an address"));
        fixture.write(async |tx| place(tx, from_ref(&placed)).await).await;
        let id = placed.order.id;
        let (orders, lines) =
            fixture.read(async |tx| Ok((tx.orders_read(&[id]).await?, tx.lines_read(&[id]).await?))).await;
        assert_eq!(orders, [placed.order], "{text}");
        assert_eq!(lines, [(id, placed.lines[0].clone())], "{text}");
        let buyer = CustomerId::parse(text).expect("a customer");
        let standing =
            fixture.read(async |tx| tx.customers_standing(from_ref(&buyer), &[product.id]).await).await;
        assert_eq!((standing[0].0.as_str(), standing[0].1.open), (buyer.folded(), 1), "{text}");
    }
}

/// What providers write.
pub async fn texts_of_payments_round_trip(fixture: &Fixture) {
    for text in TEXTS {
        let payment = Payment {
            reference: Reference::parse(text).expect("a reference"),
            order_reference: OrderReference::parse(text).expect("an order reference"),
            ..fixture.new_payment("order-1", 1)
        };
        fixture.write(async |tx| tx.payments_claim(from_ref(&payment)).await).await;
        let names = [(payment.provider.clone(), payment.reference.clone())];
        assert_eq!(fixture.read(async |tx| tx.payments_known(&names).await).await, [payment], "{text}");
    }
}

/// What went wrong, in whatever words.
pub async fn texts_of_letters_round_trip(fixture: &Fixture) {
    for text in TEXTS {
        let letter = Letter {
            message_id: Some(text.to_owned()),
            event: Some(text.to_owned()),
            reason: text.to_owned(),
            fingerprint: text.to_owned(),
            ..letter_about(fixture, None)
        };
        fixture.write(async |tx| tx.letters_put(from_ref(&letter)).await).await;
        assert_eq!(fixture.read(async |tx| tx.letters_read(letter.id).await).await, Some(letter), "{text}");
    }
}

/// Who holds a lease, and for what.
pub async fn texts_of_leases_round_trip(fixture: &Fixture) {
    for text in TEXTS {
        let until = fixture.later(60);
        let lease = fixture.write(async |tx| tx.lease_take(text, [1; 16], text, until).await).await;
        assert_eq!(lease.purpose, text);
        assert_eq!(fixture.read(async |tx| tx.lease_read(text).await).await, Some(lease));
    }
}

/// A sku of digits is text, and found as text.
pub async fn sku_of_digits_stays_text(fixture: &Fixture) {
    let mut products = vec![];
    for name in ["7", "007", "7.0", "1e5"] {
        products.push(fixture.product(name).await);
    }
    for product in products {
        let found = fixture.read(async |tx| tx.products_of(from_ref(&product.rules.sku)).await).await;
        assert_eq!(found, [product]);
    }
    assert_eq!(fixture.read(async |tx| tx.products_of(&[sku("7.00")]).await).await, []);
}
