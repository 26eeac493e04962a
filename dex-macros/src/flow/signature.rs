//! What a handler's signature says: its context and its values, told apart by their types.

use quote::ToTokens;
use syn::{FnArg, Pat, PatType, Receiver, ReceiverKind, ReturnType, Signature, Type};

use super::model::{Argument, Context};
use crate::diagnostics::Diagnostics;

/// Which kind of handler a method is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Step,
    Wait,
    Rpc,
}

impl Role {
    fn word(self) -> &'static str {
        match self {
            Self::Step => "a step",
            Self::Wait => "a `wait_for`",
            Self::Rpc => "an RPC",
        }
    }

    pub(super) fn context(self) -> &'static str {
        match self {
            Self::Step => "StepContext",
            Self::Wait => "WaitContext",
            Self::Rpc => "RpcContext",
        }
    }

    fn returns(self) -> &'static str {
        match self {
            Self::Step => "StepResult<Self>",
            Self::Wait => "WaitResult<Self, T>",
            Self::Rpc => "RpcResult<T>",
        }
    }
}

/// The arguments besides `self`.
pub(super) struct Arguments {
    pub(super) context: Option<Context>,
    pub(super) values: Vec<Argument>,
}

/// Reads the arguments. `None` if calling the method cannot work.
pub(super) fn read(role: Role, sig: &Signature, errors: &mut Diagnostics) -> Option<Arguments> {
    let fits = [
        // A lifetime that is declared is used, most likely for `self`.
        has_no_generics(role, sig, errors) && takes_shared_self(role, sig, errors),
        has_no_qualifiers(role, sig, errors),
        returns_something(role, sig, errors),
    ];
    let mut arguments = Arguments { context: None, values: Vec::new() };
    let mut sound = fits.iter().all(|fit| *fit);
    for input in &sig.inputs {
        if let FnArg::Typed(argument) = input {
            sound &= read_argument(role, argument, &mut arguments, errors);
        }
    }
    sound.then_some(arguments)
}

// The runtime calls a handler with stored values, so there is nobody to choose a type or a lifetime.
fn has_no_generics(role: Role, sig: &Signature, errors: &mut Diagnostics) -> bool {
    if let Some(first) = sig.generics.params.first() {
        let message = format!(
            "{} cannot be generic: the runtime calls it with stored values, whose types and lifetimes must be known",
            role.word()
        );
        errors.error(first, message);
        return false;
    }
    true
}

fn has_no_qualifiers(role: Role, sig: &Signature, errors: &mut Diagnostics) -> bool {
    let qualifier = sig.constness.map(ToTokens::into_token_stream);
    let qualifier = qualifier.or_else(|| sig.abi.as_ref().map(ToTokens::to_token_stream));
    let safety = sig.safety.to_token_stream();
    let qualifier = qualifier.or((!safety.is_empty()).then_some(safety));
    if let Some(qualifier) = qualifier {
        errors
            .error(qualifier, format_args!("{} is an `async fn` or a plain `fn`: remove this", role.word()));
        return false;
    }
    true
}

// One flow value serves all runs at once, on several threads.
fn takes_shared_self(role: Role, sig: &Signature, errors: &mut Diagnostics) -> bool {
    let Some(receiver) = sig.receiver() else {
        let message = format!("{} is a method of the flow: write `&self` as its first argument", role.word());
        errors.error(&sig.ident, message);
        return false;
    };
    let Some(wrong) = wrong_receiver(receiver) else { return true };
    errors.error(receiver, format_args!("{wrong}: one flow value serves all runs at once; write `&self`"));
    false
}

fn wrong_receiver(receiver: &Receiver) -> Option<&'static str> {
    match &receiver.kind {
        ReceiverKind::Reference(_, None, None) => None,
        ReceiverKind::Reference(_, _, Some(_)) => Some("`&mut self` is not possible"),
        ReceiverKind::Reference(_, Some(_), None) => Some("a lifetime has nothing to refer to here"),
        _ => Some("a handler cannot take the flow for itself"),
    }
}

fn returns_something(role: Role, sig: &Signature, errors: &mut Diagnostics) -> bool {
    let (word, right) = (role.word(), role.returns());
    match &sig.output {
        ReturnType::Default => {
            errors.error(&sig.ident, format_args!("{word} returns `{right}`: add `-> {right}`"));
            false
        }
        ReturnType::Type(_, ty) if is_of_another_role(role, ty) => {
            errors.error(ty, format_args!("{word} returns `{right}`"));
            false
        }
        ReturnType::Type(_, ty) if role == Role::Rpc && is_certainly_a_value(ty) => {
            let answer = crate::source::text(&ty.to_token_stream());
            errors.error(ty, format_args!("{word} returns `{right}`: write `-> RpcResult<{answer}>`"));
            false
        }
        ReturnType::Type(..) => true,
    }
}

/// Whether it is what handlers of another kind return, by its name.
fn is_of_another_role(role: Role, ty: &Type) -> bool {
    let name = last_name(ty).unwrap_or_default();
    let is_returned_by = |other: Role| other.returns().split('<').next() == Some(name.as_str());
    [Role::Step, Role::Wait, Role::Rpc].into_iter().any(|other| other != role && is_returned_by(other))
}

