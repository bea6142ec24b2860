//! A small import beside a sale has all its figures.

use tessera_testbed::servers;

use super::*;

/// Few lines and little time; a rate at which each second has sales.
async fn small(on: On, addresses: Addresses) -> Value {
    let options = Options { on, addresses, lines: 2_000, rate: Some(40), seconds: 1, codes: 500, json: true };
    measured(&options).await.unwrap().json()
}

fn has_all_figures(report: &Value) {
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("a figure is missing: {report:#}"));
    assert!(number(&report["import"]["lines_per_second"]) > 100.0, "{report:#}");
    assert!((1_000.0..150_000.0).contains(&number(&report["import"]["memory_kib_max"])), "{report:#}");
    assert!(
        number(&report["plain"]["rows_per_second"]) > 100.0 && number(&report["ratio"]) > 0.0,
        "{report:#}"
    );
    let sale = report["sale"].as_array().unwrap();
    let names: Vec<&str> = sale.iter().take(2).filter_map(|seen| seen["during"].as_str()).collect();
    assert_eq!(names, ["before", "the import"]);
    let before = number(&sale[0]["sales_per_second"]);
    assert!((30.0..=41.0).contains(&before), "the sale was not steady: {report:#}");
    for seen in sale {
        assert!(number(&seen["due_to_codes_p99_ms"]) >= number(&seen["pay_to_codes_p99_ms"]), "{report:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_into_a_file_beside_a_sale_has_all_its_figures() {
    has_all_figures(&small(On::Sqlite, Addresses::default()).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_on_servers_beside_a_sale_has_all_its_figures() {
    let (postgres, amqp) = (Some(servers::postgres_url()), Some(servers::amqp_url()));
    has_all_figures(&small(On::Servers, Addresses { postgres, amqp }).await);
}
