//! Bodies are the user's: whatever a method may have in it, a handler may.
#![deny(warnings)]

use std::fmt::Display;
use std::future::{Future, ready};

use dex::prelude::*;

#[derive(Clone)]
struct Shop {
    name: &'static str,
    goods: Vec<u64>,
}

macro_rules! both {
    ($one:expr, $other:expr) => {
        ($one, $other)
    };
}

macro_rules! sum_of {
    ($($number:ident)*) => {{
        fn sum(numbers: &[u64]) -> u64 {
            numbers.iter().sum()
        }
        sum(&[$($number),*])
    }};
}

#[flow(output = String)]
impl Shop {
    #[attribute]
    const TOTAL: Attribute<u64>;

    const LIMIT: u64 = 10;

    #[step(start)]
    async fn sell(&self, ctx: &mut StepContext<Self>, n: u64) -> StepResult<Self> {
        let copy = Self { name: "another", ..self.clone() };
        let Self { name, goods } = &copy;
        println!("{name} {} {:?} {limit}", self.name, goods, limit = Self::LIMIT);
        let (a, b) = both!(ready(n).await, Self::twice(n).await);
        assert_eq!(a * 2, b);
        if n > Self::LIMIT {
            return Ok(Next::fail(format!("{n} of {}", self.goods.len())));
        }
        let add = |more: u64| move |n: u64| n + more;
        let total: u64 = "17".parse()?;
        ctx.set(Self::TOTAL, add(total)(n))?;
        Ok(Next::to(Self::SHIP, n))
    }

    #[step]
    async fn ship(&self, n: u64) -> StepResult<Self> {
        struct Parcel<T>(T);

        impl<T: Display> Parcel<T> {
            fn label(&self) -> String {
                self.0.to_string()
            }
        }

        fn generic<T: Into<u64>, const N: usize>(values: [T; N]) -> u64 {
            values.into_iter().map(Into::into).sum()
        }

        let weights = async { generic([1_u32, 2]) + sum_of!(n n) }.await;
        let boxed: Box<dyn Fn(u64) -> Self + Send + Sync> = Box::new(|n| Self { name: "new", goods: vec![n] });
        let lightest = 'search: loop {
            for good in &boxed(weights).goods {
                if *good > 0 {
                    break 'search *good;
                }
            }
            break 0;
        };
        let label = match lightest {
            0 => return Ok(Next::dead_end()),
            1..=5 => Parcel("light").label(),
            _ => Parcel(lightest).label(),
        };
        let Ok(length) = u8::try_from(label.len()) else { unreachable!("labels are short") };
        Self::finish(&label, length)
    }

    fn finish(label: &str, length: u8) -> StepResult<Self> {
        Ok(Next::complete(format!("{label} {length}")))
    }

    fn twice(n: u64) -> impl Future<Output = u64> + Send {
        async move { n * 2 }
    }

    /// Without a result, as helpers are.
    #[rpc]
    async fn price(&self, ctx: &RpcContext<Self>) -> RpcResult<Option<u64>> {
        let price = || -> RpcResult<_> { Ok(ctx.get(Self::TOTAL)?.map(|total| total * 2)) };
        price()
    }
}

fn main() {
    let shop = Shop { name: "shop", goods: vec![1] };
    let (_, sell) = Shop::definition().step("sell").unwrap();
    assert_eq!(sell.edges.iter().map(|edge| edge.to).collect::<Vec<_>>(), ["ship"]);
    // Signatures stay as they are written, so a step is a method like any other.
    drop(shop.ship(1));
}
