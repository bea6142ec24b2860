//! A server in a container, where a Docker engine answers.

use std::time::Duration;

use testcontainers_modules::testcontainers as tc;

use tc::bollard::Docker;
use tc::bollard::query_parameters::KillContainerOptionsBuilder;
use tc::core::client::docker_client_instance;
use tc::core::{CmdWaitFor, ExecCommand, IntoContainerPort};
use tc::runners::AsyncRunner;
use tc::{ContainerAsync, ContainerRequest, GenericImage, ImageExt};
use tokio::time::{Instant, sleep, timeout};

use super::ready::Ready;
use super::{Server, Trouble, ports};

mod starting;

/// The longest an engine may take to say that it is there.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// The longest an image may take to come: some 200 MB over a slow line.
const PULL_MAX: Duration = Duration::from_mins(4);

/// The longest a container may take to start, and its server to accept clients.
const START_MAX: Duration = Duration::from_mins(1);

const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Not a secret: of a server that lives as long as a test.
const PASSWORD: &str = "postgres";

/// A container; removed when dropped.
#[derive(Debug)]
pub(super) struct Container {
    handle: ContainerAsync<GenericImage>,
    engine: Docker,
    ready: Ready,
    host: String,
    port: u16,
    url: String,
}

impl Container {
    /// Starts one; returns once the server accepts clients.
    pub(super) async fn start_new(server: Server) -> Result<Self, Trouble> {
        let engine = engine().await?;
        let (image, tag) = image(server);
        let image_here = engine.inspect_image(&format!("{image}:{tag}")).await.is_ok();
        let port = ports::free()?;
        let mut request = request(server, port);
        if !image_here {
            let pulled = timeout(PULL_MAX, request.pull_image()).await;
            let pulled = pulled.map_err(|_| Trouble::new(format!("{image}:{tag} does not come in time")))?;
            request = pulled.map_err(Trouble::during(&format!("pulling {image}:{tag}")))?;
        }
        let handle = starting::start(&engine, request.with_startup_timeout(START_MAX)).await;
        let handle = handle.map_err(Trouble::during(&format!("starting {image}:{tag}")))?;
        let host = handle.get_host().await.map_err(Trouble::during("its host"))?.to_string();
        let (url, ready) = match server {
            Server::Postgres => {
                (format!("postgres://postgres:{PASSWORD}@{host}:{port}/postgres"), Ready::Postgres)
            }
            Server::Rabbit => (format!("amqp://guest:guest@{host}:{port}"), Ready::Rabbit),
        };
        let started = Self { handle, engine, ready, host, port, url };
        started.until_ready().await?;
        Ok(started)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// `SIGKILL` to all of it at once, or another signal to its first process; returns once it is gone.
    pub(super) async fn end(&self, signal: &str) -> Result<(), Trouble> {
        let options = KillContainerOptionsBuilder::new().signal(signal).build();
        let killed = self.engine.kill_container(self.handle.id(), Some(options)).await;
        killed.map_err(Trouble::during("killing the container"))?;
        let since = Instant::now();
        while self.handle.is_running().await.map_err(Trouble::during("asking for the container"))? {
            if since.elapsed() > START_MAX {
                return Err(Trouble::new("the container does not end"));
            }
            sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Starts it on the data and port it had.
    pub(super) async fn start(&self) -> Result<(), Trouble> {
        self.handle.start().await.map_err(Trouble::during("starting the container"))?;
        self.until_ready().await
    }

    pub(super) async fn freeze(&self) -> Result<(), Trouble> {
        self.handle.pause().await.map_err(Trouble::during("pausing the container"))
    }

    pub(super) async fn thaw(&self) -> Result<(), Trouble> {
        self.handle.unpause().await.map_err(Trouble::during("going on with the container"))
    }

    /// Runs RabbitMQ's own tool to its end, which has to be good.
    pub(super) async fn control(&self, arguments: impl Iterator<Item = &str>) -> Result<(), Trouble> {
        let command = ExecCommand::new(["rabbitmqctl"].into_iter().chain(arguments));
        let ran = self.handle.exec(command.with_cmd_ready_condition(CmdWaitFor::exit_code(0))).await;
        ran.map(drop).map_err(Trouble::during("running rabbitmqctl in the container"))
    }

    async fn until_ready(&self) -> Result<(), Trouble> {
        let since = Instant::now();
        while !self.ready.holds(&self.host, self.port).await {
            if since.elapsed() > START_MAX {
                return Err(Trouble::new("the server in the container does not accept clients in time"));
            }
            sleep(LOOK_EVERY).await;
        }
        Ok(())
    }
}

async fn engine() -> Result<Docker, Trouble> {
    let engine = docker_client_instance().await.map_err(Trouble::during("no Docker engine"))?;
    match timeout(ANSWER_MAX, engine.ping()).await {
        Ok(Ok(_)) => Ok(engine),
        Ok(Err(error)) => Err(Trouble::new(format!("no Docker engine answers: {error}"))),
        Err(_) => Err(Trouble::new("the Docker engine does not answer in time")),
    }
}

fn image(server: Server) -> (&'static str, &'static str) {
    match server {
        Server::Postgres => ("postgres", "17"),
        Server::Rabbit => ("rabbitmq", "4-management"),
    }
}

/// The port is named here, so that it stays the same over a restart.
fn request(server: Server, port: u16) -> ContainerRequest<GenericImage> {
    let (name, tag) = image(server);
    let image = GenericImage::new(name, tag);
    match server {
        Server::Postgres => image
            .with_mapped_port(port, 5432.tcp())
            .with_env_var("POSTGRES_PASSWORD", PASSWORD)
            .with_cmd(["postgres", "-c", "fsync=off", "-c", "max_connections=500"]),
        Server::Rabbit => image.with_mapped_port(port, 5672.tcp()),
    }
}
