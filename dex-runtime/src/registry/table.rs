//! The table of resident runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::ids::{FlowId, RunId, RunMap};

/// What the table holds: something that belongs to one run.
pub(crate) trait Entry {
    /// What the caller called the run.
    fn flow_id(&self) -> &FlowId;
    /// What the engine called it.
    fn run_id(&self) -> RunId;
}

/// The runs that are resident, by run, and the live run of each flow id.
///
/// One lock for both, so that no reader sees one without the other.
#[derive(Debug)]
pub(crate) struct Registry<T> {
    table: Mutex<Table<T>>,
}

#[derive(Debug)]
struct Table<T> {
    runs: RunMap<Arc<T>>,
    /// The newest run of each flow id that is resident.
    live: HashMap<FlowId, RunId>,
}

/// A thread panicked while it held the table, so what it says can no longer be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the table of resident runs was left half changed by a panic: open the store again")]
pub(crate) struct Poisoned;

/// What a removal found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    /// The entry was there and is gone.
    Removed,
    /// Nothing was there.
    Absent,
    /// Another entry had taken its place, and is still there.
    Replaced,
}

impl<T: Entry> Registry<T> {
    pub(crate) fn new() -> Self {
        Self { table: Mutex::new(Table { runs: RunMap::default(), live: HashMap::new() }) }
    }

    fn lock(&self) -> Result<MutexGuard<'_, Table<T>>, Poisoned> {
        self.table.lock().map_err(|_| Poisoned)
    }

    /// Adds `entry` and makes it the live run of its flow id, unless that flow id has a live run or the run
    /// is resident already; gives that one then. Look and change are one critical section.
    pub(crate) fn insert_if_absent(&self, entry: Arc<T>) -> Result<Result<Arc<T>, Arc<T>>, Poisoned> {
        let mut table = self.lock()?;
        let live = table.live.get(entry.flow_id()).copied();
        if let Some(found) = live.or(Some(entry.run_id())).and_then(|run| table.runs.get(&run)) {
            return Ok(Err(Arc::clone(found)));
        }
        table.insert(&entry);
        Ok(Ok(entry))
    }

    /// Adds a run that has ended and still has something to do; gives the one that is resident if it is already.
    /// What is live under its flow id stays so.
    pub(crate) fn insert_ended(&self, entry: Arc<T>) -> Result<Arc<T>, Poisoned> {
        let mut table = self.lock()?;
        Ok(Arc::clone(table.runs.entry(entry.run_id()).or_insert(entry)))
    }

    /// Puts the successor of a run in its place, in one step: no reader sees zero or two live runs.
    ///
    /// Changes nothing and gives what is live if that is not `from`.
    pub(crate) fn succeed(&self, from: &Arc<T>, to: &Arc<T>) -> Result<Result<(), Option<Arc<T>>>, Poisoned> {
        let mut table = self.lock()?;
        let live = table.live.get(to.flow_id()).and_then(|run| table.runs.get(run)).cloned();
        match live {
            Some(live) if Arc::ptr_eq(&live, from) => {
                table.runs.remove(&from.run_id());
                table.insert(to);
                Ok(Ok(()))
            }
            other => Ok(Err(other)),
        }
    }

    /// Exactly this run, if it is resident. A superseded run is not its successor.
    pub(crate) fn get(&self, run: RunId) -> Result<Option<Arc<T>>, Poisoned> {
        Ok(self.lock()?.runs.get(&run).cloned())
    }

    /// The live run of a flow id, if it is resident.
    pub(crate) fn live(&self, flow_id: &FlowId) -> Result<Option<Arc<T>>, Poisoned> {
        let table = self.lock()?;
        Ok(table.live.get(flow_id).and_then(|run| table.runs.get(run)).cloned())
    }

    /// Removes exactly `entry`: a late removal cannot evict what took its place.
    pub(crate) fn remove(&self, entry: &Arc<T>) -> Result<Removal, Poisoned> {
        let mut table = self.lock()?;
        match table.runs.get(&entry.run_id()) {
            None => return Ok(Removal::Absent),
            Some(found) if !Arc::ptr_eq(found, entry) => return Ok(Removal::Replaced),
            Some(_) => {}
        }
        table.runs.remove(&entry.run_id());
        if table.live.get(entry.flow_id()) == Some(&entry.run_id()) {
            table.live.remove(entry.flow_id());
        }
        Ok(Removal::Removed)
    }

    /// All resident runs at this moment, in the order of starting. The lock is not held by the caller.
    pub(crate) fn list(&self) -> Result<Vec<Arc<T>>, Poisoned> {
        let mut all: Vec<_> = self.lock()?.runs.values().cloned().collect();
        all.sort_by_key(|entry| entry.run_id());
        Ok(all)
    }

    /// Removes everything.
    pub(crate) fn clear(&self) -> Result<Vec<Arc<T>>, Poisoned> {
        let mut table = self.lock()?;
        table.live.clear();
        Ok(table.runs.drain().map(|(_, entry)| entry).collect())
    }
}

