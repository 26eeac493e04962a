//! Children: runs that a run has started and waits for, and what the two want of one another.
//!
//! A child is asked for in the transition that starts its parent's wait, so the wish is durable before
//! anything follows from it. All that is left to do with other runs is an [`Errand`], derived from the state
//! alone: start a child, stop one whose parent has ended, tell the parent of the end. A run with an errand
//! counts as active until the errand is noted as done, and each of them may be done twice without harm.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::decide::{Limits, Rejection};
use super::event::Event;
use super::state::{Execution, Phase, RunState};
use super::view::RunEnd;
use super::wait::Condition;
use crate::ids::{ExecutionNo, FlowId, IdError, Name, RunId, Slot};
use crate::value::Payload;

/// A child's place among the children of its parent, over the parent's whole life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChildNo {
    /// The execution whose wait asked for it.
    pub execution: ExecutionNo,
    /// Its place in that wait, from 0.
    pub index: u32,
}

/// What a child knows of its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parent {
    /// The parent's run.
    pub run_id: RunId,
    /// What the parent was called.
    pub flow_id: FlowId,
    /// Which of its children this is.
    pub child: ChildNo,
}

/// What happens to a child that still goes on when its parent's run ends, in whatever way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ParentEnd {
    /// It goes on by itself.
    #[default]
    Leave,
    /// It is cancelled, with its clean-up.
    Cancel,
    /// It is terminated.
    Terminate,
}

/// What a child is to be started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildStart {
    /// The input of its start step.
    pub input: Payload,
    /// Attributes that it has from the beginning.
    pub attributes: Vec<(Slot, Payload)>,
    /// How long it may take; `None` for what its flow says.
    pub timeout: Option<Duration>,
}

/// A child that a wait asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildRequest {
    /// The stored name of its flow.
    pub flow: Name,
    /// What it begins with.
    pub start: ChildStart,
    /// What happens to it when its parent ends.
    pub on_parent_end: ParentEnd,
}

/// A child, as its parent knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// The stored name of its flow.
    pub flow: Name,
    /// What it is called.
    pub flow_id: FlowId,
    /// What happens to it when its parent ends.
    pub on_parent_end: ParentEnd,
    /// How far it is.
    pub stage: ChildStage,
}

/// How far a child is, as far as its parent was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChildStage {
    /// It is to be started, or was and the parent does not know yet.
    Wanted(Box<ChildStart>),
    /// It goes on.
    Open(RunId),
    /// It has ended, or could not be started; the wait that asked for it goes on.
    Ended(Payload),
}

/// The children of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Children {
    /// Those that go on, and those whose end somebody still waits to be given.
    pub all: BTreeMap<ChildNo, Child>,
    /// Of each wait, the children without whose end it cannot be over, as long as they go on. Kept so that the
    /// end of one of a thousand costs nothing.
    pub(crate) awaited: BTreeMap<ExecutionNo, BTreeSet<u32>>,
    /// How many of them something is to be done with. Kept so that "active or parked" costs nothing.
    pub(crate) errands: usize,
}

