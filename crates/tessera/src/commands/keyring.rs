//! `tessera keyring create|show`. Neither needs the database.

use serde_json::json;

use crate::Outcome;
use crate::ambient::entropy;
use crate::cli::Keyring;
use crate::failure::Exit;
use crate::keyring_file;
use crate::output::{Output, table};
use crate::settings::Settings;
use crate::shop::private_folder;

pub(super) fn run(settings: &Settings, command: &Keyring, output: Output) -> Outcome {
    let path = settings.keyring_file();
    let keyring = match command {
        Keyring::Create => {
            if settings.keyring.file.is_empty() {
                private_folder(&settings.data_dir)?;
            }
            keyring_file::create(&path, &*entropy()?)?
        }
        Keyring::Show => keyring_file::read(&path)?,
    };
    let keys = keyring.keys().iter();
    let body =
        keys.map(|k| json!({ "id": k.id.as_str(), "use": k.usage.as_str(), "state": k.state.as_str() }));
    let body = json!({ "file": path, "keys": body.collect::<Vec<_>>() });
    output.print(&body, |_| {
        let rows = keyring.keys().iter();
        let rows = rows.map(|k| [k.id.to_string(), k.usage.as_str().to_owned(), k.state.as_str().to_owned()]);
        format!("{}\n{}", path.display(), table(&["id", "use", "state"], rows))
    })?;
    Ok(Exit::Done)
}
