//! The shop under test: does what a transition says, and says what came of it in the reference's words.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tessera_backoffice::import::ImportError;
use tessera_model::coupon::Format;
use tessera_model::draw::EntropyRule;
use tessera_model::ids::{OrderId, PaymentId, ProductId};
use tessera_model::money::{Currency, Money};
use tessera_model::pay::PaymentOutcome;
use tessera_model::place::{NewOrder, Refusal, RequestKey};
use tessera_model::product::{Coupon, Kind, Pick, Raffle};
use tessera_model::text::{CustomerId, Provider, Reference, Sku};
use tessera_model::time::Timestamp;
use tessera_orders::Failure;
use tessera_orders::expire::Expire;
use tessera_orders::operators::DeedOutcome;
use tessera_orders::pay::{Incoming, PayOutcome};
use tessera_orders::place::PlaceOutcome;
use tessera_orders::refunds::{RefundOutcome, RefundTold};
use tessera_orders::release::{CancelOutcome, Cancellation};
use tessera_store::{Clock, SetFault, StoreError, run_set};
use tessera_testbed::{Engine, How, Shop};

use super::catalogue::{ARTICLES, Article, BUYERS, Sort};
use super::checks::Seen;
use super::model::{Model, id_rank};
use super::transition::{Act, Deed, Fault, File, New, Payment, Told, Work};

/// The most orders that one look for ended holds finds.
const DUE_MAX: i64 = 1_000;

/// A shop and what was seen of it.
pub(super) struct Machine {
    pub(super) shop: Shop,
    pub(super) products: Vec<ProductId>,
    pub(super) seen: Seen,
    /// Orders that were seen to be due.
    due: Vec<OrderId>,
    began: Timestamp,
}

/// An order's id by its number, placed or not.
pub(super) fn id_of(number: usize) -> OrderId {
    let (rank, number) = id_rank(number);
    let [.., high, low] = number.to_be_bytes();
    OrderId::new(Timestamp::from_micros(0), [0, 0, 0, 0, rank, high, low, 0, 0, 0])
}

impl Machine {
    /// An empty shop: another, or that of the case before, emptied.
    pub(super) async fn begin(before: Option<Shop>) -> Self {
        let shop = match before {
            Some(mut shop) => {
                shop.empty().await;
                shop
            }
            None => Shop::open_embedded(Engine::of_this_run()).await,
        };
        let mut products = vec![];
        for article in &ARTICLES {
            products.push(apply(&shop, article).await);
        }
        let began = shop.clock.now();
        Self { shop, products, seen: Seen::default(), due: vec![], began }
    }

    /// Does it, and compares what came of it.
    pub(super) async fn act(&mut self, act: &Act, fault: Option<Fault>, model: &Model) {
        if let Some(fault) = fault {
            self.give(fault, act, model);
        }
        let outcomes = self.do_it(act, fault, model).await;
        self.shop.faults.clear();
        assert_eq!(outcomes, model.outcomes, "what {act:?} came to");
        self.shop.clock.set(self.began.plus(Duration::from_millis(model.now)));
    }

    fn give(&self, fault: Fault, act: &Act, model: &Model) {
        let (operation, error): (_, fn(String) -> StoreError) = match fault {
            Fault::Refused => ("commit", StoreError::Unavailable),
            Fault::DoubtNotDone => ("commit", StoreError::InDoubt),
            Fault::DoubtDone => ("committed", StoreError::InDoubt),
            Fault::Lost => ("committed", StoreError::Unavailable),
        };
        // What only the transaction that counts does: an import and a late payment have several.
        let text = match act {
            Act::Import(_) => "batches_open",
            Act::Pay(_) if model.late_fault => "stock_lock",
            _ => "",
        };
        self.shop.faults.next(1, operation, &text, How::Fail(error("on order".to_owned())));
    }

