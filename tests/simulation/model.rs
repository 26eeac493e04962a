//! What has to be true, told in a few lists.

use std::collections::BTreeMap;

use dex::inspect::RunInfo;
use dex::{RunId, Status};

use crate::flow::Report;
use crate::plan::{RUNS, To};

/// What a call led to.
#[derive(Debug)]
pub(crate) enum Answer<T> {
    Done(T),
    /// It may have happened or not.
    Unknown,
    /// It did not happen.
    Nothing,
    /// It did not happen since the run has ended.
    Closed(Status),
    /// It did not happen since there is this run.
    Exists(RunId),
    /// It did not happen since there is no run.
    NotFound,
}

#[derive(Debug, Default)]
pub(crate) struct Model {
    runs: BTreeMap<usize, Known>,
    /// Starts of which nobody knows whether they happened, and nothing else is known of the run.
    perhaps: Vec<usize>,
    last_number: u64,
}

/// What is known of a run.
#[derive(Debug, Default)]
struct Known {
    run: Option<RunId>,
    first: Sent,
    second: Sent,
    added: u64,
    added_perhaps: u64,
    stopped: bool,
    stopped_perhaps: bool,
    /// The end that somebody was told of.
    ended: Option<Status>,
}

/// Messages of a channel.
#[derive(Debug, Default)]
struct Sent {
    accepted: Vec<u64>,
    perhaps: Vec<u64>,
}

impl Model {
    /// A number that no message had so far; they grow.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// The runs that there are for certain.
    pub(crate) fn runs(&self) -> impl Iterator<Item = usize> {
        self.runs.keys().copied()
    }

    /// Those that are not there for certain.
    pub(crate) fn absent(&self) -> impl Iterator<Item = usize> {
        (0..RUNS).filter(|run| !self.runs.contains_key(run) && !self.perhaps.contains(run))
    }

    pub(crate) fn started(&mut self, run: usize, answer: &Answer<RunId>) {
        match answer {
            Answer::Done(id) => {
                assert!(!self.runs.contains_key(&run), "run {run} was started twice");
                self.exists(run, *id);
            }
            Answer::Exists(id) => {
                assert!(
                    self.runs.contains_key(&run) || self.perhaps.contains(&run),
                    "run {run} exists though nobody started it"
                );
                self.exists(run, *id);
            }
            Answer::Unknown if !self.runs.contains_key(&run) => self.perhaps.push(run),
            Answer::Unknown | Answer::Nothing => {}
            Answer::Closed(_) | Answer::NotFound => panic!("a start was told {answer:?}"),
        }
    }

    fn exists(&mut self, run: usize, id: RunId) {
        self.perhaps.retain(|perhaps| *perhaps != run);
        let known = self.runs.entry(run).or_default();
        assert_eq!(*known.run.get_or_insert(id), id, "run {run} is another one now");
    }

    /// The run that a call was about, if the answer shows that there is one.
    fn met<T>(&mut self, run: usize, answer: &Answer<T>) -> Option<&mut Known> {
        match answer {
            Answer::NotFound => {
                assert!(!self.runs.contains_key(&run), "run {run} is lost");
                self.perhaps.retain(|perhaps| *perhaps != run);
                None
            }
            Answer::Nothing => None,
            _ => {
                assert!(
                    self.runs.contains_key(&run) || self.perhaps.contains(&run),
                    "run {run} is from nowhere"
                );
                self.perhaps.retain(|perhaps| *perhaps != run);
                let known = self.runs.entry(run).or_default();
                match answer {
                    Answer::Closed(status) => known.ends(*status),
                    _ => assert!(known.ended.is_none(), "run {run} has ended and takes calls"),
                }
                Some(known)
            }
        }
    }

    pub(crate) fn published(&mut self, run: usize, channel: To, number: u64, answer: &Answer<()>) {
        let Some(known) = self.met(run, answer) else { return };
        let sent = if channel == To::First { &mut known.first } else { &mut known.second };
        match answer {
            Answer::Done(()) => sent.accepted.push(number),
            Answer::Unknown => sent.perhaps.push(number),
            _ => {}
        }
    }

