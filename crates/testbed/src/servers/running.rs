//! A server that was found, whichever way.

use std::path::Path;

use super::Trouble;
use super::container::Container;
use super::installed::Installed;

/// What an order to the server's own tool begins with; its arguments follow, with tabs between them.
pub(super) const CONTROL: &str = "control ";

/// Ends when dropped, unless it was given.
#[derive(Debug)]
pub(super) enum Running {
    Given(String),
    Container(Box<Container>),
    Installed(Installed),
}

impl Running {
    pub(super) fn url(&self) -> &str {
        match self {
            Self::Given(url) => url,
            Self::Container(container) => container.url(),
            Self::Installed(installed) => installed.url(),
        }
    }

    /// What the holder calls the way it was found.
    pub(super) fn way(&self) -> &'static str {
        match self {
            Self::Given(_) => "given",
            Self::Container(_) => "containers",
            Self::Installed(_) => "installed",
        }
    }

    /// The folder in which all its processes work, if they are this machine's.
    pub(super) fn place(&self) -> Option<&Path> {
        match self {
            Self::Given(_) | Self::Container(_) => None,
            Self::Installed(installed) => Some(installed.place()),
        }
    }

    /// Does what a test asks for; the words are those of [`super::Own`].
    pub(super) async fn obey(&mut self, word: &str) -> Result<(), Trouble> {
        if let Some(arguments) = word.strip_prefix(CONTROL) {
            return self.control(arguments.split('\t')).await;
        }
        match self {
            Self::Given(_) => Err(Trouble::new("a server that was given is not ours to hurt")),
            Self::Container(container) => match word {
                "kill" => container.end("SIGKILL").await,
                "quit" => container.end("SIGQUIT").await,
                "start" => container.start().await,
                "freeze" => container.freeze().await,
                "thaw" => container.thaw().await,
                _ => Err(unknown(word)),
            },
            Self::Installed(installed) => match word {
                "kill" => installed.kill(),
                "quit" => installed.quit(),
                "start" => installed.start().await,
                "freeze" => {
                    installed.freeze();
                    Ok(())
                }
                "thaw" => {
                    installed.thaw();
                    Ok(())
                }
                _ => Err(unknown(word)),
            },
        }
    }

    async fn control(&self, arguments: impl Iterator<Item = &str>) -> Result<(), Trouble> {
        match self {
            Self::Given(_) => Err(Trouble::new("a server that was given is not ours to hurt")),
            Self::Container(container) => container.control(arguments).await,
            Self::Installed(installed) => installed.control(arguments).await,
        }
    }
}

fn unknown(word: &str) -> Trouble {
    Trouble::new(format!("`{word}` is not kill, quit, start, freeze, thaw or control"))
}
