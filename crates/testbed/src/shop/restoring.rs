//! Copies of a shop's rows, and putting one back.

use super::home::Home;
use super::{Shop, open_store};

/// A copy of a shop's rows, as they were.
pub struct Backup(Home);

impl Shop {
    /// Copies the rows. Nothing may be under way: the process ends, and another starts over the same rows.
    pub async fn back_up(&mut self) -> Backup {
        self.store.close().await;
        let backup = Backup(self.home.copied().await);
        self.crash().await;
        backup
    }

    /// Puts a copy in the place of the rows. Nothing may be under way, as for [`Shop::back_up`]; notes stay.
    pub async fn restore(&mut self, backup: &Backup) {
        self.store.close().await;
        self.home = backup.0.copied().await;
        self.store = open_store(&self.home, &self.clock, &self.faults).await;
        self.start_process();
    }
}
