//! The draw of a round.

use std::sync::Arc;
use std::time::Duration;

use tessera_issuer::rounds::{Draw, DrawOutcome, Draws, proof};
use tessera_model::draw::{Beacon, EntropyRule, Proof, commitment, verify};
use tessera_model::keys::Secret;
use tessera_model::round::{Round, RoundState};
use tessera_store::run_alone;
use tessera_testbed::Shop;

use super::{issue, paid};

async fn proof_of(shop: &Shop, round: &Round) -> Option<Proof> {
    let (store, mint, round) = (Arc::clone(&shop.store), shop.mint(), round.clone());
    run_alone(async move {
        let mut tx = store.snapshot().await?;
        proof(&mut *tx, &mint, &round).await
    })
    .await
    .unwrap()
}

/// Case P130: two winners at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_draws_at_once_give_one_winner() {
    let shop = Arc::new(Shop::open().await);
    let phone = shop.raffle("phone", 10, |_| ()).await;
    let orders = paid(&shop, "phone", &[4, 6]).await;
    issue(&shop, &orders).await;
    let round = shop.rounds(phone).await.remove(0);
    let draws: Vec<_> = (0..50)
        .map(|_| {
            let (shop, id) = (Arc::clone(&shop), round.id);
            tokio::spawn(async move { shop.draw(id).await })
        })
        .collect();
    let (mut drawn, mut known) = (vec![], vec![]);
    for draw in draws {
        match draw.await.unwrap() {
            DrawOutcome::Drawn(winner) => drawn.push(winner),
            DrawOutcome::Known(winner) => known.push(winner),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((drawn.len(), known.len()), (1, 49));
    assert!(known.iter().all(|winner| *winner == drawn[0]));
    assert_eq!(shop.rounds(phone).await[0].drawn, Some(drawn[0]));
    Arc::into_inner(shop).unwrap().close().await;
}

/// Case P131: an empty winner. Case P133: a seed that was picked last.
#[tokio::test]
async fn the_winner_is_a_sold_share_and_the_seed_was_fixed_before_the_first() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |_| ()).await;
    let promised = shop.rounds(phone).await.remove(0);
    let orders = paid(&shop, "phone", &[3, 7]).await;
    issue(&shop, &orders).await;
    assert!(proof_of(&shop, &shop.rounds(phone).await[0]).await.is_none());
    shop.draw(promised.id).await;
    let round = shop.rounds(phone).await.remove(0);
    let proof = proof_of(&shop, &round).await.unwrap();
    verify(&proof).unwrap();
    assert_eq!(commitment(&Secret::new(proof.seed)), promised.commitment);
    let winning = proof.winning_number.to_string();
    let mut winners = 0;
    for order in orders {
        winners += shop.codes_of(order).await.iter().filter(|number| **number == winning).count();
    }
    assert_eq!(winners, 1);
    shop.close().await;
}

/// Case P134: a feed fails and the winner can be foretold.
#[tokio::test]
async fn a_draw_whose_beacon_is_silent_waits_and_takes_no_other_value() {
    let shop = Shop::open().await;
    let beacon = EntropyRule::Beacon(Beacon::DrandQuicknet);
    let phone = shop.raffle("phone", 10, |raffle| raffle.entropy_rule = beacon).await;
    let orders = paid(&shop, "phone", &[10]).await;
    issue(&shop, &orders).await;
    let round = shop.rounds(phone).await.remove(0);
    assert_eq!(shop.draw(round.id).await, DrawOutcome::Waits);
    assert_eq!(shop.rounds(phone).await[0].state, RoundState::Full);
    let decides = beacon.beacon_round(round.full_at.unwrap()).unwrap();
    let entropy = beacon.entropy(decides, &[7; 32]);
    let mut tx = shop.store.begin().await.unwrap();
    assert!(tx.rounds_entropy(round.id, &entropy).await.unwrap());
    assert!(
        !tx.rounds_entropy(round.id, &[1; 40]).await.unwrap(),
        "a second value took the first one's place"
    );
    tx.commit().await.unwrap();
    shop.clock.advance(Duration::from_hours(1));
    assert!(matches!(shop.draw(round.id).await, DrawOutcome::Drawn(_)));
    let proof = proof_of(&shop, &shop.rounds(phone).await[0]).await.unwrap();
    verify(&proof).unwrap();
    assert_eq!(proof.entropy, entropy);
    shop.close().await;
}

#[tokio::test]
async fn rounds_that_cannot_be_drawn_do_not_stop_those_behind_them() {
    let shop = Shop::open().await;
    shop.raffle("broken", 1, |_| ()).await;
    let phone = shop.raffle("phone", 10, |_| ()).await;
    for quantity in [15, 15] {
        let orders = paid(&shop, "broken", &[quantity]).await;
        issue(&shop, &orders).await;
    }
    shop.clock.advance(Duration::from_secs(1));
    let orders = paid(&shop, "phone", &[10]).await;
    issue(&shop, &orders).await;
    let broken = "(SELECT id FROM product WHERE sku = 'broken')";
    shop.operate(&format!("UPDATE raffle SET key_id = 'lost' WHERE product = {broken}")).await;
    let (mut draws, step) = (Draws::default(), Arc::new(Draw::new(shop.mint())));
    draws.look(&shop.store, &step).await.unwrap();
    let due = "SELECT count(*) FROM round WHERE state = 'full'";
    assert_eq!((shop.rounds(phone).await[0].state, shop.number(due).await), (RoundState::Drawn, 30));
    shop.close().await;
}

#[tokio::test]
async fn a_round_is_not_drawn_before_its_countdown_ends() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |raffle| raffle.draw_after = Duration::from_mins(10)).await;
    let id = shop.rounds(phone).await[0].id;
    assert_eq!(shop.draw(id).await, DrawOutcome::NotDue);
    let orders = paid(&shop, "phone", &[10]).await;
    issue(&shop, &orders).await;
    shop.clock.advance(Duration::from_secs(599));
    assert_eq!(shop.draw(id).await, DrawOutcome::NotDue);
    shop.clock.advance(Duration::from_secs(1));
    assert!(matches!(shop.draw(id).await, DrawOutcome::Drawn(_)));
    shop.close().await;
}
