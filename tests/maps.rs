//! Attributes and channels with keys, from inside and from outside.
#![cfg(test)]

mod support;

use dex::prelude::*;
use dex::testing::Change;
use dex::{Error, ErrorKind, Status, StepError};
use serde_json::json;
use support::{ALL, IN_MEMORY, each_way, engine};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Keyword)]
enum Size {
    Small,
    Large,
}

/// Takes bids by lot until each lot that was named has one, and keeps the best of each.
#[derive(Default)]
struct Auction;

#[flow(output = Vec<(u32, u64)>)]
impl Auction {
    /// The best bid of each lot.
    #[attribute]
    const BEST: AttributeMap<u32, u64>;

    #[attribute]
    const NAMES: AttributeMap<String, String>;

    #[attribute]
    const STOCK: AttributeMap<Size, u8>;

    #[attribute]
    const PLAIN: Attribute<u32>;

    #[channel]
    const BIDS: ChannelMap<u32, u64>;

    #[step(start)]
    async fn open(&self, lots: Vec<u32>) -> StepResult<Self> {
        Ok(Next::each(Self::SELL, lots))
    }

    #[wait_for(sell)]
    fn a_bid(&self, lot: &u32) -> WaitResult<Self, Vec<u64>> {
        Ok(Wait::one(Self::BIDS.at(lot).at_least(1)))
    }

    #[step(lock(BEST))]
    async fn sell(&self, ctx: &mut StepContext<Self>, lot: u32, bids: Vec<u64>) -> StepResult<Self> {
        let best = bids.into_iter().max().unwrap_or_default();
        ctx.set(Self::BEST.at(&lot), best)?;
        Ok(Next::to(Self::COUNT, ()))
    }

    #[step(lock(BEST))]
    async fn count(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        let sold = ctx.entries(Self::BEST)?;
        if sold.len() < 2 {
            return Ok(Next::dead_end());
        }
        Ok(Next::complete_if_empty([Self::BIDS.at(&1), Self::BIDS.at(&10)], sold).or_to(Self::COUNT, ()))
    }

    /// What the handler sees of what it writes itself.
    #[rpc]
    async fn reads_its_own_writes(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.set(Self::BEST.at(&3), 3)?;
        ctx.delete(Self::BEST.at(&9))?;
        assert_eq!(ctx.keys(Self::BEST)?, [3, 10]);
        assert_eq!(ctx.get(Self::BEST.at(&9))?, None);
        assert_eq!(ctx.entries(Self::BEST)?, [(3, 3), (10, 10)]);
        ctx.publish(Self::BIDS.at(&7), 1)?;
        assert_eq!(ctx.keys(Self::BIDS)?, [5, 7]);
        assert_eq!((ctx.size(Self::BIDS.at(&5))?, ctx.size(Self::BIDS.at(&7))?), (1, 1));
        ctx.publish(Self::BIDS.at(&5), 51)?;
        assert_eq!(ctx.messages(Self::BIDS.at(&5))?, [50, 51]);
        assert_eq!(ctx.size(Self::BIDS.at(&5))?, 2);
        Ok(())
    }

    /// Sets the entry of the first free number, once others had their turn.
    #[rpc]
    async fn append(&self, ctx: &mut RpcContext<Self>) -> RpcResult<u32> {
        let first = ctx.get(Self::PLAIN)?.unwrap_or_default();
        let free = ctx.keys(Self::BEST)?.last().map_or(first, |last| last + 1);
        tokio::task::yield_now().await;
        ctx.set(Self::BEST.at(&free), 1)?;
        Ok(free)
    }

    #[rpc]
    async fn name(&self, ctx: &mut RpcContext<Self>, key: String) -> RpcResult<()> {
        ctx.set(Self::NAMES.at(&key), "somebody".into())
    }

    #[step(entry)]
    async fn name_badly(&self, ctx: &mut StepContext<Self>, key: String) -> StepResult<Self> {
        ctx.publish(Self::BIDS.at(&1), 1)?;
        ctx.set(Self::NAMES.at(&key), "somebody".into())?;
        Ok(Next::dead_end())
    }

    #[rpc]
    async fn start_badly(&self, ctx: &mut RpcContext<Self>, key: String) -> RpcResult<()> {
        ctx.start_step(Self::NAME_BADLY, key)
    }
}

