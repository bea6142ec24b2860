//! Import: a file of codes becomes a batch on sale, or nothing of it does.

use std::ops::Range;

use tessera_backoffice::import::Report;
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::product::Pick;
use tessera_testbed::Shop;

mod interrupted;
mod sealed;

async fn shop() -> Shop {
    let shop = Shop::open().await;
    shop.product("card", |_| ()).await;
    shop
}

/// A file of numbered codes.
fn file(name: &str, numbers: Range<u32>) -> String {
    numbers.map(|n| format!("{name} {n}")).collect::<Vec<_>>().join("\n") + "\n"
}

/// What a report counts: new, blank, repeated, in stock, sold, malformed.
fn counts(report: &Report) -> [u64; 6] {
    [
        report.new,
        report.blank,
        report.repeated_in_file,
        report.in_stock,
        report.already_sold,
        report.malformed_count,
    ]
}

/// Sells this many codes of a product; returns the order.
async fn sell(shop: &Shop, sku: &str, count: i64) -> OrderId {
    let order = shop.place("ann", &[(sku, count)]).await;
    shop.pay(order).await;
    shop.issue(&[order]).await;
    assert_eq!(shop.status(order).await, OrderStatus::Issued);
    order
}

#[tokio::test]
async fn blank_and_repeated_lines_are_counted_and_no_fault() {
    let shop = shop().await;
    let report = shop.import("card", "A\n\nB\n \nA\nC\n\t\nD").await;
    assert_eq!((report.lines, counts(&report)), (8, [4, 3, 1, 0, 0, 0]));
    assert!(report.batch.is_some());
    assert_eq!(shop.shelf("card").await.unissued, 4);
    shop.close().await;
}

#[tokio::test]
async fn a_file_that_was_sold_in_part_brings_nothing_new_and_says_what_became_of_it() {
    for pick in [Pick::Fifo, Pick::Random] {
        let shop = Shop::open().await;
        shop.product("card", |rules| rules.pick = pick).await;
        shop.product("other", |_| ()).await;
        let text = shop.stock("card", 300).await.join("\n");
        sell(&shop, "card", 100).await;
        for sku in ["card", "other"] {
            let report = shop.import(sku, &text).await;
            assert_eq!((report.batch, counts(&report)), (None, [0, 0, 0, 200, 100, 0]), "{pick:?} {sku}");
        }
        let report = shop.import("other", &format!("{text}\nnew")).await;
        assert_eq!(counts(&report), [1, 0, 0, 200, 100, 0]);
        assert_eq!(shop.number("SELECT count(*) FROM batch").await, 2);
        shop.close().await;
    }
}

/// Case P4: a code that was sold was sold again after its file was imported once more.
#[tokio::test]
async fn all_of_a_file_is_sold_once_and_never_again() {
    let shop = shop().await;
    let codes = shop.stock("card", 1_000).await;
    let mut given = vec![];
    for count in [1, 9, 90, 400, 500] {
        let order = sell(&shop, "card", count).await;
        given.extend(shop.codes_of(order).await);
    }
    assert_eq!(counts(&shop.import("card", &codes.join("\n")).await), [0, 0, 0, 0, 1_000, 0]);
    assert_eq!((shop.shelf("card").await.unissued, shop.shelf("card").await.available()), (0, 0));
    assert_eq!(given, codes, "each in one order");
    shop.close().await;
}

#[tokio::test]
async fn a_code_repeated_far_apart_is_one_code() {
    let shop = shop().await;
    let codes: Vec<String> = (0..3_000).map(|n| format!("code {}", n % 2_500)).collect();
    assert_eq!(counts(&shop.import("card", &codes.join("\n")).await), [2_500, 0, 500, 0, 0, 0]);
    shop.close().await;
}

