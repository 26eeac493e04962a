//! Options of the first step for one run, given where the run is started.
#![cfg(test)]

mod support;

use dex::prelude::*;
use dex::{Closing, ErrorKind, Failure};
use support::{engine, hours};

#[tokio::test]
async fn a_start_has_options_for_its_first_step() {
    let t = engine(Failing).await;
    let client = t.client::<Failing>();
    let run = client.start("r", 1).options(StepOptions::new().attempts(4)).await.unwrap();
    t.advance(hours(10)).await;
    let closing = run.result().await.unwrap();
    let Closing::StepFailed { failure: Failure { message, .. }, .. } = closing.closing() else {
        panic!("{closing:?}")
    };
    assert_eq!(message, "attempt 4");
}

/// Its step fails once, by itself.
struct Failing;

#[flow(endless)]
impl Failing {
    #[step(start, retry(attempts = 1))]
    async fn fails(&self, ctx: &mut StepContext<Self>, _n: u32) -> StepResult<Self> {
        Err(StepError::new(format!("attempt {}", ctx.attempt())))
    }
}

#[tokio::test]
async fn a_start_by_name_has_options_too() {
    let t = engine(Failing).await;
    let start = |id, attempts| {
        t.dex().dynamic().start("Failing", id, 1.into()).options(StepOptions::new().attempts(attempts))
    };
    let run = start("r", 3).await.unwrap();
    t.advance(hours(10)).await;
    assert!(format!("{:?}", run.result().await.unwrap().closing()).contains("attempt 3"));
    assert_eq!(start("none", 0).await.unwrap_err().kind(), ErrorKind::InvalidValue);
}

#[tokio::test]
async fn a_start_with_options_that_cannot_work_starts_nothing() {
    let t = engine(Failing).await;
    let client = t.client::<Failing>();
    let error = client.start("r", 1).options(StepOptions::new().attempts(0)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
    assert_eq!(
        error.to_string(),
        "the options given for the start of flow `Failing`: `attempts` counts the first one too: give at least 1"
    );
    assert_eq!(client.run("r").await.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn a_repeated_start_has_to_have_the_same_options() {
    let t = engine(Failing).await;
    let client = t.client::<Failing>();
    let start =
        |attempts| client.start("r", 1).request_id("once").options(StepOptions::new().attempts(attempts));
    let run = start(2).await.unwrap();
    assert_eq!(start(2).await.unwrap().run_id(), run.run_id());
    assert_eq!(start(3).await.unwrap_err().kind(), ErrorKind::RequestMismatch);
    let plain = client.start("r", 1).request_id("once").await.unwrap_err();
    assert_eq!(plain.kind(), ErrorKind::RequestMismatch);
}

/// Begins with no step.
struct Stepless;

#[flow(endless)]
impl Stepless {
    #[step(entry)]
    async fn later(&self, _n: u32) -> StepResult<Self> {
        Ok(Next::dead_end())
    }
}

#[tokio::test]
async fn options_for_a_start_without_a_step_are_refused() {
    let t = engine(Stepless).await;
    let options = StepOptions::new().attempts(2);
    let error = t.client::<Stepless>().start("r", ()).options(options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
    assert!(error.to_string().contains("begins with no step"), "{error}");
    assert!(t.client::<Stepless>().start("r", ()).options(StepOptions::new()).await.is_ok());
}
