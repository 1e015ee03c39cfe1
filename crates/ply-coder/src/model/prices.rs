//! What requests cost, by the prices that services list.
//!
//! A model without a price here and in the user's files has no cost: a wrong number is worse than none.

use super::Usage;

/// US dollars for a million tokens, in millionths: whole numbers add up exactly.
pub(crate) const MILLIONTHS: f64 = 1e6;

/// What a million tokens of a model cost, in millionths of a US dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Price {
    /// Tokens of requests.
    pub input: u64,
    /// Tokens of answers, thoughts included.
    pub output: u64,
    /// Tokens of requests that came from a cache.
    pub cached: u64,
    /// Tokens of requests that were put into a cache.
    pub cache_write: u64,
}

/// An amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Money {
    /// Millionths of a millionth of a US dollar: what one token costs has no fraction in it.
    parts: u64,
}

impl Money {
    const PARTS: f64 = 1e12;

    /// Returns the amount in US dollars.
    #[must_use]
    pub fn dollars(self) -> f64 {
        self.parts as f64 / Self::PARTS
    }

    /// Returns so many US dollars; none for an amount that makes no sense.
    #[must_use]
    pub fn from_dollars(dollars: f64) -> Self {
        // What is negative or no number becomes nothing.
        let parts = (dollars * Self::PARTS).round() as u64;
        Self { parts }
    }

    /// Adds an amount.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        let parts = self.parts.saturating_add(more.parts);
        Self { parts }
    }

    /// Returns what is left without an amount.
    #[must_use]
    pub fn minus(self, less: Self) -> Self {
        let parts = self.parts.saturating_sub(less.parts);
        Self { parts }
    }
}

impl Price {
    /// Returns a price in US dollars for a million tokens. Without prices for a cache, tokens cost the same there.
    #[must_use]
    pub fn new(input: f64, output: f64, cached: Option<f64>, cache_write: Option<f64>) -> Self {
        let millionths = |dollars: f64| (dollars * MILLIONTHS).round() as u64;
        Self {
            input: millionths(input),
            output: millionths(output),
            cached: millionths(cached.unwrap_or(input)),
            cache_write: millionths(cache_write.unwrap_or(input)),
        }
    }

    /// Returns what a request cost.
    #[must_use]
    pub fn of(&self, usage: Usage) -> Money {
        let from_cache = usage.cached_tokens.saturating_add(usage.cache_write_tokens);
        let sums = [
            (usage.input_tokens.saturating_sub(from_cache), self.input),
            (usage.cached_tokens, self.cached),
            (usage.cache_write_tokens, self.cache_write),
            (usage.output_tokens, self.output),
        ];
        let sums = sums.map(|(tokens, price)| tokens.saturating_mul(price));
        Money {
            parts: sums.into_iter().fold(0, u64::saturating_add),
        }
    }
}

/// The prices of models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prices {
    /// What the user says, by the ids of models; the first one counts.
    said: Vec<(String, Price)>,
    /// Providers that are reached at an address of the user's own, where other prices may hold.
    elsewhere: Vec<String>,
}

impl Prices {
    /// Adds what is said about a model. What was added before comes first.
    pub fn add(&mut self, id: impl Into<String>, price: Price) {
        self.said.push((id.into(), price));
    }

    /// Notes that a provider is reached at an address of the user's own.
    pub(crate) fn is_elsewhere(&mut self, provider: &str) {
        if !self.elsewhere.iter().any(|known| known == provider) {
            self.elsewhere.push(provider.to_owned());
        }
    }

    /// Returns the price of a model by its id, if that is known.
    #[must_use]
    pub fn of(&self, id: &str) -> Option<Price> {
        if let Some((_, price)) = self.said.iter().find(|(said, _)| said == id) {
            return Some(*price);
        }
        let (provider, name) = id.split_once('/')?;
        if self.elsewhere.iter().any(|known| known == provider) {
            return None;
        }
        let is_it = |listed: &&Listed| listed.provider == provider && is_version(name, listed.name);
        LISTED.iter().find(is_it).map(|listed| listed.price())
    }
}

/// A price that a service lists.
struct Listed {
    provider: &'static str,
    name: &'static str,
    /// Input, output, cached input, cache write: US dollars for a million tokens.
    dollars: [f64; 4],
}

impl Listed {
    fn price(&self) -> Price {
        let [input, output, cached, cache_write] = self.dollars;
        Price::new(input, output, Some(cached), Some(cache_write))
    }
}

/// Returns a model of Anthropic, which lists a cache write for 5 minutes at 1.25 of its input and a read at a tenth.
const fn anthropic(name: &'static str, input: f64, output: f64) -> Listed {
    Listed {
        provider: "anthropic",
        name,
        dollars: [input, output, input * 0.1, input * 1.25],
    }
}

/// Returns a model of OpenAI, where a cache write costs what input does.
const fn openai(name: &'static str, input: f64, cached: f64, output: f64) -> Listed {
    Listed {
        provider: "openai",
        name,
        dollars: [input, output, cached, input],
    }
}

