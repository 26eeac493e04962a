//! One run on a store in memory, driven as its writer drives it: decide, encode, commit.

use dex_runtime::engine::{
    Command, Condition, Decision, Effect, Limits, Movement, Recorded, RunIdentity, RunState, Staged, Start,
    StepReport, Task, View, WaitReport, WriteReport, fold, transition,
};
use dex_runtime::store::memory::MemoryStore;
use dex_runtime::store::{RunCommit, Store, record};
use dex_runtime::{Attempt, FlowId, MapKey, Name, Payload, RunId, Slot, Timestamp};

/// Bytes of records after which a snapshot is written, if the last one was no bigger; the writer's own bound.
const SNAPSHOT_AFTER_BYTES: usize = 64 * 1024;

/// Above the engine's own bounds, so that the sizes that are measured are not the last ones allowed.
const LIMITS: Limits = Limits { channel_messages_max: 200_000, executions_max: 20_000, ..Limits::DEFAULT };

/// The run, and what was last handed out of it.
pub(crate) struct Run {
    state: Option<RunState>,
    store: MemoryStore,
    record_bytes: usize,
    /// Size of the last record.
    record_len: usize,
    snapshot_bytes: usize,
    /// Tasks that were handed out and not reported.
    pub(crate) tasks: Vec<Task>,
}

impl Run {
    /// A run that begins with one step.
    pub(crate) fn start(waits: bool) -> Self {
        let (state, store) = (None, MemoryStore::new());
        let (record_bytes, record_len, snapshot_bytes, tasks) = (0, 0, 0, Vec::new());
        let mut run = Self { state, store, record_bytes, record_len, snapshot_bytes, tasks };
        let flow_id = FlowId::new("order-1").expect("an id");
        let (flow, run_id) = (name("order"), run_id());
        let identity = RunIdentity { flow, flow_id, run_id, started_at: NOW, parent: None };
        let movement = Some(movement(waits));
        run.submit(Command::Start(Start {
            identity,
            movement,
            staged: Staged::default(),
            timeout: None,
            call: None,
        }));
        run
    }

    /// Carries out a command to the end of its commit.
    pub(crate) fn submit(&mut self, command: Command) {
        let done = transition(&mut self.state, command, NOW, &LIMITS).expect("the commands fit the run");
        let state = self.state.as_ref().expect("a run");
        let record = record::encode_transition(NOW, &done.events);
        self.record_len = record.len();
        let log = self.record_bytes + record.len();
        let snapshot = (log > self.snapshot_after()).then(|| record::encode_state(state));
        self.record_bytes = if snapshot.is_some() { 0 } else { log };
        if let Some(snapshot) = &snapshot {
            self.snapshot_bytes = snapshot.len();
        }
        let commit = RunCommit {
            run: run_id(),
            sequence: state.version,
            epoch: self.store.epoch(),
            record,
            snapshot,
            summary: None,
            ready: done.active,
            timers_set: done.timers_set,
            timers_cleared: done.timers_cleared,
        };
        self.store.commit(&[commit], true).expect("the store in memory takes it");
        let tasks = done.effects.into_iter().filter_map(|effect| match effect {
            Effect::Dispatch(task) => Some(*task),
            _ => None,
        });
        self.tasks.extend(tasks);
    }

    /// Completes the step that was handed out last.
    pub(crate) fn complete(&mut self, decision: Decision) {
        let attempt = self.next_attempt();
        let (cancels, staged) = (Vec::new(), Staged::default());
        self.submit(Command::CompleteStep(StepReport { attempt, cancels, decision, staged }));
    }

    /// Lets the `wait_for` that was handed out last wait for messages.
    pub(crate) fn wait(&mut self, condition: Condition) {
        let attempt = self.next_attempt();
        self.submit(Command::StartWait(WaitReport {
            attempt,
            condition,
            children: Vec::new(),
            staged: Staged::default(),
        }));
    }

    pub(crate) fn publish(&mut self, messages: usize) {
        self.publish_to(mail(), messages);
    }

    pub(crate) fn publish_to(&mut self, slot: Slot, messages: usize) {
        self.submit(Command::Publish { slot, values: vec![payload(); messages] });
    }

    /// Sets one of many attributes.
    pub(crate) fn set(&mut self, key: usize) {
        let slot =
            Slot { name: name("stock"), key: Some(MapKey::new(format!("article-{key}")).expect("a key")) };
        let staged = Staged { attributes: vec![(slot, Some(payload()))], ..Staged::default() };
        self.submit(Command::Write(WriteReport { reads: Vec::new(), staged }));
    }

    /// What a handler sees of the run.
    pub(crate) fn view(&self) -> View {
        View::of(self.state.as_ref().expect("a run"))
    }

    /// Leaves memory and is read back: the newest snapshot, and what was written after it.
    pub(crate) fn reload(&mut self) {
        self.state = None;
        let stored = self.store.load(run_id()).expect("the store in memory answers").expect("a run");
        let snapshot = stored.snapshot.map(|(_, bytes)| record::decode_state(&bytes).expect("a snapshot"));
        let history = stored.records.iter().map(|stored| {
            let (at, events) = record::decode_transition(&stored.record).expect("a record");
            Recorded { sequence: stored.sequence, at, events }
        });
        self.state = fold(snapshot, history).expect("a history");
    }

    fn snapshot_after(&self) -> usize {
        SNAPSHOT_AFTER_BYTES.max(self.snapshot_bytes)
    }

    /// Whether another record like the last one brings a snapshot.
    pub(crate) fn snapshot_is_next(&self) -> bool {
        self.record_bytes + self.record_len > self.snapshot_after()
    }

    /// How many transitions were committed.
    pub(crate) fn version(&self) -> u64 {
        self.state.as_ref().map_or(0, |state| state.version)
    }

    fn next_attempt(&mut self) -> Attempt {
        self.tasks.pop().expect("a task was handed out").attempt
    }
}

fn run_id() -> RunId {
    RunId::from_bytes([7; 16])
}

const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}

pub(crate) fn mail() -> Slot {
    Slot::single(name("mail"))
}

/// Another channel than [`mail`].
pub(crate) fn news() -> Slot {
    Slot::single(name("news"))
}

/// A value of 50 bytes.
fn payload() -> Payload {
    Payload::encode(&"x".repeat(48)).expect("a value")
}

pub(crate) fn movement(waits: bool) -> Movement {
    Movement { step: name("charge_card"), input: payload(), waits, locks: Vec::new(), patch: None }
}

/// As many messages of one channel.
pub(crate) fn messages(count: u32) -> Condition {
    messages_of(mail(), count)
}

/// A message of each of two channels.
pub(crate) fn one_of_each() -> Condition {
    Condition::All(vec![messages(1), messages_of(news(), 1)])
}

/// Two messages of one channel, or one of the other.
pub(crate) fn two_or_other() -> Condition {
    Condition::Any { of: vec![messages(2), messages_of(news(), 1)], tagged: true }
}

fn messages_of(slot: Slot, count: u32) -> Condition {
    Condition::Messages { slot, min: count, max: count, single: count == 1 }
}
