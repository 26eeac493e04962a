use dex::prelude::*;

struct Shop;

#[flow]
impl Shop {
    #[attribute(alias = "STATUS")]
    const STATE: Attribute<String>;

    #[attribute]
    const STATUS: Attribute<String>;

    #[channel(alias = "sell")]
    const SOLD: ChannelMap<String, u64>;

    #[channel(alias = "")]
    const SENT: Channel<u64>;

    #[step(start)]
    async fn sell(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

fn main() {}
