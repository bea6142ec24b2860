//! What a draw promises.

use std::collections::BTreeSet;
use std::time::Duration;

use data_encoding::HEXLOWER;
use proptest::prelude::*;

use super::*;
use crate::keys::Secret;
use crate::time::Timestamp;

const DRAWN_AT: Timestamp = Timestamp::from_micros(1_690_000_000_000_000);

fn raffle() -> Secret {
    Secret::new(std::array::from_fn(|n| u8::try_from(n).unwrap()))
}

fn given(hex: &str) -> Secret {
    Secret::new(HEXLOWER.decode(hex.as_bytes()).unwrap().try_into().unwrap())
}

fn order(last: &str) -> OrderId {
    OrderId::parse(&format!("01890a5d-ac9{last}")).unwrap()
}

fn terms(id: char, number: i64, shares: i64, first_number: i64) -> RoundTerms {
    let id = BatchId::parse(&format!("01890a5d-ac96-7000-8000-00000000000{id}")).unwrap();
    RoundTerms { id, sku: Sku::parse("phone-raffle").unwrap(), number, shares, first_number }
}

/// Ten shares in three entries; positions 5 and 6 were burned.
fn ledger() -> Vec<LedgerEntry> {
    let (first, second) = (order("6-774b-bcce-b302099a8057"), order("7-7001-8000-00000000002a"));
    [(first, 0, 3), (second, 3, 5), (first, 7, 10)].map(|(o, s, u)| LedgerEntry::new(o, s, u)).to_vec()
}

fn small() -> Proof {
    let round = terms('1', 3, 10, 10_000_001);
    draw(
        &round,
        &given("f5a17d6d56e7375d6e461c8cd33038dcdd1ca5b47ac2a4bf0215b06f4a23b55a"),
        EntropyRule::None,
        b"",
        ledger(),
        DRAWN_AT,
    )
    .unwrap()
}

/// A third of all words is rejected at this many shares; of round 15 the first two are.
fn large() -> Proof {
    const SHARES: i64 = 6_148_914_691_236_517_206;
    let rule = EntropyRule::Beacon(Beacon::DrandQuicknet);
    let entropy = rule.entropy(1_000, raffle().bytes());
    let ledger = vec![LedgerEntry::new(order("7-7001-8000-00000000002a"), 0, SHARES)];
    let at = Timestamp::from_micros(1_692_900_000_000_001);
    draw(
        &terms('2', 15, SHARES, 1),
        &given("5ff6a0df6c5cdb48b35468d29ab865e04adc71ae79e9c324ef787977c43d64eb"),
        rule,
        &entropy,
        ledger,
        at,
    )
    .unwrap()
}

fn figures(proof: &Proof) -> (i64, i64, String, String, String) {
    let hex = |bytes: &[u8]| HEXLOWER.encode(bytes);
    let (commitment, digest, seal) = (hex(&proof.commitment), hex(&proof.digest), hex(&proof.seal));
    (proof.winning_position, proof.winning_number, commitment, digest, seal)
}

#[test]
fn a_seed_follows_from_number_and_id() {
    let id = |last| BatchId::parse(&format!("01890a5d-ac96-7000-8000-00000000000{last}")).unwrap();
    let of = |number, last| HEXLOWER.encode(seed_of(&raffle(), number, id(last)).bytes());
    assert_eq!(of(3, '1'), "958ad980d7897c34ded1ff2527316d6964cd387edb3b988b7b6776419c3dc84b");
    assert_ne!(of(3, '1'), of(3, '2'), "a round of the same number, after a restore");
    assert_ne!(of(3, '1'), of(4, '1'));
}

/// The figures of `docs/draw.md`, made and checked by two Python programs that share no code with this one.
#[test]
fn draws_are_those_of_an_independent_program() {
    let expected = (
        1,
        10_000_007,
        "2ce00aef4ffdb91fd497c93f71f20560b5be95bf36186bca98fad9c3961ee0b4".to_owned(),
        "3fb7e5c9d2daead1a1f4d90cb677a89beeba96b24c8a4ed6477df320168abd66".to_owned(),
        "3f84b2fb11ae2764b499c068c162dc3555181ffc88e97eb9a515af24bd8d6236".to_owned(),
    );
    assert_eq!(figures(&small()), expected);
    let expected = (
        4_440_006_513_498_099_917,
        3_883_588_277_593_967_783,
        "e1676f7b8386aaf5b6db1c06f209f616b1ded205fe84a34079c39e880cd4f795".to_owned(),
        "27239cb073dc6a1a5d4233b4350c35821e8a141628572d844cd99c28b2edcb65".to_owned(),
        "87f53c58b7443d91369661b47daf26167e8fff589a430831c13f1870c1d678f0".to_owned(),
    );
    assert_eq!(figures(&large()), expected);
    let numbers: Vec<_> = (0..10).filter_map(|p| numbering(&Secret::new(small().seed), 10).of(p)).collect();
    assert_eq!(numbers, [0, 6, 4, 9, 1, 7, 5, 2, 8, 3]);
}

