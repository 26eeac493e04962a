//! Fan-out and join: a thousand branches of one run, and a step that waits for all of them.
//!
//! What to look at: `Next::each(..).and(..)` starts the branches and the join in one commit; each branch ends with a
//! message and no decision of its own; the join waits for exactly so many messages, whatever their order. A branch that
//! fails is tried again alone.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::time::Duration;

use dex::prelude::*;

struct WordCount;

#[flow(output = usize)]
impl WordCount {
    #[channel]
    const COUNTS: Channel<usize>;

    #[step(start)]
    async fn split(&self, pages: Vec<String>) -> StepResult<Self> {
        let count = pages.len();
        Ok(Next::each(Self::COUNT, pages).and(Self::SUM, count))
    }

    #[step(retry(initial = "10ms"))]
    async fn count(&self, ctx: &mut StepContext<Self>, page: String) -> StepResult<Self> {
        if page.len().is_multiple_of(10) && ctx.attempt() == 1 {
            return Err(StepError::new("this page is hard to read at first"));
        }
        ctx.publish(Self::COUNTS, page.split_whitespace().count())?;
        Ok(Next::dead_end())
    }

    #[wait_for(sum)]
    fn every_page(&self, pages: &usize) -> WaitResult<Self, Vec<usize>> {
        Ok(Wait::one(Self::COUNTS.n(*pages)))
    }

    #[step]
    async fn sum(&self, _pages: usize, counts: Vec<usize>) -> StepResult<Self> {
        Ok(Next::complete(counts.iter().sum()))
    }
}

#[tokio::main]
async fn main() -> dex::Result<()> {
    let dex = Dex::in_memory().flow(WordCount).start().await?;
    let pages: Vec<String> = (0..1_000).map(|page| "word ".repeat(page % 7 + 1)).collect();
    let words: usize = pages.iter().map(|page| page.split_whitespace().count()).sum();
    let run = dex.client::<WordCount>().start("book", pages).await?;
    println!("{} of {words} words were counted", run.output().await?);
    dex.shutdown(Duration::from_secs(1)).await
}
