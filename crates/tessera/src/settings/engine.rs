//! Which engine: where things are kept, and how facts travel.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Settings;
use crate::failure::Failure;

/// A setting that holds a password; `Debug` does not show it.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(String);

impl Secret {
    /// The text itself.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// A URL without its user, password and options.
    pub(crate) fn shown(&self) -> String {
        let (scheme, rest) = self.0.split_once("://").unwrap_or(("", &self.0));
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
        format!("{scheme}://{place}")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Where things are kept.
#[derive(Clone, Debug)]
pub(crate) enum Database {
    /// A file, for one serving process.
    Sqlite(PathBuf),
    /// A server, for any number.
    Postgres(Secret),
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(file) => file.display().fmt(f),
            Self::Postgres(url) => f.write_str(&url.shown()),
        }
    }
}

/// How facts travel.
#[derive(Clone, Debug)]
pub(crate) enum Transport {
    /// Within the one process that serves.
    Embedded,
    /// Over RabbitMQ.
    Amqp(Secret),
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("embedded"),
            Self::Amqp(url) => f.write_str(&url.shown()),
        }
    }
}

impl Settings {
    /// Where things are kept.
    pub(crate) fn database(&self) -> Result<Database, Failure> {
        let url = self.database.url.expose();
        if url.is_empty() {
            return Ok(Database::Sqlite(self.data_dir.join("tessera.db")));
        }
        if let Some(file) = sqlite_file(url) {
            return Ok(Database::Sqlite(file.to_owned()));
        }
        match has_scheme(url, &["postgres", "postgresql"]) {
            true => Ok(Database::Postgres(self.database.url.clone())),
            false => Err(Failure::usage("database.url names no database that is known").with_remedy(
                "give sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE, or leave it empty",
            )),
        }
    }

    /// How facts travel; refuses what the database cannot be served with.
    pub(crate) fn transport(&self) -> Result<Transport, Failure> {
        let url = self.broker.url.expose();
        match (url, self.database()?) {
            ("" | "embedded:", _) => Ok(Transport::Embedded),
            (url, _) if !has_scheme(url, &["amqp", "amqps"]) => {
                Err(Failure::usage("broker.url names no broker that is known")
                    .with_remedy("give amqp://USER:PASSWORD@HOST, or leave it empty"))
            }
            (_, Database::Sqlite(_)) => {
                Err(Failure::usage("a shop in a file is served by one process, which needs no broker")
                    .with_remedy("leave broker.url out, or set database.url to postgres://…"))
            }
            (_, Database::Postgres(_)) => Ok(Transport::Amqp(self.broker.url.clone())),
        }
    }
}

fn sqlite_file(url: &str) -> Option<&Path> {
    let path = url.strip_prefix("sqlite:")?;
    let path = path.strip_prefix("//").unwrap_or(path);
    (!path.is_empty()).then(|| Path::new(path))
}

fn has_scheme(url: &str, schemes: &[&str]) -> bool {
    url.split_once("://").is_some_and(|(scheme, rest)| schemes.contains(&scheme) && !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::tests::with_all;
    use super::*;

    #[test]
    fn a_database_may_be_written_as_a_path_or_a_url() {
        for url in ["sqlite:x.db", "sqlite://x.db"] {
            let settings = with_all(&[("TESSERA_DATABASE__URL", url)]).unwrap();
            assert!(matches!(settings.database(), Ok(Database::Sqlite(file)) if file == Path::new("x.db")));
        }
    }

    #[test]
    fn engines_that_are_not_known_are_refused() {
        for url in ["mysql://x", "sqlite:", "postgres://", "x"] {
            assert!(with_all(&[("TESSERA_DATABASE__URL", url)]).unwrap().database().is_err(), "{url}");
        }
        for url in ["kafka://x", "amqp://", "embedded"] {
            assert!(with_all(&[("TESSERA_BROKER__URL", url)]).unwrap().transport().is_err(), "{url}");
        }
    }

    #[test]
    fn a_file_takes_no_broker_and_a_server_takes_either() {
        let pair = |database: &str, broker: &str| {
            let settings = with_all(&[("TESSERA_DATABASE__URL", database), ("TESSERA_BROKER__URL", broker)]);
            settings.unwrap().transport()
        };
        assert!(pair("sqlite:x.db", "amqp://h").is_err());
        assert!(matches!(pair("sqlite:x.db", "embedded:"), Ok(Transport::Embedded)));
        assert!(matches!(pair("postgres://h/d", ""), Ok(Transport::Embedded)));
        assert!(matches!(pair("postgres://h/d", "amqps://h"), Ok(Transport::Amqp(_))));
    }

    #[test]
    fn a_password_is_not_shown() {
        let url = "postgres://tessera:HUNTER2@db.example:5432/shop?sslmode=require&password=HUNTER3";
        let settings = with_all(&[("TESSERA_DATABASE__URL", url)]).unwrap();
        let database = settings.database().unwrap();
        assert_eq!(database.to_string(), "postgres://db.example:5432/shop");
        assert!(!format!("{settings:?} {database:?}").contains("HUNTER"));
    }
}
