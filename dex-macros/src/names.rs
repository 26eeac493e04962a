//! Names: what is stored for a member, and the constant of a step.

use proc_macro2::{Ident, Span};
use syn::LitStr;
use syn::ext::IdentExt as _;

use crate::diagnostics::Diagnostics;

/// Longest stored name in bytes: `NAME_BYTES_MAX` of the runtime, whose `Name` refuses longer ones.
const NAME_BYTES_MAX: usize = 128;

/// The name under which a flow or one of its members is stored.
#[derive(Clone)]
pub(crate) struct StoredName {
    pub(crate) text: String,
    /// The identifier or the text of `name = "…"`.
    pub(crate) span: Span,
}

impl StoredName {
    /// The name that `given` says, or else the identifier without `r#`.
    ///
    /// A wrong name is reported and kept: other rules can still be checked with it.
    pub(crate) fn of(ident: &Ident, given: Option<&LitStr>, errors: &mut Diagnostics) -> Self {
        match given {
            Some(given) => Self::given(given, errors),
            None => Self { text: ident.unraw().to_string(), span: ident.span() }.checked(errors),
        }
    }

    /// The name that the text says.
    pub(crate) fn given(given: &LitStr, errors: &mut Diagnostics) -> Self {
        Self { text: given.value(), span: given.span() }.checked(errors)
    }

    fn checked(self, errors: &mut Diagnostics) -> Self {
        if let Some(wrong) = wrong_name(&self.text) {
            errors.error_at(self.span, wrong);
        }
        self
    }
}

// The same rules as those of the runtime's `Name`, so that a name that compiles can be stored.
fn wrong_name(text: &str) -> Option<String> {
    let bytes = text.len();
    if text.trim().is_empty() {
        Some("a stored name cannot be empty: leave `name` out to use the identifier".to_owned())
    } else if bytes > NAME_BYTES_MAX {
        Some(format!(
            "this name has {bytes} bytes, the limit is {NAME_BYTES_MAX}: give a shorter `name = \"…\"`"
        ))
    } else {
        let control = text.chars().find(|c| c.is_control())?;
        let code = u32::from(control);
        Some(format!("a stored name cannot contain the control character U+{code:04X}: use printable text"))
    }
}

/// The constant of a step: `charge_card` gives `CHARGE_CARD`. `None` if that is no identifier.
///
/// It has the place and the hygiene of generated code: a lint about it is not the user's business.
pub(crate) fn constant(method: &Ident) -> Option<Ident> {
    let mut constant: Ident = syn::parse_str(&upper_snake(&method.unraw().to_string())).ok()?;
    constant.set_span(generated_at(method.span()));
    Some(constant)
}

fn upper_snake(name: &str) -> String {
    let mut upper = String::new();
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && after_lower {
            upper.push('_');
        }
        after_lower = c.is_lowercase();
        upper.extend(c.to_uppercase());
    }
    upper
}

/// The place of the user's token for code that the user did not write.
///
/// Errors still show the user's text, but lints see that the code comes from a macro and keep quiet.
pub(crate) fn generated_at(span: Span) -> Span {
    Span::call_site().located_at(span)
}

/// The identifier for generated code: what it names is the user's, what it is part of is not.
pub(crate) fn generated(ident: &Ident) -> Ident {
    let mut ident = ident.clone();
    ident.set_span(generated_at(ident.span()));
    ident
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_upper_snake() {
        assert_eq!(upper_snake("charge_card"), "CHARGE_CARD");
        assert_eq!(upper_snake("chargeCard"), "CHARGE_CARD");
        assert_eq!(upper_snake("_v2"), "_V2");
    }

    #[test]
    fn raw_identifiers_lose_their_mark() {
        let ident: Ident = syn::parse_str("r#match").unwrap();
        assert_eq!(constant(&ident).unwrap().to_string(), "MATCH");
        let mut errors = Diagnostics::default();
        assert_eq!(StoredName::of(&ident, None, &mut errors).text, "match");
        assert!(errors.is_empty());
    }

    #[test]
    fn names_that_the_runtime_would_refuse_are_wrong() {
        assert!(wrong_name("").unwrap().contains("empty"));
        assert!(wrong_name("\t ").unwrap().contains("empty"));
        assert!(wrong_name("a\nb").unwrap().contains("U+000A"));
        assert!(wrong_name(&"é".repeat(65)).unwrap().contains("130 bytes"));
        assert_eq!(wrong_name(&"é".repeat(64)), None);
    }
}
