//! Transactions that were prepared outside: RPCs that may write, and plain writes.

use super::command::{RpcReport, WriteReport};
use super::decide::{Limits, Rejection, write};
use super::event::{Event, Source};
use super::reads;
use super::state::RunState;
use super::step::{cancel, schedule};

/// Applies what an RPC did, if what it read is still so.
///
/// An RPC that did nothing gives no events, whatever has changed since: what it read was true when it was
/// called. That holds on a closed run, too.
pub(super) fn apply(state: &RunState, report: RpcReport, limits: &Limits) -> Result<Vec<Event>, Rejection> {
    let RpcReport { rpc, reads, staged, movements, cancels, locks } = report;
    if staged.is_empty() && movements.is_empty() && cancels.is_empty() {
        return Ok(Vec::new());
    }
    if state.closed.is_some() {
        return Err(Rejection::Closed { status: state.status() });
    }
    if let Some(slot) = state.locked(&locks) {
        return Err(Rejection::Locked { slot: slot.clone() });
    }
    reads::check(state, reads)?;
    let mut events = Vec::with_capacity(staged.len() + movements.len() + 1);
    events.push(Event::RpcApplied { rpc: rpc.clone() });
    write(Some(state), (None, None), staged, limits, &mut events)?;
    let ended = cancel(state, &cancels, None, &mut events);
    let others = state.executions.len() - ended;
    schedule(state, movements, &Source::Rpc(rpc), others, limits, &mut events)?;
    Ok(events)
}

/// Writes to an open run, if what the writer read is still so. Writing nothing gives no events.
pub(super) fn write_from_outside(
    state: &RunState,
    report: WriteReport,
    limits: &Limits,
) -> Result<Vec<Event>, Rejection> {
    let WriteReport { reads, staged } = report;
    if staged.is_empty() {
        return Ok(Vec::new());
    }
    reads::check(state, reads)?;
    let mut events = Vec::with_capacity(staged.len());
    write(Some(state), (None, None), staged, limits, &mut events)?;
    Ok(events)
}
