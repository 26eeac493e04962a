//! What happens after a commit.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::{AfterCommit, Shard};
use crate::commit::Sink;
use crate::dispatch::Job;
use crate::engine::Effect;
use crate::registry::{After, Appended, Reply, Resident};
use crate::store::StoreError;

/// Hands on what the committing thread has written.
pub(super) struct ShardSink {
    /// Weak, or the thread would keep its own shard alive.
    shard: Weak<Shard>,
    after_commit: AfterCommit,
}

impl ShardSink {
    pub(super) fn new(shard: &Arc<Shard>, after_commit: AfterCommit) -> Self {
        Self { shard: Arc::downgrade(shard), after_commit }
    }
}

impl Sink<After, Appended> for ShardSink {
    fn appended(&self, appended: &mut dyn Iterator<Item = (Appended, u64)>) {
        let Some(shard) = self.shard.upgrade() else { return };
        // Until those who read were woken, there is something under way.
        let mut busy = Vec::new();
        let mut runs = BTreeSet::new();
        for (Appended { run, reply, room, busy: until, .. }, offset) in appended {
            drop(room);
            runs.insert(run);
            busy.push(until);
            if let Some(reply) = reply {
                // A caller who has gone meanwhile does not mind.
                let _ = reply.send(Ok(offset));
            }
        }
        shard.readers.note_changes(runs);
    }

    fn written(&self, after: &mut Vec<After>) {
        let Some(shard) = self.shard.upgrade() else { return };
        if self.after_commit == AfterCommit::Crash {
            return crash(&shard, after);
        }
        // One push for the whole batch: one lock, and slots are started together.
        let mut released = Released::default();
        // Work that follows is counted before what caused it is done.
        let busy = shard.activity.begin();
        for after in after.drain(..) {
            shard.release(after, &mut released);
        }
        shard.dispatch(released.jobs);
        shard.note_errands(released.errands);
        for reply in released.replies {
            // A caller who has gone meanwhile does not mind.
            let _ = reply.send(Ok(()));
        }
        drop(busy);
    }

    fn failing(&self, fault: &StoreError) {
        if let Some(shard) = self.shard.upgrade() {
            shard.fail(fault);
        }
    }

    fn failed(&self, fault: &StoreError, after: Vec<After>, appended: Vec<Appended>) {
        for reply in after.into_iter().filter_map(|after| after.reply) {
            let _ = reply.send(Err(fault.clone()));
        }
        for reply in appended.into_iter().filter_map(|appended| appended.reply) {
            let _ = reply.send(Err(fault.clone()));
        }
    }
}

/// What the commits of a batch lead to together.
#[derive(Default)]
struct Released {
    jobs: Vec<Job>,
    errands: Vec<Arc<Resident>>,
    replies: Vec<Reply>,
}

/// Ends the shard with nothing done but telling the callers that their commits are on disk.
fn crash(shard: &Shard, after: &mut Vec<After>) {
    shard.fail(&StoreError::Unavailable { reason: "a test crashes after each commit".into() });
    for reply in after.drain(..).filter_map(|after| after.reply) {
        let _ = reply.send(Ok(()));
    }
}

impl Shard {
    /// Carries out the effects of one written commit; what is done together for all is collected in `released`.
    fn release(&self, after: After, released: &mut Released) {
        let After { run, effects, view, timers_set, timers_cleared, end, rests, first, reply, busy } = after;
        let run_id = run.identity().run_id;
        self.timers.change(&timers_set, &timers_cleared);
        for effect in effects {
            match effect {
                Effect::Dispatch(task) => released.jobs.extend(view.clone().map(|view| Job {
                    run: Arc::clone(&run),
                    task,
                    view,
                    first,
                    lost: false,
                    busy: self.activity.begin(),
                })),
                Effect::RunErrands => released.errands.push(Arc::clone(&run)),
                // Armed above.
                Effect::ArmTimer { .. } => {}
                Effect::Tell { execution } => run.tell(Some(execution)),
                Effect::Revoke { execution } => run.call_off(Some(execution)),
                Effect::Close { .. } => run.call_off(None),
            }
        }
        let last = run.note_written();
        if let Some(end) = end {
            self.waiters.wake(run_id, &end);
            self.readers.note_changes([run_id]);
            self.passivate(&run);
        } else if last && rests {
            self.note_idle(run);
        }
        self.watchers.note_change(run_id);
        released.replies.extend(reply);
        drop(busy);
    }

    /// Keeps a run that has nothing to do for a while, and lets the one go that had to wait longest.
    pub(crate) fn note_idle(&self, run: Arc<Resident>) {
        if let Some(outgoing) = self.idle.push(run) {
            self.passivate(&outgoing);
        }
    }

    fn passivate(&self, run: &Arc<Resident>) {
        if run.passivate()
            && let Err(poisoned) = self.registry.remove(run)
        {
            tracing::error!(%poisoned, "a run stays in the table of resident runs");
        }
    }
}

/// Runs that have nothing to do, in the order in which they came to that.
#[derive(Debug)]
pub(super) struct IdleRuns {
    runs: Mutex<VecDeque<Arc<Resident>>>,
    max: usize,
}

impl IdleRuns {
    pub(super) fn new(max: usize) -> Self {
        // A run that is let go before whoever loaded it has used it would be loaded for ever.
        Self { runs: Mutex::default(), max: max.max(1) }
    }

    /// Adds a run; gives those that have to go for it. A run may be here more than once.
    fn push(&self, run: Arc<Resident>) -> Option<Arc<Resident>> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.push_back(run);
        if runs.len() > self.max { runs.pop_front() } else { None }
    }
}
