//! Real copies, put back under a shop that has sold on.

use tessera_issuer::recover::MARGIN;
use tessera_issuer::rounds::{DrawOutcome, pay_back_rest};

use super::*;

const SPRING: &str = "SPRING-XXXX-XXXX";

/// Sells cards and a raffle, backs up, sells on of everything, also of what came after; puts the copy back.
async fn overtaken() -> (Shop, HashSet<String>) {
    let mut shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.coupon("spring", SPRING, 4, |_| ()).await;
    shop.stock("card", 60).await;
    let issuer = shop.start_issuer().await;
    let mut seen: HashSet<String> = sold(&shop, "card", 2).await.into_iter().collect();
    issuer.stop().await;
    let backup = shop.back_up().await;

    let issuer = shop.start_issuer().await;
    seen.extend(sold(&shop, "card", 12).await);
    shop.coupon("spring", SPRING, 12, |_| ()).await;
    seen.extend(sold(&shop, "spring", 5).await);
    shop.product("other", |_| ()).await;
    shop.stock("other", 8).await;
    seen.extend(sold(&shop, "other", 3).await);
    issuer.stop().await;
    shop.restore(&backup).await;
    assert_eq!(seen.len(), 2 * (2 + 12 + 5 + 3));
    (shop, seen)
}

#[tokio::test]
async fn after_an_old_copy_is_put_back_no_code_that_was_seen_is_given_again() {
    let (shop, mut seen) = overtaken().await;
    let (issuer, mut ready) = shop.start_waiting_issuer();
    shop.until_true(async || shop.number("SELECT count(*) FROM store WHERE suspended").await == 1).await;
    assert!(!*ready.borrow());

    let done = recovered(&shop, None).await;
    // Exactly what was given out since, and a margin; the pool of old was sold out since.
    let burned: Vec<i64> = done.burned.iter().map(|(_, count)| *count).collect();
    assert_eq!(burned.iter().sum::<i64>(), 24 + MARGIN + 4, "{done:?}");
    assert_eq!(
        done.lost.iter().map(|(_, count)| *count).collect::<Vec<_>>(),
        [6, 6],
        "the second pool, the import"
    );
    assert!(done.skipped[0].1 >= 8);
    ready.wait_for(|ready| *ready).await.unwrap();
    shop.coupon("spring", SPRING, 12, |_| ()).await;
    for code in sold(&shop, "card", 10).await.into_iter().chain(sold(&shop, "spring", 4).await) {
        assert!(seen.insert(code), "a code was given again");
    }
    issuer.stop().await;
    shop.close().await;
}

