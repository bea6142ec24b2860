//! `GET /v1/orders/{id}/codes`.

use serde_json::{Value, json};
use tessera_model::product::Pick;

use crate::http::api::{Api, Bought};
use crate::http::ask::keys;

/// Codes as other shops have lost or changed them.
const AWKWARD: [&str; 14] = [
    "plain",
    "a,b",
    "\"quoted\"",
    "a\",\"b",
    "'single'",
    "50%20off",
    "<b>&amp;</b>",
    "back\\slash`tick",
    "=1+1",
    "  inner  and outer  ",
    "u----p----s",
    "0",
    "卡密①",
    "🎁",
];

fn texts(codes: &Value) -> Vec<&str> {
    codes.as_array().unwrap().iter().map(|c| c["code"].as_str().unwrap()).collect()
}

/// RFC 4180, as a strict reader takes it: every record ends with CRLF.
fn records(csv: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field) = (vec![], vec![], String::new());
    let (mut quoted, mut chars) = (false, csv.chars().peekable());
    while let Some(c) = chars.next() {
        match (quoted, c) {
            (true, '"') if chars.peek() == Some(&'"') => field.extend(chars.next()),
            (_, '"') => quoted = !quoted,
            (false, ',') => record.push(std::mem::take(&mut field)),
            (false, '\r') => {
                assert_eq!(chars.next(), Some('\n'));
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            (_, c) => field.push(c),
        }
    }
    assert!(!quoted && field.is_empty() && record.is_empty(), "the last record broke off");
    records
}

async fn buy_awkward() -> (Api, Bought) {
    let (api, _) = Api::selling(0).await;
    api.shop.import("card", &AWKWARD.join("\n")).await;
    let count = i64::try_from(AWKWARD.len()).unwrap();
    let bought = api.buy("ann", &[("card", count)]).await;
    (api, bought)
}

