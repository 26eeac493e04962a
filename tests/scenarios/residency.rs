//! Rows 113 to 123: one run for one id, runs in memory and out of it, and who is told of an end.

use dex::prelude::*;
use dex::{ErrorKind, Status};

use crate::support::{ALL, each_way, engine};

/// Waits for a word.
struct Listener;

#[flow(output = String)]
impl Listener {
    #[channel]
    const WORDS: Channel<String>;

    #[wait_for(listen)]
    fn a_word(&self) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::WORDS.one()))
    }

    #[step(start)]
    async fn listen(&self, _input: (), word: String) -> StepResult<Self> {
        Ok(Next::complete(word))
    }
}

/// Rows 115 and 116
// In one way only: the test holds the store while others start.
#[tokio::test]
async fn a_start_that_nobody_waits_for_any_more_keeps_no_id_from_others() {
    let t = engine(Listener).await;
    let client = t.client::<Listener>();
    for round in 0..20 {
        let id = format!("r{round}");
        let gate = t.store().gate();
        let begun = tokio::spawn({
            let (client, id) = (client.clone(), id.clone());
            async move { client.start(id, ()).await.map(drop) }
        });
        let second = tokio::spawn({
            let (client, id) = (client.clone(), id.clone());
            async move { client.start(id, ()).await.map(drop) }
        });
        // The first one is given up at another point in each round.
        for _ in 0..round {
            tokio::task::yield_now().await;
        }
        begun.abort();
        let first = begun.await;
        gate.open();
        // Another id never was in the way.
        client.start(format!("other-{round}"), ()).await.unwrap();
        let second = second.await.unwrap();
        let run = client.run(&id).await.unwrap();
        match (first, second) {
            // It was given up before it was anything, or told the second one that it was first.
            (Err(_), Ok(())) => {}
            (Err(_) | Ok(Ok(())), Err(error)) => {
                assert_eq!(error.kind(), ErrorKind::AlreadyStarted);
                assert_eq!(error.existing_run(), Some((run.run_id(), Status::Running)));
            }
            other => panic!("{other:?}"),
        }
        run.publish(Listener::WORDS, id.clone()).await.unwrap();
        assert_eq!(run.output().await.unwrap(), id);
    }
}

/// Row 123
#[tokio::test]
async fn an_end_that_nobody_waited_for_is_told_to_whoever_asks_later() {
    each_way(
        ALL,
        || Listener,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            t.run().await.publish(Listener::WORDS, "over".into()).await.unwrap();
            t.phase().await;
            let asked = t.run().await;
            assert_eq!(asked.result().await.unwrap().status(), Status::Completed, "{:?}", t.way);
            assert_eq!(asked.output().await.unwrap(), "over");
            asked.wait_for_step(Listener::LISTEN, 1).await.unwrap();
        },
    )
    .await;
}
