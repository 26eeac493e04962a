//! RPCs that may write.

use super::command::RpcReport;
use super::decide::{Limits, Rejection, write};
use super::event::{Event, Source};
use super::state::RunState;
use super::step::schedule;

/// Applies what an RPC did, if what it read is still so.
///
/// An RPC that did nothing gives no events, whatever has changed since: what it read was true when it was
/// called. That holds on a closed run, too.
pub(super) fn apply(state: &RunState, report: RpcReport, limits: &Limits) -> Result<Vec<Event>, Rejection> {
    let RpcReport { rpc, reads, staged, movements } = report;
    if staged.is_empty() && movements.is_empty() {
        return Ok(Vec::new());
    }
    if state.closed.is_some() {
        return Err(Rejection::Closed { status: state.status() });
    }
    let changed = reads
        .into_iter()
        .find(|(slot, seen)| state.attributes.get(slot).map(|attribute| attribute.version) != *seen);
    if let Some((slot, _)) = changed {
        return Err(Rejection::Conflict { slot });
    }
    let mut events = Vec::with_capacity(staged.len() + movements.len() + 1);
    events.push(Event::RpcApplied { rpc: rpc.clone() });
    write(Some(state), None, staged, limits, &mut events)?;
    schedule(state, movements, &Source::Rpc(rpc), state.executions.len(), limits, &mut events)?;
    Ok(events)
}
