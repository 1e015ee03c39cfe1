//! The lines of one item.

use quote::ToTokens;
use syn::{Fields, ImplItem, Item, ItemImpl, Signature, TraitItem};

use super::list::{Export, Impls, List, is_public, with_conditions};
use super::scope::is_named;
use super::source::{arguments, attributes, is_hidden};
use super::text;

impl List<'_> {
    pub(super) fn item(&mut self, export: &Export, impls: &Impls<'_>) {
        let Some(module) = self.source.modules.get(export.module) else {
            return;
        };
        // A type and a function may share a name.
        for item in module
            .items
            .iter()
            .filter(|item| is_named(item, &export.name))
        {
            self.definition(export, item);
        }
        let key = (export.module, export.name.clone());
        for block in impls.get(&key).into_iter().flatten() {
            self.implementation(export, block);
        }
    }

    fn definition(&mut self, export: &Export, item: &Item) {
        let Export {
            path, conditions, ..
        } = export;
        let head = |kind: &str, generics: &syn::Generics, rest: &str| {
            let bounds = text::text(generics.where_clause.to_token_stream());
            let bounds = bounds.trim_end_matches(',');
            let gap = if bounds.is_empty() { "" } else { " " };
            let mark = match arguments(attributes(item), "non_exhaustive").is_empty() {
                true => "",
                false => "#[non_exhaustive] ",
            };
            let generics = text::text(generics.to_token_stream());
            format!("{mark}pub {kind} {path}{generics}{rest}{gap}{bounds}")
        };
        match item {
            Item::Struct(item) => {
                let rest = match &item.fields {
                    Fields::Unnamed(fields) => {
                        let shown =
                            fields
                                .unnamed
                                .iter()
                                .map(|field| match is_public(&field.vis) {
                                    true => text::text(field.ty.to_token_stream()),
                                    false => "_".to_owned(),
                                });
                        format!("({})", shown.collect::<Vec<_>>().join(", "))
                    }
                    _ => String::new(),
                };
                self.line(conditions, head("struct", &item.generics, &rest));
                for field in item.fields.iter().filter(|field| is_public(&field.vis)) {
                    if let Some(name) = &field.ident {
                        let ty = text::text(field.ty.to_token_stream());
                        self.line(conditions, format!("pub {path}::{name}: {ty}"));
                    }
                }
            }
            Item::Enum(item) => {
                self.line(conditions, head("enum", &item.generics, ""));
                for variant in &item.variants {
                    let fields = variant.fields.to_token_stream();
                    let mut fields = text::text(without_attributes(fields));
                    if let Some(inner) = fields.strip_suffix(", }") {
                        fields = format!("{inner} }}");
                    }
                    let name = &variant.ident;
                    self.line(conditions, format!("pub {path}::{name}{fields}"));
                }
            }
            Item::Trait(item) => {
                let bounds = text::text(item.supertraits.to_token_stream());
                let bounds = match bounds.is_empty() {
                    true => bounds,
                    false => format!(": {bounds}"),
                };
                self.line(conditions, head("trait", &item.generics, &bounds));
                for item in &item.items {
                    self.trait_item(export, item);
                }
            }
            Item::Fn(item) => self.line(conditions, signature("pub ", path, &item.sig)),
            Item::Type(item) => {
                let ty = text::text(item.ty.to_token_stream());
                self.line(
                    conditions,
                    head("type", &item.generics, &format!(" = {ty}")),
                );
            }
            Item::Const(item) => {
                let ty = text::text(item.ty.to_token_stream());
                self.line(conditions, format!("pub const {path}: {ty}"));
            }
            Item::Static(item) => {
                let ty = text::text(item.ty.to_token_stream());
                self.line(conditions, format!("pub static {path}: {ty}"));
            }
            _ => {}
        }
        for derived in arguments(attributes(item), "derive") {
            for name in derived.split(", ").filter(|name| !name.is_empty()) {
                let name = name.rsplit("::").next().unwrap_or(name);
                self.line(conditions, format!("impl {name} for {path}"));
            }
        }
    }

    fn trait_item(&mut self, export: &Export, item: &TraitItem) {
        let Export {
            path, conditions, ..
        } = export;
        let (attrs, line) = match item {
            TraitItem::Fn(item) => {
                let mut line = signature("", &format!("{path}::{}", item.sig.ident), &item.sig);
                if item.default.is_some() {
                    line += " { … }";
                }
                (&item.attrs, line)
            }
            TraitItem::Type(item) => {
                let bounds = text::text(item.bounds.to_token_stream());
                (
                    &item.attrs,
                    format!("type {path}::{}: {bounds}", item.ident),
                )
            }
            TraitItem::Const(item) => {
                let ty = text::text(item.ty.to_token_stream());
                (&item.attrs, format!("const {path}::{}: {ty}", item.ident))
            }
            _ => return,
        };
        if !is_hidden(attrs) {
            self.line(conditions, line);
        }
    }

    fn implementation(&mut self, export: &Export, block: &ItemImpl) {
        let conditions = with_conditions(&export.conditions, &block.attrs);
        let path = &export.path;
        if let Some((name, _)) = &block.trait_ {
            let generics = text::text(block.generics.to_token_stream());
            let (name, ty) = (
                text::text(name.to_token_stream()),
                text::text(block.self_ty.to_token_stream()),
            );
            // The type is shown by the name it is exported under.
            let ty = match ty.split_once(&export.name) {
                Some((before, after)) if !before.contains("::") => format!("{before}{path}{after}"),
                _ => path.clone(),
            };
            self.line(&conditions, format!("impl{generics} {name} for {ty}"));
            return;
        }
        for item in &block.items {
            match item {
                ImplItem::Fn(item) if is_public(&item.vis) && !is_hidden(&item.attrs) => {
                    let conditions = with_conditions(&conditions, &item.attrs);
                    let path = format!("{path}::{}", item.sig.ident);
                    self.line(&conditions, signature("pub ", &path, &item.sig));
                }
                ImplItem::Const(item) if is_public(&item.vis) && !is_hidden(&item.attrs) => {
                    let ty = text::text(item.ty.to_token_stream());
                    self.line(
                        &conditions,
                        format!("pub const {path}::{}: {ty}", item.ident),
                    );
                }
                _ => {}
            }
        }
    }
}