impl<T: Entry> Table<T> {
    fn insert(&mut self, entry: &Arc<T>) {
        self.runs.insert(entry.run_id(), Arc::clone(entry));
        self.live.insert(entry.flow_id().clone(), entry.run_id());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Run {
        flow_id: FlowId,
        run_id: RunId,
    }

    impl Entry for Run {
        fn flow_id(&self) -> &FlowId {
            &self.flow_id
        }

        fn run_id(&self) -> RunId {
            self.run_id
        }
    }

    fn run(flow_id: &str, number: u8) -> Arc<Run> {
        let mut bytes = [0; 16];
        bytes[15] = number;
        Arc::new(Run { flow_id: FlowId::new(flow_id).unwrap(), run_id: RunId::from_bytes(bytes) })
    }

    fn live(registry: &Registry<Run>, flow_id: &str) -> Option<RunId> {
        registry.live(&FlowId::new(flow_id).unwrap()).unwrap().map(|entry| entry.run_id)
    }

    #[test]
    fn the_table_can_be_shared_between_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Registry<Run>>();
    }

    #[test]
    fn a_second_run_of_a_flow_id_gets_the_first_one_and_changes_nothing() {
        let registry = Registry::new();
        let (first, second) = (run("a", 1), run("a", 2));
        assert!(registry.insert_if_absent(Arc::clone(&first)).unwrap().is_ok());
        let occupant = registry.insert_if_absent(Arc::clone(&second)).unwrap().unwrap_err();
        assert!(Arc::ptr_eq(&occupant, &first));
        assert!(registry.get(second.run_id).unwrap().is_none());
        assert_eq!(live(&registry, "a"), Some(first.run_id));
    }

    #[test]
    fn the_same_run_is_resident_once() {
        let registry = Registry::new();
        let (first, again) = (run("a", 1), run("a", 1));
        assert!(registry.insert_if_absent(Arc::clone(&first)).unwrap().is_ok());
        let occupant = registry.insert_if_absent(again).unwrap().unwrap_err();
        assert!(Arc::ptr_eq(&occupant, &first));
    }

