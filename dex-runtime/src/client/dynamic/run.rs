//! A run by names and JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

use super::checked;
use super::handle::{self, DynHandle};
use crate::client::call::{argument, decode_answer};
use crate::client::history::History;
use crate::client::result::Ended;
use crate::client::untyped::UntypedRun;
use crate::client::waiting::Waiting;
use crate::client::{StreamItem, StreamReader};
use crate::definition::{FlowDefinition, MemberKind, Registered, StreamDefinition, StreamKey};
use crate::engine::{Closing, MapKind, RunState, Status, Stop};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{FlowId, Name, RunId};
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

/// The stored name of an RPC, and its encoded argument.
pub(super) fn rpc_argument(
    flow: &'static FlowDefinition,
    rpc: &str,
    input: &Json,
) -> Result<(&'static str, Payload)> {
    let (place, rpc) = flow.member(MemberKind::Rpc, rpc)?;
    let takes_nothing = flow.rpcs.get(place).is_some_and(|rpc| rpc.input == "()");
    if takes_nothing && !input.is_null() {
        let message = format!("RPC `{rpc}` takes no argument: give it `null`, not {input}");
        return Err(Error::new(ErrorKind::InvalidValue, message));
    }
    Ok((rpc, argument(rpc, input)?))
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
        let (rpc, input) = rpc_argument(self.definition(), rpc, &input)?;
        let answer = self.run.call(&self.flow, rpc, input).await?;
        Ok(decode_answer(rpc, &answer)?)
    }

    /// Puts a message at the end of a channel of the run. Once it returns the message is on disk.
    ///
    /// # Errors
    ///
    /// As [`RunHandle::publish`](crate::RunHandle::publish).
    pub async fn publish<'a>(&self, channel: impl Into<DynHandle<'a>>, message: Json) -> Result<()> {
        let (slot, message) = channel.into().with(&self.flow, MemberKind::Channel, &message)?;
        self.run.publish(slot, message).await
    }

    /// The messages of a channel that no wait has taken yet, oldest first. They stay where they are.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownName`]: the flow has no such channel.
    pub async fn messages<'a>(&self, channel: impl Into<DynHandle<'a>>) -> Result<Vec<Json>> {
        let messages = self.numbered_messages(channel).await?;
        Ok(messages.into_iter().map(|(_, message)| message).collect())
    }

    /// As [`messages`](Self::messages), each with its number: what [`delete_message`](Self::delete_message)
    /// takes.
    ///
    /// # Errors
    ///
    /// As [`messages`](Self::messages).
    pub async fn numbered_messages<'a>(&self, channel: impl Into<DynHandle<'a>>) -> Result<Vec<(u64, Json)>> {
        let slot = channel.into().slot(&self.flow, MemberKind::Channel)?;
        let messages = self.run.messages(&slot).await?.into_iter();
        messages.map(|(number, message)| Ok((number, message.decode()?))).collect()
    }

    /// Takes a message out of a channel, so that no wait gets it.
    ///
    /// # Errors
    ///
    /// As [`RunHandle::delete_message`](crate::RunHandle::delete_message).
    pub async fn delete_message<'a>(&self, channel: impl Into<DynHandle<'a>>, number: u64) -> Result<()> {
        let slot = channel.into().slot(&self.flow, MemberKind::Channel)?;
        self.run.delete_message(slot, number).await
    }

    /// The keys of an attribute map that have a value, in the order of their texts.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownName`]: the flow has no such attribute map.
    pub async fn keys(&self, attribute: &str) -> Result<Vec<String>> {
        self.list_keys(MapKind::Attribute, attribute).await
    }

    /// The keys of a channel map that have messages which no wait has taken yet, in the order of their texts.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownName`]: the flow has no such channel map.
    pub async fn channel_keys(&self, channel: &str) -> Result<Vec<String>> {
        self.list_keys(MapKind::Channel, channel).await
    }

    async fn list_keys(&self, kind: MapKind, map: &str) -> Result<Vec<String>> {
        let map = handle::map(&self.flow, kind, map)?;
        Ok(self.run.keys(&map, kind).await?.iter().map(ToString::to_string).collect())
    }

    /// The attribute's value, if it is set; also of a run that has ended.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownName`]: the flow has no such attribute.
    pub async fn get<'a>(&self, attribute: impl Into<DynHandle<'a>>) -> Result<Option<Json>> {
        let slot = attribute.into().slot(&self.flow, MemberKind::Attribute)?;
        let stored = self.run.attribute(&slot).await?;
        Ok(stored.map(|(value, _)| value.decode()).transpose()?)
    }

    /// All attributes that are set, by name; entries of maps as `NAME[key]`.
    ///
    /// # Errors
    ///
    /// Those of [every call](crate::RunHandle#errors).
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
    pub async fn set<'a>(&self, attribute: impl Into<DynHandle<'a>>, value: Json) -> Result<()> {
        let (slot, value) = attribute.into().with(&self.flow, MemberKind::Attribute, &value)?;
        self.run.write_attribute(slot, Some(value)).await
    }

    /// Unsets the attribute.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Closed`]: the run has ended; nothing was written.
    pub async fn delete<'a>(&self, attribute: impl Into<DynHandle<'a>>) -> Result<()> {
        let slot = attribute.into().slot(&self.flow, MemberKind::Attribute)?;
        self.run.write_attribute(slot, None).await
    }

    /// Waits for the run to complete and gives its output.
    ///
    /// # Errors
    ///
    /// As [`RunHandle::output`](crate::RunHandle::output).
    pub fn output(&self) -> Waiting<Json> {
        let run = self.run.clone();
        Waiting::new(&self.run, "the output", |looked| async move { Ended(run.end(&looked).await?).output() })
    }

    /// Waits for the run to end, in whatever way.
    ///
    /// # Errors
    ///
    /// As [`RunHandle::result`](crate::RunHandle::result).
    pub fn result(&self) -> Waiting<DynResult> {
        let run = self.run.clone();
        Waiting::new(
            &self.run,
            "the end",
            |looked| async move { Ok(DynResult(Ended(run.end(&looked).await?))) },
        )
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

    /// Reads what has happened to the run, as [`RunHandle::history`](crate::RunHandle::history) does.
    pub fn history(&self) -> History {
        History::new(self.run.clone())
    }

    /// What the run is and does at this moment.
    ///
    /// # Errors
    ///
    /// Those of [every call](crate::RunHandle#errors).
    pub async fn describe(&self) -> Result<RunInfo> {
        self.run.describe().await
    }

    /// Reads a stream of the run, from its oldest item on or from behind an offset.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownName`]: the flow has no such stream.
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