/// Whether an RPC returns its answer as it is.
///
/// Any name might be an alias of a result, so this only knows types that nobody names a result; the
/// compiler refuses the others, if in more words.
fn is_certainly_a_value(ty: &Type) -> bool {
    const VALUES: &[&str] = &[
        "bool", "char", "String", "Option", "Vec", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16",
        "i32", "i64", "i128", "isize", "f32", "f64",
    ];
    match ty {
        Type::Path(path) if path.qself.is_none() && path.path.segments.len() == 1 => {
            last_name(ty).is_some_and(|name| VALUES.contains(&name.as_str()))
        }
        Type::Tuple(_) | Type::Array(_) | Type::Slice(_) | Type::Reference(_) => true,
        _ => false,
    }
}

fn read_argument(role: Role, argument: &PatType, into: &mut Arguments, errors: &mut Diagnostics) -> bool {
    if let Some(cfg) = argument.attrs.iter().find(|attr| attr.path().is_ident("cfg")) {
        errors.error(
            cfg,
            "an argument cannot depend on a `cfg`: write the method twice, each with its `#[cfg(…)]`",
        );
        return false;
    }
    if let Some(context) = as_context(&argument.ty) {
        let ident = match &*argument.pat {
            Pat::Ident(pattern) => Some(pattern.ident.clone()),
            _ => None,
        };
        return add_context(role, Context { ident, ..context }, into, errors);
    }
    if let Type::Path(path) = &*argument.ty
        && path.path.segments.last().is_some_and(|last| CONTEXTS.iter().any(|context| last.ident == context))
    {
        let (word, right) = (role.word(), role.context());
        let more = if role == Role::Step { "" } else { ", or `&` if it only reads" };
        errors.error(
            &argument.ty,
            format_args!("{word} borrows its context: write `&mut {right}<Self>`{more}"),
        );
        return false;
    }
    add_value(role, argument, into, errors)
}

/// The contexts by their own names. An import may give them others.
const CONTEXTS: [&str; 3] = ["StepContext", "WaitContext", "RpcContext"];

/// A reference to a path ending in `…Context<…>`, or to one of our contexts without its flow.
///
/// The `<…>` tells a context from an input of the user's that is only named like one.
pub(super) fn as_context(ty: &Type) -> Option<Context> {
    match ty {
        Type::Reference(reference) => {
            let name = last_name(&reference.elem)?;
            let is_context = name.ends_with("Context") && has_arguments(&reference.elem);
            (is_context || CONTEXTS.contains(&name.as_str())).then(|| Context {
                ident: None,
                ty: ty.clone(),
                mutable: reference.mutability.is_some(),
            })
        }
        Type::Group(group) => as_context(&group.elem),
        _ => None,
    }
}

fn has_arguments(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| !last.arguments.is_empty()),
        Type::Group(group) => has_arguments(&group.elem),
        _ => false,
    }
}

fn last_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        Type::Group(group) => last_name(&group.elem),
        _ => None,
    }
}

fn add_context(role: Role, context: Context, into: &mut Arguments, errors: &mut Diagnostics) -> bool {
    let right = role.context();
    let Type::Reference(reference) = &context.ty else { return true };
    let name = last_name(&reference.elem).unwrap_or_default();
    if CONTEXTS.contains(&name.as_str()) && name != right {
        errors.error(&reference.elem, format_args!("{} takes a `{right}<Self>`", role.word()));
        return false;
    }
    if into.context.is_some() {
        errors.error(&context.ty, "there is one context: remove this argument or the one before");
        return false;
    }
    if !into.values.is_empty() {
        errors.error(&context.ty, "the context comes before the other arguments, right after `&self`");
        return false;
    }
    into.context = Some(context);
    true
}

fn add_value(role: Role, argument: &PatType, into: &mut Arguments, errors: &mut Diagnostics) -> bool {
    let ty = &argument.ty;
    let is_reference = matches!(&**ty, Type::Reference(_));
    let wrong = match role {
        Role::Wait if matches!(&**ty, Type::Reference(reference) if reference.mutability.is_some()) => {
            Some("a `wait_for` only reads the step's input: write `&` in place of `&mut`".to_owned())
        }
        Role::Wait if !is_reference => Some(format!(
            "a `wait_for` borrows the step's input: write `&{}`",
            crate::source::text(&ty.to_token_stream())
        )),
        Role::Step | Role::Rpc if is_reference => Some(format!(
            "{} takes its values, not references to them: they come from the store and are the handler's own",
            role.word()
        )),
        _ => None,
    };
    if let Some(wrong) = wrong {
        errors.error(ty, wrong);
        return false;
    }
    if let Type::ImplTrait(_) = &**ty {
        errors.error(ty, format_args!("{} cannot be generic: name the type of the value", role.word()));
        return false;
    }
    let (most, have) = match role {
        Role::Step => (2, "the input and the outcome of its `wait_for`"),
        Role::Wait => (1, "a reference to the step's input"),
        Role::Rpc => (1, "its input; put several values in a struct or a tuple"),
    };
    if into.values.len() == most {
        errors.error(argument, format_args!("{} takes at most `&self`, the context and {have}", role.word()));
        return false;
    }
    into.values.push(Argument { pattern: (*argument.pat).clone(), ty: (**ty).clone() });
    true
}
