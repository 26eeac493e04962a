//! Catching panics of handlers, with their place.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

use crate::definition::cut;
use crate::engine::{Failure, FailureKind};

thread_local! {
    static IN_HANDLER: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Makes panics of handlers tell their place.
///
/// The hook that was there goes on to be called for every panic, those of handlers included, so what the
/// application prints or reports does not change.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if IN_HANDLER.get() {
                note_place(info);
            }
            before(info);
        }));
    });
}

fn note_place(info: &PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string);
    PLACE.with_borrow_mut(|noted| *noted = place);
}

/// Runs a piece of a handler; its panic becomes a failure.
pub(super) fn catch<T>(code: impl FnOnce() -> T) -> Result<T, Failure> {
    IN_HANDLER.set(true);
    // What a panic may leave half changed is the handler's own data, which is dropped.
    let result = catch_unwind(AssertUnwindSafe(code));
    IN_HANDLER.set(false);
    result.map_err(|payload| failure(payload.as_ref()))
}

fn failure(payload: &(dyn Any + Send)) -> Failure {
    let message = payload
        .downcast_ref::<&'static str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic whose payload is not a text".to_owned());
    Failure {
        kind: FailureKind::Panic,
        type_name: String::new(),
        message: cut(message),
        chain: Vec::new(),
        place: PLACE.with_borrow_mut(Option::take),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_gives_its_text_and_place() {
        install_hook();
        let failure = catch(|| panic!("no {}", "luck")).unwrap_err();
        assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Panic, "no luck"));
        assert!(failure.place.unwrap().contains("panic.rs"));
    }

    #[test]
    fn a_panic_without_a_text_is_caught_too() {
        let failure = catch(|| std::panic::panic_any(7_u8)).unwrap_err();
        assert!(failure.message.contains("not a text"));
    }
}
