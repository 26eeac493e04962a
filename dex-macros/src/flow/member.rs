//! The members of the block: which are ours, and each as it is given back.
//!
//! A body is never parsed: an editor calls the macro while the user is typing in one.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Meta, Result, Signature, Token, Visibility, token};

use super::handle_type::mark_word;
use super::model::{Handle, Lost, Rpc, Step, Wait};
use super::signature::Role;
use super::{handle, handler, mistaken, step};
use crate::attributes::Mark;
use crate::crate_path::CratePath;
use crate::diagnostics::Diagnostics;

/// What becomes of the bodies of handlers.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Bodies {
    #[default]
    Kept,
    /// The block cannot be a flow, and every word of it that needs one would be one more error.
    Hidden,
}

/// All members of a block.
#[derive(Default)]
pub(super) struct Members {
    bodies: Bodies,
    /// Each as it is given back: without our attributes, handles with their value.
    pub(super) items: Vec<TokenStream>,
    pub(super) handles: Vec<Handle>,
    pub(super) steps: Vec<Step>,
    pub(super) waits: Vec<Wait>,
    pub(super) rpcs: Vec<Rpc>,
    pub(super) lost: Lost,
    pub(super) others: Vec<Ident>,
    pub(super) others_tokens: TokenStream,
}

/// The tokens of one member.
pub(super) struct Raw {
    pub(super) attrs: Vec<Attribute>,
    /// Where an attribute could not be read. It is not given back, as nothing after it would be understood.
    pub(super) unread: Option<Span>,
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

impl Raw {
    /// The name, if it is a method.
    fn method(&self) -> Option<&Ident> {
        match &self.kind {
            RawKind::Method { sig, .. } => Some(&sig.ident),
            RawKind::Const { .. } | RawKind::Other(_) => None,
        }
    }

    /// Whether it is nothing that could stand in a block, yet.
    fn is_unfinished(&self) -> bool {
        let RawKind::Other(tokens) = &self.kind else { return false };
        syn::parse2::<syn::ImplItem>(tokens.clone()).is_err()
    }

    /// Whether somebody is still writing its signature.
    pub(super) fn is_unfinished_method(&self) -> bool {
        let is_fn = |token| matches!(token, TokenTree::Ident(ident) if ident == "fn");
        matches!(&self.kind, RawKind::Other(tokens) if tokens.clone().into_iter().any(is_fn))
    }

