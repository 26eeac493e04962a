use expect_test::expect;

use super::pretty;

#[test]
fn a_keyword_is_the_name_of_the_variant() {
    let tokens = crate::keyword::expand("enum Status { Open, #[cfg(unix)] r#final }".parse().unwrap());
    expect![[r##"
        #[automatically_derived]
        impl ::dex::__private::Keyword for Status {
            fn keyword(&self) -> &'static ::core::primitive::str {
                match *self {
                    Self::Open => "Open",
                    #[cfg(unix)]
                    Self::r#final => "final",
                }
            }
            fn from_keyword(keyword: &::core::primitive::str) -> ::core::option::Option<Self> {
                match keyword {
                    "Open" => ::core::option::Option::Some(Self::Open),
                    #[cfg(unix)]
                    "final" => ::core::option::Option::Some(Self::r#final),
                    _ => ::core::option::Option::None,
                }
            }
        }
        #[automatically_derived]
        impl ::dex::__private::Indexable for Status {}
    "##]]
    .assert_eq(&pretty(tokens));
}
