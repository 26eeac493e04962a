use dex::prelude::*;

struct Shop;

#[flow(endless)]
impl Shop {
    #[attribute]
    static LEFT: Attribute<u64>;

    #[rpc]
    async fn left(&self, ctx: &RpcContext<Self>) -> RpcResult<Option<u64>> {
        ctx.get(Self::LEFT)
    }
}

fn main() {}
