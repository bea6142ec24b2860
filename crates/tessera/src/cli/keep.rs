//! The command line of what keeps a shop running: dead letters, keys, the keyring, the configuration.

use clap::Subcommand;

use super::Listing;

#[derive(Debug, Subcommand)]
pub(crate) enum Dlq {
    /// List dead letters, newest first: those open or replaying.
    List {
        /// Only in this state.
        #[arg(long)]
        state: Option<String>,
        #[command(flatten)]
        listing: Listing,
    },
    /// Show one dead letter with its message.
    Show {
        /// Its id.
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Make a key; it is shown once.
    Create {
        /// What it allows: viewer, operator, owner or shop.
        #[arg(long)]
        role: String,
        /// Whose it is.
        #[arg(long, default_value = "")]
        name: String,
        /// When it ends: RFC 3339, or a date.
        #[arg(long, value_name = "DATE")]
        expires: Option<String>,
    },
    /// List keys, newest first.
    List(Listing),
    /// Revoke a key.
    Revoke {
        /// Its id.
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Keyring {
    /// Make a new keyring where `keyring.file` says; never over another.
    Create,
    /// Show the keys by id, without their secrets.
    Show,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every setting with its default.
    Default,
    /// Read the configuration and say what it comes to.
    Check,
}
