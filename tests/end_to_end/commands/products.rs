//! `tessera products`.

use serde_json::json;

use super::{card, column, empty};

#[tokio::test]
async fn products_are_applied_from_toml_and_json_one_or_many() {
    let program = empty().await;
    let toml = "sku = \"one\"\nname = \"一\"\nkind = \"codes\"\nhold_seconds = 60\n\
                [price]\nminor = 5\ncurrency = \"CNY\"\n";
    let tables = "[[product]]\nsku = \"two\"\nname = \"2\"\nkind = \"codes\"\nprice = { minor = 0, currency = \"EUR\" }\n\
                  [[product]]\nsku = \"three\"\nname = \"3\"\nkind = \"codes\"\nprice = { minor = 1, currency = \"EUR\" }\n";
    let files = [
        program.file("one.toml", toml),
        program.file("tables.toml", tables),
        program.file("four.json", card("four").to_string()),
        program.file("list.json", json!([card("five"), card("one")]).to_string()),
    ];
    let mut outcomes = vec![];
    for file in &files {
        let applied = program.json(&["products", "apply", file]).await;
        let rows = applied["products"].as_array().unwrap().clone();
        outcomes.extend(rows.iter().map(|r| format!("{} {}", r["outcome"], r["sku"]).replace('"', "")));
    }
    let expected =
        ["created one", "created two", "created three", "created four", "created five", "replaced one"];
    assert_eq!(outcomes, expected);
    let one = program.json(&["products", "show", "one"]).await;
    assert_eq!((&one["name"], &one["hold_seconds"]), (&json!("A card"), &json!(900)), "replaced as a whole");
    program.close_stopped().await;
}

#[tokio::test]
async fn a_faulty_product_is_named_by_pointers_and_nothing_is_applied() {
    let program = empty().await;
    let mut faulty = card("b");
    faulty["price"] = json!({"minor": -1, "currency": "yuan"});
    faulty["max_per_order"] = json!(0);
    faulty["colour"] = json!("red");
    let list = program.file("list.json", json!([card("a"), faulty]).to_string());
    let problem = program.problem(&["products", "apply", &list], 1).await;
    assert_eq!(problem["type"], "urn:tessera:problem:invalid-request");
    let pointers = column(&problem["errors"], "pointer");
    assert_eq!(pointers, ["/1/price/minor", "/1/price/currency", "/1/max_per_order", "/1/colour"]);
    let twice = program.file("twice.json", json!([card("a"), card("a")]).to_string());
    program.problem(&["products", "apply", &twice], 1).await;
    for (name, text) in [("broken.json", "{"), ("broken.toml", "sku = ")] {
        let file = program.file(name, text);
        program.problem(&["products", "apply", &file], 2).await;
    }
    program.problem(&["products", "apply", "nowhere.json"], 2).await;
    assert_eq!(program.json(&["products", "list"]).await["products"], json!([]));
    program.problem(&["products", "show", "a"], 1).await;
    program.close_stopped().await;
}

#[tokio::test]
async fn what_was_sold_keeps_its_currency() {
    let program = empty().await;
    program.products(&card("card")).await;
    program.stock("card", 1).await;
    let mut euro = card("card");
    euro["price"]["currency"] = json!("EUR");
    program.products(&euro).await;
    program.products(&card("card")).await;
    let server = program.serve().await;
    let client = program.client();
    let receipt = client.place("buyer", &[("card", 1)]).await.unwrap().with_status(201).receipt();
    client.pay_waiting(&receipt, 5).await.unwrap().with_status(200).codes();
    let file = program.file("euro.json", euro.to_string());
    let refused = program.problem(&["products", "apply", &file], 1).await;
    assert_eq!(refused["status"], 409);
    assert!(refused["detail"].as_str().unwrap().contains("card"), "{refused}");
    let mut dearer = card("card");
    dearer["price"]["minor"] = json!(2_990);
    program.products(&dearer).await;
    let order = client.get(&receipt).await.unwrap();
    assert_eq!(order.body["lines"][0]["unit_price"]["minor"], 1_990, "the order keeps its price");
    program.close(server).await;
}

#[tokio::test]
async fn products_are_listed_newest_first_in_pages() {
    let program = empty().await;
    for sku in ["a", "b", "c", "d", "e"] {
        program.products(&card(sku)).await;
    }
    let (mut found, mut cursor) = (vec![], None::<String>);
    loop {
        let mut line = vec!["products", "list", "--limit", "2"];
        line.extend(cursor.iter().flat_map(|cursor| ["--cursor", cursor.as_str()]));
        let page = program.json(&line).await;
        found.extend(column(&page["products"], "sku").iter().map(|sku| (*sku).to_owned()));
        cursor = page["next"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(found, ["e", "d", "c", "b", "a"]);
    program.problem(&["products", "list", "--cursor", "x"], 2).await;
    program.close_stopped().await;
}
