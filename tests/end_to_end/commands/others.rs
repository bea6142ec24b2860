//! Keys, settings, checks, documents; and that logs go nowhere but to standard error.

use hyper::Method;
use serde_json::{Value, json};
use tessera_testbed::program::Program;

use super::{card, column, empty, fields};

#[tokio::test]
async fn keys_are_shown_once_listed_and_revoked() {
    let program = empty().await;
    let line = ["keys", "create", "--role", "operator", "--name", "till", "--expires", "2027-01-31"];
    let made = program.json(&line).await;
    assert_eq!(fields(&made), ["created_at", "expires_at", "id", "key", "name", "role"]);
    assert_eq!((&made["role"], &made["name"]), (&json!("operator"), &json!("till")));
    assert_eq!(made["expires_at"], "2027-01-31T00:00:00Z");
    let other = program.json(&["keys", "create", "--role", "viewer"]).await;
    assert_eq!(other["expires_at"], Value::Null);
    let listed = program.json(&["keys", "list"]).await;
    assert_eq!(column(&listed["keys"], "role"), ["viewer", "operator"]);
    assert!(!listed.to_string().contains(made["key"].as_str().unwrap()), "a key is shown once");
    let id = made["id"].as_str().unwrap();
    program.json(&["keys", "revoke", id]).await;
    program.problem(&["keys", "revoke", id], 1).await;
    assert!(program.json(&["keys", "list"]).await["keys"][1]["revoked_at"].is_string());
    program.problem(&["keys", "revoke", "x"], 2).await;
    program.problem(&["keys", "create", "--role", "king"], 2).await;
    program.problem(&["keys", "create", "--role", "owner", "--expires", "soon"], 2).await;
    program.problem(&["keys", "create", "--role", "owner", "--expires", "2020-01-01"], 2).await;
    program.close_stopped().await;
}

#[tokio::test]
async fn the_default_configuration_reads_back_and_is_the_default() {
    let program = Program::default();
    let default = program.command(&["config", "default"]).await.stdout;
    let file = program.file("all.toml", &default);
    let with = program.json(&["--config", &file, "config", "check"]).await;
    let without = program.json(&["config", "check"]).await;
    assert_eq!(with, without);
    assert_eq!(with["listen"], json!(program.listen().to_string()), "the environment wins over the file");
    program.file("tessera.toml", "[log]\nfilter = \"warn\"\n[http]\nlistn = \"x\"\n");
    let found = program.problem(&["config", "check"], 2).await;
    assert!(found["detail"].as_str().unwrap().contains("`http.listen`"), "{found}");
    program.close_empty();
}

#[tokio::test]
async fn a_check_refuses_what_serving_would() {
    let program = empty().await;
    for (setting, value, words) in [
        ("PAYMENTS__HMAC__SECRET", "secret", "payments.hmac.secret"),
        ("LOG__FORMAT", "xml", "log.format"),
        ("LOG__FILTER", "=,=", "log.filter"),
        ("BROKER__URL", "kafka://x", "broker.url"),
        ("BROKER__PREFIX", "a b", "broker.prefix"),
        ("OPS__LISTEN", "9100", "ops.listen"),
        ("DATABASE__URL", "mysql://x", "database.url"),
    ] {
        for line in [&["serve"][..], &["config", "check"], &["orders", "list"]] {
            let ended = program.command_with((setting, value), line).await;
            assert_eq!(ended.code, Some(2), "{setting} {line:?}: {}", ended.stderr);
            assert!(ended.stderr.contains(words), "{}", ended.stderr);
        }
        let doctor = program.command_with((setting, value), &["--json", "doctor"]).await;
        assert_eq!((doctor.code, &doctor.json()["ok"]), (Some(1), &json!(false)), "{setting}");
    }
    program.close_stopped().await;
}

#[tokio::test]
async fn doctor_names_each_check_and_the_remedy() {
    let program = Program::embedded();
    let before = program.command(&["--json", "doctor"]).await;
    assert_eq!(before.code, Some(1));
    let report = before.json();
    let wrong = report["checks"].as_array().unwrap().iter().find(|c| c["ok"] == json!(false)).unwrap();
    assert!(wrong["remedy"].as_str().unwrap().contains("tessera migrate"), "{wrong}");
    assert!(!program.data().exists(), "a check makes nothing");
    program.json(&["migrate"]).await;
    let after = program.json(&["doctor"]).await;
    assert_eq!((fields(&after), &after["ok"]), (vec!["checks", "ok"], &json!(true)));
    for check in after["checks"].as_array().unwrap() {
        assert_eq!(fields(check), ["detail", "name", "ok", "remedy"]);
        assert_eq!(check["ok"], json!(true), "{check}");
    }
    program.close_stopped().await;
}