#[tokio::test]
async fn awkward_codes_come_out_byte_for_byte_in_every_form() {
    let (api, bought) = buy_awkward().await;
    assert_eq!(texts(&bought.order["lines"][0]["codes"]), AWKWARD);
    let listed = api.ask(bought.codes("")).await.json(200);
    assert_eq!(texts(&listed["codes"]), AWKWARD);
    let plain = api.ask(bought.codes("").header("accept", "text/plain")).await;
    assert_eq!(plain.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(plain.text(), format!("{}\n", AWKWARD.join("\n")));
    let csv = api.ask(bought.codes("").header("accept", "text/csv")).await;
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8; header=absent"));
    assert_eq!(records(csv.text()), AWKWARD.map(|code| vec!["card".to_owned(), code.to_owned()]));
    for answer in [plain, csv] {
        assert_eq!(answer.header("cache-control"), Some("private, no-store"));
    }
    api.close().await;
}

#[tokio::test]
async fn what_was_exported_as_text_is_known_when_it_is_imported_again() {
    let (api, bought) = buy_awkward().await;
    let plain = api.ask(bought.codes("").header("accept", "text/plain")).await;
    let report = api.shop.import("card", plain.text()).await;
    assert_eq!(report.new, 0);
    api.close().await;
}

#[tokio::test]
async fn a_page_has_exactly_these_fields() {
    let (api, codes) = Api::selling(3).await;
    let bought = api.buy("ann", &[("card", 3)]).await;
    let page = api.ask(bought.codes("?limit=2")).await.json(200);
    assert_eq!(keys(&page), ["codes", "next", "total"]);
    assert_eq!(keys(&page["codes"][0]), ["code", "position", "sku", "state"]);
    let expected = json!({ "next": 2, "total": 3, "codes": [
        { "sku": "card", "code": codes[0], "position": 1, "state": "issued" },
        { "sku": "card", "code": codes[1], "position": 2, "state": "issued" },
    ] });
    assert_eq!(page, expected);
    let rest = api.ask(bought.codes("?after=2&limit=2")).await.json(200);
    assert_eq!(rest["codes"], json!([{ "sku": "card", "code": codes[2], "position": 3, "state": "issued" }]));
    assert_eq!(rest["next"], Value::Null);
    let beyond = api.ask(bought.codes("?after=3")).await.json(200);
    assert_eq!(beyond, json!({ "codes": [], "next": null, "total": 3 }));
    api.close().await;
}

#[tokio::test]
async fn positions_count_within_each_line() {
    let (api, cards) = Api::selling(2).await;
    api.shop.product("pass", |rules| rules.pick = Pick::Random).await;
    let passes = api.shop.stock("pass", 2).await;
    let bought = api.buy("ann", &[("card", 2), ("pass", 2)]).await;
    let page = api.ask(bought.codes("")).await.json(200);
    let places: Vec<(&Value, &Value)> =
        page["codes"].as_array().unwrap().iter().map(|c| (&c["sku"], &c["position"])).collect();
    let (card, pass, one, two) = (json!("card"), json!("pass"), json!(1), json!(2));
    assert_eq!(places, [(&card, &one), (&card, &two), (&pass, &one), (&pass, &two)]);
    let mut got = texts(&page["codes"]);
    assert_eq!(got[..2], cards);
    got[2..].sort_unstable();
    assert_eq!(got[2..], passes);
    api.close().await;
}

#[tokio::test]
async fn an_order_shows_its_first_1_000_codes_and_pages_give_all() {
    let (api, codes) = Api::selling(2_500).await;
    let bought = api.buy("ann", &[("card", 2_500)]).await;
    assert_eq!(texts(&bought.order["lines"][0]["codes"]), codes[..1_000]);
    let (mut got, mut after) = (vec![], Some(0));
    while let Some(from) = after {
        let page = api.ask(bought.codes(&format!("?after={from}&limit=1000"))).await.json(200);
        assert_eq!(page["total"], 2_500);
        got.extend(texts(&page["codes"]).into_iter().map(str::to_owned));
        after = page["next"].as_i64();
    }
    assert_eq!(got, codes);
    let first = api.ask(bought.codes("")).await.json(200);
    assert_eq!(first["codes"].as_array().unwrap().len(), 100);
    let plain = api.ask(bought.codes("").header("accept", "text/plain")).await;
    assert!(plain.text().lines().eq(&codes));
    assert_eq!(records(api.ask(bought.codes("").header("accept", "text/csv")).await.text()).len(), 2_500);
    api.close().await;
}

#[tokio::test]
async fn the_first_1_000_codes_are_those_of_the_order_not_of_each_line() {
    let (api, _) = Api::selling(700).await;
    api.shop.product("pass", |_| ()).await;
    api.shop.stock("pass", 700).await;
    let bought = api.buy("ann", &[("card", 700), ("pass", 700)]).await;
    let shown = |line: usize| bought.order["lines"][line]["codes"].as_array().unwrap().len();
    assert_eq!((shown(0), shown(1)), (700, 300));
    api.close().await;
}

#[tokio::test]
async fn an_order_without_codes_has_an_empty_list() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    assert_eq!(api.ask(bought.codes("")).await.json(200), json!({ "codes": [], "next": null, "total": 0 }));
    for kind in ["text/plain", "text/csv"] {
        assert_eq!(api.ask(bought.codes("").header("accept", kind)).await.text(), "");
    }
    api.close().await;
}

#[tokio::test]
async fn bounds_that_are_wrong_are_named() {
    let (api, _) = Api::selling(1).await;
    let bought = api.place("ann", &[("card", 1)]).await;
    for (query, name) in [("?after=-1", "after"), ("?limit=0", "limit"), ("?limit=1001", "limit")] {
        assert_eq!(api.ask(bought.codes(query)).await.pointers(), [name]);
    }
    for query in ["?after=x", "?limit=1.5", "?limit=99999999999999999999"] {
        api.ask(bought.codes(query)).await.problem(400, "invalid-request");
    }
    let most = format!("?after={}", i64::MAX);
    assert_eq!(api.ask(bought.codes(&most)).await.json(200)["codes"], json!([]));
    api.close().await;
}

#[tokio::test]
async fn json_is_the_answer_to_whoever_takes_anything() {
    let (api, _) = Api::selling(1).await;
    let bought = api.buy("ann", &[("card", 1)]).await;
    for accept in ["*/*", "application/json", "text/html,application/xhtml+xml,*/*;q=0.8", ""] {
        api.ask(bought.codes("").header("accept", accept)).await.json(200);
    }
    api.close().await;
}
