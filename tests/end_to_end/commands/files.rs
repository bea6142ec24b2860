//! Files of codes as suppliers and spreadsheets make them, in and out.

use serde_json::{Value, json};
use tessera_testbed::program::Program;

async fn selling(skus: &[&str]) -> Program {
    let program = Program::default();
    program.json(&["migrate"]).await;
    for sku in skus {
        let price = json!({"minor": 1_990, "currency": "CNY"});
        program.products(&json!({"sku": sku, "name": sku, "kind": "codes", "price": price})).await;
    }
    program
}

/// Imports a file under a name with these options more.
async fn import(
    program: &Program,
    name: &str,
    bytes: impl AsRef<[u8]>,
    sku: &str,
    options: &[&str],
) -> Value {
    let file = program.file(name, bytes);
    let mut arguments = vec!["codes", "import", &file, "--sku", sku];
    arguments.extend(options);
    program.json(&arguments).await
}

/// What an export of a product has, with its codes as a spreadsheet shows their cells.
async fn export(program: &Program, sku: &str) -> String {
    let ended = program.command(&["codes", "export", "--sku", sku, "--reason", "a check"]).await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended.stdout
}

const NASTY: [&str; 9] = [
    "012345678901234567",
    "=1+1",
    "@SUM(A1)",
    "-2+3",
    "AB  CD 12",
    "%20&amp;<b>\"'\\`",
    "a----b",
    "0",
    "\u{1f600}é",
];

/// Case P98: filters changed codes. And P101: an export could not be imported.
#[tokio::test]
async fn an_export_goes_back_in_as_it_came_out_and_no_cell_is_a_formula_or_a_number() {
    let program = selling(&["card"]).await;
    let report = import(&program, "nasty.txt", NASTY.join("\n"), "card", &[]).await;
    assert_eq!(report["imported"], json!(NASTY.len()));
    let text = export(&program, "card").await;
    for (code, row) in NASTY.iter().zip(text.lines().skip(1)) {
        let cell = code.replace('"', "\"\"");
        assert!(row.starts_with(&format!("\"'{cell}\",\"unissued\",")), "{row}");
    }
    let other = selling(&["card"]).await;
    let again = import(&other, "again.csv", &text, "card", &[]).await;
    assert_eq!(again["imported"], json!(NASTY.len()), "{again}");
    let states = |text: &str| {
        text.lines().map(|row| row.split("\",\"").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(states(&export(&other, "card").await), states(&text));
    let audited = "SELECT count(*) FROM audit WHERE action = 'codes.export'";
    assert_eq!(program.number(audited).await, 1);
    program.close_stopped().await;
    other.close_stopped().await;
}

/// Case P95: a file of a Chinese spreadsheet was garbled.
#[tokio::test]
async fn a_file_in_gbk_or_utf_16_is_read_or_refused_and_never_garbled() {
    let program = selling(&["card", "other"]).await;
    // 卡号一-001 and 卡号一-002 in GB 18030; that it is so nobody says.
    let gbk: &[u8] = b"\xbf\xa8\xba\xc5\xd2\xbb-001\n\xbf\xa8\xba\xc5\xd2\xbb-002\n";
    let told = import(&program, "gbk.txt", gbk, "card", &[]).await;
    assert_eq!(told["imported"], 2, "{told}");
    assert!(export(&program, "card").await.contains("'卡号一-001"));
    let utf16: Vec<u8> = "\u{feff}卡-1\r\n卡-2\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let told = import(&program, "utf16.txt", utf16, "other", &[]).await;
    assert_eq!(told["imported"], 2, "{told}");
    assert!(export(&program, "other").await.contains("'卡-1"));
    program.close_stopped().await;
}

/// Case P97: fields were cut off, a zero dropped, `&amp;` decoded.
#[tokio::test]
async fn fields_of_whatever_separator_are_kept_as_they_are() {
    let program = selling(&["card"]).await;
    let rows = "u----p----s\nx----0----y\n";
    import(&program, "dashes.csv", rows, "card", &["--separator", "----", "--no-header"]).await;
    import(&program, "comma.csv", "a,&amp;\n\"c,d\",e\n", "card", &["--no-header"]).await;
    import(&program, "header.csv", "卡号;密码\n1;2\n", "card", &[]).await;
    let text = export(&program, "card").await;
    for row in ["'u\",\"'p\",\"'s", "'x\",\"'0\",\"'y", "'a\",\"'&amp;", "'c,d\",\"'e", "'1\",\"'2"] {
        assert!(text.contains(row), "{row} in {text}");
    }
    program.close_stopped().await;
}

/// Case P100: a header was misread.
#[tokio::test]
async fn a_header_that_is_not_known_refuses_the_file_and_a_dry_run_shows_how_it_reads() {
    let program = selling(&["card"]).await;
    let file = program.file("odd.csv", "serial,amount\nA-1,5\n");
    let ended = program.command(&["codes", "import", &file, "--sku", "card"]).await;
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stdout.contains("--no-header") && ended.stdout.contains("code"), "{}", ended.stdout);
    let dry = import(&program, "good.csv", "code,pin\nA-1,0005\n", "card", &["--dry-run"]).await;
    assert_eq!(
        (&dry["first"], &dry["imported"], &dry["batch"]),
        (&json!(["A-1 0005"]), &json!(1), &Value::Null)
    );
    program.close_stopped().await;
}

/// Case P106: a bad line was "something went wrong".
#[tokio::test]
async fn every_malformed_line_is_named_and_the_rest_goes_in_if_it_is_asked_for() {
    let program = selling(&["card", "other"]).await;
    let text = format!("good-1\nbad\u{1}line\n{}\ngood-2\n1.2E+17\n", "x".repeat(5_000));
    let file = program.file("some.txt", &text);
    let ended = program.command(&["codes", "import", &file, "--sku", "card", "--json"]).await;
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let lines: Vec<u64> =
        report["malformed"].as_array().unwrap().iter().map(|m| m["line"].as_u64().unwrap()).collect();
    assert_eq!((ended.code, lines, &report["imported"]), (Some(1), vec![2, 3, 5], &json!(0)));
    let report = import(&program, "some.txt", &text, "card", &["--skip-malformed"]).await;
    assert_eq!((&report["imported"], report["malformed"].as_array().unwrap().len()), (&json!(2), 3));
    let again = import(&program, "again.txt", "good-1\nnew\nnew\n", "other", &["--dry-run"]).await;
    let known = json!([{"line": 1, "verdict": "in_stock", "sku": "card"}, {"line": 3, "verdict": "repeated_in_file"}]);
    assert_eq!(again["known"], known);
    program.close_stopped().await;
}
