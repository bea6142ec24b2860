//! The ways to a server, tried in order, and what is said about them.

use super::container::Container;
use super::installed::Installed;
use super::running::Running;
use super::{Server, Trouble, apt};

/// A way to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Given,
    Container,
    Installed,
    /// Installs it first.
    Apt,
}

/// The ways of the holder.
pub(super) const ALL: &[Way] = &[Way::Given, Way::Container, Way::Installed, Way::Apt];

/// The ways to one more server, for a test: first the one that worked before, so that none is probed in vain.
pub(super) fn ways_like(before: Option<&str>) -> &'static [Way] {
    match before {
        Some("installed") => &[Way::Installed, Way::Apt, Way::Container],
        _ => &[Way::Container, Way::Installed, Way::Apt],
    }
}

/// Finds or starts a server; `say` is told which way it went, and why the earlier ones did not do.
pub(super) async fn find(server: Server, ways: &[Way], say: impl Fn(&str)) -> Result<Running, Trouble> {
    let mut refused: Vec<String> = Vec::new();
    for way in ways {
        match go(*way, server).await {
            Ok(running) => {
                say(&format!("{server}: {}{}", taken(*way, &running), because(&refused)));
                return Ok(running);
            }
            Err(trouble) => refused.push(format!("{}: {trouble}", name(*way))),
        }
    }
    Err(Trouble::new(format!(
        "{server} is nowhere.\n  {}\nStart a Docker engine, or install the package {}, or set {} to the address of one.",
        refused.join("\n  "),
        server.package(),
        server.variable(),
    )))
}

async fn go(way: Way, server: Server) -> Result<Running, Trouble> {
    match way {
        Way::Given => given(server),
        Way::Container => Ok(Running::Container(Box::new(Container::start_new(server).await?))),
        Way::Installed => Ok(Running::Installed(Installed::start_new(server).await?)),
        Way::Apt => {
            apt::install(server).await?;
            Ok(Running::Installed(Installed::start_new(server).await?))
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "those who have servers say so in the environment")]
fn given(server: Server) -> Result<Running, Trouble> {
    match std::env::var(server.variable()) {
        Ok(url) if !url.is_empty() => Ok(Running::Given(url)),
        _ => Err(Trouble::new(format!("{} is not set", server.variable()))),
    }
}

fn name(way: Way) -> &'static str {
    match way {
        Way::Given => "given",
        Way::Container => "container",
        Way::Installed => "installed",
        Way::Apt => "to be installed",
    }
}

/// How it reads that a way was taken.
fn taken(way: Way, running: &Running) -> String {
    match (way, running) {
        (Way::Given, _) => "the one that is given".to_owned(),
        (Way::Container, _) => "a container".to_owned(),
        (Way::Apt, _) => "installed just now, started privately".to_owned(),
        (Way::Installed, Running::Installed(installed)) => {
            format!("started privately from {}", installed.programs)
        }
        (Way::Installed, _) => "started privately".to_owned(),
    }
}

fn because(refused: &[String]) -> String {
    if refused.is_empty() { String::new() } else { format!(" ({})", refused.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_worked_before_is_tried_first() {
        assert_eq!(ways_like(Some("installed")).first(), Some(&Way::Installed));
        for other in [None, Some("given"), Some("containers")] {
            assert_eq!(ways_like(other).first(), Some(&Way::Container));
        }
    }

    #[test]
    fn no_test_kills_a_server_that_was_given() {
        for before in [None, Some("given"), Some("installed")] {
            assert!(!ways_like(before).contains(&Way::Given));
        }
    }

    #[tokio::test]
    async fn when_no_way_works_the_remedy_is_named() {
        let refusal = find(Server::Rabbit, &[], |_| {}).await.unwrap_err().to_string();
        for named in ["RabbitMQ", "Docker", "rabbitmq-server", "TEST_AMQP_URL"] {
            assert!(refusal.contains(named), "{refusal}");
        }
    }
}
