//! What tools ask an engine.

use std::fmt;
use std::sync::Arc;

use super::info::RunInfo;
use crate::dex::Core;
use crate::engine::RunState;
use crate::error::Result;
use crate::ids::RunId;
use crate::shard::Shard;
use crate::store::RunSummary;

/// Read-only questions about the runs of an engine; made by [`Dex::inspect`](crate::Dex::inspect).
///
/// # Errors
///
/// All of its calls fail with [`ErrorKind::Unavailable`] while the engine cannot work, and with
/// [`ErrorKind::ShutDown`] when it was shut down.
///
/// [`ErrorKind::Unavailable`]: crate::ErrorKind::Unavailable
/// [`ErrorKind::ShutDown`]: crate::ErrorKind::ShutDown
#[derive(Clone)]
pub struct Inspect {
    core: Arc<Core>,
}

impl Inspect {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }

    /// Runs in the order of starting, open and closed ones, from after `after`, at most `limit`.
    ///
    /// The last run's id is the cursor for the next page; it stays good whatever happens to the runs.
    pub async fn runs(&self, after: Option<RunId>, limit: usize) -> Result<Vec<RunSummary>> {
        let runs = |shard: Arc<Shard>| async move { shard.ask(move |store| store.runs(after, limit)).await };
        self.core.with_shard(runs).await
    }

    /// What a run is and does at this moment, whatever its flow. `None`: there is no such run.
    pub async fn run(&self, run: RunId) -> Result<Option<RunInfo>> {
        self.core.with_shard(|shard| async move { shard.info(run).await }).await
    }

    /// Runs that are in memory now, in the order of starting.
    pub async fn resident(&self) -> Result<Vec<RunId>> {
        let resident = |shard: Arc<Shard>| async move {
            Ok(shard.registry.list()?.iter().map(|run| run.identity().run_id).collect())
        };
        self.core.with_shard(resident).await
    }

    /// Compares a run in memory with the fold of its stored history. If they differ, the history wins.
    ///
    /// Gives whether they agreed; a run that is not in memory, or is being written, counts as agreeing.
    pub async fn verify(&self, run: RunId) -> Result<bool> {
        self.core.with_shard(|shard| async move { shard.verify(run).await }).await
    }
}

impl Shard {
    async fn info(self: &Arc<Self>, run: RunId) -> Result<Option<RunInfo>> {
        if let Some(resident) = self.registry.get(run)?
            && let Ok((info, unwritten)) = resident.read(|state| self.describe(state))
        {
            self.durable(unwritten).await?;
            return Ok(Some(info));
        }
        Ok(self.load(run).await?.map(|loaded| self.describe(&loaded.state)))
    }

    /// What a run is and does in this build.
    fn describe(&self, state: &RunState) -> RunInfo {
        RunInfo::in_build(state, &self.flows)
    }

    async fn verify(self: &Arc<Self>, run: RunId) -> Result<bool> {
        let Some(resident) = self.registry.get(run)? else { return Ok(true) };
        let Some(stored) = self.load(run).await? else { return Ok(true) };
        let agrees = resident.reconcile(stored.state);
        if !agrees {
            tracing::error!(%run, "a run in memory differed from its history, which has replaced it");
        }
        Ok(agrees)
    }
}

impl fmt::Debug for Inspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inspect").finish_non_exhaustive()
    }
}
