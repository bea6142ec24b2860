//! Installing a server, as root on Debian and its kin.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::Mutex;

use super::{Server, Trouble};

/// The longest one run of `apt-get` may take.
const RUN_MAX: Duration = Duration::from_mins(5);

/// Packages start their services when this is not there or allows it; ours forbids it while it is there.
const POLICY: &str = "/usr/sbin/policy-rc.d";

const FORBID: &str = "#!/bin/sh\nexit 101\n";

/// How many lines of apt-get's words tell why it failed.
const SHOWN: usize = 6;

/// One run at a time: packages are installed under one lock. Holds whether the lists are fresh.
static FRESH: Mutex<bool> = Mutex::const_new(false);

/// Installs the server's package, and leaves no service running.
pub(super) async fn install(server: Server) -> Result<(), Trouble> {
    let mut fresh = FRESH.lock().await;
    if !Path::new("/usr/bin/apt-get").is_file() {
        return Err(Trouble::new("there is no apt-get"));
    }
    if !is_root() {
        return Err(Trouble::new("only root may install packages"));
    }
    let forbidden = Forbidden::services();
    if !*fresh {
        run(&["update", "-q"]).await?;
        *fresh = true;
    }
    let installed = run(&["install", "-q", "-y", "--no-install-recommends", server.package()]).await;
    drop(forbidden);
    installed
}

/// Whether we are root, as our own process shows it.
fn is_root() -> bool {
    Path::new("/proc/self").metadata().is_ok_and(|process| process.uid() == 0)
}

async fn run(arguments: &[&str]) -> Result<(), Trouble> {
    let mut command = Command::new("apt-get");
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null()).kill_on_drop(true);
    let doing = format!("apt-get {}", arguments.join(" "));
    let output = tokio::time::timeout(RUN_MAX, command.output()).await;
    let output = output.map_err(|_| Trouble::new(format!("{doing} does not end")))?;
    let output = output.map_err(Trouble::during(&doing))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = said.lines().collect();
    let last = lines.get(lines.len().saturating_sub(SHOWN)..).unwrap_or_default();
    Err(Trouble::new(format!("{doing} failed: {}", last.join("\n"))))
}

/// While this lives, installed packages start no services. A policy that is there already is left alone.
struct Forbidden {
    ours: bool,
}

impl Forbidden {
    fn services() -> Self {
        let policy = Path::new(POLICY);
        let ours = !policy.exists() && std::fs::write(policy, FORBID).is_ok();
        if ours {
            let runs = std::fs::Permissions::from_mode(0o755);
            let _set = std::fs::set_permissions(policy, runs);
        }
        Self { ours }
    }
}

impl Drop for Forbidden {
    fn drop(&mut self) {
        if self.ours {
            let _gone = std::fs::remove_file(POLICY);
        }
    }
}
