//! Streams in every form in which they can be written.
#![deny(missing_docs, unsafe_code, unused)]

use dex::prelude::*;

/// A user type with the name of a type of ours.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct StreamItem;

/// Says something.
pub struct Speaker;

#[flow]
impl Speaker {
    /// With all options.
    #[stream(capacity = "64 KiB", name = "spoken words", alias = "words")]
    pub const WORDS: Stream<String>;

    /// With none, and with a path.
    #[dex::stream]
    pub const TYPES: dex::Stream<Vec<StreamItem>>;

    /// Only in some builds.
    #[cfg(windows)]
    #[stream(capacity = "1MiB",)]
    const WINDOWS: Stream<u8>;

    #[step(start)]
    async fn speak(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        let mut out = ctx.text(Self::WORDS);
        out.push("a").await?;
        ctx.append(Self::TYPES, vec![StreamItem])?;
        Ok(Next::complete(()))
    }
}

async fn read(run: dex::Run<Speaker>) -> dex::Result<Vec<String>> {
    run.append(Speaker::WORDS, "b".into()).await?;
    let mut words = run.read(Speaker::WORDS).after(0);
    let mut all = Vec::new();
    while let Some(dex::StreamItem { value, .. }) = words.next().await? {
        all.push(value);
    }
    Ok(all)
}

fn main() {
    let _ = read;
    assert_eq!(Speaker::WORDS.name(), "spoken words");
}
