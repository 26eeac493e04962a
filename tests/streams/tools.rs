//! Streams by name and JSON, and what the definition says of them.

use serde_json::json;

use super::*;

#[tokio::test]
async fn streams_are_read_and_appended_to_by_name() {
    let t = engine(Numbers::default()).await;
    t.client::<Numbers>().start("r", 1).await.unwrap();
    t.settle().await;
    let run = t.dex().dynamic().run("r").await.unwrap();
    assert_eq!(run.append("NUMBERS", json!(5)).await.unwrap(), 2);
    let error = run.append("NUMBERS", json!("five")).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
    assert!(
        error.to_string().starts_with("the item for stream `NUMBERS` does not fit type `u32`"),
        "{error}"
    );
    for (name, hint) in [("NUMBER", "did you mean `NUMBERS`?"), ("GO", "it is the name of a channel")] {
        let error = run.append(name, json!(1)).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::UnknownName);
        assert!(error.to_string().contains(hint), "{error}");
        assert!(run.read(name).is_err());
    }
    let error = run.publish("SMALL", json!(1)).await.err().unwrap();
    assert!(error.to_string().contains("it is the name of a stream"), "{error}");
    let newest = run.newest("NUMBERS", None, 1).await.unwrap();
    assert_eq!((newest[0].offset, &newest[0].value), (2, &json!(5)));
    run.terminate().await.unwrap();
    let items = read_all(run.read("NUMBERS").unwrap().after(0)).await;
    assert_eq!(values(&items), [json!(0), json!(5)]);
}

#[test]
fn the_definition_describes_streams() {
    let streams = serde_json::to_value(Numbers::definition()).unwrap()["streams"].take();
    let expected = json!([
        { "name": "NUMBERS", "aliases": [], "docs": "", "value": "u32", "capacity_bytes": 1_048_576 },
        {
            "name": "SMALL", "aliases": [], "docs": "Room for a dozen short items.",
            "value": "String", "capacity_bytes": 1024,
        },
    ]);
    assert_eq!(streams, expected);
    assert_eq!((Numbers::SMALL.name(), Numbers::SMALL.capacity()), ("SMALL", 1024));
    let renamed = After::definition();
    assert_eq!(renamed.stream("old").map(|(_, stream)| stream.name), Some("new"));
    let listed = serde_json::to_value(renamed).unwrap()["streams"].take();
    assert_eq!((&listed[0]["name"], &listed[0]["aliases"]), (&json!("new"), &json!(["old"])));
    assert_ne!(Before::definition().fingerprint(), renamed.fingerprint());
}
