//! A crate's sources as a tree of modules.

use std::path::{Path, PathBuf};

use syn::{Attribute, Item, Meta};

use crate::Result;

/// A crate.
pub(super) struct Source {
    pub(super) name: String,
    /// The first is the root.
    pub(super) modules: Vec<Module>,
}

pub(super) struct Module {
    pub(super) name: String,
    pub(super) parent: usize,
    pub(super) items: Vec<Item>,
}

impl Source {
    pub(super) fn load(name: &str, root: &Path) -> Result<Self> {
        let mut source = Self {
            name: name.to_owned(),
            modules: Vec::new(),
        };
        let beside = root.parent().unwrap_or(root).to_owned();
        source.add(String::new(), 0, parse(root)?, &beside)?;
        Ok(source)
    }

    /// Returns a crate that is one file.
    #[cfg(test)]
    pub(super) fn parse(name: &str, text: &str) -> Result<Self> {
        let mut source = Self {
            name: name.to_owned(),
            modules: Vec::new(),
        };
        let items = syn::parse_file(text)?.items;
        source.add(String::new(), 0, items, Path::new(""))?;
        Ok(source)
    }

    /// Adds a module whose own modules are files in `beside`.
    fn add(&mut self, name: String, parent: usize, items: Vec<Item>, beside: &Path) -> Result<()> {
        let place = self.modules.len();
        let mut items = items;
        items.retain(|item| !is_test(attributes(item)));
        let below: Vec<_> = items
            .iter()
            .filter_map(|item| match item {
                Item::Mod(module) => Some(module.clone()),
                _ => None,
            })
            .collect();
        self.modules.push(Module {
            name,
            parent,
            items,
        });
        for module in below {
            let name = module.ident.to_string();
            let beside = beside.join(&name);
            let items = match module.content {
                Some((_, items)) => items,
                None => parse(&module_file(&beside))?,
            };
            self.add(name, place, items, &beside)?;
        }
        Ok(())
    }

    /// Returns the module `name` in the module at `place`.
    pub(super) fn child(&self, place: usize, name: &str) -> Option<usize> {
        let mut modules = self.modules.iter().enumerate().skip(1);
        modules
            .find(|(_, module)| module.parent == place && module.name == name)
            .map(|(child, _)| child)
    }
}

fn module_file(directory: &Path) -> PathBuf {
    let file = directory.with_extension("rs");
    match file.exists() {
        true => file,
        false => directory.join("mod.rs"),
    }
}

fn parse(path: &Path) -> Result<Vec<Item>> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let file = syn::parse_file(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(file.items)
}

pub(super) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns the arguments of the attribute `name`, as text, each time it occurs.
pub(super) fn arguments(attributes: &[Attribute], name: &str) -> Vec<String> {
    let these = attributes.iter().filter(|one| one.path().is_ident(name));
    these
        .map(|one| match &one.meta {
            Meta::List(list) => super::text::text(list.tokens.clone()),
            _ => String::new(),
        })
        .collect()
}

fn is_test(attributes: &[Attribute]) -> bool {
    arguments(attributes, "cfg")
        .iter()
        .any(|arguments| arguments == "test")
}

/// Returns whether an item is left out of the documentation, and so is no API.
pub(super) fn is_hidden(attributes: &[Attribute]) -> bool {
    arguments(attributes, "doc")
        .iter()
        .any(|arguments| arguments == "hidden")
}
