//! What handlers note, and the history of a run where it is read.

use dex::History;
use dex::inspect::HistoryEntry;
use dex::prelude::*;
use serde_json::{Value as Json, json};

use crate::support::{ALL, IN_MEMORY, each_way, engine, seconds};

/// Notes in each kind of handler; its step fails once after it has noted.
struct Notes;

#[flow(output = u32)]
impl Notes {
    #[channel]
    const GO: Channel<u32>;

    #[wait_for(work)]
    fn go(&self, ctx: &mut WaitContext<Self>) -> WaitResult<Self, u32> {
        ctx.note("asked", "for a number")?;
        Ok(Wait::one(Self::GO.one()))
    }

    #[step(start)]
    async fn work(&self, ctx: &mut StepContext<Self>, _i: (), number: u32) -> StepResult<Self> {
        ctx.note("attempt", &ctx.attempt())?;
        if ctx.attempt() == 1 {
            return Err(StepError::retry_after(seconds(5), "once"));
        }
        ctx.note("price", &json!({ "cents": number }))?;
        ctx.note("price", &json!({ "cents": number + 1 }))?;
        Ok(Next::complete(number))
    }

    #[rpc]
    async fn look_at(&self, ctx: &mut RpcContext<Self>, what: String) -> RpcResult<()> {
        ctx.note("looked", &what)
    }

    #[rpc]
    async fn too_much(&self, ctx: &mut RpcContext<Self>, count: u32) -> RpcResult<()> {
        (0..count).try_for_each(|number| ctx.note("number", &number))
    }

    #[rpc]
    async fn unnamed(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.note("", &1)
    }
}

/// The whole history, in pages of `limit`.
async fn all(mut history: History, limit: usize) -> Vec<HistoryEntry> {
    let mut entries = Vec::new();
    loop {
        let page = history.page(limit).await.unwrap();
        assert!(page.len() <= limit);
        if page.is_empty() {
            return entries;
        }
        entries.extend(page);
    }
}

/// Execution, name and value of all notes.
fn notes(entries: &[HistoryEntry]) -> Vec<(Option<&str>, &str, &Json)> {
    let events = entries.iter().flat_map(|entry| &entry.events);
    events
        .filter_map(|event| {
            let (name, value) = event.note()?;
            Some((event.execution.as_deref(), name, value))
        })
        .collect()
}

#[tokio::test]
async fn what_handlers_note_is_in_the_history_and_what_a_failed_attempt_noted_is_not() {
    each_way(
        ALL,
        || Notes,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            t.run().await.look_at("the clock".into()).await.unwrap();
            t.run().await.publish(Notes::GO, 42).await.unwrap();
            t.phase().await;
            t.advance(seconds(5)).await;
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.output().await.unwrap(), 42);
            let entries = all(run.history(), 2).await;
            let expected = [
                (Some("work-1"), "asked", &json!("for a number")),
                (None, "looked", &json!("the clock")),
                (Some("work-1"), "attempt", &json!(2)),
                (Some("work-1"), "price", &json!({ "cents": 42 })),
                (Some("work-1"), "price", &json!({ "cents": 43 })),
            ];
            assert_eq!(notes(&entries), expected, "{:?}", t.way);
            // They are told together with what they belong to.
            let last = entries.last().unwrap();
            assert_eq!(last.notes().count(), 3);
            assert!(last.events.iter().any(|event| event.name == "RunClosed"), "{last:?}");
        },
    )
    .await;
}

/// Branches, so that executions end and others of the same step begin.
struct Branches;

#[flow(output = u32)]
impl Branches {
    #[attribute]
    const SEEN: Attribute<u32>;

    #[step(start)]
    async fn fork(&self, wide: u32) -> StepResult<Self> {
        Ok(Next::each(Self::BRANCH, 0..wide))
    }

    #[step]
    async fn branch(&self, ctx: &mut StepContext<Self>, number: u32) -> StepResult<Self> {
        ctx.set(Self::SEEN, number)?;
        Ok(Next::to(Self::END, number))
    }

    #[step]
    async fn end(&self, number: u32) -> StepResult<Self> {
        Ok(Next::complete(number))
    }
}

