//! What a step decides when it had to wait for a lock: on what the winner left, not on what was there when it asked.

use std::sync::Arc;

use tessera_model::place::Refusal;
use tessera_orders::place::{Place, PlaceOutcome};
use tessera_store::{SetFault, Step, run_set};

use super::{ENDS, End, after_waiting, begin, open};

#[tokio::test]
async fn an_order_that_waited_for_the_last_code_is_decided_on_what_the_winner_left() {
    for end in ENDS {
        let shop = open().await;
        shop.product("card", |_| ()).await;
        shop.stock("card", 1).await;
        let (first, second) = (shop.new_order("ann", &[("card", 1)]), shop.new_order("ben", &[("card", 1)]));
        let mut winner = begin(&shop).await;
        let won = Place.run(&mut *winner, &[first], false).await.expect("it is placed");
        assert!(matches!(won[..], [PlaceOutcome::Placed(_)]));

        let store = Arc::clone(&shop.store);
        let waiter = async move { Ok(run_set(store, Arc::new(Place), vec![second]).await) };
        let outcomes: Vec<Result<PlaceOutcome, SetFault>> = after_waiting(&shop, winner, end, waiter).await;
        let refused =
            matches!(outcomes[..], [Ok(PlaceOutcome::Refused(Refusal::SoldOut { available: 0, .. }))]);
        let placed = matches!(outcomes[..], [Ok(PlaceOutcome::Placed(_))]);
        assert_eq!((refused, placed), (end == End::Commits, end == End::RollsBack), "{end:?}: {outcomes:?}");
        shop.close().await;
    }
}
