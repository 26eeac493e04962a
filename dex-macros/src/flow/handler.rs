//! `#[step]`, `#[wait_for]` and `#[rpc]` on methods: their options. Signatures are read in [`super::signature`].

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, LitStr, Result, Signature};

use super::handle::arguments;
use super::member::{Raw, RawKind};
use super::model::{Handler, Member, Retry, Rpc, Step, Wait};
use super::signature::{self, Role};
use crate::attributes;
use crate::diagnostics::Diagnostics;
use crate::names::{self, StoredName};
use crate::options::{self, Setting};

const STEP_OPTIONS: &[&str] = &["start", "name", "retry", "timeout", "on_failure"];
const RETRY_OPTIONS: &[&str] = &["initial", "factor", "max_interval", "attempts", "total"];

/// The method as it is given back: as written, with leave to have the shape that the runtime asks for.
pub(super) fn given_back(mut raw: Raw) -> TokenStream {
    if matches!(raw.kind, RawKind::Method { .. }) {
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

/// Reads a step.
pub(super) fn step(attr: &Attribute, raw: &Raw, errors: &mut Diagnostics) -> Option<Step> {
    let sig = method(attr, raw, "step", errors)?;
    let (mut start, mut name, mut retry, mut timeout, mut on_failure) = Default::default();
    options::read_list(arguments(attr, errors), "#[step]", STEP_OPTIONS, errors, |key, setting, errors| {
        match key {
            "start" => start = Some(setting.flag()?),
            "name" => name = Some(setting.text()?),
            "retry" => retry = read_retry(setting, errors)?,
            "timeout" => timeout = Some(setting.duration("30s")?),
            _ => on_failure = Some(setting.method()?),
        }
        Ok(())
    });
    let handler = handler(Role::Step, sig, raw, name.as_ref(), errors)?;
    let constant = names::constant(&sig.ident);
    if constant.is_none() {
        errors.error(&sig.ident, "this name has no form in capitals for the step's constant: choose another");
    }
    Some(Step { handler, constant, start, retry, timeout, on_failure, wait: None })
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
    let handler = handler(Role::Wait, sig, raw, None, errors)?;
    Some(Wait { handler, step: step? })
}

/// Reads an RPC.
pub(super) fn rpc(attr: &Attribute, raw: &Raw, errors: &mut Diagnostics) -> Option<Rpc> {
    let sig = method(attr, raw, "rpc", errors)?;
    let mut name = None;
    options::read_list(arguments(attr, errors), "#[rpc]", &["name"], errors, |_, setting, _| {
        name = Some(setting.text()?);
        Ok(())
    });
    let handler = handler(Role::Rpc, sig, raw, name.as_ref(), errors)?;
    Some(Rpc { handler })
}

fn method<'a>(attr: &Attribute, raw: &'a Raw, word: &str, errors: &mut Diagnostics) -> Option<&'a Signature> {
    if let RawKind::Method { sig, .. } = &raw.kind {
        return Some(sig);
    }
    errors.error(attr.path(), format_args!("`#[{word}]` goes on a method: `async fn name(&self, …)`"));
    None
}

fn handler(
    role: Role,
    sig: &Signature,
    raw: &Raw,
    name: Option<&LitStr>,
    errors: &mut Diagnostics,
) -> Option<Handler> {
    let arguments = signature::read(role, sig, errors)?;
    let RawKind::Method { body, .. } = &raw.kind else { return None };
    let member = Member {
        ident: sig.ident.clone(),
        name: StoredName::of(&sig.ident, name, errors),
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

fn read_retry(setting: &Setting<'_>, errors: &mut Diagnostics) -> Result<Retry> {
    let mut retry = Retry::default();
    let tokens = setting.list("total = \"1h\"")?;
    options::read_list(tokens, "retry", RETRY_OPTIONS, errors, |key, setting, _| {
        match key {
            "initial" => retry.initial = Some(setting.duration("1s")?),
            "factor" => retry.factor = Some(setting.factor()?),
            "max_interval" => retry.max_interval = Some(setting.duration("100s")?),
            "attempts" => retry.attempts = Some(setting.count()?),
            _ => retry.total = Some(setting.duration("4h")?),
        }
        Ok(())
    });
    Ok(retry)
}
