//! Finding a run: in memory, or in the store and then in memory.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};

use super::Shard;
use super::reads::Unanswered;
use crate::definition::Flows;
use crate::dispatch::Job;
use crate::engine::{self, Broken, Effect, Recorded, RunState, View};
use crate::error::{Error, ErrorKind};
use crate::ids::{FlowId, Renamed, RunId};
use crate::registry::Resident;
use crate::store::{LiveRun, RunSummary, Store, StoreError, record};

/// One lock for many flow ids: whoever starts or loads a run holds its id's.
///
/// A fixed number of them, so that no table grows with the ids; two ids that share one only wait a
/// little more.
#[derive(Debug)]
pub(super) struct Stripes {
    locks: Vec<Mutex<()>>,
    hasher: RandomState,
}

/// Enough that two of the ids in work at one moment seldom meet.
const STRIPES: u64 = 1_024;

impl Stripes {
    pub(super) fn new() -> Self {
        Self { locks: (0..STRIPES).map(|_| Mutex::new(())).collect(), hasher: RandomState::new() }
    }

    async fn enter(&self, flow_id: &FlowId) -> Option<MutexGuard<'_, ()>> {
        let stripe = usize::try_from(self.hasher.hash_one(flow_id) % STRIPES).ok()?;
        Some(self.locks.get(stripe)?.lock().await)
    }
}

/// What a look for a run has found.
enum Looked {
    Found(Found),
    /// As far as the store knows it is open, and another run is live under its id.
    Superseded(Arc<Resident>),
    Missing,
}

/// A run that was read from the store.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) state: RunState,
    /// Bytes of records since the last snapshot.
    record_bytes: usize,
    snapshot_bytes: usize,
}

impl From<Unanswered> for Error {
    fn from(_: Unanswered) -> Self {
        let reason = "a read of the store was cut off: it panicked, or the runtime is being shut down";
        Self::new(ErrorKind::Unavailable, reason)
    }
}

impl From<crate::registry::Poisoned> for Error {
    fn from(poisoned: crate::registry::Poisoned) -> Self {
        Self::new(ErrorKind::Unavailable, poisoned.to_string())
    }
}

