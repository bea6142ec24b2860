//! Cards: codes that do not work are replaced, and what is not to be sold is voided.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tessera_api::read::{CodeMark, code_page};
use tessera_backoffice::cards::{self, CLOSE_BEFORE, CodeState, Report, What, Wish};
use tessera_issuer::{Replace, ReplaceOutcome, Replacement};
use tessera_model::coupon::Format;
use tessera_model::draw::EntropyRule;
use tessera_model::ids::{BatchId, OrderId};
use tessera_model::order::OrderStatus;
use tessera_model::place::Refusal;
use tessera_model::product::{Coupon, Kind, Pick, Raffle};
use tessera_model::replace::{CannotReplace, Faulty};
use tessera_model::void::CannotVoid;
use tessera_orders::place::PlaceOutcome;
use tessera_store::ledger::{BatchRecord, Movement, MovementFilter, MovementKind};
use tessera_store::{Clock, StoreError, run_set};
use tessera_testbed::{How, Shop};

async fn with_stock(count: usize) -> (Shop, Vec<String>) {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    let codes = shop.stock("card", count).await;
    (shop, codes)
}

async fn bought(shop: &Shop, customer: &str, quantity: i64) -> OrderId {
    let order = shop.place(customer, &[("card", quantity)]).await;
    shop.pay(order).await;
    shop.issue(&[order]).await;
    assert_eq!(shop.status(order).await, OrderStatus::Issued);
    order
}

fn faulty(order: OrderId, positions: &[i64]) -> Faulty {
    Faulty { order, line: 1, positions: positions.iter().copied().collect(), force: false }
}

fn wish(faulty: Faulty) -> Replacement {
    Replacement { faulty, actor: "key:1".to_owned(), reason: "it is used".to_owned() }
}

async fn replace(shop: &Shop, order: OrderId, positions: &[i64]) -> ReplaceOutcome {
    cards::replace(&shop.store, wish(faulty(order, positions))).await.unwrap()
}

/// Replaces the first code of an order.
pub(crate) async fn replace_first(
    shop: &Shop,
    order: OrderId,
) -> Result<ReplaceOutcome, tessera_store::SetFault> {
    cards::replace(&shop.store, wish(faulty(order, &[1]))).await
}

async fn void(shop: &Shop, batch: BatchId, what: What, force: bool) -> Result<Report, CannotVoid> {
    let (actor, reason) = ("cli".to_owned(), "taken back".to_owned());
    cards::void(&shop.store, &shop.keyring, Wish { batch, what, actor, reason, force }).await.unwrap()
}

async fn batches(shop: &Shop) -> Vec<BatchRecord> {
    let mut tx = shop.store.snapshot().await.unwrap();
    let mut batches = tx.batches_list(None, None, 100).await.unwrap();
    batches.reverse();
    batches
}

async fn moved(shop: &Shop, filter: MovementFilter) -> Vec<Movement> {
    shop.store.snapshot().await.unwrap().movements_list(&filter, 1_000).await.unwrap()
}

/// Of each batch, imports are what is unissued, given out and voided.
async fn every_code_is_accounted_for(shop: &Shop) {
    for batch in batches(shop).await {
        let filter = MovementFilter { batch: Some(batch.id), ..MovementFilter::default() };
        let (mut imported, mut gone) = (0, 0);
        for movement in moved(shop, filter).await {
            match (movement.what, movement.owner) {
                (MovementKind::Import, _) => imported += movement.quantity,
                // A void of what an order has takes nothing from stock.
                (MovementKind::Void, Some(_)) => {}
                _ => gone += movement.quantity,
            }
        }
        assert_eq!(imported, batch.unissued + gone, "{batch:?}");
        assert_eq!(imported, batch.unissued + batch.issued + batch.voided, "{batch:?}");
    }
}

async fn found(shop: &Shop, code: &str) -> (CodeState, Option<OrderId>) {
    let found = cards::find(&shop.store, &shop.keyring, code).await.unwrap().unwrap();
    (found.state, found.owner.map(|owner| owner.order))
}