#[tokio::test]
async fn waits_take_from_the_channel_with_their_key() {
    each_way(
        ALL,
        || Auction,
        async |t| {
            t.client().start("r", vec![10, 1]).publish(Auction::BIDS.at(&10), 7).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.entries(Auction::BEST).await.unwrap(), [(10, 7)]);
            t.run().await.publish(Auction::BIDS.at(&2), 1).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.keys(Auction::BIDS).await.unwrap(), [2]);
            t.run().await.publish(Auction::BIDS.at(&1), 9).await.unwrap();
            // Keys are in their own order: as texts, 10 would come before 2.
            assert_eq!(t.run().await.output().await.unwrap(), [(1, 9), (10, 7)]);
            t.phase().await;
            assert_eq!(t.run().await.keys(Auction::BEST).await.unwrap(), [1, 10]);
            assert_eq!(t.run().await.messages(Auction::BIDS.at(&2)).await.unwrap(), [1]);
        },
    )
    .await;
}

#[tokio::test]
async fn entries_are_read_and_written_from_outside() {
    each_way(
        IN_MEMORY,
        || Auction,
        async |t| {
            let start = t.client().start("r", vec![99]).with(Auction::NAMES.at("ada"), "Ada".into());
            start.with(Auction::STOCK.at(&Size::Large), 3).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            let (ada, bob) = (Auction::NAMES.at("ada"), Auction::NAMES.at("bob"));
            run.set(&bob, "Bob".into()).await.unwrap();
            assert_eq!(run.get(&ada).await.unwrap().as_deref(), Some("Ada"));
            let updated = run.update(&ada, |old| old.unwrap_or_default() + "!").await.unwrap();
            assert_eq!(updated, "Ada!");
            run.set(Auction::STOCK.at(&Size::Small), 1).await.unwrap();
            let waited = run.wait_until(&bob, |name| name.is_some_and(|name| name == "Bob")).await.unwrap();
            assert_eq!(waited.as_deref(), Some("Bob"));
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.keys(Auction::NAMES).await.unwrap(), ["ada", "bob"]);
            run.delete(ada).await.unwrap();
            assert_eq!(run.entries(Auction::NAMES).await.unwrap(), [("bob".into(), "Bob".into())]);
            // In the order of the variants, not of their names.
            assert_eq!(run.entries(Auction::STOCK).await.unwrap(), [(Size::Small, 1), (Size::Large, 3)]);
        },
    )
    .await;
}

#[tokio::test]
async fn a_handler_sees_the_keys_and_messages_that_it_writes_itself() {
    let t = engine(Auction).await;
    let run = t.client::<Auction>().start("r", vec![99]).await.unwrap();
    for lot in [9, 10] {
        run.set(Auction::BEST.at(&lot), lot.into()).await.unwrap();
    }
    run.publish(Auction::BIDS.at(&5), 50).await.unwrap();
    run.reads_its_own_writes().await.unwrap();
    assert_eq!(run.keys(Auction::BEST).await.unwrap(), [3, 10]);
    assert_eq!(run.keys(Auction::BIDS).await.unwrap(), [5, 7]);
}

#[tokio::test]
async fn transactions_that_list_keys_are_put_in_order() {
    let t = engine(Auction).await;
    let run = t.client::<Auction>().start("r", vec![99]).await.unwrap();
    let (a, b, c) = tokio::join!(run.append(), run.append(), run.append());
    let mut numbers = [a.unwrap(), b.unwrap(), c.unwrap()];
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 1, 2], "none was given twice");
    assert_eq!(run.keys(Auction::BEST).await.unwrap(), [0, 1, 2]);
}

