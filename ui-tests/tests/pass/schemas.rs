//! A flow that asks for schemas, with every kind of member; keys of maps need none.

use dex::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Order {
    cents: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Keyword)]
enum Size {
    Small,
    Large,
}

struct Bank;

#[flow(output = u64, schemas)]
impl Bank {
    #[step(start)]
    async fn pay(&self, order: Order) -> StepResult<Self> {
        Ok(Next::complete(order.cents.into()))
    }
}

struct Shop;

type Paid = OneOf2<(String, ChildResult<Bank>), TimerFired>;

#[flow(schemas, output = Vec<Order>)]
impl Shop {
    #[attribute(index)]
    const CENTS: Attribute<u32>;

    #[attribute(alias = "stock")]
    const STOCK: AttributeMap<(Size, u64), Option<Order>>;

    #[channel]
    const WORDS: ChannelMap<Size, String>;

    #[stream(capacity = "64 KiB")]
    const NEWS: Stream<Order>;

    #[cfg(not(any()))]
    #[channel]
    const GO: Channel<()>;

    #[wait_for(sell)]
    fn paid(&self, _ctx: &WaitContext<Self>, order: &Order) -> WaitResult<Self, Paid> {
        let paid = SubFlow::<Bank>::run(order.clone());
        let day = Timer::after(std::time::Duration::from_secs(86_400));
        Ok(Wait::any((All((Self::WORDS.at(&Size::Large).one(), paid)), day)))
    }

    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>, order: Order, _paid: Paid) -> StepResult<Self> {
        ctx.set(Self::STOCK.at(&(Size::Small, 1)), Some(order.clone()))?;
        ctx.append(Self::NEWS, order.clone())?;
        Ok(Next::complete(vec![order]))
    }

    #[rpc]
    async fn cents(&self, ctx: &RpcContext<Self>, _order: Option<Order>) -> RpcResult<Option<u32>> {
        ctx.get(Self::CENTS)
    }
}

fn main() {
    let schemas = Shop::schemas().unwrap();
    assert_eq!((schemas.attributes.len(), schemas.channels.len(), schemas.streams.len()), (2, 2, 1));
}
