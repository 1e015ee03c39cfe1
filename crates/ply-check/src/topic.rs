//! Ways to find out about rules.

use std::future::Future;
use std::pin::Pin;

use ply_wire::negotiate::Version;

use crate::peer::Stopped;
use crate::rule::Rule;

/// What a probe is while it runs.
pub(crate) type Running<'a> = Pin<Box<dyn Future<Output = Result<(), Stopped>> + Send + 'a>>;

/// A way to find out about some rules, on a bench `B`.
pub(crate) struct Probe<B: 'static> {
    /// Its name: what it does, in a few words.
    pub(crate) name: &'static str,
    /// The rules that it can find out about, of both versions. It runs for a version that has one.
    pub(crate) rules: &'static [&'static str],
    /// What it does.
    pub(crate) run: for<'a> fn(&'a mut B) -> Running<'a>,
}

impl<B> Probe<B> {
    /// Returns whether it has something to find out about rules that hold in a version.
    pub(crate) fn is_for(&self, rules: &[Rule], version: Version) -> bool {
        rules
            .iter()
            .any(|rule| rule.holds_in(version) && self.rules.contains(&rule.id))
    }
}
