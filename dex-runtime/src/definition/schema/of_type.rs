//! The schema of one type, as `schemars` tells it.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value as Json;

use super::Side;

/// A type whose JSON schema is known.
#[diagnostic::on_unimplemented(
    message = "this type has no JSON schema: a flow with `schemas` needs `JsonSchema` of all its values",
    label = "has no JSON schema",
    note = "add `#[derive(schemars::JsonSchema)]` to it, or to the type inside it that lacks it; \
            the crate is `schemars`, version 1"
)]
pub trait HasSchema {
    /// The schema, with all that it refers to.
    fn schema(side: Side) -> Json;
}

// As with the types that can be stored, a missing derive is told in the words above.
#[diagnostic::do_not_recommend]
impl<T: JsonSchema> HasSchema for T {
    fn schema(side: Side) -> Json {
        let settings = SchemaSettings::draft2020_12();
        let settings = match side {
            Side::Given => settings.for_deserialize(),
            Side::Told => settings.for_serialize(),
        };
        settings.into_generator().into_root_schema_for::<T>().to_value()
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::super::nothing;
    use super::*;

    #[test]
    fn nothing_is_described_as_the_unit_type_is() {
        assert_eq!(nothing(), <()>::schema(Side::Given));
    }

    #[derive(JsonSchema, Serialize, Deserialize)]
    struct Parcel {
        #[serde(default)]
        grams: u32,
    }

    #[test]
    fn a_field_with_a_default_may_be_left_out_of_what_is_given_only() {
        assert_eq!(Parcel::schema(Side::Given)["required"], Json::Null);
        assert_eq!(Parcel::schema(Side::Told)["required"], serde_json::json!(["grams"]));
    }
}
