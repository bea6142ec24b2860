//! Settings: defaults, then the file, then the environment, then flags.
//!
//! The defaults are `config.default.toml`, which is also the manual. A key that is not in it is an error that
//! names the nearest one that is.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use config::{Config, Environment, File, FileFormat, Value, ValueKind};
use serde::Deserialize;
use tessera_api::WebhookSecret;

use crate::failure::Failure;
use crate::telemetry;

/// The defaults, commented.
pub(crate) const DEFAULT: &str = include_str!("config.default.toml");

/// The file that is read when none is named.
const FILE: &str = "tessera.toml";

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Settings {
    pub(crate) data_dir: PathBuf,
    pub(crate) database: Database,
    pub(crate) broker: Broker,
    pub(crate) http: Http,
    pub(crate) payments: Payments,
    pub(crate) keyring: KeyringFile,
    pub(crate) log: Log,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Database {
    pub(crate) url: String,
    pub(crate) connections: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Broker {
    pub(crate) url: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Http {
    pub(crate) listen: SocketAddr,
    pub(crate) allowed_origins: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Payments {
    pub(crate) test: Switch,
    pub(crate) hmac: Hmac,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Switch {
    pub(crate) enabled: bool,
}

#[derive(Clone, Deserialize)]
pub(crate) struct Hmac {
    pub(crate) secret: String,
}

impl std::fmt::Debug for Hmac {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hmac(…)")
    }
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct KeyringFile {
    pub(crate) file: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Log {
    pub(crate) format: String,
    pub(crate) filter: String,
}

/// Settings that flags override, by key.
pub(crate) type Overrides = Vec<(&'static str, String)>;

/// Reads them. `file` was named by the user; without it `tessera.toml` is read if it is there.
pub(crate) fn load(file: Option<&Path>, overrides: Overrides) -> Result<Settings, Failure> {
    let path = file.map(Path::to_owned).or_else(|| Path::new(FILE).exists().then(|| PathBuf::from(FILE)));
    let file = path.as_deref().map(read).transpose()?;
    let environment = Environment::with_prefix("TESSERA")
        .prefix_separator("_")
        .separator("__")
        .try_parsing(true)
        .list_separator(",")
        .with_list_parse_key("http.allowed_origins");
    build(file, Some(environment), overrides)
}

/// A file's TOML. What is wrong with it is told by its place alone: the line may hold a secret.
fn read(path: &Path) -> Result<File<config::FileSourceString, FileFormat>, Failure> {
    let wrong = |why: String| Failure::usage(format!("{} {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| wrong(format!("cannot be read: {e}")))?;
    toml::from_str::<toml::Table>(&text).map_err(|e| {
        let before = e.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        wrong(format!("is no TOML: mend it at line {}", before.lines().count().max(1)))
    })?;
    Ok(File::from_str(&text, FileFormat::Toml))
}

fn build(
    file: Option<File<config::FileSourceString, FileFormat>>,
    environment: Option<Environment>,
    overrides: Overrides,
) -> Result<Settings, Failure> {
    let wrong = |e: config::ConfigError| Failure::usage(format!("the configuration is wrong: {e}"));
    let defaults = || Config::builder().add_source(File::from_str(DEFAULT, FileFormat::Toml));
    let known = keys(&defaults().build().map_err(wrong)?);
    let mut builder = defaults();
    if let Some(file) = file {
        builder = builder.add_source(file);
    }
    if let Some(environment) = environment {
        builder = builder.add_source(environment);
    }
    for (key, value) in overrides {
        builder = builder.set_override(key, value).map_err(wrong)?;
    }
    let config = builder.build().map_err(wrong)?;
    if let Some(unknown) = keys(&config).into_iter().find(|key| !known.contains(key)) {
        return Err(unknown_key(&unknown, &known));
    }
    config.try_deserialize().map_err(|error| match &error {
        // A value of the wrong kind is quoted, and this one may be the secret.
        config::ConfigError::Type { key: Some(key), .. } if key.contains("secret") => {
            Failure::usage(format!("the configuration is wrong: {key} is no string"))
        }
        _ => wrong(error),
    })
}

fn unknown_key(unknown: &str, known: &[String]) -> Failure {
    let nearest = known.iter().min_by_key(|key| strsim::levenshtein(key, unknown));
    let nearest = nearest.map_or("", String::as_str);
    let variable = format!("TESSERA_{}", unknown.replace('.', "__").to_uppercase());
    Failure::usage(format!("there is no setting `{unknown}` (in the environment: {variable})"))
        .with_remedy(format!("the nearest is `{nearest}`; `tessera config default` lists all"))
}

/// Every key that has a value, dotted.
fn keys(config: &Config) -> Vec<String> {
    let mut found = vec![];
    collect("", &config.cache, &mut found);
    found.sort();
    found
}

fn collect(path: &str, value: &Value, found: &mut Vec<String>) {
    match &value.kind {
        ValueKind::Table(table) => {
            for (name, value) in table {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                collect(&path, value, found);
            }
        }
        _ => found.push(path.to_owned()),
    }
}

/// `*`, or scheme, host and port as browsers send them (RFC 6454): nothing else ever matches.
fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    text == "*" || host.is_some_and(|h| !h.is_empty() && h.chars().all(|c| c.is_ascii_graphic() && c != '/'))
}

impl Settings {
    /// The SQLite file of the embedded engine.
    pub(crate) fn database_file(&self) -> Result<PathBuf, Failure> {
        match self.database.url.as_str() {
            "" => Ok(self.data_dir.join("tessera.db")),
            url => match url.strip_prefix("sqlite:").map(|path| path.strip_prefix("//").unwrap_or(path)) {
                Some(path) if !path.is_empty() => Ok(PathBuf::from(path)),
                _ => Err(Failure::usage("database.url is not of this version".to_owned())
                    .with_remedy("give sqlite:PATH, or leave it empty".to_owned())),
            },
        }
    }

    /// Refuses values that are of the right kind and that nothing can be made of.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.check_broker()?;
        self.database_file()?;
        self.hmac_secret()?;
        match self.http.allowed_origins.iter().find(|origin| !is_origin(origin)) {
            Some(origin) => Err(Failure::usage(format!("http.allowed_origins: `{origin}` is no origin"))
                .with_remedy("give https://HOST or https://HOST:PORT without a path, or * for all")),
            None => telemetry::check(&self.log),
        }
    }

    /// The shared secret of the `hmac` provider, if it is on.
    pub(crate) fn hmac_secret(&self) -> Result<Option<WebhookSecret>, Failure> {
        let secret = self.payments.hmac.secret.as_str();
        let wrong = || {
            Failure::usage("payments.hmac.secret is no secret")
                .with_remedy("give whsec_ and base64 of 24 to 64 random bytes")
        };
        match secret {
            "" => Ok(None),
            text => WebhookSecret::parse(text).map(Some).ok_or_else(wrong),
        }
    }

    /// Refuses a broker that this version does not know.
    fn check_broker(&self) -> Result<(), Failure> {
        match self.broker.url.as_str() {
            "" | "embedded:" => Ok(()),
            _ => Err(Failure::usage("broker.url is not of this version".to_owned())
                .with_remedy("give embedded:, or leave it empty".to_owned())),
        }
    }

    /// Where the keyring is.
    pub(crate) fn keyring_file(&self) -> PathBuf {
        match self.keyring.file.as_str() {
            "" => self.data_dir.join("keyring.toml"),
            file => PathBuf::from(file),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variable: &str, value: &str) -> Result<Settings, Failure> {
        let source = std::collections::HashMap::from([(variable.to_owned(), value.to_owned())]);
        let environment = Environment::with_prefix("TESSERA")
            .prefix_separator("_")
            .separator("__")
            .try_parsing(true)
            .source(Some(source.into_iter().collect()));
        build(None, Some(environment), vec![])
    }

    #[test]
    fn the_defaults_are_settings() {
        let settings = build(None, None, vec![]).unwrap();
        assert_eq!(settings.http.listen.port(), 8080);
        assert_eq!(settings.database_file().unwrap(), PathBuf::from("tessera-data/tessera.db"));
        assert!(!settings.payments.test.enabled);
    }

    #[test]
    fn a_variable_overrides_the_default() {
        assert!(with("TESSERA_PAYMENTS__TEST__ENABLED", "true").unwrap().payments.test.enabled);
        assert_eq!(with("TESSERA_HTTP__LISTEN", "127.0.0.1:9").unwrap().http.listen.port(), 9);
        assert_eq!(with("TESSERA_DATA_DIR", "x").unwrap().data_dir, PathBuf::from("x"));
    }

    #[test]
    fn an_unknown_key_names_the_nearest_known_one() {
        let failure = with("TESSERA_HTTP__LISTN", "x").unwrap_err();
        assert!(failure.to_string().contains("http.listn"), "{failure}");
        assert!(failure.remedy().unwrap().contains("http.listen"), "{failure}");
    }

    #[test]
    fn a_broken_file_is_told_by_its_line_and_never_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tessera.toml");
        std::fs::write(&path, "[payments.hmac]\n\nsecret = \"whsec_HUNTER2\n").unwrap();
        let failure = load(Some(&path), vec![]).unwrap_err();
        assert!(!failure.to_string().contains("HUNTER2"), "{failure}");
        assert!(failure.to_string().contains("line 3"), "{failure}");
    }

    #[test]
    fn an_origin_that_no_browser_sends_is_refused() {
        for good in ["*", "https://shop.example", "http://localhost:5173"] {
            assert!(is_origin(good), "{good}");
        }
        for bad in ["", "shop.example", "https://", "https://shop.example/", "https://a b"] {
            assert!(!is_origin(bad), "{bad}");
        }
    }

    #[test]
    fn a_database_may_be_written_as_a_path_or_a_url() {
        for url in ["sqlite:x.db", "sqlite://x.db"] {
            assert_eq!(
                with("TESSERA_DATABASE__URL", url).unwrap().database_file().unwrap(),
                PathBuf::from("x.db")
            );
        }
    }

    #[test]
    fn engines_of_other_versions_are_refused() {
        assert!(with("TESSERA_DATABASE__URL", "postgres://x").unwrap().database_file().is_err());
        assert!(with("TESSERA_BROKER__URL", "amqp://x").unwrap().check_broker().is_err());
    }
}