/// Keys that are none, with a word of what is said about each.
fn bad_keys() -> [(String, &'static str); 4] {
    [
        (String::new(), "empty"),
        ("  ".into(), "empty"),
        ("x".repeat(513), "513 bytes"),
        ("a\nb".into(), "U+000A"),
    ]
}

#[tokio::test]
async fn a_key_that_cannot_be_one_is_refused_at_every_door() {
    let t = engine(Auction).await;
    let client = t.client::<Auction>();
    let run = client.start("r", vec![99]).await.unwrap();
    let dynamic = t.dex().dynamic().run("r").await.unwrap();
    for (number, (key, said)) in bad_keys().into_iter().enumerate() {
        let entry = Auction::NAMES.at(&key);
        let check = |error: Error| {
            assert_eq!(error.kind(), ErrorKind::InvalidValue, "{error}");
            let text = error.to_string();
            assert!(text.contains("`NAMES`") && text.contains(said), "{text}");
        };
        check(run.get(&entry).await.unwrap_err());
        check(run.set(&entry, "x".into()).await.unwrap_err());
        check(run.delete(&entry).await.unwrap_err());
        check(run.update(&entry, Option::unwrap_or_default).await.unwrap_err());
        check(run.wait_until(&entry, |name| name.is_some()).await.unwrap_err());
        check(client.start("other", vec![]).with(&entry, "x".into()).await.err().unwrap());
        check(dynamic.get(("NAMES", key.as_str())).await.unwrap_err());
        check(dynamic.set(("NAMES", key.as_str()), json!("x")).await.unwrap_err());
        let error = run.name(key.clone()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RpcFailed);
        assert!(error.to_string().contains(said), "{error}");
        // No repetition mends it, so the step is parked, with nothing written.
        run.start_badly(key).await.unwrap();
        t.settle().await;
        let steps = run.describe().await.unwrap().steps;
        let step = steps.iter().find(|step| step.id == format!("name_badly-{}", number + 1)).unwrap();
        let failure = step.last_failure.as_ref().unwrap();
        assert!(failure.message.contains(said), "{failure:?}");
        assert_eq!(run.keys(Auction::BIDS).await.unwrap(), [] as [u32; 0]);
    }
    assert_eq!(run.describe().await.unwrap().status, Status::Running);
}

#[tokio::test]
async fn entries_are_found_by_name_and_key() {
    let t = engine(Auction).await;
    t.client::<Auction>().start("r", vec![99]).await.unwrap();
    let dynamic = t.dex().dynamic();
    let run = dynamic.run("r").await.unwrap();
    run.set(("BEST", "7"), json!(70)).await.unwrap();
    run.set(("NAMES", "a"), json!("A")).await.unwrap();
    assert_eq!(run.get(("BEST", "7")).await.unwrap(), Some(json!(70)));
    assert_eq!(run.keys("BEST").await.unwrap(), ["7"]);
    let all = run.attributes().await.unwrap();
    assert_eq!(all.keys().collect::<Vec<_>>(), ["BEST[7]", "NAMES[a]"]);
    run.publish(("BIDS", "3"), json!(1)).await.unwrap();
    assert_eq!(run.channel_keys("BIDS").await.unwrap(), ["3"]);
    assert_eq!(run.messages(("BIDS", "3")).await.unwrap(), [json!(1)]);
    run.delete(("BEST", "7")).await.unwrap();
    assert_eq!(run.get(("BEST", "7")).await.unwrap(), None);
    let started = dynamic.start("Auction", "s", json!([99]));
    let started = started.with(("STOCK", "Small"), json!(1)).publish(("BIDS", "4"), json!(2)).await.unwrap();
    assert_eq!(started.get(("STOCK", "Small")).await.unwrap(), Some(json!(1)));

    let says = |error: Error, kind, text: &str| {
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    };
    // 07 would be a second entry for 7.
    says(
        run.set(("BEST", "07"), json!(1)).await.unwrap_err(),
        ErrorKind::InvalidValue,
        "does not fit type `u32`",
    );
    says(run.get(("STOCK", "Huge")).await.unwrap_err(), ErrorKind::InvalidValue, "`Size`");
    says(run.get("BEST").await.unwrap_err(), ErrorKind::UnknownName, "is a map");
    says(run.get(("PLAIN", "x")).await.unwrap_err(), ErrorKind::UnknownName, "is no map");
    says(run.keys("PLAIN").await.unwrap_err(), ErrorKind::UnknownName, "is no map");
    says(run.get(("BESTS", "7")).await.unwrap_err(), ErrorKind::UnknownName, "did you mean `BEST`");
}

#[tokio::test]
async fn a_message_is_deleted_by_its_number() {
    each_way(
        IN_MEMORY,
        || Auction,
        async |t| {
            t.client().start("r", vec![99]).await.unwrap();
            let five = || Auction::BIDS.at(&5);
            for bid in [10, 20, 30] {
                t.run().await.publish(five(), bid).await.unwrap();
            }
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.numbered_messages(five()).await.unwrap(), [(1, 10), (2, 20), (3, 30)]);
            run.delete_message(five(), 2).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            for missing in [2, 4] {
                let error = run.delete_message(five(), missing).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::NotFound);
                assert!(error.to_string().contains(&format!("BIDS[5] has no message {missing}")), "{error}");
            }
            // A number does not come again.
            run.publish(five(), 40).await.unwrap();
            assert_eq!(run.numbered_messages(five()).await.unwrap(), [(1, 10), (3, 30), (4, 40)]);
            let dynamic = t.dex().dynamic().run("r").await.unwrap();
            dynamic.delete_message(("BIDS", "5"), 1).await.unwrap();
            let left = dynamic.numbered_messages(("BIDS", "5")).await.unwrap();
            assert_eq!(left, [(3, json!(30)), (4, json!(40))]);
            // The same request deletes once, however often it comes.
            let request = run.request_id("tidy").unwrap();
            request.delete_message(five(), 3).await.unwrap();
            request.delete_message(five(), 3).await.unwrap();
            run.terminate().await.unwrap();
            assert!(run.delete_message(five(), 4).await.unwrap_err().is_closed());
        },
    )
    .await;
}

