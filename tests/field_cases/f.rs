//! Messages: lost before, between or after.

use dex::prelude::*;
use dex::testing;
use dex::{ErrorKind, Status, Stop};
use serde_json::json;

use crate::support::{IN_MEMORY, each_way, engine, hours};

/// Takes what is there until there is nothing.
struct Drains;

#[flow(output = Vec<String>)]
impl Drains {
    #[channel]
    const A: Channel<String>;
    #[channel]
    const B: Channel<String>;

    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::to(Self::TAKE, Vec::new()))
    }

    #[wait_for(take)]
    fn either_or_no_time(
        &self,
        _ctx: &WaitContext<Self>,
        seen: &Vec<String>,
    ) -> WaitResult<Self, OneOf3<String, String, TimerFired>> {
        // Each is first half of the time.
        let timer = Timer::after(std::time::Duration::ZERO);
        let (first, second) =
            if seen.len().is_multiple_of(2) { (Self::A, Self::B) } else { (Self::B, Self::A) };
        Ok(Wait::any((first.one(), second.one(), timer)))
    }

    #[step]
    async fn take(&self, mut seen: Vec<String>, got: OneOf3<String, String, TimerFired>) -> StepResult<Self> {
        match got {
            OneOf3::First(message) | OneOf3::Second(message) => seen.push(message),
            OneOf3::Third(TimerFired) => return Ok(Next::complete(seen)),
        }
        Ok(Next::to(Self::TAKE, seen))
    }
}

/// F3
#[tokio::test]
async fn of_several_alternatives_that_are_there_only_the_winner_takes_a_message() {
    each_way(
        IN_MEMORY,
        || Drains,
        async |t| {
            let mut start = t.client().start("r", ());
            for number in 0..50 {
                start =
                    start.publish(Drains::A, format!("a{number}")).publish(Drains::B, format!("b{number}"));
            }
            start.await.unwrap();
            let expected: Vec<_> =
                (0..50).flat_map(|number| [format!("a{number}"), format!("b{number}")]).collect();
            let run = t.run().await;
            assert_eq!(run.output().await.unwrap(), expected, "{:?}", t.way);
            assert_eq!(run.result().await.unwrap().unconsumed_messages(), 0);
        },
    )
    .await;
}

/// F6
#[tokio::test]
async fn a_message_to_an_id_that_never_was_is_refused_and_does_not_wait_for_it() {
    let t = engine(Drains).await;
    let typed = t.client::<Drains>().run("nobody").await.err().unwrap();
    let dynamic = t.dex().dynamic().run("nobody").await.err().unwrap();
    assert!(typed.is_not_found() && dynamic.is_not_found(), "{typed:?}, {dynamic:?}");
    assert_eq!(t.store().commits(), 0);
    let run = t.client::<Drains>().start("nobody", ()).await.unwrap();
    assert!(run.output().await.unwrap().is_empty());
}

/// The first of two builds of one flow: its messages are texts.
struct Texts;

#[flow(output = String, name = "takes-one")]
impl Texts {
    #[channel]
    const MESSAGES: Channel<String>;

    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::to(Self::PAUSE, ()))
    }

    #[wait_for(pause)]
    fn an_hour(&self) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(hours(1))))
    }

    #[step]
    async fn pause(&self, _input: (), _fired: TimerFired) -> StepResult<Self> {
        Ok(Next::to(Self::TAKE, ()))
    }

    #[wait_for(take)]
    fn a_message(&self) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::MESSAGES.one()))
    }

    #[step]
    async fn take(&self, _input: (), message: String) -> StepResult<Self> {
        Ok(Next::complete(message))
    }
}

/// In the second they are numbers.
struct Numbers;

#[flow(output = String, name = "takes-one")]
impl Numbers {
    #[channel]
    const MESSAGES: Channel<u32>;

    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::to(Self::TAKE, ()))
    }

    #[wait_for(pause)]
    fn an_hour(&self) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(hours(1))))
    }

    /// Runs of the build before this one stand here.
    #[step(entry)]
    async fn pause(&self, _input: (), _fired: TimerFired) -> StepResult<Self> {
        Ok(Next::to(Self::TAKE, ()))
    }

    #[wait_for(take)]
    fn a_message(&self) -> WaitResult<Self, u32> {
        Ok(Wait::one(Self::MESSAGES.one()))
    }

    #[step]
    async fn take(&self, _input: (), message: u32) -> StepResult<Self> {
        Ok(Next::complete(message.to_string()))
    }
}

