//! `/openapi.json` and `/docs`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::api::{Api, order};
use super::ask::{get, post};

/// The routers' own text: axum cannot list its routes.
const ROUTES: &str = concat!(
    include_str!("../../../crates/api/src/routes.rs"),
    include_str!("../../../crates/api/src/routes/admin.rs")
);

/// Paths about the interface itself.
const ABOUT: [&str; 2] = ["/openapi.json", "/docs"];

/// Fails unless `value` is what `schema` says: its type, required fields, and none that is not named.
pub(super) fn matches(api: &Value, schema: &Value, value: &Value, at: &str) {
    let (properties, required) = shape(api, schema);
    if let Some(object) = value.as_object() {
        for name in &required {
            assert!(object.contains_key(name), "{at} has no {name}");
        }
        for (name, field) in object {
            let schema = properties.get(name).unwrap_or_else(|| panic!("{at}/{name} is in no schema"));
            matches(api, schema, field, &format!("{at}/{name}"));
        }
    }
    let schema = resolved(api, schema);
    for item in value.as_array().into_iter().flatten() {
        matches(api, &schema["items"], item, &format!("{at}/-"));
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let named = &schema["type"];
    let is = named == kind || named.as_array().is_some_and(|kinds| kinds.iter().any(|k| k == kind));
    assert!(is || schema.get("allOf").is_some(), "{at} is {kind}, and {named} in its schema");
}

/// The properties and required fields of an object's schema, those of its parts among them.
fn shape(api: &Value, schema: &Value) -> (Map<String, Value>, BTreeSet<String>) {
    let schema = resolved(api, schema);
    let mut properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let names = schema["required"].as_array().into_iter().flatten();
    let mut required: BTreeSet<String> = names.map(|name| name.as_str().unwrap().to_owned()).collect();
    for part in schema["allOf"].as_array().into_iter().flatten() {
        let (more, needed) = shape(api, part);
        properties.extend(more);
        required.extend(needed);
    }
    (properties, required)
}

fn resolved<'a>(api: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(reference) => api.pointer(reference.strip_prefix('#').unwrap()).expect("a schema of this name"),
        None => schema,
    }
}

fn operations(api: &Value) -> BTreeSet<(String, String)> {
    let paths = api["paths"].as_object().unwrap();
    let of_path = |(path, methods): (&String, &Value)| -> Vec<(String, String)> {
        methods.as_object().unwrap().keys().map(|method| (path.clone(), method.clone())).collect()
    };
    paths.iter().flat_map(of_path).collect()
}

/// Every route of the routers: its path and its method.
pub(super) fn routed() -> impl Iterator<Item = (String, String)> {
    ROUTES
        .lines()
        .filter_map(|line| line.trim().strip_prefix(".route(\"")?.split_once("\", "))
        .map(|(path, rest)| (path.to_owned(), rest.split('(').next().unwrap().to_owned()))
}

pub(super) async fn document(api: &Api) -> Value {
    api.ask(get("/openapi.json")).await.json(200)
}

#[tokio::test]
async fn the_document_has_exactly_the_routes_of_the_router() {
    let api = Api::open().await;
    let routed: BTreeSet<(String, String)> =
        routed().filter(|(path, _)| path != "/" && !ABOUT.contains(&path.as_str())).collect();
    assert!(routed.len() >= 11, "the router is written otherwise than it was: {routed:?}");
    assert_eq!(operations(&document(&api).await), routed);
    assert_eq!(api.ask(get("/")).await.header("location"), Some("/docs"));
    for path in ABOUT {
        assert_eq!(api.ask(get(path)).await.status.as_u16(), 200);
    }
    api.close().await;
}

