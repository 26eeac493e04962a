//! The operations, each called once.

use std::time::Duration;

use dex::{Client, DynClient, DynRun, Error, ErrorKind, Result, Stop};
use serde_json::json;

use crate::states::Probe;

pub(crate) const BY_TYPE: &[&str] = &[
    "start",
    "run",
    "describe",
    "output",
    "result",
    "get",
    "keys",
    "entries",
    "messages",
    "numbered_messages",
    "wait_until",
    "wait_for_step",
    "read",
    "newest",
    "call (reads)",
    "call (writes)",
    "set",
    "delete",
    "update",
    "publish",
    "delete_message",
    "append",
    "pause",
    "resume",
    "retry_step",
    "skip_step",
    "redirect_step",
    "skip_timer",
    "cancel",
    "stop",
    "terminate",
];

pub(crate) const BY_NAME: &[&str] = &[
    "start",
    "run",
    "describe",
    "output",
    "result",
    "get",
    "attributes",
    "keys",
    "channel_keys",
    "messages",
    "numbered_messages",
    "read",
    "newest",
    "call (reads)",
    "call (writes)",
    "set",
    "delete",
    "publish",
    "delete_message",
    "append",
    "pause",
    "resume",
    "retry_step",
    "skip_step",
    "redirect_step",
    "skip_timer",
    "cancel",
    "stop",
    "terminate",
];

/// As long as no waiting operation is to wait.
const NOW: Duration = Duration::ZERO;

pub(crate) async fn by_type(client: &Client<Probe>, run: &dex::Run<Probe>, operation: &str) -> Result<()> {
    let id = run.flow_id().as_str();
    match operation {
        "start" => client.start(id, ()).await.map(drop),
        "run" => client.run(id).await.map(drop),
        "describe" => run.describe().await.map(drop),
        "output" => run.output().timeout(NOW).await.map(drop),
        "result" => run.result().timeout(NOW).await.map(drop),
        "get" => run.get(Probe::TEXT).await.map(|text| assert!(text.is_some())),
        "keys" => run.keys(Probe::NUMBERS).await.map(|keys| assert_eq!(keys, ["one"])),
        "entries" => run.entries(Probe::NUMBERS).await.map(|all| assert_eq!(all.len(), 1)),
        "messages" => run.messages(Probe::TEXTS).await.map(|all| assert_eq!(all, ["message"])),
        "numbered_messages" => run.numbered_messages(Probe::TEXTS).await.map(|all| assert_eq!(all[0].0, 1)),
        "wait_until" => run.wait_until(Probe::TEXT, |text| text.is_some()).timeout(NOW).await.map(drop),
        "wait_for_step" => run.wait_for_step(Probe::BEGIN, 1).timeout(NOW).await,
        "read" => read(run.read(Probe::ITEMS)).await,
        "newest" => run.newest(Probe::ITEMS, None, 1).await.map(|all| assert_eq!(all.len(), 1)),
        "call (reads)" => run.peek().await.map(drop),
        "call (writes)" => run.poke().await,
        "set" => run.set(Probe::TEXT, "new".into()).await,
        "delete" => run.delete(Probe::TEXT).await,
        "update" => run.update(Probe::TEXT, |_| "new".into()).await.map(drop),
        "publish" => run.publish(Probe::TEXTS, "new".into()).await,
        "delete_message" => run.delete_message(Probe::TEXTS, 1).await,
        "append" => run.append(Probe::ITEMS, "new".into()).await.map(drop),
        "pause" => run.pause().await,
        "resume" => run.resume().await,
        "retry_step" => run.retry_step("parked-1").await,
        "skip_step" => run.skip_step("parked-1").await,
        "redirect_step" => run.redirect_step("parked-1", Probe::END, ()).await,
        "skip_timer" => run.skip_timer("wait-1").await,
        "cancel" => run.cancel().await,
        "stop" => run.stop(Stop::Fail, "on purpose").await,
        "terminate" => run.terminate().await,
        other => panic!("no operation {other}"),
    }
}

pub(crate) async fn by_name(client: &DynClient, run: &DynRun, operation: &str) -> Result<()> {
    let id = run.flow_id().as_str();
    match operation {
        "start" => client.start("Probe", id, json!(null)).await.map(drop),
        "run" => client.run(id).await.map(drop),
        "describe" => run.describe().await.map(drop),
        "output" => run.output().timeout(NOW).await.map(drop),
        "result" => run.result().timeout(NOW).await.map(drop),
        "get" => run.get("TEXT").await.map(|text| assert!(text.is_some())),
        "attributes" => run.attributes().await.map(|all| assert_eq!(all.len(), 2)),
        "keys" => run.keys("NUMBERS").await.map(|keys| assert_eq!(keys, ["one"])),
        "channel_keys" => run.channel_keys("BY_KEY").await.map(|keys| assert_eq!(keys, ["a"])),
        "messages" => run.messages("TEXTS").await.map(|all| assert_eq!(all.len(), 1)),
        "numbered_messages" => run.numbered_messages("TEXTS").await.map(|all| assert_eq!(all[0].0, 1)),
        "read" => read(run.read("ITEMS")?).await,
        "newest" => run.newest("ITEMS", None, 1).await.map(|all| assert_eq!(all.len(), 1)),
        "call (reads)" => run.call("peek", json!(null)).await.map(drop),
        "call (writes)" => run.call("poke", json!(null)).await.map(drop),
        "set" => run.set("TEXT", json!("new")).await,
        "delete" => run.delete("TEXT").await,
        "publish" => run.publish("TEXTS", json!("new")).await,
        "delete_message" => run.delete_message("TEXTS", 1).await,
        "append" => run.append("ITEMS", json!("new")).await.map(drop),
        "pause" => run.pause().await,
        "resume" => run.resume().await,
        "retry_step" => run.retry_step("parked-1").await,
        "skip_step" => run.skip_step("parked-1").await,
        "redirect_step" => run.redirect_step("parked-1", "end", json!(null)).await,
        "skip_timer" => run.skip_timer("wait-1").await,
        "cancel" => run.cancel().await,
        "stop" => run.stop(Stop::Fail, "on purpose").await,
        "terminate" => run.terminate().await,
        other => panic!("no operation {other}"),
    }
}

/// The first item of a stream, which is there.
async fn read<T: dex::Value>(mut reader: dex::StreamReader<T>) -> Result<()> {
    let item = reader.next().await?;
    item.map(drop).ok_or_else(|| Error::from(dex::IdError::Empty { what: "the stream" })).inspect_err(
        |error| {
            assert_ne!(error.kind(), ErrorKind::InvalidId, "the item is lost");
        },
    )
}
