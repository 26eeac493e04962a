//! The store fails, or the engine dies: no offset that a reader has seen is ever another item.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use dex::testing::FailAt;
use tokio::task::yield_now;

use super::*;

#[tokio::test]
async fn an_item_whose_commit_fails_is_unknown_and_readers_go_on() {
    for (at, kept) in [(FailAt::BeforeWriting, vec![0, 2]), (FailAt::AfterWriting, vec![0, 1, 2])] {
        let t = engine(Numbers::default()).await;
        let run = t.client::<Numbers>().start("r", 1).await.unwrap();
        let mut reader = run.read(Numbers::NUMBERS);
        assert_eq!(reader.next().await.unwrap().unwrap().value, 0);
        t.settle().await;
        t.store().fail_commit(1, at);
        let error = run.append(Numbers::NUMBERS, 1).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::OutcomeUnknown);
        t.advance(seconds(5)).await;
        run.append(Numbers::NUMBERS, 2).await.unwrap();
        run.terminate().await.unwrap();
        let mut seen = vec![0];
        while let Some(item) = reader.next().await.unwrap() {
            seen.push(item.value);
        }
        assert_eq!(seen, kept, "{at:?}");
        assert_eq!(values(&read_all(run.read(Numbers::NUMBERS)).await), kept);
    }
}

#[tokio::test]
async fn a_full_disk_says_that_nothing_was_appended() {
    let t = engine(Numbers::default()).await;
    let run = t.client::<Numbers>().start("r", 0).await.unwrap();
    t.settle().await;
    t.store().set_disk_full(true);
    let error = run.append(Numbers::NUMBERS, 1).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::DiskFull);
    t.store().set_disk_full(false);
    t.advance(seconds(60)).await;
    assert_eq!(run.append(Numbers::NUMBERS, 2).await.unwrap(), 1);
}

#[tokio::test]
async fn a_reader_sees_an_item_only_once_it_is_on_disk() {
    let t = engine(Talking::default()).await;
    let run = t.client::<Talking>().start("r", ()).await.unwrap();
    let mut reader = run.read(Talking::OUT);
    t.settle().await;
    // The sync comes 50 ms after the item: the gate is mostly closed in between, but nothing can promise it.
    for round in 1..=200 {
        let before = t.store().commits();
        t.flow::<Talking>().next.notify_one();
        while t.store().commits() == before {
            yield_now().await;
        }
        let gate = t.store().gate();
        let mut next = Box::pin(reader.next());
        let mut early = false;
        while !early && !gate.has_commit() {
            early = is_ready(&mut next).await;
        }
        if early {
            // Its sync was there before the gate.
            continue;
        }
        for _ in 0..1_000 {
            assert!(!is_ready(&mut next).await, "the item was seen before it was on disk");
        }
        gate.open();
        assert_eq!(next.await.unwrap().unwrap().value, round);
        return;
    }
    panic!("no item was ever caught between its write and its sync");
}

/// Whether a call is done after being looked at once more.
async fn is_ready(call: &mut (impl Future + Unpin)) -> bool {
    yield_now().await;
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *call).poll(cx).is_ready())).await
}

/// Appends a number whenever it is told to.
#[derive(Default)]
struct Talking {
    next: tokio::sync::Notify,
}

#[flow]
impl Talking {
    #[stream(capacity = "2 KiB")]
    const OUT: Stream<u32>;

    #[step(start)]
    async fn talk(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        for number in 1.. {
            self.next.notified().await;
            ctx.append(Self::OUT, number)?;
            if number == 1_000_000 {
                break;
            }
        }
        Ok(Next::complete(()))
    }
}

#[tokio::test]
async fn whatever_happens_an_offset_that_was_seen_is_the_same_item_for_ever() {
    let t = engine(Talking::default()).await;
    let run = t.client::<Talking>().start("r", ()).await.unwrap();
    let mut reader = run.read(Talking::OUT);
    let reading = tokio::spawn(async move {
        let mut seen = BTreeMap::new();
        while let Some(item) = reader.next().await.unwrap() {
            assert_eq!(seen.insert(item.offset, (item.value, item.at)), None);
        }
        seen
    });
    for round in 0..12_u64 {
        t.settle().await;
        for _ in 0..3 {
            t.flow::<Talking>().next.notify_one();
            t.settle().await;
        }
        match round % 4 {
            0 => t.restart().await.unwrap(),
            1 => t.store().fail_commit(1, FailAt::BeforeWriting),
            2 => t.store().fail_commit(1, FailAt::AfterWriting),
            _ => {}
        }
        t.flow::<Talking>().next.notify_one();
        t.advance(seconds(30)).await;
    }
    t.store().forget_failures();
    run.terminate().await.unwrap();
    let seen = reading.await.unwrap();
    let stored = run.newest(Talking::OUT, None, 999).await.unwrap();
    assert!(seen.len() > 20, "{}", seen.len());
    assert!(stored.len() < seen.len(), "some had to go");
    for item in stored {
        assert_eq!(seen.get(&item.offset), Some(&(item.value, item.at)));
    }
}
