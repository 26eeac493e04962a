//! `lock(..)` and `no_lock(..)`: what they name.

use proc_macro2::Ident;
use syn::ext::IdentExt as _;

use crate::diagnostics::Diagnostics;
use crate::flow::model::{Flow, HandleKind};
use crate::suggest;

// What is locked is an attribute, each once: a step would wait for itself.
pub(super) fn are_attributes(flow: &Flow, locks: &[Ident], errors: &mut Diagnostics) {
    for (place, lock) in locks.iter().enumerate() {
        if locks.iter().take(place).any(|earlier| earlier == lock) {
            errors.error(lock, format_args!("`{lock}` is named twice: remove one"));
        } else if flow.attribute(lock).is_none() && !flow.lost.a_handle {
            errors.error(lock, no_attribute(flow, lock));
        }
    }
}

fn no_attribute(flow: &Flow, lock: &Ident) -> String {
    if let Some(other) = flow.handles.iter().find(|handle| handle.member.ident == *lock) {
        return format!("`{lock}` is a {}; only attributes can be locked", other.kind.word());
    }
    let attributes = flow.handles.iter().filter(|handle| matches!(handle.kind, HandleKind::Attribute { .. }));
    let attributes: Vec<String> = attributes.map(|handle| handle.member.ident.unraw().to_string()).collect();
    let near = suggest::did_you_mean(&lock.unraw().to_string(), &attributes);
    match attributes.as_slice() {
        [] => format!("there is no attribute `{lock}`: this flow has none"),
        [only] => format!("there is no attribute `{lock}`{near}\nthe only attribute is `{only}`"),
        several => {
            format!("there is no attribute `{lock}`{near}\nthe attributes are {}", suggest::list(several))
        }
    }
}
