//! JSON schemas of a flow's values: what a tool makes a form of, or checks a value against.
//!
//! The schemas themselves are made by the `schemars` crate, behind the feature of that name; what is here
//! says which value has which, and is there without it. It knows nothing of runs.

#[cfg(feature = "schemars")]
mod of_type;

use serde::Serialize;
use serde_json::{Value as Json, json};

#[cfg(feature = "schemars")]
pub use self::of_type::HasSchema;
use super::describe::FlowDefinition;

/// The JSON schemas of all values of a flow; [`Flow::schemas`](super::Flow::schemas) gives them.
///
/// Each schema is a document of its own, in draft 2020-12, with all that it refers to under its `$defs`: it can
/// be handed to a form or a validator as it is. Lists have the order of the [definition](FlowDefinition), and
/// so has the JSON text, field by field; two builds of the same types give the same text.
///
/// What a tool gives (inputs, messages, attributes, arguments) is described as it may be written: a field with a
/// default may be left out. What a tool is given (the output, answers, items of streams) is described as it is: such a
/// field is there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowSchemas {
    /// The flow's stored name.
    pub name: &'static str,
    /// What a run is started with.
    pub input: Json,
    /// What a run completes with.
    pub output: Json,
    /// The steps.
    pub steps: Vec<StepSchemas>,
    /// The values of the attributes.
    pub attributes: Vec<ValueSchema>,
    /// The messages of the channels.
    pub channels: Vec<ValueSchema>,
    /// The items of the streams.
    pub streams: Vec<ValueSchema>,
    /// The RPCs.
    pub rpcs: Vec<RpcSchemas>,
}

/// The JSON schemas of a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepSchemas {
    /// The step's stored name.
    pub name: &'static str,
    /// Its input.
    pub input: Json,
    /// What its `wait_for` gives it, if it has one.
    pub outcome: Option<Json>,
}

/// The JSON schema of an attribute, a channel or a stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueSchema {
    /// The stored name.
    pub name: &'static str,
    /// One value.
    pub value: Json,
}

/// The JSON schemas of an RPC.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RpcSchemas {
    /// The RPC's stored name.
    pub name: &'static str,
    /// Its argument; that of `null` without one.
    pub input: Json,
    /// What it answers.
    pub output: Json,
}

/// Which side of a tool a value is on. Defaults and skipped fields make the two differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The tool gives it, and the flow's type is read from it.
    Given,
    /// The tool is given it, as the flow's type writes it.
    Told,
}

/// Makes the schema of one type.
pub type SchemaOf = fn(Side) -> Json;

/// The types of a flow, by their places in its definition. Generated code fills it in.
#[derive(Clone, Copy, Debug)]
pub struct Types<'a> {
    /// The output.
    pub output: SchemaOf,
    /// The input and the outcome of each step.
    pub steps: &'a [(SchemaOf, Option<SchemaOf>)],
    /// The attributes.
    pub attributes: &'a [SchemaOf],
    /// The channels.
    pub channels: &'a [SchemaOf],
    /// The streams.
    pub streams: &'a [SchemaOf],
    /// The argument and the answer of each RPC.
    pub rpcs: &'a [(SchemaOf, SchemaOf)],
}

impl FlowSchemas {
    /// The schemas of these types, under the names of the definition.
    #[doc(hidden)]
    pub fn of(definition: &'static FlowDefinition, types: Types<'_>) -> Self {
        let steps = definition.steps.iter().zip(types.steps).map(|(step, (input, outcome))| StepSchemas {
            name: step.name,
            input: input(Side::Given),
            outcome: outcome.map(|outcome| outcome(Side::Given)),
        });
        let attributes = definition.attributes.iter().map(|attribute| attribute.name);
        let channels = definition.channels.iter().map(|channel| channel.name);
        let streams = definition.streams.iter().map(|stream| stream.name);
        let rpcs = definition.rpcs.iter().zip(types.rpcs).map(|(rpc, (input, output))| RpcSchemas {
            name: rpc.name,
            input: input(Side::Given),
            output: output(Side::Told),
        });
        let start = definition.steps.iter().zip(types.steps).find(|(step, _)| step.start);
        Self {
            name: definition.name,
            input: start.map_or_else(nothing, |(_, (input, _))| input(Side::Given)),
            output: (types.output)(Side::Told),
            steps: steps.collect(),
            attributes: values(attributes, types.attributes, Side::Given),
            channels: values(channels, types.channels, Side::Given),
            streams: values(streams, types.streams, Side::Told),
            rpcs: rpcs.collect(),
        }
    }
}

fn values(names: impl Iterator<Item = &'static str>, types: &[SchemaOf], side: Side) -> Vec<ValueSchema> {
    names.zip(types).map(|(name, value)| ValueSchema { name, value: value(side) }).collect()
}

/// The schema of `()`, with which a flow without a start step is started.
fn nothing() -> Json {
    json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "null", "type": "null" })
}