/// Case P85: the replacement of a key was not saved when the order had one already.
#[tokio::test]
async fn a_replaced_code_stays_on_its_order_and_is_never_sold_again() {
    let (shop, codes) = with_stock(6).await;
    let order = bought(&shop, "ann", 3).await;
    let version = shop.order(order).await.version;
    assert_eq!(replace(&shop, order, &[2]).await, Ok(vec![4]));
    assert_eq!(shop.order(order).await.version, version + 1, "waiting buyers see it");
    assert_eq!(shop.codes_of(order).await, codes[..4]);
    assert_eq!(found(&shop, &codes[1]).await, (CodeState::Replaced, Some(order)));
    assert_eq!(found(&shop, &codes[3]).await, (CodeState::Issued, Some(order)));
    // The one that stands in its place may fail, too; it has a position of its own.
    assert_eq!(replace(&shop, order, &[4, 1]).await, Ok(vec![5, 6]));
    assert_eq!(shop.shelf("card").await.unissued, 0);
    let more = shop.try_place(shop.new_order("bob", &[("card", 1)])).await;
    assert!(matches!(more, PlaceOutcome::Refused(Refusal::SoldOut { .. })), "{more:?}");
    every_code_is_accounted_for(&shop).await;
    shop.close().await;
}

#[tokio::test]
async fn of_ten_replacements_of_one_code_at_once_one_is_done() {
    let (shop, codes) = with_stock(20).await;
    let order = bought(&shop, "ann", 2).await;
    let asked = (0..10).map(|_| replace(&shop, order, &[1]));
    let outcomes = futures_util::future::join_all(asked).await;
    let (done, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!(done, [Ok(vec![3])]);
    assert!(refused.iter().all(|outcome| *outcome == Err(CannotReplace::Replaced(1))), "{refused:?}");
    assert_eq!(shop.codes_of(order).await, codes[..3]);
    every_code_is_accounted_for(&shop).await;
    shop.close().await;
}

#[tokio::test]
async fn a_replacement_whose_commit_was_in_doubt_is_done_once() {
    let (shop, codes) = with_stock(9).await;
    let order = bought(&shop, "ann", 2).await;
    shop.faults.next(1, "committed", &"places_void", How::Fail(StoreError::InDoubt("lost".to_owned())));
    assert_eq!(replace(&shop, order, &[1, 2]).await, Ok(vec![3, 4]));
    assert_eq!(shop.codes_of(order).await, codes[..4]);
    shop.close().await;
}

#[tokio::test]
async fn replacements_in_one_set_each_see_what_those_before_them_did() {
    let (shop, _) = with_stock(4).await;
    let (ann, bob) = (bought(&shop, "ann", 1).await, bought(&shop, "bob", 1).await);
    let asked = [ann, ann, bob, ann].map(|order| wish(faulty(order, &[1])));
    let outcomes = run_set(Arc::clone(&shop.store), Arc::new(Replace), asked.to_vec()).await;
    let outcomes: Vec<_> = outcomes.into_iter().map(Result::unwrap).collect();
    let again = Err(CannotReplace::Replaced(1));
    assert_eq!(outcomes, [Ok(vec![2]), again.clone(), Ok(vec![2]), again]);
    shop.close().await;
}

#[tokio::test]
async fn what_pending_orders_claim_is_no_replacement_unless_it_is_forced() {
    let (shop, codes) = with_stock(3).await;
    let order = bought(&shop, "ann", 1).await;
    let claims = shop.place("bob", &[("card", 2)]).await;
    assert_eq!(replace(&shop, order, &[1]).await, Err(CannotReplace::NoStock { left: 0, needed: 1 }));
    assert_eq!(shop.codes_of(order).await, codes[..1], "nothing was changed");
    assert_eq!(found(&shop, &codes[0]).await, (CodeState::Issued, Some(order)));
    let forced = wish(Faulty { force: true, ..faulty(order, &[1]) });
    assert_eq!(cards::replace(&shop.store, forced).await.unwrap(), Ok(vec![2]));
    shop.pay(claims).await;
    shop.issue(&[claims]).await;
    assert_eq!(shop.status(claims).await, OrderStatus::Backordered, "it waits for what was given away");
    shop.stock("card", 1).await;
    shop.issue(&[claims]).await;
    assert_eq!(shop.status(claims).await, OrderStatus::Issued);
    shop.close().await;
}

#[tokio::test]
async fn what_cannot_be_replaced_is_named() {
    let (shop, _) = with_stock(5).await;
    let order = bought(&shop, "ann", 2).await;
    let unpaid = shop.place("bob", &[("card", 1)]).await;
    let unknown = shop.new_order("cid", &[("card", 1)]).id;
    let status = OrderStatus::AwaitingPayment;
    assert_eq!(replace(&shop, unknown, &[1]).await, Err(CannotReplace::NoOrder));
    assert_eq!(replace(&shop, unpaid, &[1]).await, Err(CannotReplace::NotIssued(status)));
    assert_eq!(replace(&shop, order, &[3]).await, Err(CannotReplace::NoPosition { position: 3, last: 2 }));
    let line = wish(Faulty { line: 2, ..faulty(order, &[1]) });
    assert_eq!(cards::replace(&shop.store, line).await.unwrap(), Err(CannotReplace::NoLine(2)));
    shop.close().await;
}

/// Case P107: nothing could be done to a batch as a whole.
#[tokio::test]
async fn a_voided_batch_keeps_what_it_sold_and_sells_no_more() {
    let (shop, codes) = with_stock(10).await;
    let order = bought(&shop, "ann", 4).await;
    let batch = batches(&shop).await[0].id;
    let report = void(&shop, batch, What::Rest, false).await.unwrap();
    assert_eq!(report.done.unissued, 6);
    let sold: Vec<_> = report.sold.iter().map(|m| (m.quantity, m.owner.map(|o| o.order))).collect();
    assert_eq!((sold, report.waiting), (vec![(4, Some(order))], vec![]));
    assert_eq!(shop.codes_of(order).await, codes[..4]);
    assert_eq!(shop.shelf("card").await.unissued, 0);
    assert_eq!(found(&shop, &codes[4]).await, (CodeState::Voided, None));
    let again = void(&shop, batch, What::Rest, true).await.unwrap_err();
    assert!(matches!(again, CannotVoid::NotOpen(_)));
    assert_eq!(shop.import("card", &codes.join("\n")).await.new, 0, "it is not sold again as new either");
    every_code_is_accounted_for(&shop).await;
    shop.close().await;
}

#[tokio::test]
async fn a_void_below_what_is_claimed_has_to_be_forced_and_says_who_waits() {
    let (shop, _) = with_stock(3).await;
    let first = shop.place("ann", &[("card", 2)]).await;
    shop.pay(first).await;
    let late = shop.place("bob", &[("card", 1)]).await;
    let batch = batches(&shop).await[0].id;
    let refused = void(&shop, batch, What::Rest, false).await.unwrap_err();
    assert_eq!(refused, CannotVoid::Claimed { claimed: 3, left: 0 });
    let one = void(&shop, batch, What::Positions(vec![2]), false).await.unwrap_err();
    assert_eq!(one, CannotVoid::Claimed { claimed: 3, left: 2 });
    let report = void(&shop, batch, What::Positions(vec![2]), true).await.unwrap();
    assert_eq!(report.waiting.iter().map(|c| c.order).collect::<Vec<_>>(), [late]);
    let report = void(&shop, batch, What::Rest, true).await.unwrap();
    assert_eq!(report.waiting.iter().map(|c| c.order).collect::<Vec<_>>(), [first, late]);
    shop.issue(&[first]).await;
    assert_eq!(shop.status(first).await, OrderStatus::Backordered);
    shop.cancel(late).await;
    shop.close().await;
}

#[tokio::test]
async fn single_codes_are_voided_once_sold_or_not_and_stepped_around() {
    let (shop, codes) = with_stock(8).await;
    let order = bought(&shop, "ann", 2).await;
    let (version, batch) = (shop.order(order).await.version, batches(&shop).await[0].id);
    let report = void(&shop, batch, What::Positions(vec![1, 2, 4]), false).await.unwrap();
    assert_eq!((report.done.unissued, report.done.taken.len()), (2, 1));
    assert_eq!(shop.order(order).await.version, version + 1);
    assert_eq!(found(&shop, &codes[1]).await, (CodeState::Voided, Some(order)));
    let again = void(&shop, batch, What::Positions(vec![7, 2]), true).await.unwrap_err();
    assert_eq!(again, CannotVoid::Void(2));
    let none = void(&shop, batch, What::Positions(vec![8]), true).await.unwrap_err();
    assert_eq!(none, CannotVoid::NoPosition(8));
    assert_eq!(shop.shelf("card").await.unissued, 4);
    let rest = bought(&shop, "bob", 4).await;
    let expected: Vec<String> = [3, 5, 6, 7].map(|n| codes[n].clone()).to_vec();
    assert_eq!(shop.codes_of(rest).await, expected);
    // A code that was taken back from who has it can still be replaced.
    shop.stock("card", 1).await;
    assert_eq!(replace(&shop, order, &[2]).await, Ok(vec![3]));
    every_code_is_accounted_for(&shop).await;
    shop.close().await;
}

#[tokio::test]
async fn a_shuffled_batch_voids_the_position_that_was_named() {
    let shop = Shop::open().await;
    shop.product("card", |rules| rules.pick = Pick::Random).await;
    let codes = shop.stock("card", 40).await;
    let order = bought(&shop, "ann", 20).await;
    let held: BTreeSet<String> = shop.codes_of(order).await.into_iter().collect();
    let (batch, sold) = (batches(&shop).await[0].id, codes.iter().position(|c| held.contains(c)).unwrap());
    let unsold = codes.iter().position(|c| !held.contains(c)).unwrap();
    for (at, state, owner) in [(sold, CodeState::Issued, Some(order)), (unsold, CodeState::Unissued, None)] {
        assert_eq!(found(&shop, &codes[at]).await, (state, owner));
    }
    let positions = [sold, unsold].map(|n| i64::try_from(n).unwrap()).to_vec();
    let report = void(&shop, batch, What::Positions(positions), false).await.unwrap();
    assert_eq!((report.done.unissued, report.done.taken.len()), (1, 1));
    let rest = shop.codes_of(bought(&shop, "bob", 19).await).await;
    assert!(!rest.contains(&codes[unsold]), "a voided code was sold");
    every_code_is_accounted_for(&shop).await;
    shop.close().await;
}

#[tokio::test]
async fn batches_that_end_first_are_sold_first_and_closed_in_time() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    let endless = shop.stock("card", 2).await;
    let ending = shop.stock("card", 3).await;
    let end = shop.clock.now().plus(Duration::from_hours(1));
    let batch = batches(&shop).await[1].id;
    shop.expire_batch(batch, end).await;
    let order = bought(&shop, "ann", 1).await;
    assert_eq!(shop.codes_of(order).await, ending[..1]);
    let claims = shop.place("bob", &[("card", 2)]).await;
    shop.clock.set(end.minus(CLOSE_BEFORE + Duration::from_secs(1)));
    assert_eq!(cards::close_ending(&shop.store).await.unwrap(), 0);
    shop.clock.advance(Duration::from_secs(1));
    assert_eq!(cards::close_ending(&shop.store).await.unwrap(), 1);
    assert_eq!(cards::close_ending(&shop.store).await.unwrap(), 0, "it is closed once");
    let shelf = shop.shelf("card").await;
    assert_eq!((shelf.unissued, shelf.claimed), (2, 2), "the figures are right at once");
    let movement =
        moved(&shop, MovementFilter { batch: Some(batch), ..MovementFilter::default() }).await.remove(0);
    assert_eq!((movement.what, movement.quantity), (MovementKind::Void, 2));
    assert_eq!(movement.actor.as_deref(), Some("housekeeper"));
    shop.pay(claims).await;
    shop.issue(&[claims]).await;
    assert_eq!(shop.codes_of(claims).await, endless, "the claim was on the product, not on the batch");
    every_code_is_accounted_for(&shop).await;
    shop.close().await;
}

