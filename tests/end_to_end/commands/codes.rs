//! `tessera codes`.

use serde_json::{Value, json};
use tessera_testbed::program::{CODE_MARK, Ended, Program};

use super::{card, empty, fields};

/// Codes 1 to `count` of a file, each behind the mark by which a log is searched.
fn code(n: usize) -> String {
    format!("{CODE_MARK}-{n}")
}

async fn import(program: &Program, name: &str, text: impl AsRef<[u8]>) -> Ended {
    let file = program.file(name, text);
    program.command(&["--json", "codes", "import", &file, "--sku", "card"]).await
}

/// Lines, imported, blank, repeated, in stock, sold.
fn counts(report: &Value) -> [u64; 6] {
    let skipped = &report["skipped"];
    [
        &report["lines"],
        &report["imported"],
        &report["blank"],
        &skipped["repeated_in_file"],
        &skipped["in_stock"],
        &skipped["already_sold"],
    ]
    .map(|n| n.as_u64().unwrap())
}

#[tokio::test]
async fn lines_are_counted_whatever_ends_them() {
    let program = empty().await;
    program.products(&card("card")).await;
    let text = format!("\u{feff}{}\r\n{}\n \t\r\n\n{}\r\n{}", code(1), code(2), code(1), code(3));
    let report = import(&program, "codes.txt", text).await.json();
    let names = ["batch", "blank", "dry_run", "imported", "known", "lines", "malformed", "skipped", "sku"];
    assert_eq!(fields(&report), names);
    assert_eq!(counts(&report), [6, 3, 2, 1, 0, 0]);
    assert!(report["batch"].is_string() && report["dry_run"] == json!(false) && report["sku"] == "card");
    assert_eq!(report["malformed"], json!([]));

    let server = program.serve().await;
    let client = program.client();
    let receipt = client.place("buyer", &[("card", 1)]).await.unwrap().with_status(201).receipt();
    assert_eq!(client.pay_waiting(&receipt, 5).await.unwrap().codes(), [code(1)]);
    let again = import(&program, "again.txt", [code(1), code(2), code(4)].join("\n")).await.json();
    assert_eq!(counts(&again), [3, 1, 0, 0, 1, 1]);
    let none = import(&program, "again.txt", code(1)).await.json();
    assert_eq!((counts(&none), &none["batch"]), ([1, 0, 0, 0, 0, 1], &Value::Null));
    program.close(server).await;
}

#[tokio::test]
async fn csv_fields_are_joined_for_buyers_and_kept_apart_in_stock() {
    let program = empty().await;
    program.products(&card("card")).await;
    let text = format!("{},pin 1\r\n\"{}\",\"a \"\"quoted\"\" pin\"\r\n", code(1), code(2));
    let report = import(&program, "codes.CSV", text).await.json();
    assert_eq!(counts(&report), [2, 2, 0, 0, 0, 0]);
    // The same text in one field is another code.
    let other = import(&program, "one-field.csv", format!("{} pin 1\n", code(1))).await.json();
    assert_eq!(counts(&other)[1], 1);
    let file = program.file("lines.csv", format!("{},pin 1\n", code(1)));
    let as_lines = program.json(&["codes", "import", &file, "--sku", "card", "--format", "lines"]).await;
    assert_eq!(counts(&as_lines)[1], 1);

    let server = program.serve().await;
    let client = program.client();
    let receipt = client.place("buyer", &[("card", 4)]).await.unwrap().with_status(201).receipt();
    let codes = client.pay_waiting(&receipt, 5).await.unwrap().codes();
    let shown = [
        format!("{} pin 1", code(1)),
        format!("{} a \"quoted\" pin", code(2)),
        format!("{} pin 1", code(1)),
        format!("{},pin 1", code(1)),
    ];
    assert_eq!(codes, shown);
    // Two codes of this order look the same to a buyer, and are two all the same.
    program.close(server).await;
}

