//! Two API processes, and customers they both see for the first time.

use serde_json::json;
use tessera_testbed::program::{Program, free_address};

use super::{close, process};

const CUSTOMERS: usize = 40;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_customers_first_two_orders_at_two_processes_at_once_are_one() {
    let program = Program::on_servers();
    let place = json!({"sku": "place", "name": "A place", "kind": "coupon",
        "price": {"minor": 9_900, "currency": "CNY"}, "per_customer_limit": 1, "new_customers_only": true,
        "coupon": {"count": 2 * CUSTOMERS, "format": "SEAT-XXXXXXX"}});
    program.products(&place).await;
    let first = process(&program, "first", "api,issuer,courier,housekeeper").await;
    let listen = free_address();
    let mut line = program.line_elsewhere("second", &["serve", "--role", "api"]);
    line.env("TESSERA_HTTP__LISTEN", listen.to_string());
    let second = program.start_line(line);
    second.until_line("ready").await;
    let (here, there) = (program.client(), program.client_of(listen));
    for number in 0..CUSTOMERS {
        let name = format!("buyer-{number}");
        let lines = [("place", 1)];
        let (one, other) = tokio::join!(here.place(&name, &lines), there.place(&name, &lines));
        let mut statuses = [one.unwrap().status, other.unwrap().status];
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409], "{name}");
    }
    close(program, vec![first, second]).await;
}
