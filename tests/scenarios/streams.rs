//! Row 91, and what row 48 says of streams.

use dex::prelude::*;
use dex::{StreamItem, StreamSource};

use crate::support::{ALL, Way, each_way, seconds};

/// Two steps that append in attempts which fail.
struct Progress;

#[flow(output = String)]
impl Progress {
    #[stream]
    const PROGRESS: Stream<String>;

    #[step(start, retry(attempts = 4, initial = "1s"), heartbeat = "10s")]
    async fn first(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        if ctx.attempt() == 1 {
            ctx.append(Self::PROGRESS, "sync-progress".into())?;
            return Err(StepError::new("not yet"));
        }
        Ok(Next::to(Self::SECOND, ()))
    }

    #[step(retry(attempts = 4, initial = "1s"), heartbeat = "10s", durability = async)]
    async fn second(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        if ctx.attempt() < 4 {
            ctx.append(Self::PROGRESS, format!("local-{}", ctx.attempt()))?;
            return Err(StepError::new("not yet"));
        }
        Ok(Next::complete("heartbeat-ok".into()))
    }
}

fn told(items: &[StreamItem<String>]) -> Vec<(&str, String)> {
    let source = |item: &StreamItem<String>| match &item.source {
        StreamSource::Step { execution, attempt } => format!("{execution} {attempt}"),
        StreamSource::Client => "client".to_owned(),
        other => format!("{other:?}"),
    };
    items.iter().map(|item| (item.value.as_str(), source(item))).collect()
}

/// Row 48
// An item says which attempt it is of. A crash between an item and the failure of its attempt would repeat the item under the
// next number, so not with a crash after every transition.
#[tokio::test]
async fn what_failed_attempts_streamed_is_there_with_their_attempts() {
    each_way(
        &[Way::Straight, Way::Restarted, Way::OnDisk, Way::Closed],
        || Progress,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            for _ in 0..7 {
                t.phase().await;
                t.advance(seconds(9)).await;
            }
            let run = t.run().await;
            assert_eq!(run.output().await.unwrap(), "heartbeat-ok", "{:?}", t.way);
            let mut reader = run.read(Progress::PROGRESS);
            let mut items = Vec::new();
            while let Some(item) = reader.next().await.unwrap() {
                items.push(item);
            }
            let expected = [
                ("sync-progress", "first-1 1".to_owned()),
                ("local-1", "second-1 1".to_owned()),
                ("local-2", "second-1 2".to_owned()),
                ("local-3", "second-1 3".to_owned()),
            ];
            assert_eq!(told(&items), expected, "{:?}", t.way);
        },
    )
    .await;
}

/// Appends text and items, goes on when it is told to, and appends more.
struct Chat;

#[flow]
impl Chat {
    #[stream]
    const WORDS: Stream<String>;
    #[channel]
    const GO: Channel<()>;

    #[step(start)]
    async fn begin(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        let mut out = ctx.text(Self::WORDS);
        out.push("prefix ").await?;
        out.push("1").await?;
        out.flush().await?;
        out.push("prefix ").await?;
        out.push("2").await?;
        Ok(Next::to(Self::END, ()))
    }

    #[wait_for(end)]
    fn told_to(&self) -> WaitResult<Self, ()> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step]
    async fn end(&self, ctx: &mut StepContext<Self>, _input: (), _go: ()) -> StepResult<Self> {
        ctx.append(Self::WORDS, "the end".into())?;
        Ok(Next::complete(()))
    }
}

/// Row 91
// Only steps and callers append: a wait is asked again and again, and is not to be heard. A reader resumes behind an offset.
#[tokio::test]
async fn what_steps_and_callers_append_is_read_in_order_and_resumed() {
    each_way(
        ALL,
        || Chat,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            for text in ["client 1", "client 2"] {
                t.run().await.append(Chat::WORDS, text.into()).await.unwrap();
            }
            t.phase().await;
            let mut seen = Vec::new();
            // A new reader for each item goes on behind the last one.
            for _ in 0..4 {
                let after = seen.last().map_or(0, |item: &StreamItem<String>| item.offset);
                let mut reader = t.run().await.read(Chat::WORDS).after(after);
                seen.push(reader.next().await.unwrap().unwrap());
                t.reopen().await;
            }
            let begin = || "begin-1 1".to_owned();
            let client = || "client".to_owned();
            let expected = [
                ("prefix 1", begin()),
                ("prefix 2", begin()),
                ("client 1", client()),
                ("client 2", client()),
            ];
            assert_eq!(told(&seen), expected, "{:?}", t.way);
            t.run().await.publish(Chat::GO, ()).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            run.output().await.unwrap();
            let newest = run.newest(Chat::WORDS, None, 3).await.unwrap();
            assert_eq!(newest.iter().map(|item| item.offset).collect::<Vec<_>>(), [5, 4, 3]);
            let before = run.newest(Chat::WORDS, Some(newest[2].offset), 3).await.unwrap();
            assert_eq!(before.iter().map(|item| item.offset).collect::<Vec<_>>(), [2, 1]);
            assert!(run.newest(Chat::WORDS, Some(1), 3).await.unwrap().is_empty());
            let mut rest = run.read(Chat::WORDS).after(4);
            assert_eq!(rest.next().await.unwrap().unwrap().value, "the end");
            assert!(rest.next().await.unwrap().is_none());
        },
    )
    .await;
}
