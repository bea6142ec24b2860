//! The start of a container, which leaves none behind when it fails or is no longer wanted.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use testcontainers_modules::testcontainers as tc;

use tc::bollard::Docker;
use tc::bollard::query_parameters::RemoveContainerOptionsBuilder;
use tc::core::error::Result;
use tc::runners::AsyncRunner;
use tc::{ContainerAsync, ContainerRequest, GenericImage, ImageExt, TestcontainersError};
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, block_in_place};

type Started = Result<ContainerAsync<GenericImage>>;

/// A start that goes on by itself. Given up halfway, the engine would make the container and nobody remove it; so
/// whoever drops this waits for the start, a second or so, and the container is removed with its value.
struct Starting(Option<JoinHandle<Started>>);

/// Starts it; the request says how long that may take.
pub(super) async fn start(engine: &Docker, request: ContainerRequest<GenericImage>) -> Started {
    let name = unused_name();
    let mut starting = Starting(Some(tokio::spawn(request.with_container_name(&name).start())));
    let started = match starting.0.as_mut() {
        Some(start) => start.await.map_err(TestcontainersError::other).flatten(),
        None => Err(TestcontainersError::other("the start is over")),
    };
    starting.0 = None;
    if started.is_err() {
        // It may have been made, and then not started: for want of its port, say.
        let by_force = RemoveContainerOptionsBuilder::new().force(true).v(true).build();
        let _gone = engine.remove_container(&name, Some(by_force)).await;
    }
    started
}

/// Random, since machines may share an engine: a container of this name is ours.
fn unused_name() -> String {
    format!("tessera-servers-{:016x}", RandomState::new().build_hasher().finish())
}

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(start) = self.0.take() {
            drop(block_in_place(|| Handle::current().block_on(start)));
        }
    }
}
