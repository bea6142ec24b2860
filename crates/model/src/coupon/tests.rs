//! What a format promises.

use proptest::prelude::*;

use super::*;

fn format(text: &str) -> Format {
    Format::parse(text).unwrap()
}

fn order(format: &Format) -> Permutation {
    Permutation::new(&[7; 32], format.capacity())
}

#[test]
fn the_size_of_a_format_follows_from_its_places() {
    let spring = format("SPRING-XXXX-XXXX");
    assert_eq!((spring.capacity(), spring.codes_max()), (1 << 35, 32_768));
    assert_eq!((format("XXXX").capacity(), format("XXXX").codes_max()), (32_768, 0));
    assert_eq!(format("XXXXX").codes_max(), 1);
    assert_eq!(format(&"X".repeat(13)).capacity(), 1 << 60);
}

#[test]
fn a_wrong_format_says_what_to_do() {
    for (text, fault) in [
        ("", FormatFault::Length),
        (&"X".repeat(65), FormatFault::Length),
        ("spring-XXXX", FormatFault::SmallLetter),
        ("SPRING XXXX", FormatFault::Alphabet),
        ("XXXX\n", FormatFault::Alphabet),
        ("FRÜHLING-XXXX", FormatFault::Alphabet),
        ("SPRING-XXX", FormatFault::Places { places: 3 }),
        (&"X".repeat(14), FormatFault::Places { places: 14 }),
    ] {
        assert_eq!(Format::parse(text), Err(fault), "{text}");
        assert!(fault.to_string().contains(": "), "a fault and its remedy");
    }
}

/// Computed by a Python program written from the module's description alone, without a look at this code.
#[test]
fn check_symbols_are_those_of_an_independent_program() {
    for (symbols, check) in [
        (&[][..], 0),
        (&[0, 0, 0], 0),
        (&[1], 30),
        (&[31], 1),
        (&[16, 31, 1], 30),
        (&[0, 1, 2, 3, 4, 5, 6], 31),
        (&[31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20], 18),
    ] {
        assert_eq!(check_symbol(symbols), check, "{symbols:?}");
    }
}

/// From the same Python program, with its own Feistel network under the key of 32 sevens.
#[test]
fn codes_never_change_between_versions() {
    let spring = format("SPRING-XXXX-XXXX");
    let codes: Vec<_> = (0..3).filter_map(|i| spring.code(&order(&spring), i)).collect();
    assert_eq!(codes, ["SPRING-PR68-YMCY", "SPRING-9QN3-BXNB", "SPRING-81J8-6WR9"]);
    let longest = format("XXXXXXXXXXXXX");
    assert_eq!(longest.code(&order(&longest), (1 << 60) - 1).unwrap(), "0FNXVV1GQFJXW");
}

#[test]
fn a_code_is_read_however_it_is_typed() {
    let format = format("OIL-XXXX-XXXX");
    let order = order(&format);
    let code = (0..10_000).map(|i| (i, format.code(&order, i).unwrap())).find(|(_, c)| c[4..].contains('0'));
    let (index, code) = code.unwrap();
    let aliased = code.to_lowercase().replace('0', "o").replace('1', "l");
    let bare = code.replace('-', "");
    let spread = code.chars().flat_map(|c| [c, '-']).collect::<String>();
    let dashed = code.replace('-', "\u{2013}");
    for typed in [&code, &aliased, &bare, &spread, &dashed, &format!("\u{3000}{code}\n")] {
        assert_eq!(format.index(&order, typed), Some(index), "{typed}");
    }
}

#[test]
fn what_is_no_code_has_no_index() {
    let format = format("SPRING-XXXX-XXXX");
    let order = order(&format);
    let code = format.code(&order, 5).unwrap();
    let other_word = code.replace("SPRING", "SPRUNG");
    let with_u = format!("{}U", &code[..15]);
    for typed in ["", "-", &code[1..], &format!("{code}0"), &other_word, &with_u, &"9".repeat(10_000)] {
        assert_eq!(format.index(&order, typed), None, "{typed}");
    }
    let outside = [-1, format.capacity(), i64::MAX];
    assert!(outside.into_iter().all(|index| format.code(&order, index).is_none()));
    assert_eq!(format.code(&Permutation::new(&[1; 32], i64::MAX), 3), None, "another format's permutation");
}

#[test]
fn formats_that_can_emit_one_string_collide() {
    for (a, b, collide) in [
        ("SPRING-XXXX-XXXX", "SPRING-XXXX-XXXX", true),
        ("SPRING-XXXX-XXXX", "SPRINGXXXXXXXX", true),
        ("SPRING-XXXX-XXXX", "SUMMER-XXXX-XXXX", false),
        ("SPRING-XXXX-XXXX", "SPRING-XXXX-XXXXX", false),
        ("OIL-XXXX", "011-XXXX", true),
        ("AXXXX", "XXXXX", true),
        ("AXXXX", "XXXXA", true),
        ("UXXXX", "XXXXX", false),
        ("#XXXX", "XXXXX", false),
    ] {
        assert_eq!(format(a).collides(&format(b)), collide, "{a} {b}");
        assert_eq!(format(b).collides(&format(a)), collide, "{b} {a}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_index_has_one_code_that_leads_back(
        literal in "[A-Z0-9!#-]{0,8}", places in 4_usize..=8, key in any::<[u8; 32]>(), index in 0_i64..32_768,
    ) {
        let Ok(format) = Format::parse(&format!("{literal}{}", "X".repeat(places))) else { return Ok(()) };
        let order = Permutation::new(&key, format.capacity());
        let code = format.code(&order, index).unwrap();
        prop_assert_eq!(code.len(), format.as_str().len());
        prop_assert_eq!(format.index(&order, &code), Some(index));
    }

    #[test]
    fn a_wrong_symbol_is_noticed(index in 0_i64..1_000_000, at in 0_usize..8, by in 1_u8..32) {
        let format = format("XXXXXXXX");
        let order = order(&format);
        let mut code: Vec<char> = format.code(&order, index).unwrap().chars().collect();
        code[at] = symbols::write(symbols::read(code[at]).unwrap() + by);
        prop_assert_eq!(format.index(&order, &code.iter().collect::<String>()), None);
    }

    #[test]
    fn anything_may_be_typed(text in ".{0,80}", pattern in ".{0,80}") {
        let format = format("SPRING-XXXX-XXXX");
        let _any = (format.index(&order(&format), &text), Format::parse(&pattern));
    }
}
