//! A server that is installed here, run privately: its own folder, ports and processes, as a user of its own.

use std::path::Path;
use std::process::Child;

use super::launch::{Launch, User};
use super::processes;
use super::{Server, Trouble};

mod folder;
mod places;
mod postgres;
mod rabbit;

use folder::Folder;

/// A server and everything it started; all of it ends with this.
#[derive(Debug)]
pub(super) struct Installed {
    folder: Folder,
    /// What it consists of, in the order in which that starts.
    launches: Vec<Launch>,
    children: Vec<Child>,
    /// The program that administers it; its arguments are a test's.
    tool: Option<Box<Launch>>,
    url: String,
    /// The folder of the programs, for the one who reads which were taken.
    pub(super) programs: String,
}

impl Installed {
    /// Starts one; the trouble may be that it is not installed.
    pub(super) async fn start_new(server: Server) -> Result<Self, Trouble> {
        if !processes::are_shown() {
            return Err(Trouble::new("needs Linux, whose /proc shows which processes are whose"));
        }
        let installed = match server {
            Server::Postgres => postgres::prepare().await,
            Server::Rabbit => rabbit::prepare(),
        };
        let mut installed = installed?;
        installed.start().await?;
        Ok(installed)
    }

    fn new(folder: Folder, launches: Vec<Launch>, url: String, programs: &Path) -> Self {
        Self {
            folder,
            launches,
            children: Vec::new(),
            tool: None,
            url,
            programs: programs.display().to_string(),
        }
    }

    fn with_tool(mut self, tool: Launch) -> Self {
        self.tool = Some(Box::new(tool));
        self
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Where all its processes work.
    pub(super) fn place(&self) -> &Path {
        self.folder.path()
    }

    /// SIGKILL to all of it at once.
    pub(super) fn kill(&mut self) -> Result<(), Trouble> {
        processes::kill(self.folder.path())?;
        for mut child in self.children.drain(..) {
            child.wait().map_err(Trouble::during("waiting for its end"))?;
        }
        Ok(())
    }

    /// SIGQUIT to its first processes, and SIGKILL to what is left after a moment.
    pub(super) fn quit(&mut self) -> Result<(), Trouble> {
        for child in &mut self.children {
            folder::ask_to_quit(child);
        }
        self.kill()
    }

    /// Starts it on the data and ports it had.
    pub(super) async fn start(&mut self) -> Result<(), Trouble> {
        for launch in &self.launches {
            self.children.push(launch.start().await?);
        }
        Ok(())
    }

    /// Runs its tool to its end, which has to be good.
    pub(super) async fn control(&self, arguments: impl Iterator<Item = &str>) -> Result<(), Trouble> {
        let tool = self.tool.as_ref().ok_or_else(|| Trouble::new("it has no tool"))?;
        Launch { arguments: arguments.map(str::to_owned).collect(), ..Launch::clone(tool) }.run().await
    }

    pub(super) fn freeze(&self) {
        processes::freeze(self.folder.path());
    }

    pub(super) fn thaw(&self) {
        processes::thaw(self.folder.path());
    }
}

impl Drop for Installed {
    /// The data goes too, so nothing is asked to end in order; but PostgreSQL gives its shared memory back only so.
    fn drop(&mut self) {
        self.thaw();
        let _left = self.quit();
    }
}
