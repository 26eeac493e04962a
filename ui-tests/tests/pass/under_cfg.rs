//! Members under `cfg`: nothing names what is not there, and the description lists only what is.
#![deny(warnings)]

use dex::prelude::*;

#[derive(Debug)]
pub struct Shop;

#[flow(output = u8)]
impl Shop {
    #[cfg(any())]
    #[attribute]
    pub const GONE: Attribute<NoSuchType>;

    #[attribute]
    pub const THERE: Attribute<u8>;

    #[cfg(any())]
    #[channel]
    pub const GONE_TOO: Channel<NoSuchType>;

    #[cfg(any())]
    #[step(start)]
    async fn sell(&self, _order: NoSuchType) -> StepResult<Self> {
        Ok(Next::to(Self::REFUND, 1))
    }

    #[cfg(all())]
    #[step(start)]
    async fn sell(&self, _order: u8) -> StepResult<Self> {
        Ok(Next::to(Self::SHIP, 1))
    }

    #[cfg(any())]
    #[step(on_failure = ship)]
    async fn refund(&self, _order: NoSuchType) -> StepResult<Self> {
        Ok(Next::complete(0))
    }

    #[cfg(any())]
    #[wait_for(refund)]
    fn pause(&self, _order: &NoSuchType) -> WaitResult<Self, NoSuchType> {
        Ok(Wait::ready(1))
    }

    #[step]
    async fn ship(&self, order: u8) -> StepResult<Self> {
        #[cfg(any())]
        let _ = Self::REFUND;
        Ok(Next::complete(order))
    }

    #[cfg(any())]
    #[rpc]
    pub async fn gone(&self, _order: NoSuchType) -> RpcResult<NoSuchType> {
        Ok(())
    }

    #[rpc]
    pub async fn there(&self) -> RpcResult<u8> {
        Ok(1)
    }
}

#[flow]
#[cfg(any())]
impl NoSuchType {
    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

#[derive(Keyword)]
pub enum Status {
    #[cfg(any())]
    Gone(NoSuchType),
    There,
}

fn start<F: Flow>(_input: F::Input) {}

fn main() {
    let definition = Shop::definition();
    assert_eq!(definition.attributes.len(), 1);
    assert_eq!(definition.channels.len(), 0);
    assert_eq!(definition.steps.iter().map(|step| step.name).collect::<Vec<_>>(), ["sell", "ship"]);
    assert_eq!(definition.start().unwrap().edges.len(), 1);
    assert_eq!(definition.rpcs.len(), 1);
    assert_eq!(Status::There.keyword(), "There");
    start::<Shop>(1);
}