    pub(crate) fn added(&mut self, run: usize, answer: &Answer<()>) {
        let Some(known) = self.met(run, answer) else { return };
        known.added += u64::from(matches!(answer, Answer::Done(())));
        known.added_perhaps += u64::from(matches!(answer, Answer::Unknown));
    }

    pub(crate) fn stopped(&mut self, run: usize, answer: &Answer<()>) {
        let Some(known) = self.met(run, answer) else { return };
        match answer {
            Answer::Done(()) => {
                known.stopped = true;
                known.ends(Status::Terminated);
            }
            Answer::Unknown => known.stopped_perhaps = true,
            _ => {}
        }
    }

    pub(crate) fn seen(&mut self, run: usize, id: RunId, status: Status) {
        self.exists(run, id);
        if let Some(known) = self.runs.get_mut(&run) {
            match status {
                Status::Running => assert!(known.ended.is_none(), "run {run} came back from its end"),
                ended => known.ends(ended),
            }
        }
    }

    /// Checks a run when all is quiet.
    pub(crate) fn check(&self, run: usize, info: &RunInfo, report: &Report) {
        let known = &self.runs[&run];
        if let Some(ended) = known.ended {
            assert_eq!(info.status, ended, "run {run} has ended in two ways");
        }
        match info.status {
            Status::Running => assert_eq!(info.steps.len(), 1, "run {run} has lost its step: {info:?}"),
            Status::Terminated => assert!(known.stopped || known.stopped_perhaps, "nobody ended run {run}"),
            Status::Completed => {}
            other => panic!("run {run} is {other:?}"),
        }
        let asked = report.first.iter().filter(|number| **number % 10 == 9);
        let helped: Vec<u64> = asked.flat_map(|number| [*number, number + 1]).collect();
        // A run that was ended may have been waiting for the last two.
        let fewest =
            if info.status == Status::Terminated { helped.len().saturating_sub(2) } else { helped.len() };
        assert!(helped.starts_with(&report.helped) && report.helped.len() >= fewest, "run {run}: {report:?}");
        let most = known.added + known.added_perhaps;
        assert!((known.added..=most).contains(&report.added), "run {run}: {} of {known:?}", report.added);

        // What the run sent to itself is not the caller's.
        let (echoes, second): (Vec<u64>, Vec<u64>) =
            report.second.iter().partition(|number| **number > 1_000_000);
        assert!(echoes.len() as u64 <= report.echoes, "run {run} took more than it sent: {report:?}");
        let left_first = known.first.check(run, &report.first);
        let left_second = known.second.check(run, &second);
        let left_echoes = report.echoes - echoes.len() as u64;
        let held = match &info.closed {
            Some(closed) => closed.unconsumed,
            None => info.channels.iter().map(|channel| (channel.waiting + channel.reserved) as u64).sum(),
        };
        let fewest = left_first.0 + left_second.0 + left_echoes;
        let most = left_first.1 + left_second.1 + left_echoes;
        assert!(
            (fewest..=most).contains(&held),
            "run {run} holds {held} messages, not {fewest} to {most}: {known:?}"
        );
    }
}

impl Known {
    fn ends(&mut self, status: Status) {
        assert_eq!(*self.ended.get_or_insert(status), status, "it has ended in two ways");
    }
}

impl Sent {
    /// Checks what was taken. Gives how many messages are left at fewest and at most.
    fn check(&self, run: usize, taken: &[u64]) -> (u64, u64) {
        assert!(
            taken.is_sorted_by(|a, b| a < b),
            "run {run}: messages were taken twice or out of order: {taken:?}"
        );
        for number in taken {
            let sent = self.accepted.contains(number) || self.perhaps.contains(number);
            assert!(sent, "run {run}: nobody sent {number}: {self:?}");
        }
        // In order also means that nothing accepted was passed over.
        let last = taken.last().copied().unwrap_or(0);
        let skipped = self.accepted.iter().find(|number| **number < last && !taken.contains(number));
        assert_eq!(skipped, None, "run {run}: {self:?} {taken:?}");
        let left = |sent: &[u64]| sent.iter().filter(|number| !taken.contains(number)).count() as u64;
        let fewest = left(&self.accepted);
        (fewest, fewest + left(&self.perhaps))
    }
}