/// Case P5: a code is for one sale.
#[tokio::test]
async fn a_product_applied_with_its_defaults_sells_each_code_once() {
    let (shop, codes) = with_stock(20).await;
    let mut sold = vec![];
    for n in 0..20 {
        sold.extend(shop.codes_of(bought(&shop, &format!("u-{n}"), 1).await).await);
    }
    assert_eq!(sold, codes);
    assert_eq!(shop.shelf("card").await.unissued, 0);
    shop.close().await;
}

#[tokio::test]
async fn no_code_of_another_shop_is_found() {
    let (shop, codes) = with_stock(2).await;
    for text in ["", " ", "AAAA", &codes[0][1..], &format!("{} ", codes[0]), &codes[0].to_uppercase()] {
        assert_eq!(cards::find(&shop.store, &shop.keyring, text).await.unwrap(), None, "{text}");
    }
    assert_eq!(found(&shop, &codes[1]).await, (CodeState::Unissued, None));
    shop.close().await;
}

#[tokio::test]
async fn coupons_are_found_as_they_are_typed_and_replaced() {
    let shop = Shop::open().await;
    let format = Format::parse("SPRING-XXXX-XXXX").unwrap();
    let coupon = Coupon { count: 50, format, expires_at: None };
    shop.product("card", |rules| rules.kind = Kind::Coupon(coupon)).await;
    let order = bought(&shop, "ann", 2).await;
    let page = code_page(&shop.store, &shop.keyring, order, 0, 9).await.unwrap();
    let code = &page.codes[1].text;
    assert_eq!(found(&shop, code).await, (CodeState::Issued, Some(order)));
    assert_eq!(found(&shop, &code.to_lowercase().replace('-', "")).await, (CodeState::Issued, Some(order)));
    assert_eq!(replace(&shop, order, &[2]).await, Ok(vec![3]));
    assert_eq!(found(&shop, code).await, (CodeState::Replaced, Some(order)));
    let batch = batches(&shop).await[0].id;
    let report = void(&shop, batch, What::Positions(vec![0, 49]), false).await.unwrap();
    assert_eq!((report.done.unissued, report.done.taken.len()), (1, 1));
    let page = code_page(&shop.store, &shop.keyring, order, 0, 9).await.unwrap();
    let marks: Vec<_> = page.codes.iter().map(|code| code.state).collect();
    assert_eq!(marks, [CodeMark::Voided, CodeMark::Replaced, CodeMark::Issued]);
    assert_eq!(cards::find(&shop.store, &shop.keyring, "SPRING-0000-0000").await.unwrap(), None);
    every_code_is_accounted_for(&shop).await;
    shop.close().await;
}

