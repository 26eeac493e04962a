//! Methods that the runtime calls: what they have in common, and the options of `#[wait_for]` and `#[rpc]`.
//! Those of steps are read in [`super::step`], signatures in [`super::signature`].

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, LitStr, Result, ReturnType, Signature};

use super::handle::arguments;
use super::member::{self, Bodies, Raw, RawKind};
use super::model::{Handler, Member, Rpc, Wait};
use super::signature::{self, Role};
use crate::attributes;
use crate::crate_path::CratePath;
use crate::diagnostics::Diagnostics;
use crate::names::StoredName;
use crate::options;

const RPC_OPTIONS: &[&str] = &["name", "alias", "timeout", "lock"];

/// The names that options give to a method.
#[derive(Default)]
pub(super) struct Names {
    pub(super) name: Option<LitStr>,
    pub(super) alias: Option<LitStr>,
}

/// The method as it is given back: as written, with leave to have the shape that the runtime asks for.
pub(super) fn given_back(mut raw: Raw, bodies: Bodies, krate: &CratePath) -> TokenStream {
    if let Some(mark) = raw.unmarked_handle() {
        return member::completed(mark, raw, krate);
    }
    if let RawKind::Method { sig, body } = &mut raw.kind {
        // Without a return type, which has been told, every value in it is of a wrong type.
        if bodies == Bodies::Hidden || matches!(sig.output, ReturnType::Default) {
            *body = quote!({
                #[cfg(any())]
                #body
                ::core::unreachable!()
            });
            raw.attrs.push(syn::parse_quote! {
                #[allow(unused_mut, unused_variables, reason = "what uses them is hidden")]
            });
        }
        raw.attrs.push(syn::parse_quote! {
            #[allow(
                clippy::needless_pass_by_ref_mut,
                clippy::needless_pass_by_value,
                clippy::ptr_arg,
                clippy::trivially_copy_pass_by_ref,
                clippy::unnecessary_wraps,
                clippy::unused_async,
                clippy::unused_self,
                reason = "the flow fixes the shape of its handlers"
            )]
        });
    }
    raw.into_token_stream()
}

/// Reads a `wait_for`.
pub(super) fn wait(attr: &Attribute, raw: &Raw, errors: &mut Diagnostics) -> Option<Wait> {
    let sig = method(attr, raw, "wait_for", errors)?;
    let tokens = arguments(attr, errors);
    let step = if tokens.is_empty() {
        let message = "`#[wait_for]` needs the step that waits: `#[wait_for(method_name)]`";
        errors.error(attr.path(), message);
        None
    } else {
        let parsed = (|input: ParseStream<'_>| -> Result<Ident> {
            let wrong = "expected the method name of one step: `#[wait_for(method_name)]`";
            let step: Ident = input.parse().map_err(|error| syn::Error::new(error.span(), wrong))?;
            if input.is_empty() { Ok(step) } else { Err(input.error(wrong)) }
        })
        .parse2(tokens);
        errors.note(parsed)
    };
    let handler = handler(Role::Wait, sig, raw, &Names::default(), errors)?;
    Some(Wait { handler, step: step? })
}

/// Reads an RPC.
pub(super) fn rpc(attr: &Attribute, raw: &Raw, errors: &mut Diagnostics) -> Option<Rpc> {
    let sig = method(attr, raw, "rpc", errors)?;
    let (mut names, mut timeout, mut locks) = (Names::default(), None, Vec::new());
    options::read_list(arguments(attr, errors), "#[rpc]", RPC_OPTIONS, errors, |key, setting, _| {
        match key {
            "name" => names.name = Some(setting.text()?),
            "alias" => names.alias = Some(setting.text()?),
            "timeout" => timeout = Some(setting.duration("5s")?),
            _ => locks = setting.constants()?,
        }
        Ok(())
    });
    let handler = handler(Role::Rpc, sig, raw, &names, errors)?;
    Some(Rpc { handler, timeout, locks })
}

pub(super) fn method<'a>(
    attr: &Attribute,
    raw: &'a Raw,
    word: &str,
    errors: &mut Diagnostics,
) -> Option<&'a Signature> {
    if let RawKind::Method { sig, .. } = &raw.kind {
        return Some(sig);
    }
    if raw.unread.is_some() {
        // The attribute that cannot be read has been told, and hides what follows it.
        return None;
    }
    let message = if raw.is_unfinished_method() {
        format!("this method cannot be read: `#[{word}]` goes on `async fn name(&self, …) -> … {{ … }}`")
    } else {
        format!("`#[{word}]` goes on a method: `async fn name(&self, …)`")
    };
    errors.error(attr.path(), message);
    None
}

pub(super) fn handler(
    role: Role,
    sig: &Signature,
    raw: &Raw,
    names: &Names,
    errors: &mut Diagnostics,
) -> Option<Handler> {
    let arguments = signature::read(role, sig, errors)?;
    let RawKind::Method { body, .. } = &raw.kind else { return None };
    let member = Member {
        ident: sig.ident.clone(),
        name: StoredName::of(&sig.ident, names.name.as_ref(), errors),
        alias: names.alias.as_ref().map(|alias| StoredName::given(alias, errors)),
        vis: raw.vis.clone(),
        doc_attrs: attributes::doc_attrs(&raw.attrs),
        docs: attributes::docs(&raw.attrs),
        cfgs: attributes::cfgs(&raw.attrs),
    };
    Some(Handler {
        member,
        is_async: sig.asyncness.is_some(),
        context: arguments.context,
        values: arguments.values,
        returns: sig.output.clone(),
        body: quote!(#body),
    })
}
