//! Who has which attribute for itself, and who waits for it.
//!
//! A step takes all its locks at once, when it is handed out for the first time, and gives them back when
//! it ends. Whoever was scheduled first comes first, and nobody overtakes: so no two steps wait for one
//! another, and none waits for ever.

use super::state::{Execution, Method, Phase, RunState};
use crate::ids::{ExecutionNo, Slot};
use crate::time::Timestamp;

impl RunState {
    /// The first of `locks` that an execution holds.
    pub fn locked<'a>(&self, locks: &'a [Slot]) -> Option<&'a Slot> {
        locks.iter().find(|slot| self.locks.contains_key(*slot))
    }

    /// Whether `execution` may have all of `locks` now: nobody holds one or has waited longer for one.
    pub(super) fn may_lock(&self, execution: ExecutionNo, locks: &[Slot]) -> bool {
        let is_first = |slot: &Slot| {
            let first = self.blocked.get(slot).and_then(|queue| queue.first());
            first.is_none_or(|first| *first >= execution)
        };
        locks.iter().all(|slot| !self.locks.contains_key(slot) && is_first(slot))
    }

    /// Who is next to have `slot` for itself, if that one can go on now.
    pub(super) fn unblocked(&self, slot: &Slot) -> Option<ExecutionNo> {
        let first = *self.blocked.get(slot)?.first()?;
        let locks = &self.executions.get(&first)?.locks;
        self.may_lock(first, locks).then_some(first)
    }
}

/// Makes the step itself the next thing to do of an execution: at once if its locks are free, or else when
/// they are.
pub(super) fn request_step(state: &mut RunState, no: ExecutionNo, at: Timestamp) -> Option<()> {
    let locks = state.executions.get(&no)?.locks.clone();
    if state.may_lock(no, &locks) {
        return enter_step(state, no, at);
    }
    let execution = state.executions.get_mut(&no)?;
    execution.phase = Phase::Blocked;
    execution.since = at;
    for slot in locks {
        state.blocked.entry(slot).or_default().insert(no);
    }
    Some(())
}

/// Hands a step out that waited for its locks; they are free now.
pub(super) fn take(state: &mut RunState, no: ExecutionNo, at: Timestamp) -> Option<()> {
    let execution = state.executions.get(&no).filter(|execution| execution.phase == Phase::Blocked)?;
    let locks = execution.locks.clone();
    stop_waiting(state, no, &locks);
    enter_step(state, no, at)
}

/// Gives back what an execution that has ended held or waited for.
pub(super) fn release(state: &mut RunState, no: ExecutionNo, ended: &Execution) {
    if ended.phase == Phase::Blocked {
        stop_waiting(state, no, &ended.locks);
    }
    for slot in &ended.locks {
        if state.locks.get(slot) == Some(&no) {
            state.locks.remove(slot);
        }
    }
}

fn enter_step(state: &mut RunState, no: ExecutionNo, at: Timestamp) -> Option<()> {
    let execution = state.executions.get_mut(&no)?;
    execution.phase = Phase::Ready(Method::Execute);
    execution.since = at;
    execution.checkpoint = None;
    execution.begin_method();
    state.ready += 1;
    for slot in &execution.locks {
        if state.locks.insert(slot.clone(), no).is_some_and(|holder| holder != no) {
            return None;
        }
    }
    Some(())
}

fn stop_waiting(state: &mut RunState, no: ExecutionNo, locks: &[Slot]) {
    for slot in locks {
        if let Some(queue) = state.blocked.get_mut(slot) {
            queue.remove(&no);
            if queue.is_empty() {
                state.blocked.remove(slot);
            }
        }
    }
}
