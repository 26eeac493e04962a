//! A step that is faster than the disk is slowed down, or told so; memory stays bounded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// Appends until it is told that there is no room, or pushes text that has to wait.
#[derive(Clone, Default)]
struct Fast {
    refused: Counter,
    pushed: Counter,
    go: Arc<tokio::sync::Notify>,
    done: Arc<AtomicBool>,
}

#[flow(output = u64)]
impl Fast {
    #[stream(capacity = "64 MiB")]
    const OUT: Stream<String>;

    #[step(start)]
    async fn run(&self, ctx: &mut StepContext<Self>, text: bool) -> StepResult<Self> {
        self.go.notified().await;
        let chunk = "x".repeat(1024);
        if text {
            let mut out = ctx.text(Self::OUT);
            for _ in 0..256 {
                out.push(&chunk).await?;
                self.pushed.add();
            }
            self.done.store(true, Ordering::SeqCst);
        } else {
            while self.refused.get() == 0 {
                match ctx.append(Self::OUT, chunk.clone()) {
                    Ok(()) => drop(self.pushed.add()),
                    Err(StreamError::Full { .. }) => drop(self.refused.add()),
                    Err(other) => return Err(other.into()),
                }
            }
        }
        Ok(Next::complete(self.pushed.get() as u64))
    }
}

const ROOM: usize = 64 * 1024;

async fn fast(text: bool) -> (dex::testing::TestEngine, dex::Run<Fast>, Fast) {
    let options = dex::Options { stream_queue_bytes_max: ROOM, ..dex::Options::default() };
    let flow = Fast::default();
    let t = dex::testing::engine().flow(flow.clone()).options(options).start().await.unwrap();
    let run = t.client::<Fast>().start("r", text).await.unwrap();
    t.settle().await;
    (t, run, flow)
}

#[tokio::test]
async fn an_item_without_room_is_refused_by_a_typed_error() {
    let (t, run, flow) = fast(false).await;
    let gate = t.store().gate();
    flow.go.notify_one();
    while flow.refused.get() == 0 {
        tokio::task::yield_now().await;
    }
    // What the committing thread has taken stands at the gate, and counts.
    assert!(flow.pushed.get() <= ROOM / 1024, "{}", flow.pushed.get());
    gate.open();
    let pushed = run.output().await.unwrap();
    assert_eq!(read_all(run.read(Fast::OUT)).await.len() as u64, pushed);
}

#[tokio::test]
async fn text_waits_for_room() {
    let (t, run, flow) = fast(true).await;
    let gate = t.store().gate();
    flow.go.notify_one();
    while !gate.has_commit() {
        tokio::task::yield_now().await;
    }
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    let stuck = flow.pushed.get();
    // What is queued, and one text more that is being collected.
    assert!(stuck <= (ROOM + 32 * 1024) / 1024, "{stuck}");
    assert!(!flow.done.load(Ordering::SeqCst));
    gate.open();
    assert_eq!(run.output().await.unwrap(), 256);
    let bytes: usize = read_all(run.read(Fast::OUT)).await.iter().map(|item| item.value.len()).sum();
    assert_eq!(bytes, 256 * 1024);
}
