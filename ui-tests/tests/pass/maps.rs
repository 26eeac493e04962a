//! Maps in all places where a handle can stand, with values and keys whose types only the flow says.

use dex::prelude::*;
use dex::{AttributeHandle, Key};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Seat {
    row: u32,
}

impl Key for Seat {
    fn encode(&self) -> String {
        format!("row {}", self.row)
    }

    fn decode(text: &str) -> Option<Self> {
        Some(Self { row: text.strip_prefix("row ")?.parse().ok()? })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Keyword)]
enum Size {
    Small,
    Large,
}

struct Shop;

#[flow(output = usize)]
impl Shop {
    #[attribute(name = "scores of players", alias = "grades")]
    pub const SCORES: AttributeMap<String, Option<u32>>;

    #[attribute]
    const SEATS: AttributeMap<Seat, String>;

    #[attribute]
    const STOCK: AttributeMap<(Size, u64), u8>;

    #[attribute(alias = "state")]
    const STATUS: Attribute<String>;

    #[channel(alias = "requests")]
    const ORDERS: dex::ChannelMap<Size, String>;

    #[channel]
    const DONE: Channel<u8>;

    #[step(start, lock(SCORES, STATUS))]
    async fn sell(&self, ctx: &mut StepContext<Self>, players: Vec<String>) -> StepResult<Self> {
        for player in &players {
            ctx.set(Self::SCORES.at(player), Some("17".parse()?))?;
        }
        ctx.set(Self::SCORES.at("nobody"), None)?;
        ctx.set(Self::SEATS.at(&Seat { row: 1 }), "ada".into())?;
        ctx.set(Self::STOCK.at(&(Size::Small, 7)), "3".parse()?)?;
        ctx.set(Self::STATUS, Default::default())?;
        ctx.publish(Self::ORDERS.at(&Size::Large), "book".into())?;
        let entry = Self::SCORES.at("ada");
        if ctx.get(&entry)?.is_none() {
            ctx.delete(&entry)?;
        }
        let count = ctx.keys(Self::SEATS)?.len() + ctx.size(Self::ORDERS.at(&Size::Small))?;
        let large = ctx.messages(Self::ORDERS.at(&Size::Large))?;
        let channels = (Self::ORDERS.at(&Size::Small), Self::DONE);
        Ok(Next::complete_if_empty(channels, count + large.len()).or_to(Self::SHIP, Size::Small))
    }

    #[wait_for(ship)]
    fn an_order(&self, ctx: &WaitContext<Self>, size: &Size) -> WaitResult<Self, OneOf2<String, Vec<String>>> {
        let left = ctx.size(Self::ORDERS.at(size))?;
        Ok(Wait::any((Self::ORDERS.at(size).one(), Self::ORDERS.at(&Size::Large).up_to(left))))
    }

    #[step]
    async fn ship(&self, _size: Size, _order: OneOf2<String, Vec<String>>) -> StepResult<Self> {
        Ok(Next::complete(0))
    }

    #[rpc]
    async fn scores(&self, ctx: &RpcContext<Self>) -> RpcResult<Vec<(String, Option<u32>)>> {
        ctx.entries(Self::SCORES)
    }
}

impl serde::Serialize for Size {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.keyword())
    }
}

impl<'de> serde::Deserialize<'de> for Size {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(deserializer)?;
        Size::from_keyword(&text).ok_or_else(|| serde::de::Error::custom("no size"))
    }
}

/// Code over any attribute of a flow.
fn is_set<A: AttributeHandle<Shop>>(ctx: &StepContext<Shop>, attribute: A) -> Result<bool, StepError> {
    Ok(ctx.get(attribute)?.is_some())
}

async fn outside(client: Client<Shop>) -> dex::Result<()> {
    let start = client.start("a", vec!["ada".into()]).with(Shop::SCORES.at("bob"), Some(1));
    let run = start.publish(Shop::ORDERS.at(&Size::Small), "pen".into()).await?;
    run.set(Shop::SEATS.at(&Seat { row: 2 }), "bob".into()).await?;
    run.update(Shop::SCORES.at("bob"), |old| old.flatten().map(|score| score + 1)).await?;
    run.wait_until(Shop::SCORES.at("bob"), |score| score.is_some_and(|score| score.is_some())).await?;
    let _: Vec<(Seat, String)> = run.entries(Shop::SEATS).await?;
    run.delete_message(Shop::DONE, 1).await
}

fn main() {
    let _ = (Shop, outside, is_set::<dex::Attribute<Shop, String>>);
}