impl Shard {
    /// Asks the store a question that may take long.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Error> {
        Ok(self.reads.ask(&self.handle, &self.store, question).await??)
    }

    /// As [`ask`](Self::ask), for a question that is a matter of a few reads.
    pub(crate) async fn look_up<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Error> {
        Ok(self.lookups.ask(&self.handle, &self.store, question).await??)
    }

    /// The newest run of a flow id.
    pub(crate) async fn live(&self, flow_id: &FlowId) -> Result<Option<LiveRun>, Error> {
        if let Some(run) = self.registry.live(flow_id)? {
            let identity = run.identity();
            return Ok(Some(LiveRun { run: identity.run_id, flow: identity.flow.clone() }));
        }
        let flow_id = flow_id.clone();
        self.look_up(move |store| store.live(&flow_id)).await
    }

    /// The summary of a run.
    pub(crate) async fn summary(&self, run: RunId) -> Result<Option<RunSummary>, Error> {
        self.look_up(move |store| store.summary(run)).await
    }

    /// The run with its one writer, or the state of a run that has ended, or `None` if there is no such run.
    pub(crate) async fn run(self: &Arc<Self>, flow_id: &FlowId, run: RunId) -> Result<Option<Found>, Error> {
        if let Some(resident) = self.registry.get(run)? {
            return Ok(Some(Found::Open(resident)));
        }
        let _guard = self.stripes.enter(flow_id).await;
        self.found_under_guard(run).await
    }

    /// As [`run`](Self::run), for who has [reserved](Self::reserve) its id.
    pub(crate) async fn found_under_guard(self: &Arc<Self>, run: RunId) -> Result<Option<Found>, Error> {
        let successor = match self.look_for(run).await? {
            Looked::Found(found) => return Ok(Some(found)),
            Looked::Superseded(successor) => successor,
            Looked::Missing => return Ok(None),
        };
        // What was read is not its end yet. That is enqueued before the successor's start.
        self.settled(&successor).await?;
        match self.look_for(run).await? {
            Looked::Found(found) => Ok(Some(found)),
            Looked::Missing => Ok(None),
            Looked::Superseded(_) => {
                let message = format!("run {run} is open beside another one of its id; nothing was done");
                Err(Error::new(ErrorKind::Quarantined, message))
            }
        }
    }

    async fn look_for(self: &Arc<Self>, run: RunId) -> Result<Looked, Error> {
        // Somebody else may have loaded it before the stripe was free.
        if let Some(resident) = self.registry.get(run)? {
            return Ok(Looked::Found(Found::Open(resident)));
        }
        let Some(loaded) = self.load(run).await? else { return Ok(Looked::Missing) };
        if loaded.state.closed.is_some() && !loaded.state.has_errands() {
            return Ok(Looked::Found(Found::Closed(Arc::new(loaded.state))));
        }
        Ok(match self.admit(loaded)? {
            Ok(resident) => Looked::Found(Found::Open(resident)),
            Err(successor) => Looked::Superseded(successor),
        })
    }

    /// Waits until all that has happened to the run so far is on disk.
    pub(crate) async fn settled(&self, run: &Resident) -> Result<(), Error> {
        match run.read(|_| ()) {
            Ok(((), unwritten)) => self.durable(unwritten).await,
            // The run has ended on disk and left, or the engine stops.
            Err(_) => self.check(),
        }
    }

    /// The writer of an open run, for who has [reserved](Self::reserve) its id.
    pub(crate) async fn open(self: &Arc<Self>, run: RunId) -> Result<Option<Arc<Resident>>, Error> {
        Ok(match self.found_under_guard(run).await? {
            Some(Found::Open(run)) => Some(run),
            Some(Found::Closed(_)) | None => None,
        })
    }

    /// Reads a run from the store.
    pub(crate) async fn load(&self, run: RunId) -> Result<Option<Loaded>, Error> {
        let flows = Arc::clone(&self.flows);
        let read = self.ask(move |store| match read(store, run, &flows) {
            // This run's own fault: the store goes on with the others.
            Err(fault @ StoreError::Unreadable { .. }) => Ok(Err(fault.to_string())),
            Err(fault) => Err(fault),
            Ok(read) => Ok(read.transpose().map_err(|broken| broken.to_string())),
        });
        read.await?.map_err(|why| {
            let message = format!(
                "run {run} is set aside: {why}; it is kept as it is for a build that can read it, or end it with \
                 `stop(Stop::Terminate, ..)`"
            );
            Error::new(ErrorKind::Quarantined, message)
        })
    }

    /// Makes a loaded run resident, and begins what it has to do. Gives the live run of its id if that is another one.
    fn admit(self: &Arc<Self>, loaded: Loaded) -> Result<Result<Arc<Resident>, Arc<Resident>>, Error> {
        let Loaded { state, record_bytes, snapshot_bytes } = loaded;
        let view = View::of(&state);
        let outstanding = engine::outstanding(&state);
        let (idle, ended) = (!state.is_active(), state.closed.is_some());
        let resident = Arc::new(Resident::loaded(state, record_bytes, snapshot_bytes));
        let resident = if ended {
            self.registry.insert_ended(resident)?
        } else {
            match self.registry.insert_if_absent(Arc::clone(&resident))? {
                Ok(resident) => resident,
                Err(same) if same.identity().run_id == resident.identity().run_id => return Ok(Ok(same)),
                Err(other) => return Ok(Err(other)),
            }
        };
        let mut errands = false;
        let jobs: Vec<_> = outstanding
            .into_iter()
            .filter_map(|effect| match effect {
                Effect::Dispatch(task) => Some(Job {
                    run: Arc::clone(&resident),
                    task,
                    view: view.clone(),
                    first: false,
                    lost: self.after_crash,
                    busy: self.activity.begin(),
                }),
                Effect::RunErrands => {
                    errands = true;
                    None
                }
                // Its timers are in the store, where `Timers` finds them.
                _ => None,
            })
            .collect();
        self.dispatch(jobs);
        self.note_errands(errands.then(|| Arc::clone(&resident)));
        if idle {
            self.note_idle(Arc::clone(&resident));
        }
        Ok(Ok(resident))
    }

    /// Holds the right to start a run under `flow_id`, against everyone else who wants to.
    pub(crate) async fn reserve(&self, flow_id: &FlowId) -> Option<MutexGuard<'_, ()>> {
        self.stripes.enter(flow_id).await
    }
}

/// A run that was found.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// It goes on, or has ended and is not yet done with other runs; this is its one writer.
    Open(Arc<Resident>),
    /// It has ended; this is how it stands.
    Closed(Arc<RunState>),
}

/// The run as it is stored, with the names that attributes and channels have now.
///
/// Old names are replaced before the history is folded: a wait under the new name takes messages that were
/// published under the old one.
fn read(store: &dyn Store, run: RunId, flows: &Flows) -> Result<Option<Result<Loaded, Broken>>, StoreError> {
    let Some(stored) = store.load(run)? else { return Ok(None) };
    let summary = if flows.has_renamed() { store.summary(run)? } else { None };
    let flow = summary.and_then(|summary| flows.get(&summary.flow));
    let unchanged = Renamed::new();
    let renamed = flow.map_or(&unchanged, |flow| &flow.renamed);
    let (snapshot, snapshot_bytes) = match &stored.snapshot {
        Some((_, bytes)) => (Some(record::decode_state_renamed(bytes, renamed)?), bytes.len()),
        None => (None, 0),
    };
    let record_bytes = stored.records.iter().map(|stored| stored.record.len()).sum();
    let mut history = Vec::with_capacity(stored.records.len());
    for stored in &stored.records {
        let (at, events) = record::decode_transition_renamed(&stored.record, renamed)?;
        history.push(Recorded { sequence: stored.sequence, at, events });
    }
    let state = engine::fold(snapshot, history);
    Ok(state.map(|state| state.map(|state| Loaded { state, record_bytes, snapshot_bytes })).transpose())
}
