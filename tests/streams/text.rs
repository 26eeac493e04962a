//! Text that a step collects: when it is written, and that it is before the outcome.

use std::sync::{Arc, Mutex};

use dex::TextWriter;
use tokio::sync::Notify;

use super::*;

/// Says what its input says, piece by piece, and does what the pieces ask for.
#[derive(Clone, Default)]
struct Speaker {
    go_on: Arc<Notify>,
    kept: Arc<Mutex<Option<TextWriter>>>,
}

#[flow(output = u32)]
impl Speaker {
    #[stream]
    const WORDS: Stream<String>;

    #[step(start, retry(initial = "1s", attempts = 2))]
    async fn speak(&self, ctx: &mut StepContext<Self>, pieces: Vec<String>) -> StepResult<Self> {
        let mut out = ctx.text(Self::WORDS);
        for piece in &pieces {
            match piece.as_str() {
                "<wait>" => self.go_on.notified().await,
                "<error>" => return Err(StepError::new("on purpose")),
                "<panic>" => panic!("on purpose"),
                "<flush>" => out.flush().await?,
                "<item>" => ctx.append(Self::WORDS, "item".into())?,
                "<keep>" => *self.kept.lock().unwrap() = Some(out.clone()),
                "<long>" => out.push("y".repeat(16 * 1024)).await?,
                word => out.push(word).await?,
            }
        }
        Ok(Next::complete(ctx.attempt()))
    }
}

async fn spoken(t: &dex::testing::TestEngine, pieces: &[&str]) -> (dex::Run<Speaker>, Speaker) {
    let flow = t.flow::<Speaker>();
    let pieces = pieces.iter().map(|piece| (*piece).to_owned()).collect();
    (t.client::<Speaker>().start("r", pieces).await.unwrap(), (*flow).clone())
}

#[tokio::test]
async fn what_comes_together_is_one_item_before_the_outcome() {
    each_way(ALL, Speaker::default, async |t| {
        let pieces = ["a", "", "b", "c"].map(String::from).into();
        t.client().start("r", pieces).await.unwrap();
        t.phase().await;
        let run = t.run().await;
        assert_eq!(run.output().await.unwrap(), 1);
        let items = read_all(run.read(Speaker::WORDS)).await;
        assert_eq!(values(&items), ["abc"], "{:?}", t.way);
    })
    .await;
}

#[tokio::test]
async fn text_is_written_a_second_after_its_first_chunk() {
    let t = engine(Speaker::default()).await;
    let (run, flow) = spoken(&t, &["a", "b", "<wait>", "c", "<wait>", "d"]).await;
    t.advance(dex::testing::TestEngine::now(&t).since(t.now()) + seconds(1)).await;
    let mut words = run.read(Speaker::WORDS);
    assert_eq!(words.next().await.unwrap().unwrap().value, "ab");
    flow.go_on.notify_one();
    t.settle().await;
    t.advance(std::time::Duration::from_millis(999)).await;
    assert!(run.newest(Speaker::WORDS, None, 9).await.unwrap().len() == 1, "it is too early");
    t.advance(std::time::Duration::from_millis(1)).await;
    assert_eq!(words.next().await.unwrap().unwrap().value, "c");
    flow.go_on.notify_one();
    assert_eq!(words.next().await.unwrap().unwrap().value, "d");
    assert!(words.next().await.unwrap().is_none());
}

#[tokio::test]
async fn text_is_written_when_enough_has_come_and_no_chunk_is_split() {
    let t = engine(Speaker::default()).await;
    let (run, flow) = spoken(&t, &["a", "<long>", "b", "<wait>"]).await;
    let mut words = run.read(Speaker::WORDS);
    assert_eq!(words.next().await.unwrap().unwrap().value.len(), 1 + 16 * 1024);
    flow.go_on.notify_one();
    assert_eq!(words.next().await.unwrap().unwrap().value, "b");
}