#[tokio::test]
async fn one_malformed_line_refuses_the_file_and_leaves_nothing() {
    let shop = shop().await;
    let mut lines: Vec<String> = (0..2_500).map(|n| format!("code {n}")).collect();
    lines[1_999] = "with a \u{0} in it".to_owned();
    lines[2_400] = "x".repeat(5_000);
    let report = shop.import("card", &lines.join("\n")).await;
    assert_eq!((report.batch, report.malformed_count), (None, 2));
    let named: Vec<u64> = report.malformed.iter().map(|(line, _)| *line).collect();
    assert_eq!(named, [2_000, 2_401]);
    assert!(report.malformed.iter().all(|(_, reason)| !reason.contains("code")), "{:?}", report.malformed);
    let left =
        "SELECT (SELECT count(*) FROM batch) + (SELECT count(*) FROM code) + (SELECT count(*) FROM lease)";
    assert_eq!((shop.number(left).await, shop.shelf("card").await.unissued), (0, 0));
    lines.retain(|line| line.starts_with("code"));
    assert_eq!(shop.import("card", &lines.join("\n")).await.new, 2_498);
    shop.close().await;
}

#[tokio::test]
async fn a_dry_run_counts_like_an_import_and_changes_nothing() {
    let shop = shop().await;
    shop.import("card", "A\nB").await;
    let rows = "SELECT (SELECT count(*) FROM batch) + (SELECT count(*) FROM code) + (SELECT count(*) FROM audit) \
                + (SELECT count(*) FROM span) + (SELECT count(*) FROM lease)";
    let before = shop.number(rows).await;
    let mut request = shop.request("card");
    request.dry_run = true;
    let report = shop.try_import(request, b"B\nC\nC\n\nD\n", &|_| ()).await.unwrap();
    assert_eq!((report.batch, counts(&report)), (None, [2, 1, 1, 1, 0, 0]));
    assert_eq!(shop.number(rows).await, before);
    assert_eq!(shop.shelf("card").await.unissued, 2);
    shop.close().await;
}

/// Case P92: spaces within a code vanished.
#[tokio::test]
async fn codes_are_sold_byte_for_byte() {
    let shop = shop().await;
    let odd =
        ["AB  CD 12", "%20&<>\"'\\`", "tab\tbed", "😀 卡密", "=1+1", "&amp;", "u----p----s", "x|0|y", "0"];
    let report = shop.import("card", &format!("\u{feff}{}\r\n", odd.join("\r\n"))).await;
    assert_eq!(counts(&report), [9, 0, 0, 0, 0, 0]);
    let order = sell(&shop, "card", 9).await;
    assert_eq!(shop.codes_of(order).await, odd);
    shop.close().await;
}

#[tokio::test]
async fn a_random_pick_gives_every_code_once_and_not_in_the_files_order() {
    let shop = Shop::open().await;
    shop.product("card", |rules| rules.pick = Pick::Random).await;
    let codes = shop.stock("card", 388).await;
    let mut given = vec![];
    for count in [1, 87, 300] {
        let order = sell(&shop, "card", count).await;
        given.extend(shop.codes_of(order).await);
    }
    assert_ne!(given, codes);
    given.sort();
    assert_eq!(given, codes);
    shop.close().await;
}

#[tokio::test]
async fn an_unknown_product_takes_no_file() {
    let shop = shop().await;
    let refused = shop.try_import(shop.request("nil"), b"A", &|_| ()).await.unwrap_err();
    assert!(refused.to_string().contains("no product nil"), "{refused}");
    assert_eq!(shop.number("SELECT count(*) FROM lease").await, 0);
    shop.close().await;
}

#[tokio::test]
async fn orders_go_on_while_twenty_thousand_codes_are_imported() {
    let shop = shop().await;
    shop.stock("card", 100).await;
    let text = file("bulk", 0..20_000);
    let imported = std::cell::Cell::new(false);
    let import = async {
        let report = shop.import("card", &text).await;
        imported.set(true);
        report
    };
    let sales = async {
        let mut sold = 0;
        while !imported.get() && sold < 100 {
            sell(&shop, "card", 1).await;
            sold += 1;
        }
        sold
    };
    let (report, sold) = tokio::join!(import, sales);
    assert_eq!(report.new, 20_000);
    assert!(sold >= 5, "{sold} orders were issued meanwhile");
    assert_eq!(shop.shelf("card").await.unissued, 20_100 - sold);
    shop.close().await;
}
