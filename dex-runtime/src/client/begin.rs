//! Beginning a run: at most one goes on for an id, however many callers try at once.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::beginning::{Called, Checked};
use super::call;
use super::request::Request;
use crate::definition::Registered;
use crate::dex::written;
use crate::engine::{
    self, CancelPlan, Command, Movement, Refusal, Rejection, RpcReport, RunIdentity, RunState, Status,
    StepTarget, Stop,
};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{FlowId, RunId};
use crate::registry::{Refused, Resident, Submit};
use crate::shard::{Found, Shard};
use crate::value::Payload;

/// What to do when the id has a run already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reuse {
    /// Refuse, whether the run goes on or has ended.
    #[default]
    Reject,
    /// Start a new run if the old one failed, was canceled or was terminated.
    AllowIfFailed,
    /// Start a new run if the old one has ended.
    AllowIfClosed,
    /// Start a new run in any case; one that goes on is terminated.
    TerminateIfRunning,
}

impl Reuse {
    /// Whether a new run may take the place of one that has ended like this.
    fn allows(self, status: Status) -> bool {
        match self {
            Self::Reject => false,
            Self::AllowIfFailed => status.is_closed() && status != Status::Completed,
            Self::AllowIfClosed | Self::TerminateIfRunning => status.is_closed(),
        }
    }
}

/// What became of the wish for a run, with what its RPC answered: `null` if it calls none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    /// It was started before.
    Before(RunId, Payload),
    /// Its start waits to be written.
    Now(RunId, Payload),
}

impl Shard {
    /// Starts a run of `flow`. Two calls for one id are put in order here and nowhere else.
    pub(super) async fn start_run(
        self: &Arc<Self>,
        flow: &Registered,
        checked: Checked,
    ) -> Result<(RunId, Payload)> {
        let (reply, answer) = oneshot::channel();
        match self.begin_run(flow, checked, Submit::called(reply)).await? {
            Begun::Before(run, given) => Ok((run, given)),
            Begun::Now(run, given) => {
                written(answer).await?;
                Ok((run, given))
            }
        }
    }

    /// As [`start_run`](Self::start_run), without waiting until a new run is on disk.
    pub(super) async fn begin_run(
        self: &Arc<Self>,
        flow: &Registered,
        checked: Checked,
        how: Submit,
    ) -> Result<Begun> {
        self.check()?;
        if checked.call.is_some()
            && let Some(before) = self.before_call(&checked).await?
        {
            return Ok(before);
        }
        let Checked { flow_id, input, staged, reuse, timeout, patch, request, parent, call } = checked;
        let now = self.clock.now();
        let identity = RunIdentity {
            flow: flow.name.clone(),
            flow_id: flow_id.clone(),
            run_id: self.run_ids.next(now),
            started_at: now,
            parent,
        };
        let movement = flow.start().map(|step| {
            let StepTarget { step, waits, locks } = step.target();
            Movement { step, input, waits, locks, patch }
        });
        let run = Arc::new(Resident::fresh(identity.clone()));
        let mut start = engine::Start { identity, movement, staged, timeout, call: None };
        let mut given = Payload::NULL;
        if let Some(call) = call {
            // With nothing held: this is the user's code. Nobody else can change what it sees.
            let (report, answer) = self.first_call(flow, call, &start).await?;
            (start.call, given) = (Some(Box::new(report)), answer);
        }
        // Until the function ends: whoever comes next finds the run in the registry.
        let _guard = self.reserve(&flow_id).await;
        if let Some(request) = &request
            && let Some((run, before)) = self.started_before(&flow_id, request).await?
        {
            return Ok(Begun::Before(run, before));
        }
        if let Some(parent) = &run.identity().parent
            && let Some(run) = self.child_under_guard(&flow_id, parent).await?
        {
            return Ok(Begun::Before(run, Payload::NULL));
        }
        let command = match request {
            Some(request) => request.once(given.clone(), Command::Start(start)),
            None => Command::Start(start),
        };
        // Nobody is ended for a run that cannot be.
        if reuse == Reuse::TerminateIfRunning
            && let Some(rejection) = engine::refused_start(command.clone(), now, &self.writer.limits)
        {
            return Err(Refused::Rejected(rejection).into_error(run.identity()));
        }
        let before = self.make_way(&flow_id, reuse).await?;
        self.admit_fresh(&run, before.clone())?;
        if let Err(refused) = self.writer.submit(&run, command, how) {
            self.registry.remove(&run)?;
            // Whoever looks for the one before from now on looks in the store.
            if let Some(before) = before {
                self.settled(&before).await?;
            }
            return Err(refused.into_error(run.identity()));
        }
        Ok(Begun::Now(run.identity().run_id, given))
    }

    /// What there is to say before an RPC is called for a run: that it was started before, or that the id is taken.
    async fn before_call(self: &Arc<Self>, checked: &Checked) -> Result<Option<Begun>> {
        let Checked { flow_id, reuse, request, .. } = checked;
        let _guard = self.reserve(flow_id).await;
        if let Some(request) = request
            && let Some((run, before)) = self.started_before(flow_id, request).await?
        {
            return Ok(Some(Begun::Before(run, before)));
        }
        // Which ends a run, and that is not to be before the RPC has said yes.
        if *reuse != Reuse::TerminateIfRunning {
            self.make_way(flow_id, *reuse).await?;
        }
        Ok(None)
    }