    async fn do_it(&mut self, act: &Act, fault: Option<Fault>, model: &Model) -> Vec<String> {
        let shop = &self.shop;
        match act {
            Act::Place(set) => return self.place(set).await,
            Act::Pay(set) => return self.pay(set, model).await,
            Act::Cancel(order) => return vec![self.cancel(*order).await],
            Act::Deed(deed, order) => return vec![self.deed(*deed, *order).await],
            Act::Told(told) => return vec![self.told(told, model).await],
            Act::Import(file) => return vec![self.import(file, fault, model).await],
            Act::Wait(_) => {}
            Act::Look => self.due = self.due().await,
            Act::Expire => self.expire().await,
            Act::Tell(Work::Order(order)) => shop.publish_paid(id_of(*order)).await,
            Act::Tell(Work::Stock(article)) => shop.publish_stock(self.products[*article]).await,
            Act::Sweep => drop(shop.sweep().await),
            Act::Deliver => self.deliver().await,
            Act::Kill { done } => self.kill(*done).await,
            Act::Purge => drop(shop.purge().await),
            Act::Issue(works) => self.issue(works).await,
            Act::Crash => self.shop.crash().await,
        }
        vec![]
    }

    async fn place(&self, set: &[New]) -> Vec<String> {
        let orders: Vec<NewOrder> = set.iter().map(new_order).collect();
        let [one] = &orders[..] else {
            let outcomes = self.shop.place_set(orders).await.into_iter();
            return outcomes.map(|outcome| placed(outcome.map_err(Failure::from))).collect();
        };
        let outcome = self.shop.desk.place(one.clone()).await;
        self.shop.until_all_published().await;
        vec![placed(outcome)]
    }

    async fn pay(&self, set: &[Payment], model: &Model) -> Vec<String> {
        let incoming: Vec<Incoming> = set.iter().map(|payment| self.incoming(payment, model)).collect();
        let desk = &self.shop.desk;
        let outcomes = join_all(incoming.into_iter().map(|incoming| desk.pay(incoming))).await;
        // The desk tells of what was paid: that is in the queue before anything else is.
        self.shop.until_all_published().await;
        outcomes.into_iter().map(paid).collect()
    }

    fn incoming(&self, payment: &Payment, model: &Model) -> Incoming {
        let said = model.said(payment);
        let reference = match payment {
            Payment::Notice { reference, .. } | Payment::Again { reference, .. } => format!("p{reference}"),
            Payment::Test { order } => return self.shop.test_payment(id_of(*order)),
        };
        self.shop.notice("acme", &reference, &id_of(said.order).to_string(), said.minor, said.currency)
    }

    async fn cancel(&self, order: usize) -> String {
        match self.shop.desk.cancel(Cancellation { order: id_of(order), epoch: 0 }).await {
            Ok(CancelOutcome::Cancelled) => "cancelled".to_owned(),
            Ok(CancelOutcome::NotFound) => "not found".to_owned(),
            Ok(CancelOutcome::NotCancellable(status)) => format!("not cancellable: {status}"),
            Err(failure) => failed(&failure),
        }
    }

    async fn deed(&self, deed: Deed, order: usize) -> String {
        let (desk, wish) = (&self.shop.desk, self.shop.wish(id_of(order)));
        let outcome = match deed {
            Deed::Refund => desk.refund(wish).await,
            Deed::Accept => desk.accept(wish).await,
            Deed::Cancel => desk.cancel_for(wish).await,
        };
        self.shop.until_all_published().await;
        match outcome {
            Ok(DeedOutcome::Done { .. }) => "done".to_owned(),
            Ok(DeedOutcome::Already(status)) => format!("already {status}"),
            Ok(DeedOutcome::NotFound) => "not found".to_owned(),
            Ok(DeedOutcome::Refused(status)) => format!("refused: {status}"),
            Ok(DeedOutcome::NothingPaid) => "nothing paid".to_owned(),
            Ok(DeedOutcome::SoldOut) => "sold out".to_owned(),
            Ok(DeedOutcome::SharesFinal) => "shares are final".to_owned(),
            Err(failure) => failed(&failure),
        }
    }

