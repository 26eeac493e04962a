//! One run that starts others and waits for all of them.
//!
//! A basket of orders is one run; each order in it is a run of its own, with its own id, retries and history. The
//! basket's wait starts them, and its step is given how each one ended, typed.
//!
//! What to look at: an order that fails does not fail the basket. What to do about it is the basket's business.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::error::Error;
use std::time::Duration;

use dex::ParentEnd;
use dex::prelude::*;

/// One order: completes with what it costs.
struct Order;

#[flow(output = u64)]
impl Order {
    #[step(start)]
    async fn price(&self, article: String) -> StepResult<Self> {
        Ok(match article.as_str() {
            "pen" => Next::complete(2_u64),
            "book" => Next::complete(20_u64),
            other => Next::fail(format!("there is no {other}")),
        })
    }
}

/// Some orders: completes with the sum, and with what could not be had.
struct Basket;

#[flow(output = (u64, Vec<String>))]
impl Basket {
    #[wait_for(settle)]
    fn every_order(
        &self,
        _ctx: &WaitContext<Self>,
        articles: &Vec<String>,
    ) -> WaitResult<Self, Vec<ChildResult<Order>>> {
        let order = |article: &String| {
            // A basket that is cancelled cancels its orders.
            SubFlow::<Order>::run(article.clone()).on_parent_end(ParentEnd::Cancel)
        };
        Ok(Wait::all(articles.iter().map(order).collect::<Vec<_>>()))
    }

    #[step(start)]
    async fn settle(&self, _articles: Vec<String>, orders: Vec<ChildResult<Order>>) -> StepResult<Self> {
        let (mut sum, mut missing) = (0, Vec::new());
        for order in orders {
            match order.end() {
                ChildEnd::Completed { output, .. } => sum += output,
                end => missing.push(end.to_string()),
            }
        }
        Ok(Next::complete((sum, missing)))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let dex = Dex::open(folder.path()).flow(Basket).flow(Order).start().await?;
    let articles = ["pen", "book", "moon"].map(String::from).to_vec();
    let basket = dex.client::<Basket>().start("basket-1", articles).await?;
    let (sum, missing) = basket.output().await?;
    println!("to pay: {sum}");
    println!("missing: {missing:?}");

    // Children are runs like all others, found by an id that follows from the parent's run.
    let book = dex.client::<Order>().run(format!("{}/settle-1/1", basket.run_id())).await?;
    println!("the book alone: {}", book.output().await?);
    dex.shutdown(Duration::from_secs(1)).await?;
    Ok(())
}
