//! Flows as the runtime holds them: without their types.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::call::{RpcCall, RpcFuture, StepCall, StepFuture, WaitCall, WaitFuture};
use super::context::{Core, RpcContext, StepContext, StepInfo, WaitContext, WaitInfo};
use super::describe::{FlowDefinition, RpcDefinition, StepDefinition};
use super::flow::Flow;
use super::members::MemberKind;
use super::schema::FlowSchemas;
use crate::engine::{CancelPlan, StepTarget};
use crate::error::{Error, ErrorKind};
use crate::ids::{IdError, Name, Renamed, Slot};
use crate::value::{Payload, ValueError};

/// A flow without its type.
pub(crate) trait AnyFlow: fmt::Debug + Send + Sync {
    /// The description.
    fn definition(&self) -> &'static FlowDefinition;
    /// The schemas of its values, if it has them.
    fn schemas(&self) -> Option<FlowSchemas>;
    /// The Rust type.
    fn ty(&self) -> TypeId;
    /// The flow's value, to be cast back.
    fn value(&self) -> Arc<dyn Any + Send + Sync>;
    /// Calls a step.
    fn call_step(&self, step: usize, core: Core, info: StepInfo, input: StepInput) -> StepFuture;
    /// Calls a `wait_for`.
    fn call_wait(&self, step: usize, core: Core, info: WaitInfo, input: Payload) -> WaitFuture;
    /// Calls an RPC.
    fn call_rpc(&self, rpc: usize, core: Core, input: Payload) -> RpcFuture;
    /// Whether a run can be started with this input.
    fn fits_input(&self, input: &Payload) -> Result<(), ValueError>;
    /// Whether the attribute or channel at this place can hold this value.
    fn fits_member(&self, kind: MemberKind, place: usize, value: &Payload) -> Result<(), ValueError>;
    /// Whether the map at this place has such keys; `None` if it is no map.
    fn fits_key(&self, kind: MemberKind, place: usize, key: &str) -> Option<bool>;
}

/// What a step is called with beside its context.
#[derive(Debug)]
pub(crate) struct StepInput {
    pub(crate) input: Payload,
    pub(crate) outcome: Option<Payload>,
}

struct Typed<F>(Arc<F>);

impl<F: Flow> fmt::Debug for Typed<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Typed").field(&F::definition().name).finish()
    }
}

impl<F: Flow> AnyFlow for Typed<F> {
    fn definition(&self) -> &'static FlowDefinition {
        F::definition()
    }

    fn schemas(&self) -> Option<FlowSchemas> {
        F::schemas()
    }

    fn ty(&self) -> TypeId {
        TypeId::of::<F>()
    }

    fn value(&self) -> Arc<dyn Any + Send + Sync> {
        Arc::clone(&self.0) as _
    }

    fn call_step(&self, step: usize, core: Core, info: StepInfo, input: StepInput) -> StepFuture {
        let StepInput { input, outcome } = input;
        let context = StepContext::new(core, info);
        F::call_step(Arc::clone(&self.0), step, StepCall { input, outcome, context })
    }

    fn call_wait(&self, step: usize, core: Core, info: WaitInfo, input: Payload) -> WaitFuture {
        let context = WaitContext::new(core, info);
        F::call_wait(Arc::clone(&self.0), step, WaitCall { input, context })
    }

    fn call_rpc(&self, rpc: usize, core: Core, input: Payload) -> RpcFuture {
        F::call_rpc(Arc::clone(&self.0), rpc, RpcCall { input, context: RpcContext::new(core) })
    }

    fn fits_input(&self, input: &Payload) -> Result<(), ValueError> {
        input.decode::<F::Input>().map(drop)
    }

    fn fits_member(&self, kind: MemberKind, place: usize, value: &Payload) -> Result<(), ValueError> {
        match kind {
            MemberKind::Attribute => F::fits_attribute(place, value),
            MemberKind::Channel => F::fits_channel(place, value),
            MemberKind::Stream => F::fits_stream(place, value),
            // Its call decodes the value.
            MemberKind::Rpc | MemberKind::Step => Ok(()),
        }
    }

    fn fits_key(&self, kind: MemberKind, place: usize, key: &str) -> Option<bool> {
        match kind {
            MemberKind::Attribute => F::fits_attribute_key(place, key),
            MemberKind::Channel => F::fits_channel_key(place, key),
            MemberKind::Stream | MemberKind::Rpc | MemberKind::Step => None,
        }
    }
}

/// A flow with its names ready for use.
#[derive(Debug)]
pub(crate) struct Registered {
    pub(crate) flow: Box<dyn AnyFlow>,
    /// The stored name.
    pub(crate) name: Name,
    /// Stored names and locks of the steps, by place.
    steps: Vec<(Name, Vec<Slot>)>,
    /// Stored names and locks of the RPCs, by place.
    rpcs: Vec<(Name, Vec<Slot>)>,
    /// What attributes and channels were called before, each with its name now.
    pub(crate) renamed: Renamed,
}

