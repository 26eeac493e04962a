//! The head of the block: `#[flow(…)]`, and what stands before and inside `impl F { … }`.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Generics, LitStr, Result, Token, Type};

use super::member::{self, Bodies};
use super::model::{Flow, StepOptions};
use super::step;
use crate::attributes;
use crate::crate_path::CratePath;
use crate::diagnostics::Diagnostics;
use crate::names::StoredName;
use crate::options::{self, Given};

const OPTIONS: &[&str] = &["output", "name", "timeout", "steps", "endless", "schemas", "crate"];

/// What was read: the block as it is given back, and the flow if there is one to speak of.
pub(super) struct Parsed {
    pub(super) item: TokenStream,
    pub(super) flow: Option<Flow>,
}

/// Reads the attribute's options and the block.
pub(super) fn flow(args: TokenStream, item: &TokenStream, errors: &mut Diagnostics) -> Parsed {
    let options = read_options(args, errors);
    match block.parse2(item.clone()) {
        Ok(block) => assemble(options, block, errors),
        Err(error) => {
            errors.error_at(
                error.span(),
                "`#[flow]` goes on the `impl` block with the flow's steps: `impl OrderFlow { … }`",
            );
            Parsed { item: item.clone(), flow: None }
        }
    }
}

#[derive(Default)]
struct Options {
    output: Option<Type>,
    name: Option<LitStr>,
    timeout: Option<Given<Duration>>,
    defaults: StepOptions,
    endless: bool,
    schemas: Option<Span>,
    krate: CratePath,
}

fn read_options(args: TokenStream, errors: &mut Diagnostics) -> Options {
    let mut options = Options::default();
    let names_the_crate = args.clone().into_iter().any(|token| token.to_string() == "crate");
    options::read_list(args, "#[flow]", OPTIONS, errors, |name, setting, errors| {
        match name {
            "output" => options.output = Some(setting.ty()?),
            "name" => options.name = Some(setting.text()?),
            "timeout" => options.timeout = Some(setting.duration("30d")?),
            "steps" => options.defaults = step::read_defaults(setting, errors)?,
            "endless" => options.endless = setting.flag().map(|_| true)?,
            "schemas" => options.schemas = Some(setting.flag()?),
            _ => options.krate = CratePath::given(setting.path()?),
        }
        Ok(())
    });
    if names_the_crate && !errors.is_empty() {
        options.krate = options.krate.doubtful();
    }
    options
}

/// An `impl` block whose members are still tokens.
struct Block {
    attrs: Vec<Attribute>,
    generics: Generics,
    trait_: Option<TokenStream>,
    self_ty: Type,
    inner_attrs: Vec<Attribute>,
    members: TokenStream,
}

fn block(input: ParseStream<'_>) -> Result<Block> {
    let attrs = input.call(Attribute::parse_outer)?;
    input.parse::<Token![impl]>()?;
    let mut generics: Generics = if input.peek(Token![<]) { input.parse()? } else { Generics::default() };
    let mut self_ty: Type = input.parse()?;
    let mut trait_ = None;
    if input.peek(Token![for]) {
        input.parse::<Token![for]>()?;
        trait_ = Some(self_ty.into_token_stream());
        self_ty = input.parse()?;
    }
    generics.where_clause = input.parse()?;
    let content;
    syn::braced!(content in input);
    let inner_attrs = content.call(Attribute::parse_inner)?;
    let members = content.parse()?;
    Ok(Block { attrs, generics, trait_, self_ty, inner_attrs, members })
}

/// Puts the flow together, if the block can be one.
fn assemble(options: Options, block: Block, errors: &mut Diagnostics) -> Parsed {
    let is_of_a_trait = refuse_trait(block.trait_.as_ref(), errors);
    let refused = is_of_a_trait || refuse_generics(&block.generics, errors);
    let ident = if refused { None } else { self_ident(&block.self_ty, errors) };
    let name = ident.as_ref().map(|ident| StoredName::of(ident, options.name.as_ref(), errors));
    let bodies = if ident.is_some() { Bodies::Kept } else { Bodies::Hidden };
    // A trait's methods have the trait's signatures.
    let mut unheard = Diagnostics::default();
    let of_members = if is_of_a_trait { &mut unheard } else { &mut *errors };
    let members = member::read_all(block.members, bodies, &options.krate, of_members);

    let (attrs, inner_attrs, self_ty) = (&block.attrs, &block.inner_attrs, &block.self_ty);
    let trait_ = block.trait_.as_ref().map(|trait_| quote!(#trait_ for));
    let (impl_generics, _, where_clause) = block.generics.split_for_impl();
    let items = &members.items;
    let item = quote! {
        #(#attrs)*
        impl #impl_generics #trait_ #self_ty #where_clause {
            #(#inner_attrs)*
            #(#items)*
        }
    };
    let flow = ident.zip(name).map(|(ident, name)| Flow {
        krate: options.krate,
        cfgs: attributes::cfgs(&block.attrs),
        docs: attributes::docs(&block.attrs),
        self_ty: block.self_ty.clone(),
        ident,
        name,
        output: options.output.unwrap_or_else(attributes::unit),
        timeout: options.timeout,
        defaults: options.defaults,
        endless: options.endless,
        schemas: options.schemas,
        handles: members.handles,
        steps: members.steps,
        waits: members.waits,
        rpcs: members.rpcs,
        lost: members.lost,
        others: members.others,
        others_tokens: members.others_tokens,
    });
    Parsed { item, flow }
}

fn refuse_trait(trait_: Option<&TokenStream>, errors: &mut Diagnostics) -> bool {
    if let Some(trait_) = trait_ {
        errors.error(trait_, "a flow is not a trait's `impl`: put `#[flow]` on `impl OrderFlow { … }`");
    }
    trait_.is_some()
}

fn self_ident(self_ty: &Type, errors: &mut Diagnostics) -> Option<Ident> {
    let last = match self_ty {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        Type::Group(group) => return self_ident(&group.elem, errors),
        _ => None,
    };
    let Some(last) = last else {
        errors.error(self_ty, "a flow is a struct or an enum of your own: `impl OrderFlow { … }`");
        return None;
    };
    if !last.arguments.is_empty() {
        errors.error(&last.arguments, format_args!("a flow has no generic arguments: {ONE_NAME}"));
        return None;
    }
    Some(last.ident.clone())
}

const ONE_NAME: &str =
    "its one stored name could not tell them apart; keep what varies in a field, as `Arc<dyn Trait>`";

// Runs are tied to code by the flow's stored name, which all instances of a generic type would share.
fn refuse_generics(generics: &Generics, errors: &mut Diagnostics) -> bool {
    if let Some(first) = generics.params.first() {
        errors.error(first, format_args!("a flow cannot be generic: {ONE_NAME}"));
        return true;
    }
    false
}