#[tokio::test]
async fn one_malformed_line_refuses_the_file_and_is_named() {
    let program = empty().await;
    program.products(&card("card")).await;
    let mut text = format!("{}\n{}\u{1}\n{}\n", code(1), code(2), code(3)).into_bytes();
    text.extend([0xff, 0xfe, b'\n']);
    let ended = import(&program, "codes.txt", text).await;
    assert_eq!(ended.code, Some(1));
    let report = ended.json();
    assert_eq!((&report["imported"], &report["batch"]), (&json!(0), &Value::Null));
    let malformed = report["malformed"].as_array().unwrap();
    let lines: Vec<u64> = malformed.iter().map(|m| m["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [2, 4]);
    assert!(
        malformed.iter().all(|m| m["reason"].is_string() && !m["reason"].to_string().contains(CODE_MARK))
    );
    let open = import(&program, "open.csv", format!("{}\n\"{}", code(1), code(2))).await;
    assert_eq!((open.code, open.json()["malformed"][0]["line"].clone()), (Some(1), json!(2)));
    let words = program.file("words.txt", format!("{}\n\u{1}\n", code(1)));
    let said = program.command(&["codes", "import", &words, "--sku", "card"]).await;
    assert_eq!(said.code, Some(1));
    assert!(
        said.stdout.contains("line 2: ") && said.stdout.contains("nothing was imported"),
        "{}",
        said.stdout
    );
    assert_eq!(program.number("SELECT count(*) FROM code").await, 0);
    let good = import(&program, "good.txt", [code(1), code(3)].join("\n")).await.json();
    assert_eq!(counts(&good)[1], 2);
    program.close_stopped().await;
}

#[tokio::test]
async fn a_dry_run_says_what_would_be_and_changes_nothing() {
    let program = empty().await;
    program.products(&card("card")).await;
    let file = program.file("codes.txt", [code(1), code(2), code(1)].join("\n"));
    for _ in 0..2 {
        let report = program.json(&["codes", "import", &file, "--sku", "card", "--dry-run"]).await;
        assert_eq!((counts(&report), &report["dry_run"]), ([3, 2, 0, 1, 0, 0], &json!(true)));
        assert_eq!(report["batch"], Value::Null);
    }
    assert_eq!(program.number("SELECT (SELECT count(*) FROM code) + (SELECT count(*) FROM batch)").await, 0);
    program.problem(&["codes", "import", &file, "--sku", "none"], 1).await;
    program.problem(&["codes", "import", &file, "--sku", "card", "--format", "xml"], 2).await;
    program.problem(&["codes", "import", "nowhere.txt", "--sku", "card"], 2).await;
    program.close_stopped().await;
}

#[tokio::test]
async fn stock_counts_what_is_claimed_issued_and_waited_for() {
    let program = empty().await;
    let mut short = card("short");
    short["backorders"] = json!(true);
    program.products(&json!([card("card"), short])).await;
    program.stock("card", 10).await;
    let server = program.serve().await;
    let client = program.client();
    let issued = client.place("buyer", &[("card", 3)]).await.unwrap().with_status(201).receipt();
    client.pay_waiting(&issued, 5).await.unwrap().with_status(200).codes();
    let cancelled = client.place("buyer", &[("card", 4)]).await.unwrap().with_status(201).receipt();
    assert_eq!(client.cancel(&cancelled).await.unwrap().with_status(200).order_status(), "cancelled");
    client.place("buyer", &[("card", 2)]).await.unwrap().with_status(201).receipt();
    let waiting = client.place("buyer", &[("short", 5)]).await.unwrap().with_status(201).receipt();
    client.pay_waiting(&waiting, 1).await.unwrap().with_status(202).codes();
    let stock = program.json(&["codes", "stock"]).await;
    let of = |sku: &str| stock["stock"].as_array().unwrap().iter().find(|s| s["sku"] == sku).unwrap().clone();
    let expected = json!({"sku": "card", "unissued": 7, "claimed": 2, "available": 5, "issued": 3, "voided": 0,
        "backordered": 0});
    assert_eq!(of("card"), expected);
    let short = of("short");
    assert_eq!((&short["claimed"], &short["available"]), (&json!(5), &json!(0)));
    assert!(short["backordered"].as_u64() > Some(0), "{short}");
    assert_eq!(program.json(&["codes", "stock", "--sku", "card"]).await["stock"], json!([expected]));
    program.close(server).await;
}