    async fn told(&self, told: &Told, model: &Model) -> String {
        let (payment, name) = (format!("p{}", told.reference), format!("r{}", told.name));
        let told = match (told.by_hand, told.minor) {
            (false, Some(minor)) => {
                let currency = model.notices[&told.reference].currency;
                RefundTold::Notice(self.shop.refund_notice(&payment, &name, minor, currency))
            }
            (_, minor) => self.shop.confirmed(self.payment(&payment).await, &name, minor),
        };
        match self.shop.desk.paid_back(told).await {
            Ok(RefundOutcome::Kept { moved, fits, .. }) => format!("moved {moved}, fits {fits}"),
            Ok(RefundOutcome::Repeated(_)) => "repeated".to_owned(),
            Ok(RefundOutcome::TooMuch { there }) => format!("only {there} is there"),
            Ok(RefundOutcome::ReferenceReused) => "another's name".to_owned(),
            Ok(RefundOutcome::Recorded) => "recorded".to_owned(),
            Ok(RefundOutcome::NotFound) => "not found".to_owned(),
            Err(failure) => failed(&failure),
        }
    }

    async fn payment(&self, reference: &str) -> PaymentId {
        let name = (Provider::parse("acme").unwrap(), Reference::parse(reference).unwrap());
        let mut tx = self.shop.store.snapshot().await.unwrap();
        tx.payments_known(&[name]).await.unwrap()[0].id
    }

    async fn due(&self) -> Vec<OrderId> {
        let mut tx = self.shop.store.snapshot().await.unwrap();
        tx.orders_due(self.shop.clock.now(), DUE_MAX).await.unwrap()
    }

    async fn expire(&mut self) {
        let mut due = self.due().await;
        due.append(&mut self.due);
        for outcome in run_set(Arc::clone(&self.shop.store), Arc::new(Expire), due).await {
            assert!(!matches!(outcome, Err(SetFault::Data(_))), "an order cannot expire");
        }
    }

    async fn import(&self, file: &File, fault: Option<Fault>, model: &Model) -> String {
        // Batches are told apart by their age.
        self.shop.clock.set(self.began.plus(Duration::from_millis(model.now)));
        let codes = Self::codes(file, fault, model);
        let request = self.shop.request(ARTICLES[file.article].sku);
        match self.shop.try_import(request, codes.join("\n").as_bytes(), &|_| ()).await {
            Ok(report) => {
                assert_eq!((report.repeated_in_file, report.malformed_count), (0, 0));
                format!("{} new, {} known", report.new, report.in_stock + report.already_sold)
            }
            Err(ImportError::Store(_)) => "unavailable".to_owned(),
            Err(error) => format!("not imported: {error}"),
        }
    }

    /// What comes again in front, what is new behind it.
    fn codes(file: &File, fault: Option<Fault>, model: &Model) -> Vec<String> {
        let again = file.again.iter().flat_map(|(article, codes)| codes.clone().map(|n| code(*article, n)));
        // What was refused is not on sale, and is brought as new the next time.
        let is_done = !matches!(fault, Some(Fault::Refused | Fault::DoubtNotDone));
        let first = model.imported(file.article) - if is_done { file.fresh } else { 0 };
        again.chain((first..first + file.fresh).map(|n| code(file.article, n))).collect()
    }

    async fn deliver(&self) {
        let issuer = self.shop.start_issuer().await;
        self.shop.broker.until_acknowledged().await;
        issuer.stop().await;
    }

    /// Kills the issuer while its first set stands at its commit, before it or after.
    async fn kill(&self, done: bool) {
        let operation = if done { "committed" } else { "commit" };
        let hang = self.shop.faults.hang(operation, &"stock_lock");
        let issuer = self.shop.start_issuer().await;
        hang.reached().await;
        issuer.kill().await;
        hang.die();
    }

    async fn issue(&self, works: &[Work]) {
        let works = works.iter().map(|work| match work {
            Work::Order(order) => tessera_issuer::Work::Order(id_of(*order)),
            Work::Stock(article) => tessera_issuer::Work::Stock(self.products[*article]),
        });
        for outcome in self.shop.issue_set(works.collect()).await {
            assert!(!matches!(outcome, Err(SetFault::Data(_))), "an order cannot be issued");
        }
    }
}

