//! Commits that wait, in chunks of what one batch takes.

use std::collections::VecDeque;

use crate::store::RunCommit;

/// Buffers that are kept for the next backlog. Two more take turns between the queue and the thread; a longer backlog
/// is so much work that its buffers do not matter.
const FREE_MAX: usize = 2;

/// Commits in the order of their coming. Each stays where it was put until its batch is written, however long the
/// backlog is.
#[derive(Debug)]
pub(super) struct Chunks<A> {
    /// Each with as many commits as a batch takes.
    full: VecDeque<Chunk<A>>,
    last: Chunk<A>,
    free: Vec<Chunk<A>>,
    max: usize,
}

/// Commits and what follows them, place by place.
#[derive(Debug)]
pub(super) struct Chunk<A> {
    pub(super) commits: Vec<RunCommit>,
    pub(super) after: Vec<A>,
    /// Which of them have to be on disk before what follows happens.
    pub(super) durable: Vec<bool>,
}

impl<A> Chunks<A> {
    /// With chunks of `max` commits, or of one.
    pub(super) fn new(max: usize) -> Self {
        Self { full: VecDeque::new(), last: Chunk::default(), free: Vec::new(), max: max.max(1) }
    }

    pub(super) fn push(&mut self, commit: RunCommit, after: A, durable: bool) {
        if self.last.commits.len() == self.max {
            let next = self.free.pop().unwrap_or_default();
            self.full.push_back(std::mem::replace(&mut self.last, next));
        }
        self.last.commits.push(commit);
        self.last.after.push(after);
        self.last.durable.push(durable);
    }

    /// Puts the first chunk into `spare`, which is empty.
    pub(super) fn take(&mut self, spare: &mut Chunk<A>) {
        let Some(first) = self.full.pop_front() else {
            std::mem::swap(&mut self.last, spare);
            return;
        };
        let spare = std::mem::replace(spare, first);
        if self.free.len() < FREE_MAX {
            self.free.push(spare);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.full.len() * self.max + self.last.commits.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.full.is_empty() && self.last.commits.is_empty()
    }

    /// What follows the commits, which are dropped.
    pub(super) fn drain(&mut self) -> Vec<A> {
        let chunks = self.full.drain(..).chain([std::mem::take(&mut self.last)]);
        chunks.flat_map(|chunk| chunk.after).collect()
    }
}

impl<A> Chunk<A> {
    pub(super) fn clear(&mut self) {
        self.commits.clear();
        self.after.clear();
        self.durable.clear();
    }
}

impl<A> Default for Chunk<A> {
    fn default() -> Self {
        Self { commits: Vec::new(), after: Vec::new(), durable: Vec::new() }
    }
}
