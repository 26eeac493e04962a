//! The static description: all that the macro knows, as plain data.

use std::time::Duration;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{ReturnType, Type};

use super::{rpcs, steps};
use crate::attributes;
use crate::flow::graph;
use crate::flow::model::{Entrance, Flow, Handle, HandleKind, Member, Retry, Rpc, Step, StepOptions, Wait};
use crate::options::Given;
use crate::source;

/// The value of the flow's `FlowDefinition`.
pub(super) fn flow(flow: &Flow) -> TokenStream {
    let private = flow.krate.private();
    let (name, docs, output) = (&flow.name.text, &flow.docs, type_text(&flow.output));
    let steps = flow.steps.iter().map(|each| step(flow, each));
    let attributes = handles(flow, |kind| matches!(kind, HandleKind::Attribute { .. }));
    let channels = handles(flow, |kind| matches!(kind, HandleKind::Channel));
    let streams = handles(flow, |kind| matches!(kind, HandleKind::Stream { .. }));
    let streams = (!streams.is_empty()).then(|| quote!(streams: &[#(#streams),*],));
    let rpcs = flow.rpcs.iter().map(|each| rpc(flow, each));
    let timeout = timeout(flow, flow.timeout);
    let on_timeout = entered(flow, Entrance::Timeout).map(|step| quote!(on_timeout: #step,));
    let on_cancel = entered(flow, Entrance::Cancel).map(|step| quote!(on_cancel: #step,));
    let endless = flow.endless.then(|| quote!(endless: true,));
    quote! {
        #private::FlowDefinition {
            name: #name,
            docs: #docs,
            output: #output,
            steps: &[#(#steps),*],
            attributes: &[#(#attributes),*],
            channels: &[#(#channels),*],
            rpcs: &[#(#rpcs),*],
            #streams
            #timeout
            #on_timeout
            #on_cancel
            #endless
            ..#private::FlowDefinition::DEFAULT
        }
    }
}

fn timeout(flow: &Flow, timeout: Option<Given<Duration>>) -> Option<TokenStream> {
    let timeout = option(Some(duration(flow, timeout?.value)));
    Some(quote!(timeout: #timeout,))
}

/// The stored name of the step that is come to in this way, if there is one in this build.
fn entered(flow: &Flow, entrance: Entrance) -> Option<TokenStream> {
    let steps: Vec<&Member> = flow.entered(entrance).map(|step| &step.handler.member).collect();
    if let [only] = steps.as_slice()
        && only.cfgs.is_empty()
    {
        return Some(option(Some(only.name.text.to_token_stream())));
    }
    let names = steps.iter().map(|member| {
        let (cfgs, name) = (&member.cfgs, &member.name.text);
        quote!(#(#cfgs)* #name)
    });
    let (some, none) = (option(Some(quote!(__dex_step))), option(None));
    (!steps.is_empty()).then(|| {
        quote! {
            match &[#(#names),*] as &[&'static ::core::primitive::str] {
                [__dex_step, ..] => #some,
                [] => #none,
            }
        }
    })
}

fn type_text(ty: &Type) -> String {
    source::text(&ty.to_token_stream())
}

fn step(flow: &Flow, step: &Step) -> TokenStream {
    let private = flow.krate.private();
    let member = &step.handler.member;
    let (cfgs, name, docs) = (&member.cfgs, &member.name.text, &member.docs);
    let input = type_text(&steps::input(step));
    let options = &step.options;
    let (start, blocking) = (options.start.is_some(), !step.handler.is_async);
    let wait = option(step.wait.and_then(|wait| flow.waits.get(wait)).map(|each| wait(flow, step, each)));
    let retry = retry(flow, &options.retry);
    let timeout =
        option(options.timeout.and_then(|timeout| timeout.value).map(|timeout| duration(flow, timeout)));
    let recovery = options.on_failure.as_ref();
    let recovery =
        recovery.and_then(|recovery| flow.steps.iter().find(|other| other.handler.ident() == recovery));
    let on_failure = option(recovery.map(|recovery| recovery.handler.member.name.text.to_token_stream()));
    let edges = edges(flow, graph::steps_named(flow, &step.handler.body), recovery);
    let (aliases, more) = (aliases(member), rarer_options(flow, options));
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
            #aliases
            #more
            ..#private::StepDefinition::DEFAULT
        }
    }
}

/// The options that most steps leave at their defaults.
fn rarer_options(flow: &Flow, options: &StepOptions) -> TokenStream {
    let private = flow.krate.private();
    let word = |word: &Option<Ident>| word.as_ref().map(ToString::to_string);
    let heartbeat = options.heartbeat.and_then(|heartbeat| heartbeat.value).map(|heartbeat| {
        let heartbeat = option(Some(duration(flow, heartbeat)));
        quote!(heartbeat: #heartbeat,)
    });
    let on_exhausted = match word(&options.on_exhausted).as_deref() {
        Some("park") => quote!(on_exhausted: #private::OnExhausted::Park,),
        Some("proceed") => quote!(on_exhausted: #private::OnExhausted::Proceed,),
        _ => TokenStream::new(),
    };
    let durability = match word(&options.durability).as_deref() {
        Some("async") => quote!(durability: #private::Durability::Async,),
        _ => TokenStream::new(),
    };
    let locks = locks(flow, &options.locks);
    let entry = (options.entrance == Some(Entrance::Elsewhere)).then(|| quote!(entry: true,));
    quote!(#entry #heartbeat #on_exhausted #locks #durability)
}

fn aliases(member: &Member) -> Option<TokenStream> {
    let alias = &member.alias.as_ref()?.text;
    Some(quote!(aliases: &[#alias],))
}

fn locks(flow: &Flow, locks: &[Ident]) -> TokenStream {
    if locks.is_empty() {
        return TokenStream::new();
    }
    let names = locks.iter().filter_map(|lock| flow.attribute(lock)).map(|handle| {
        let (cfgs, name) = (&handle.member.cfgs, &handle.member.name.text);
        quote!(#(#cfgs)* #name)
    });
    quote!(locks: &[#(#names),*],)
}

fn wait(flow: &Flow, step: &Step, wait: &Wait) -> TokenStream {
    let private = flow.krate.private();
    let member = &wait.handler.member;
    let (method, docs) = (&member.name.text, &member.docs);
    let outcome =
        written_outcome(wait).or(step.outcome()).map_or_else(|| type_text(&attributes::unit()), type_text);
    let sub_flows = sub_flows(flow, wait);
    quote! {
        #private::WaitDefinition {
            method: #method,
            docs: #docs,
            outcome: #outcome,
            sub_flows: &[#(#sub_flows),*],
        }
    }
}

// By their text only: a path in a body may mean something there alone.
fn sub_flows(flow: &Flow, wait: &Wait) -> Vec<String> {
    let in_body = graph::flows_named(flow, "SubFlow", &wait.handler.body);
    if in_body.is_empty() {
        // A helper may start them; what it gives is in the outcome.
        return graph::flows_named(flow, "ChildResult", &wait.handler.returns.to_token_stream());
    }
    in_body
}

/// The `O` of `WaitResult<Self, O>`.
pub(super) fn written_outcome(wait: &Wait) -> Option<&Type> {
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

fn duration(flow: &Flow, value: Duration) -> TokenStream {
    let private = flow.krate.private();
    // The grammar of durations keeps them far below the limit of `u64`.
    let ms = u64::try_from(value.as_millis()).unwrap_or(u64::MAX);
    quote!(#private::Duration::from_millis(#ms))
}

pub(super) fn option(value: Option<TokenStream>) -> TokenStream {
    let Some(value) = value else { return quote!(::core::option::Option::None) };
    quote!(::core::option::Option::Some(#value))
}

fn handles(flow: &Flow, is_wanted: impl Fn(HandleKind) -> bool) -> Vec<TokenStream> {
    flow.handles.iter().filter(|handle| is_wanted(handle.kind)).map(|each| handle(flow, each)).collect()
}

fn handle(flow: &Flow, handle: &Handle) -> TokenStream {
    let private = flow.krate.private();
    let member = &handle.member;
    let (cfgs, name, docs, value) = (&member.cfgs, &member.name.text, &member.docs, type_text(&handle.value));
    let (kind, more) = match handle.kind {
        HandleKind::Attribute { indexed } => (quote!(AttributeDefinition), quote!(indexed: #indexed,)),
        HandleKind::Channel => (quote!(ChannelDefinition), quote!()),
        HandleKind::Stream { capacity } => {
            let alias = member.alias.iter().map(|alias| &alias.text);
            (quote!(StreamDefinition), quote!(aliases: &[#(#alias),*], capacity: #capacity,))
        }
    };
    if let HandleKind::Stream { .. } = handle.kind {
        return quote!(#(#cfgs)* #private::#kind { name: #name, docs: #docs, value: #value, #more });
    }
    let aliases = aliases(member);
    let key = handle.key.as_ref().map(|key| {
        let key = option(Some(type_text(key).to_token_stream()));
        quote!(key: #key,)
    });
    // With both there is nothing left to take from the defaults, which the user's clippy would remark on.
    let rest = (aliases.is_none() || key.is_none()).then(|| quote!(..#private::#kind::DEFAULT));
    quote! {
        #(#cfgs)*
        #private::#kind {
            name: #name,
            docs: #docs,
            value: #value,
            #more
            #aliases
            #key
            #rest
        }
    }
}

fn rpc(flow: &Flow, rpc: &Rpc) -> TokenStream {
    let private = flow.krate.private();
    let member = &rpc.handler.member;
    let (cfgs, name, docs) = (&member.cfgs, &member.name.text, &member.docs);
    let input = rpc.handler.input().map_or_else(|| type_text(&attributes::unit()), type_text);
    let output = rpcs::answer_text(rpc);
    let (writes, blocking) = (rpc.writes(), !rpc.handler.is_async);
    let edges = edges(flow, graph::steps_named(flow, &rpc.handler.body), None);
    let aliases = aliases(member);
    let timeout = timeout(flow, rpc.timeout);
    let locks = locks(flow, &rpc.locks);
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
            #aliases
            #timeout
            #locks
            ..#private::RpcDefinition::DEFAULT
        }
    }
}
