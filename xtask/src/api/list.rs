//! The lines of a list.

use std::collections::{BTreeSet, HashMap, HashSet};

use quote::ToTokens;
use syn::{Attribute, Item, ItemImpl, Type, Visibility};

use super::scope::{Meaning, imports, resolve};
use super::source::{Source, arguments, attributes, is_hidden};
use super::text;

/// Returns the public items of a crate, one per line, sorted.
pub(super) fn list(source: &Source) -> String {
    let mut list = List {
        source,
        exports: Vec::new(),
        lines: BTreeSet::new(),
        open: HashSet::new(),
    };
    list.module(0, &source.name, &[]);
    let exports = std::mem::take(&mut list.exports);
    let public: HashSet<_> = exports
        .iter()
        .map(|export| (export.module, export.name.clone()))
        .collect();
    let impls = impls(source, &public);
    for export in &exports {
        list.item(export, &impls);
    }
    let lines = list.lines.into_iter();
    let mut text: String = lines.map(|Line { line, .. }| line + "\n").collect();
    text.insert_str(0, "# Written by `cargo xtask api`. Do not edit.\n");
    text
}

/// A line, sorted so that what belongs to a type follows it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    path: String,
    is_impl: bool,
    line: String,
}

/// An item that other crates can name.
pub(super) struct Export {
    /// Under which path.
    pub(super) path: String,
    pub(super) module: usize,
    pub(super) name: String,
    pub(super) conditions: Vec<String>,
}

pub(super) type Impls<'s> = HashMap<(usize, String), Vec<&'s ItemImpl>>;

pub(super) struct List<'s> {
    pub(super) source: &'s Source,
    exports: Vec<Export>,
    lines: BTreeSet<Line>,
    /// Modules that are being listed, for modules that export each other.
    open: HashSet<usize>,
}

impl List<'_> {
    fn module(&mut self, place: usize, path: &str, conditions: &[String]) {
        let source = self.source;
        let Some(module) = source.modules.get(place) else {
            return;
        };
        if !self.open.insert(place) {
            return;
        }
        for item in &module.items {
            if is_hidden(attributes(item)) {
                continue;
            }
            let conditions = with_conditions(conditions, attributes(item));
            match item {
                Item::Mod(item) if is_public(&item.vis) => {
                    if let Some(child) = source.child(place, &item.ident.to_string()) {
                        self.named(
                            path,
                            &item.ident.to_string(),
                            Meaning::Module(child),
                            &conditions,
                        );
                    }
                }
                Item::Use(item) if is_public(&item.vis) => {
                    for import in imports(item) {
                        let meaning = resolve(source, place, &import.path);
                        match (import.name, meaning) {
                            (Some(name), meaning) => self.named(path, &name, meaning, &conditions),
                            (None, Meaning::Module(module)) => {
                                self.module(module, path, &conditions);
                            }
                            (None, _) => {
                                let from = import.path.join("::");
                                self.line(&conditions, format!("pub use {path}::* = {from}::*"));
                            }
                        }
                    }
                }
                Item::Macro(item) => self.macro_item(item, path, &conditions),
                _ => {
                    if let Some(name) = public_name(item) {
                        let meaning = Meaning::Item(place, name.clone());
                        self.named(path, &name, meaning, &conditions);
                    }
                }
            }
        }
        self.open.remove(&place);
    }

    fn named(&mut self, path: &str, name: &str, meaning: Meaning, conditions: &[String]) {
        let path = format!("{path}::{name}");
        match meaning {
            Meaning::Module(module) => {
                self.line(conditions, format!("pub mod {path}"));
                self.module(module, &path, conditions);
            }
            Meaning::Item(module, name) => self.exports.push(Export {
                path,
                module,
                name,
                conditions: conditions.to_vec(),
            }),
            Meaning::Elsewhere(from) => self.line(conditions, format!("pub use {path} = {from}")),
        }
    }

    /// Lists what is given to a macro that makes items, one statement per line.
    fn macro_item(&mut self, item: &syn::ItemMacro, path: &str, conditions: &[String]) {
        let name = text::text(item.mac.path.to_token_stream());
        match &item.ident {
            Some(ident) => {
                if !arguments(&item.attrs, "macro_export").is_empty() {
                    let root = &self.source.name;
                    self.line(conditions, format!("pub macro {root}::{ident}!"));
                }
            }
            None if name == "thread_local" => {}
            None => {
                let name = name.rsplit("::").next().unwrap_or_default();
                let statements = text::text(item.mac.tokens.clone());
                for statement in statements.split(['{', '}', ';']).map(str::trim) {
                    if !statement.is_empty() {
                        self.line(conditions, format!("{path}::{name}! {statement}"));
                    }
                }
            }
        }
    }

    pub(super) fn line(&mut self, conditions: &[String], line: String) {
        let mut line = line;
        for condition in conditions {
            line += &format!(" [{condition}]");
        }
        let start = line.find(&format!("{}::", self.source.name)).unwrap_or(0);
        let path = line.get(start..).unwrap_or_default();
        let end = path.find(|c: char| !(c.is_alphanumeric() || matches!(c, ':' | '_')));
        self.lines.insert(Line {
            path: path
                .get(..end.unwrap_or(path.len()))
                .unwrap_or_default()
                .to_owned(),
            is_impl: line.starts_with("impl"),
            line,
        });
    }
}

/// Returns the `impl` blocks by the type that they are about, without those of traits that nobody else can name.
fn impls<'s>(source: &'s Source, public: &HashSet<(usize, String)>) -> Impls<'s> {
    let mut found: Impls<'s> = HashMap::new();
    for (place, module) in source.modules.iter().enumerate() {
        for item in &module.items {
            let Item::Impl(block) = item else {
                continue;
            };
            let meaning = |path: &syn::Path| {
                let names = path
                    .segments
                    .iter()
                    .map(|segment| segment.ident.to_string());
                resolve(source, place, &names.collect::<Vec<_>>())
            };
            let private = block
                .trait_
                .as_ref()
                .is_some_and(|(path, _)| match meaning(path) {
                    Meaning::Item(module, name) => !public.contains(&(module, name)),
                    _ => false,
                });
            if let Some(path) = self_path(&block.self_ty)
                && let Meaning::Item(module, name) = meaning(path)
                && !private
                && !is_hidden(&block.attrs)
            {
                found.entry((module, name)).or_default().push(block);
            }
        }
    }
    found
}

fn self_path(ty: &Type) -> Option<&syn::Path> {
    match ty {
        Type::Path(ty) => Some(&ty.path),
        Type::Reference(ty) => self_path(&ty.elem),
        _ => None,
    }
}

pub(super) fn with_conditions(conditions: &[String], attributes: &[Attribute]) -> Vec<String> {
    let mut all = conditions.to_vec();
    for condition in arguments(attributes, "cfg") {
        if !all.contains(&condition) {
            all.push(condition);
        }
    }
    all
}

pub(super) fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Returns the name of a public item that is neither a module nor an import.
fn public_name(item: &Item) -> Option<String> {
    let (visibility, ident) = match item {
        Item::Const(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        Item::Fn(item) => (&item.vis, &item.sig.ident),
        Item::Static(item) => (&item.vis, &item.ident),
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Trait(item) => (&item.vis, &item.ident),
        Item::Type(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    is_public(visibility).then(|| ident.to_string())
}
