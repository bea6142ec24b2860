//! An order that was answered is on the disk: the answer leaves after an fdatasync.

use std::process::Command;

use serde_json::json;
use tessera_testbed::program::{Process, Program, strace_works};

/// System calls that tell when a request came, when the disk was waited for, when the answer left.
const CALLS: &str = "trace=read,recvfrom,write,writev,sendto,sendmsg,fsync,fdatasync";

#[tokio::test]
async fn an_order_and_a_payment_are_on_the_disk_before_they_are_answered() {
    let program = Program::embedded();
    program.json(&["migrate"]).await;
    let price = json!({"minor": 1_990, "currency": "CNY"});
    program.products(&json!({"sku": "card", "name": "A card", "kind": "codes", "price": price})).await;
    program.stock("card", 1).await;
    if !strace_works() {
        println!("there is no strace here: that answers wait for the disk is not shown by this run");
        program.close_stopped().await;
        return;
    }
    let trace = program.file("trace.txt", "");
    let (server, tracer) = traced(&program, &trace).await;
    let client = program.client();
    let receipt = client.place("buyer", &[("card", 1)]).await.unwrap().with_status(201).receipt();
    let paid = client.pay_waiting(&receipt, 5).await.unwrap().with_status(200);
    assert_eq!(paid.codes().len(), 1);
    assert_eq!(server.terminate().await.code, Some(0));
    assert_eq!(tracer.ended().await.code, Some(0));

    let calls = std::fs::read_to_string(&trace).unwrap();
    assert!(synced_between(&calls, "POST /v1/orders HTTP", "HTTP/1.1 201") >= 1, "{calls}");
    // One for the payment, one for the codes.
    assert!(synced_between(&calls, "/pay HTTP", "HTTP/1.1 200") >= 2, "{calls}");
    program.close_stopped().await;
}

/// A server, and a tracer of all its threads that is attached.
async fn traced(program: &Program, trace: &str) -> (Process, Process) {
    let server = program.serve().await;
    let mut line = Command::new("strace");
    line.args(["-f", "-q", "-s", "64", "-e", CALLS, "-o", trace, "-p", &server.id().to_string()]);
    let tracer = program.start_line(line);
    // Each look makes a call of its own, and the first that is seen tells that the tracer is there.
    let client = program.client();
    let attached = async {
        while !std::fs::read_to_string(trace).unwrap_or_default().contains("GET /healthz") {
            client.look("/healthz").await.expect("the server is up");
        }
    };
    tokio::time::timeout(tessera_testbed::program::PATIENCE, attached).await.expect("the tracer attaches");
    (server, tracer)
}

/// How often the disk was waited for between a request and its answer.
fn synced_between(calls: &str, request: &str, answer: &str) -> usize {
    let mut between = calls.lines().skip_while(|call| !call.contains(request)).skip(1);
    let synced = |call: &str| {
        // A call that another thread interrupted in the log is finished in a line of its own.
        let whole = call.contains("fdatasync(") || call.contains("fsync(");
        let (begun, resumed) = (call.contains("<unfinished"), call.contains("sync resumed"));
        call.contains(" = 0") && ((whole && !begun) || resumed)
    };
    let mut count = 0;
    for call in between.by_ref() {
        if call.contains(answer) {
            return count;
        }
        count += usize::from(synced(call));
    }
    panic!("no {answer} after {request}: {calls}");
}
