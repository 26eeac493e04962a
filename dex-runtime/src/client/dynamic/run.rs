//! A run by names and JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

use super::checked;
use crate::client::result::Ended;
use crate::client::untyped::UntypedRun;
use crate::client::waiting::Waiting;
use crate::client::{StreamItem, StreamReader};
use crate::definition::{FlowDefinition, MemberKind, Registered, StreamDefinition, StreamKey};
use crate::engine::{Closing, RunState, Status, Stop};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{FlowId, Name, RunId, Slot};
use crate::inspect::RunInfo;
use crate::value::{Payload, ValueError};

/// A run of a flow that the caller knows by name. Cheap to clone, and good for as long as the run is kept.
///
/// Every method that takes a name fails with [`ErrorKind::UnknownName`] if the flow has no such member; the
/// error lists those that it has. Every method that takes a value fails with [`ErrorKind::InvalidValue`] if
/// the value does not fit; the error says where. Nothing is changed then.
#[derive(Clone)]
pub struct DynRun {
    pub(super) run: UntypedRun,
    pub(super) flow: Arc<Registered>,
}

impl DynRun {
    pub(super) fn new(run: UntypedRun, flow: Arc<Registered>) -> Self {
        Self { run, flow }
    }

    /// What the caller called the run.
    pub fn flow_id(&self) -> &FlowId {
        &self.run.flow_id
    }

    /// What the engine called it.
    pub fn run_id(&self) -> RunId {
        self.run.run_id
    }

    /// The definition of its flow.
    pub fn definition(&self) -> &'static FlowDefinition {
        self.flow.flow.definition()
    }

    /// Calls an RPC and gives its answer. An RPC without an argument takes `null`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::RpcFailed`]: the handler refused or failed; nothing was changed.
    pub async fn call(&self, rpc: &str, input: Json) -> Result<Json> {
        let (place, rpc) = self.definition().member(MemberKind::Rpc, rpc)?;
        let takes_nothing = self.definition().rpcs.get(place).is_some_and(|rpc| rpc.input == "()");
        if takes_nothing && !input.is_null() {
            let message = format!("RPC `{rpc}` takes no argument: give it `null`, not {input}");
            return Err(Error::new(ErrorKind::InvalidValue, message));
        }
        let answer = self.run.call(&self.flow, rpc, Payload::encode(&input)?).await?;
        Ok(answer.decode()?)
    }

    /// Puts a message at the end of a channel of the run. Once it returns the message is on disk.
    ///
    /// # Errors
    ///
    /// As [`RunHandle::publish`](crate::RunHandle::publish).
    pub async fn publish(&self, channel: &str, message: Json) -> Result<()> {
        let (slot, message) = checked_member(&self.flow, MemberKind::Channel, channel, &message)?;
        self.run.publish(slot, message).await
    }

    /// The messages of a channel that no wait has taken yet, oldest first. They stay where they are.
    pub async fn messages(&self, channel: &str) -> Result<Vec<Json>> {
        let messages = self.run.messages(&self.slot(MemberKind::Channel, channel)?).await?;
        Ok(messages.iter().map(Payload::decode).collect::<Result<_, _>>()?)
    }

    /// The attribute's value, if it is set; also of a run that has ended.
    pub async fn get(&self, attribute: &str) -> Result<Option<Json>> {
        let stored = self.run.attribute(&self.slot(MemberKind::Attribute, attribute)?).await?;
        Ok(stored.map(|(value, _)| value.decode()).transpose()?)
    }

    /// All attributes that are set, by name.
    pub async fn attributes(&self) -> Result<BTreeMap<String, Json>> {
        let look = |state: &RunState| {
            let set = state.attributes.iter();
            set.map(|(slot, attribute)| (slot.to_string(), attribute.value.clone())).collect::<Vec<_>>()
        };
        let stored = self.run.read(look).await?.into_iter();
        Ok(stored.map(|(name, value)| Ok((name, value.decode()?))).collect::<Result<_, ValueError>>()?)
    }

    /// Sets the attribute, whatever it was. Once it returns the value is on disk.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Closed`]: the run has ended; nothing was written.
    pub async fn set(&self, attribute: &str, value: Json) -> Result<()> {
        let (slot, value) = checked_member(&self.flow, MemberKind::Attribute, attribute, &value)?;
        self.run.write_attribute(slot, Some(value)).await
    }

    /// Unsets the attribute.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Closed`]: the run has ended; nothing was written.
    pub async fn delete(&self, attribute: &str) -> Result<()> {
        self.run.write_attribute(self.slot(MemberKind::Attribute, attribute)?, None).await
    }

    /// Waits for the run to complete and gives its output.
    ///
    /// # Errors
    ///
    /// As [`RunHandle::output`](crate::RunHandle::output).
    pub fn output(&self) -> Waiting<Json> {
        let run = self.run.clone();
        Waiting::new(&self.run, "the output", async move { Ended(run.end().await?).output() })
    }

    /// Waits for the run to end, in whatever way.
    pub fn result(&self) -> Waiting<DynResult> {
        let run = self.run.clone();
        Waiting::new(&self.run, "the end", async move { Ok(DynResult(Ended(run.end().await?))) })
    }

    /// Ends the run as no longer wanted: with time for its handlers, and its flow's clean-up.
    ///
    /// # Errors
    ///
    /// As [`RunHandle::cancel`](crate::RunHandle::cancel).
    pub async fn cancel(&self) -> Result<()> {
        self.run.stop(&self.flow, Stop::Cancel, None).await
    }

    /// Ends the run at once, whatever it does: nothing cleans up.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Closed`] if it has ended already.
    pub async fn terminate(&self) -> Result<()> {
        self.run.stop(&self.flow, Stop::Terminate, None).await
    }

    /// Ends the run in the way that `stop` says, with a reason that its result keeps.
    ///
    /// # Errors
    ///
    /// As [`RunHandle::stop`](crate::RunHandle::stop).
    pub async fn stop(&self, stop: Stop, reason: impl Into<String>) -> Result<()> {
        self.run.stop(&self.flow, stop, Some(reason.into())).await
    }

    /// Lets no attempt start until the run is [resumed](Self::resume).
    ///
    /// # Errors
    ///
    /// As [`RunHandle::pause`](crate::RunHandle::pause).
    pub async fn pause(&self) -> Result<()> {
        self.run.pause().await
    }

    /// Lets a [paused](Self::pause) run go on. A run that is not paused stays as it is.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Closed`] if it has ended.
    pub async fn resume(&self) -> Result<()> {
        self.run.resume().await
    }

    /// A handle whose changes are all one request, called `id`, as
    /// [`RunHandle::request_id`](crate::RunHandle::request_id) makes one.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidId`] if `id` cannot be one.
    pub fn request_id(&self, id: impl AsRef<str>) -> Result<Self> {
        let run = self.run.clone().with_request(Name::new(id)?);
        Ok(Self { run, flow: Arc::clone(&self.flow) })
    }

    /// What the run is and does at this moment.
    pub async fn describe(&self) -> Result<RunInfo> {
        self.run.describe().await
    }

    /// Reads a stream of the run, from its oldest item on or from behind an offset.
    pub fn read(&self, stream: &str) -> Result<StreamReader<Json>> {
        Ok(StreamReader::new(self.run.clone(), self.stream(stream)?.1))
    }

    /// The newest items of a stream, newest first.
    ///
    /// # Errors
    ///
    /// As [`RunHandle::newest`](crate::RunHandle::newest).
    pub async fn newest(
        &self,
        stream: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StreamItem<Json>>> {
        self.run.newest_items(self.stream(stream)?.1, before, limit).await
    }

    /// Puts an item at the end of a stream of the run, and gives its offset. Once it returns the item is on disk.
    ///
    /// # Errors
    ///
    /// As [`RunHandle::append`](crate::RunHandle::append).
    pub async fn append(&self, stream: &str, item: Json) -> Result<u64> {
        let (place, key) = self.stream(stream)?;
        let what = format!("the item for stream `{}`", key.name);
        let item = checked(&item, &what, |item| self.flow.flow.fits_member(MemberKind::Stream, place, item))?;
        self.run.append(key, item).await
    }

    fn stream(&self, name: &str) -> Result<(usize, StreamKey)> {
        let found = self.definition().stream(name);
        let (place, stream) = found.ok_or_else(|| self.definition().unknown(MemberKind::Stream, name))?;
        let StreamDefinition { name, aliases, capacity, .. } = *stream;
        Ok((place, StreamKey { name, aliases, capacity }))
    }

    fn slot(&self, kind: MemberKind, name: &str) -> Result<Slot> {
        let (_, name) = self.definition().member(kind, name)?;
        Ok(Slot::single(Name::new(name)?))
    }
}

