//! What every command stands on: the store and its keyring, opened as the settings say.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

use tessera_backoffice::keyring::{KeyringStanding, compare, learn, store_has_keys};
use tessera_issuer::Mint;
use tessera_model::keys::Keyring;
use tessera_store::{Clock, Entropy, SchemaState, Store, StoreError};
use tessera_store_postgres::{Postgres, Time};
use tessera_store_sqlite::Sqlite;

use crate::ambient::{SystemClock, entropy};
use crate::failure::Failure;
use crate::keyring_file;
use crate::settings::{Database, Settings};

/// An open shop.
pub(crate) struct Shop {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<Entropy>,
}

/// Whether a missing shop may be made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Make the file and the keyring; a server's schema and keys are for a person to make.
    Create,
    /// Say how to make them.
    Refuse,
}

impl Shop {
    /// Opens the store and the keyring, and checks that they belong together.
    pub(crate) async fn open(settings: &Settings, missing: Missing) -> Result<Self, Failure> {
        let (entropy, clock) = (entropy()?, Arc::new(SystemClock));
        let store = store(settings, missing, clock.clone()).await?;
        let keyring = Arc::new(keyring(settings, missing, &store, &entropy).await?);
        Ok(Self { store, keyring, clock, entropy })
    }

    /// What opening rounds and pools takes.
    pub(crate) fn mint(&self) -> Mint {
        Mint::new(&self.keyring, &self.entropy)
    }

    /// Binds the store to this keyring, before anything is sealed with it.
    pub(crate) async fn bind_keys(&self) -> Result<(), Failure> {
        taught(&self.store, &self.keyring).await
    }
}

/// Teaches the store the keys of a keyring; another process may have been first.
async fn taught(store: &Arc<dyn Store>, keyring: &Keyring) -> Result<(), Failure> {
    learn(store, keyring).await.map_err(|error| match error {
        StoreError::Data(detail) => {
            Failure::needs(detail, "restore the keyring that belongs to this database")
        }
        other => other.into(),
    })
}

/// Opens the store. A file is brought up to date by itself, a server's schema by `tessera migrate` alone.
async fn store(
    settings: &Settings,
    missing: Missing,
    clock: Arc<dyn Clock>,
) -> Result<Arc<dyn Store>, Failure> {
    let database = settings.database()?;
    if let Database::Sqlite(file) = &database {
        if missing == Missing::Refuse && !file.exists() {
            return Err(Failure::needs(
                format!("there is no database {}", file.display()),
                "run `tessera migrate` to make one, or set data_dir to where it is",
            ));
        }
        private_folder(&settings.data_dir)?;
    }
    let store = connect(settings, missing, clock).await?;
    match (store.schema().await?, database) {
        (SchemaState::Current, _) => Ok(store),
        (SchemaState::Ahead, _) => Err(ahead()),
        (SchemaState::Empty | SchemaState::Behind, Database::Sqlite(_)) => {
            store.migrate().await?;
            Ok(store)
        }
        (SchemaState::Empty, Database::Postgres(_)) => Err(Failure::needs(
            "there is no shop in the database yet",
            "run `tessera migrate` once, before anything serves",
        )),
        (SchemaState::Behind, Database::Postgres(_)) => Err(Failure::needs(
            "the database is of an older version",
            "run `tessera migrate` with this version",
        )),
    }
}

/// Connects, whatever the schema.
pub(crate) async fn connect(
    settings: &Settings,
    missing: Missing,
    clock: Arc<dyn Clock>,
) -> Result<Arc<dyn Store>, Failure> {
    let connections = settings.database.connections;
    Ok(match settings.database()? {
        // What makes no shop does not serve either: it reads, perhaps all there is, and ends.
        Database::Sqlite(file) if missing == Missing::Refuse => {
            Arc::new(Sqlite::open_unmapped(&file, connections, clock).await?)
        }
        Database::Sqlite(file) => Arc::new(Sqlite::open(&file, connections, clock).await?),
        Database::Postgres(url) => {
            Arc::new(Postgres::connect(url.expose(), connections, Time::Database).await?)
        }
    })
}

/// The schema is beyond this program.
pub(crate) fn ahead() -> Failure {
    Failure::needs(
        "the database was written by a newer version",
        "use that version, or restore the copy made before it was installed",
    )
}

/// Makes the data folder, for its owner alone.
pub(crate) fn private_folder(folder: &Path) -> Result<(), Failure> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|e| {
        Failure::needs(
            format!("the folder {} cannot be made: {e}", folder.display()),
            "set data_dir to a folder that can be written",
        )
    })
}

/// Reads the keyring, or makes one for a file that never had any; refuses another store's.
async fn keyring(
    settings: &Settings,
    missing: Missing,
    store: &Arc<dyn Store>,
    entropy: &Entropy,
) -> Result<Keyring, Failure> {
    let path = settings.keyring_file();
    let keyring = match settings.database()? {
        Database::Sqlite(_) if !path.exists() && !store_has_keys(store).await? => {
            keyring_file::create(&path, entropy)?
        }
        Database::Postgres(_) if !path.exists() => {
            return Err(Failure::needs(
                format!("there is no keyring {}", path.display()),
                "run `tessera keyring create` once for the shop, and give every process the same file",
            ));
        }
        Database::Sqlite(_) | Database::Postgres(_) => keyring_file::read(&path)?,
    };
    match compare(store, &keyring).await? {
        // Only what uses the keys for good binds the shop to them: a look with a stray keyring must not.
        KeyringStanding::Fits { new } if new.is_empty() || missing == Missing::Refuse => Ok(keyring),
        KeyringStanding::Fits { .. } => {
            taught(store, &keyring).await?;
            Ok(keyring)
        }
        KeyringStanding::Differs { missing, other } => {
            let list = |ids: Vec<String>| if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
            Err(Failure::needs(
                format!(
                    "the keyring {} is not this store's: keys it lacks: {}; keys it has otherwise: {}",
                    path.display(),
                    list(missing),
                    list(other)
                ),
                "restore the keyring that belongs to this database",
            ))
        }
    }
}
