//! A short number that says whether two builds describe the same flow.

use serde_json::Value;

use super::FlowDefinition;

/// Name of the field that says nothing about how a flow behaves.
const DOCS: &str = "docs";

impl FlowDefinition {
    /// A number that two builds share if they describe the same flow.
    ///
    /// It covers everything that is serialised but the doc comments; the order in which members are written
    /// makes no difference. It stays the same over builds and machines, and changes when a version of dex
    /// describes more than the one before.
    ///
    /// The algorithm is 64-bit FNV-1a (Fowler, Noll and Vo) over the canonical JSON text: without white space,
    /// the keys of objects and the items of lists in the order of their bytes. It tells slips apart, not
    /// forgeries.
    pub fn fingerprint(&self) -> u64 {
        fnv_1a(self.canonical().as_bytes())
    }

    #[expect(clippy::expect_used, reason = "a description is names, numbers and lists of them")]
    fn canonical(&self) -> String {
        canonical(&serde_json::to_value(self).expect("a description has a JSON form"))
    }
}

/// The canonical text of a JSON value. Every list of a description is a set, so its order is left out.
fn canonical(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", sorted(items.iter().map(canonical))),
        Value::Object(fields) => {
            let telling = fields.iter().filter(|(key, _)| *key != DOCS);
            let pairs =
                telling.map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical(value)));
            format!("{{{}}}", sorted(pairs))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

fn sorted(parts: impl Iterator<Item = String>) -> String {
    let mut parts: Vec<_> = parts.collect();
    parts.sort_unstable();
    parts.join(",")
}

/// Source: Fowler, Noll, Vo and Eastlake, "The FNV Non-Cryptographic Hash Algorithm" (RFC 9923), FNV-1a, 64 bits.
fn fnv_1a(bytes: &[u8]) -> u64 {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.iter().fold(OFFSET_BASIS, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        // The published test vectors of the algorithm.
        assert_eq!(fnv_1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv_1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv_1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_order_of_writing_and_docs_do_not_count() {
        let one = json!({ "docs": "One.", "steps": [{ "name": "a" }, { "name": "b" }], "name": "f" });
        let other = json!({ "name": "f", "steps": [{ "name": "b" }, { "name": "a" }], "docs": "Other." });
        assert_eq!(canonical(&one), r#"{"name":"f","steps":[{"name":"a"},{"name":"b"}]}"#);
        assert_eq!(canonical(&one), canonical(&other));
    }

    #[test]
    fn whatever_else_is_different_counts() {
        let names = ["a", "b", "a\"", "\u{e9}"].map(|name| canonical(&json!([{ "name": name }])));
        let distinct: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
        assert_ne!(canonical(&json!({ "a": null })), canonical(&json!({ "a": 0 })));
    }
}
