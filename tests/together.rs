//! Maps, streams, options of movements and what operators do, in one flow.
#![cfg(test)]

mod support;

use dex::inspect::StepPhase;
use dex::prelude::*;
use dex::testing::Change;
use dex::{ErrorKind, StepOptions};
use serde_json::json;
use support::{ALL, IN_MEMORY, World, each_way};

/// Takes what is ordered from its places.
struct Depot;

#[flow(output = Vec<(u32, u64)>)]
impl Depot {
    #[attribute]
    const STOCK: AttributeMap<u32, u64>;
    #[channel]
    const ORDERS: ChannelMap<u32, u64>;
    #[stream]
    const LOG: Stream<String>;

    #[step(start)]
    async fn open(&self, place: u32) -> StepResult<Self> {
        Ok(Next::to(Self::TAKE, place))
    }

    #[wait_for(take)]
    fn an_order(&self, _ctx: &WaitContext<Self>, place: &u32) -> WaitResult<Self, u64> {
        Ok(Wait::one(Self::ORDERS.at(place).one()))
    }

    #[step(lock(STOCK), retry(attempts = 1), on_exhausted = park)]
    async fn take(&self, ctx: &mut StepContext<Self>, place: u32, wanted: u64) -> StepResult<Self> {
        ctx.append(Self::LOG, format!("{wanted} of {place}"))?;
        let stock = ctx.get(Self::STOCK.at(&place))?.unwrap_or_default();
        let left = stock.checked_sub(wanted).ok_or_else(|| StepError::new("there is not enough"))?;
        ctx.set(Self::STOCK.at(&place), left)?;
        Ok(Next::to_with(Self::CLOSE, (), StepOptions::new().attempts(2)))
    }

    #[step(lock(STOCK))]
    async fn close(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        Ok(Next::complete(ctx.entries(Self::STOCK)?))
    }

    /// An operator comes here when an order is too large.
    #[step(entry, lock(STOCK))]
    async fn clear(&self, ctx: &mut StepContext<Self>, place: u32) -> StepResult<Self> {
        ctx.delete(Self::STOCK.at(&place))?;
        ctx.append(Self::LOG, format!("all of {place}"))?;
        Ok(Next::to(Self::CLOSE, ()))
    }

    #[rpc(lock(STOCK))]
    async fn fill(&self, ctx: &mut RpcContext<Self>, (place, count): (u32, u64)) -> RpcResult<()> {
        ctx.set(Self::STOCK.at(&place), count)
    }
}

/// The run `r`, whose step `take` is parked with an order in its hands and the lock of the map.
async fn parked(t: &mut World<'_, Depot>) {
    let start = t.client().start("r", 1).with(Depot::STOCK.at(&1), 3).with(Depot::STOCK.at(&2), 5);
    start.publish(Depot::ORDERS.at(&1), 4).publish(Depot::ORDERS.at(&2), 9).await.unwrap();
    t.phase().await;
    let run = t.run().await;
    assert_eq!(run.describe().await.unwrap().steps[0].phase, StepPhase::Parked, "{:?}", t.way);
    assert_eq!(run.keys(Depot::ORDERS).await.unwrap(), [2], "one is taken");
    // A lock of a map is one for all of its entries.
    assert_eq!(run.fill((2, 1)).await.unwrap_err().kind(), ErrorKind::Locked);
}

async fn log(t: &World<'_, Depot>) -> Vec<String> {
    let newest = t.run().await.newest(Depot::LOG, None, 9).await.unwrap();
    newest.into_iter().rev().map(|item| item.value).collect()
}

#[tokio::test]
async fn a_parked_step_that_holds_a_map_and_a_keyed_message_is_redirected_by_name() {
    each_way(
        ALL,
        || Depot,
        async |t| {
            parked(t).await;
            let run = t.dex().dynamic().run("r").await.unwrap();
            run.redirect_step("take-1", "clear", json!(1)).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.output().await.unwrap(), [(2, 5)], "{:?}", t.way);
            assert_eq!(run.messages(Depot::ORDERS.at(&1)).await.unwrap(), [4], "it was given back");
            assert_eq!(log(t).await, ["4 of 1", "all of 1"]);
        },
    )
    .await;
}

#[tokio::test]
async fn a_parked_step_that_is_skipped_by_name_lets_go_of_its_map_and_its_message() {
    each_way(
        IN_MEMORY,
        || Depot,
        async |t| {
            parked(t).await;
            let dynamic = t.dex().dynamic().run("r").await.unwrap();
            dynamic.skip_step("take-1").await.unwrap();
            t.phase().await;
            let run = t.run().await;
            run.fill((1, 8)).await.unwrap();
            assert_eq!(run.entries(Depot::STOCK).await.unwrap(), [(1, 8), (2, 5)], "{:?}", t.way);
            assert_eq!(run.keys(Depot::ORDERS).await.unwrap(), [1, 2]);
            assert_eq!(log(t).await, ["4 of 1"]);
        },
    )
    .await;
}

#[tokio::test]
async fn entries_that_are_set_by_name_are_what_a_retried_step_finds() {
    each_way(
        IN_MEMORY,
        || Depot,
        async |t| {
            parked(t).await;
            // A write from outside needs no lock.
            let dynamic = t.dex().dynamic().run("r").await.unwrap();
            dynamic.set(("STOCK", "1"), json!(10)).await.unwrap();
            dynamic.retry_step("take-1").await.unwrap();
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.output().await.unwrap(), [(1, 6), (2, 5)], "{:?}", t.way);
            assert_eq!(log(t).await, ["4 of 1", "4 of 1"]);
        },
    )
    .await;
}

#[tokio::test]
async fn a_step_is_called_and_its_entries_items_and_options_are_looked_at() {
    let entries = StepContext::<Depot>::test().with(Depot::STOCK.at(&1), 3).with(Depot::STOCK.at(&2), 5);
    let mut ctx = entries.build();
    let next = Depot.take(&mut ctx, 1, 2).await.unwrap();
    assert_eq!(ctx.staged(Depot::STOCK.at(&1)), Some(Change::Set(1)));
    assert_eq!(ctx.staged(Depot::STOCK.at(&2)), None);
    assert_eq!(ctx.appended(Depot::LOG), ["2 of 1"]);
    assert_eq!(next.steps(), ["close"]);
    assert_eq!(next.options(Depot::CLOSE), [StepOptions::new().attempts(2)]);

    let mut ctx = StepContext::<Depot>::test().build();
    assert_eq!(Depot.take(&mut ctx, 1, 2).await.err().unwrap().to_string(), "there is not enough");
    assert_eq!(ctx.appended(Depot::LOG), ["2 of 1"], "what was said stays said");
    assert_eq!(ctx.staged(Depot::STOCK.at(&1)), None);
}
