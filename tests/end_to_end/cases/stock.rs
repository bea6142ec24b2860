//! Figures of stock that differ by who shows them.

use serde_json::json;
use tessera_testbed::program::{Client, Program};
use tokio::sync::watch;
use tokio::task::JoinSet;

const STOCK: usize = 200;
const BUYERS: usize = 6;

/// Codes that no span covers, less what pending orders want: counted from the rows.
const LEFT: &str = "SELECT (SELECT count(*) FROM code) \
    - (SELECT coalesce(sum(upto - start), 0) FROM span WHERE kind <> 'anchor') \
    - (SELECT coalesce(sum(quantity), 0) FROM order_line l JOIN orders o ON o.id = l.order_id \
        WHERE o.status <> 'issued')";

/// Where stock is shown.
#[derive(Clone, Copy, Debug)]
enum Shown {
    List,
    Product,
    Command,
}

/// What is shown there.
async fn left(program: &Program, client: &Client, shown: Shown) -> i64 {
    let figure = match shown {
        Shown::List => {
            client.look("/v1/products").await.unwrap().with_status(200).body["products"][0]["available"]
                .clone()
        }
        Shown::Product => {
            client.look("/v1/products/card").await.unwrap().with_status(200).body["available"].clone()
        }
        Shown::Command => program.json(&["codes", "stock"]).await["stock"][0]["available"].clone(),
    };
    figure.as_i64().unwrap()
}

/// Buys one or two at a time, and pays every other order, until nothing is left.
async fn buy_all(client: Client, number: usize, over: watch::Sender<usize>) {
    for n in 0.. {
        let quantity = if n % 3 == 0 { 2 } else { 1 };
        let placed = client.place(&format!("buyer-{number}-{n}"), &[("card", quantity)]).await.unwrap();
        if placed.status != 201 {
            assert_eq!(placed.problem(), "sold-out");
            match quantity {
                1 => break,
                _ => continue, // Two were too many; one may be left.
            }
        }
        if n % 2 == 0 {
            let paid = client.pay_waiting(&placed.receipt(), 5).await.unwrap();
            assert_eq!(paid.with_status(200).order_status(), "issued");
        }
    }
    over.send_modify(|count| *count += 1);
}

/// Case P14: the database and the cache said different things, one of them less than nothing.
///
/// While nothing but buying is going on, what is left only falls: figures read one after another must never rise, wherever
/// each of them was read. That is the same as equal, of figures that cannot be read at one moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_path_that_shows_stock_shows_the_same_while_it_is_sold() {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let price = json!({"minor": 1_990, "currency": "CNY"});
    program.products(&json!({"sku": "card", "name": "A card", "kind": "codes", "price": price})).await;
    program.stock("card", STOCK).await;
    let server = program.serve().await;
    let (client, over) = (program.client(), watch::Sender::new(0));
    let mut seen = vec![];
    let mut look = async |shown: Shown| seen.push((left(&program, &client, shown).await, shown));
    look(Shown::Command).await;
    let mut buyers = JoinSet::new();
    for number in 0..BUYERS {
        buyers.spawn(buy_all(program.client(), number, over.clone()));
    }
    let sold_out = over.subscribe();
    while *sold_out.borrow() < BUYERS {
        for shown in [Shown::List, Shown::Product, Shown::List, Shown::Command, Shown::Product] {
            look(shown).await;
        }
    }
    buyers.join_all().await;
    for shown in [Shown::List, Shown::Product, Shown::Command] {
        look(shown).await;
    }
    assert!(seen.is_sorted_by(|before, after| before.0 >= after.0), "{seen:?}");
    let (first, last) = (seen[0].0, seen[seen.len() - 3..].iter().map(|(left, _)| *left));
    assert_eq!((first, last.collect::<Vec<_>>()), (200, vec![0; 3]));
    assert_eq!(program.number(LEFT).await, 0);
    program.close(server).await;
}
