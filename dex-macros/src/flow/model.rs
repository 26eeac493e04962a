//! A flow as the macro understands it. Everything remembers the user's tokens, so that mistakes found
//! later still underline the right place.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, Pat, ReturnType, Type, Visibility};

use crate::crate_path::CratePath;
use crate::names::StoredName;
use crate::options::Given;

/// `#[flow] impl F { … }`.
pub(crate) struct Flow {
    pub(crate) krate: CratePath,
    /// The block's own `cfg` attributes: they hold for all that is made from it.
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) docs: String,
    pub(crate) self_ty: Type,
    /// The last name in `self_ty`.
    pub(crate) ident: Ident,
    pub(crate) name: StoredName,
    pub(crate) output: Type,
    pub(crate) timeout: Option<Given<Duration>>,
    /// `steps(…)`: what holds for all steps that do not say otherwise.
    pub(crate) defaults: StepOptions,
    /// Whether no run is to complete.
    pub(crate) endless: bool,
    /// The word `schemas`.
    pub(crate) schemas: Option<Span>,
    pub(crate) handles: Vec<Handle>,
    pub(crate) steps: Vec<Step>,
    pub(crate) waits: Vec<Wait>,
    pub(crate) rpcs: Vec<Rpc>,
    pub(crate) lost: Lost,
    /// Constants and functions that are none of ours; they share a namespace with the constants of steps.
    pub(crate) others: Vec<Ident>,
    /// All of their tokens: helpers may make decisions.
    pub(crate) others_tokens: TokenStream,
}

/// Members that could not be read. Whoever names one of them has made no mistake.
#[derive(Default)]
pub(crate) struct Lost {
    pub(crate) steps: Vec<Ident>,
    pub(crate) a_wait: bool,
    pub(crate) a_handle: bool,
    /// Attributes that are marks, misspelt, unless another crate has them.
    pub(crate) perhaps_marks: Vec<Ident>,
    /// Something of which not even the kind could be read, so that no rule over the whole flow is certain.
    pub(crate) anything: bool,
}

/// What all members have.
pub(crate) struct Member {
    pub(crate) ident: Ident,
    pub(crate) name: StoredName,
    /// A stored name that it had before.
    pub(crate) alias: Option<StoredName>,
    pub(crate) vis: Visibility,
    pub(crate) doc_attrs: Vec<Attribute>,
    pub(crate) docs: String,
    pub(crate) cfgs: Vec<Attribute>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandleKind {
    Attribute {
        indexed: bool,
    },
    Channel,
    /// With what it may hold, in bytes.
    Stream {
        capacity: u64,
    },
}

/// `#[attribute] const X: Attribute<T>;`, `#[channel] const X: Channel<T>;`, a map of either kind, or
/// `#[stream] const X: Stream<T>;`.
pub(crate) struct Handle {
    pub(crate) member: Member,
    pub(crate) kind: HandleKind,
    /// The `K`, of a map.
    pub(crate) key: Option<Type>,
    /// The `T`.
    pub(crate) value: Type,
}

/// A method that the runtime calls.
pub(crate) struct Handler {
    pub(crate) member: Member,
    pub(crate) is_async: bool,
    pub(crate) context: Option<Context>,
    /// The arguments besides `self` and the context.
    pub(crate) values: Vec<Argument>,
    pub(crate) returns: ReturnType,
    pub(crate) body: TokenStream,
}

/// `ctx: &mut StepContext<Self>`.
pub(crate) struct Context {
    /// The argument's name, if it has one.
    pub(crate) ident: Option<Ident>,
    /// The whole type, with its `&`.
    pub(crate) ty: Type,
    pub(crate) mutable: bool,
}

pub(crate) struct Argument {
    pub(crate) pattern: Pat,
    pub(crate) ty: Type,
}

/// `#[step] async fn …`.
pub(crate) struct Step {
    pub(crate) handler: Handler,
    /// The handle's name. `None` if it would clash with something else.
    pub(crate) constant: Option<Ident>,
    pub(crate) options: StepOptions,
    /// Which of the flow's waits is this step's.
    pub(crate) wait: Option<usize>,
}

/// What is said about a step: only what was given; the runtime has the defaults.
#[derive(Default)]
pub(crate) struct StepOptions {
    /// The word `start`.
    pub(crate) start: Option<Span>,
    /// How the step is come to beside the graph.
    pub(crate) entrance: Option<Entrance>,
    pub(crate) retry: Retry,
    pub(crate) timeout: Option<Limit>,
    pub(crate) heartbeat: Option<Limit>,
    pub(crate) on_failure: Option<Ident>,
    pub(crate) on_exhausted: Option<Ident>,
    pub(crate) durability: Option<Ident>,
    /// Names of attributes.
    pub(crate) locks: Vec<Ident>,
    /// Names of attributes that others lock, and that the step writes all the same.
    pub(crate) no_locks: Vec<Ident>,
}

/// A limit, or the word `none`, by which a step has none although the flow has one for its steps.
pub(crate) type Limit = Given<Option<Duration>>;

/// How a step is come to beside the graph.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entrance {
    /// `entry`: in a way that the block does not show.
    Elsewhere,
    /// `#[on_timeout]`
    Timeout,
    /// `#[on_cancel]`
    Cancel,
}

/// `retry(…)`: only what was given; the runtime has the defaults.
#[derive(Default)]
pub(crate) struct Retry {
    pub(crate) initial: Option<Given<Duration>>,
    pub(crate) factor: Option<Given<f64>>,
    pub(crate) max_interval: Option<Given<Duration>>,
    pub(crate) attempts: Option<Given<u32>>,
    pub(crate) total: Option<Given<Duration>>,
}

/// `#[wait_for(step)] fn …`.
pub(crate) struct Wait {
    pub(crate) handler: Handler,
    /// The step's method.
    pub(crate) step: Ident,
}

/// `#[rpc] async fn …`.
pub(crate) struct Rpc {
    pub(crate) handler: Handler,
    pub(crate) timeout: Option<Given<Duration>>,
    /// Names of attributes.
    pub(crate) locks: Vec<Ident>,
}

impl Handler {
    pub(crate) fn ident(&self) -> &Ident {
        &self.member.ident
    }

    /// The first value, for a step and an RPC their input.
    pub(crate) fn input(&self) -> Option<&Type> {
        self.values.first().map(|argument| &argument.ty)
    }
}

impl Step {
    /// The type of what the step is given by its wait, if it takes it.
    pub(crate) fn outcome(&self) -> Option<&Type> {
        self.handler.values.get(1).map(|argument| &argument.ty)
    }
}

impl Rpc {
    /// Whether it takes `&mut RpcContext` and may write.
    pub(crate) fn writes(&self) -> bool {
        self.handler.context.as_ref().is_some_and(|context| context.mutable)
    }
}

impl Flow {
    pub(crate) fn start(&self) -> Option<&Step> {
        self.steps.iter().find(|step| step.options.start.is_some())
    }

    /// The attribute with this name.
    pub(crate) fn attribute(&self, ident: &Ident) -> Option<&Handle> {
        let is_it = |handle: &&Handle| {
            handle.member.ident == *ident && matches!(handle.kind, HandleKind::Attribute { .. })
        };
        self.handles.iter().find(is_it)
    }

    /// The steps that are come to in this way; one in each build.
    pub(crate) fn entered(&self, entrance: Entrance) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(move |step| step.options.entrance == Some(entrance))
    }
}

impl HandleKind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Attribute { .. } => "attribute",
            Self::Channel => "channel",
            Self::Stream { .. } => "stream",
        }
    }
}
