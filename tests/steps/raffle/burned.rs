//! Rounds that were burned to their end after a restore.

use std::sync::Arc;

use tessera_issuer::recover::{Recover, recover};
use tessera_issuer::rounds::{Draw, Draws};
use tessera_model::draw::{Beacon, EntropyRule};
use tessera_model::ids::ProductId;
use tessera_model::round::RoundState;
use tessera_testbed::{Engine, Shop};

use super::call_off::cancel;
use super::{issue, paid};

async fn burn(shop: &Shop) {
    let (seen, actor, reason) = (vec![], "test".to_owned(), Some("restored".to_owned()));
    let wish = Recover { burn: Some(100), skip: None, seen, actor, reason };
    recover(&shop.store, &shop.mint(), wish).await.unwrap();
}

async fn states(shop: &Shop, raffle: ProductId) -> Vec<(RoundState, i64)> {
    shop.rounds(raffle).await.iter().map(|round| (round.state, round.sold)).collect()
}

async fn look(shop: &Shop) {
    Draws::default().look(&shop.store, &Arc::new(Draw::new(shop.mint()))).await.unwrap();
}

#[tokio::test]
async fn a_round_burned_to_its_end_is_followed_when_its_product_is_applied() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |_| ()).await;
    let orders = paid(&shop, "phone", &[3]).await;
    issue(&shop, &orders).await;
    burn(&shop).await;
    shop.raffle("phone", 10, |_| ()).await;
    assert_eq!(states(&shop, phone).await, [(RoundState::Full, 3), (RoundState::Open, 0)]);
    shop.close().await;
}

#[tokio::test]
async fn the_last_round_of_a_raffle_is_drawn_although_it_was_burned_to_its_end() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |raffle| raffle.last_round = Some(1)).await;
    let orders = paid(&shop, "phone", &[3]).await;
    issue(&shop, &orders).await;
    burn(&shop).await;
    shop.raffle("phone", 10, |raffle| raffle.last_round = Some(1)).await;
    assert_eq!(states(&shop, phone).await, [(RoundState::Full, 3)]);
    look(&shop).await;
    assert!(shop.rounds(phone).await[0].drawn.unwrap().position < 3, "a burned share won");
    shop.close().await;
}

#[tokio::test]
async fn a_round_is_called_off_while_the_one_on_sale_is_burned_to_its_end() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 10, |_| ()).await;
    let orders = paid(&shop, "phone", &[10, 2]).await;
    issue(&shop, &orders).await;
    burn(&shop).await;
    cancel(&shop, shop.rounds(phone).await[0].id).await;
    let expected = [(RoundState::Cancelled, 10), (RoundState::Full, 2), (RoundState::Open, 0)];
    assert_eq!(states(&shop, phone).await, expected);
    shop.close().await;
}

#[tokio::test]
async fn a_round_burned_before_its_first_share_was_sold_is_called_off_and_needs_no_beacon() {
    let shop = Shop::open().await;
    let beacon = EntropyRule::Beacon(Beacon::DrandQuicknet);
    let phone = shop.raffle("phone", 10, |raffle| raffle.entropy_rule = beacon).await;
    burn(&shop).await;
    let orders = paid(&shop, "phone", &[3]).await;
    issue(&shop, &orders).await;
    assert_eq!(states(&shop, phone).await, [(RoundState::Full, 0), (RoundState::Open, 3)]);
    look(&shop).await;
    assert_eq!(states(&shop, phone).await, [(RoundState::Cancelled, 0), (RoundState::Open, 3)]);
    assert_eq!(shop.audited("round.cancel").await, 1);
    shop.close().await;
}

#[tokio::test]
async fn nothing_is_drawn_while_issuing_is_suspended() {
    let shop = Shop::open().await;
    let phone = shop.raffle("phone", 5, |_| ()).await;
    let orders = paid(&shop, "phone", &[5]).await;
    issue(&shop, &orders).await;
    let (yes, no) = if Engine::of_this_run() == Engine::Sqlite { ("1", "0") } else { ("true", "false") };
    shop.operate(&format!("UPDATE store SET suspended = {yes}")).await;
    look(&shop).await;
    assert_eq!(states(&shop, phone).await[0], (RoundState::Full, 5));
    shop.operate(&format!("UPDATE store SET suspended = {no}")).await;
    look(&shop).await;
    assert_eq!(states(&shop, phone).await[0], (RoundState::Drawn, 5));
    shop.close().await;
}
