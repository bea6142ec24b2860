//! The proof of a draw, as it is published and as `tessera rounds verify` reads it.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tessera_model::draw::{EntropyRule, LedgerEntry, Proof, RoundTerms};
use tessera_model::ids::BatchId;
use tessera_model::text::Sku;
use tessera_model::time::Timestamp;

/// What the first field of a proof says.
const FORMAT: &str = "tessera-draw-1";

/// All that anybody needs to draw again; `docs/draw.md` says how.
///
/// Bytes are lower-case hex and all numbers are integers, so that a proof holds however its JSON is re-written.
///
/// ```json
/// {"format":"tessera-draw-1",
///  "round":{"id":"0193…","sku":"phone","number":3,"shares":10,"first_number":10000001},
///  "commitment":"2ce0…","seed":"f5a1…","entropy_rule":"none","entropy":"",
///  "ledger":[{"order":"87bd…","start":0,"upto":3}],"digest":"3fb7…",
///  "winning_position":1,"winning_number":10000007,"drawn_at":1690000000000000,"seal":"3f84…"}
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProofBody {
    #[schema(example = "tessera-draw-1")]
    format: String,
    round: ProofRound,
    /// SHA-256 of the seed, published when the round opened.
    commitment: String,
    /// The seed, secret until the draw.
    seed: String,
    /// `none` or `drand:quicknet`.
    #[schema(example = "none")]
    entropy_rule: String,
    /// Empty, or the beacon's round in 8 bytes and its 32 bytes of randomness.
    entropy: String,
    /// Who had which shares, by position. What is in no entry was burned and cannot win.
    ledger: Vec<ProofEntry>,
    /// Over round and ledger, published when the round was full.
    digest: String,
    winning_position: i64,
    winning_number: i64,
    /// Microseconds since 1970-01-01T00:00:00Z.
    #[schema(example = 1_690_000_000_000_000_i64)]
    drawn_at: i64,
    /// A hash over all other fields. It shows slips and later changes; it does not prove who made it.
    seal: String,
}

/// The round that was drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct ProofRound {
    id: String,
    sku: String,
    number: i64,
    shares: i64,
    first_number: i64,
}

/// Shares of one order: positions from `start` up to, without, `upto`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct ProofEntry {
    /// SHA-256 of the order's id.
    order: String,
    start: i64,
    upto: i64,
}

/// A field of a proof that has not its form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{pointer} is not {form}")]
pub struct ProofMalformed {
    /// JSON pointer of the field.
    pub pointer: String,
    /// What it should be.
    pub form: &'static str,
}

impl From<&Proof> for ProofBody {
    fn from(proof: &Proof) -> Self {
        let round = &proof.round;
        let entry =
            |e: &LedgerEntry| ProofEntry { order: HEXLOWER.encode(&e.order), start: e.start, upto: e.upto };
        Self {
            format: FORMAT.to_owned(),
            round: ProofRound {
                id: round.id.to_string(),
                sku: round.sku.to_string(),
                number: round.number,
                shares: round.shares,
                first_number: round.first_number,
            },
            commitment: HEXLOWER.encode(&proof.commitment),
            seed: HEXLOWER.encode(&proof.seed),
            entropy_rule: proof.entropy_rule.as_str().to_owned(),
            entropy: HEXLOWER.encode(&proof.entropy),
            ledger: proof.ledger.iter().map(entry).collect(),
            digest: HEXLOWER.encode(&proof.digest),
            winning_position: proof.winning_position,
            winning_number: proof.winning_number,
            drawn_at: proof.drawn_at.micros(),
            seal: HEXLOWER.encode(&proof.seal),
        }
    }
}

impl ProofBody {
    /// Reads the JSON of a proof.
    ///
    /// # Errors
    /// For what is no JSON, a field that is missing, unknown, given twice or of another type, and a list in the
    /// place of an object, which serde alone would take.
    pub fn read(json: &[u8]) -> Result<Self, serde_json::Error> {
        let body = serde_json::from_slice(json)?;
        let value: Value = serde_json::from_slice(json)?;
        let mut entries = value["ledger"].as_array().into_iter().flatten();
        match value["round"].is_object() && entries.all(Value::is_object) {
            true => Ok(body),
            false => Err(serde::de::Error::custom("a list stands in the place of an object")),
        }
    }

    /// The proof these fields write, to be verified.
    ///
    /// # Errors
    /// [`ProofMalformed`] names the first field that has not its form. One form each: capital hex is none.
    pub fn proof(&self) -> Result<Proof, ProofMalformed> {
        let format = Some(()).filter(|()| self.format == FORMAT);
        format.ok_or_else(|| malformed("/format", "tessera-draw-1"))?;
        let rule = EntropyRule::parse(&self.entropy_rule);
        let entropy = HEXLOWER.decode(self.entropy.as_bytes());
        Ok(Proof {
            round: self.round.terms()?,
            commitment: bytes32("/commitment", &self.commitment)?,
            seed: bytes32("/seed", &self.seed)?,
            entropy_rule: rule.ok_or_else(|| malformed("/entropy_rule", "none or drand:quicknet"))?,
            entropy: entropy.map_err(|_| malformed("/entropy", "lower-case hex"))?,
            ledger: self.ledger.iter().enumerate().map(entry).collect::<Result<_, _>>()?,
            digest: bytes32("/digest", &self.digest)?,
            winning_position: self.winning_position,
            winning_number: self.winning_number,
            drawn_at: Timestamp::from_micros(self.drawn_at),
            seal: bytes32("/seal", &self.seal)?,
        })
    }
}

impl ProofRound {
    fn terms(&self) -> Result<RoundTerms, ProofMalformed> {
        // Capitals in an id would be another text of the same id, and another digest to other readers.
        let id = BatchId::parse(&self.id).filter(|id| id.to_string() == self.id);
        let sku = Sku::parse(&self.sku);
        Ok(RoundTerms {
            id: id.ok_or_else(|| malformed("/round/id", "a UUID in lower case"))?,
            sku: sku.map_err(|_| malformed("/round/sku", "a sku"))?,
            number: self.number,
            shares: self.shares,
            first_number: self.first_number,
        })
    }
}

fn entry((n, entry): (usize, &ProofEntry)) -> Result<LedgerEntry, ProofMalformed> {
    let order = bytes32(&format!("/ledger/{n}/order"), &entry.order)?;
    Ok(LedgerEntry { order, start: entry.start, upto: entry.upto })
}

fn bytes32(pointer: &str, text: &str) -> Result<[u8; 32], ProofMalformed> {
    let bytes = HEXLOWER.decode(text.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| malformed(pointer, "64 digits of lower-case hex"))
}

fn malformed(pointer: &str, form: &'static str) -> ProofMalformed {
    ProofMalformed { pointer: pointer.to_owned(), form }
}
