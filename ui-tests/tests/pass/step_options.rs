//! Every option of steps, RPCs and flows in one place, and ways to be reached that the graph has to see.
#![deny(warnings)]

use std::time::{Duration, SystemTime};

use dex::definition::{Durability, OnExhausted};
use dex::prelude::*;

#[derive(Clone, serde::Serialize, serde::Deserialize, Keyword)]
enum Status {
    Open,
    Closed,
}

struct Shop;

#[flow(timeout = "30d")]
impl Shop {
    #[attribute(index)]
    const STATUS: Attribute<Status>;
    #[attribute(index)]
    const STATUSES: Attribute<Vec<Status>>;
    #[attribute(index, name = "stored balance")]
    const BALANCE: Attribute<i64>;
    #[attribute(index)]
    const NAMES: Attribute<Vec<String>>;
    #[attribute(index)]
    const SINCE: Attribute<SystemTime>;

    #[step(start, heartbeat = "10s", timeout = "1m", on_exhausted = park, lock(STATUS, BALANCE,), durability = sync)]
    async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.heartbeat();
        ctx.set(Self::STATUS, Status::Open)?;
        Self::decide(true)
    }

    fn decide(fast: bool) -> StepResult<Self> {
        Ok(if fast { Next::to(Self::SHIP, ()) } else { Next::to(Self::THANK, ()) })
    }

    #[step(durability = async, on_exhausted = proceed)]
    fn ship(&self) -> StepResult<Self> {
        let steps = vec![Shop::THANK];
        Ok(Next::to(steps[0], ()))
    }

    #[step(on_failure = apologise)]
    async fn thank(&self) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[step(no_lock(BALANCE))]
    async fn apologise(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Self::BALANCE, 0)?;
        finish()
    }

    #[step(entry)]
    async fn audit(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    /// What is left is thrown away.
    #[on_timeout(retry(attempts = 2))]
    async fn late(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Self::STATUS, Status::Closed)?;
        Ok(Next::complete_now(()))
    }

    #[on_cancel(name = "take back")]
    fn undo(&self, _: ()) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[rpc(lock(BALANCE), timeout = "5s")]
    async fn pay(&self, ctx: &mut RpcContext<Self>, cents: i64) -> RpcResult<()> {
        ctx.set(Self::BALANCE, cents)
    }
}

struct Careful;

/// Options for all steps, and one step that says otherwise; a patch that is made once.
#[flow(steps(timeout = "1m", retry(attempts = 5,), heartbeat = "10s", on_exhausted = park, durability = async,))]
impl Careful {
    const PATIENT: StepOptions<Self, String> =
        StepOptions::new().attempts(20).timeout(Duration::from_secs(5)).on_failure(Self::MEND);

    #[step(start)]
    async fn read(&self, text: String) -> StepResult<Self> {
        Ok(Next::to_with(Self::WRITE, text, Self::PATIENT))
    }

    #[step(timeout = "30s", durability = sync)]
    async fn write(&self, text: String) -> StepResult<Self> {
        let options = StepOptions::new().on_failure(Self::MEND);
        Ok(Next::to_with(Self::MEND, text, options))
    }

    #[step]
    async fn mend(&self, _text: String) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

struct Conditional;

#[flow]
impl Conditional {
    #[cfg(any())]
    #[on_timeout]
    async fn never(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[cfg(any())]
    #[on_cancel]
    async fn undo(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[cfg(all())]
    #[on_cancel]
    async fn take_back(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn finish() -> StepResult<Shop> {
    Ok(Next::complete(()))
}

fn main() {
    let shop = Shop::definition();
    assert_eq!(shop.timeout, Some(Duration::from_hours(30 * 24)));
    assert_eq!((shop.on_timeout, shop.on_cancel), (Some("late"), Some("take back")));
    let (_, sell) = shop.step("sell").unwrap();
    assert_eq!((sell.heartbeat, sell.locks), (Some(Duration::from_secs(10)), &["STATUS", "stored balance"][..]));
    assert_eq!((sell.on_exhausted, sell.durability), (OnExhausted::Park, Durability::Sync));
    let (_, ship) = shop.step("ship").unwrap();
    assert_eq!((ship.on_exhausted, ship.durability), (OnExhausted::Proceed, Durability::Async));
    let (_, pay) = shop.rpc("pay").unwrap();
    assert_eq!((pay.timeout, pay.locks), (Some(Duration::from_secs(5)), &["stored balance"][..]));
    let (_, read) = Careful::definition().step("read").unwrap();
    assert_eq!((read.timeout, read.retry.attempts), (Some(Duration::from_mins(1)), Some(5)));
    assert_eq!((read.on_exhausted, read.durability), (OnExhausted::Park, Durability::Async));
    let (_, write) = Careful::definition().step("write").unwrap();
    assert_eq!((write.timeout, write.durability), (Some(Duration::from_secs(30)), Durability::Sync));
    let conditional = Conditional::definition();
    assert_eq!((conditional.on_timeout, conditional.on_cancel), (None, Some("take_back")));
    let _ = (Careful, Conditional, Shop, Shop::STATUSES, Shop::NAMES, Shop::SINCE, Shop::AUDIT);
}
