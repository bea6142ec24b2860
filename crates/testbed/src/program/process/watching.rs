//! What a process that runs can be seen to do.

use tokio::time::timeout;

use super::{LOOK_EVERY, PATIENCE, Process};

impl Process {
    /// How often it has said this on standard error so far.
    pub fn said(&self, text: &str) -> usize {
        self.stderr.text().matches(text).count()
    }

    /// Waits until it has said this on standard error so many times.
    pub async fn until_said_often(&self, text: &str, times: usize) {
        let said = async {
            while self.said(text) < times {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        timeout(PATIENCE, said).await.unwrap_or_else(|_| panic!("it does not say: {text}"));
    }

    /// How many files and sockets it has open, and how many threads; Linux only.
    pub fn holds(&self) -> (usize, usize) {
        let count = |what| std::fs::read_dir(format!("/proc/{}/{what}", self.id())).unwrap().count();
        (count("fd"), count("task"))
    }
}
