//! A crate that is known under another name.

use renamed::prelude::*;

mod renamed {
    pub use dex::*;
}

struct Shop;

#[renamed::flow(crate = crate::renamed)]
impl Shop {
    #[renamed::attribute]
    const COUNT: Attribute<u8>;

    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.set(Self::COUNT, 1)?;
        Ok(Next::complete(()))
    }
}

/// Without a start step a run is started with `()`.
struct Entity;

#[flow(crate = renamed)]
impl Entity {
    #[rpc]
    async fn ping(&self) -> RpcResult<()> {
        Ok(())
    }
}

/// Nothing at all is a flow as well, if not a useful one.
struct Empty;

#[flow()]
impl Empty {}

fn start<F: Flow>(_input: F::Input) {}

fn main() {
    let _ = (Shop, Entity, Empty);
    start::<Shop>(());
    start::<Entity>(());
    start::<Empty>(());
}
