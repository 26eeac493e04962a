//! Orders by the hundred: each charged, shown to its seller, then shipped or paid back.
//!
//! ```text
//! cargo run --release --example orders
//! cargo run --release --example orders -- --data /tmp/orders my-orders.jsonl
//! ```
//!
//! Kill it whenever you like, as hard as you like, and run it again: it goes on where it was. Orders that
//! have ended are counted, the others are picked up, and the shop's ledger (`ledger.jsonl` in the data
//! folder) has one charge an order at most, and no charge without a shipment or a refund.
//!
//! What to look at: the wait's outcome is an argument of `answered`; `answered` goes back to itself after a
//! reminder; a step that fails for good hands over to the step in its `on_failure`, which asks the outside
//! world what really happened before it decides.

#[path = "orders/arguments.rs"]
mod arguments;
#[path = "orders/intake.rs"]
mod intake;
mod shop;
#[path = "orders/tally.rs"]
mod tally;

use std::error::Error;
use std::fmt;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use dex::Options;
use dex::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use self::arguments::{Arguments, USAGE};
use self::intake::{Incoming, Intake, Seller, read_orders};
use self::shop::{Deed, Order, Shop, ShopError};
use self::tally::Tally;

/// Reminders before an order without an answer is paid back.
const REMINDERS_MAX: u32 = 3;

/// How often the progress is shown.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

/// Where an order stands.
#[derive(Clone, Debug, PartialEq, Keyword, Serialize, Deserialize)]
enum Status {
    CardRefused,
    Charged,
    Reminded,
    Shipped,
    Refunded,
}

/// What the seller says to an order.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Answer {
    Approved { by: String },
    Declined { why: String },
}

/// How an order ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Outcome {
    CardRefused,
    Shipped,
    Refunded(Cause),
}

/// Why an order was paid back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Cause {
    ChargeInDoubt,
    Declined,
    NoAnswer,
    NotShippable,
}

/// An order that waits for its seller.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pending {
    order: Order,
    reminders: u32,
}

/// An order that is to be paid back.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Refund {
    order: Order,
    cause: Cause,
}

/// The flow of one order. One value serves all of them.
struct OrderFlow {
    shop: Shop,
    /// How long to wait for the seller before a reminder.
    patience: Duration,
}

#[flow(output = Outcome)]
impl OrderFlow {
    /// Where the order stands.
    #[attribute(index)]
    const STATUS: Attribute<Status>;

    /// What the seller says.
    #[channel]
    const ANSWERS: Channel<Answer>;

