//! The constants of the steps, and the input of the first one.

use proc_macro2::TokenStream;
use quote::quote;

use crate::attributes;
use crate::flow::model::{Flow, Step};

/// `const CHARGE: Step<Self, Order>`, for each step.
pub(super) fn constants(flow: &Flow) -> TokenStream {
    let constants: Vec<TokenStream> = flow.steps.iter().filter_map(|step| constant(flow, step)).collect();
    if constants.is_empty() {
        return TokenStream::new();
    }
    let (self_ty, cfgs) = (&flow.self_ty, &flow.cfgs);
    quote! {
        #(#cfgs)*
        impl #self_ty {
            #(#constants)*
        }
    }
}

fn constant(flow: &Flow, step: &Step) -> Option<TokenStream> {
    let private = flow.krate.private();
    let constant = step.constant.as_ref()?;
    let member = &step.handler.member;
    let (cfgs, name) = (&member.cfgs, &member.name.text);
    let docs = super::docs(member, "The step");
    let vis = super::generated_vis(&member.vis);
    let input = input(step);
    Some(quote! {
        #(#cfgs)*
        #docs
        #[allow(dead_code, reason = "a step need not be gone to by its constant")]
        #vis const #constant: #private::Step<Self, #input> = #private::Step::new(#name);
    })
}

/// The type of the step's input, `()` if it takes none.
pub(super) fn input(step: &Step) -> syn::Type {
    step.handler.input().cloned().unwrap_or_else(attributes::unit)
}

/// `type Input = …;`, with the alternatives of a start step that is written once for each `cfg`.
pub(super) fn start_input(flow: &Flow) -> TokenStream {
    let Some(start) = flow.start() else {
        return quote!(
            type Input = ();
        );
    };
    let conditional = !start.handler.member.cfgs.is_empty();
    if !conditional {
        let input = input(start);
        return quote!(type Input = #input;);
    }
    let starts = flow.steps.iter().filter(|step| step.options.start.is_some());
    let inputs = starts.map(|step| {
        let (cfgs, input) = (&step.handler.member.cfgs, input(step));
        quote!(#(#cfgs)* type Input = #input;)
    });
    quote!(#(#inputs)*)
}

/// Says that runs of the flow begin with a step, if they do.
pub(super) fn starts(flow: &Flow) -> TokenStream {
    let Some(start) = flow.start() else { return TokenStream::new() };
    let (private, self_ty) = (flow.krate.private(), &flow.self_ty);
    let starts = flow.steps.iter().filter(|step| step.options.start.is_some());
    let each = starts.map(|step| {
        let cfgs = &step.handler.member.cfgs;
        quote! {
            #(#cfgs)*
            #[automatically_derived]
            impl #private::HasStart for #self_ty {}
        }
    });
    // Of several at most one is in a build; without a condition there is one.
    let unconditional = start.handler.member.cfgs.is_empty();
    let each: Vec<_> = if unconditional { each.take(1).collect() } else { each.collect() };
    quote!(#(#each)*)
}
