//! What a session has used: how full the window is, and what its requests have cost.

use std::sync::{Mutex, PoisonError};

use ply_agent::{transcript, v2};
use serde_json::json;

use crate::model::Usage;
use crate::model::prices::{Money, Price};

/// The currency of all prices.
const CURRENCY: &str = "USD";

/// What a session has used.
#[derive(Debug, Default)]
pub(crate) struct Ledger(Mutex<Used>);

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Used {
    /// Tokens in the window after the last request.
    tokens: u64,
    /// Those of the last request that came from a cache.
    cached: u64,
    /// What the session has cost; none as long as no request had a price.
    cost: Option<Money>,
    /// What it had cost when the turn began.
    before: Money,
    /// Whether there is something that the client was not told.
    is_news: bool,
}

impl Ledger {
    /// Goes on with what the history says.
    pub(crate) fn resume(&self, usage: Option<&transcript::Usage>) {
        let cost = usage.and_then(|usage| usage.cost.as_ref());
        let cost = cost.filter(|cost| cost.currency == CURRENCY);
        let mut used = self.used();
        used.tokens = usage.map_or(0, |usage| usage.used);
        used.cost = cost.map(|cost| Money::from_dollars(cost.amount));
    }

    /// Counts what comes as a turn of its own.
    pub(crate) fn begin_turn(&self) {
        let mut used = self.used();
        used.before = used.cost.unwrap_or_default();
    }

    /// Adds a request, which filled the window so far if it was one of the session's own conversation.
    pub(crate) fn add(&self, usage: Usage, price: Option<Price>, fills: bool) {
        let mut used = self.used();
        if let Some(price) = price {
            let before = used.cost.unwrap_or_default();
            used.cost = Some(before.plus(price.of(usage)));
            used.is_news = true;
        }
        if fills {
            used.tokens = usage.input_tokens.saturating_add(usage.output_tokens);
            used.cached = usage.cached_tokens;
            used.is_news = true;
        }
    }

    /// Notes how full the window is now.
    pub(crate) fn fill(&self, tokens: u64) {
        let mut used = self.used();
        (used.tokens, used.cached, used.is_news) = (tokens, 0, true);
    }

    /// Returns what to tell the client about a window of so many tokens, if there is something new.
    pub(crate) fn news(&self, size: u64) -> Option<v2::UsageUpdate> {
        let mut used = self.used();
        if !std::mem::take(&mut used.is_news) {
            return None;
        }
        let mut update = v2::UsageUpdate::new(used.tokens, size);
        let mut ours = serde_json::Map::new();
        if used.cached > 0 {
            ours.insert("cachedTokens".to_owned(), json!(used.cached));
        }
        if let Some(cost) = used.cost {
            update = update.cost(v2::Cost::new(cost.dollars(), CURRENCY));
            let turn = cost.minus(used.before).dollars();
            let turn = json!({ "amount": turn, "currency": CURRENCY });
            ours.insert("turnCost".to_owned(), turn);
        }
        if !ours.is_empty() {
            let mut meta = v2::Meta::new();
            meta.insert("ply".to_owned(), ours.into());
            update = update.meta(meta);
        }
        Some(update)
    }

    /// A panic elsewhere leaves the numbers whole.
    fn used(&self) -> std::sync::MutexGuard<'_, Used> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
