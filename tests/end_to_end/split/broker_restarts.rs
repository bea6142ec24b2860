//! A broker of the test's own: stopped in order, closing every connection, frozen, out of memory.

use std::time::{Duration, Instant};

use tessera_testbed::program::{Client, Process, Program, Receipt};
use tessera_testbed::servers::Own;
use tessera_testbed::{Database, Engine, Queues, Scenario};
use tokio::time::timeout;

use super::{FRONT, bought, codes_of, process, stock};

/// Far below any wait for a broker, far above what placing and paying take.
const AT_ONCE: Duration = Duration::from_secs(4);

const STOPPED: Scenario = Scenario {
    number: 7,
    fault: "the broker stopped in order and started again",
    until: "all issued",
    bound: Duration::from_secs(15),
};

/// How often every connection is closed, a second apart.
const CLOSINGS: usize = 10;

const CLOSED: Scenario = Scenario {
    number: 8,
    fault: "every connection closed by the broker once a second",
    until: "all issued after it",
    bound: Duration::from_secs(12),
};

/// Sockets and threads a process may have more than before: the last session may still be ending.
const MORE_MAX: usize = 6;

/// A silent peer is given up after two heartbeats of 5 s; another one is left for a loaded machine.
const NOTICED: Scenario = Scenario {
    number: 9,
    fault: "the broker frozen",
    until: "it is noticed",
    bound: Duration::from_secs(15),
};

const THAWED: Scenario = Scenario {
    number: 9,
    fault: "the broker frozen for three heartbeats and thawed",
    until: "all issued",
    bound: Duration::from_secs(15),
};

const ALARMED: Scenario = Scenario {
    number: 12,
    fault: "the broker out of memory, then not any more",
    until: "all issued",
    bound: Duration::from_secs(12),
};

/// A shop on a broker of its own, in two processes.
struct Shop {
    rabbit: Own,
    program: Program,
    client: Client,
    front: Process,
    issuer: Process,
}

impl Shop {
    /// With so many codes; a few orders are issued already, so that it has the connections it will have.
    async fn open(count: usize) -> Self {
        let (rabbit, database) = tokio::join!(Own::rabbit(), Database::create());
        let program = Program::on(database, Queues::at(rabbit.url().to_owned()));
        stock(&program, count).await;
        let front = process(&program, "front", FRONT).await;
        let issuer = process(&program, "issuer", "issuer").await;
        let client = program.client();
        let receipts = bought(&client, 20).await;
        codes_of(&client, &receipts).await;
        Self { rabbit, program, client, front, issuer }
    }

    /// Buys while the broker is of no use, which a buyer does not notice.
    async fn bought_at_once(&self, count: usize) -> Vec<Receipt> {
        let begun = Instant::now();
        let receipts = bought(&self.client, count).await;
        assert!(begun.elapsed() < AT_ONCE, "paid after {:?}", begun.elapsed());
        receipts
    }

    async fn close(self) {
        super::close(self.program, vec![self.front, self.issuer]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_built_anew_after_the_broker_was_stopped_in_order() {
    let shop = Shop::open(100).await;
    shop.rabbit.control(&["stop_app"]).await;
    let receipts = shop.bought_at_once(20).await;
    shop.rabbit.control(&["start_app"]).await;
    let started = Instant::now();
    codes_of(&shop.client, &receipts).await;
    STOPPED.recovered(Engine::Postgres, started.elapsed());
    shop.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_closed_again_and_again_leave_no_socket_and_no_thread_behind() {
    let shop = Shop::open(5_000).await;
    let before = [shop.front.holds(), shop.issuer.holds()];
    let close_all = "rabbit_networking:close_connections(rabbit_networking:connections(), \"by a test\")";
    let closings = format!("[begin {close_all}, timer:sleep(1000) end || _ <- lists:seq(1, {CLOSINGS})].");
    let mut receipts = vec![];
    let order = ["eval", closings.as_str()];
    let mut closing = Box::pin(shop.rabbit.control(&order));
    while timeout(Duration::from_millis(500), &mut closing).await.is_err() {
        receipts.extend(shop.bought_at_once(5).await);
    }
    drop(closing);
    let over = Instant::now();
    codes_of(&shop.client, &receipts).await;
    CLOSED.recovered(Engine::Postgres, over.elapsed());
    let lost = shop.issuer.said("the broker is away");
    assert!(lost >= CLOSINGS / 2, "connections were closed {lost} times");
    for (process, (files, threads)) in [&shop.front, &shop.issuer].into_iter().zip(before) {
        let (now_files, now_threads) = process.holds();
        assert!(now_files <= files + MORE_MAX, "{files} files before, {now_files} now");
        assert!(now_threads <= threads + MORE_MAX, "{threads} threads before, {now_threads} now");
    }
    shop.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_broker_is_noticed_by_its_heartbeats_and_doubles_nothing_when_it_thaws() {
    let shop = Shop::open(100).await;
    let mut receipts = bought(&shop.client, 10).await;
    shop.rabbit.freeze().await;
    let frozen = Instant::now();
    receipts.extend(shop.bought_at_once(20).await);
    for process in [&shop.front, &shop.issuer] {
        process.until_said_often("the broker is away", 1).await;
    }
    NOTICED.recovered(Engine::Postgres, frozen.elapsed());
    receipts.extend(shop.bought_at_once(5).await);
    shop.rabbit.thaw().await;
    let thawed = Instant::now();
    codes_of(&shop.client, &receipts).await;
    THAWED.recovered(Engine::Postgres, thawed.elapsed());
    shop.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_out_of_memory_holds_up_no_payment_and_no_shutdown() {
    let mut shop = Shop::open(100).await;
    shop.rabbit.control(&["set_vm_memory_high_watermark", "0"]).await;
    let receipts = shop.bought_at_once(20).await;
    // It is told that it is blocked once it publishes.
    shop.front.until_said_often("short of memory or disk", 1).await;
    let blocked = shop.front;
    let ended = blocked.terminate().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.took < Duration::from_secs(10), "{:?}", ended.took);

    shop.front = process(&shop.program, "front", FRONT).await;
    let more = shop.bought_at_once(5).await;
    shop.rabbit.control(&["set_vm_memory_high_watermark", "0.4"]).await;
    let calm = Instant::now();
    codes_of(&shop.client, &[receipts, more].concat()).await;
    ALARMED.recovered(Engine::Postgres, calm.elapsed());
    shop.close().await;
}
