//! Rounds of raffles as JSON.

use data_encoding::HEXLOWER;
use serde::Serialize;
use tessera_model::round::Round;

use crate::instant::rfc3339;

/// A round of a raffle.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct RoundBody {
    /// Its id.
    id: String,
    /// The raffle.
    sku: String,
    /// Counts the raffle's rounds from 1.
    number: i64,
    /// `open`, `full`, `drawn` or `cancelled`.
    #[schema(example = "open")]
    state: &'static str,
    /// How many shares it has.
    shares: i64,
    /// How many of them are sold.
    sold: i64,
    /// The lowest of its numbers.
    first_number: i64,
    /// SHA-256 of the seed, in hex: known before the first share is sold.
    commitment: String,
    /// `none`, or the beacon that the draw takes a value of.
    entropy_rule: &'static str,
    /// Of the shares sold so far, in hex; final once the round is full.
    digest: String,
    opened_at: String,
    /// When its last share was sold.
    #[serde(skip_serializing_if = "Option::is_none")]
    full_at: Option<String>,
    /// When it is drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    draw_at: Option<String>,
    /// The beacon's round that decides, where there is a beacon: known once the round is full.
    #[serde(skip_serializing_if = "Option::is_none")]
    beacon_round: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drawn_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    winning_number: Option<i64>,
}

impl RoundBody {
    /// A round as it is shown.
    pub fn new(round: &Round) -> Self {
        Self {
            id: round.id.to_string(),
            sku: round.sku.to_string(),
            number: round.number,
            state: round.state.as_str(),
            shares: round.shares,
            sold: round.sold,
            first_number: round.first_number,
            commitment: HEXLOWER.encode(&round.commitment),
            entropy_rule: round.entropy_rule.as_str(),
            digest: HEXLOWER.encode(&round.digest),
            opened_at: rfc3339(round.opened_at),
            full_at: round.full_at.map(rfc3339),
            draw_at: round.draw_at.map(rfc3339),
            beacon_round: round.full_at.and_then(|at| round.entropy_rule.beacon_round(at)),
            drawn_at: round.drawn.map(|drawn| rfc3339(drawn.at)),
            winning_number: round.drawn.map(|drawn| drawn.number),
        }
    }
}

/// Rounds, newest first.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct RoundList {
    /// The rounds.
    pub rounds: Vec<RoundBody>,
    /// What to give as `cursor` for the next ones; none at the end.
    pub next: Option<String>,
}
