//! Lists of options: `start, name = "…", retry(total = "1h")`.
//!
//! They are read by hand, with the keyword kept beside the value, so that a mistake underlines the one or
//! the other. A mistake in one option does not hide those in the next.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Error, LitFloat, LitInt, LitStr, Result, Token, Type};

use crate::diagnostics::Diagnostics;
use crate::{duration, size, suggest};

/// A value with the place of the text it was read from.
#[derive(Clone, Copy)]
pub(crate) struct Given<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// One option of a list: its keyword, and the tokens from there on.
pub(crate) struct Setting<'a> {
    pub(crate) key: &'a Ident,
    input: ParseStream<'a>,
}

/// Reads the options of `owner`, such as `#[step]`; `read` is called for each one that `legal` lists.
pub(crate) fn read_list(
    tokens: TokenStream,
    owner: &str,
    legal: &[&str],
    errors: &mut Diagnostics,
    mut read: impl FnMut(&str, &Setting<'_>, &mut Diagnostics) -> Result<()>,
) {
    let mut wrong = Diagnostics::default();
    let parsed = (|input: ParseStream<'_>| {
        let mut seen = Vec::new();
        while !input.is_empty() {
            let option = read_option(input, owner, legal, &mut seen, &mut wrong, &mut read);
            wrong.note(option);
            skip_to_comma(input)?;
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(())
    })
    .parse2(tokens);
    // What is left over inside parentheses is noticed only here, and may be told already.
    if let Err(error) = parsed
        && wrong.is_empty()
    {
        wrong
            .error_at(error.span(), format_args!("this is no option of `{owner}`: {}", legal_options(legal)));
    }
    errors.extend(wrong);
}

fn read_option(
    input: ParseStream<'_>,
    owner: &str,
    legal: &[&str],
    seen: &mut Vec<String>,
    errors: &mut Diagnostics,
    read: &mut impl FnMut(&str, &Setting<'_>, &mut Diagnostics) -> Result<()>,
) -> Result<()> {
    if !input.peek(Ident::peek_any) {
        return Err(input.error(format!("expected an option of `{owner}`: {}", legal_options(legal))));
    }
    let key = input.call(Ident::parse_any)?;
    let name = key.unraw().to_string();
    if !legal.contains(&name.as_str()) {
        let near = suggest::did_you_mean(&name, legal);
        let message = format!("`{owner}` has no option `{name}`{near}\n{}", legal_options(legal));
        // What is meant is most likely so, and is then not missed elsewhere.
        if let Some(meant) =
            suggest::nearest(&name, legal).filter(|meant| !seen.iter().any(|other| other == meant))
        {
            let _ = read(meant, &Setting { key: &key, input }, &mut Diagnostics::default());
            seen.push(meant.to_owned());
        }
        return Err(Error::new(key.span(), message));
    }
    if seen.contains(&name) {
        return Err(Error::new(key.span(), format!("`{name}` is given twice: remove one")));
    }
    read(&name, &Setting { key: &key, input }, errors)?;
    seen.push(name);
    if !input.is_empty() && !input.peek(Token![,]) {
        return Err(input.error("expected `,` before the next option"));
    }
    Ok(())
}

fn legal_options(legal: &[&str]) -> String {
    match legal {
        [] => "there are none".to_owned(),
        [only] => format!("the only one is `{only}`"),
        several => format!("the options are {}", suggest::list(several)),
    }
}

fn skip_to_comma(input: ParseStream<'_>) -> Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<TokenTree>()?;
    }
    Ok(())
}

impl Setting<'_> {
    /// An option that is there or not.
    pub(crate) fn flag(&self) -> Result<Span> {
        if self.input.peek(Token![=]) || self.input.peek(syn::token::Paren) {
            let message = format!("`{0}` takes no value: write just `{0}`", self.key);
            return Err(self.input.error(message));
        }
        Ok(self.key.span())
    }

    /// `name = "…"`.
    pub(crate) fn text(&self) -> Result<LitStr> {
        let example = format!("{} = \"…\"", self.key);
        self.equals(&example)?;
        self.value(&example)
    }

    /// `timeout = "10s"`.
    pub(crate) fn duration(&self, example: &str) -> Result<Given<Duration>> {
        let example = format!("{} = \"{example}\"", self.key);
        self.equals(&example)?;
        let text: LitStr = self.value(&example)?;
        let value = duration::parse(&text.value()).map_err(|wrong| Error::new(text.span(), wrong))?;
        Ok(Given { value, span: text.span() })
    }

    /// `timeout = "10s"`, or `timeout = none` for no limit.
    pub(crate) fn limit(&self, example: &str) -> Result<Given<Option<Duration>>> {
        let ahead = self.input.fork();
        if ahead.parse::<Token![=]>().is_ok() && ahead.parse::<Ident>().is_ok_and(|word| word == "none") {
            self.input.parse::<Token![=]>()?;
            let word: Ident = self.input.parse()?;
            return Ok(Given { value: None, span: word.span() });
        }
        let Given { value, span } = self.duration(example)?;
        Ok(Given { value: Some(value), span })
    }

    /// `capacity = "1 MiB"`, in bytes.
    pub(crate) fn size(&self, example: &str) -> Result<Given<u64>> {
        let example = format!("{} = \"{example}\"", self.key);
        self.equals(&example)?;
        let text: LitStr = self.value(&example)?;
        let value = size::parse(&text.value()).map_err(|wrong| Error::new(text.span(), wrong))?;
        Ok(Given { value, span: text.span() })
    }

    /// `attempts = 5`.
    pub(crate) fn count(&self) -> Result<Given<u32>> {
        let example = format!("{} = 5", self.key);
        self.equals(&example)?;
        let number: LitInt = self.value(&example)?;
        let value = number.base10_parse().map_err(|_| {
            Error::new(
                number.span(),
                format!("expected a whole number up to {}: write `{example}`", u32::MAX),
            )
        })?;
        Ok(Given { value, span: number.span() })
    }

    /// `factor = 2` or `factor = 1.5`.
    pub(crate) fn factor(&self) -> Result<Given<f64>> {
        let example = format!("{} = 2", self.key);
        self.equals(&example)?;
        if self.input.peek(LitFloat) {
            let number: LitFloat = self.input.parse()?;
            return Ok(Given { value: number.base10_parse()?, span: number.span() });
        }
        let number: LitInt = self.value(&example)?;
        Ok(Given { value: number.base10_parse()?, span: number.span() })
    }

    /// `on_failure = refund`: the name of a method.
    pub(crate) fn method(&self) -> Result<Ident> {
        let example = format!("{} = method_name", self.key);
        self.equals(&example)?;
        let path: syn::Path = self.value(&example)?;
        path.get_ident().cloned().ok_or_else(|| {
            let message =
                format!("`{}` is a step of this flow: write the name of its method alone", self.key);
            Error::new_spanned(&path, message)
        })
    }

    /// `durability = async`: one of a few words.
    pub(crate) fn word(&self, legal: &[&str]) -> Result<Ident> {
        let example = format!("{} = {}", self.key, legal.last().unwrap_or(&"word"));
        self.equals(&example)?;
        let wrong = |near: String| {
            format!("not a value of `{}`{near}\nthe values are {}", self.key, suggest::list(legal))
        };
        if !self.input.peek(Ident::peek_any) {
            return Err(self.input.error(wrong(String::new())));
        }
        let word = self.input.call(Ident::parse_any)?;
        let text = word.to_string();
        if legal.contains(&text.as_str()) {
            Ok(word)
        } else {
            Err(Error::new(word.span(), wrong(suggest::did_you_mean(&text, legal))))
        }
    }

    /// `lock(BALANCE, ITEMS)`: names of constants.
    pub(crate) fn constants(&self) -> Result<Vec<Ident>> {
        if !self.input.peek(syn::token::Paren) {
            return Err(
                self.wrong(&format!("`{0}` takes attributes of this flow: write `{0}(ATTRIBUTE)`", self.key))
            );
        }
        let content;
        let parentheses = syn::parenthesized!(content in self.input);
        let tokens: TokenStream = content.parse()?;
        if tokens.is_empty() {
            return Err(Error::new(
                parentheses.span.join(),
                format!("`{0}` of nothing: write `{0}(ATTRIBUTE)`, or leave it out", self.key),
            ));
        }
        let names = Punctuated::<syn::Path, Token![,]>::parse_terminated_with;
        let paths = (|input: ParseStream<'_>| names(input, syn::Path::parse_mod_style)).parse2(tokens);
        let paths = paths.map_err(|error| {
            let message = format!("expected attributes of this flow: `{}(ONE, ANOTHER)`", self.key);
            Error::new(error.span(), message)
        })?;
        let name = |path: &syn::Path| {
            path.get_ident().cloned().ok_or_else(|| {
                Error::new_spanned(path, "write the name of the attribute alone, without a path")
            })
        };
        paths.iter().map(name).collect()
    }

    /// `output = String`.
    pub(crate) fn ty(&self) -> Result<Type> {
        let example = format!("{} = String", self.key);
        self.equals(&example)?;
        self.value(&example)
    }

    /// `crate = path`.
    pub(crate) fn path(&self) -> Result<syn::Path> {
        let example = format!("{} = ::name", self.key);
        self.equals(&example)?;
        self.input.call(syn::Path::parse_mod_style).map_err(|error| {
            Error::new(error.span(), format!("expected the path of the crate: write `{example}`"))
        })
    }

    /// `retry(…)`: the options inside.
    pub(crate) fn list(&self, example: &str) -> Result<TokenStream> {
        if !self.input.peek(syn::token::Paren) {
            return Err(
                self.wrong(&format!("`{0}` has options of its own: write `{0}({example})`", self.key))
            );
        }
        let content;
        syn::parenthesized!(content in self.input);
        content.parse()
    }

    fn equals(&self, example: &str) -> Result<()> {
        if !self.input.peek(Token![=]) {
            return Err(self.wrong(&format!("`{}` needs a value: write `{example}`", self.key)));
        }
        self.input.parse::<Token![=]>()?;
        if self.input.is_empty() {
            return Err(self.wrong(&format!("`{}` needs a value: write `{example}`", self.key)));
        }
        Ok(())
    }

    fn value<T: Parse>(&self, example: &str) -> Result<T> {
        let ahead = self.input.fork();
        let value = ahead.parse().map_err(|error| {
            Error::new(error.span(), format!("not a value of `{}`: write `{example}`", self.key))
        })?;
        self.input.advance_to(&ahead);
        Ok(value)
    }

    /// A mistake at the keyword; the rest of the input may have nothing left to underline.
    fn wrong(&self, message: &str) -> Error {
        Error::new(self.key.span(), message)
    }
}
