//! The calls of handlers: a value in, the method called, what it returned out.
//!
//! Handlers are in tables in the same order as the definition, and under the same `cfg`, so that a place
//! in the one is the place in the other.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{ReturnType, Type};

use super::{in_place_of, steps};
use crate::flow::model::{Flow, Handler, Rpc, Step, Wait};
use crate::names::{generated, generated_at};
use crate::source;

/// The three methods that call handlers.
pub(super) fn all(flow: &Flow) -> TokenStream {
    let step_calls = flow.steps.iter().map(|step| {
        let (cfgs, call) = (&step.handler.member.cfgs, step_call(flow, step));
        quote!(#(#cfgs)* #call)
    });
    let waits = flow.steps.iter().map(|step| {
        let cfgs = &step.handler.member.cfgs;
        let call = match step.wait.and_then(|wait| flow.waits.get(wait)) {
            Some(wait) => wait_call(flow, step, wait),
            None => no_call(flow),
        };
        quote!(#(#cfgs)* #call)
    });
    let rpcs = flow.rpcs.iter().enumerate().map(|(place, rpc)| {
        let (cfgs, call) = (&rpc.handler.member.cfgs, rpc_call(flow, place, rpc));
        quote!(#(#cfgs)* #call)
    });
    tables(flow, &quote!(#(#step_calls),*), &quote!(#(#waits),*), &quote!(#(#rpcs),*))
}

/// The same three methods for a flow that cannot be run.
pub(super) fn none(flow: &Flow) -> TokenStream {
    tables(flow, &TokenStream::new(), &TokenStream::new(), &TokenStream::new())
}

fn tables(flow: &Flow, steps: &TokenStream, waits: &TokenStream, rpcs: &TokenStream) -> TokenStream {
    let step = table(flow, "call_step", "StepCall", "StepFuture", steps);
    let wait = table(flow, "call_wait", "WaitCall", "WaitFuture", waits);
    let rpc = table(flow, "call_rpc", "RpcCall", "RpcFuture", rpcs);
    quote!(#step #wait #rpc)
}

fn table(flow: &Flow, method: &str, call: &str, future: &str, entries: &TokenStream) -> TokenStream {
    let private = flow.krate.private();
    let [method, call, future] =
        [method, call, future].map(|name| Ident::new(name, proc_macro2::Span::call_site()));
    quote! {
        fn #method(
            self: #private::Arc<Self>,
            __dex_place: usize,
            __dex_call: #private::#call<Self>,
        ) -> #private::#future {
            let __dex_table: &[fn(#private::Arc<Self>, #private::#call<Self>) -> #private::#future] =
                &[#entries];
            #private::dispatch(__dex_table, __dex_place, self, __dex_call)
        }
    }
}

fn no_call(flow: &Flow) -> TokenStream {
    let private = flow.krate.private();
    quote!(|_, __dex_call| #private::Call::unknown(__dex_call))
}

fn step_call(flow: &Flow, step: &Step) -> TokenStream {
    let input = step.handler.input().map(|ty| read_input(flow, step, ty));
    let outcome = step.outcome().zip(step.wait.and_then(|wait| flow.waits.get(wait))).map(|(ty, wait)| {
        let (place, waits) = (ty.span(), returned(&wait.handler));
        let private = flow.krate.private_at(place);
        let given = quote_spanned!(place=> <#waits as #private::WaitReturn<Self>>::Outcome);
        quote_spanned! {place=>
            #[allow(clippy::let_unit_value, reason = "a wait may give nothing")]
            let __dex_outcome = <#ty as #private::GivenBy<#given>>::given(__dex_call.outcome_of::<#waits>()?);
        }
    });
    let mut arguments = context(&step.handler);
    arguments.extend(input.is_some().then(|| quote!(__dex_input)));
    arguments.extend(outcome.is_some().then(|| quote!(__dex_outcome)));
    let read = quote!(#input #outcome);
    future(flow, &step.handler, &read, &arguments, &|returned| {
        let private = flow.krate.private();
        if source::is_bare(returned, "StepResult") {
            // Most likely `<Self>` is missing, which the compiler would tell wherever it meets the type.
            return quote!(#private::StepReturn::<Self>::end(__dex_result, __dex_call));
        }
        quote!(<#returned as #private::StepReturn<Self>>::end(__dex_result, __dex_call))
    })
}

fn wait_call(flow: &Flow, step: &Step, wait: &Wait) -> TokenStream {
    let mut arguments = context(&wait.handler);
    let mut read = TokenStream::new();
    if let Some(borrowed) = wait.handler.input() {
        read = read_input(flow, step, &steps::input(step));
        arguments.push(in_place_of(borrowed, quote!(&__dex_input)));
    }
    future(flow, &wait.handler, &read, &arguments, &|returned| {
        let private = flow.krate.private();
        quote!(<#returned as #private::WaitReturn<Self>>::end(__dex_result, __dex_call))
    })
}

fn read_input(flow: &Flow, step: &Step, ty: &Type) -> TokenStream {
    if step.options.start.is_some() {
        // The flow's own input type is checked where the flow names it; once is enough.
        return quote!(let __dex_input = __dex_call.start_input()?;);
    }
    let private = flow.krate.private();
    quote_spanned! {generated_at(ty.span())=>
        let __dex_input = __dex_call.input_by(<#ty as #private::Stored>::decoded)?;
    }
}

fn rpc_call(flow: &Flow, place: usize, rpc: &Rpc) -> TokenStream {
    let mut arguments = context(&rpc.handler);
    let mut read = TokenStream::new();
    if rpc.handler.input().is_some() {
        read = quote!(let __dex_input = __dex_call.argument::<__DexRpc<#place>>()?;);
        arguments.push(quote!(__dex_input));
    }
    future(flow, &rpc.handler, &read, &arguments, &|returned| {
        if super::rpcs::is_written(returned) {
            return quote_spanned!(returned.span()=> __dex_call.answer::<__DexRpc<#place>>(__dex_result));
        }
        let at = generated_at(returned.span());
        let private = flow.krate.private_at(at);
        quote_spanned!(at=> <#returned as #private::RpcReturn>::end::<__DexRpc<#place>>(__dex_result, __dex_call))
    })
}

/// The context as an argument, if the handler takes it.
fn context(handler: &Handler) -> Vec<TokenStream> {
    let context = handler.context.as_ref();
    context.map(|context| in_place_of(&context.ty, quote!(__dex_call.context()))).into_iter().collect()
}

fn future(
    flow: &Flow,
    handler: &Handler,
    read: &TokenStream,
    arguments: &[TokenStream],
    end: &dyn Fn(&Type) -> TokenStream,
) -> TokenStream {
    // An error about the call as a whole, such as that its future is not `Send`, names the method.
    let place = generated_at(handler.ident().span());
    let private = flow.krate.private_at(place);
    let method = generated(handler.ident());
    let wait = handler.is_async.then(|| quote!(.await));
    let end = end(&returned(handler));
    quote_spanned! {place=>
        |__dex_flow, mut __dex_call| #private::Box::pin(#private::Futures::<Self>::OF.checked(async move {
            #read
            let __dex_result = Self::#method(&__dex_flow, #(#arguments),*) #wait;
            #end
        }))
    }
}

/// The type that the handler returns; one without is refused earlier.
fn returned(handler: &Handler) -> Type {
    match &handler.returns {
        ReturnType::Type(_, ty) => (**ty).clone(),
        ReturnType::Default => crate::attributes::unit(),
    }
}
