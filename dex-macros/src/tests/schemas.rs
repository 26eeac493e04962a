use super::{expansion, messages};

const SHOP: &str = "impl Shop {
    #[attribute] const LAST: Attribute<Order>;
    #[cfg(unix)] #[channel] const PARCELS: Channel<Parcel>;
    #[cfg(unix)] #[channel] const RETURNS: Channel<Parcel>;
    #[channel] const LETTERS: Channel<Parcel>;
    #[attribute] const SHELVES: AttributeMap<Shelf, Order>;
    #[channel] const BOXES: ChannelMap<Shelf, Parcel>;
    #[stream] const NEWS: Stream<Answer>;
    #[step(start)] async fn sell(&self, order: Order) -> StepResult<Self> { Self::SHIP }
    #[wait_for(ship)] fn seller(&self) -> WaitResult<Self, Answer> {}
    #[step] async fn ship(&self, order: Order, answer: Answer) -> StepResult<Self> { Self::BILL }
    #[wait_for(bill)] fn alias(&self) -> AnswerOf<Self> {}
    #[step] async fn bill(&self) -> StepResult<Self> { Next::complete(()) }
    #[rpc] async fn last(&self) -> RpcResult<Order> {}
}";

#[cfg(feature = "schemars")]
#[test]
fn each_type_is_named_once_and_each_place_of_the_definition_has_its_own() {
    super::check_part(
        "output = Receipt, schemas",
        SHOP,
        "fn schemas",
        &expect_test::expect![[r#"
            fn schemas() -> ::core::option::Option<::dex::__private::FlowSchemas> {
                let __dex_schema_0: ::dex::__private::SchemaOf = <Receipt as ::dex::__private::HasSchema>::schema;
                let __dex_schema_1: ::dex::__private::SchemaOf = <Order as ::dex::__private::HasSchema>::schema;
                let __dex_schema_2: ::dex::__private::SchemaOf = <Answer as ::dex::__private::HasSchema>::schema;
                let __dex_schema_3: ::dex::__private::SchemaOf = <() as ::dex::__private::HasSchema>::schema;
                let __dex_schema_4: ::dex::__private::SchemaOf = <<AnswerOf<
                    Shop,
                > as ::dex::__private::WaitReturn<
                    Self,
                >>::Outcome as ::dex::__private::HasSchema>::schema;
                #[cfg(unix)]
                let __dex_schema_5: ::dex::__private::SchemaOf = <Parcel as ::dex::__private::HasSchema>::schema;
                let __dex_schema_6: ::dex::__private::SchemaOf = <Parcel as ::dex::__private::HasSchema>::schema;
                let __dex_types = ::dex::__private::SchemaTypes {
                    output: __dex_schema_0,
                    steps: &[
                        (__dex_schema_1, ::core::option::Option::None),
                        (__dex_schema_1, ::core::option::Option::Some(__dex_schema_2)),
                        (__dex_schema_3, ::core::option::Option::Some(__dex_schema_4)),
                    ],
                    attributes: &[__dex_schema_1, __dex_schema_1],
                    channels: &[
                        #[cfg(unix)]
                        __dex_schema_5,
                        #[cfg(unix)]
                        __dex_schema_5,
                        __dex_schema_6,
                        __dex_schema_6,
                    ],
                    streams: &[__dex_schema_2],
                    rpcs: &[(__dex_schema_3, __dex_schema_1)],
                };
                ::core::option::Option::Some(
                    ::dex::__private::FlowSchemas::of(Self::definition(), __dex_types),
                )
            }
        "#]],
    );
}

#[cfg(not(feature = "schemars"))]
#[test]
fn without_the_feature_the_option_says_which_one_it_needs() {
    let expected =
        "`schemas` needs a feature of dex: write `features = [\"schemars\"]` at dex in `Cargo.toml`";
    assert_eq!(messages(expansion("schemas", SHOP)), [expected]);
}

#[test]
fn a_flow_that_does_not_ask_has_no_schemas() {
    let tokens = expansion("", SHOP);
    assert!(!tokens.to_string().contains("schema"), "{tokens}");
    assert_eq!(messages(tokens), Vec::<String>::new());
}