/// The slot of a member and a value for it, if the flow has the one and the other fits.
pub(super) fn checked_member(
    flow: &Registered,
    kind: MemberKind,
    name: &str,
    value: &Json,
) -> Result<(Slot, Payload)> {
    let (place, name) = flow.flow.definition().member(kind, name)?;
    let what = match kind {
        MemberKind::Channel => format!("the message for channel `{name}`"),
        MemberKind::Stream => format!("the item for stream `{name}`"),
        MemberKind::Attribute | MemberKind::Rpc | MemberKind::Step => format!("the value of {kind} `{name}`"),
    };
    let value = checked(value, &what, |value| flow.flow.fits_member(kind, place, value))?;
    Ok((Slot::single(Name::new(name)?), value))
}

impl fmt::Debug for DynRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynRun")
            .field("flow", &self.flow.name)
            .field("flow_id", &self.run.flow_id)
            .field("run_id", &self.run.run_id)
            .finish()
    }
}

/// How a run ended, with its outputs as JSON.
#[derive(Clone, Debug)]
pub struct DynResult(Ended);

impl DynResult {
    /// How it ended.
    pub fn status(&self) -> Status {
        self.0.closing().status()
    }

    /// How it ended, in detail.
    pub fn closing(&self) -> &Closing {
        self.0.closing()
    }

    /// Messages that no step had consumed when it ended.
    pub fn unconsumed_messages(&self) -> u64 {
        self.0.unconsumed()
    }

    /// What the completing branches gave, in order, each with its step execution.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidValue`] if a stored output is no JSON.
    pub fn outputs(&self) -> Result<Vec<(String, Json)>> {
        self.0.outputs()
    }

    /// The one output of a completed run.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::RunFailed`]: the run did not complete.
    /// - [`ErrorKind::InvalidValue`]: it has several outputs.
    pub fn output(&self) -> Result<Json> {
        self.0.output()
    }
}
