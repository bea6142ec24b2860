//! `tessera rounds`.

use serde_json::Value;
use tessera_testbed::program::Program;

/// The example of `docs/draw.md`.
const EXAMPLE: &str = include_str!("../../../docs/draw_example.json");

#[tokio::test]
async fn a_proof_is_verified_from_its_file_alone() {
    let program = Program::embedded();
    let good = program.file("good.json", EXAMPLE);
    let ended = program.command(&["rounds", "verify", &good]).await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stdout.starts_with("holds: number 10000007 of phone-raffle, round 3, wins"),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("the operator could know the winner"), "{}", ended.stdout);
    let answer = program.json(&["rounds", "verify", &good]).await;
    let proof: Value = serde_json::from_str(EXAMPLE).unwrap();
    assert_eq!((&answer["holds"], &answer["proof"]), (&Value::Bool(true), &proof));
    for (change, with, says) in [
        ("10000007", "10000008", "winning number"),
        ("\"drawn_at\": 16", "\"drawn_at\": 17", "seal"),
        ("tessera-draw-1", "tessera-draw-2", "/format"),
        ("\"seal\"", "\"sael\"", "sael"),
        ("{", "", "not one"),
    ] {
        let file = program.file("bad.json", EXAMPLE.replacen(change, with, 1));
        let ended = program.command(&["rounds", "verify", &file]).await;
        assert_eq!(ended.code, Some(1), "{change}: {}", ended.stderr);
        assert!(ended.stderr.contains("does not hold") && ended.stderr.contains(says), "{}", ended.stderr);
    }
    let missing = program.command(&["rounds", "verify", "nowhere.json"]).await;
    assert_eq!(missing.code, Some(2), "{}", missing.stderr);
    assert!(!program.data().exists(), "no store was made");
    program.close_empty();
}
