//! Proofs on the wire, and the reference verification of `docs/draw_verify.py` on the same proofs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tessera_api::wire::ProofBody;
use tessera_model::draw::{Beacon, EntropyRule, LedgerEntry, RoundTerms, draw, seed_of, verify};
use tessera_model::ids::{BatchId, OrderId};
use tessera_model::keys::Secret;
use tessera_model::text::Sku;
use tessera_model::time::Timestamp;

const DRAWN_AT: Timestamp = Timestamp::from_micros(1_692_900_000_000_001);

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

fn example() -> Value {
    serde_json::from_str(&std::fs::read_to_string(docs().join("draw_example.json")).unwrap()).unwrap()
}

/// A round of 6 800 shares in orders of one to twenty, every tenth position burned, with a beacon's value.
fn phone() -> Value {
    let rule = EntropyRule::Beacon(Beacon::DrandQuicknet);
    let id = BatchId::new(DRAWN_AT, [1; 10]);
    let round =
        RoundTerms { id, sku: Sku::parse("phone").unwrap(), number: 7, shares: 6_800, first_number: 1 };
    let (mut at, mut ledger) = (0, vec![]);
    for n in 0..=u8::MAX {
        let upto = (at + 1 + i64::from(n % 20)).min(round.shares);
        ledger.push(LedgerEntry::new(OrderId::new(DRAWN_AT, [n; 10]), at, upto));
        at = upto + i64::from(n % 10 == 0);
        if at >= round.shares {
            break;
        }
    }
    let entropy = rule.entropy(1_000, &[5; 32]);
    let seed = seed_of(&Secret::new([9; 32]), 7, id);
    json!(ProofBody::from(&draw(&round, &seed, rule, &entropy, ledger, DRAWN_AT).unwrap()))
}

fn holds(proof: &Value) -> bool {
    let body = ProofBody::read(proof.to_string().as_bytes());
    body.is_ok_and(|body| body.proof().is_ok_and(|proof| verify(&proof).is_ok()))
}

/// Every value of the proof with its pointer, and the object or list itself.
fn values(at: &str, value: &Value, found: &mut Vec<(String, Value)>) {
    found.push((at.to_owned(), value.clone()));
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(n, value)| (n.to_string(), value)).collect(),
        _ => vec![],
    };
    for (name, inner) in inner {
        values(&format!("{at}/{name}"), inner, found);
    }
}

/// What a value may be changed into: another of its kind, and other kinds.
fn changed(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) if text.is_empty() => vec![json!("00"), json!(0), Value::Null],
        Value::String(text) => {
            let (rest, last) = text.split_at(text.len() - 1);
            let other = if last == "0" { "1" } else { "0" };
            vec![json!(format!("{rest}{other}")), json!(text.to_uppercase()), json!(rest)]
        }
        Value::Number(number) => {
            let number = number.as_i64().unwrap();
            vec![json!(number + 1), json!(number - 1), json!(number.to_string()), json!(-1)]
        }
        Value::Array(items) => vec![json!(items[..items.len() - 1]), json!([]), json!({})],
        Value::Object(fields) => {
            let more = fields.clone().into_iter().chain([("more".to_owned(), json!(1))]).collect();
            vec![Value::Object(more), json!(fields.values().collect::<Vec<_>>()), json!({})]
        }
        Value::Bool(_) | Value::Null => vec![],
    }
    .into_iter()
    .filter(|other| other != value)
    .collect()
}

/// The proof with each field changed in turn.
fn forgeries(proof: &Value) -> Vec<(String, Value)> {
    let mut found = vec![];
    values("", proof, &mut found);
    let change = |(at, value): (String, Value)| {
        let of = |other: Value| {
            let mut forged = proof.clone();
            *forged.pointer_mut(&at).unwrap() = other.clone();
            (format!("{at} = {other}"), forged)
        };
        changed(&value).into_iter().map(of).collect::<Vec<_>>()
    };
    found.into_iter().flat_map(change).collect()
}

#[test]
fn each_field_of_a_published_proof_counts() {
    let proof = example();
    assert!(holds(&proof) && holds(&phone()));
    let forgeries = forgeries(&proof);
    assert!(forgeries.len() > 70, "{}", forgeries.len());
    for (what, forged) in forgeries {
        assert!(!holds(&forged), "{what}");
    }
    let twice = proof.to_string().replacen('{', r#"{"digest":"","#, 1);
    assert!(ProofBody::read(twice.as_bytes()).is_err(), "a field given twice");
}

#[test]
fn a_proof_reads_back_as_it_was_written() {
    for proof in [example(), phone()] {
        let body = ProofBody::read(proof.to_string().as_bytes()).unwrap();
        assert_eq!(json!(ProofBody::from(&body.proof().unwrap())), proof);
    }
}

/// Runs the reference verification on each proof: its exit codes.
fn judged(proofs: &[Value]) -> Option<Vec<Option<i32>>> {
    let folder = tempfile::tempdir().unwrap();
    let start = |(n, proof): (usize, &Value)| {
        let file = folder.path().join(n.to_string());
        std::fs::write(&file, proof.to_string()).unwrap();
        let mut python = Command::new("python3");
        python.arg(docs().join("draw_verify.py")).arg(file);
        let ended = python.stdout(Stdio::null()).stderr(Stdio::null()).status();
        ended.ok().map(|status| status.code())
    };
    proofs.iter().enumerate().map(start).collect()
}

#[test]
fn the_reference_verification_agrees() {
    let good = [example(), phone()];
    let Some(codes) = judged(&good) else {
        println!("python3 is not here: the vectors alone were checked, by the tests of the model");
        return;
    };
    assert_eq!(codes, [Some(0), Some(0)]);
    // One change of each field; the Rust side is asked about all of them above.
    let mut forgeries = forgeries(&good[0]);
    forgeries.dedup_by_key(|(what, _)| what.split(" = ").next().unwrap_or_default().to_owned());
    let (names, forged): (Vec<_>, Vec<_>) = forgeries.into_iter().unzip();
    for (name, code) in names.iter().zip(judged(&forged).unwrap()) {
        assert_eq!(code, Some(1), "{name}");
    }
}
