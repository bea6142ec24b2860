//! Declaring the topology, and looking at it.

use lapin::Channel;

use super::drift::difference;
use super::failure::Failure;
use super::link::Link;
use super::topology::{Binding, How, Item};
use crate::{BrokerError, Finding, Found};

/// Declares everything; what differs is left as it is, and all of it is named.
pub(super) async fn declare(link: &Link, items: &[Item], bindings: &[Binding]) -> Result<(), BrokerError> {
    let mut differences = vec![];
    let mut channel = link.channel().await.map_err(Failure::away)?;
    for item in items {
        match link.trusted(item.declare(&channel, How::Actively)).await {
            Ok(()) => {}
            Err(Failure::Differs(refusal)) => {
                differences.push(difference(&item.title(), &refusal));
                // The refusal has closed it.
                channel = link.channel().await.map_err(Failure::away)?;
            }
            Err(failure) => return Err(failure.away()),
        }
    }
    if !differences.is_empty() {
        return Err(BrokerError::Topology(differences.join("; ")));
    }
    for binding in bindings {
        link.trusted(binding.declare(&channel)).await.map_err(Failure::away)?;
    }
    link.close_channel(&channel).await;
    Ok(())
}

/// Looks at everything and creates nothing.
///
/// A binding cannot be looked at without making it: an issuer makes all of them when it starts.
pub(super) async fn inspect(link: &Link, items: &[Item]) -> Result<Vec<Finding>, BrokerError> {
    let mut findings = vec![];
    for item in items {
        let found = look(link, item).await.map_err(Failure::away)?;
        findings.push(Finding { name: item.title(), found });
    }
    Ok(findings)
}

/// On a channel for each look, because an answer that is not wanted closes it.
async fn look(link: &Link, item: &Item) -> Result<Found, Failure> {
    let channel = link.channel().await?;
    let found = compare(link, &channel, item).await;
    link.close_channel(&channel).await;
    found
}

async fn compare(link: &Link, channel: &Channel, item: &Item) -> Result<Found, Failure> {
    match link.trusted(item.declare(channel, How::Passively)).await {
        Err(Failure::NotFound) => return Ok(Found::Missing),
        Err(Failure::Differs(refusal)) => return Ok(Found::Different(difference(&item.title(), &refusal))),
        other => other?,
    }
    // It exists, so this creates nothing, and only compares.
    match link.trusted(item.declare(channel, How::Actively)).await {
        Err(Failure::Differs(refusal)) => Ok(Found::Different(difference(&item.title(), &refusal))),
        other => other.map(|()| Found::AsWanted),
    }
}