#[tokio::test]
async fn items_and_text_of_one_stream_stay_in_order() {
    let t = engine(Speaker::default()).await;
    let (run, _) = spoken(&t, &["a", "<item>", "b", "<flush>", "c", "d"]).await;
    let items = read_all(run.read(Speaker::WORDS)).await;
    assert_eq!(values(&items), ["a", "item", "b", "cd"]);
}

#[tokio::test]
async fn the_text_of_an_attempt_that_fails_or_panics_stays() {
    for end in ["<error>", "<panic>"] {
        each_way(IN_MEMORY, Speaker::default, async |t| {
            let run = t.client().start("r", vec!["a".into(), end.into()]).await.unwrap();
            t.advance(seconds(5)).await;
            assert!(run.result().await.unwrap().output().is_err());
            let items = read_all(run.read(Speaker::WORDS)).await;
            assert_eq!(values(&items), ["a", "a"], "{end} {:?}", t.way);
            let attempt = |attempt| StreamSource::Step { execution: "speak-1".into(), attempt };
            assert_eq!((&items[0].source, &items[1].source), (&attempt(1), &attempt(2)));
        })
        .await;
    }
}

#[tokio::test]
async fn a_writer_that_outlives_its_attempt_writes_nothing() {
    let t = engine(Speaker::default()).await;
    let (run, flow) = spoken(&t, &["a", "<keep>"]).await;
    run.output().await.unwrap();
    let mut late = flow.kept.lock().unwrap().take().unwrap();
    for refused in [late.push("b").await, late.push("").await, late.try_push("b")] {
        assert!(matches!(refused, Err(StreamError::Over { stream: "WORDS" })), "{refused:?}");
    }
    assert_eq!(values(&read_all(run.read(Speaker::WORDS)).await), ["a"]);
}

#[tokio::test]
async fn text_of_an_attempt_that_is_called_off_is_dropped() {
    let t = engine(Speaker::default()).await;
    let (run, flow) = spoken(&t, &["a", "<keep>", "<wait>"]).await;
    t.settle().await;
    run.terminate().await.unwrap();
    t.settle().await;
    let mut late = flow.kept.lock().unwrap().take().unwrap();
    assert!(matches!(late.push("b").await, Err(StreamError::Over { .. })));
    assert!(read_all(run.read(Speaker::WORDS)).await.is_empty());
}

/// A plain `fn` that pushes.
struct Blocking;

#[flow]
impl Blocking {
    #[stream]
    const WORDS: Stream<String>;

    #[step(start)]
    fn speak(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        let mut out = ctx.text(Self::WORDS);
        for word in ["a", "b"] {
            out.try_push(word)?;
        }
        Ok(Next::complete(()))
    }
}

#[tokio::test]
async fn a_step_that_is_a_plain_fn_pushes_text_without_waiting() {
    let t = engine(Blocking).await;
    let run = t.client::<Blocking>().start("r", ()).await.unwrap();
    assert_eq!(values(&read_all(run.read(Blocking::WORDS)).await), ["ab"]);
}

/// A step that lives as long as it appends.
struct Alive(Arc<Notify>);

#[flow(output = u32)]
impl Alive {
    #[stream]
    const BEATS: Stream<u32>;
    #[stream]
    const WORDS: Stream<String>;

    #[step(start, heartbeat = "10s", retry(attempts = 1))]
    async fn beat(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        let mut out = ctx.text(Self::WORDS);
        for beat in 0..4 {
            self.0.notified().await;
            if beat % 2 == 0 { ctx.append(Self::BEATS, beat)? } else { out.push("beat").await? }
        }
        Ok(Next::complete(1))
    }
}

#[tokio::test]
async fn what_a_step_appends_is_a_sign_of_life() {
    for (beats, alive) in [(4, true), (1, false)] {
        let go = Arc::new(Notify::new());
        let t = engine(Alive(Arc::clone(&go))).await;
        let run = t.client::<Alive>().start("r", ()).await.unwrap();
        for _ in 0..beats {
            t.advance(seconds(8)).await;
            go.notify_one();
            t.settle().await;
        }
        t.advance(seconds(20)).await;
        assert_eq!(run.output().await.is_ok(), alive);
    }
}
