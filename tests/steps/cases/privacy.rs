//! What a stranger learns from the time an answer takes.

use std::time::{Duration, Instant};

use crate::http::api::Api;
use crate::http::ask::{Answer, Ask, get};

/// Requests of each kind; their medians are compared.
const SAMPLES: usize = 400;

/// Medians of one kind of work are alike within a few percent; a look into the database takes many times as long.
const RATIO_MAX: u32 = 2;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Case P112, of time: whether an order is there could be told by how long the refusal took. The database is not asked
/// at all, so there is nothing to be timed.
#[tokio::test]
async fn who_has_no_right_to_an_order_learns_nothing_from_the_time_either() {
    let (api, _) = Api::selling(2).await;
    let theirs = api.buy("ann", &[("card", 1)]).await;
    let mine = api.buy("eve", &[("card", 1)]).await;
    let unknown = "/v1/orders/0193747c-0000-7000-8000-000000000000";
    let tried = || -> [Ask; 4] {
        [
            get(&theirs.path).token(&mine.token),
            get(unknown).token(&mine.token),
            get(format!("{}/codes", theirs.path)).token(&mine.token),
            get(format!("{unknown}/codes")).token(&mine.token),
        ]
    };
    let expected: Answer = api.ask(tried()[1].clone()).await;
    expected.problem(404, "not-found");
    api.shop.faults.away();
    let mut times = [const { vec![] }; 4];
    for _ in 0..SAMPLES {
        // One of each in turn, so that whatever else the machine does falls on all.
        for (ask, times) in tried().into_iter().zip(&mut times) {
            let begun = Instant::now();
            let answer = api.ask(ask).await;
            times.push(begun.elapsed());
            assert_eq!((answer.status, &answer.headers), (expected.status, &expected.headers));
            assert_eq!(answer.bytes, expected.bytes);
        }
    }
    api.shop.faults.clear();
    let medians = times.map(median);
    for pair in medians.chunks(2) {
        assert!(pair[0] < pair[1] * RATIO_MAX && pair[1] < pair[0] * RATIO_MAX, "{medians:?}");
    }
    api.close().await;
}
