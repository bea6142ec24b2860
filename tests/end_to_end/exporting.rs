//! Exports of many codes.

use std::collections::HashSet;

use serde_json::json;
use tessera_testbed::program::{Ended, Program};

const FEW: usize = 1_000;
const MANY: usize = 30_000;

/// How much more memory many codes may take than few, in KiB. Kept whole, their texts would be 3.6 MiB and their rows
/// as many again.
const MORE_KIB_MAX: u64 = 2_048;

/// Codes of 63 characters, computed: a pool of them costs nothing to make.
fn format(first: char) -> String {
    format!("{first}-LONG-CODE-FILLS-MORE-OF-ALL-MEMORY-THAN-A-SHORT-ONE-XXXXXXXXX")
}

/// The export of a product, which has to have so many codes, each once.
async fn export(program: &Program, sku: &str, count: usize) -> Ended {
    let ended = program.command(&["codes", "export", "--sku", sku]).await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let codes: HashSet<&str> = ended.stdout.lines().skip(1).filter_map(|row| row.split(',').next()).collect();
    assert_eq!((codes.len(), ended.stdout.lines().count()), (count, count + 1));
    ended
}

/// Case P104: an export of 60 000 rows hung.
#[tokio::test]
async fn an_export_of_many_codes_takes_no_more_memory_than_one_of_few() {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let price = json!({"minor": 0, "currency": "CNY"});
    let coupon = |sku: &str, count: usize, first: char| {
        json!({"sku": sku, "name": "A coupon", "kind": "coupon", "price": price,
            "coupon": {"count": count, "format": format(first)}})
    };
    program.products(&json!([coupon("few", FEW, 'A'), coupon("many", MANY, 'B')])).await;
    let few = export(&program, "few", FEW).await.memory_kib_max;
    let many = export(&program, "many", MANY).await.memory_kib_max;
    assert!(few > 0 && many < few + MORE_KIB_MAX, "{few} KiB for {FEW} codes, {many} KiB for {MANY}");
    program.close_stopped().await;
}
