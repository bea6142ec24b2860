//! What can be killed: a process of the shop, or a server that it needs.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;

use crate::program::{Process, Program};
use crate::servers::{DECLARED_AFTER, Own};
use crate::{Database, Engine, Queues};

/// What a supervisor waits before it starts again what did not come up.
const AGAIN_AFTER: Duration = Duration::from_millis(200);

/// One of them; a process is there once it was started.
pub(super) enum Part {
    Process { host: &'static str, roles: &'static str, process: Option<Process> },
    Server { name: &'static str, own: Own },
}

impl Part {
    fn process(host: &'static str, roles: &'static str) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self::Process { host, roles, process: None }))
    }

    fn server(name: &'static str, own: Own) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self::Server { name, own }))
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Process { host, .. } => host,
            Self::Server { name, .. } => name,
        }
    }

    pub(super) async fn kill(&mut self) {
        match self {
            Self::Process { process, .. } => process.take().expect("it runs").kill9().await,
            Self::Server { own, .. } => own.kill().await,
        }
    }

    /// Brings it back as a supervisor does: a process again and again, while what it needs is away.
    pub(super) async fn start(&mut self, program: &Program) {
        match self {
            Self::Server { own, .. } => own.start().await,
            Self::Process { host, roles, process } => *process = Some(up(program, host, roles).await),
        }
    }
}

async fn up(program: &Program, host: &str, roles: &str) -> Process {
    let arguments: &[&str] = if roles.is_empty() { &["serve"] } else { &["serve", "--role", roles] };
    loop {
        let line = match roles.is_empty() {
            true => program.line(arguments),
            false => program.line_elsewhere(host, arguments),
        };
        let process = program.start_line(line);
        if process.until_ready_or_ended().await {
            return process;
        }
        tokio::time::sleep(AGAIN_AFTER).await;
    }
}

/// A shop on an engine, prepared, and its parts; the servers run, the processes do not yet.
pub(super) async fn set_up(engine: Engine) -> (Program, Vec<Arc<Mutex<Part>>>) {
    if engine == Engine::Sqlite {
        let program = Program::embedded();
        program.json(&["migrate"]).await;
        return (program, vec![Part::process("shop", "")]);
    }
    let (postgres, rabbit) = tokio::join!(Own::postgres(), Own::rabbit());
    let database = Database::create_in(postgres.url().to_owned()).await;
    let program = Program::on(database, Queues::at(rabbit.url().to_owned()));
    declare(&program).await;
    let processes =
        [("api", "api"), ("issuer", "issuer"), ("standby", "issuer"), ("back", "courier,housekeeper")];
    let mut parts: Vec<_> = processes.into_iter().map(|(host, roles)| Part::process(host, roles)).collect();
    parts.extend([Part::server("postgres", postgres), Part::server("rabbitmq", rabbit)]);
    (program, parts)
}

/// Lets RabbitMQ write down its new queues before it is killed the first time.
async fn declare(program: &Program) {
    up(program, "issuer", "issuer").await.terminate().await;
    tokio::time::sleep(DECLARED_AFTER).await;
}

/// Ends every process well, and the program, before its servers.
pub(super) async fn close(program: Arc<Program>, parts: Vec<Arc<Mutex<Part>>>) {
    for part in &parts {
        if let Part::Process { process, .. } = &mut *part.lock().await {
            let ended = process.take().expect("it runs").terminate().await;
            assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        }
    }
    let program = Arc::into_inner(program).expect("nobody else has it");
    program.close_stopped().await;
}