/// F7
#[tokio::test]
async fn a_message_that_a_new_build_cannot_read_parks_its_step_and_is_kept() {
    let t = engine(Texts).await;
    let run = t.client::<Texts>().start("r", ()).await.unwrap();
    run.publish(Texts::MESSAGES, "a text".into()).await.unwrap();
    t.settle().await;
    t.shutdown(hours(1)).await.unwrap();

    let now = t.now();
    let t = testing::engine_on(t.store().reopen()).now(now).flow(Numbers).start().await.unwrap();
    // Who publishes now is told before anything changes.
    let error =
        t.dex().dynamic().run("r").await.unwrap().publish("MESSAGES", json!("more")).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
    t.advance(hours(10)).await;
    let run = t.client::<Numbers>().run("r").await.unwrap();
    let info = run.describe().await.unwrap();
    assert!(
        info.explain().contains("take-1 is parked") && info.explain().contains("u32"),
        "{}",
        info.explain()
    );
    assert_eq!(info.channels[0].reserved + info.channels[0].waiting, 1, "the message is gone");
    t.shutdown(hours(1)).await.unwrap();

    let now = t.now();
    let t = testing::engine_on(t.store().reopen()).now(now).flow(Texts).start().await.unwrap();
    let run = t.client::<Texts>().run("r").await.unwrap();
    run.retry_step("take-1").await.unwrap();
    assert_eq!(run.output().await.unwrap(), "a text");
}

/// Completes or fails at its first message.
struct First;

#[flow(output = u32)]
impl First {
    #[channel]
    const NUMBERS: Channel<u32>;

    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::to(Self::END, ()))
    }

    #[wait_for(end)]
    fn a_number(&self) -> WaitResult<Self, u32> {
        Ok(Wait::one(Self::NUMBERS.one()))
    }

    #[step]
    async fn end(&self, _input: (), number: u32) -> StepResult<Self> {
        Ok(if number == 0 { Next::fail("nothing") } else { Next::complete(number) })
    }
}

/// F9
#[tokio::test]
async fn a_run_that_completes_at_the_first_of_five_messages_says_that_four_were_left() {
    each_way(
        IN_MEMORY,
        || First,
        async |t| {
            let start = (1..=5)
                .fold(t.client().start("r", ()), |start, number| start.publish(First::NUMBERS, number));
            start.await.unwrap();
            t.phase().await;
            let result = t.run().await.result().await.unwrap();
            assert_eq!((result.output().unwrap(), result.unconsumed_messages()), (1, 4));
        },
    )
    .await;
}

/// F10
#[tokio::test]
async fn a_message_to_a_run_that_ended_in_whatever_way_is_refused() {
    each_way(
        IN_MEMORY,
        || First,
        async |t| {
            let ends = [Status::Completed, Status::Failed, Status::Canceled, Status::Terminated];
            for status in ends {
                let run = t.client().start(status.to_string(), ()).await.unwrap();
                match status {
                    Status::Completed => run.publish(First::NUMBERS, 1).await.unwrap(),
                    Status::Failed => run.publish(First::NUMBERS, 0).await.unwrap(),
                    Status::Canceled => run.cancel().await.unwrap(),
                    _ => run.stop(Stop::Terminate, "as told").await.unwrap(),
                }
                run.result().await.unwrap();
                let error = run.publish(First::NUMBERS, 7).await.err().unwrap();
                assert!(error.is_closed(), "{error:?}");
                t.phase().await;
                let run = t.client().run(status.to_string()).await.unwrap();
                let error = run.publish(First::NUMBERS, 7).await.err().unwrap();
                assert_eq!(error.existing_run(), Some((run.run_id(), status)));
                assert_eq!(run.result().await.unwrap().unconsumed_messages(), 0);
            }
        },
    )
    .await;
}