/// Something that a run wants of another run.
#[derive(Clone, Debug, PartialEq)]
pub enum Errand {
    /// Start a child, unless that was done before.
    Start {
        /// Which.
        child: ChildNo,
        /// The stored name of its flow.
        flow: Name,
        /// What it is to be called.
        flow_id: FlowId,
        /// What it begins with.
        start: Box<ChildStart>,
    },
    /// Stop a child whose parent has ended, if it was started.
    Stop {
        /// Which.
        child: ChildNo,
        /// What it is called.
        flow_id: FlowId,
        /// Whether it is terminated and not only cancelled.
        terminate: bool,
    },
    /// Tell the parent that this run has ended.
    Tell {
        /// Whom.
        parent: Parent,
        /// How it ended.
        end: Box<RunEnd>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    Start,
    Stop,
}

impl Child {
    /// What is to be done with it, given whether its parent has ended.
    fn wish(&self, parent_closed: bool) -> Option<Wish> {
        // One that was never started need not be then: its parent is there no more.
        let stops = parent_closed && self.on_parent_end != ParentEnd::Leave;
        match &self.stage {
            ChildStage::Wanted(_) | ChildStage::Open(_) if stops => Some(Wish::Stop),
            ChildStage::Wanted(_) => Some(Wish::Start),
            ChildStage::Open(_) | ChildStage::Ended(_) => None,
        }
    }
}

/// What the child `index` of an execution is called: unique over the life of the parent, and over that of its
/// store, since it begins with the parent's run.
pub(super) fn child_id(run: RunId, execution: &Execution, index: u32) -> Result<FlowId, IdError> {
    FlowId::new(format!("{run}/{}/{index}", execution.id()))
}

/// The events that ask for the children of a wait.
pub(super) fn request(
    state: &RunState,
    no: ExecutionNo,
    condition: &Condition,
    requests: Vec<ChildRequest>,
    limits: &Limits,
) -> Result<Vec<Event>, Rejection> {
    let mut named = Vec::with_capacity(requests.len());
    condition.each_child(&mut |index| named.push(index));
    if !named.iter().copied().eq((0..).take(requests.len())) {
        return Err(Rejection::ChildrenUnlike { named: named.len(), given: requests.len() });
    }
    if requests.is_empty() {
        return Ok(Vec::new());
    }
    let (size, max) = (state.children.all.len() + requests.len(), limits.children_max);
    if size > max {
        return Err(Rejection::TooManyChildren { size, max });
    }
    let execution = state.executions.get(&no);
    let run = state.identity.run_id;
    let requested = requests.into_iter().zip(0..).filter_map(|(request, index)| {
        // A run's id and a step's name are well within what an id may be.
        let flow_id = child_id(run, execution?, index).ok()?;
        let child = ChildNo { execution: no, index };
        Some(Event::ChildRequested { child, flow_id, request: Box::new(request) })
    });
    Ok(requested.collect())
}

/// Children were started.
pub(super) fn started(state: &RunState, started: &BTreeMap<ChildNo, RunId>) -> Vec<Event> {
    let wanted = started.iter().filter(|(child, _)| {
        matches!(state.children.all.get(child), Some(Child { stage: ChildStage::Wanted(_), .. }))
    });
    wanted.map(|(child, run)| Event::ChildStarted { child: *child, run: *run }).collect()
}

/// A child has ended, or cannot be started. What is not known (any more) was told before.
pub(super) fn ended(state: &RunState, child: ChildNo, result: Payload) -> Result<Vec<Event>, Rejection> {
    let closed = state.closed.is_some();
    let known = state.children.all.get(&child);
    match known.map(|child| (&child.stage, child.wish(closed))) {
        // Of a run that has ended, only those count that it still wants to start.
        Some((ChildStage::Open(_), _)) | None if closed => Err(Rejection::Closed { status: state.status() }),
        None | Some((ChildStage::Ended(_), _)) => Ok(Vec::new()),
        Some(_) => Ok(vec![Event::ChildEnded { child, result }]),
    }
}

/// Children of a run that has ended were stopped.
pub(super) fn stopped(state: &RunState, stopped: &BTreeSet<ChildNo>) -> Vec<Event> {
    let to_stop = stopped.iter().filter(|child| {
        let known = state.children.all.get(child);
        known.is_some_and(|child| child.wish(state.closed.is_some()) == Some(Wish::Stop))
    });
    to_stop.map(|child| Event::ChildStopped { child: *child }).collect()
}

/// Folds an event about children, or about the parent, into the run.
pub(super) fn apply(state: &mut RunState, event: &Event) -> Option<()> {
    let closed = state.closed.is_some();
    match event {
        Event::ChildRequested { child, flow_id, request } => {
            state.children.insert(*child, flow_id.clone(), (**request).clone())?;
        }
        Event::ChildStarted { child, run } => state.children.start(*child, *run, closed)?,
        Event::ChildEnded { child, result } => {
            let execution = state.executions.get(&child.execution);
            let phase = execution.map(|execution| &execution.phase);
            let waiting = matches!(phase, Some(Phase::Waiting { .. }));
            state.children.end(*child, result, waiting, closed)?;
        }
        Event::ChildStopped { child } => state.children.stop(*child)?,
        Event::ParentTold => state.parent_told = true,
        _ => return None,
    }
    Some(())
}

/// The parent was told.
pub(super) fn told(state: &RunState) -> Vec<Event> {
    state.untold().map(|_| Event::ParentTold).into_iter().collect()
}

impl RunState {
    /// Whether something is wanted of other runs. Such a run is active.
    pub fn has_errands(&self) -> bool {
        self.children.errands > 0 || self.untold().is_some()
    }

    /// The parent that is still to hear of the run's end.
    fn untold(&self) -> Option<&Parent> {
        if self.closed.is_none() || self.parent_told { None } else { self.identity.parent.as_ref() }
    }