#[tokio::test]
async fn every_operation_says_what_it_does_and_answers() {
    let api = Api::open().await;
    let document = document(&api).await;
    assert!(document["openapi"].as_str().unwrap().starts_with("3."));
    let named = operations(&document)
        .into_iter()
        .map(|(path, method)| document["paths"][&path][&method]["operationId"].as_str().unwrap().to_owned());
    let named: Vec<String> = named.collect();
    assert_eq!(named.iter().collect::<BTreeSet<_>>().len(), named.len(), "one name twice: {named:?}");
    for (path, method) in operations(&document) {
        let operation = &document["paths"][&path][&method];
        let told = operation.get("description").or(operation.get("summary")).and_then(Value::as_str);
        assert!(told.is_some_and(|text| !text.is_empty()), "{method} {path}");
        assert!(!operation["responses"].as_object().unwrap().is_empty(), "{method} {path}");
        let named = |name: &str| {
            let mut parameters = operation["parameters"].as_array().into_iter().flatten();
            parameters.any(|p| p["in"] == "path" && p["name"] == name)
        };
        for name in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
            assert!(named(name), "{name} of {method} {path}");
        }
    }
    api.close().await;
}

/// What a status of an operation says it answers.
pub(super) fn answer<'a>(document: &'a Value, path: &str, method: &str, status: &str) -> &'a Value {
    let schema =
        &document["paths"][path][method]["responses"][status]["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "{method} {path} has no schema of {status}");
    schema
}

#[tokio::test]
async fn answers_are_what_their_schemas_say() {
    let mut api = Api::open().await;
    api.shop.product("card", |_| ()).await;
    api.shop.stock("card", 3).await;
    let document = document(&api).await;
    let is = |path: &str, method: &str, status: &str, value: &Value| {
        matches(&document, answer(&document, path, method, status), value, path);
    };
    is("/v1/products", "get", "200", &api.ask(get("/v1/products")).await.json(200));
    is("/v1/products/{sku}", "get", "200", &api.ask(get("/v1/products/card")).await.json(200));
    let ask = || order("ann", &[("card", 1)]).header("idempotency-key", "8e03978e-40d5");
    is("/v1/orders", "post", "201", &api.ask(ask()).await.json(201));
    is("/v1/orders", "post", "200", &api.ask(ask()).await.json(200));
    let bought = api.place("bob", &[("card", 1)]).await;
    is("/v1/orders/{id}", "get", "200", &api.show(&bought).await);
    is("/v1/orders/{id}/pay", "post", "202", &api.ask(bought.pay()).await.json(202));
    api.start_issuer().await;
    is("/v1/orders/{id}", "get", "200", &api.ask(bought.get().wait(30)).await.json(200));
    is("/v1/orders/{id}/pay", "post", "200", &api.ask(bought.pay()).await.json(200));
    is("/v1/orders/{id}/codes", "get", "200", &api.ask(bought.codes("")).await.json(200));
    let cancelled = api.place("cem", &[("card", 1)]).await;
    is("/v1/orders/{id}/cancel", "post", "200", &api.ask(cancelled.cancel()).await.json(200));
    api.close().await;
}

#[tokio::test]
async fn problems_are_what_their_schema_says() {
    let api = Api::open().await;
    api.shop.product("card", |rules| rules.max_per_order = Some(1)).await;
    let document = document(&api).await;
    let schema = &document["components"]["schemas"]["ProblemBody"];
    for problem in [
        api.ask(get("/v1/products/none")).await.problem(404, "not-found"),
        api.ask(post("/v1/orders").json(&json!({}))).await.problem(422, "invalid-request"),
        api.ask(order("ann", &[("card", 2)])).await.problem(409, "limit-reached"),
    ] {
        matches(&document, schema, &problem, "");
    }
    api.close().await;
}

#[tokio::test]
async fn the_page_needs_nothing_from_elsewhere() {
    let api = Api::open().await;
    let answer = api.ask(get("/docs")).await;
    assert_eq!(answer.status.as_u16(), 200);
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    let page = answer.text();
    for outside in ["http:", "https:", "\"//", "'//", "src=", "<link", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("fetch(\"/openapi.json\")"));
    api.close().await;
}