    /// Calls the RPC of a start, on the run as it will begin.
    async fn first_call(
        self: &Arc<Self>,
        flow: &Registered,
        call: Called,
        start: &engine::Start,
    ) -> Result<(RpcReport, Payload)> {
        let now = start.identity.started_at;
        let view = engine::begun(start.clone(), now, &self.writer.limits).map_err(|refusal| {
            let refused = match refusal {
                Refusal::Rejected(rejection) => Refused::Rejected(rejection),
                Refusal::Broken(broken) => Refused::Quarantined(broken),
            };
            refused.into_error(&start.identity)
        })?;
        call::call_first(self, flow, &call.rpc, call.input, view).await
    }

    /// The newest run of the id, if this request has started it, with what was answered.
    async fn started_before(
        self: &Arc<Self>,
        flow_id: &FlowId,
        request: &Request,
    ) -> Result<Option<(RunId, Payload)>> {
        let Some(live) = self.live(flow_id).await? else { return Ok(None) };
        loop {
            let before = match self.found_under_guard(live.run).await? {
                None => None,
                Some(Found::Closed(state)) => request.answered(&state)?,
                Some(Found::Open(run)) => match run.read(|state| request.answered(state)) {
                    Ok((before, unwritten)) => {
                        self.durable(unwritten).await?;
                        before?
                    }
                    Err(Refused::Passivated) => {
                        self.check()?;
                        continue;
                    }
                    Err(refused) => return Err(refused.into_error(run.identity())),
                },
            };
            return Ok(before.map(|before| (live.run, before)));
        }
    }

    /// Makes the run the live one of its id; in one step if it takes the place of another.
    fn admit_fresh(&self, run: &Arc<Resident>, before: Option<Arc<Resident>>) -> Result<()> {
        if let Some(before) = before
            && self.registry.succeed(&before, run)?.is_ok()
        {
            // Whoever looks for it must find its one writer, as long as it has to do with other runs.
            if before.read(RunState::has_errands).is_ok_and(|(errands, _)| errands) {
                self.registry.insert_ended(before)?;
            }
            return Ok(());
        }
        match self.registry.insert_if_absent(Arc::clone(run))? {
            Ok(_) => Ok(()),
            Err(occupant) => {
                let occupant = occupant.identity();
                Err(existing(&occupant.flow_id, occupant.run_id, Status::Running))
            }
        }
    }

    /// Refuses if the id has a run that `reuse` does not let go. Gives a run that was ended for it.
    async fn make_way(self: &Arc<Self>, flow_id: &FlowId, reuse: Reuse) -> Result<Option<Arc<Resident>>> {
        if let Some(run) = self.registry.live(flow_id)? {
            match run.read(RunState::status) {
                Ok((status, _)) if reuse.allows(status) => return Ok(Some(run)),
                Ok((status, _)) if !status.is_closed() && reuse == Reuse::TerminateIfRunning => {
                    return self.terminate(run).map(Some);
                }
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
        let stored = self.look_up(move |store| match store.live(&id)? {
            Some(live) => store.summary(live.run),
            None => Ok(None),
        });
        match stored.await? {
            None => Ok(None),
            Some(summary) if reuse.allows(summary.status) => Ok(None),
            Some(summary) if !summary.status.is_closed() && reuse == Reuse::TerminateIfRunning => {
                match self.open(summary.run).await {
                    Ok(Some(run)) => self.terminate(run).map(Some),
                    Ok(None) => Ok(None),
                    Err(error) if error.kind() == ErrorKind::Quarantined => {
                        self.write_off_under_guard(summary.run, Some(SUCCEEDED.to_owned())).await?;
                        Ok(None)
                    }
                    Err(error) => Err(error),
                }
            }
            Some(summary) => Err(existing(flow_id, summary.run, summary.status)),
        }
    }

    /// Ends a run for its successor. Its end is written before the successor's start, by the queue's order.
    fn terminate(&self, run: Arc<Resident>) -> Result<Arc<Resident>> {
        let reason = Some(SUCCEEDED.to_owned());
        let command = Command::Stop { stop: Stop::Terminate, reason, plan: CancelPlan::default() };
        match self.writer.submit(&run, command, Submit::URGENT) {
            Ok(_) | Err(Refused::Rejected(Rejection::Closed { .. })) => Ok(run),
            Err(refused) => Err(refused.into_error(run.identity())),
        }
    }
}

/// Why a run was terminated for its successor.
const SUCCEEDED: &str = "another run was started under its id";

fn existing(flow_id: &FlowId, run: RunId, status: Status) -> Error {
    let message = format!(
        "`{flow_id}` was already started as run {run} ({status}): use another id, or find it with `client.run(..)`"
    );
    Error::with_run(ErrorKind::AlreadyStarted, message, run, status)
}
