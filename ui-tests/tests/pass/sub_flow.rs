//! Flows that start one another, themselves and flows whose start step depends on the build.

use std::time::Duration;

use dex::ParentEnd;
use dex::prelude::*;

struct Bank;

#[flow(output = u64)]
impl Bank {
    #[attribute]
    const CURRENCY: Attribute<String>;

    #[cfg(unix)]
    #[step(start)]
    async fn pay(&self, amount: u64) -> StepResult<Self> {
        Ok(Next::complete(amount))
    }

    #[cfg(not(unix))]
    #[step(start)]
    async fn pay(&self, amount: u64) -> StepResult<Self> {
        Ok(Next::complete(amount))
    }
}

struct Shop;

type Paid = OneOf2<Vec<ChildResult<Bank>>, (TimerFired, ChildResult<Shop>)>;

#[flow(output = Vec<u64>)]
impl Shop {
    #[attribute]
    const PAID: Attribute<Vec<ChildResult<Bank>>>;

    #[wait_for(ship)]
    fn all_of_them(&self, _ctx: &WaitContext<Self>, amounts: &Vec<u64>) -> WaitResult<Self, Paid> {
        let pay = |amount| {
            let payment = SubFlow::<Bank>::run(amount).timeout(Duration::from_secs(60));
            payment.with(Bank::CURRENCY, "EUR".into()).on_parent_end(ParentEnd::Cancel)
        };
        let payments: Vec<_> = amounts.iter().copied().map(pay).collect();
        let late = All((Timer::after(Duration::from_secs(60)), SubFlow::run(Vec::new())));
        Ok(Wait::any((All(payments), late)))
    }

    #[step(start)]
    async fn ship(&self, ctx: &mut StepContext<Self>, _amounts: Vec<u64>, paid: Paid) -> StepResult<Self> {
        let payments = match paid {
            OneOf2::First(payments) => payments,
            OneOf2::Second((_late, other)) => return Ok(Next::complete(other.into_result()?)),
        };
        ctx.set(Self::PAID, payments.clone())?;
        let amounts = payments.into_iter().map(|payment| match payment.into_end() {
            ChildEnd::Completed { output, .. } => output,
            _ => 0,
        });
        Ok(Next::complete(amounts.collect::<Vec<_>>()))
    }
}

fn main() {
    use dex::definition::Flow as _;
    assert_eq!(Shop::definition().name, "Shop");
}
