//! The keyring's file: TOML, readable by its owner alone.
//!
//! ```toml
//! [[key]]
//! id = "w-1a2b3c4d"
//! use = "wrap"          # wrap, fingerprint or token
//! state = "active"      # added, active or retired
//! secret = "…"          # base64 of 32 bytes
//! ```

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use data_encoding::{BASE64, HEXLOWER};
use serde::{Deserialize, Serialize};
use tessera_model::keys::{Key, KeyId, KeyState, KeyUse, Keyring, Secret};
use tessera_store::Entropy;
use zeroize::Zeroizing;

use crate::failure::Failure;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    key: Vec<KeyEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyEntry {
    id: String,
    #[serde(rename = "use")]
    usage: String,
    state: String,
    secret: String,
}

const HEADER: &str = "\
# Tessera's keyring. Whoever has this file and the database can read every code; without it nobody can.
# Keep a copy of it apart from the database's.
";

/// Reads a keyring.
pub(crate) fn read(path: &Path) -> Result<Keyring, Failure> {
    let away = |e: &std::io::Error| {
        Failure::needs(
            format!("the keyring {} cannot be read: {e}", path.display()),
            "restore it from its backup, or name another with [keyring] file",
        )
    };
    let mut text = Zeroizing::new(String::new());
    File::open(path).and_then(|mut f| f.read_to_string(&mut text)).map_err(|e| away(&e))?;
    parse(&text).map_err(|why| {
        Failure::needs(
            format!("the keyring {} is damaged: {why}", path.display()),
            "restore it from its backup",
        )
    })
}

fn parse(text: &str) -> Result<Keyring, String> {
    // The parser's own message may quote a secret.
    let document: Document = toml::from_str(text).map_err(|_| "it is not a keyring's TOML".to_owned())?;
    let keys = document.key.into_iter().map(|entry| {
        let secret = Zeroizing::new(BASE64.decode(entry.secret.as_bytes()).unwrap_or_default());
        let secret = secret.as_slice().try_into().map_err(|_| format!("key {}: no 32 bytes", entry.id))?;
        Ok(Key {
            id: KeyId::parse(&entry.id).ok_or_else(|| format!("`{}` is no key id", entry.id))?,
            usage: KeyUse::parse(&entry.usage).ok_or_else(|| format!("key {}: unknown use", entry.id))?,
            state: KeyState::parse(&entry.state).ok_or_else(|| format!("key {}: unknown state", entry.id))?,
            secret: Secret::new(secret),
        })
    });
    let keys = keys.collect::<Result<Vec<Key>, String>>()?;
    Keyring::new(keys).map_err(|e| e.to_string())
}

/// Writes a new keyring, 0600; never over a file that is there.
pub(crate) fn create(path: &Path, entropy: &Entropy) -> Result<Keyring, Failure> {
    let label = HEXLOWER.encode(&entropy.bytes::<4>());
    let secrets = [entropy.bytes(), entropy.bytes(), entropy.bytes()];
    let keyring = Keyring::generate(&label, secrets)
        .ok_or_else(|| Failure::no("a keyring could not be made".to_owned()))?;
    write(path, &keyring).map_err(|e| {
        let detail = format!("the keyring {} cannot be written: {e}", path.display());
        match e.kind() {
            ErrorKind::AlreadyExists => {
                Failure::no(detail).with_remedy("a keyring is never overwritten: name another file")
            }
            _ => Failure::needs(detail, "see that its folder is there and can be written"),
        }
    })?;
    Ok(keyring)
}

fn write(path: &Path, keyring: &Keyring) -> std::io::Result<()> {
    let key = keyring.keys().iter().map(|key| KeyEntry {
        id: key.id.to_string(),
        usage: key.usage.as_str().to_owned(),
        state: key.state.as_str().to_owned(),
        secret: BASE64.encode(key.secret.bytes()),
    });
    let document = Document { key: key.collect() };
    let text = Zeroizing::new(toml::to_string(&document).map_err(std::io::Error::other)?);
    // Written beside and then linked, so that one who dies on the way leaves no keyring, never half of one. A
    // link, unlike a rename, takes nobody else's place.
    let beside = path.with_extension(format!("{}.new", keyring.active(KeyUse::Wrap).id));
    let written = write_new(&beside, text.as_bytes()).and_then(|()| std::fs::hard_link(&beside, path));
    let removed = std::fs::remove_file(&beside);
    written.and(removed)?;
    // Codes sealed under a keyring that a power cut took are lost, so the file and its folder are synced.
    match path.parent().filter(|p| !p.as_os_str().is_empty()) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}

fn write_new(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(HEADER.as_bytes())?;
    file.write_all(text)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_keyring_reads_back_and_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keyring.toml");
        let entropy = Entropy::from_seed([1; 32]);
        let made = create(&path, &entropy).unwrap();
        let read = read(&path).unwrap();
        assert_eq!(made.active(KeyUse::Wrap).secret, read.active(KeyUse::Wrap).secret);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(create(&path, &entropy).unwrap_err().exit(), crate::failure::Exit::No);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_damaged_keyring_says_so_without_quoting_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keyring.toml");
        std::fs::write(&path, "[[key]]\nsecret = \"hunter2\nid=").unwrap();
        let failure = read(&path).unwrap_err();
        assert!(!failure.to_string().contains("hunter2"));
        assert_eq!(failure.exit(), crate::failure::Exit::Needs);
    }
}