/// A format of which little is left: more of it were given out than are left out unasked.
#[tokio::test]
async fn of_a_small_format_as_many_codes_are_left_out_as_were_seen_of_lost_pools() {
    let mut shop = Shop::open().await;
    // 32 codes, no more.
    shop.coupon("few", "XXXXXX", 2, |_| ()).await;
    let backup = shop.back_up().await;
    let issuer = shop.start_issuer().await;
    shop.coupon("few", "XXXXXX", 20, |_| ()).await;
    let mut seen: HashSet<String> = sold(&shop, "few", 6).await.into_iter().collect();
    issuer.stop().await;
    shop.restore(&backup).await;
    recovered(&shop, None).await;
    let issuer = shop.start_issuer().await;
    shop.coupon("few", "XXXXXX", 14, |_| ()).await;
    assert!(sold(&shop, "few", 6).await.into_iter().all(|code| seen.insert(code)));
    issuer.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn a_copy_that_others_have_sold_from_beyond_the_count_is_told_by_its_batches() {
    let (mut shop, _) = overtaken().await;
    let knows = std::mem::take(&mut shop.note);
    // One that must believe the store comes first, and issues more sets than there had been.
    let newcomer = shop.start_issuer().await;
    let lost = knows.clone().kept()[0].copy.sets;
    while sets(&shop).await <= lost {
        sold(&shop, "card", 1).await;
    }
    newcomer.stop().await;
    assert_eq!(same_copy(&shop.store, knows.clone().kept()).await, Ok(None));
    shop.close().await;
}

#[tokio::test]
async fn a_copy_older_than_an_earlier_recovery_can_be_recovered_too() {
    let mut shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop.stock("card", 60).await;
    let issuer = shop.start_issuer().await;
    let oldest = sold(&shop, "card", 1).await;
    issuer.stop().await;
    let backups = [shop.back_up().await, shop.back_up().await];
    let mut seen: HashSet<String> = oldest.into_iter().collect();
    for backup in &backups {
        let issuer = shop.start_issuer().await;
        for code in sold(&shop, "card", 2).await {
            assert!(seen.insert(code), "a code was given again");
        }
        issuer.stop().await;
        shop.restore(backup).await;
        assert_eq!(same_copy(&shop.store, shop.note.clone().kept()).await, Ok(None));
        recovered(&shop, Some(0)).await;
    }
    let issuer = shop.start_issuer().await;
    assert!(sold(&shop, "card", 3).await.into_iter().all(|code| seen.insert(code)));
    issuer.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn a_round_that_was_sold_out_since_is_called_off_and_not_drawn_again() {
    let mut shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |_| ()).await;
    let issuer = shop.start_issuer().await;
    sold(&shop, "phone", 2).await;
    issuer.stop().await;
    let backup = shop.back_up().await;
    let issuer = shop.start_issuer().await;
    sold(&shop, "phone", 4).await;
    issuer.stop().await;
    let first = shop.rounds(phone).await[0].clone();
    assert!(matches!(shop.draw(first.id).await, DrawOutcome::Drawn(_)));
    shop.restore(&backup).await;

    let done = recovered(&shop, None).await;
    assert_eq!((done.called_off, done.rounds), (vec![first.id], vec![]));
    assert_eq!(shop.draw(first.id).await, DrawOutcome::NotDue);
    pay_back_rest(&shop.store).await.unwrap();
    let rounds = shop.rounds(phone).await;
    assert_eq!((rounds[0].state, rounds[1].state), (RoundState::Cancelled, RoundState::Open));
    assert_ne!(rounds[1].commitment, first.commitment);
    assert_eq!(shop.number("SELECT count(*) FROM orders WHERE status = 'refund_due'").await, 2);
    shop.close().await;
}

/// The generation that an issuer elsewhere knew has ended, but less was burned than it has seen.
#[tokio::test]
async fn an_issuer_that_has_seen_more_than_was_burned_refuses_until_its_notes_are_told() {
    let (shop, _) = overtaken().await;
    let seen = shop.note.clone().kept();
    recover(&shop.store, &shop.mint(), wish(Some(1), vec![])).await.unwrap();
    assert_eq!(same_copy(&shop.store, seen.clone()).await, Ok(None));
    recover(&shop.store, &shop.mint(), wish(Some(0), seen.clone())).await.unwrap();
    assert!(same_copy(&shop.store, seen).await.unwrap().is_some());
    shop.close().await;
}

#[tokio::test]
async fn another_server_is_refused_and_a_promoted_standby_is_not() {
    let shop = Shop::open().await;
    let Some(server) = shop.store.server().await.unwrap() else { return shop.close().await };
    assert!(same_copy(&shop.store, vec![]).await.unwrap().is_some());
    assert_eq!(shop.number("SELECT system_id FROM store").await, server.system_id);
    for (change, same) in
        [("timeline = timeline - 1", true), ("timeline = timeline + 1", false), ("system_id = 7", false)]
    {
        shop.operate(&format!("UPDATE store SET {change}")).await;
        assert_eq!(same_copy(&shop.store, vec![]).await.unwrap().is_some(), same, "{change}");
        recovered(&shop, Some(0)).await;
        assert!(same_copy(&shop.store, vec![]).await.unwrap().is_some(), "after {change}");
    }
    shop.close().await;
}
