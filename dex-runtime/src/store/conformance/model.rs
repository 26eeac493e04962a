//! x
use super::Subject;
pub(crate) fn check_against_model(_s: &mut dyn Subject) {}
