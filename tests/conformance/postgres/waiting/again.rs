//! Steps that run into others: a set's own commit, whose answer was lost and which is still under way, and a product
//! that is being applied.

use tessera_model::money::Money;
use tessera_orders::place::{Place, PlaceOutcome};
use tessera_store::Step;

use super::{ENDS, End, after_waiting, begin, with_product};

#[tokio::test]
async fn orders_placed_again_beside_their_own_commit_are_the_same_orders() {
    for end in ENDS {
        let (shop, _) = with_product().await;
        shop.stock("card", 5).await;
        let new = shop.new_order("ann", &[("card", 1)]);
        let (mut first, mut second) = (begin(&shop).await, begin(&shop).await);
        Place.run(&mut *first, std::slice::from_ref(&new), false).await.expect("it is placed");
        let outcomes = after_waiting(&shop, first, end, async move {
            let outcomes = Place.run(&mut *second, &[new], true).await?;
            second.commit().await?;
            Ok(outcomes)
        });
        assert!(matches!(outcomes.await.as_slice(), [PlaceOutcome::Placed(_)]));
        assert_eq!(shop.number("SELECT count(*) FROM orders").await, 1);
        assert_eq!(shop.shelf("card").await.claimed, 1);
        shop.close().await;
    }
}

#[tokio::test]
async fn order_that_waited_for_a_product_to_be_applied_has_its_new_price() {
    for (end, price) in [(End::Commits, 5), (End::RollsBack, 1_000)] {
        let (shop, product) = with_product().await;
        shop.stock("card", 5).await;
        let new = shop.new_order("ann", &[("card", 1)]);
        let (mut applying, mut placing) = (begin(&shop).await, begin(&shop).await);
        applying.stock_lock(&[product]).await.expect("the stock is locked");
        let mut products = applying.products_read(&[product]).await.expect("the product is there");
        products[0].rules.price = Money::new(5, products[0].rules.price.currency);
        applying.products_put(&products).await.expect("the price is changed");
        let outcomes = after_waiting(&shop, applying, end, async move {
            let outcomes = Place.run(&mut *placing, &[new], false).await?;
            placing.commit().await?;
            Ok(outcomes)
        });
        let outcomes = outcomes.await;
        let [PlaceOutcome::Placed(placed)] = outcomes.as_slice() else { panic!("{outcomes:?}") };
        assert_eq!(placed.order.amount.minor, price);
        shop.close().await;
    }
}
