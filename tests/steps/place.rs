//! Place: new orders claim stock.

use tessera_model::order::OrderStatus;
use tessera_testbed::Shop;

#[tokio::test]
async fn a_paid_order_gets_the_oldest_codes() {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    let codes = shop.stock("card", 5).await;
    let order = shop.place("ann", &[("card", 2)]).await;
    shop.pay(order).await;
    let issuer = shop.start_issuer().await;
    shop.until(&[order], OrderStatus::Issued).await;
    issuer.stop().await;
    assert_eq!(shop.codes_of(order).await, codes[..2]);
    shop.close().await;
}
