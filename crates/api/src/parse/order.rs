//! `POST /v1/orders`.

use serde_json::Value;
use tessera_model::ids::OrderId;
use tessera_model::order::QUANTITY_MAX;
use tessera_model::place::{BadLines, NewOrder, RequestKey};
use tessera_model::text::{CustomerId, Email, IdempotencyKey, Sku};

use super::fields::{Fields, body_hash};
use crate::problem::{FieldError, Problem};

/// A buyer's order, parsed but for its id.
#[derive(Clone, Debug)]
pub struct OrderRequest {
    customer: CustomerId,
    email: Option<Email>,
    lines: Vec<(Sku, i64)>,
}

/// Parses `{"customer":{"id":"u-1","email":"…"?},"lines":[{"sku":"…","quantity":1}]}`.
///
/// # Errors
/// A [`Problem`] that names every fault.
pub fn order(body: Value) -> Result<OrderRequest, Problem> {
    let mut fields = Fields::root(body)?;
    let customer = fields.object("customer").and_then(|mut customer| {
        let id = customer.text("id", CustomerId::parse);
        let email = customer.optional_text("email", Email::parse);
        fields.faults(customer.finish());
        Some((id?, email))
    });
    let lines = lines(&mut fields);
    let request =
        customer.zip(lines).map(|((customer, email), lines)| OrderRequest { customer, email, lines });
    fields.done(request)
}

fn lines(fields: &mut Fields) -> Option<Vec<(Sku, i64)>> {
    let Value::Array(items) = fields.require("lines")? else {
        fields.fault("lines", "is not an array: give [{\"sku\": …, \"quantity\": …}]");
        return None;
    };
    let mut lines = Vec::with_capacity(items.len());
    for (at, item) in items.into_iter().enumerate() {
        let pointer = format!("{}/{at}", fields.pointer_of("lines"));
        match Fields::at(pointer, item) {
            Ok(mut line) => {
                let sku = line.text("sku", Sku::parse);
                // The sum of all lines is bounded too: `NewOrder` knows.
                let quantity = line.integer("quantity", 1, QUANTITY_MAX);
                fields.faults(line.finish());
                lines.extend(sku.zip(quantity));
            }
            Err(error) => fields.faults(vec![error]),
        }
    }
    Some(lines)
}

impl OrderRequest {
    /// Who is said to buy.
    pub fn customer(&self) -> &CustomerId {
        &self.customer
    }

    /// The order, under an id made before its set.
    ///
    /// # Errors
    /// A [`Problem`] when there are no lines, too many, or a quantity is out of bounds.
    pub fn into_order(self, id: OrderId, key: Option<&IdempotencyKey>) -> Result<NewOrder, Problem> {
        let request =
            key.map(|key| RequestKey { key: body_hash([key.as_str().as_bytes()]), body: self.hash() });
        NewOrder::new(id, self.customer, self.email, self.lines, request).map_err(|error| {
            let pointer = match error {
                BadLines::None | BadLines::TooMany => "/lines".to_owned(),
                BadLines::Quantity { line } => format!("/lines/{line}/quantity"),
            };
            Problem::invalid(vec![FieldError { pointer, detail: error.to_string() }])
        })
    }

    fn hash(&self) -> [u8; 32] {
        let email = self.email.as_ref().map_or("", Email::as_str);
        let mut parts = vec![self.customer.given().as_bytes().to_vec(), email.as_bytes().to_vec()];
        for (sku, quantity) in &self.lines {
            parts.push(sku.as_str().as_bytes().to_vec());
            parts.push(quantity.to_be_bytes().to_vec());
        }
        body_hash(parts.iter().map(Vec::as_slice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tessera_model::time::Timestamp;

    fn parse(body: Value) -> Result<NewOrder, Problem> {
        order(body)?.into_order(OrderId::new(Timestamp::from_micros(1), [1; 10]), None)
    }

    fn pointers(body: Value) -> Vec<String> {
        let problem = serde_json::to_value(parse(body).unwrap_err().body()).unwrap();
        let errors = problem["errors"].as_array().cloned().unwrap_or_default();
        errors.iter().map(|e| e["pointer"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_plain_order_is_read() {
        let body = json!({"customer": {"id": "u-1"}, "lines": [{"sku": "a", "quantity": 2}]});
        assert_eq!(parse(body).unwrap().lines().len(), 1);
    }

    #[test]
    fn faults_are_named_where_they_are() {
        assert_eq!(pointers(json!({})), ["/customer", "/lines"]);
        let body = json!({"customer": {"id": "a\u{0}b", "mail": 1}, "lines": [{"sku": "", "quantity": "1"}], "x": 1});
        let found = pointers(body);
        assert_eq!(found, ["/customer/id", "/customer/mail", "/lines/0/sku", "/lines/0/quantity", "/x"]);
        for quantity in [json!(0), json!(-1), json!(100_001), json!(i64::MAX)] {
            let body = json!({"customer": {"id": "u"}, "lines": [{"sku": "a", "quantity": 1}, {"sku": "b", "quantity": quantity}]});
            assert_eq!(pointers(body), ["/lines/1/quantity"]);
        }
        assert_eq!(pointers(json!({"customer": {"id": "u"}, "lines": []})), ["/lines"]);
    }
}
