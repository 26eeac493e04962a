//! Attributes on items: which are ours, and what is carried over from the others.

use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Type};

use crate::crate_path::CratePath;
use crate::suggest;

/// An attribute of ours on a member of a flow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Attribute,
    Channel,
    Stream,
    Step,
    WaitFor,
    Rpc,
    OnTimeout,
    OnCancel,
}

impl Mark {
    const ALL: [(&'static str, Self); 8] = [
        ("attribute", Self::Attribute),
        ("channel", Self::Channel),
        ("stream", Self::Stream),
        ("step", Self::Step),
        ("wait_for", Self::WaitFor),
        ("rpc", Self::Rpc),
        ("on_timeout", Self::OnTimeout),
        ("on_cancel", Self::OnCancel),
    ];

    /// The mark that an attribute is, written short or with the crate's name before it.
    pub(crate) fn of(attr: &Attribute, krate: &CratePath) -> Option<Self> {
        let segments = &attr.path().segments;
        let last = segments.last()?.ident.to_string();
        let ours = match segments.len() {
            1 => true,
            2 => segments.first().is_some_and(|first| krate.is_named(&first.ident)),
            _ => false,
        };
        Self::ALL.iter().find(|(word, _)| ours && *word == last).map(|(_, mark)| *mark)
    }

    /// Options of a step that may be taken for attributes.
    pub(crate) const STEP_FLAGS: [&str; 2] = ["start", "entry"];

    /// The name of an attribute that is none of ours, but most likely one that was misspelt, or an option of one.
    pub(crate) fn nearly(attr: &Attribute, krate: &CratePath) -> Option<Ident> {
        let ident = &attr.path().segments.last()?.ident;
        let (written, words) = (ident.to_string(), Self::ALL.map(|(word, _)| word));
        let is_meant =
            Self::STEP_FLAGS.contains(&written.as_str()) || suggest::nearest(&written, &words).is_some();
        (is_meant && Self::of(attr, krate).is_none()).then(|| ident.clone())
    }

    /// Whether it makes a method a step.
    pub(crate) fn is_step(self) -> bool {
        matches!(self, Self::Step | Self::OnTimeout | Self::OnCancel)
    }

    /// The word of an attribute of ours that is hidden in a `cfg_attr`.
    pub(crate) fn inside_cfg_attr(attr: &Attribute) -> Option<&'static str> {
        let Meta::List(list) = &attr.meta else { return None };
        if !list.path.is_ident("cfg_attr") {
            return None;
        }
        let attrs = after_comma(list.tokens.clone());
        let mut words = attrs.into_iter().filter_map(|token| match token {
            proc_macro2::TokenTree::Ident(ident) => Some(ident.to_string()),
            _ => None,
        });
        words.find_map(|word| Self::ALL.iter().find(|(ours, _)| *ours == word).map(|(ours, _)| *ours))
    }
}

/// The tokens after the first comma; those before are the condition.
fn after_comma(tokens: TokenStream) -> TokenStream {
    let is_comma =
        |t: &proc_macro2::TokenTree| matches!(t, proc_macro2::TokenTree::Punct(p) if p.as_char() == ',');
    tokens.into_iter().skip_while(|token| !is_comma(token)).collect()
}

/// The doc comments, one line each, without the space after `///`.
pub(crate) fn docs(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let lines: Vec<String> =
        lines.map(|line| line.strip_prefix(' ').map(str::to_owned).unwrap_or(line)).collect();
    lines.join("\n")
}

pub(crate) fn doc_attrs(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("doc")).cloned().collect()
}

pub(crate) fn cfgs(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect()
}

/// The type `()`.
pub(crate) fn unit() -> Type {
    syn::parse_quote!(())
}
