//! What names mean.

use syn::{Item, ItemUse, UseTree};

use super::source::Source;

/// Imports that are followed for one name; a name that imports itself ends here.
const IMPORTS_MAX: usize = 16;

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Meaning {
    Module(usize),
    /// An item of this name in this module.
    Item(usize, String),
    /// Something in another crate.
    Elsewhere(String),
}

/// One name that a `use` brings in.
pub(super) struct Import {
    pub(super) path: Vec<String>,
    /// None for a glob.
    pub(super) name: Option<String>,
}

pub(super) fn imports(item: &ItemUse) -> Vec<Import> {
    let mut found = Vec::new();
    flatten(&item.tree, Vec::new(), &mut found);
    found
}

fn flatten(tree: &UseTree, mut path: Vec<String>, found: &mut Vec<Import>) {
    match tree {
        UseTree::Path(step) => {
            path.push(step.ident.to_string());
            flatten(&step.tree, path, found);
        }
        UseTree::Name(leaf) if leaf.ident == "self" => {
            let name = path.last().cloned();
            found.push(Import { path, name });
        }
        UseTree::Name(leaf) => {
            path.push(leaf.ident.to_string());
            let name = path.last().cloned();
            found.push(Import { path, name });
        }
        UseTree::Rename(leaf) => {
            if leaf.ident != "self" {
                path.push(leaf.ident.to_string());
            }
            let name = Some(leaf.rename.to_string());
            found.push(Import { path, name });
        }
        UseTree::Glob(_) => found.push(Import { path, name: None }),
        UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, path.clone(), found);
            }
        }
    }
}

/// Returns what a path means in the module at `place`.
pub(super) fn resolve(source: &Source, place: usize, path: &[String]) -> Meaning {
    resolve_within(source, place, path, IMPORTS_MAX)
}

fn resolve_within(source: &Source, place: usize, path: &[String], left: usize) -> Meaning {
    let elsewhere = || Meaning::Elsewhere(path.join("::"));
    let Some((first, mut rest)) = path.split_first() else {
        return Meaning::Module(place);
    };
    let parent = |place: usize| source.modules.get(place).map_or(0, |module| module.parent);
    let mut at = match first.as_str() {
        "crate" => Meaning::Module(0),
        "self" => Meaning::Module(place),
        "super" => Meaning::Module(parent(place)),
        name => match lookup(source, place, name, left) {
            Some(meaning) => meaning,
            None => return elsewhere(),
        },
    };
    while let Some((name, after)) = rest.split_first() {
        at = match at {
            Meaning::Module(place) if name == "super" => Meaning::Module(parent(place)),
            Meaning::Module(place) => match lookup(source, place, name, left) {
                Some(meaning) => meaning,
                None => return elsewhere(),
            },
            Meaning::Elsewhere(path) => Meaning::Elsewhere(format!("{path}::{name}")),
            // A variant, or something in an `impl`.
            Meaning::Item(..) => return elsewhere(),
        };
        rest = after;
    }
    at
}

fn lookup(source: &Source, place: usize, name: &str, left: usize) -> Option<Meaning> {
    let left = left.checked_sub(1)?;
    if let Some(child) = source.child(place, name) {
        return Some(Meaning::Module(child));
    }
    let module = source.modules.get(place)?;
    if module.items.iter().any(|item| is_named(item, name)) {
        return Some(Meaning::Item(place, name.to_owned()));
    }
    let uses = module.items.iter().filter_map(|item| match item {
        Item::Use(item) => Some(imports(item)),
        _ => None,
    });
    let imports: Vec<_> = uses.flatten().collect();
    let named = imports
        .iter()
        .find(|import| import.name.as_deref() == Some(name));
    if let Some(import) = named {
        return Some(resolve_within(source, place, &import.path, left));
    }
    let globs = imports.iter().filter(|import| import.name.is_none());
    globs
        .filter_map(
            |import| match resolve_within(source, place, &import.path, left) {
                Meaning::Module(module) if module != place => lookup(source, module, name, left),
                _ => None,
            },
        )
        .next()
}

/// Returns whether `item` defines `name`.
pub(super) fn is_named(item: &Item, name: &str) -> bool {
    match item {
        Item::Const(item) => item.ident == name,
        Item::Enum(item) => item.ident == name,
        Item::Fn(item) => item.sig.ident == name,
        Item::Static(item) => item.ident == name,
        Item::Struct(item) => item.ident == name,
        Item::Trait(item) => item.ident == name,
        Item::Type(item) => item.ident == name,
        _ => false,
    }
}
