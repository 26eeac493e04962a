//! The static description of a flow: what the macros know, as plain data.
//!
//! Its parts are made by generated code and serialised for tools. Names are the stored ones, types are told
//! as they are written in the source, and lists keep the order in which members are written. It knows nothing
//! of runs, and nothing of how it is drawn.

mod fingerprint;
mod serialize;

use std::time::Duration;

use serde::Serialize;

use crate::engine::{Durability, OnExhausted, RetryPolicy};

/// A flow: its names, its options and its step graph.
///
/// It is serialised field by field. Durations are whole milliseconds under names that end in `_ms`; a limit
/// that is not set is `null`; kinds are in small letters.
#[derive(Debug, Serialize)]
pub struct FlowDefinition {
    /// The stored name.
    pub name: &'static str,
    /// What the flow's `impl` block says about it.
    pub docs: &'static str,
    /// The Rust type of the output, as written.
    pub output: &'static str,
    /// How long a run may take, where its start does not say. `None`: as long as it takes.
    #[serde(rename = "timeout_ms", serialize_with = "serialize::milliseconds")]
    pub timeout: Option<Duration>,
    /// The stored name of the step that starts when a run's time is up.
    pub on_timeout: Option<&'static str>,
    /// The stored name of the step that cleans up when a run is cancelled.
    pub on_cancel: Option<&'static str>,
    /// Whether no run is meant to complete.
    pub endless: bool,
    /// The steps, in the order written.
    pub steps: &'static [StepDefinition],
    /// The attributes, in the order written.
    pub attributes: &'static [AttributeDefinition],
    /// The channels, in the order written.
    pub channels: &'static [ChannelDefinition],
    /// The streams, in the order written.
    pub streams: &'static [StreamDefinition],
    /// The RPCs, in the order written.
    pub rpcs: &'static [RpcDefinition],
}

impl FlowDefinition {
    /// A flow with nothing in it, to take the fields from that are not written.
    pub const DEFAULT: Self = Self {
        name: "",
        docs: "",
        output: "()",
        timeout: None,
        on_timeout: None,
        on_cancel: None,
        endless: false,
        steps: &[],
        attributes: &[],
        channels: &[],
        streams: &[],
        rpcs: &[],
    };
}

/// A step.
#[derive(Debug, Serialize)]
pub struct StepDefinition {
    /// The stored name.
    pub name: &'static str,
    /// Stored names that it had before, under which stored runs may still know it.
    pub aliases: &'static [&'static str],
    /// What its doc comment says.
    pub docs: &'static str,
    /// The Rust type of the input, as written.
    pub input: &'static str,
    /// Whether runs start here.
    pub start: bool,
    /// Whether it is entered in ways that no edge shows, such as a helper outside of the flow's block.
    pub entry: bool,
    /// Whether it is a plain `fn`, which runs on the blocking pool.
    pub blocking: bool,
    /// Its `wait_for`, if it has one.
    pub wait: Option<WaitDefinition>,
    /// How attempts are spaced, for the step and for its `wait_for`.
    #[serde(serialize_with = "serialize::retry")]
    pub retry: RetryPolicy,
    /// Longest attempt. `None`: as long as it takes.
    #[serde(rename = "timeout_ms", serialize_with = "serialize::milliseconds")]
    pub timeout: Option<Duration>,
    /// Longest time between two signs of life of an attempt of the step itself. `None`: it need not give any.
    #[serde(rename = "heartbeat_ms", serialize_with = "serialize::milliseconds")]
    pub heartbeat: Option<Duration>,
    /// The stored name of the step that takes over when the retries are used up.
    pub on_failure: Option<&'static str>,
    /// What happens when the retries are used up and no step takes over.
    pub on_exhausted: OnExhausted,
    /// Stored names of the attributes that the step has for itself while it runs.
    pub locks: &'static [&'static str],
    /// When what follows from the step may happen.
    pub durability: Durability,
    /// Where it can lead, as far as its body names step handles.
    pub edges: &'static [Edge],
}

impl StepDefinition {
    /// A step with all options at their defaults, to take the fields from that are not written.
    pub const DEFAULT: Self = Self {
        name: "",
        aliases: &[],
        docs: "",
        input: "()",
        start: false,
        entry: false,
        blocking: false,
        wait: None,
        retry: RetryPolicy::DEFAULT,
        timeout: None,
        heartbeat: None,
        on_failure: None,
        on_exhausted: OnExhausted::Fail,
        locks: &[],
        durability: Durability::Sync,
        edges: &[],
    };
}

/// The `wait_for` of a step.
#[derive(Debug, Serialize)]
pub struct WaitDefinition {
    /// The method's name.
    pub method: &'static str,
    /// What its doc comment says.
    pub docs: &'static str,
    /// The Rust type that the step is given, as written.
    pub outcome: &'static str,
    /// The Rust types of the flows whose runs it waits for, as written, as far as its body or its outcome name them.
    pub sub_flows: &'static [&'static str],
}

/// A place to which a step or an RPC can lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Edge {
    /// The stored name of the step.
    pub to: &'static str,
    /// How it leads there.
    pub kind: EdgeKind,
}

/// How a step leads to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum EdgeKind {
    /// The body names the step's handle.
    Next,
    /// The step takes over when retries are used up.
    Failure,
}

