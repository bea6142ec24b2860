//! Settings: defaults, then the file, then the environment, then flags.
//!
//! The defaults are `config.default.toml`, which is also the manual. A key that is not in it is an error that
//! names the nearest one that is.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use config::{Config, Environment, File, FileFormat, Value, ValueKind};
use serde::Deserialize;
use tessera_api::WebhookSecret;
use tessera_broker::{Options, OptionsError};

use crate::failure::Failure;
use crate::telemetry;

mod customers;
mod engine;

pub(crate) use engine::{Database, Secret, Transport};

/// The defaults, commented.
pub(crate) const DEFAULT: &str = include_str!("config.default.toml");

/// The most issuer queues; the database holds to the same.
const PARTITIONS_MAX: u16 = 256;

/// The file that is read when none is named.
const FILE: &str = "tessera.toml";

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Settings {
    pub(crate) data_dir: PathBuf,
    pub(crate) database: DatabaseSettings,
    pub(crate) broker: BrokerSettings,
    pub(crate) http: Http,
    pub(crate) ops: Ops,
    pub(crate) payments: Payments,
    pub(crate) customers: customers::Customers,
    pub(crate) keyring: KeyringFile,
    pub(crate) log: Log,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct DatabaseSettings {
    pub(crate) url: Secret,
    pub(crate) connections: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct BrokerSettings {
    pub(crate) url: Secret,
    pub(crate) partitions: u16,
    pub(crate) prefix: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Http {
    pub(crate) listen: SocketAddr,
    pub(crate) allowed_origins: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Ops {
    pub(crate) listen: String,
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

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Hmac {
    pub(crate) secret: Secret,
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
        // A value of the wrong kind is quoted, and this one may be a secret or hold a password.
        config::ConfigError::Type { key: Some(key), .. } if key.contains("secret") || key.contains("url") => {
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
    /// Refuses values that are of the right kind and that nothing can be made of.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.check_broker()?;
        self.ops_listen()?;
        self.hmac_secret()?;
        self.customer_proof()?;
        match self.http.allowed_origins.iter().find(|origin| !is_origin(origin)) {
            Some(origin) => Err(Failure::usage(format!("http.allowed_origins: `{origin}` is no origin"))
                .with_remedy("give https://HOST or https://HOST:PORT without a path, or * for all")),
            None => telemetry::check(&self.log),
        }
    }

    /// The shared secret of the `hmac` provider, if it is on.
    pub(crate) fn hmac_secret(&self) -> Result<Option<WebhookSecret>, Failure> {
        let secret = self.payments.hmac.secret.expose();
        let wrong = || {
            Failure::usage("payments.hmac.secret is no secret")
                .with_remedy("give whsec_ and base64 of 24 to 64 random bytes")
        };
        match secret {
            "" => Ok(None),
            text => WebhookSecret::parse(text).map(Some).ok_or_else(wrong),
        }
    }

    /// Where `/healthz`, `/readyz` and `/metrics` are served by themselves, if anywhere.
    pub(crate) fn ops_listen(&self) -> Result<Option<SocketAddr>, Failure> {
        match self.ops.listen.as_str() {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| {
                Failure::usage("ops.listen is no address").with_remedy("give ADDRESS:PORT, or leave it empty")
            }),
        }
    }

    /// Refuses names and numbers of queues that a broker would not take.
    fn check_broker(&self) -> Result<(), Failure> {
        let BrokerSettings { prefix, partitions, .. } = &self.broker;
        if *partitions > PARTITIONS_MAX {
            return Err(Failure::usage("broker.partitions is too large")
                .with_remedy(format!("give 1 to {PARTITIONS_MAX}, or 0 for what the database says")));
        }
        let url = match self.transport()? {
            Transport::Embedded => "amqp://localhost".to_owned(),
            Transport::Amqp(url) => url.expose().to_owned(),
        };
        Options::new(url, prefix.clone(), *partitions).check().map_err(|error| {
            let setting = if error == OptionsError::Prefix { "broker.prefix" } else { "broker.url" };
            Failure::usage(format!("{setting}: {error}"))
        })
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

    pub(super) fn with_all(variables: &[(&str, &str)]) -> Result<Settings, Failure> {
        let source = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let environment = Environment::with_prefix("TESSERA")
            .prefix_separator("_")
            .separator("__")
            .try_parsing(true)
            .source(Some(source.collect()));
        build(None, Some(environment), vec![])
    }

    fn with(variable: &str, value: &str) -> Result<Settings, Failure> {
        with_all(&[(variable, value)])
    }

    #[test]
    fn the_defaults_are_settings() {
        let settings = build(None, None, vec![]).unwrap();
        assert_eq!(settings.http.listen.port(), 8080);
        assert_eq!(settings.database().unwrap().to_string(), "tessera-data/tessera.db");
        assert_eq!(settings.ops_listen().unwrap(), None);
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
    fn what_no_broker_takes_is_refused() {
        for (name, value) in [
            ("TESSERA_BROKER__PREFIX", "a b"),
            ("TESSERA_BROKER__PREFIX", ""),
            ("TESSERA_BROKER__PARTITIONS", "257"),
            ("TESSERA_OPS__LISTEN", "9100"),
        ] {
            assert!(with(name, value).unwrap().check().is_err(), "{name} {value}");
        }
        assert!(with("TESSERA_OPS__LISTEN", "127.0.0.1:9100").unwrap().check().is_ok());
    }
}
