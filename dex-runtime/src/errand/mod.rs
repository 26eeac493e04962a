//! What runs want of other runs: children that are to be started or stopped, parents that are to be told.
//!
//! Which errands there are is derived from a run's state, and each is noted in the run when it is done. The
//! commit with what was done is in the queue before the commit that notes it, so after a crash an errand is
//! done again or was done, and doing it again changes nothing. This part knows how runs find one another; the
//! rules are the engine's.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::client::ChildBegun;
use crate::definition::{child_does_not_fit, child_not_started, child_result};
use crate::dispatch::Errands;
use crate::engine::{CancelPlan, ChildNo, ChildStart, Command, Errand, Parent, Rejection, RunEnd, Stop};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{FlowId, Name, RunId};
use crate::registry::{Refused, Resident, Submit};
use crate::shard::{Found, Shard};
use crate::time::first_of;

/// Errands of one run that are noted as done with one commit.
const BATCH: usize = 256;

/// Pause before errands are tried again that the store could not help with.
const AGAIN: Duration = Duration::from_secs(1);

/// What a child hears that is stopped for its parent's end.
const PARENT_ENDED: &str = "its parent has ended";

/// Carries errands out until none are left.
pub(crate) async fn slot(shard: Arc<Shard>) {
    while let Some(errands) = shard.errands.next() {
        let mut next = Some(errands);
        while let Some(Errands { run, _busy }) = next {
            shard.run_all_errands(&run).await;
            next = shard.errands.done(run.identity().run_id);
        }
        tokio::task::coop::consume_budget().await;
    }
}

/// What was done and is to be noted.
#[derive(Debug, Default)]
struct Done {
    started: BTreeMap<ChildNo, RunId>,
    stopped: BTreeSet<ChildNo>,
    not_started: Vec<(ChildNo, FlowId, String)>,
    told: bool,
}

impl Shard {
    /// Carries out all errands of a run that can be.
    async fn run_all_errands(self: &Arc<Self>, run: &Arc<Resident>) {
        while let Err(error) = self.run_errands(run).await {
            if self.check().is_err() {
                return;
            }
            let run = run.identity().run_id;
            if error.kind() != ErrorKind::Unavailable {
                // Asking again does not mend it; the run stays marked, and the next opening looks at it.
                tracing::error!(%run, %error, "a run's errands are left undone");
                return;
            }
            tracing::warn!(%run, %error, "a run's errands are tried again");
            let pause = self.clock.sleep_until(self.clock.now().saturating_add(AGAIN));
            first_of(pause, async { drop(self.ended().await) }).await;
        }
    }

    async fn run_errands(self: &Arc<Self>, run: &Arc<Resident>) -> Result<()> {
        loop {
            self.check()?;
            // A build that has the flow goes on from here, as with a step that this build does not have.
            let known = |flow: &Name| self.flows.get(flow).is_some();
            let Ok(((errands, any), _)) =
                run.read(|state| (state.errands(BATCH, known), state.has_errands()))
            else {
                return Ok(());
            };
            if errands.is_empty() {
                if any {
                    let run = run.identity().run_id;
                    tracing::warn!(%run, "children are not started since their flow is not registered");
                }
                return Ok(());
            }
            let mut done = Done::default();
            let mut all_done = Ok(());
            for errand in errands {
                all_done = self.run_errand(run, errand, &mut done).await;
                if all_done.is_err() {
                    break;
                }
            }
            self.note(run, done)?;
            all_done?;
        }
    }

    async fn run_errand(
        self: &Arc<Self>,
        run: &Arc<Resident>,
        errand: Errand,
        done: &mut Done,
    ) -> Result<()> {
        match errand {
            Errand::Start { child, flow, flow_id, start } => {
                match self.start_for(run, child, &flow, flow_id.clone(), *start).await? {
                    ChildBegun::Run(run) => {
                        done.started.insert(child, run);
                    }
                    ChildBegun::Never(why) => done.not_started.push((child, flow_id, why)),
                }
            }
            Errand::Stop { child, flow_id, terminate } => {
                let parent = parent(run, child);
                self.stop_child(&flow_id, &parent, terminate).await?;
                done.stopped.insert(child);
            }
            Errand::Tell { parent, end } => {
                self.tell(&parent, &end).await?;
                done.told = true;
            }
        }
        Ok(())
    }

