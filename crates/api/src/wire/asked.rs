//! The shapes of requests, for the document alone: what is sent is read by [`crate::parse`].

/// An order to place.
#[derive(utoipa::ToSchema)]
#[schema(example = json!({"customer": {"id": "u-1"}, "lines": [{"sku": "iqiyi-month", "quantity": 1}]}))]
pub(crate) struct PlaceRequest {
    #[expect(dead_code, reason = "a shape")]
    customer: CustomerRequest,
    /// 1 to 100; lines with one sku are merged.
    #[expect(dead_code, reason = "a shape")]
    lines: Vec<LineRequest>,
}

/// Who buys.
#[derive(utoipa::ToSchema)]
struct CustomerRequest {
    /// 1 to 128 characters, the shop's own name for the customer.
    #[expect(dead_code, reason = "a shape")]
    #[schema(min_length = 1, max_length = 128)]
    id: String,
    /// Where to write.
    #[expect(dead_code, reason = "a shape")]
    email: Option<String>,
}

/// What of.
#[derive(utoipa::ToSchema)]
struct LineRequest {
    #[expect(dead_code, reason = "a shape")]
    sku: String,
    /// At most 100 000 in all lines together.
    #[expect(dead_code, reason = "a shape")]
    #[schema(minimum = 1, maximum = 100_000)]
    quantity: i64,
}

/// How to pay.
#[derive(utoipa::ToSchema)]
#[schema(example = json!({"provider": "test"}))]
pub(crate) struct PayRequest {
    #[expect(dead_code, reason = "a shape")]
    provider: String,
}

/// A payment notice. All fields but `type` are those of `payment.settled`.
///
/// `payment.refunded` says that `amount` of the payment that `reference` names was paid back; the notice's `webhook-id`
/// names the refund: the same id again moves nothing, another id is another refund. A refund of exactly the amount that an
/// operator confirmed, and of which no notice has told, is that one. What does not fit is kept for operators.
#[derive(utoipa::ToSchema)]
#[schema(example = json!({"type": "payment.settled", "reference": "T-1", "order_id": "0193…",
    "amount": {"minor": 1990, "currency": "CNY"}, "paid_at": "2026-11-30T12:00:00Z"}))]
pub(crate) struct NoticeRequest {
    /// `payment.settled`, `.pending`, `.processing`, `.failed`, `.refunded` or `.disputed`.
    #[expect(dead_code, reason = "a shape")]
    r#type: String,
    /// The provider's name for the payment, 1 to 128 characters; the same again changes nothing.
    #[expect(dead_code, reason = "a shape")]
    reference: Option<String>,
    /// The order, any text up to 64 characters.
    #[expect(dead_code, reason = "a shape")]
    order_id: Option<String>,
    #[expect(dead_code, reason = "a shape")]
    amount: Option<super::MoneyBody>,
    /// When it was paid, RFC 3339.
    #[expect(dead_code, reason = "a shape")]
    paid_at: Option<String>,
}
