//! Readers: woken by items, not by polling; through restarts; to the end.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::*;

/// Whether a call is done after being looked at once.
fn is_ready(call: impl Future) -> bool {
    matches!(pin!(call).poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(_))
}

#[tokio::test]
async fn a_reader_waits_for_items_through_restarts_and_ends_with_the_run() {
    each_way(ALL, Numbers::default, async |t| {
        t.client().start("r", 0).await.unwrap();
        t.settle().await;
        let closes = t.way == support::Way::Closed;
        let run = t.run().await;
        let mut reader = run.read(Numbers::NUMBERS);
        let reading = tokio::spawn(async move {
            let mut seen = Vec::new();
            while let Some(item) = reader.next().await? {
                seen.push((item.offset, item.value));
            }
            Ok::<_, dex::Error>(seen)
        });
        run.append(Numbers::NUMBERS, 1).await.unwrap();
        t.phase().await;
        if closes {
            // The engine of that reader is gone for good.
            assert_eq!(reading.await.unwrap().err().unwrap().kind(), ErrorKind::ShutDown);
            return;
        }
        let run = t.run().await;
        run.append(Numbers::NUMBERS, 2).await.unwrap();
        t.reopen().await;
        run.terminate().await.unwrap();
        let seen = tokio::time::timeout(Duration::from_secs(20), reading).await.unwrap().unwrap().unwrap();
        assert_eq!(seen, [(1, 1), (2, 2)], "{:?}", t.way);
    })
    .await;
}

#[tokio::test]
async fn a_call_that_is_dropped_loses_no_item() {
    let t = engine(Numbers::default()).await;
    let run = t.client::<Numbers>().start("r", 0).await.unwrap();
    t.settle().await;
    let mut reader = run.read(Numbers::NUMBERS);
    for number in 0..20 {
        // Given up at once, or somewhere on the way.
        assert!(!is_ready(reader.next()));
        let _ = tokio::time::timeout(Duration::from_micros(number * 50), reader.next()).await;
        run.append(Numbers::NUMBERS, u32::try_from(number).unwrap()).await.unwrap();
        let item = reader.next().await.unwrap().unwrap();
        assert_eq!((item.offset, u64::from(item.value)), (number + 1, number));
    }
}

#[tokio::test]
async fn many_readers_of_a_run_see_every_item_in_order_while_many_append() {
    let t = engine(Numbers::default()).await;
    let run = t.client::<Numbers>().start("r", 0).await.unwrap();
    t.settle().await;
    let readers: Vec<_> = (0..8).map(|_| tokio::spawn(read_all(run.read(Numbers::NUMBERS)))).collect();
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let run = t.client::<Numbers>();
            tokio::spawn(async move {
                let run = run.run("r").await.unwrap();
                for number in 0..50 {
                    run.append(Numbers::NUMBERS, writer * 1000 + number).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    run.terminate().await.unwrap();
    for reader in readers {
        let items = reader.await.unwrap();
        assert_eq!(offsets(&items), (1..=400).collect::<Vec<_>>());
        for writer in 0..8 {
            let own = values(&items).into_iter().filter(|value| value / 1000 == writer);
            assert!(own.is_sorted());
        }
    }
}

#[tokio::test]
async fn a_reader_of_a_run_that_left_memory_is_woken_by_the_next_item() {
    // With one idle run at most, a second one sends the first away.
    let options = dex::Options { idle_runs_max: 1, ..dex::Options::default() };
    let t = dex::testing::engine().flow(Numbers::default()).options(options).start().await.unwrap();
    let run = t.client::<Numbers>().start("r", 1).await.unwrap();
    let mut reader = run.read(Numbers::NUMBERS);
    assert_eq!(reader.next().await.unwrap().unwrap().value, 0);
    let waiting = tokio::spawn(async move { reader.next().await });
    t.settle().await;
    for other in 0..3 {
        t.client::<Numbers>().start(format!("other-{other}"), 0).await.unwrap();
        t.settle().await;
    }
    run.append(Numbers::NUMBERS, 5).await.unwrap();
    assert_eq!(waiting.await.unwrap().unwrap().unwrap().value, 5);
}

/// The same stream, declared with another type.
struct Changed;

#[flow(name = "Numbers")]
impl Changed {
    #[stream(name = "NUMBERS")]
    const TEXTS: Stream<String>;
    #[step(start)]
    async fn first(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

#[tokio::test]
async fn an_item_of_another_type_is_an_error_once_and_the_reader_goes_on_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let t = dex::testing::engine_in(folder.path()).flow(Numbers::default()).start().await.unwrap();
    let run = t.client::<Numbers>().start("r", 1).await.unwrap();
    t.settle().await;
    run.terminate().await.unwrap();
    t.shutdown(seconds(1)).await.unwrap();
    let t = dex::testing::engine_in(folder.path()).flow(Changed).start().await.unwrap();
    let run = t.client::<Changed>().run("r").await.unwrap();
    let mut reader = run.read(Changed::TEXTS);
    assert_eq!(reader.next().await.err().unwrap().kind(), ErrorKind::InvalidValue);
    assert!(reader.next().await.unwrap().is_none());
}