    #[step(start, retry(initial = "20ms", max_interval = "500ms", total = "1h"), on_failure = refuse)]
    async fn charge(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> {
        match self.shop.charge(&order, ctx.idempotency_key()).await {
            // Asking again would not change the bank's mind.
            Err(error @ ShopError::Refused { .. }) => return Err(StepError::fatal(error)),
            other => other?,
        }
        ctx.set(Self::STATUS, Status::Charged)?;
        Ok(Next::to(Self::ANSWERED, Pending { order, reminders: 0 }))
    }

    /// The charge failed for good: refused, or tried for too long.
    #[step(retry(total = "1h"))]
    async fn refuse(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> {
        // The last attempt may have gone through before it was cut off.
        if self.shop.has_done(Deed::Charge, &order).await? {
            return Ok(Next::to(Self::REFUND, Refund { order, cause: Cause::ChargeInDoubt }));
        }
        ctx.set(Self::STATUS, Status::CardRefused)?;
        Ok(Next::complete(Outcome::CardRefused))
    }

    #[wait_for(answered)]
    fn answer_or_patience(
        &self,
        _ctx: &WaitContext<Self>,
        _pending: &Pending,
    ) -> WaitResult<Self, OneOf2<Answer, TimerFired>> {
        Ok(Wait::any((Self::ANSWERS.one(), Timer::after(self.patience))))
    }

    #[step(retry(initial = "20ms", total = "1h"))]
    async fn answered(
        &self,
        ctx: &mut StepContext<Self>,
        pending: Pending,
        answer: OneOf2<Answer, TimerFired>,
    ) -> StepResult<Self> {
        let Pending { order, reminders } = pending;
        match answer {
            OneOf2::First(Answer::Approved { .. }) => Ok(Next::to(Self::SHIP, order)),
            OneOf2::First(Answer::Declined { .. }) => {
                Ok(Next::to(Self::REFUND, Refund { order, cause: Cause::Declined }))
            }
            OneOf2::Second(TimerFired) if reminders < REMINDERS_MAX => {
                self.shop.remind(&order).await?;
                ctx.set(Self::STATUS, Status::Reminded)?;
                Ok(Next::to(Self::ANSWERED, Pending { order, reminders: reminders + 1 }))
            }
            OneOf2::Second(TimerFired) => {
                Ok(Next::to(Self::REFUND, Refund { order, cause: Cause::NoAnswer }))
            }
        }
    }

    #[step(retry(initial = "20ms", attempts = 5), on_failure = not_shippable)]
    async fn ship(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> {
        self.shop.ship(&order).await?;
        ctx.set(Self::STATUS, Status::Shipped)?;
        Ok(Next::complete(Outcome::Shipped))
    }

    /// The shipment failed for good.
    #[step(retry(total = "1h"))]
    async fn not_shippable(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> {
        // The last attempt may have gone through before it was cut off; then there is nothing to pay back.
        if self.shop.has_done(Deed::Shipment, &order).await? {
            ctx.set(Self::STATUS, Status::Shipped)?;
            return Ok(Next::complete(Outcome::Shipped));
        }
        Ok(Next::to(Self::REFUND, Refund { order, cause: Cause::NotShippable }))
    }

    #[step(retry(initial = "20ms", total = "1h"))]
    async fn refund(&self, ctx: &mut StepContext<Self>, refund: Refund) -> StepResult<Self> {
        self.shop.refund(&refund.order).await?;
        ctx.set(Self::STATUS, Status::Refunded)?;
        Ok(Next::complete(Outcome::Refunded(refund.cause)))
    }

    /// The seller takes the order on.
    #[rpc]
    async fn approve(&self, ctx: &mut RpcContext<Self>, by: String) -> RpcResult<()> {
        ctx.publish(Self::ANSWERS, Answer::Approved { by })
    }

    /// The seller turns the order down.
    #[rpc]
    async fn decline(&self, ctx: &mut RpcContext<Self>, why: String) -> RpcResult<()> {
        ctx.publish(Self::ANSWERS, Answer::Declined { why })
    }

    /// Where the order stands; `None` before it is charged.
    #[rpc]
    async fn status(&self, ctx: &RpcContext<Self>) -> RpcResult<Option<Status>> {
        ctx.get(Self::STATUS)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CardRefused => "card refused",
            Self::Shipped => "shipped",
            Self::Refunded(Cause::ChargeInDoubt) => "refunded: charge in doubt",
            Self::Refunded(Cause::Declined) => "refunded: declined by the seller",
            Self::Refunded(Cause::NoAnswer) => "refunded: no answer from the seller",
            Self::Refunded(Cause::NotShippable) => "refunded: could not be shipped",
        })
    }
}

#[tokio::main]
#[expect(clippy::print_stderr, reason = "a command line program reports its errors there")]
async fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("orders: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run_orders(arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("orders: {error}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "the summary is what the program is for")]
async fn run_orders(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let Intake { orders, bad_lines } = read_orders(arguments.orders.open()?)?;
    for bad in &bad_lines {
        println!("line {}: {}", bad.number, bad.reason);
    }

    let shop = open_shop(&arguments.data, &orders)?;
    let flow = OrderFlow { shop, patience: arguments.patience };
    // It is made to be killed, so that says nothing about its steps.
    let options = Options { crash_attempts_max: u32::MAX, ..Options::default() };
    let dex = Dex::open(arguments.data.join("store")).flow(flow).options(options).start().await?;
    let summary = follow_all(&dex.client(), orders, arguments.each).await?;
    println!("{summary}");
    if !bad_lines.is_empty() {
        println!("{:>6}  lines left out", bad_lines.len());
    }
    dex.shutdown(Duration::from_secs(10)).await?;
    Ok(())
}

fn open_shop(data: &Path, orders: &[Incoming]) -> Result<Shop, ShopError> {
    let fates = orders.iter().map(|incoming| (incoming.order.id.clone(), incoming.fate.clone())).collect();
    Shop::open(&data.join("ledger.jsonl"), fates)
}

/// Brings all orders to their end, at the same time.
async fn follow_all(
    client: &Client<OrderFlow>,
    orders: Vec<Incoming>,
    each: bool,
) -> Result<Tally, Box<dyn Error>> {
    let mut tally = Tally::new(orders.len());
    let mut tasks = JoinSet::new();
    for incoming in orders {
        let client = client.clone();
        tasks.spawn(async move {
            let id = incoming.order.id.clone();
            (id, follow(&client, incoming).await)
        });
    }
    let mut clock = tokio::time::interval(PROGRESS_EVERY);
    loop {
        tokio::select! {
            ended = tasks.join_next() => match ended {
                None => break,
                Some(joined) => {
                    let (id, outcome) = joined?;
                    count(&mut tally, &id, outcome, each);
                }
            },
            _ = clock.tick() => tally.show_progress(),
        }
    }
    tally.finish_progress();
    Ok(tally)
}

#[expect(clippy::print_stdout, reason = "the user is told at once which order went wrong")]
fn count(tally: &mut Tally, id: &str, outcome: dex::Result<Outcome>, each: bool) {
    match outcome {
        Ok(outcome) => {
            if each {
                println!("order {id}: {outcome}");
            }
            tally.add(&outcome);
        }
        Err(error) => {
            println!("order {id}: {error}");
            tally.add(&"failed");
        }
    }
}

/// Brings one order to its end: starts it, or goes on with it if an earlier life of this program did.
async fn follow(client: &Client<OrderFlow>, incoming: Incoming) -> dex::Result<Outcome> {
    let id = incoming.order.id.clone();
    let run = match client.start(id.as_str(), incoming.order).await {
        Err(error) if error.is_already_started() => client.run(id.as_str()).await?,
        started => started?,
    };
    let output = run.output();
    tokio::pin!(output);
    tokio::select! {
        // The order may well end before its seller says something, if ever.
        biased;
        outcome = &mut output => return outcome,
        answered = answer(&run, incoming.seller) => answered?,
    }
    output.await
}

/// Plays the seller.
async fn answer(run: &dex::Run<OrderFlow>, seller: Seller) -> dex::Result<()> {
    let answered = match seller {
        Seller::NeverAnswers => return Ok(()),
        Seller::ApprovesAfterMs(millis) => {
            shop::pass(Duration::from_millis(millis)).await;
            run.approve("the seller".to_owned()).await
        }
        Seller::DeclinesAfterMs(millis) => {
            shop::pass(Duration::from_millis(millis)).await;
            run.decline("out of stock".to_owned()).await
        }
    };
    match answered {
        // An answer that comes too late.
        Err(error) if error.is_closed() => Ok(()),
        other => other,
    }
}