#[tokio::test]
async fn reconcile_names_each_balance() {
    let program = empty().await;
    program.products(&card("card")).await;
    program.stock("card", 3).await;
    let report = program.json(&["reconcile"]).await;
    assert_eq!((fields(&report), &report["balanced"]), (vec!["balanced", "checks"], &json!(true)));
    let names = column(&report["checks"], "name");
    for name in ["codes", "claims", "customers", "money"] {
        assert!(names.contains(&name), "no {name} in {names:?}");
    }
    program.operate("UPDATE stock SET claimed = 2").await;
    let ended = program.command(&["--json", "reconcile"]).await;
    assert_eq!((ended.code, &ended.json()["balanced"]), (Some(1), &json!(false)));
    let report = ended.json();
    let claims = report["checks"].as_array().unwrap().iter().find(|c| c["name"] == "claims").unwrap();
    assert_eq!(fields(&claims["faults"][0]), ["detail", "id", "table"], "{claims}");
    program.operate("UPDATE stock SET claimed = 0").await;
    program.close_stopped().await;
}

#[tokio::test]
async fn the_openapi_document_has_the_routes_that_are_there_and_no_other() {
    let program = empty().await;
    let document: Value = serde_json::from_str(&program.command(&["openapi"]).await.stdout).unwrap();
    let paths = fields(&document["paths"]);
    for route in [
        "/healthz",
        "/metrics",
        "/readyz",
        "/v1/orders",
        "/v1/orders/{id}",
        "/v1/orders/{id}/cancel",
        "/v1/orders/{id}/codes",
        "/v1/orders/{id}/events",
        "/v1/orders/{id}/pay",
        "/v1/payments/{provider}/notify",
        "/v1/products",
        "/v1/products/{sku}",
    ] {
        assert!(paths.contains(&route), "no {route} in {paths:?}");
    }
    let server = program.serve().await;
    let client = program.client();
    assert_eq!(client.look("/openapi.json").await.unwrap().with_status(200).body, document);
    for path in paths {
        for method in fields(&document["paths"][path]) {
            let made = path.replace("{id}", "x").replace("{provider}", "x").replace("{sku}", "x");
            let verb = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let answer = client.send(verb, &made, &[], vec![]).await.unwrap();
            let missing = answer.status == 405 || answer.text.contains("there is no such path");
            assert!(!missing, "{method} {path}: {}", answer.text);
        }
    }
    let lost = client.look("/v1/nowhere").await.unwrap();
    assert_eq!((lost.status, lost.problem()), (404, "not-found"));
    program.close(server).await;
}

#[tokio::test]
async fn completions_are_for_every_shell() {
    let program = Program::default();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = program.command(&["completions", shell]).await;
        assert_eq!(ended.code, Some(0));
        assert!(ended.stdout.contains("tessera") && ended.stderr.is_empty(), "{shell}");
    }
    program.problem(&["completions", "abacus"], 2).await;
    program.close_empty();
}

#[tokio::test]
async fn a_failing_command_prints_one_problem_and_help_is_help() {
    let program = Program::embedded();
    for (line, code, slug) in [
        (&["orders", "list"][..], 3, "unavailable"),
        (&["orders"], 2, "invalid-request"),
        (&["serve", "--role", "api"], 2, "invalid-request"),
        (&["bogus"], 2, "invalid-request"),
        (&["keyring", "show"], 3, "unavailable"),
    ] {
        let problem = program.problem(line, code).await;
        assert_eq!(problem["type"], json!(format!("urn:tessera:problem:{slug}")), "{line:?}");
    }
    let help = program.command(&["-h"]).await;
    assert_eq!(help.code, Some(0));
    assert!(help.stdout.lines().count() < 40 && help.stdout.contains("Usage:"), "{}", help.stdout);
    program.close_empty();
}

#[tokio::test]
async fn logs_go_to_standard_error_and_hold_no_secret_however_much_is_logged() {
    let program = Program::default().with("LOG__FILTER", "trace");
    program.json(&["migrate"]).await;
    program.products(&card("card")).await;
    program.stock("card", 5).await;
    program.json(&["keys", "create", "--role", "owner"]).await;
    let server = program.serve().await;
    let client = program.client();
    let receipt = client.place("buyer", &[("card", 2)]).await.unwrap().with_status(201).receipt();
    client.pay_waiting(&receipt, 5).await.unwrap().with_status(200).codes();
    client.get(&receipt).await.unwrap().with_status(200).codes();
    program.json(&["orders", "list"]).await;
    program.json(&["orders", "show", &receipt.id]).await;
    assert_eq!(server.stdout(), "ready\n");
    let listed = program.command(&["products", "list"]).await;
    assert!(listed.stderr.contains("DEBUG") && !listed.stdout.contains("DEBUG"), "{}", listed.stdout);
    program.close(server).await;

    let json = Program::default().with("LOG__FORMAT", "json");
    let server = json.serve().await;
    let ended = server.terminate().await;
    for line in ended.stderr.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(line["level"].is_string(), "{line}");
    }
    assert_eq!((ended.code, ended.stderr.lines().count() > 0), (Some(0), true));
    json.close_stopped().await;
}
