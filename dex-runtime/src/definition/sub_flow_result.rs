//! How a sub-flow ended, as the step of its parent is given it.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::flow::Flow;
use crate::engine::{Closing, Rejection, RunEnd, Stop};
use crate::ids::{FlowId, RunId};
use crate::value::Payload;

/// How a run of flow `G` ended that a step has waited for.
///
/// It can be stored, as an attribute or as the input of a further step.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct ChildResult<G: Flow> {
    #[serde(serialize_with = "as_text", deserialize_with = "flow_id")]
    id: FlowId,
    run: Option<Run>,
    end: ChildEnd<G::Output>,
}

/// A run's id, stored as its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run(RunId);

impl Serialize for Run {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Run {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let run = RunId::parse(&String::deserialize(input)?);
        run.map(Self).ok_or_else(|| de::Error::custom("not the id of a run"))
    }
}

/// In which way a child ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum ChildEnd<T> {
    /// By completing decisions.
    Completed {
        /// The output.
        output: T,
        /// The outputs of further branches, if several have completed the run.
        #[serde(default = "Vec::<T>::new", skip_serializing_if = "Vec::is_empty")]
        more: Vec<T>,
    },
    /// By a failing decision, a step whose retries were used up, or the end of its time.
    Failed(ChildFailure),
    /// By a cancel.
    Canceled {
        /// What was said about it.
        reason: Option<String>,
    },
    /// By a terminate.
    Terminated {
        /// What was said about it.
        reason: Option<String>,
    },
    /// It never began: something else in the store has its id.
    NotStarted {
        /// Why, in words.
        reason: String,
    },
}

/// How a child failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ChildFailure {
    /// What its step said.
    pub reason: String,
    /// The step execution that failed, if it was one: `<step>-<n>`.
    pub step: Option<String>,
    /// The Rust type of the step's error, where there was one.
    pub type_name: Option<String>,
    /// The texts of the errors below it, outermost first.
    pub causes: Vec<String>,
}

/// Why a child gave no output.
///
/// As the error of a step it is one that no retry can mend: the step's recovery step takes over, or the run fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("sub-flow `{id}` gave no output: {why}")]
#[non_exhaustive]
pub struct ChildError {
    /// What the child was called.
    pub id: FlowId,
    /// What happened, in words.
    pub why: String,
}

impl<G: Flow> ChildResult<G> {
    pub(crate) fn made_up(id: FlowId, end: ChildEnd<G::Output>) -> Self {
        Self { id, run: None, end }
    }

    /// What the child was called.
    pub fn id(&self) -> &FlowId {
        &self.id
    }

    /// The child's run; `None` if it was never started.
    pub fn run_id(&self) -> Option<RunId> {
        self.run.map(|Run(run)| run)
    }

    /// In which way it ended.
    pub fn end(&self) -> &ChildEnd<G::Output> {
        &self.end
    }

    /// As [`end`](Self::end), to take the output out.
    pub fn into_end(self) -> ChildEnd<G::Output> {
        self.end
    }

    /// Whether it completed.
    pub fn is_completed(&self) -> bool {
        matches!(self.end, ChildEnd::Completed { .. })
    }

    /// Its output, if it completed; the first one of several.
    pub fn output(&self) -> Option<&G::Output> {
        match &self.end {
            ChildEnd::Completed { output, .. } => Some(output),
            _ => None,
        }
    }

    /// Its output, or why it gave none.
    ///
    /// # Errors
    ///
    /// [`ChildError`] if it did not complete, or has several outputs.
    pub fn into_result(self) -> Result<G::Output, ChildError> {
        match self.end {
            ChildEnd::Completed { output, more } if more.is_empty() => Ok(output),
            end => Err(ChildError { why: end.to_string(), id: self.id }),
        }
    }
}

impl<T> fmt::Display for ChildEnd<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (how, reason) = match self {
            Self::Completed { more, .. } if more.is_empty() => ("it completed", None),
            Self::Completed { more, .. } => {
                return write!(f, "it completed with {} outputs", more.len() + 1);
            }
            Self::Failed(failure) => return write!(f, "it failed: {failure}"),
            Self::Canceled { reason } => ("it was canceled", reason.as_ref()),
            Self::Terminated { reason } => ("it was terminated", reason.as_ref()),
            Self::NotStarted { reason } => ("it was not started", Some(reason)),
        };
        match reason {
            Some(reason) => write!(f, "{how}: {reason}"),
            None => f.write_str(how),
        }
    }
}

impl fmt::Display for ChildFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(step) = &self.step {
            write!(f, "{step}: ")?;
        }
        f.write_str(&self.reason)?;
        self.causes.iter().try_for_each(|cause| write!(f, ": {cause}"))
    }
}

/// A `G` has no schema of its own, but its output has.
#[cfg(feature = "schemars")]
impl<G: Flow<Output: schemars::JsonSchema>> schemars::JsonSchema for ChildResult<G> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("ChildResult_of_{}", G::Output::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let end = generator.subschema_for::<ChildEnd<G::Output>>();
        schemars::json_schema!({
            "type": "object",
            "properties": { "id": { "type": "string" }, "run": { "type": ["string", "null"] }, "end": end },
            "required": ["id", "run", "end"],
        })
    }
}

