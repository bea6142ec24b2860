//! RabbitMQ from its installed programs, with a port mapper (`epmd`) of its own.
//!
//! Erlang would start a port mapper that outlives the server and is shared by all of the machine's; so ours is
//! started first, in the foreground and on a port of its own.

use std::path::{Path, PathBuf};

use super::folder::Folder;
use super::{Installed, Launch, places};
use crate::servers::ready::Ready;
use crate::servers::{Trouble, ports};

/// Where packages keep the program itself; the one in `PATH` may be a wrapper that changes the user.
const PROGRAMS: &str = "/usr/lib/rabbitmq/bin";

/// Where packages keep Erlang; its port mapper may not be in `PATH`.
const ERLANG: &str = "/usr/lib/erlang";

/// Its data folder holds nothing worth keeping free space for.
const CONFIG: &str =
    "disk_free_limit.absolute = 1MB\nlog.file = false\nlog.console = true\nlog.console.level = warning\n";

#[derive(Debug, Clone, Copy)]
struct Ports {
    amqp: u16,
    erlang: u16,
    mapper: u16,
}

/// Finds the programs and writes the configuration.
pub(super) fn prepare() -> Result<Installed, Trouble> {
    let programs = places::folder_with(&["rabbitmq-server"], &[PathBuf::from(PROGRAMS)])
        .ok_or_else(|| Trouble::new("rabbitmq-server is not here"))?;
    let mapper = mapper().ok_or_else(|| Trouble::new("epmd, Erlang's port mapper, is not here"))?;
    let folder = Folder::make()?;
    let user = folder.user(&["rabbitmq", "nobody"])?;
    let home = folder.within("rabbitmq", user)?;
    for (name, text) in [("plugins", "[]."), ("rabbitmq.conf", CONFIG), ("empty", "")] {
        std::fs::write(home.join(name), text).map_err(Trouble::during(name))?;
    }
    let ports = Ports { amqp: ports::free()?, erlang: ports::free()?, mapper: ports::free()? };
    let environment = environment(&programs, &home, ports);
    let launch = |program: PathBuf, arguments: &[String], port, ready| Launch {
        program,
        arguments: arguments.to_vec(),
        environment: environment.clone(),
        folder: home.clone(),
        user,
        port,
        ready,
    };
    let mapper_arguments = ["-port".to_owned(), ports.mapper.to_string()];
    let launches = vec![
        launch(mapper, &mapper_arguments, ports.mapper, Ready::Listens),
        launch(programs.join("rabbitmq-server"), &[], ports.amqp, Ready::Rabbit),
    ];
    let tool = launch(programs.join("rabbitmqctl"), &[], ports.amqp, Ready::Rabbit);
    let url = format!("amqp://guest:guest@127.0.0.1:{}", ports.amqp);
    Ok(Installed::new(folder, launches, url, &programs).with_tool(tool))
}

fn mapper() -> Option<PathBuf> {
    // `erts-VERSION/bin`, the newest first.
    let packaged = places::versions(Path::new(ERLANG));
    places::folder_with(&["epmd"], &packaged).map(|folder| folder.join("epmd"))
}

/// Nothing of the machine's own RabbitMQ is read, and nothing listens beyond loopback.
fn environment(programs: &Path, home: &Path, ports: Ports) -> Vec<(&'static str, String)> {
    let within = |name: &str| home.join(name).display().to_string();
    vec![
        ("PATH", places::path_with(programs)),
        ("HOME", home.display().to_string()), // the cookie is made there
        ("LANG", "C.UTF-8".to_owned()),
        ("ERL_EPMD_ADDRESS", "127.0.0.1".to_owned()),
        ("ERL_EPMD_PORT", ports.mapper.to_string()),
        ("RABBITMQ_CONF_ENV_FILE", within("empty")),
        ("RABBITMQ_CONFIG_FILE", within("rabbitmq.conf")),
        ("RABBITMQ_ADVANCED_CONFIG_FILE", within("none.config")),
        ("RABBITMQ_ENABLED_PLUGINS_FILE", within("plugins")),
        ("RABBITMQ_MNESIA_BASE", within("data")),
        ("RABBITMQ_LOG_BASE", within("logs")),
        ("RABBITMQ_NODENAME", format!("tessera-{}@localhost", ports.amqp)),
        ("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1".to_owned()),
        ("RABBITMQ_NODE_PORT", ports.amqp.to_string()),
        ("RABBITMQ_DIST_PORT", ports.erlang.to_string()),
        ("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "-kernel inet_dist_use_interface {127,0,0,1}".to_owned()),
    ]
}
