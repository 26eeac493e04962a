//! What only the compiler can judge: calls that do not compile unless a rule over types holds.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::steps;
use crate::flow::model::{Flow, Handle, HandleKind, Step};

/// All of them. They are constants, so nothing of them is left in the program.
pub(super) fn all(flow: &Flow) -> TokenStream {
    let recoveries = flow.steps.iter().filter_map(|step| recovery_takes_the_input(flow, step));
    let indexes = flow.handles.iter().filter_map(|handle| can_be_indexed(flow, handle));
    quote!(#(#recoveries)* #(#indexes)*)
}

fn can_be_indexed(flow: &Flow, handle: &Handle) -> Option<TokenStream> {
    let HandleKind::Attribute { indexed: true } = handle.kind else { return None };
    let private = flow.krate.private();
    let (cfgs, value) = (&handle.member.cfgs, super::without_self(flow, &handle.value));
    Some(quote! {
        #(#cfgs)*
        const _: () = <#value as #private::Indexable>::INDEXABLE;
    })
}

fn recovery_takes_the_input(flow: &Flow, step: &Step) -> Option<TokenStream> {
    let option = step.options.on_failure.as_ref()?;
    // The whole check stands where the option names the step: neither signature is wrong by itself.
    let at_option = |tokens| super::respanned(tokens, &|_| option.span());
    let private = at_option(flow.krate.private());
    let recovery = flow.steps.iter().find(|other| other.handler.ident() == option)?;
    let (cfgs, more) = (&step.handler.member.cfgs, &recovery.handler.member.cfgs);
    let given = super::without_self(flow, &steps::input(step));
    let taken = super::without_self(flow, &steps::input(recovery));
    let (given, taken) = (at_option(given), at_option(taken));
    Some(quote_spanned! {option.span()=>
        #(#cfgs)*
        #(#more)*
        const _: () = <#taken as #private::Takes<#given>>::SAME_TYPE;
    })
}