    async fn start_for(
        self: &Arc<Self>,
        run: &Arc<Resident>,
        child: ChildNo,
        flow: &Name,
        flow_id: FlowId,
        start: ChildStart,
    ) -> Result<ChildBegun> {
        let Some(flow) = self.flows.get(flow) else {
            return Err(Error::new(ErrorKind::UnknownFlow, format!("flow `{flow}` is not registered")));
        };
        self.start_child(flow, flow_id, start, parent(run, child)).await
    }

    /// Stops the run called `flow_id`, if it is this child and still goes on.
    async fn stop_child(self: &Arc<Self>, flow_id: &FlowId, parent: &Parent, terminate: bool) -> Result<()> {
        let Some(live) = self.live(flow_id).await? else { return Ok(()) };
        let grace = self.options.cancel_grace;
        let plan = self.flows.get(&live.flow).map(|flow| flow.cancel_plan(grace));
        let stop = if terminate { Stop::Terminate } else { Stop::Cancel };
        let command = Command::Stop {
            stop,
            reason: Some(PARENT_ENDED.to_owned()),
            plan: plan.unwrap_or(CancelPlan { grace, cleanup: None }),
        };
        let is_child = |run: &Resident| run.identity().parent.as_ref() == Some(parent);
        match self.order(flow_id, live.run, &command, is_child).await {
            // A run that was set aside can be ended all the same, and cannot be cancelled.
            Err(error) if error.kind() == ErrorKind::Quarantined => {
                if terminate {
                    self.write_off(flow_id, live.run, Some(PARENT_ENDED.to_owned())).await?;
                }
                Ok(())
            }
            done => done.map(drop),
        }
    }

    /// Tells the parent how a child ended.
    async fn tell(self: &Arc<Self>, parent: &Parent, end: &RunEnd) -> Result<()> {
        let command = |result| Command::EndChild { child: parent.child, result };
        let whole = command(child_result(end));
        let refused = self.order(&parent.flow_id, parent.run_id, &whole, |_| true).await?;
        if let Some(full @ Rejection::StateFull { .. }) = refused {
            let short = command(child_does_not_fit(&end.identity.flow_id, &full));
            self.order(&parent.flow_id, parent.run_id, &short, |_| true).await?;
        }
        Ok(())
    }

    /// Submits `command` to another run, if it goes on and is the `right` one. Gives why it refused: mostly it is
    /// not wanted then.
    async fn order(
        self: &Arc<Self>,
        flow_id: &FlowId,
        run: RunId,
        command: &Command,
        right: impl Fn(&Resident) -> bool,
    ) -> Result<Option<Rejection>> {
        loop {
            let Some(Found::Open(other)) = self.run(flow_id, run).await? else { return Ok(None) };
            if !right(&other) {
                return Ok(None);
            }
            match self.writer.submit(&other, command.clone(), Submit::URGENT) {
                Ok(_) => return Ok(None),
                Err(Refused::Rejected(rejection)) => return Ok(Some(rejection)),
                Err(Refused::Passivated) => self.check()?,
                Err(refused) => return Err(refused.into_error(other.identity())),
            }
        }
    }

    /// Notes in the run what was done for it.
    fn note(&self, run: &Arc<Resident>, done: Done) -> Result<()> {
        let Done { started, stopped, not_started, told } = done;
        let mut commands = Vec::new();
        for (child, flow_id, why) in not_started {
            let command = Command::EndChild { child, result: child_not_started(&flow_id, why) };
            match self.writer.submit(run, command, Submit::URGENT) {
                Err(Refused::Rejected(full @ Rejection::StateFull { .. })) => {
                    let result = child_does_not_fit(&flow_id, &full);
                    commands.push(Command::EndChild { child, result });
                }
                Ok(_) | Err(Refused::Rejected(_)) => {}
                Err(refused) => return Err(refused.into_error(run.identity())),
            }
        }
        commands.extend((!started.is_empty()).then_some(Command::NoteStarted(started)));
        commands.extend((!stopped.is_empty()).then_some(Command::NoteStopped(stopped)));
        commands.extend(told.then_some(Command::NoteTold));
        for command in commands {
            match self.writer.submit(run, command, Submit::URGENT) {
                // Meanwhile the run may have ended.
                Ok(_) | Err(Refused::Rejected(_)) => {}
                Err(refused) => return Err(refused.into_error(run.identity())),
            }
        }
        Ok(())
    }
}

/// What the child `child` of `run` knows of it.
fn parent(run: &Resident, child: ChildNo) -> Parent {
    let identity = run.identity();
    Parent { run_id: identity.run_id, flow_id: identity.flow_id.clone(), child }
}