fn signature(visibility: &str, path: &str, sig: &Signature) -> String {
    let constant = sig.constness.map_or("", |_| "const ");
    let asynchronous = sig.asyncness.map_or("", |_| "async ");
    let generics = text::text(sig.generics.to_token_stream());
    let inputs = text::text(sig.inputs.to_token_stream());
    // Whether the body changes its own parameter concerns nobody else.
    let inputs = format!("({})", inputs.trim_end_matches(','))
        .replace("(mut ", "(")
        .replace(", mut ", ", ");
    let output = text::text(sig.output.to_token_stream());
    let bounds = text::text(sig.generics.where_clause.to_token_stream());
    let bounds = bounds.trim_end_matches(',').to_owned();
    let rest = [output, bounds].into_iter().filter(|part| !part.is_empty());
    let rest: String = rest.map(|part| format!(" {part}")).collect();
    format!("{visibility}{constant}{asynchronous}fn {path}{generics}{inputs}{rest}")
}

/// Takes the attributes, with the comments that they hold, out of the fields of a variant.
fn without_attributes(tokens: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    use proc_macro2::{Group, TokenStream, TokenTree};
    let mut kept = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                tokens.next_if(|next| matches!(next, TokenTree::Group(_)));
            }
            TokenTree::Group(group) => {
                let inner = without_attributes(group.stream());
                kept.push(TokenTree::Group(Group::new(group.delimiter(), inner)));
            }
            other => kept.push(other),
        }
    }
    TokenStream::from_iter(kept)
}