#[tokio::test]
async fn shares_of_a_raffle_are_neither_replaced_nor_voided() {
    let shop = Shop::open().await;
    let raffle = Raffle {
        shares: 10,
        first_number: 1,
        draw_after: Duration::from_mins(10),
        last_round: None,
        entropy_rule: EntropyRule::None,
    };
    shop.product("card", |rules| rules.kind = Kind::Raffle(raffle)).await;
    let order = bought(&shop, "ann", 2).await;
    assert_eq!(replace(&shop, order, &[1]).await, Err(CannotReplace::Raffle));
    let round = batches(&shop).await[0].id;
    for what in [What::Rest, What::Positions(vec![9])] {
        assert_eq!(void(&shop, round, what, true).await.unwrap_err(), CannotVoid::Round);
    }
    shop.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replacing_and_voiding_while_it_sells_gives_no_code_twice() {
    let (shop, _) = with_stock(120).await;
    let first: Vec<OrderId> = {
        let mut orders = vec![];
        for n in 0..10 {
            orders.push(bought(&shop, &format!("early-{n}"), 2).await);
        }
        orders
    };
    let batch = batches(&shop).await[0].id;
    let sells = async {
        for n in 0..20 {
            bought(&shop, &format!("late-{n}"), 2).await;
        }
    };
    let replaces = async {
        for order in &first {
            assert_eq!(replace(&shop, *order, &[1]).await, Ok(vec![3]));
        }
    };
    let voids = async {
        for position in 100..110 {
            void(&shop, batch, What::Positions(vec![position]), false).await.unwrap();
        }
    };
    tokio::join!(sells, replaces, voids);
    let batch = batches(&shop).await.remove(0);
    assert_eq!((batch.unissued, batch.issued, batch.voided), (40, 60, 20));
    every_code_is_accounted_for(&shop).await;
    shop.close().await;
}
