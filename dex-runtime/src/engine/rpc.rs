//! RPCs that may write.

use super::command::RpcReport;
use super::decide::{Limits, Rejection, write};
use super::event::{Event, Source};
use super::state::RunState;
use super::step::schedule;

/// Applies what an RPC did, if what it read is still so.
///
/// An RPC that did nothing gives no events, and is then fine on a closed run, too.
pub(super) fn apply(state: &RunState, report: RpcReport, limits: &Limits) -> Result<Vec<Event>, Rejection> {
    let RpcReport { rpc, reads, staged, movements } = report;
    let changed = reads
        .into_iter()
        .find(|(slot, seen)| state.attributes.get(slot).map(|attribute| attribute.version) != *seen);
    if let Some((slot, _)) = changed {
        return Err(Rejection::Conflict { slot });
    }
    if staged.attributes.is_empty() && staged.messages.is_empty() && movements.is_empty() {
        return Ok(Vec::new());
    }
    if state.closed.is_some() {
        return Err(Rejection::Closed { status: state.status() });
    }
    let mut events = vec![Event::RpcApplied { rpc: rpc.clone() }];
    events.extend(write(state, staged, limits)?);
    schedule(state, movements, &Source::Rpc(rpc), state.executions.len(), limits, &mut events)?;
    Ok(events)
}