impl Registered {
    pub(crate) fn step(&self, name: &str) -> Option<Place<'_, StepDefinition>> {
        let (place, definition) = self.flow.definition().step(name)?;
        let (name, locks) = self.steps.get(place)?;
        Some(Place { index: place, definition, name, locks })
    }

    pub(crate) fn rpc(&self, name: &str) -> Option<Place<'_, RpcDefinition>> {
        let (place, definition) = self.flow.definition().rpc(name)?;
        let (name, locks) = self.rpcs.get(place)?;
        Some(Place { index: place, definition, name, locks })
    }

    /// The step with this stored name, as the engine starts it by itself.
    pub(crate) fn target(&self, step: &str) -> Option<StepTarget> {
        self.step(step).map(|found| found.target())
    }

    /// How a run of the flow is cancelled whose handlers get `grace`.
    pub(crate) fn cancel_plan(&self, grace: Duration) -> CancelPlan {
        let cleanup = self.flow.definition().on_cancel.and_then(|step| self.target(step));
        CancelPlan { grace, cleanup }
    }

    pub(crate) fn start(&self) -> Option<Place<'_, StepDefinition>> {
        self.step(self.flow.definition().start()?.name)
    }
}

/// The names of members and of what they lock. Locks are in the order in which all steps take them.
fn names(
    members: impl Iterator<Item = (&'static str, &'static [&'static str])>,
) -> Result<Vec<(Name, Vec<Slot>)>, IdError> {
    let slots = |locks: &[&'static str]| {
        let slots = locks.iter().map(|lock| Name::new(lock).map(Slot::single));
        slots.collect::<Result<BTreeSet<_>, _>>().map(|slots| slots.into_iter().collect())
    };
    members.map(|(name, locks)| Ok((Name::new(name)?, slots(locks)?))).collect()
}

fn renamed(definition: &FlowDefinition) -> Result<Renamed, IdError> {
    let attributes = definition.attributes.iter().map(|attribute| (attribute.name, attribute.aliases));
    let channels = definition.channels.iter().map(|channel| (channel.name, channel.aliases));
    let all = attributes.chain(channels);
    all.flat_map(|(name, aliases)| aliases.iter().map(move |alias| Ok((Name::new(alias)?, Name::new(name)?))))
        .collect()
}

/// A member of a flow: its place among its kind, its description, its stored name.
#[derive(Debug)]
pub(crate) struct Place<'a, D: 'static> {
    pub(crate) index: usize,
    pub(crate) definition: &'static D,
    pub(crate) name: &'a Name,
    /// What it has for itself, or wants nobody else to.
    pub(crate) locks: &'a [Slot],
}

impl Place<'_, StepDefinition> {
    /// The step, as the engine starts it by itself.
    pub(crate) fn target(&self) -> StepTarget {
        StepTarget {
            step: self.name.clone(),
            waits: self.definition.wait.is_some(),
            locks: self.locks.to_vec(),
        }
    }
}

impl<D> Clone for Place<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D> Copy for Place<'_, D> {}

/// The flows of an engine.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    /// In the order of their names, for lists.
    by_name: BTreeMap<Name, Arc<Registered>>,
}

impl Flows {
    /// Adds a flow.
    pub(crate) fn add<F: Flow>(&mut self, flow: F) -> Result<(), Error> {
        let definition = F::definition();
        let name = Name::new(definition.name)?;
        let registered = Registered {
            flow: Box::new(Typed(Arc::new(flow))),
            name: name.clone(),
            steps: names(definition.steps.iter().map(|step| (step.name, step.locks)))?,
            rpcs: names(definition.rpcs.iter().map(|rpc| (rpc.name, rpc.locks)))?,
            renamed: renamed(definition)?,
        };
        if self.by_name.insert(name, Arc::new(registered)).is_some() {
            let message = format!(
                "two flows are stored under the name `{}`: register it once, or give one a `name = \"…\"`",
                definition.name
            );
            return Err(Error::new(ErrorKind::InvalidSetup, message));
        }
        Ok(())
    }

    pub(crate) fn get(&self, name: &Name) -> Option<&Arc<Registered>> {
        self.by_name.get(name)
    }

    /// Whether some attribute or channel of some flow has another name than before.
    pub(crate) fn has_renamed(&self) -> bool {
        self.by_name.values().any(|flow| !flow.renamed.is_empty())
    }

    /// All of them, in the order of their names.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Registered>> {
        self.by_name.values()
    }

    /// The registered form of flow `F`.
    pub(crate) fn of<F: Flow>(&self) -> Result<&Arc<Registered>, Error> {
        let name = F::definition().name;
        let found = self.by_name.get(name).ok_or_else(|| {
            let message =
                format!("flow `{name}` is not registered: add `.flow(..)` with its value at `open`");
            Error::new(ErrorKind::UnknownFlow, message)
        })?;
        // Its types are not those of `F`, whatever the two have in common by name.
        if found.flow.ty() == TypeId::of::<F>() { Ok(found) } else { Err(another(name)) }
    }

    /// The value that flow `F` was registered with.
    pub(crate) fn value<F: Flow>(&self) -> Result<Arc<F>, Error> {
        self.of::<F>()?.flow.value().downcast().map_err(|_| another(F::definition().name))
    }
}

/// The error of a flow in whose name another type is registered.
fn another(name: &str) -> Error {
    let message = format!("another type is registered as flow `{name}`: give one a `name = \"…\"`");
    Error::new(ErrorKind::InvalidSetup, message)
}