#[tokio::test]
async fn a_stored_key_that_does_not_fit_its_type_any_more_is_told() {
    struct Before;

    #[flow(name = "typed")]
    impl Before {
        #[attribute]
        const SEATS: AttributeMap<String, u8>;
    }

    struct After;

    #[flow(name = "typed")]
    impl After {
        #[attribute]
        const SEATS: AttributeMap<u32, u8>;
    }

    let folder = tempfile::tempdir().unwrap();
    let t = dex::testing::engine_in(folder.path()).flow(Before).start().await.unwrap();
    let run = t.client::<Before>().start("r", ()).with(Before::SEATS.at("17"), 1).await.unwrap();
    run.set(Before::SEATS.at("front"), 2).await.unwrap();
    t.shutdown(std::time::Duration::ZERO).await.unwrap();
    drop(run);
    let t = dex::testing::engine_in(folder.path()).flow(After).start().await.unwrap();
    let run = t.client::<After>().run("r").await.unwrap();
    assert_eq!(run.get(After::SEATS.at(&17)).await.unwrap(), Some(1));
    let error = run.keys(After::SEATS).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
    assert!(error.to_string().contains("`SEATS` has an entry with the key `front`"), "{error}");
}

#[tokio::test]
async fn handlers_with_maps_are_called_as_plain_methods() {
    let mut ctx = StepContext::<Auction>::test().with(Auction::BEST.at(&1), 5).build();
    let next = Auction.sell(&mut ctx, 7, vec![1, 3]).await.unwrap();
    assert_eq!(next.steps(), ["count"]);
    assert_eq!(ctx.staged(Auction::BEST.at(&7)), Some(Change::Set(3)));
    assert_eq!(ctx.staged(Auction::BEST.at(&1)), None);
    assert_eq!(ctx.keys(Auction::BEST).unwrap(), [1, 7]);
    assert_eq!(Auction.a_bid(&7).unwrap().in_words(), "BIDS[7].at_least(1)");

    let builder = RpcContext::<Auction>::test().publish(Auction::BIDS.at(&5), 50);
    let mut ctx = builder.with(Auction::BEST.at(&9), 9).with(Auction::BEST.at(&10), 10).build();
    Auction.reads_its_own_writes(&mut ctx).await.unwrap();
    assert_eq!(ctx.published(Auction::BIDS.at(&5)), [51]);
    let error: StepError = Auction.name(&mut ctx, String::new()).await.map_err(StepError::new).unwrap_err();
    assert!(error.to_string().contains("map key is empty"), "{error}");
}

#[test]
fn the_definition_says_what_the_keys_are_and_the_fingerprint_follows() {
    struct Texts;

    #[flow(name = "Auction")]
    impl Texts {
        #[attribute]
        const BEST: AttributeMap<String, u64>;
    }

    struct Numbers;

    #[flow(name = "Auction")]
    impl Numbers {
        #[attribute]
        const BEST: AttributeMap<u32, u64>;
    }

    struct Single;

    #[flow(name = "Auction")]
    impl Single {
        #[attribute]
        const BEST: Attribute<u64>;
    }

    let keys = [Texts::definition(), Numbers::definition(), Single::definition()]
        .map(|flow| serde_json::to_value(flow).unwrap()["attributes"][0]["key"].clone());
    assert_eq!(keys, [json!("String"), json!("u32"), json!(null)]);
    let (texts, numbers) = (Texts::definition().fingerprint(), Numbers::definition().fingerprint());
    assert_ne!(texts, numbers);
    assert_ne!(texts, Single::definition().fingerprint());
    let names = [Texts::BEST.name(), Numbers::BEST.name(), Single::BEST.name()];
    assert_eq!(names, ["BEST"; 3]);
}