#[test]
fn a_proof_holds_and_a_second_draw_is_the_same() {
    for proof in [small(), large()] {
        assert_eq!(verify(&proof), Ok(()));
    }
    assert_eq!(small(), small());
}

#[test]
fn the_running_digest_is_that_of_the_ledger() {
    let (first, second) = (order("6-774b-bcce-b302099a8057"), order("7-7001-8000-00000000002a"));
    let digest = digest_begin(&small().round);
    let digest = digest_add(digest, first, 0, 3);
    let digest = digest_add(digest, second, 3, 5);
    assert_eq!(digest_add(digest, first, 7, 10), small().digest);
}

/// A change of a proof.
type Change = fn(&mut Proof);

#[test]
fn each_field_changed_is_refused() {
    use DrawFault::{Entropy, Ledger, NothingSold, Round};
    let draw = ProofFault::Draw;
    let changes: &[(Change, ProofFault)] = &[
        (|p| p.round.id = BatchId::new(DRAWN_AT, [1; 10]), ProofFault::Digest),
        (|p| p.round.sku = Sku::parse("phone").unwrap(), ProofFault::Digest),
        (|p| p.round.number = 4, ProofFault::Digest),
        (|p| p.round.number = 0, draw(Round)),
        (|p| p.round.shares = 11, ProofFault::Digest),
        (|p| p.round.shares = 9, draw(Ledger { entry: 2 })),
        (|p| p.round.shares = 0, draw(Round)),
        (|p| p.round.first_number = 10_000_002, ProofFault::Digest),
        (|p| p.round.first_number = i64::MAX, draw(Round)),
        (|p| p.round.first_number = -1, draw(Round)),
        (|p| p.commitment[31] ^= 1, ProofFault::Commitment),
        (|p| p.seed[0] ^= 1, ProofFault::Commitment),
        (|p| p.entropy_rule = EntropyRule::Beacon(Beacon::DrandQuicknet), draw(Entropy)),
        (|p| p.entropy = vec![0], draw(Entropy)),
        (|p| p.ledger[1].order[5] ^= 1, ProofFault::Digest),
        (|p| p.ledger[1].start = 4, ProofFault::Digest),
        (|p| p.ledger[1].start = 2, draw(Ledger { entry: 1 })),
        (|p| p.ledger[1].upto = 6, ProofFault::Digest),
        (|p| p.ledger[1].upto = 3, draw(Ledger { entry: 1 })),
        (|p| p.ledger[0].start = -1, draw(Ledger { entry: 0 })),
        (|p| p.ledger.swap(0, 1), draw(Ledger { entry: 1 })),
        (|p| p.ledger.truncate(2), ProofFault::Digest),
        (|p| p.ledger.clear(), draw(NothingSold)),
        (|p| p.digest[7] ^= 1, ProofFault::Digest),
        (|p| p.winning_position = 2, ProofFault::WinningPosition),
        (|p| p.winning_number += 1, ProofFault::WinningNumber),
        (|p| p.drawn_at = Timestamp::from_micros(1), ProofFault::Seal),
        (|p| p.seal[0] ^= 1, ProofFault::Seal),
    ];
    for (n, (change, fault)) in changes.iter().enumerate() {
        let mut proof = small();
        change(&mut proof);
        assert_eq!(verify(&proof), Err(*fault), "change {n}");
    }
}

#[test]
fn entropy_of_another_rule_length_or_time_is_refused() {
    let changes: [Change; 6] = [
        |p| p.entropy_rule = EntropyRule::None,
        |p| p.entropy.truncate(39),
        |p| p.entropy.push(0),
        |p| p.entropy[..8].fill(0),
        |p| p.entropy[..8].fill(0xff),
        |p| p.drawn_at = Timestamp::from_micros(1_692_806_363_999_999),
    ];
    for change in changes {
        let mut proof = large();
        change(&mut proof);
        assert_eq!(verify(&proof), Err(DrawFault::Entropy.into()), "{:?}", proof.entropy);
    }
    let mut proof = large();
    proof.entropy[39] ^= 1;
    assert_eq!(verify(&proof), Err(ProofFault::WinningPosition));
}

