//! Starting a run.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::handle::RunHandle;
use crate::definition::{Flow, Registered};
use crate::dex::{Core, written};
use crate::engine::{self, Command, Movement, RunIdentity, Staged, Status};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{FlowId, RunId};
use crate::registry::{Refused, Resident};
use crate::shard::Shard;
use crate::value::{Payload, ValueError};

/// A run that is about to be started; made by [`Client::start`](super::Client::start). Await it.
#[must_use = "a run is not started until this is awaited"]
pub struct Start<F> {
    core: Arc<Core>,
    request: Result<(FlowId, Payload)>,
    flow: PhantomData<fn() -> F>,
}

impl<F: Flow> Start<F> {
    pub(super) fn new(core: Arc<Core>, flow_id: &str, input: &F::Input) -> Self {
        let request = FlowId::new(flow_id).map_err(Error::from).and_then(|flow_id| {
            let input = Payload::encode(input).map_err(|e: ValueError| Error::from(e))?;
            Ok((flow_id, input))
        });
        Self { core, request, flow: PhantomData }
    }

    async fn run(self) -> Result<F::Run> {
        let (flow_id, input) = self.request?;
        let flow = Arc::clone(self.core.flows().of::<F>()?);
        let start = |shard: Arc<Shard>| {
            let (flow, flow_id, input) = (Arc::clone(&flow), flow_id.clone(), input.clone());
            async move { shard.start_run(&flow, &flow_id, input).await }
        };
        let run = self.core.with_shard(start).await?;
        Ok(RunHandle::new(self.core, flow_id, run).into())
    }
}

impl<F: Flow> IntoFuture for Start<F> {
    type Output = Result<F::Run>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<F> fmt::Debug for Start<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Start").field("request", &self.request).finish()
    }
}

impl Shard {
    /// Starts a run of `flow`. Two calls for one id are put in order here and nowhere else.
    async fn start_run(
        self: &Arc<Self>,
        flow: &Registered,
        flow_id: &FlowId,
        input: Payload,
    ) -> Result<RunId> {
        self.check()?;
        let guard = self.reserve(flow_id).await;
        self.refuse_existing(flow_id).await?;
        let now = self.clock.now();
        let identity = RunIdentity {
            flow: flow.name.clone(),
            flow_id: flow_id.clone(),
            run_id: RunId::generate(now),
            started_at: now,
        };
        let movement = flow.start().map(|step| Movement {
            step: step.name.clone(),
            input,
            waits: step.definition.wait.is_some(),
        });
        let run = Arc::new(Resident::fresh(identity.clone()));
        if let Err(occupant) = self.registry.insert_if_absent(Arc::clone(&run))? {
            return Err(existing(flow_id, occupant.identity().run_id, Status::Running));
        }
        let (reply, answer) = oneshot::channel();
        let request = engine::Start { identity, movement, staged: Staged::default() };
        if let Err(refused) = self.writer.submit(&run, Command::Start(request), Some(reply)) {
            self.registry.remove(&run)?;
            return Err(refused.into_error(run.identity()));
        }
        // Whoever comes next finds the run in the registry.
        drop(guard);
        written(answer).await?;
        Ok(run.identity().run_id)
    }

    async fn refuse_existing(&self, flow_id: &FlowId) -> Result<()> {
        if let Some(run) = self.registry.live(flow_id)? {
            match run.read(|state| state.status()) {
                Ok((status, unwritten)) => {
                    // Nobody may be told of a run that is lost after all.
                    self.durable(unwritten).await?;
                    return Err(existing(flow_id, run.identity().run_id, status));
                }
                // It has just left memory, so the store knows all of it.
                Err(Refused::Passivated) => {}
                Err(refused) => return Err(refused.into_error(run.identity())),
            }
        }
        let id = flow_id.clone();
        let stored = self.ask(move |store| match store.live(&id)? {
            Some(live) => store.summary(live.run),
            None => Ok(None),
        });
        match stored.await? {
            Some(summary) => Err(existing(flow_id, summary.run, summary.status)),
            None => Ok(()),
        }
    }
}

fn existing(flow_id: &FlowId, run: RunId, status: Status) -> Error {
    let message = format!(
        "`{flow_id}` was already started as run {run} ({status}): use another id, or find it with `client.run(..)`"
    );
    Error::with_run(ErrorKind::AlreadyStarted, message, run, status)
}
