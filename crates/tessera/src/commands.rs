//! The commands, each in a file of its own.

mod cards;
mod codes;
mod config;
mod demo;
mod dlq;
mod doctor;
mod export;
mod generate;
mod import;
mod keyring;
mod keys;
mod migrate;
mod orders;
mod payments;
mod products;
mod reconcile;
mod recover;
mod replace;
mod rounds;
mod serve;
mod void;

use clap::CommandFactory;

use crate::Outcome;
use crate::cli::{Cli, Command};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::settings::{self, Overrides, Settings};
use crate::telemetry;

/// Runs the command.
pub(crate) async fn run(cli: Cli, output: Output) -> Outcome {
    let file = cli.config.clone();
    let settings = |overrides: Overrides| settings(file.as_deref(), overrides);
    match cli.command {
        Command::Openapi => Output::line(&tessera_api::document()).map(|()| Exit::Done),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "tessera", &mut script);
            Output::line(&String::from_utf8_lossy(&script)).map(|()| Exit::Done)
        }
        Command::Config(command) => config::run(&command, file.as_deref(), output),
        Command::Demo(demo) => demo::run(&settings(demo::overrides(&demo))?).await,
        Command::Serve(serve) => serve::run(&settings(vec![])?, &serve).await,
        Command::Migrate => migrate::run(&settings(vec![])?, output).await,
        Command::Doctor => doctor::run(file.as_deref(), output).await,
        Command::Recover(wanted) => recover::run(&settings(vec![])?, &wanted, output).await,
        Command::Products(command) => products::run(&settings(vec![])?, command, output).await,
        Command::Codes(command) => codes::run(&settings(vec![])?, command, output).await,
        Command::Orders(command) => orders::run(&settings(vec![])?, command, output).await,
        Command::Payments(command) => payments::run(&settings(vec![])?, command, output).await,
        Command::Dlq(command) => dlq::run(&settings(vec![])?, command, output).await,
        Command::Rounds(command) => rounds::run(|| settings(vec![]), command, output).await,
        Command::Reconcile => reconcile::run(&settings(vec![])?, output).await,
        Command::Keys(command) => keys::run(&settings(vec![])?, command, output).await,
        Command::Keyring(command) => keyring::run(&settings(vec![])?, &command, output),
    }
}

/// Reads the settings and starts logging as they say.
fn settings(file: Option<&std::path::Path>, overrides: Overrides) -> Result<Settings, Failure> {
    let settings = settings::load(file, overrides)?;
    settings.check()?;
    telemetry::start(&settings.log)?;
    Ok(settings)
}

/// Who a command's audit entries are by.
const ACTOR: &str = "cli";

/// The full page's last id, to go on after.
fn next<T>(items: &[T], limit: i64, id: impl Fn(&T) -> String) -> Option<String> {
    let full = i64::try_from(items.len()).is_ok_and(|n| n == limit);
    items.last().filter(|_| full).map(id)
}

/// A cursor has to be an id.
fn cursor<T>(text: Option<&str>, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>, Failure> {
    let wrong = || Failure::usage("the cursor is none of ours").with_remedy("give `next` of the list before");
    text.map(|text| parse(text).ok_or_else(wrong)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_help_text_is_a_sentence_and_fits_a_screen() {
        fn check(command: &clap::Command) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(about.starts_with(char::is_uppercase), "{}: {about}", command.get_name());
            for argument in
                command.get_arguments().filter(|a| !matches!(a.get_id().as_str(), "help" | "version"))
            {
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.starts_with(char::is_uppercase), "{} {}", command.get_name(), argument.get_id());
            }
            assert!(command.clone().render_help().to_string().lines().count() < 40, "{}", command.get_name());
            command.get_subcommands().for_each(check);
        }
        let mut command = Cli::command();
        command.build();
        check(&command);
    }
}
