//! Tuples as sets of conditions, each with the outcome that it really has.

use super::one_of::{
    OneOf2, OneOf3, OneOf4, OneOf5, OneOf6, OneOf7, OneOf8, OneOf9, OneOf10, OneOf11, OneOf12,
};
use super::wait::{AllOf, AnyOf, Condition, Part, PartKind};
use crate::value::ValueError;

macro_rules! tuple {
    ($one_of:ident: $($condition:ident),+) => {
        #[diagnostic::do_not_recommend]
        impl<Fl, $($condition: Condition<Fl>),+> AnyOf<Fl> for ($($condition,)+) {
            type Output = $one_of<$($condition::Output),+>;

            #[expect(non_snake_case, reason = "each variable is named like its type parameter")]
            fn part(self) -> Result<Part, ValueError> {
                let ($($condition,)+) = self;
                Ok(Part(PartKind::Any { of: vec![$($condition.part()?),+], tagged: true }))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<Fl, $($condition: Condition<Fl>),+> AllOf<Fl> for ($($condition,)+) {
            type Output = ($($condition::Output,)+);

            #[expect(non_snake_case, reason = "each variable is named like its type parameter")]
            fn part(self) -> Result<Part, ValueError> {
                let ($($condition,)+) = self;
                Ok(Part(PartKind::All(vec![$($condition.part()?),+])))
            }
        }
    };
}

tuple!(OneOf2: A, B);
tuple!(OneOf3: A, B, C);
tuple!(OneOf4: A, B, C, D);
tuple!(OneOf5: A, B, C, D, E);
tuple!(OneOf6: A, B, C, D, E, F);
tuple!(OneOf7: A, B, C, D, E, F, G);
tuple!(OneOf8: A, B, C, D, E, F, G, H);
tuple!(OneOf9: A, B, C, D, E, F, G, H, I);
tuple!(OneOf10: A, B, C, D, E, F, G, H, I, J);
tuple!(OneOf11: A, B, C, D, E, F, G, H, I, J, K);
tuple!(OneOf12: A, B, C, D, E, F, G, H, I, J, K, L);
