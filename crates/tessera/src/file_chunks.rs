//! A file as chunks of bytes.

use std::fs::File;
use std::io::Read;

use async_trait::async_trait;
use tessera_backoffice::import::Chunks;

/// Bytes read at once.
const READ: usize = 262_144;

/// A file, read away from the runtime's threads.
pub(crate) struct FileChunks(pub(crate) Option<File>);

#[async_trait]
impl Chunks for FileChunks {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        let Some(mut file) = self.0.take() else { return Ok(None) };
        let read = tokio::task::spawn_blocking(move || {
            let mut chunk = vec![0; READ];
            let count = file.read(&mut chunk)?;
            chunk.truncate(count);
            Ok::<_, std::io::Error>((chunk, file))
        });
        let (chunk, file) = read.await.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
        if chunk.is_empty() {
            return Ok(None);
        }
        self.0 = Some(file);
        Ok(Some(chunk))
    }
}