    #[test]
    fn of_racing_inserts_exactly_one_wins() {
        for _ in 0..50 {
            let registry = Registry::new();
            let registry = &registry;
            let wins: usize = std::thread::scope(|scope| {
                let registry = &registry;
                let threads: Vec<_> = (0..8)
                    .map(|n| {
                        scope.spawn(move || {
                            usize::from(registry.insert_if_absent(run("a", n)).unwrap().is_ok())
                        })
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).sum()
            });
            assert_eq!(wins, 1);
        }
    }

    #[test]
    fn an_unknown_or_superseded_run_is_not_found() {
        let registry = Registry::new();
        let (first, second) = (run("a", 1), run("a", 2));
        registry.insert_if_absent(Arc::clone(&first)).unwrap().unwrap();
        registry.succeed(&first, &second).unwrap().unwrap();
        assert!(registry.get(first.run_id).unwrap().is_none());
        assert!(registry.get(run("a", 3).run_id).unwrap().is_none());
        assert_eq!(live(&registry, "a"), Some(second.run_id));
    }

    #[test]
    fn a_successor_takes_over_in_one_step() {
        let registry = Registry::new();
        let mut current = run("a", 0);
        registry.insert_if_absent(Arc::clone(&current)).unwrap().unwrap();
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| (0..10_000).all(|_| live(&registry, "a").is_some()));
            for number in 1..=100 {
                let next = run("a", number);
                registry.succeed(&current, &next).unwrap().unwrap();
                current = next;
            }
            assert!(reader.join().unwrap(), "a reader saw no live run");
        });
        assert_eq!(registry.list().unwrap().len(), 1);
    }

    #[test]
    fn only_the_live_run_can_be_succeeded() {
        let registry = Registry::new();
        let (first, second, third) = (run("a", 1), run("a", 2), run("a", 3));
        registry.insert_if_absent(Arc::clone(&first)).unwrap().unwrap();
        registry.succeed(&first, &second).unwrap().unwrap();
        let live_now = registry.succeed(&first, &third).unwrap().unwrap_err();
        assert_eq!(live_now.map(|entry| entry.run_id), Some(second.run_id));
        assert_eq!(live(&registry, "a"), Some(second.run_id));
    }

    #[test]
    fn a_late_removal_does_not_evict_what_took_the_place() {
        let registry = Registry::new();
        let (first, again) = (run("a", 1), run("a", 1));
        registry.insert_if_absent(Arc::clone(&first)).unwrap().unwrap();
        assert_eq!(registry.remove(&first).unwrap(), Removal::Removed);
        assert_eq!(registry.remove(&first).unwrap(), Removal::Absent);
        registry.insert_if_absent(Arc::clone(&again)).unwrap().unwrap();
        assert_eq!(registry.remove(&first).unwrap(), Removal::Replaced);
        assert_eq!(live(&registry, "a"), Some(again.run_id));
    }

    #[test]
    fn removing_a_superseded_run_leaves_the_live_index_alone() {
        let registry = Registry::new();
        let (first, second) = (run("a", 1), run("a", 2));
        assert_eq!(live(&registry, "a"), None);
        registry.insert_if_absent(Arc::clone(&first)).unwrap().unwrap();
        registry.succeed(&first, &second).unwrap().unwrap();
        assert_eq!(registry.remove(&first).unwrap(), Removal::Absent);
        assert_eq!(live(&registry, "a"), Some(second.run_id));
        assert_eq!(registry.remove(&second).unwrap(), Removal::Removed);
        assert_eq!(live(&registry, "a"), None);
    }

    #[test]
    fn a_list_is_a_snapshot_in_the_order_of_starting() {
        let registry = Registry::new();
        for (flow_id, number) in [("b", 2), ("a", 1), ("c", 3)] {
            registry.insert_if_absent(run(flow_id, number)).unwrap().unwrap();
        }
        let list = registry.list().unwrap();
        // The lock is free while the list is in use.
        registry.remove(&list[0]).unwrap();
        let ids: Vec<_> = list.iter().map(|entry| entry.flow_id.as_str()).collect();
        assert_eq!(ids, ["a", "b", "c"]);
    }

    #[test]
    fn a_panic_under_the_lock_gives_a_typed_error() {
        let registry = Registry::<Run>::new();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _table = registry.lock().unwrap();
            panic!("on purpose");
        }));
        assert!(result.is_err());
        assert_eq!(registry.list().unwrap_err(), Poisoned);
        assert_eq!(registry.insert_if_absent(run("a", 1)).unwrap_err(), Poisoned);
    }
}
