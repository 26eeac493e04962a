//! Steps that append, called as plain methods.

use super::*;

struct Teller;

#[flow]
impl Teller {
    #[stream(capacity = "1 KiB")]
    const WORDS: Stream<String>;
    #[stream]
    const COUNTS: Stream<usize>;

    #[step(start)]
    async fn tell(&self, ctx: &mut StepContext<Self>, words: Vec<String>) -> StepResult<Self> {
        let mut out = ctx.text(Self::WORDS);
        for (count, word) in words.iter().enumerate() {
            ctx.append(Self::COUNTS, count)?;
            out.push(word).await?;
        }
        Ok(Next::complete(()))
    }
}

async fn tell(words: &[&str]) -> (StepContext<Teller>, Result<(), StepError>) {
    let mut ctx = StepContext::<Teller>::test().build();
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    let told = Teller.tell(&mut ctx, words).await;
    (ctx, told.map(drop))
}

#[tokio::test]
async fn what_a_step_appends_can_be_looked_at() {
    let (ctx, told) = tell(&["a", "b"]).await;
    told.unwrap();
    assert_eq!(ctx.appended(Teller::COUNTS), [0, 1]);
    assert_eq!(ctx.appended(Teller::WORDS), ["ab"]);
}

#[tokio::test]
async fn limits_hold_in_unit_tests_too() {
    let long = "x".repeat(500);
    let (ctx, told) = tell(&[&long, &long]).await;
    told.unwrap();
    assert_eq!(
        ctx.appended(Teller::WORDS),
        [long.clone(), long.clone()],
        "two items, since one would not fit"
    );
    let (_, told) = tell(&[&long.repeat(3)]).await;
    assert!(told.err().unwrap().to_string().contains("does not fit into stream `WORDS`"));
}
