//! Values whose type only the flow says.

use dex::prelude::*;

struct Shop;

#[flow(output = Option<String>)]
impl Shop {
    #[attribute]
    const COUNT: Attribute<u64>;

    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>, n: u8) -> StepResult<Self> {
        ctx.set(Self::COUNT, "17".parse()?)?;
        match n {
            0 => Ok(Next::complete(None)),
            1 => Ok(Next::complete(Default::default())),
            2 => Ok(Next::complete_now(Some("x".into()))),
            3 => Ok(Next::complete(["a", "b"].iter().map(|text| Some(text.to_string())).collect())),
            4 => Ok(Next::to(Self::SELL, 1).and(Self::SHIP, "x".into())),
            5 => Ok(Next::to(Self::SELL, "1".parse()?)),
            _ => Ok(Next::each(Self::SHIP, (0..n).map(|n| n.to_string()))),
        }
    }

    #[step]
    async fn ship(&self, _address: String) -> StepResult<Self> {
        Ok(Next::dead_end())
    }
}

struct Counter;

#[flow(output = u64)]
impl Counter {
    #[step(start)]
    async fn count(&self, goods: Vec<u64>) -> StepResult<Self> {
        if goods.is_empty() {
            return Ok(Next::complete(0));
        }
        if goods.len() == 1 {
            return Ok(Next::complete("1".parse()?));
        }
        Ok(Next::complete(goods.iter().sum()))
    }
}

struct Entity;

#[flow]
impl Entity {}

async fn start(shop: Client<Shop>, counter: Client<Counter>, entity: Client<Entity>) -> dex::Result<()> {
    shop.start("a", 1).await?;
    counter.start("b", vec![]).await?;
    counter.start("c", (0..3).collect()).await?;
    counter.start("d", Default::default()).await?;
    entity.start("e", ()).await?;
    Ok(())
}

fn main() {
    let _ = (Shop, Counter, Entity, start);
}