    /// What a constant without a value is by its type.
    pub(super) fn unmarked_handle(&self) -> Option<Mark> {
        let RawKind::Const { rest, .. } = &self.kind else { return None };
        let words: Vec<String> = rest.clone().into_iter().map(|token| token.to_string()).collect();
        let has = |word: &str| words.iter().any(|other| other == word);
        let mark = [
            (Mark::Attribute, "Attribute"),
            (Mark::Attribute, "AttributeMap"),
            (Mark::Channel, "Channel"),
            (Mark::Channel, "ChannelMap"),
            (Mark::Stream, "Stream"),
        ];
        mark.into_iter().find(|(_, word)| has(word) && !has("=")).map(|(mark, _)| mark)
    }
}

impl ToTokens for Raw {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, vis, kind, unread: _ } = self;
        tokens.extend(match kind {
            RawKind::Const { ident, rest } => quote!(#(#attrs)* #vis const #ident #rest),
            RawKind::Method { sig, body } => quote!(#(#attrs)* #vis #sig #body),
            RawKind::Other(other) => quote!(#(#attrs)* #vis #other),
        });
    }
}

/// Reads the members between the block's braces.
pub(super) fn read_all(
    tokens: TokenStream,
    bodies: Bodies,
    krate: &CratePath,
    errors: &mut Diagnostics,
) -> Members {
    let mut members = Members { bodies, ..Members::default() };
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
        errors.error_at(error.span(), "this member cannot be read: it is a method or a constant of the flow");
        members.items = vec![tokens];
        members.lost.anything = true;
    }
    members
}

pub(super) fn read_raw(input: ParseStream<'_>) -> Result<Raw> {
    let mut unread = None;
    let mut attrs = Vec::new();
    while input.peek(Token![#]) {
        match read_attribute(input)? {
            Ok(attr) => attrs.extend(attr),
            Err(place) => unread = Some(place),
        }
    }
    let vis = input.parse()?;
    Ok(Raw { attrs, unread, vis, kind: read_kind(input)? })
}

/// One attribute, or the place of something that is not quite one.
fn read_attribute(input: ParseStream<'_>) -> Result<std::result::Result<Vec<Attribute>, Span>> {
    let sign: Token![#] = input.parse()?;
    if !input.peek(token::Bracket) {
        return Ok(Err(sign.span));
    }
    let brackets: TokenTree = input.parse()?;
    let place = brackets.span();
    let read = Attribute::parse_outer.parse2(quote!(#sign #brackets));
    Ok(read.map_err(|_| place))
}

fn read_kind(input: ParseStream<'_>) -> Result<RawKind> {
    let ahead = input.fork();
    if ahead.parse::<Token![const]>().is_ok()
        && let Ok(ident) = ahead.parse::<Ident>()
    {
        let rest = declaration(&ahead)?;
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
    Ok(RawKind::Other(tokens_until(input)?))
}

/// The tokens of a constant after its name, up to its semicolon. If that is missing, up to the attribute of the
/// next member or the word that begins it: a type has no `#` in it, and `const` only in `*const T`.
fn declaration(input: ParseStream<'_>) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    let (mut has_value, mut is_pointer) = (false, false);
    while !input.is_empty() {
        let begins_another = input.peek(Token![#]) || input.peek(Token![pub]) || input.peek(Token![const]);
        if begins_another && !has_value && !is_pointer {
            break;
        }
        has_value |= input.peek(Token![=]);
        is_pointer = input.peek(Token![*]);
        let ends = input.peek(Token![;]);
        tokens.extend([input.parse::<TokenTree>()?]);
        if ends {
            break;
        }
    }
    Ok(tokens)
}

/// The tokens up to a semicolon, or a group in braces, or the end.
fn tokens_until(input: ParseStream<'_>) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() {
        let ends = input.peek(Token![;]) || input.peek(token::Brace);
        tokens.extend([input.parse::<TokenTree>()?]);
        if ends {
            break;
        }
    }
    Ok(tokens)
}

impl Members {
    fn add(&mut self, mut raw: Raw, krate: &CratePath, errors: &mut Diagnostics) {
        if let Some(place) = raw.unread {
            errors.error_at(place, "this attribute cannot be read: write `#[name]` or `#[name(…)]`");
        }
        if raw.unread.is_some() || raw.is_unfinished() {
            // Nobody knows what it is, and it may have taken the member after it along.
            self.lost.anything = true;
        }
        // If there is no such attribute, the compiler tells, and the member was meant to be another one.
        self.lost.perhaps_marks.extend(raw.attrs.iter().filter_map(|attr| Mark::nearly(attr, krate)));
        let marks = take_marks(&mut raw, krate, errors);
        let Some((mark, attr)) = marks else {
            if let Some(mark) = raw.unmarked_handle() {
                self.items.push(without_its_mark(mark, raw, krate, errors));
                return;
            }
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
                self.lost.a_handle |= handle.is_none();
                self.handles.extend(handle);
            }
            Mark::Step | Mark::OnTimeout | Mark::OnCancel => {
                match step::read(mark, &attr, &raw, errors) {
                    Some(step) => self.steps.push(step),
                    None => self.lost.steps.extend(raw.method().cloned()),
                }
                self.give_back(Role::Step, raw, krate, errors);
            }
            Mark::WaitFor => {
                let wait = handler::wait(&attr, &raw, errors);
                self.lost.a_wait |= wait.is_none();
                self.waits.extend(wait);
                self.give_back(Role::Wait, raw, krate, errors);
            }
            Mark::Rpc => {
                self.rpcs.extend(handler::rpc(&attr, &raw, errors));
                self.give_back(Role::Rpc, raw, krate, errors);
            }
        }
    }

    fn give_back(&mut self, role: Role, raw: Raw, krate: &CratePath, errors: &mut Diagnostics) {
        let mistake = match &raw.kind {
            RawKind::Method { sig, body } if self.bodies == Bodies::Kept => {
                mistaken::in_body(role, sig, body)
            }
            _ => None,
        };
        let bodies = if mistake.is_some() { Bodies::Hidden } else { self.bodies };
        if let Some(mistake) = mistake {
            errors.push(mistake);
        }
        self.items.push(handler::given_back(raw, bodies, krate));
    }
}

/// A handle whose attribute was forgotten, with its value: who uses it is not told as well.
fn without_its_mark(mark: Mark, raw: Raw, krate: &CratePath, errors: &mut Diagnostics) -> TokenStream {
    if let RawKind::Const { ident, .. } = &raw.kind {
        let word = mark_word(mark);
        if raw.unread.is_some() {
            return completed(mark, raw, krate);
        }
        errors.error(
            ident,
            format_args!("`{ident}` has no value: write `#[{word}]` above it, which gives it one"),
        );
    }
    completed(mark, raw, krate)
}

/// The handle with its value. Mistakes in it can wait until it is marked as what it is.
pub(super) fn completed(mark: Mark, raw: Raw, krate: &CratePath) -> TokenStream {
    let mut unread = Diagnostics::default();
    handle::read(mark, &syn::parse_quote!(#[attribute]), raw, krate, &mut unread).0
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
    if let Some((Mark::Step, attr)) = &mut first {
        options_beside(attr, &mut raw.attrs, errors);
    }
    first
}

// `#[start]` beside `#[step]`: the compiler would only say that there is no such attribute.
fn options_beside(step: &mut Attribute, attrs: &mut Vec<Attribute>, errors: &mut Diagnostics) {
    attrs.retain(|attr| {
        let option = Mark::STEP_FLAGS.iter().find(|option| attr.path().is_ident(option));
        let (Some(option), Meta::Path(word)) = (option, &attr.meta) else { return true };
        errors.error(attr.path(), format_args!("`{option}` is an option: write `#[step({option})]`"));
        let (path, others) = (step.path(), handle::arguments(step, &mut Diagnostics::default()));
        let separator = (!others.is_empty()).then(|| quote!(,));
        step.meta = syn::parse_quote!(#path(#word #separator #others));
        false
    });
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
    completed(mark, raw, &CratePath::default())
}
