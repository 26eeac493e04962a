//! Flows made inside `macro_rules!`, and several in one module.

use dex::prelude::*;

macro_rules! shop {
    ($flow:ident, $step:ident, $input:ty, $vis:vis, $output:expr, $body:block) => {
        $vis struct $flow {
            goods: u8,
        }

        #[flow(output = u8)]
        impl $flow {
            #[attribute]
            const COUNT: Attribute<$input>;

            #[step(start)]
            async fn $step(&self, ctx: &mut StepContext<Self>, input: $input) -> StepResult<Self> {
                ctx.set(Self::COUNT, input)?;
                Ok(Next::complete($output + self.goods))
            }

            #[rpc]
            $vis async fn count(&self, input: $input) -> RpcResult<Option<$input>> {
                let _ = input;
                $body
            }
        }
    };
}

shop!(Bakery, bake, Vec<(u8, String)>, pub, 1, { Ok(None) });
shop!(Cellar, brew, Option<u8>, pub(crate), 2, { Ok(Some(Some(1))) });

async fn call(bakery: &<Bakery as Flow>::Run) -> dex::Result<Option<Vec<(u8, String)>>> {
    bakery.count(Vec::new()).await
}

fn main() {
    let _ = (Bakery { goods: 1 }, Cellar { goods: 2 }, call);
    assert_eq!(Bakery::definition().steps[0].name, "bake");
    assert_eq!(Bakery::definition().steps[0].input, "Vec<(u8, String)>");
    assert_eq!(Cellar::BREW.name(), "brew");
}
