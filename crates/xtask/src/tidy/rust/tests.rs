//! What the reader of Rust tells apart.

use super::*;

fn named(text: &str) -> Vec<(usize, String)> {
    paths(&code(text)).into_iter().map(|named| (named.line, named.path)).collect()
}

fn pairs(expected: &[(usize, &str)]) -> Vec<(usize, String)> {
    expected.iter().map(|&(line, path)| (line, path.to_owned())).collect()
}

#[test]
fn comments_and_literals_are_blank() {
    for (text, code_left) in [
        ("a // b\nc", "a\nc"),
        ("a /* b /* c */ d */ e", "a e"),
        (r#"a("b \" c") d"#, "a() d"),
        (r##"a(r#"b " c"#) d"##, "a() d"),
        (r#"a(br"b\") d"#, "a(b) d"),
        (r"a('\'', '/', '\u{1F}') b", "a(, , ) b"),
        ("a<'b>(c: &'b str)", "a<'b>(c: &'b str)"),
        ("r#type = \"b\";", "r#type = ;"),
        ("a \"never closed", "a"),
        ("a /* never closed", "a"),
        ("a r#\"never closed\"", "a"),
    ] {
        let blanked = code(text);
        assert_eq!(blanked.chars().count(), text.chars().count(), "{text}");
        assert_eq!(blanked.replace(' ', ""), code_left.replace(' ', ""), "{text}");
    }
}

#[test]
fn lines_stay_where_they_are() {
    assert_eq!(code("\"a\nb\" c").lines().nth(1), Some("   c"));
}

#[test]
fn production_ends_where_the_test_module_begins() {
    let tests = "#[cfg(test)]\nmod tests {\n}\n";
    assert_eq!(production_lines(&format!("a\nb\n{tests}")), 2);
    assert_eq!(production_lines(&format!("a\n#[cfg(test)]\nuse b;\nc\n{tests}")), 4);
    assert_eq!(production_lines("a\n#[cfg(test)]\nmod tests;\n"), 3);
    assert_eq!(production_lines("a\n#[cfg(test)]\n#[expect(b)]\nmod tests {\n}\n"), 1);
    assert_eq!(production_lines("a\n// #[cfg(test)]\n"), 2);
}

#[test]
fn paths_are_read_whole() {
    let text = "let a = std::fs::read(b);\nc::<std::env::Args>();";
    let expected = [(1, "let"), (1, "a"), (1, "std::fs::read"), (1, "b"), (2, "c"), (2, "std::env::Args")];
    assert_eq!(named(text), pairs(&expected));
}

#[test]
fn grouped_imports_are_read_in_full() {
    let text = "use std::{\n    env,\n    fs::{self, File as F},\n};\nuse tokio::*;";
    let expected =
        [(1, "use"), (2, "std::env"), (3, "std::fs"), (3, "std::fs::File"), (5, "use"), (5, "tokio")];
    assert_eq!(named(text), pairs(&expected));
}

#[test]
fn a_path_holds_whole_segments_only() {
    let path = |path: &str| Named { line: 1, path: path.to_owned() };
    assert!(path("std::fs::read").holds("std::fs"));
    assert!(path("std::time::SystemTime::now").holds("SystemTime::now"));
    assert!(!path("rand::rngs::StdRng").holds("rand::rng"));
    assert!(path("use::std::fs").holds("std::fs"));
    assert!(!path("my_std::fs").holds("std::fs"));
}
