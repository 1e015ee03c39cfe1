//! What the scopes of a syntax mean to a reader.

use ratatui::style::Style;
use syntect::parsing::{Scope, ScopeStack};

use crate::theme::Theme;

/// What a part of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeRole {
    Plain,
    Keyword,
    String,
    Comment,
    Number,
    Function,
    Type,
    Attribute,
    Heading,
    Added,
    Removed,
}

/// The deepest scope that is here says what a part is; among those for one scope the first does.
const SCOPES: [(&str, CodeRole); 32] = [
    ("comment", CodeRole::Comment),
    ("punctuation.definition.comment", CodeRole::Comment),
    ("punctuation.definition.string", CodeRole::String),
    ("string", CodeRole::String),
    ("constant.character.escape", CodeRole::Number),
    ("constant", CodeRole::Number),
    ("keyword", CodeRole::Keyword),
    ("storage.type.numeric", CodeRole::Type),
    ("storage", CodeRole::Keyword),
    ("variable.language", CodeRole::Keyword),
    ("variable.function", CodeRole::Function),
    ("entity.name.function", CodeRole::Function),
    ("support.function", CodeRole::Function),
    ("support.macro", CodeRole::Function),
    ("entity.name.tag", CodeRole::Keyword),
    ("entity.name.section", CodeRole::Heading),
    ("entity.name", CodeRole::Type),
    ("entity.other.inherited-class", CodeRole::Type),
    ("entity.other.attribute-name", CodeRole::Attribute),
    ("support.type.property-name", CodeRole::Attribute),
    ("support.type", CodeRole::Type),
    ("support.class", CodeRole::Type),
    ("support.constant", CodeRole::Number),
    ("meta.annotation", CodeRole::Attribute),
    ("variable.annotation", CodeRole::Attribute),
    ("markup.inserted", CodeRole::Added),
    ("markup.deleted", CodeRole::Removed),
    ("markup.heading", CodeRole::Heading),
    ("meta.diff.range", CodeRole::Function),
    ("meta.diff.header", CodeRole::Heading),
    ("markup.raw", CodeRole::String),
    ("variable.other.member", CodeRole::Attribute),
];

impl CodeRole {
    /// Returns what it looks like.
    pub(crate) fn style(self, theme: &Theme) -> Style {
        match self {
            Self::Plain => theme.text,
            Self::Keyword => theme.keyword,
            Self::String => theme.string,
            Self::Comment => theme.comment,
            Self::Number => theme.number,
            Self::Function => theme.function,
            Self::Type => theme.type_name,
            Self::Attribute => theme.attribute,
            Self::Heading => theme.heading,
            Self::Added => theme.added,
            Self::Removed => theme.removed,
        }
    }
}

/// The table of scopes in the form that comparing is cheap in.
pub(super) struct Roles(Vec<(Scope, CodeRole)>);

impl Roles {
    pub(super) fn new() -> Self {
        let scopes = SCOPES.iter();
        let known = scopes.filter_map(|(name, role)| Some((Scope::new(name).ok()?, *role)));
        Self(known.collect())
    }

    pub(super) fn of(&self, scopes: &ScopeStack) -> CodeRole {
        let role = |scope: &Scope| {
            let mut known = self.0.iter();
            known.find(|(known, _)| known.is_prefix_of(*scope))
        };
        let found = scopes.as_slice().iter().rev().find_map(role);
        found.map_or(CodeRole::Plain, |(_, role)| *role)
    }
}
