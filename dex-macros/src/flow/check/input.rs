//! The input and the outcome of a step that waits: which argument is which.

use quote::ToTokens;
use syn::{ReturnType, Type};

use crate::attributes::unit;
use crate::diagnostics::Diagnostics;
use crate::flow::model::{Argument, Flow, Step, Wait};
use crate::source;

/// What was mistaken for what.
enum Mistake {
    /// The one argument, which is the input, has the type of the outcome.
    Forgotten,
    /// Two arguments in the other order.
    Swapped,
}

// The compiler would speak of whoever goes to the step. The model is then as it was meant, so that it does not.
pub(super) fn comes_before_the_outcome(flow: &mut Flow, errors: &mut Diagnostics) {
    let Flow { steps, waits, .. } = flow;
    for step in steps {
        let Some(wait) = step.wait.and_then(|wait| waits.get(wait)) else { continue };
        match (mistake(step, wait), step.handler.values.as_slice()) {
            (Some(Mistake::Forgotten), [only]) => {
                let ty = text(&only.ty);
                let message = format!(
                    "this is the step's input, and its `wait_for` gives a `{ty}` too: \
                     write `_: ()` before it if it is the outcome, or `_: {ty}` after it if it is the input"
                );
                errors.error(&only.ty, message);
                let input = Argument { pattern: syn::parse_quote!(_), ty: unit() };
                step.handler.values.insert(0, input);
            }
            (Some(Mistake::Swapped), [outcome, _]) => {
                let message =
                    "this is what the `wait_for` gives, and it comes last: swap these two arguments";
                errors.error(&outcome.ty, message);
                step.handler.values.reverse();
            }
            _ => {}
        }
    }
}

fn mistake(step: &Step, wait: &Wait) -> Option<Mistake> {
    let ReturnType::Type(_, returned) = &wait.handler.returns else { return None };
    let outcome = match source::arguments(returned, "WaitResult").as_slice() {
        [_, outcome] => text(outcome),
        _ => return None,
    };
    match (step.handler.values.as_slice(), wait.handler.input()) {
        ([only], None) if text(&only.ty) == outcome && outcome != "()" => Some(Mistake::Forgotten),
        ([first, second], Some(Type::Reference(borrowed)))
            if text(&first.ty) == outcome
                && text(&second.ty) == text(&borrowed.elem)
                && text(&second.ty) != outcome =>
        {
            Some(Mistake::Swapped)
        }
        _ => None,
    }
}

fn text(ty: &Type) -> String {
    source::text(&ty.to_token_stream())
}
