//! Flows, inputs and answers of any visibility, in a crate that denies what crates like to deny.
#![deny(missing_docs, unsafe_code, unused, unreachable_pub, missing_debug_implementations, non_snake_case)]
#![deny(private_interfaces, private_bounds, unnameable_types)]

use dex::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Card;

#[derive(Debug, Serialize, Deserialize)]
struct Receipt;

/// A flow that everybody sees, with an RPC that nobody else does.
#[derive(Debug)]
pub struct Open;

#[flow]
impl Open {
    #[channel]
    const CARDS: Channel<Card>;

    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.publish(Self::CARDS, Card)?;
        Ok(Next::to(Self::SHIP, Receipt))
    }

    #[step]
    async fn ship(&self, _receipt: Receipt) -> StepResult<Self> {
        Ok(Next::complete(()))
    }

    #[rpc]
    async fn pay(&self, _card: Card) -> RpcResult<Receipt> {
        Ok(Receipt)
    }

    /// Everybody's.
    #[rpc]
    pub async fn cents(&self) -> RpcResult<u64> {
        Ok(17)
    }
}

#[derive(Debug)]
struct Hidden;

#[flow(output = Receipt)]
impl Hidden {
    #[step(start)]
    async fn sell(&self, _card: Card) -> StepResult<Self> {
        Ok(Next::complete(Receipt))
    }

    #[rpc]
    async fn pay(&self, _card: Card) -> RpcResult<Receipt> {
        Ok(Receipt)
    }
}

mod shop {
    use dex::prelude::*;

    #[derive(Debug)]
    pub(crate) struct Shared;

    #[flow(endless)]
    impl Shared {
        #[step(start)]
        pub(crate) async fn sell(&self) -> StepResult<Self> {
            Ok(Next::dead_end())
        }

        #[rpc]
        pub(crate) async fn close(&self) -> RpcResult<()> {
            Ok(())
        }
    }
}

async fn call(
    open: &<Open as Flow>::Run,
    hidden: &<Hidden as Flow>::Run,
    shared: &<shop::Shared as Flow>::Run,
) -> dex::Result<(Receipt, Receipt)> {
    let _: u64 = open.cents().await?;
    shared.clone().close().await?;
    Ok((open.pay(Card).await?, hidden.pay(Card).await?))
}

fn main() {
    let _ = (Open, Hidden, shop::Shared, shop::Shared::SELL, call);
}
