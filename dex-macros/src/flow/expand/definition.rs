//! The static description: all that the macro knows, as plain data.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{ReturnType, Type};

use super::{rpcs, steps};
use crate::attributes;
use crate::flow::graph;
use crate::flow::model::{Flow, Handle, HandleKind, Retry, Rpc, Step, Wait};
use crate::source;

/// The value of the flow's `FlowDefinition`.
pub(super) fn flow(flow: &Flow) -> TokenStream {
    let private = flow.krate.private();
    let (name, docs, output) = (&flow.name.text, &flow.docs, type_text(&flow.output));
    let steps = flow.steps.iter().map(|each| step(flow, each));
    let attributes = handles(flow, true);
    let channels = handles(flow, false);
    let rpcs = flow.rpcs.iter().map(|each| rpc(flow, each));
    quote! {
        #private::FlowDefinition {
            name: #name,
            docs: #docs,
            output: #output,
            steps: &[#(#steps),*],
            attributes: &[#(#attributes),*],
            channels: &[#(#channels),*],
            rpcs: &[#(#rpcs),*],
            ..#private::FlowDefinition::DEFAULT
        }
    }
}

fn type_text(ty: &Type) -> String {
    source::text(&ty.to_token_stream())
}

fn step(flow: &Flow, step: &Step) -> TokenStream {
    let private = flow.krate.private();
    let member = &step.handler.member;
    let (cfgs, name, docs) = (&member.cfgs, &member.name.text, &member.docs);
    let input = type_text(&steps::input(step));
    let (start, blocking) = (step.start.is_some(), !step.handler.is_async);
    let wait = option(step.wait.and_then(|wait| flow.waits.get(wait)).map(|each| wait(flow, step, each)));
    let retry = retry(flow, &step.retry);
    let timeout = option(step.timeout.map(|timeout| duration(flow, timeout.value)));
    let recovery = step.on_failure.as_ref();
    let recovery =
        recovery.and_then(|recovery| flow.steps.iter().find(|other| other.handler.ident() == recovery));
    let on_failure = option(recovery.map(|recovery| recovery.handler.member.name.text.to_token_stream()));
    let edges = edges(flow, graph::steps_named(flow, &step.handler.body), recovery);
    quote! {
        #(#cfgs)*
        #private::StepDefinition {
            name: #name,
            docs: #docs,
            input: #input,
            start: #start,
            blocking: #blocking,
            wait: #wait,
            retry: #retry,
            timeout: #timeout,
            on_failure: #on_failure,
            edges: #edges,
            ..#private::StepDefinition::DEFAULT
        }
    }
}

fn wait(flow: &Flow, step: &Step, wait: &Wait) -> TokenStream {
    let private = flow.krate.private();
    let member = &wait.handler.member;
    let (method, docs) = (&member.name.text, &member.docs);
    let outcome =
        written_outcome(wait).or(step.outcome()).map_or_else(|| type_text(&attributes::unit()), type_text);
    quote!(#private::WaitDefinition { method: #method, docs: #docs, outcome: #outcome })
}

/// The `O` of `WaitResult<Self, O>`.
fn written_outcome(wait: &Wait) -> Option<&Type> {
    let ReturnType::Type(_, returned) = &wait.handler.returns else { return None };
    match source::arguments(returned, "WaitResult").as_slice() {
        [_, outcome] => Some(outcome),
        _ => None,
    }
}

fn edges(flow: &Flow, next: Vec<&Step>, recovery: Option<&Step>) -> TokenStream {
    let private = flow.krate.private();
    let next = next.into_iter().map(|step| (step, quote!(Next)));
    let edges = next.chain(recovery.map(|step| (step, quote!(Failure)))).map(|(step, kind)| {
        let (cfgs, to) = (&step.handler.member.cfgs, &step.handler.member.name.text);
        quote!(#(#cfgs)* #private::Edge { to: #to, kind: #private::EdgeKind::#kind })
    });
    quote!(&[#(#edges),*])
}

fn retry(flow: &Flow, retry: &Retry) -> TokenStream {
    let private = flow.krate.private();
    let some = |value: TokenStream| option(Some(value));
    let mut fields = Vec::new();
    fields.extend(retry.initial.map(|given| {
        let initial = duration(flow, given.value);
        quote!(initial: #initial,)
    }));
    fields.extend(retry.factor.map(|given| {
        let factor = given.value;
        quote!(factor: #factor,)
    }));
    fields.extend(retry.max_interval.map(|given| {
        let max_interval = duration(flow, given.value);
        quote!(max_interval: #max_interval,)
    }));
    fields.extend(retry.attempts.map(|given| {
        let attempts = some(given.value.to_token_stream());
        quote!(attempts: #attempts,)
    }));
    fields.extend(retry.total.map(|given| {
        let total = some(duration(flow, given.value));
        quote!(total: #total,)
    }));
    if fields.is_empty() {
        return quote!(#private::RetryPolicy::DEFAULT);
    }
    quote!(#private::RetryPolicy { #(#fields)* ..#private::RetryPolicy::DEFAULT })
}

fn duration(flow: &Flow, value: std::time::Duration) -> TokenStream {
    let private = flow.krate.private();
    // The grammar of durations keeps them far below the limit of `u64`.
    let ms = u64::try_from(value.as_millis()).unwrap_or(u64::MAX);
    quote!(#private::Duration::from_millis(#ms))
}

fn option(value: Option<TokenStream>) -> TokenStream {
    let Some(value) = value else { return quote!(::core::option::Option::None) };
    quote!(::core::option::Option::Some(#value))
}

fn handles(flow: &Flow, attributes: bool) -> Vec<TokenStream> {
    let is_wanted = |handle: &&Handle| matches!(handle.kind, HandleKind::Attribute { .. }) == attributes;
    flow.handles.iter().filter(is_wanted).map(|each| handle(flow, each)).collect()
}

fn handle(flow: &Flow, handle: &Handle) -> TokenStream {
    let private = flow.krate.private();
    let member = &handle.member;
    let (cfgs, name, docs, value) = (&member.cfgs, &member.name.text, &member.docs, type_text(&handle.value));
    let (kind, indexed) = match handle.kind {
        HandleKind::Attribute { indexed } => (quote!(AttributeDefinition), quote!(indexed: #indexed,)),
        HandleKind::Channel => (quote!(ChannelDefinition), quote!()),
    };
    quote!(#(#cfgs)* #private::#kind { name: #name, docs: #docs, value: #value, #indexed })
}

fn rpc(flow: &Flow, rpc: &Rpc) -> TokenStream {
    let private = flow.krate.private();
    let member = &rpc.handler.member;
    let (cfgs, name, docs) = (&member.cfgs, &member.name.text, &member.docs);
    let input = rpc.handler.input().map_or_else(|| type_text(&attributes::unit()), type_text);
    let output = rpcs::answer_text(rpc);
    let (writes, blocking) = (rpc.writes(), !rpc.handler.is_async);
    let edges = edges(flow, graph::steps_named(flow, &rpc.handler.body), None);
    quote! {
        #(#cfgs)*
        #private::RpcDefinition {
            name: #name,
            docs: #docs,
            input: #input,
            output: #output,
            writes: #writes,
            blocking: #blocking,
            edges: #edges,
            ..#private::RpcDefinition::DEFAULT
        }
    }
}