    /// What is wanted of other runs, at most `max` of it. Children of flows that are not `known` are left out.
    pub fn errands(&self, max: usize, known: impl Fn(&Name) -> bool) -> Vec<Errand> {
        let closed = self.closed.is_some();
        let tell = self.untold().and_then(|parent| {
            Some(Errand::Tell { parent: parent.clone(), end: Box::new(RunEnd::of(self)?) })
        });
        let of_children = self.children.all.iter().filter_map(|(no, child)| {
            let (child_no, flow_id) = (*no, child.flow_id.clone());
            match (child.wish(closed)?, &child.stage) {
                (Wish::Start, ChildStage::Wanted(start)) => known(&child.flow).then(|| Errand::Start {
                    child: child_no,
                    flow: child.flow.clone(),
                    flow_id,
                    start: start.clone(),
                }),
                (Wish::Start, _) => None,
                (Wish::Stop, _) => {
                    let terminate = child.on_parent_end == ParentEnd::Terminate;
                    Some(Errand::Stop { child: child_no, flow_id, terminate })
                }
            }
        });
        let of_children: Box<dyn Iterator<Item = Errand>> =
            if self.children.errands > 0 { Box::new(of_children) } else { Box::new(std::iter::empty()) };
        tell.into_iter().chain(of_children).take(max).collect()
    }
}

impl Children {
    /// Takes a child in.
    pub(super) fn insert(&mut self, no: ChildNo, flow_id: FlowId, request: ChildRequest) -> Option<()> {
        let ChildRequest { flow, start, on_parent_end } = request;
        let child = Child { flow, flow_id, on_parent_end, stage: ChildStage::Wanted(Box::new(start)) };
        self.errands += 1;
        self.all.insert(no, child).is_none().then_some(())
    }

    /// Notes which children a wait needs that begins.
    pub(super) fn begin_wait(&mut self, execution: ExecutionNo, condition: &Condition) {
        let mut needed = BTreeSet::new();
        condition.each_needed_child(&mut |index| {
            let going = |child: &Child| !matches!(child.stage, ChildStage::Ended(_));
            if self.all.get(&ChildNo { execution, index }).is_some_and(going) {
                needed.insert(index);
            }
        });
        if !needed.is_empty() {
            self.awaited.insert(execution, needed);
        }
    }

    /// Gives the ends of a wait's children that is over, and forgets them.
    pub(super) fn end_wait(&mut self, execution: ExecutionNo) -> BTreeMap<u32, Payload> {
        self.awaited.remove(&execution);
        let of_wait = ChildNo { execution, index: 0 }..=ChildNo { execution, index: u32::MAX };
        let ended = self.all.range(of_wait).filter_map(|(no, child)| match &child.stage {
            ChildStage::Ended(result) => Some((no.index, result.clone())),
            ChildStage::Wanted(_) | ChildStage::Open(_) => None,
        });
        let ended: BTreeMap<u32, Payload> = ended.collect();
        for index in ended.keys() {
            self.all.remove(&ChildNo { execution, index: *index });
        }
        ended
    }

    pub(super) fn start(&mut self, no: ChildNo, run: RunId, closed: bool) -> Option<()> {
        let child = self.all.get_mut(&no)?;
        let before = child.wish(closed);
        child.stage = ChildStage::Open(run);
        self.errands -= usize::from(before.is_some() && child.wish(closed).is_none());
        Some(())
    }

    /// Keeps the end of a child as long as its wait goes on.
    pub(super) fn end(&mut self, no: ChildNo, result: &Payload, waiting: bool, closed: bool) -> Option<()> {
        let child = self.all.get_mut(&no)?;
        self.errands -= usize::from(child.wish(closed).is_some());
        child.stage = ChildStage::Ended(result.clone());
        if !waiting {
            self.all.remove(&no);
        }
        if let Some(needed) = self.awaited.get_mut(&no.execution) {
            needed.remove(&no.index);
            if needed.is_empty() {
                self.awaited.remove(&no.execution);
            }
        }
        Some(())
    }

    pub(super) fn stop(&mut self, no: ChildNo) -> Option<()> {
        let child = self.all.remove(&no)?;
        self.errands -= usize::from(child.wish(true).is_some());
        Some(())
    }

    /// Makes of the children what they are to a run that has ended.
    pub(super) fn close(&mut self) {
        self.awaited.clear();
        self.all.retain(|_, child| !matches!(child.stage, ChildStage::Ended(_)));
        self.count(true);
    }

    /// Makes again what follows from the children and the waits.
    pub(crate) fn derive(&mut self, executions: &BTreeMap<ExecutionNo, Box<Execution>>, closed: bool) {
        self.awaited.clear();
        for (no, execution) in executions {
            if let Phase::Waiting { condition, .. } = &execution.phase {
                self.begin_wait(*no, condition);
            }
        }
        self.count(closed);
    }

    fn count(&mut self, closed: bool) {
        self.errands = self.all.values().filter(|child| child.wish(closed).is_some()).count();
    }

    /// Whether the end of `no` may be the end of the wait that asked for it.
    pub(super) fn may_end_wait(&self, no: ChildNo) -> bool {
        match self.awaited.get(&no.execution) {
            None => true,
            Some(needed) => needed.len() == 1 && needed.contains(&no.index),
        }
    }

    /// Whether a child has ended.
    pub(super) fn has_ended(&self, execution: ExecutionNo, index: u32) -> bool {
        let child = self.all.get(&ChildNo { execution, index });
        matches!(child, Some(Child { stage: ChildStage::Ended(_), .. }))
    }
}
