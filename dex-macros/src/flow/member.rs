//! The members of the block: which are ours, and each as it is given back.
//!
//! A body is never parsed: an editor calls the macro while the user is typing in one.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Result, Signature, Token, Visibility, token};

use super::model::{Handle, Rpc, Step, Wait};
use super::{handle, handler, step};
use crate::attributes::Mark;
use crate::crate_path::CratePath;
use crate::diagnostics::Diagnostics;

/// All members of a block.
#[derive(Default)]
pub(super) struct Members {
    /// Each as it is given back: without our attributes, handles with their value.
    pub(super) items: Vec<TokenStream>,
    pub(super) handles: Vec<Handle>,
    pub(super) steps: Vec<Step>,
    pub(super) waits: Vec<Wait>,
    pub(super) rpcs: Vec<Rpc>,
    pub(super) others: Vec<Ident>,
    pub(super) others_tokens: TokenStream,
}

/// The tokens of one member.
pub(super) struct Raw {
    pub(super) attrs: Vec<Attribute>,
    pub(super) vis: Visibility,
    pub(super) kind: RawKind,
}

pub(super) enum RawKind {
    /// `const IDENT …;`: all that comes after the name.
    Const { ident: Ident, rest: TokenStream },
    /// A signature, and a body with its braces or a semicolon.
    Method { sig: Box<Signature>, body: TokenStream },
    /// Anything else, or something unfinished.
    Other(TokenStream),
}

impl ToTokens for Raw {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, vis, kind } = self;
        tokens.extend(match kind {
            RawKind::Const { ident, rest } => quote!(#(#attrs)* #vis const #ident #rest),
            RawKind::Method { sig, body } => quote!(#(#attrs)* #vis #sig #body),
            RawKind::Other(other) => quote!(#(#attrs)* #vis #other),
        });
    }
}

/// Reads the members between the block's braces.
pub(super) fn read_all(tokens: TokenStream, krate: &CratePath, errors: &mut Diagnostics) -> Members {
    let mut members = Members::default();
    let parsed = (|input: ParseStream<'_>| {
        while !input.is_empty() {
            let raw = read_raw(input)?;
            members.add(raw, krate, errors);
        }
        Ok(())
    })
    .parse2(tokens.clone());
    if let Err(error) = parsed {
        // What could not be read is given back as it is, for the compiler or the editor to judge.
        errors.push(error);
        members.items = vec![tokens];
    }
    members
}

pub(super) fn read_raw(input: ParseStream<'_>) -> Result<Raw> {
    let attrs = input.call(Attribute::parse_outer)?;
    let vis = input.parse()?;
    Ok(Raw { attrs, vis, kind: read_kind(input)? })
}

fn read_kind(input: ParseStream<'_>) -> Result<RawKind> {
    let ahead = input.fork();
    if ahead.parse::<Token![const]>().is_ok()
        && let Ok(ident) = ahead.parse::<Ident>()
    {
        let rest = tokens_until(&ahead, false)?;
        input.advance_to(&ahead);
        return Ok(RawKind::Const { ident, rest });
    }
    let ahead = input.fork();
    if let Ok(sig) = ahead.parse::<Signature>()
        && (ahead.peek(token::Brace) || ahead.peek(Token![;]))
    {
        let body: TokenTree = ahead.parse()?;
        input.advance_to(&ahead);
        return Ok(RawKind::Method { sig: Box::new(sig), body: body.into() });
    }
    Ok(RawKind::Other(tokens_until(input, true)?))
}

/// The tokens up to a semicolon, or also up to a group in braces, or the end.
fn tokens_until(input: ParseStream<'_>, braces_end: bool) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() {
        let ends = input.peek(Token![;]) || braces_end && input.peek(token::Brace);
        tokens.extend([input.parse::<TokenTree>()?]);
        if ends {
            break;
        }
    }
    Ok(tokens)
}

impl Members {
    fn add(&mut self, mut raw: Raw, krate: &CratePath, errors: &mut Diagnostics) {
        let marks = take_marks(&mut raw, krate, errors);
        let Some((mark, attr)) = marks else {
            if let RawKind::Const { ident, .. } = &raw.kind {
                self.others.push(ident.clone());
            } else if let RawKind::Method { sig, .. } = &raw.kind {
                self.others.push(sig.ident.clone());
            }
            let item = raw.into_token_stream();
            self.others_tokens.extend(item.clone());
            self.items.push(item);
            return;
        };
        match mark {
            Mark::Attribute | Mark::Channel | Mark::Stream => {
                let (item, handle) = handle::read(mark, &attr, raw, krate, errors);
                self.items.push(item);
                self.handles.extend(handle);
            }
            Mark::Step | Mark::OnTimeout | Mark::OnCancel => {
                self.steps.extend(step::read(mark, &attr, &raw, errors));
                self.items.push(handler::given_back(raw));
            }
            Mark::WaitFor => {
                self.waits.extend(handler::wait(&attr, &raw, errors));
                self.items.push(handler::given_back(raw));
            }
            Mark::Rpc => {
                self.rpcs.extend(handler::rpc(&attr, &raw, errors));
                self.items.push(handler::given_back(raw));
            }
        }
    }
}

/// Takes our attributes off the member; the first one counts.
fn take_marks(raw: &mut Raw, krate: &CratePath, errors: &mut Diagnostics) -> Option<(Mark, Attribute)> {
    let mut first: Option<(Mark, Attribute)> = None;
    raw.attrs.retain(|attr| {
        if let Some(word) = Mark::inside_cfg_attr(attr) {
            let message = format!("`#[{word}]` cannot depend on a `cfg_attr`: write `#[{word}]`, and `#[cfg(…)]` for the whole member");
            errors.error(attr.path(), message);
            return false;
        }
        let Some(mark) = Mark::of(attr, krate) else { return true };
        if let Some((before, _)) = &first {
            let message = if before.is_step() && mark.is_step() {
                "`#[on_timeout]` and `#[on_cancel]` make a method a step already, with the options of `#[step]`: write one of them"
            } else {
                "a member is one thing only: remove this attribute or the one before"
            };
            errors.error(attr.path(), message);
        } else {
            first = Some((mark, attr.clone()));
        }
        false
    });
    first
}

/// A member that stands outside a flow, as it would be given back inside one.
///
/// In an `impl` whose `#[flow]` was forgotten, a handle gets its value; elsewhere the tokens stay as they are.
pub(crate) fn complete_alone(word: &str, item: TokenStream) -> TokenStream {
    let Ok(raw) = read_raw.parse2(item.clone()) else { return item };
    let mark = match word {
        "attribute" => Mark::Attribute,
        "channel" => Mark::Channel,
        "stream" => Mark::Stream,
        _ => return item,
    };
    if !matches!(raw.kind, RawKind::Const { .. }) {
        return item;
    }
    // The mistakes in the handle can wait until it is in a flow.
    let mut unread = Diagnostics::default();
    let attr = syn::parse_quote!(#[attribute]);
    handle::read(mark, &attr, raw, &CratePath::default(), &mut unread).0
}
