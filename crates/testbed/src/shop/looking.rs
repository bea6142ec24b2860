//! What a test looks at: orders, codes, balances, and the rows themselves.

#![expect(clippy::unwrap_used, reason = "a verb that a test did not expect to fail fails the test")]

use std::collections::BTreeMap;

use tessera_issuer::rounds::reconcile;
use tessera_model::draw::{numbering, seed_of};
use tessera_model::ids::{OrderId, ProductId};
use tessera_model::import::CodeText;
use tessera_model::keys::{BatchKeys, WrappedKey, unwrap};
use tessera_model::order::{Line, Order, OrderStatus};
use tessera_model::pay::MoneyState;
use tessera_model::product::{Pick, Stock};
use tessera_model::round::Round;
use tessera_model::text::Sku;
use tessera_store::Tx;
use tessera_store::batches::{CodeSource, IssuedSpan};
use tessera_store::letters::{Letter, LetterState};
use tessera_store::payments::Notice;

use super::Shop;

/// The most letters or notices a test looks at.
const LISTED_MAX: i64 = 1_000;

impl Shop {
    async fn snapshot(&self) -> Box<dyn Tx> {
        self.store.snapshot().await.unwrap()
    }

    /// The order as it is.
    pub async fn order(&self, id: OrderId) -> Order {
        self.snapshot().await.orders_read(&[id]).await.unwrap().remove(0)
    }

    /// Its status.
    pub async fn status(&self, id: OrderId) -> OrderStatus {
        self.order(id).await.state.status()
    }

    /// The statuses of orders, in the order asked.
    pub async fn statuses(&self, ids: &[OrderId]) -> Vec<OrderStatus> {
        let orders = self.snapshot().await.orders_read(ids).await.unwrap();
        let statuses: BTreeMap<_, _> = orders.into_iter().map(|o| (o.id, o.state.status())).collect();
        ids.iter().filter_map(|id| statuses.get(id).copied()).collect()
    }

    /// Its lines; none if there is no such order.
    pub async fn lines(&self, id: OrderId) -> Vec<Line> {
        let lines = self.snapshot().await.lines_read(&[id]).await.unwrap();
        lines.into_iter().map(|(_, line)| line).collect()
    }

    /// The order's codes, opened, by line and in the order given.
    pub async fn codes_of(&self, order: OrderId) -> Vec<String> {
        let mut tx = self.snapshot().await;
        let mut codes = vec![];
        for span in tx.spans_of(&[order]).await.unwrap() {
            codes.extend(self.open_span(&mut *tx, &span).await);
        }
        codes
    }

    async fn open_span(&self, tx: &mut dyn Tx, span: &IssuedSpan) -> Vec<String> {
        let secret =
            |table: &str, id: &[u8], key: &WrappedKey| unwrap(&self.keyring, table, id, key).unwrap();
        let places = span.start..span.upto;
        match &span.batch.source {
            CodeSource::Stored => self.open_stored(tx, span).await,
            CodeSource::Pool { format, key, start } => {
                let order = format.order(&secret("coupon_format", format.as_str().as_bytes(), key));
                places.map(|place| format.code(&order, start + place).unwrap()).collect()
            }
            CodeSource::Round { product, key, number, first_number } => {
                let raffle = secret("raffle", product.uuid().as_bytes(), key);
                let numbers = numbering(&seed_of(&raffle, *number, span.batch.id), span.batch.size);
                places.map(|place| (first_number + numbers.of(place).unwrap()).to_string()).collect()
            }
        }
    }

    async fn open_stored(&self, tx: &mut dyn Tx, span: &IssuedSpan) -> Vec<String> {
        let batch = &span.batch;
        let secret = unwrap(&self.keyring, "batch", batch.id.uuid().as_bytes(), &batch.key).unwrap();
        let keys = BatchKeys::new(batch.id, &secret);
        let permutation = keys.permutation(batch.size);
        let mut codes = vec![];
        for place in span.start..span.upto {
            let position = match batch.pick {
                Pick::Fifo => place,
                Pick::Random => permutation.of(place).unwrap(),
            };
            let stored = tx.codes_read(&[(batch.id, position, position + 1)]).await.unwrap();
            let opened = keys.open(position, &stored[0].2).unwrap();
            codes.push(CodeText::from_canonical(opened).unwrap().text().to_string());
        }
        codes
    }

    /// The rounds of a raffle, oldest first.
    pub async fn rounds(&self, product: ProductId) -> Vec<Round> {
        let mut rounds = self.snapshot().await.rounds_list(Some(product), None, LISTED_MAX).await.unwrap();
        rounds.reverse();
        rounds
    }

    /// The numbers that orders have in a round, in the order of its positions.
    pub async fn numbers_of(&self, round: &Round) -> Vec<i64> {
        let mut tx = self.snapshot().await;
        let key = tx.raffles_key(round.product).await.unwrap().unwrap();
        let raffle = unwrap(&self.keyring, "raffle", round.product.uuid().as_bytes(), &key).unwrap();
        let numbers = numbering(&seed_of(&raffle, round.number, round.id), round.shares);
        let shares = tx.rounds_shares(round.id).await.unwrap();
        let places = shares.into_iter().flat_map(|share| share.start..share.upto);
        places.map(|place| round.first_number + numbers.of(place).unwrap()).collect()
    }

    /// What is on the shelf of a product.
    pub async fn shelf(&self, sku: &str) -> Stock {
        let figures = self.snapshot().await.stock_figures(Some(&Sku::parse(sku).unwrap())).await.unwrap();
        figures[0].stock
    }

    /// Who stands first in a waitlist.
    pub async fn head(&self, product: ProductId) -> OrderId {
        let waiting = self.snapshot().await.waitlists_read(&[product], 1).await.unwrap();
        waiting[0].1.1
    }

    /// The order's money by state; states without any are absent.
    pub async fn money(&self, order: OrderId) -> BTreeMap<MoneyState, i64> {
        let mut sums = BTreeMap::new();
        for portion in self.snapshot().await.money_of(&[order]).await.unwrap() {
            *sums.entry(portion.state).or_default() += portion.minor;
        }
        sums
    }

    /// Dead letters: in `state`, or else those that are live.
    pub async fn letters(&self, state: Option<LetterState>) -> Vec<Letter> {
        self.snapshot().await.letters_list(state, None, LISTED_MAX).await.unwrap()
    }

    /// Notices kept for operators.
    pub async fn notices(&self) -> Vec<Notice> {
        self.snapshot().await.notices_list(None, LISTED_MAX).await.unwrap()
    }

    /// Fails the test if a balance is off.
    pub async fn reconcile(&self) {
        for check in reconcile(&mut *self.snapshot().await).await.unwrap() {
            assert!(check.faults.is_empty(), "{} is off: {:?}", check.name, check.faults);
        }
    }

    /// The one number that a query gives, asked past the store.
    pub async fn number(&self, query: &str) -> i64 {
        self.home.number(query).await
    }

    /// Changes the rows past the store: what a fault of ours, or a hand, would leave.
    pub async fn operate(&self, statement: &str) {
        self.home.operate(statement).await;
    }

    /// An order's id as a statement for [`Shop::operate`] writes it.
    pub fn literal(&self, order: OrderId) -> String {
        self.home.literal(order.uuid())
    }
}
