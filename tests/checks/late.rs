//! Mistakes that are found when a store is opened, or at run time.

use dex::prelude::*;
use dex::{ErrorKind, TimeoutPolicy};

use crate::support::{engine, hours, seconds};

struct Shop;

#[flow(name = "shop")]
impl Shop {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::dead_end().cancel(Self::SELL))
    }

    #[step(entry)]
    async fn close(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

mod elsewhere {
    use dex::prelude::*;

    pub(super) struct Shop;

    #[flow(name = "shop")]
    impl Shop {
        #[step(start)]
        async fn sell(&self) -> StepResult<Self> {
            Ok(Next::complete(()))
        }
    }
}

#[tokio::test]
async fn two_flows_that_are_stored_under_one_name_are_refused() {
    let error = dex::testing::engine().flow(Shop).flow(elsewhere::Shop).start().await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidSetup);
    assert!(error.to_string().contains("two flows are stored under the name `shop`"), "{error}");
}

#[tokio::test]
async fn a_policy_for_the_end_of_a_time_needs_that_time() {
    let t = engine(Shop).await;
    for policy in [TimeoutPolicy::Fail, TimeoutPolicy::Cancel, TimeoutPolicy::Step] {
        let error = t.client::<Shop>().start("r", ()).on_timeout(policy).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidSetup);
        assert!(error.to_string().contains("`.timeout(…)`"), "{error}");
    }
    let start = t.client::<Shop>().start("r", ()).timeout(hours(1));
    start.on_timeout(TimeoutPolicy::Cancel).await.unwrap();
}

#[tokio::test]
async fn a_flow_without_a_step_for_the_end_of_its_time_is_not_told_to_start_it() {
    let t = engine(Shop).await;
    let start = t.client::<Shop>().start("r", ()).timeout(hours(1)).on_timeout(TimeoutPolicy::Step);
    let error = start.await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidSetup);
    assert!(error.to_string().contains("`#[on_timeout]`"), "{error}");
    assert_eq!(t.client::<Shop>().run("r").await.err().unwrap().kind(), ErrorKind::NotFound);
}

/// Writes its checkpoint as a number and reads it as a text.
struct Forgetful;

#[flow]
impl Forgetful {
    #[step(start)]
    async fn copy(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        if let Some(text) = ctx.last_checkpoint::<String>()? {
            return Ok(Next::fail(text));
        }
        ctx.checkpoint(&17)?;
        Err(StepError::new("the line went dead"))
    }

    #[step(entry)]
    async fn give_up(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

#[tokio::test]
async fn a_checkpoint_that_is_read_as_another_type_parks_its_step() {
    let t = engine(Forgetful).await;
    let run = t.client::<Forgetful>().start("r", ()).await.unwrap();
    t.advance(seconds(60)).await;
    let explained = run.describe().await.unwrap().explain();
    assert!(explained.contains("copy-1 is parked"), "{explained}");
    assert!(explained.contains("String"), "{explained}");
}