/// An attribute.
#[derive(Debug, Serialize)]
pub struct AttributeDefinition {
    /// The stored name.
    pub name: &'static str,
    /// Stored names that it had before, under which stored runs may still know it.
    pub aliases: &'static [&'static str],
    /// What its doc comment says.
    pub docs: &'static str,
    /// The Rust type of the keys, as written, if it is a map.
    pub key: Option<&'static str>,
    /// The Rust type of the value, as written.
    pub value: &'static str,
    /// Whether runs can be searched by it.
    pub indexed: bool,
}

impl AttributeDefinition {
    /// An attribute with all options at their defaults, to take the fields from that are not written.
    pub const DEFAULT: Self =
        Self { name: "", aliases: &[], docs: "", key: None, value: "()", indexed: false };
}

/// A channel.
#[derive(Debug, Serialize)]
pub struct ChannelDefinition {
    /// The stored name.
    pub name: &'static str,
    /// Stored names that it had before, under which stored runs may still know it.
    pub aliases: &'static [&'static str],
    /// What its doc comment says.
    pub docs: &'static str,
    /// The Rust type of the keys, as written, if it is a map.
    pub key: Option<&'static str>,
    /// The Rust type of a message, as written.
    pub value: &'static str,
}

impl ChannelDefinition {
    /// A channel with all options at their defaults, to take the fields from that are not written.
    pub const DEFAULT: Self = Self { name: "", aliases: &[], docs: "", key: None, value: "()" };
}

/// A stream.
#[derive(Debug, Serialize)]
pub struct StreamDefinition {
    /// The stored name.
    pub name: &'static str,
    /// Stored names that it had before, under which runs may still keep it.
    pub aliases: &'static [&'static str],
    /// What its doc comment says.
    pub docs: &'static str,
    /// The Rust type of an item, as written.
    pub value: &'static str,
    /// Bytes that the stream of one run may hold.
    #[serde(rename = "capacity_bytes")]
    pub capacity: u64,
}

/// An RPC.
#[derive(Debug, Serialize)]
pub struct RpcDefinition {
    /// The stored name.
    pub name: &'static str,
    /// Stored names that it had before, by which it can still be called.
    pub aliases: &'static [&'static str],
    /// What its doc comment says.
    pub docs: &'static str,
    /// The Rust type of the input, as written; `()` without one.
    pub input: &'static str,
    /// The Rust type of the answer, as written.
    pub output: &'static str,
    /// Whether it takes `&mut RpcContext` and may write.
    pub writes: bool,
    /// Whether it is a plain `fn`.
    pub blocking: bool,
    /// Longest call, all attempts together; not longer than the engine's own limit.
    #[serde(rename = "timeout_ms", serialize_with = "serialize::milliseconds")]
    pub timeout: Option<Duration>,
    /// Stored names of the attributes that no step may have for itself meanwhile.
    pub locks: &'static [&'static str],
    /// Steps that its body names.
    pub edges: &'static [Edge],
}

impl RpcDefinition {
    /// An RPC with all options at their defaults, to take the fields from that are not written.
    pub const DEFAULT: Self = Self {
        name: "",
        aliases: &[],
        docs: "",
        input: "()",
        output: "()",
        writes: false,
        blocking: false,
        timeout: None,
        locks: &[],
        edges: &[],
    };
}

impl FlowDefinition {
    /// The step in which runs start.
    pub fn start(&self) -> Option<&'static StepDefinition> {
        self.steps.iter().find(|step| step.start)
    }

    /// The step with this stored name or alias, and its place.
    pub fn step(&self, name: &str) -> Option<(usize, &'static StepDefinition)> {
        let known = |step: &StepDefinition| step.name == name || step.aliases.contains(&name);
        self.steps.iter().enumerate().find(|(_, step)| known(step))
    }

    /// The stream with this stored name or alias, and its place.
    pub fn stream(&self, name: &str) -> Option<(usize, &'static StreamDefinition)> {
        let known = |stream: &StreamDefinition| stream.name == name || stream.aliases.contains(&name);
        self.streams.iter().enumerate().find(|(_, stream)| known(stream))
    }

    /// The attribute with this stored name or alias, and its place.
    pub fn attribute(&self, name: &str) -> Option<(usize, &'static AttributeDefinition)> {
        let known =
            |attribute: &AttributeDefinition| attribute.name == name || attribute.aliases.contains(&name);
        self.attributes.iter().enumerate().find(|(_, attribute)| known(attribute))
    }

    /// The channel with this stored name or alias, and its place.
    pub fn channel(&self, name: &str) -> Option<(usize, &'static ChannelDefinition)> {
        let known = |channel: &ChannelDefinition| channel.name == name || channel.aliases.contains(&name);
        self.channels.iter().enumerate().find(|(_, channel)| known(channel))
    }

    /// The RPC with this stored name or alias, and its place.
    pub fn rpc(&self, name: &str) -> Option<(usize, &'static RpcDefinition)> {
        let known = |rpc: &RpcDefinition| rpc.name == name || rpc.aliases.contains(&name);
        self.rpcs.iter().enumerate().find(|(_, rpc)| known(rpc))
    }
}