#[tokio::test]
async fn a_history_tells_every_transition_in_its_order_with_the_names_of_executions() {
    each_way(
        IN_MEMORY,
        || Branches,
        async |t| {
            let before = t.now();
            t.client().start("r", 3).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            let whole = all(run.history(), 1_000).await;
            let transitions = run.describe().await.unwrap().transitions;
            assert_eq!(transitions, 8, "a start, a fork, three branches and three ends");
            let sequences: Vec<_> = whole.iter().map(|entry| entry.sequence).collect();
            assert_eq!(sequences, (1..=transitions).collect::<Vec<_>>());
            assert!(whole.iter().all(|entry| entry.at >= before));

            let names: Vec<_> = whole[0].events.iter().map(|event| event.name).collect();
            assert_eq!(names, ["RunStarted", "StepScheduled"]);
            assert_eq!(whole[0].events[0].detail["flow"], "Branches");
            let forked = &whole[1].events;
            assert_eq!((forked[0].name, forked[0].execution.as_deref()), ("StepCompleted", Some("fork-1")));
            let third = &forked[3];
            assert_eq!((third.name, third.execution.as_deref()), ("StepScheduled", Some("branch-3")));
            assert_eq!(third.detail["input"], 2);
            assert_eq!(third.detail["source"], json!({ "kind": "step", "execution": "fork-1" }));
            let of = |name: &str| {
                let events = whole.iter().flat_map(|entry| &entry.events);
                events.filter(|event| event.name == name).collect::<Vec<_>>()
            };
            assert_eq!(of("AttributeSet").len(), 3);
            assert_eq!(of("AttributeSet")[0].detail["attribute"], "SEEN");
            let mut ended: Vec<_> =
                of("StepCompleted").iter().filter_map(|event| event.execution.clone()).collect();
            ended.sort();
            assert_eq!(ended, ["branch-1", "branch-2", "branch-3", "end-1", "end-2", "end-3", "fork-1"]);
            assert_eq!(of("RunClosed")[0].detail["status"], "Completed");

            // However it is read, it is the same.
            for limit in [1, 3, 7] {
                assert_eq!(all(run.history(), limit).await, whole, "pages of {limit}");
                assert_eq!(all(run.history().after(5), limit).await, whole[5..], "pages of {limit} behind 5");
            }
            assert_eq!(all(run.history().after(99), 10).await, []);
            let dynamic = t.dex().dynamic().run("r").await.unwrap();
            assert_eq!(all(dynamic.history(), 3).await, whole);
        },
    )
    .await;
}

#[tokio::test]
async fn a_reader_of_a_history_goes_on_with_what_happens_after_it() {
    let t = engine(Notes).await;
    let run = t.client::<Notes>().start("r", ()).await.unwrap();
    t.settle().await;
    let mut history = run.history();
    assert_eq!(history.page(0).await.unwrap(), []);
    let first = history.page(100).await.unwrap();
    assert_eq!(first.len(), 2, "{first:?}");
    assert_eq!(history.page(100).await.unwrap(), []);
    run.look_at("the door".into()).await.unwrap();
    let next = history.page(100).await.unwrap();
    assert_eq!(notes(&next), [(None, "looked", &json!("the door"))]);
    assert_eq!(next[0].sequence, 3);
    t.restart().await.unwrap();
    run.look_at("the window".into()).await.unwrap();
    assert_eq!(notes(&history.page(100).await.unwrap()), [(None, "looked", &json!("the window"))]);
}

#[tokio::test]
async fn a_page_of_large_values_is_shorter_and_none_is_left_out() {
    let t = engine(Notes).await;
    let run = t.client::<Notes>().start("r", ()).await.unwrap();
    let large = "x".repeat(900_000);
    for _ in 0..45 {
        run.look_at(large.clone()).await.unwrap();
    }
    let mut history = run.history();
    let first = history.page(1_000).await.unwrap();
    assert!(first.len() < 40, "{} entries at once", first.len());
    let rest = all(history, 1_000).await;
    let looked =
        first.iter().chain(&rest).flat_map(HistoryEntry::notes).filter(|(name, _)| *name == "looked");
    assert_eq!(looked.count(), 45);
}

#[tokio::test]
async fn a_note_without_a_name_and_too_many_notes_are_refused() {
    let t = engine(Notes).await;
    let run = t.client::<Notes>().start("r", ()).await.unwrap();
    run.too_much(1_000).await.unwrap();
    let error = run.too_much(1_001).await.unwrap_err().to_string();
    assert!(error.contains("may note 1000 things") && error.contains("use a stream"), "{error}");
    let error = run.unnamed().await.unwrap_err().to_string();
    assert!(error.contains("a note cannot have this name"), "{error}");
    let numbers = all(run.history(), 100).await;
    assert_eq!(
        numbers.iter().map(|entry| entry.notes().count()).sum::<usize>(),
        1_001,
        "with what the wait noted"
    );
}

#[tokio::test]
async fn a_unit_test_sees_what_a_handler_notes() {
    let mut ctx = StepContext::test().attempt(2).build();
    let next = Notes.work(&mut ctx, (), 7).await.unwrap();
    assert_eq!(next.output(), Some(7));
    assert_eq!(ctx.noted::<u32>("attempt"), [2]);
    assert_eq!(ctx.noted::<Json>("price"), [json!({ "cents": 7 }), json!({ "cents": 8 })]);
    assert!(ctx.noted::<Json>("other").is_empty());
}