/// The stored form of how a run ended, for the step of its parent.
pub(crate) fn child_result(end: &RunEnd) -> Payload {
    let outputs: Vec<&Payload> = end.outputs.iter().map(|output| &output.value).collect();
    let how = match (&end.closed.closing, outputs.as_slice()) {
        (Closing::Completed, [output]) => {
            Payload::object([("completed", &Payload::object([("output", *output)]))])
        }
        (Closing::Completed, [output, more @ ..]) => {
            let more = Payload::list(more.iter().copied());
            Payload::object([("completed", &Payload::object([("output", *output), ("more", &more)]))])
        }
        (closing, _) => encoded(&ended(closing)),
    };
    whole(&end.identity.flow_id, Some(end.identity.run_id), &how)
}

/// The stored form of the end of a child that cannot be started.
pub(crate) fn child_not_started(flow_id: &FlowId, reason: String) -> Payload {
    whole(flow_id, None, &encoded(&ChildEnd::<()>::NotStarted { reason }))
}

/// The stored form of the end of a child that its parent has no room for: short enough for the room that each
/// child has.
pub(crate) fn child_does_not_fit(flow_id: &FlowId, full: &Rejection) -> Payload {
    let reason = format!("how it ended is too much for its parent: {full}");
    let failure = ChildFailure { reason, step: None, type_name: None, causes: Vec::new() };
    whole(flow_id, None, &encoded(&ChildEnd::<()>::Failed(failure)))
}

fn whole(flow_id: &FlowId, run: Option<RunId>, end: &Payload) -> Payload {
    let (id, run) = (encoded(flow_id.as_str()), encoded(&run.map(Run)));
    Payload::object([("id", &id), ("run", &run), ("end", end)])
}

/// How a run ended that gave nothing.
fn ended(closing: &Closing) -> ChildEnd<()> {
    let failed = |reason: &str| ChildFailure {
        reason: reason.to_owned(),
        step: None,
        type_name: None,
        causes: Vec::new(),
    };
    ChildEnd::Failed(match closing {
        Closing::Stopped { stop: Stop::Cancel, reason } => {
            return ChildEnd::Canceled { reason: reason.clone() };
        }
        Closing::Stopped { stop: Stop::Terminate, reason } => {
            return ChildEnd::Terminated { reason: reason.clone() };
        }
        Closing::Stopped { stop: Stop::Fail, reason } => {
            failed(reason.as_deref().unwrap_or("it was stopped from outside"))
        }
        Closing::Failed { reason } => failed(reason),
        Closing::TimedOut => failed("its time was up"),
        // A run that completes has an output.
        Closing::Completed => failed("it completed without an output"),
        Closing::StepFailed { step, number, failure } => ChildFailure {
            reason: failure.message.clone(),
            step: Some(format!("{step}-{number}")),
            type_name: Some(failure.type_name.clone()).filter(|name| !name.is_empty()),
            causes: failure.chain.clone(),
        },
    })
}

/// A small value of this file's own types. They all have a form, and texts in them were cut before.
fn encoded<T: Serialize + ?Sized>(value: &T) -> Payload {
    Payload::encode(value).unwrap_or(Payload::NULL)
}

fn as_text<S: Serializer>(id: &FlowId, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(id.as_str())
}

fn flow_id<'de, D: Deserializer<'de>>(input: D) -> Result<FlowId, D::Error> {
    FlowId::new(String::deserialize(input)?).map_err(de::Error::custom)
}

impl<G: Flow<Output: Clone>> Clone for ChildResult<G> {
    fn clone(&self) -> Self {
        Self { id: self.id.clone(), run: self.run, end: self.end.clone() }
    }
}

impl<G: Flow<Output: PartialEq>> PartialEq for ChildResult<G> {
    fn eq(&self, other: &Self) -> bool {
        (&self.id, self.run, &self.end) == (&other.id, other.run, &other.end)
    }
}

impl<G: Flow<Output: fmt::Debug>> fmt::Debug for ChildResult<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, run, end } = self;
        f.debug_struct("ChildResult").field("id", id).field("run", run).field("end", end).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::ValueError;

    #[test]
    fn an_end_without_an_output_reads_back_as_it_was() {
        for closing in [
            Closing::Failed { reason: "no".into() },
            Closing::TimedOut,
            Closing::Stopped { stop: Stop::Cancel, reason: None },
            Closing::Stopped { stop: Stop::Terminate, reason: Some("why".into()) },
            Closing::Stopped { stop: Stop::Fail, reason: None },
        ] {
            let end = ended(&closing);
            // A run of any output type reads it.
            let read: ChildEnd<Vec<u8>> = encoded(&end).decode().unwrap();
            assert_eq!(read.to_string(), end.to_string());
        }
    }

    #[test]
    fn an_output_that_does_not_fit_is_an_error() {
        let stored = Payload::encode(&serde_json::json!({"completed": {"output": "text"}})).unwrap();
        let error: ValueError = stored.decode::<ChildEnd<u64>>().unwrap_err();
        assert!(error.to_string().contains("u64"), "{error}");
        let several = Payload::encode(&serde_json::json!({"completed": {"output": 1, "more": [2]}})).unwrap();
        let end: ChildEnd<u64> = several.decode().unwrap();
        assert_eq!(end, ChildEnd::Completed { output: 1, more: vec![2] });
        assert_eq!(end.to_string(), "it completed with 2 outputs");
    }
}
