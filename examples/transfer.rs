//! A saga: what was done is undone when a later step fails for good.
//!
//! Money leaves one account and is to reach another. If it cannot, `put_back` takes over from `credit` with the
//! same input. Each step has its own idea of when to give up; none of them undoes anything itself.
//!
//! What to look at: `on_failure = put_back`, and `ctx.recovery()`, which says why it came to that.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dex::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Order {
    from: String,
    to: String,
    cents: u64,
}

struct Transfer {
    bank: Bank,
}

#[flow(output = String)]
impl Transfer {
    #[step(start, retry(attempts = 3, initial = "10ms"))]
    async fn debit(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> {
        self.bank.book(&order.from, -order.cents.cast_signed(), ctx.idempotency_key())?;
        Ok(Next::to(Self::CREDIT, order))
    }

    #[step(retry(attempts = 3, initial = "10ms"), on_failure = put_back)]
    async fn credit(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> {
        self.bank.book(&order.to, order.cents.cast_signed(), ctx.idempotency_key())?;
        Ok(Next::complete(format!("{} has {} cents more", order.to, order.cents)))
    }

    /// What has to work sooner or later: it is tried for a month.
    #[step(retry(total = "30d"))]
    async fn put_back(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> {
        self.bank.book(&order.from, order.cents.cast_signed(), ctx.idempotency_key())?;
        let why = ctx.recovery().map(|recovery| recovery.failure.message.clone()).unwrap_or_default();
        Ok(Next::complete(format!("{} has its money back: {why}", order.from)))
    }
}

/// A bank that absorbs repeated bookings, as the idempotency key asks it to.
#[derive(Default)]
struct Bank(Mutex<BTreeMap<String, (String, i64)>>);

impl Bank {
    fn book(&self, account: &str, cents: i64, key: &str) -> Result<(), StepError> {
        if account == "nobody" {
            return Err(StepError::new("the bank does not know `nobody`"));
        }
        let mut bookings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bookings.insert(key.to_owned(), (account.to_owned(), cents));
        Ok(())
    }

    fn balance(&self, account: &str) -> i64 {
        let bookings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bookings.values().filter(|(of, _)| of == account).map(|(_, cents)| cents).sum()
    }
}

#[tokio::main]
async fn main() -> dex::Result<()> {
    let dex = Dex::in_memory().flow(Transfer { bank: Bank::default() }).start().await?;
    for (id, to) in [("transfer-1", "bob"), ("transfer-2", "nobody")] {
        let order = Order { from: "ada".into(), to: to.into(), cents: 4200 };
        println!("{}", dex.client::<Transfer>().start(id, order).await?.output().await?);
    }
    let flow = dex.flow::<Transfer>()?;
    println!("ada: {}, bob: {}", flow.bank.balance("ada"), flow.bank.balance("bob"));
    dex.shutdown(Duration::from_secs(1)).await
}
