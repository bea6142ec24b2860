//! A set that is run again while its first commit, whose answer was lost, is still under way at the server.

use tessera_orders::place::{Place, PlaceOutcome};
use tessera_store::Step;

use super::{ENDS, after_waiting, begin, with_product};

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