/// quicknet's value `r` is published at 1692803367 + 3 (r − 1).
#[test]
fn the_beacons_round_is_the_first_a_minute_after_the_fill() {
    let rule = EntropyRule::Beacon(Beacon::DrandQuicknet);
    let genesis = Timestamp::from_micros(1_692_803_367_000_000);
    let full = |micros: i64| Timestamp::from_micros(genesis.minus(BEACON_DELAY).micros() + micros);
    for (micros, round) in [(-1, 1), (0, 1), (1, 2), (3_000_000, 2), (3_000_001, 3), (300_000_000, 101)] {
        assert_eq!(rule.beacon_round(full(micros)), Some(round), "{micros}");
    }
    assert_eq!(Beacon::DrandQuicknet.due(101), Some(genesis.plus(Duration::from_mins(5))));
    assert_eq!(EntropyRule::None.beacon_round(genesis), None);
    assert!(rule.beacon_round(Timestamp::from_micros(i64::MAX)).is_some());
    for rule in [rule, EntropyRule::None] {
        assert_eq!(EntropyRule::parse(rule.as_str()), Some(rule));
    }
    assert_eq!(EntropyRule::parse("drand"), None);
}

#[test]
fn rejected_words_are_those_beyond_the_last_whole_multiple() {
    use super::winner::reduce;
    assert_eq!((reduce(u64::MAX, 1), reduce(u64::MAX, 2)), (Some(0), Some(1)));
    assert_eq!((reduce(u64::MAX, 3), reduce(u64::MAX - 1, 3)), (None, Some(2)));
    assert_eq!((reduce(0, 0), reduce(u64::MAX, u64::MAX)), (None, None));
}

fn seed(n: u64) -> Secret {
    let mut bytes = [9; 32];
    bytes[..8].copy_from_slice(&n.to_be_bytes());
    Secret::new(bytes)
}

#[test]
fn every_sold_share_can_win_and_a_burned_one_never() {
    let round = terms('1', 3, 10, 1);
    let won: BTreeSet<i64> = (0..300)
        .map(|n| draw(&round, &seed(n), EntropyRule::None, b"", ledger(), DRAWN_AT).unwrap())
        .map(|proof| proof.winning_position)
        .collect();
    assert_eq!(won, [0, 1, 2, 3, 4, 7, 8, 9].into());
}

/// A hundred shares, a million draws: the statistic has 99 degrees of freedom, and exceeds 148.23 in one of a
/// thousand such tests when all shares are equally likely.
#[test]
fn a_million_draws_favour_no_share() {
    use super::winner::Lot;
    const SHARES: u64 = 100;
    const EXPECTED: i64 = 10_000;
    let seed = seed(7);
    let mut counts = [0_i64; 100];
    for n in 0..1_000_000_u64 {
        let lot = Lot { round: [1; 32], digest: [2; 32], entropy: &n.to_be_bytes() };
        counts[usize::try_from(lot.pick(&seed, SHARES).unwrap()).unwrap()] += 1;
    }
    let squares: i64 = counts.iter().map(|count| (count - EXPECTED).pow(2)).sum();
    assert!(squares * 100 < 14_823 * EXPECTED, "chi-square of {squares} / {EXPECTED}");
    assert!(squares > 60 * EXPECTED, "too even to be true: {squares} / {EXPECTED}");
}

prop_compose! {
    fn any_entry()(order in any::<[u8; 32]>(), start in any::<i64>(), upto in any::<i64>()) -> LedgerEntry {
        LedgerEntry { order, start, upto }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_figures_make_a_check_panic(
        number in any::<i64>(), shares in any::<i64>(), first in any::<i64>(), at in any::<i64>(),
        entries in proptest::collection::vec(any_entry(), 0..4), entropy in proptest::collection::vec(any::<u8>(), 0..41),
    ) {
        let round = terms('1', number, shares, first);
        let mut proof = Proof { round, ledger: entries, entropy, drawn_at: Timestamp::from_micros(at), ..small() };
        for rule in [EntropyRule::None, EntropyRule::Beacon(Beacon::DrandQuicknet)] {
            proof.entropy_rule = rule;
            prop_assert!(verify(&proof).is_err());
            let seed = Secret::new(proof.seed);
            let drawn = draw(&proof.round, &seed, rule, &proof.entropy, proof.ledger.clone(), proof.drawn_at);
            if let Ok(drawn) = drawn {
                prop_assert_eq!(verify(&drawn), Ok(()));
            }
        }
    }

    #[test]
    fn every_ledger_gives_a_winner_in_it_with_a_number_of_the_round(
        sizes in proptest::collection::vec((0_i64..5, 1_i64..20), 1..30), first in 0_i64..1 << 40, of in any::<u64>(),
    ) {
        let (mut at, mut ledger) = (0, vec![]);
        for (burned, count) in sizes {
            ledger.push(LedgerEntry { order: [3; 32], start: at + burned, upto: at + burned + count });
            at += burned + count;
        }
        let round = terms('1', 1, at, first);
        let proof = draw(&round, &seed(of), EntropyRule::None, b"", ledger, DRAWN_AT).unwrap();
        prop_assert_eq!(verify(&proof), Ok(()));
        prop_assert!(proof.ledger.iter().any(|e| (e.start..e.upto).contains(&proof.winning_position)));
        prop_assert!((first..first + at).contains(&proof.winning_number));
    }
}
