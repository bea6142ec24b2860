//! Imports of large files beside a sale, and one that is killed.

use std::time::{Duration, Instant};

use serde_json::json;
use tessera_testbed::program::{Client, Program, codes};
use tokio::sync::watch;
use tokio::task::JoinSet;

const LARGE: usize = 100_000;
const BUYERS: usize = 4;

/// The most memory an import may take, whatever the file's size.
const MEMORY_KIB_MAX: u64 = 150 * 1024;

/// The longest a buyer may wait for any answer while a file is imported.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

/// The file that is killed: large enough to be caught in the middle.
const KILLED: usize = 40_000;

/// A dead import's lease lasts 15 s; its batch is gone soon after.
const TIDIED_WITHIN: Duration = Duration::from_secs(35);

const LOADED: &str =
    "SELECT count(*) FROM code WHERE batch IN (SELECT id FROM batch WHERE state = 'loading')";
const LOADING: &str = "SELECT count(*) FROM batch WHERE state = 'loading'";

async fn program() -> Program {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let product = |sku| json!({"sku": sku, "name": "A card", "kind": "codes", "price": {"minor": 1_990, "currency": "CNY"}});
    program.products(&json!([product("sold"), product("bought-in")])).await;
    program
}

async fn buy_until(over: watch::Receiver<bool>, client: Client, number: usize) -> Vec<Duration> {
    let mut answered = vec![];
    while !*over.borrow() {
        let asked = Instant::now();
        let placed = client.place(&format!("buyer-{number}"), &[("sold", 1)]).await.expect("an answer");
        answered.push(asked.elapsed());
        let receipt = placed.with_status(201).receipt();
        let asked = Instant::now();
        let paid = client.pay_waiting(&receipt, 30).await.expect("an answer").with_status(200);
        answered.push(asked.elapsed());
        assert_eq!(paid.codes().len(), 1);
    }
    answered
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_file_is_imported_beside_a_sale_in_little_memory() {
    let program = program().await;
    program.stock("sold", 20_000).await;
    let file = program.file("large.txt", codes("bought-in", LARGE).join("\r\n"));
    let server = program.serve().await;
    let over = watch::Sender::new(false);
    let mut buyers = JoinSet::new();
    for number in 0..BUYERS {
        buyers.spawn(buy_until(over.subscribe(), program.client(), number));
    }
    let ended = program.command(&["--json", "codes", "import", &file, "--sku", "bought-in"]).await;
    over.send_replace(true);
    let mut answered: Vec<Duration> = buyers.join_all().await.into_iter().flatten().collect();
    answered.sort();
    let p99 = answered.get(answered.len() * 99 / 100).copied().unwrap_or_default();
    let slowest = answered.last().copied().unwrap_or_default();
    println!(
        "{LARGE} codes in {:?}, at most {} KiB; {} answers, p99 {p99:?}, slowest {slowest:?}",
        ended.took,
        ended.memory_kib_max,
        answered.len()
    );
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let report = ended.json();
    assert_eq!((&report["imported"], &report["lines"]), (&json!(LARGE), &json!(LARGE)));
    assert!(slowest < ANSWERED_WITHIN, "a buyer waited for {slowest:?}");
    assert!(
        ended.memory_kib_max > 0 && ended.memory_kib_max < MEMORY_KIB_MAX,
        "{} KiB",
        ended.memory_kib_max
    );
    let stock = program.json(&["codes", "stock", "--sku", "bought-in"]).await;
    assert_eq!(stock["stock"][0]["available"], json!(LARGE));
    program.close(server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_import_leaves_nothing_and_can_be_repeated() {
    let program = program().await;
    let file = program.file("killed.txt", codes("bought-in", KILLED).join("\n"));
    let server = program.serve().await;
    let import = program.start(&["codes", "import", &file, "--sku", "bought-in"]);
    until(&program, LOADED, |count| count > 0, Duration::from_secs(30)).await;
    import.kill9().await;
    let killed = Instant::now();
    assert_eq!(program.number(LOADING).await, 1, "the import was over before it could be killed");
    let none = program.json(&["codes", "stock", "--sku", "bought-in"]).await;
    assert_eq!((&none["stock"][0]["unissued"], &none["stock"][0]["available"]), (&json!(0), &json!(0)));
    let refused = program.client().place("buyer", &[("bought-in", 1)]).await.unwrap();
    assert_eq!(refused.problem(), "sold-out");

    until(&program, LOADING, |count| count == 0, TIDIED_WITHIN).await;
    println!("its batch was gone after {:?}", killed.elapsed());
    assert_eq!(program.number("SELECT count(*) FROM code").await, 0);
    let report = program.json(&["codes", "import", &file, "--sku", "bought-in"]).await;
    assert_eq!(report["imported"], json!(KILLED), "{report}");
    let receipt = program.client().place("buyer", &[("bought-in", 2)]).await.unwrap().receipt();
    let paid = program.client().pay_waiting(&receipt, 5).await.unwrap().with_status(200);
    assert_eq!(paid.codes(), codes("bought-in", 2));
    program.close(server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_imports_of_one_file_take_turns() {
    let program = program().await;
    let file = program.file("same.txt", codes("bought-in", 5_000).join("\n"));
    let server = program.serve().await;
    let one = program.start(&["--json", "codes", "import", &file, "--sku", "bought-in"]);
    let other = program.start(&["--json", "codes", "import", &file, "--sku", "sold"]);
    let (one, other) = tokio::join!(one.ended(), other.ended());
    assert_eq!((one.code, other.code), (Some(0), Some(0)), "{}{}", one.stderr, other.stderr);
    let (one, other) = (one.json(), other.json());
    let mut counts = [&one, &other].map(|r| (r["imported"].as_u64(), r["skipped"]["in_stock"].as_u64()));
    counts.sort_unstable();
    assert_eq!(counts, [(Some(0), Some(5_000)), (Some(5_000), Some(0))]);
    program.close(server).await;
}

async fn until(program: &Program, query: &str, is: impl Fn(i64) -> bool, within: Duration) {
    let looking = async {
        while !is(program.number(query).await) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(within, looking).await.unwrap_or_else(|_| panic!("not in time: {query}"));
}
