use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute]
    const PAID: Attribute<u64>;

    #[rpc]
    async fn pay(&self, ctx: &RpcContext<Self>) -> RpcResult<()> {
        ctx.set(Self::PAID, 17)
    }
}

fn main() {}
