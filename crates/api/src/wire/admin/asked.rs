//! The shapes of operators' requests, for the document alone: what is sent is read by [`crate::parse`].

/// A code.
#[derive(utoipa::ToSchema)]
pub(crate) struct CodeRequest {
    /// As buyers are shown it.
    #[expect(dead_code, reason = "a shape")]
    code: String,
}

/// What to void.
#[derive(utoipa::ToSchema)]
#[schema(example = json!({"reason": "the supplier took them back"}))]
pub(crate) struct VoidRequest {
    /// Why, 1 to 500 characters.
    #[expect(dead_code, reason = "a shape")]
    reason: String,
    /// Single positions, as `codes/check` tells them; all that nobody has, if left out.
    #[expect(dead_code, reason = "a shape")]
    positions: Option<Vec<i64>>,
    /// Take what pending orders claim, too: they wait.
    #[expect(dead_code, reason = "a shape")]
    force: Option<bool>,
}

/// What to replace.
#[derive(utoipa::ToSchema)]
#[schema(example = json!({"line": 1, "positions": [3], "reason": "the site says it was used"}))]
pub(crate) struct ReplaceRequest {
    /// Counts from 1 within the order; 1 if left out.
    #[expect(dead_code, reason = "a shape")]
    line: Option<i32>,
    /// Count from 1 within the line, at most 1 000.
    #[expect(dead_code, reason = "a shape")]
    positions: Vec<i64>,
    /// Why, 1 to 500 characters.
    #[expect(dead_code, reason = "a shape")]
    reason: String,
    /// Give what pending orders claim, too: they wait.
    #[expect(dead_code, reason = "a shape")]
    force: Option<bool>,
}