async fn apply(shop: &Shop, article: &Article) -> ProductId {
    shop.product(article.sku, |rules| {
        rules.price = Money::new(article.price, Currency::parse(article.currency).unwrap());
        rules.hold = Duration::from_mins(article.hold_minutes);
        rules.max_per_order = article.max_per_order;
        rules.per_customer_limit = article.per_customer;
        rules.open_orders_per_customer = article.open_orders;
        rules.new_customers_only = article.new_only;
        rules.backorders = article.backorders;
        rules.pick = if article.random { Pick::Random } else { Pick::Fifo };
        rules.kind = kind(article.sort);
    })
    .await
}

fn kind(sort: Sort) -> Kind {
    let number = |count: usize| i64::try_from(count).unwrap();
    match sort {
        Sort::Imported => Kind::Codes,
        Sort::Coupon { count } => {
            let format = Format::parse("SPRING-XXXX-XXXX").unwrap();
            Kind::Coupon(Coupon { count: number(count), format, expires_at: None })
        }
        Sort::Raffle { shares, rounds } => Kind::Raffle(Raffle {
            shares: number(shares),
            first_number: 1,
            draw_after: Duration::ZERO,
            last_round: Some(number(rounds)),
            entropy_rule: EntropyRule::None,
        }),
    }
}

/// The text of an article's n-th code.
pub(super) fn code(article: usize, n: usize) -> String {
    format!("{}-{n:05}", ARTICLES[article].sku)
}

fn new_order(new: &New) -> NewOrder {
    let lines =
        new.lines.iter().map(|(article, quantity)| (Sku::parse(ARTICLES[*article].sku).unwrap(), *quantity));
    let customer = CustomerId::parse(BUYERS[new.buyer].given).unwrap();
    let request = new.key.map(|key| RequestKey { key: [key; 32], body: body(new) });
    NewOrder::new(id_of(new.order), customer, None, lines.collect(), request).unwrap()
}

/// Stands for the hash of what was asked.
fn body(new: &New) -> [u8; 32] {
    let (buyer, lines) = new.body();
    let mut body = [0; 32];
    body[0] = buyer.to_le_bytes()[0];
    for (place, (article, quantity)) in body[1..].chunks_mut(2).zip(lines) {
        place[0] = article.to_le_bytes()[0] + 1;
        place[1] = quantity.to_le_bytes()[0];
    }
    body
}

fn failed(failure: &Failure) -> String {
    match failure {
        Failure::Set(SetFault::Store(_)) => "unavailable".to_owned(),
        other => format!("failed: {other}"),
    }
}

fn placed(outcome: Result<PlaceOutcome, Failure>) -> String {
    match outcome {
        Ok(PlaceOutcome::Placed(_)) => "placed".to_owned(),
        Ok(PlaceOutcome::Repeated(order)) => format!("repeats #{}", number_of(order)),
        Ok(PlaceOutcome::KeyReused) => "key reused".to_owned(),
        Ok(PlaceOutcome::Refused(refusal)) => refused(&refusal),
        Err(failure) => failed(&failure),
    }
}

/// The number of an order by its id.
fn number_of(order: OrderId) -> usize {
    let [.., high, low, _, _, _] = order.uuid().into_bytes();
    usize::from(u16::from_be_bytes([high, low]))
}

fn refused(refusal: &Refusal) -> String {
    match refusal {
        Refusal::MixedCurrencies => "mixed currencies".to_owned(),
        Refusal::LimitReached { sku, limit, .. } => format!("{} of {sku}", limit.as_str()),
        Refusal::NotANewCustomer(sku) => format!("{sku} is for the new"),
        Refusal::SoldOut { sku, .. } => format!("{sku} sold out"),
        other => other.to_string(),
    }
}

fn paid(outcome: Result<PayOutcome, Failure>) -> String {
    match outcome {
        Ok(PayOutcome::Taken { outcome, .. }) => PaymentOutcome::as_str(outcome).to_owned(),
        Ok(PayOutcome::NotFound) => "not found".to_owned(),
        Ok(PayOutcome::NotPayable(status)) => format!("not payable: {status}"),
        Ok(PayOutcome::Late) => "late".to_owned(),
        Err(failure) => failed(&failure),
    }
}