/// Models whose price does not depend on how long a request is.
const LISTED: &[Listed] = &[
    anthropic("claude-opus-4-5", 5.0, 25.0),
    anthropic("claude-opus-4-1", 15.0, 75.0),
    anthropic("claude-opus-4", 15.0, 75.0),
    anthropic("claude-sonnet-4-5", 3.0, 15.0),
    anthropic("claude-sonnet-4", 3.0, 15.0),
    anthropic("claude-3-7-sonnet", 3.0, 15.0),
    anthropic("claude-haiku-4-5", 1.0, 5.0),
    anthropic("claude-3-5-haiku", 0.8, 4.0),
    openai("gpt-5", 1.25, 0.125, 10.0),
    openai("gpt-5-codex", 1.25, 0.125, 10.0),
    openai("gpt-5-mini", 0.25, 0.025, 2.0),
    openai("gpt-5-nano", 0.05, 0.005, 0.4),
    openai("gpt-4.1", 2.0, 0.5, 8.0),
    openai("gpt-4.1-mini", 0.4, 0.1, 1.6),
    openai("gpt-4.1-nano", 0.1, 0.025, 0.4),
    openai("gpt-4o-2024-05-13", 5.0, 5.0, 15.0),
    openai("gpt-4o", 2.5, 1.25, 10.0),
    openai("gpt-4o-mini", 0.15, 0.075, 0.6),
    openai("o3", 2.0, 0.5, 8.0),
    openai("o4-mini", 1.1, 0.275, 4.4),
];

/// Says whether a name is that of a model, perhaps with the date of its version behind it. Another number there would be another
/// model.
fn is_version(name: &str, model: &str) -> bool {
    let Some(rest) = name.strip_prefix(model) else {
        return false;
    };
    let Some(version) = rest.strip_prefix('-') else {
        return rest.is_empty();
    };
    let digits = version.bytes().filter(u8::is_ascii_digit).count();
    let mut others = version.bytes().filter(|byte| !byte.is_ascii_digit());
    let is_date = digits == 8 && others.all(|byte| byte == b'-');
    // `-0` is how Anthropic writes the first of a generation.
    is_date || matches!(version, "latest" | "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, cached: u64, written: u64, output: u64) -> Usage {
        Usage {
            input_tokens: input,
            output_tokens: output,
            cached_tokens: cached,
            cache_write_tokens: written,
        }
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let price = Prices::default().of("anthropic/claude-sonnet-4-5").unwrap();
        let check = |usage, dollars: f64| {
            assert_eq!(price.of(usage), Money::from_dollars(dollars), "{usage:?}");
        };
        check(usage(1_000_000, 0, 0, 0), 3.0);
        check(usage(1_000_000, 1_000_000, 0, 0), 0.3);
        check(usage(1_000_000, 0, 1_000_000, 0), 3.75);
        check(usage(0, 0, 0, 1_000_000), 15.0);
        check(usage(10_000, 6_000, 3_000, 100), 0.017_55);
        check(usage(0, 9, 9, 0), 0.000_036_45);
        check(usage(1, 0, 0, 0), 0.000_003);
    }

    #[test]
    fn only_models_whose_price_is_known_have_one() {
        let check = |id: &str, input: Option<f64>| {
            let price = Prices::default().of(id).map(|price| price.input);
            let input = input.map(|input| (input * MILLIONTHS).round() as u64);
            assert_eq!(price, input, "{id}");
        };
        check("anthropic/claude-sonnet-4-20250514", Some(3.0));
        check("anthropic/claude-opus-4-0", Some(15.0));
        check("anthropic/claude-opus-4-5-20251101", Some(5.0));
        check("anthropic/claude-3-5-haiku-latest", Some(0.8));
        check("openai/gpt-5-2025-08-07", Some(1.25));
        check("openai/gpt-5-mini", Some(0.25));
        check("openai/gpt-5-pro", None);
        check("openai/gpt-5.5", None);
        check("anthropic/claude-sonnet-4-9", None);
        check("anthropic/claude-sonnet-5", None);
        check("local/gpt-5", None);
        check("openrouter/openai/gpt-5", None);
        check("offline", None);
    }

    #[test]
    fn what_the_user_says_comes_first_and_another_address_has_other_prices() {
        let mut prices = Prices::default();
        prices.is_elsewhere("openai");
        assert_eq!(prices.of("openai/gpt-5"), None);
        let own = Price::new(7.0, 8.0, None, None);
        prices.add("openai/gpt-5", own);
        prices.add("openai/gpt-5", Price::new(1.0, 1.0, None, None));
        assert_eq!(prices.of("openai/gpt-5"), Some(own));
        assert_eq!((own.cached, own.cache_write), (own.input, own.input));
    }

    #[test]
    fn an_amount_that_makes_no_sense_is_none() {
        for odd in [-1.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(Money::from_dollars(odd), Money::default());
        }
        let much = Money::from_dollars(f64::INFINITY);
        assert_eq!(much.plus(Money::from_dollars(1.0)), much);
    }
}
