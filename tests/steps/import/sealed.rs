//! Codes are sealed: who has the file has no code. What is sealed is the same on every engine; its files are
//! SQLite's.

use std::path::Path;

use tessera_testbed::{Engine, Shop};

use super::sell;

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_default()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test]
async fn no_code_is_in_the_databases_files_whatever_was_done_with_it() {
    let shop = Shop::open_on(Engine::Sqlite).await;
    shop.product("card", |_| ()).await;
    shop.import("card", "SECRET-ONE\nSECRET-TWO\nSECRET-SIX\n").await;
    shop.import("card", "SECRET-ONE\nSECRET-BAD\u{0}\nSECRET-NEW\n").await;
    let order = sell(&shop, "card", 2).await;
    assert_eq!(shop.codes_of(order).await, ["SECRET-ONE", "SECRET-TWO"]);
    let file = shop.file();
    for end in ["", "-wal", "-shm"] {
        let mut path = file.clone().into_os_string();
        path.push(end);
        assert!(!holds(&bytes(Path::new(&path)), "SECRET"), "{end}");
    }
    assert!(holds(&bytes(&file), "card") || holds(&bytes(&file.with_extension("db-wal")), "card"));
    shop.close().await;
}
