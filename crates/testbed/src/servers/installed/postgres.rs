//! PostgreSQL from its installed programs.

use std::path::{Path, PathBuf};

use super::folder::Folder;
use super::{Installed, Launch, User, places};
use crate::servers::ready::Ready;
use crate::servers::{Trouble, ports};

/// Where Debian keeps every version's programs.
const LIBRARY: &str = "/usr/lib/postgresql";

/// Many tests at once have many pools.
const CONNECTIONS_MAX: u32 = 500;

/// Finds the programs and makes a cluster.
pub(super) async fn prepare() -> Result<Installed, Trouble> {
    let newest_first = places::versions(Path::new(LIBRARY));
    let programs = places::folder_with(&["initdb", "postgres"], &newest_first)
        .ok_or_else(|| Trouble::new("initdb and postgres are not here"))?;
    let folder = Folder::make()?;
    // It refuses to run as root.
    let user = folder.user(&["postgres", "nobody"])?;
    let home = folder.within("postgres", user)?;
    let port = ports::free()?;
    let launch =
        |program: &str, arguments: Vec<String>| launch(&programs, &home, user, port, program, arguments);
    let cluster = ["-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
    launch("initdb", cluster.map(str::to_owned).into()).run().await?;
    let server = launch("postgres", arguments(port));
    let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
    Ok(Installed::new(folder, vec![server], url, &programs))
}

fn launch(
    programs: &Path,
    home: &Path,
    user: Option<User>,
    port: u16,
    program: &str,
    arguments: Vec<String>,
) -> Launch {
    let environment = vec![
        ("PATH", places::path_with(programs)),
        ("HOME", home.display().to_string()),
        ("LC_ALL", "C".to_owned()),
    ];
    let (program, folder): (PathBuf, PathBuf) = (programs.join(program), home.to_owned());
    Launch { program, arguments, environment, folder, user, port, ready: Ready::Postgres }
}

fn arguments(port: u16) -> Vec<String> {
    let settings = [
        "listen_addresses=127.0.0.1".to_owned(),
        "unix_socket_directories=".to_owned(),
        format!("port={port}"),
        format!("max_connections={CONNECTIONS_MAX}"),
        // What a killed server wrote, the system still has; only a machine that stops would lose it.
        "fsync=off".to_owned(),
        // Files in its own folder, which a killed server cannot leave behind in /dev/shm.
        "dynamic_shared_memory_type=mmap".to_owned(),
    ];
    let settings = settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting]);
    ["-D".to_owned(), "data".to_owned()].into_iter().chain(settings).collect()
}
