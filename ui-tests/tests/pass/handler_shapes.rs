//! Handlers with and without context, input and `async`; bodies with everything that a body may have.
#![deny(warnings)]

use std::time::Duration;

use dex::prelude::{
    Attribute as Kept, Channel as Queue, Flow, Next, OneOf2, RpcContext, RpcResult, StepContext as Context,
    StepError, StepResult, Timer, TimerFired, Wait, WaitContext, WaitResult,
};

pub struct Shop {
    goods: Vec<u8>,
}

/// Two lines of
/// documentation.
#[dex::flow(output = (String, u8), name = "the shop")]
impl Shop {
    #[dex::attribute(index, name = "count of goods")]
    pub const COUNT: Kept<u64>;
    #[dex::channel]
    pub const ORDERS: Queue<Vec<u8>>;

    const LIMIT: usize = 10;

    fn helper<T: Into<u64>>(value: T) -> u64 {
        value.into()
    }

    #[dex::step(start)]
    async fn nothing(&self) -> StepResult<Self> {
        Ok(Next::each(Self::VALUE_ONLY, [1, 2]).and(Self::CONTEXT_ONLY, ()))
    }

    #[dex::step(name = "value only")]
    fn value_only(&self, value: u8) -> StepResult<Self> {
        let nested = || -> Result<u64, StepError> { Ok(Self::helper(value) + u64::from(self.goods[0])) };
        fn inner<T>(value: T) -> T {
            value
        }
        if inner(nested()?) > Self::LIMIT as u64 {
            return Err(StepError::fatal(format!("too many: {}", self.goods.len())));
        }
        match value {
            0 => Ok(Next::to(Self::TUPLE, (1, "x".into()))),
            _ => Ok(Next::fail(format!("{:?}", Self::TUPLE))),
        }
    }

    #[dex::step]
    async fn context_only(&self, ctx: &mut Context<Self>) -> StepResult<Self> {
        let count = ctx.get(Self::COUNT)?.unwrap_or_default();
        ctx.set(Self::COUNT, count + 1)?;
        std::future::ready(()).await;
        Ok(Next::complete(("done".into(), 1)))
    }

    #[dex::wait_for(tuple)]
    async fn for_orders(&self, ctx: &mut WaitContext<Self>, (n, _): &(usize, String)) -> WaitResult<Self, OneOf2<Vec<Vec<u8>>, TimerFired>> {
        ctx.publish(Self::ORDERS, Vec::new())?;
        Ok(Wait::any((Self::ORDERS.n(*n), Timer::after(Duration::from_secs(1)))))
    }

    #[dex::step(timeout = "1h 30m", retry(attempts = 2, factor = 1.5))]
    async fn tuple(
        &self,
        _: &mut Context<Self>,
        (n, mut text): (usize, String),
        outcome: OneOf2<Vec<Vec<u8>>, TimerFired>,
    ) -> StepResult<Self> {
        text.push('x');
        let OneOf2::First(orders) = outcome else { return Ok(Next::complete_now((text, 0))) };
        Ok(Next::complete((text, u8::try_from(orders.len() + n)?)))
    }

    #[dex::wait_for(named_like_a_context)]
    async fn not_its_context(&self, input: &PayContext) -> WaitResult<Self, u8> {
        Ok(Wait::ready(input.0))
    }

    #[dex::step(entry)]
    async fn named_like_a_context(&self, PayContext(a): PayContext, b: u8) -> StepResult<Self> {
        Ok(Next::complete((String::new(), a + b)))
    }

    #[dex::wait_for(waits_only)]
    fn pause(&self) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(Duration::from_secs(1))))
    }

    /// Does not care what its wait gave.
    #[dex::step]
    async fn waits_only(&self) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[dex::rpc]
    fn no_arguments(&self) -> RpcResult<()> {
        Ok(())
    }

    #[dex::rpc(name = "more goods")]
    pub fn pattern(&self, ctx: &mut RpcContext<Self>, (a, b): (u8, u8)) -> RpcResult<Vec<u8>> {
        ctx.start_step(Self::WAITS_ONLY, ())?;
        Ok(vec![a, b])
    }

    #[dex::rpc]
    fn alias(&self, ctx: &RpcContext<Self>) -> Answer<u64> {
        Ok(ctx.get(Self::COUNT)?.unwrap_or_default())
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
struct PayContext(u8);

type Answer<T> = RpcResult<T>;

async fn call(run: &<Shop as Flow>::Run) -> dex::Result<u64> {
    run.no_arguments().await?;
    let _: Vec<u8> = run.pattern((1, 2)).await?;
    run.alias().await
}

fn start<F: Flow>(_input: F::Input) {}

fn main() {
    let definition = Shop::definition();
    assert_eq!(definition.name, "the shop");
    assert_eq!(definition.docs, "Two lines of\ndocumentation.");
    assert_eq!(definition.output, "(String, u8)");
    assert!(definition.attributes[0].indexed);
    let (_, tuple) = definition.step("tuple").unwrap();
    assert_eq!(tuple.timeout, Some(Duration::from_secs(5400)));
    assert_eq!((tuple.retry.attempts, tuple.retry.factor), (Some(2), 1.5));
    assert_eq!(tuple.wait.as_ref().unwrap().outcome, "OneOf2<Vec<Vec<u8>>, TimerFired>");
    let (_, waits_only) = definition.step("waits_only").unwrap();
    assert_eq!(waits_only.wait.as_ref().unwrap().outcome, "TimerFired");
    let (_, value_only) = definition.step("value only").unwrap();
    assert!(value_only.blocking);
    assert_eq!(value_only.edges.len(), 1);
    assert_eq!(definition.start().unwrap().edges.iter().map(|edge| edge.to).collect::<Vec<_>>(), ["value only", "context_only"]);
    let (_, pattern) = definition.rpc("more goods").unwrap();
    assert_eq!((pattern.input, pattern.output, pattern.writes), ("(u8, u8)", "Vec<u8>", true));
    assert_eq!(pattern.edges[0].to, "waits_only");
    start::<Shop>(());
    let _ = (Shop { goods: Vec::new() }, call);
}
