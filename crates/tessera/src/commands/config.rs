//! `tessera config default|check`.

use std::path::Path;

use serde_json::json;

use crate::Outcome;
use crate::cli::ConfigCommand;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::settings;

pub(super) fn run(command: &ConfigCommand, file: Option<&Path>, output: Output) -> Outcome {
    match command {
        ConfigCommand::Default => {
            let defaults: toml::Table = toml::from_str(settings::DEFAULT)
                .map_err(|e| Failure::no(format!("the defaults are no TOML: {e}")))?;
            output.print(&defaults, |_| settings::DEFAULT.to_owned())?;
        }
        ConfigCommand::Check => {
            let settings = settings::load(file, vec![])?;
            settings.check()?;
            let checked = json!({
                "ok": true,
                "data_dir": settings.data_dir,
                "database": settings.database()?.to_string(),
                "broker": settings.transport()?.to_string(),
                "keyring": settings.keyring_file(),
                "listen": settings.http.listen,
            });
            let (database, broker) = (settings.database()?, settings.transport()?);
            output.print(&checked, |_| {
                format!(
                    "the configuration is right\n  database  {database}\n  broker    {broker}\n  keyring   {}\n  listens   {}",
                    settings.keyring_file().display(),
                    settings.http.listen
                )
            })?;
        }
    }
    Ok(Exit::Done)
}
