//! What a run is to begin with, before it is checked against its flow and after.

use std::sync::Arc;
use std::time::Duration;

use super::begin::Reuse;
use super::request::Request;
use super::untyped::UntypedRun;
use crate::definition::{Given, Registered};
use crate::dex::Core;
use crate::engine::{Parent, Staged, StepPatch, TimeoutAction};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{FlowId, Name};
use crate::shard::Shard;
use crate::value::Payload;

/// What happens when a run's own time is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeoutPolicy {
    /// The run fails at once.
    Fail,
    /// The run is cancelled, as [`RunHandle::cancel`](crate::RunHandle::cancel) does it.
    Cancel,
    /// The flow's `on_timeout` step starts, beside whatever else the run does.
    Step,
}

/// What a run is to begin with, as the caller says it.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    pub(super) flow_id: FlowId,
    pub(super) input: Payload,
    /// Attributes and messages that are there from the first commit on.
    pub(super) staged: Staged,
    pub(super) reuse: Reuse,
    /// How long it may take; `None` for what its flow says.
    pub(super) timeout: Option<Duration>,
    /// What happens then; `None` for what its flow says.
    pub(super) on_timeout: Option<TimeoutPolicy>,
    /// What is different about the start step's options.
    pub(super) options: Given,
    /// Set if the start is a request.
    pub(super) request_id: Option<String>,
    /// What is called in the commit that creates the run.
    pub(super) call: Option<Called>,
}

/// An RPC that is called with a start.
#[derive(Clone, Debug)]
pub(super) struct Called {
    /// Its stored name.
    pub(super) rpc: String,
    pub(super) input: Payload,
}

/// A beginning, checked against the run's flow.
#[derive(Clone, Debug)]
pub(super) struct Checked {
    pub(super) flow_id: FlowId,
    pub(super) input: Payload,
    pub(super) staged: Staged,
    pub(super) reuse: Reuse,
    pub(super) timeout: Option<(Duration, TimeoutAction)>,
    pub(super) patch: Option<Arc<StepPatch>>,
    pub(super) request: Option<Request>,
    /// The run that wants it, if it is a child.
    pub(super) parent: Option<Parent>,
    pub(super) call: Option<Called>,
}

impl Beginning {
    pub(super) fn new(flow_id: &str, input: Payload) -> Result<Self> {
        Ok(Self {
            flow_id: FlowId::new(flow_id)?,
            input,
            staged: Staged::default(),
            reuse: Reuse::default(),
            timeout: None,
            on_timeout: None,
            options: Given::NOTHING,
            request_id: None,
            call: None,
        })
    }

    /// Starts the run, and gives what the RPC answered that it calls.
    pub(super) async fn begin(
        self,
        core: Arc<Core>,
        flow: &Arc<Registered>,
    ) -> Result<(UntypedRun, Payload)> {
        let checked = self.check(flow, core.options().cancel_grace)?;
        let start = |shard: Arc<Shard>| {
            let checked = checked.clone();
            async move { shard.start_run(flow, checked).await }
        };
        let (run_id, answer) = core.with_shard(start).await?;
        Ok((UntypedRun::new(core, checked.flow_id, run_id), answer))
    }

    pub(super) fn check(self, flow: &Registered, grace: Duration) -> Result<Checked> {
        let patch = self.patch(flow)?;
        let request = self.request(flow, patch.as_deref())?;
        let Self { flow_id, input, staged, reuse, timeout, on_timeout, options: _, request_id: _, call } =
            self;
        let timeout = match timeout.or(flow.flow.definition().timeout) {
            Some(limit) => Some((whole(limit)?, action(flow, on_timeout, grace)?)),
            None if on_timeout.is_some() => return Err(endless(&flow_id)),
            None => None,
        };
        Ok(Checked { flow_id, input, staged, reuse, timeout, patch, request, parent: None, call })
    }

    /// What is different about the start step's options.
    fn patch(&self, flow: &Registered) -> Result<Option<Arc<StepPatch>>> {
        let wrong = |wrong: &dyn std::fmt::Display| {
            let message = format!("the options given for the start of flow `{}`: {wrong}", flow.name);
            Error::new(ErrorKind::InvalidValue, message)
        };
        match flow.start() {
            Some(start) => self.options.patch(start.definition).map_err(|error| wrong(&error)),
            None if self.options == Given::NOTHING => Ok(None),
            None => Err(wrong(&"it begins with no step, so there is nothing that they are for")),
        }
    }

    /// The request that the start is, with all that a repetition must have in common with it.
    fn request(&self, flow: &Registered, patch: Option<&StepPatch>) -> Result<Option<Request>> {
        let Some(id) = &self.request_id else { return Ok(None) };
        let Self { input, staged, reuse, timeout, on_timeout, .. } = self;
        let options = format!("{} {reuse:?} {timeout:?} {on_timeout:?}", flow.name);
        let mut content = vec![options.into_bytes(), input.as_bytes().to_vec()];
        content.extend(patch.map(|patch| format!("options {patch}").into_bytes()));
        for (slot, value) in &staged.attributes {
            content.push(format!("attribute {slot}").into_bytes());
            content.extend(value.as_ref().map(|value| value.as_bytes().to_vec()));
        }
        for (slot, value) in &staged.messages {
            content.extend([format!("message {slot}").into_bytes(), value.as_bytes().to_vec()]);
        }
        if let Some(Called { rpc, input }) = &self.call {
            content.extend([format!("call {rpc}").into_bytes(), input.as_bytes().to_vec()]);
        }
        let content: Vec<&[u8]> = content.iter().map(Vec::as_slice).collect();
        Ok(Some(Request::new(Name::new(id)?, "start", &content)))
    }
}

/// A timeout that is one.
fn whole(limit: Duration) -> Result<Duration> {
    if limit < Duration::from_millis(1) {
        let message = format!("a run cannot end within {limit:?}: give it a millisecond at least");
        return Err(Error::new(ErrorKind::InvalidValue, message));
    }
    Ok(limit)
}

/// The error of a run that is told what to do at the end of a time that it does not have.
fn endless(flow_id: &FlowId) -> Error {
    let message = format!(
        "run `{flow_id}` is told what to do when its time is up, and has none: add `.timeout(…)`; nothing was started"
    );
    Error::new(ErrorKind::InvalidSetup, message)
}

/// What happens at the end of a run's time.
fn action(flow: &Registered, policy: Option<TimeoutPolicy>, grace: Duration) -> Result<TimeoutAction> {
    let step = flow.flow.definition().on_timeout.and_then(|step| flow.target(step));
    Ok(match (policy, step) {
        (Some(TimeoutPolicy::Fail), _) | (None, None) => TimeoutAction::Fail,
        (Some(TimeoutPolicy::Cancel), _) => TimeoutAction::Cancel(flow.cancel_plan(grace)),
        (Some(TimeoutPolicy::Step) | None, Some(step)) => TimeoutAction::Step(step),
        (Some(TimeoutPolicy::Step), None) => {
            let message = format!(
                "flow `{}` has no step for the end of its time: mark one with `#[on_timeout]`",
                flow.name
            );
            return Err(Error::new(ErrorKind::InvalidSetup, message));
        }
    })
}
