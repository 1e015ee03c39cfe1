//! What is known about well-known models, by how their names begin.
//!
//! Windows are what a service gives to everybody, not what some accounts may have more. A user's
//! `[[models]]` say otherwise where this is wrong or a model is new.

use crate::model::Facts;

const K: u64 = 1_000;
const GEMINI_WINDOW: u64 = 1_048_576;
/// The window that a model on the user's own machine is given, in tokens: it takes memory.
pub const LOCAL_WINDOW_MAX: u64 = 32_768;

/// What the models of a family have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Family {
    /// How the names begin.
    prefix: &'static str,
    window_tokens: u64,
    output_tokens_max: u64,
    takes: &'static [Takes],
}

/// Something that a model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Images,
    Audio,
    Efforts,
    Patches,
}

use Takes::{Audio, Efforts, Images, Patches};

const fn family(
    prefix: &'static str,
    window_tokens: u64,
    output_tokens_max: u64,
    takes: &'static [Takes],
) -> Family {
    Family {
        prefix,
        window_tokens,
        output_tokens_max,
        takes,
    }
}

/// The families. The longest beginning that fits is the one that counts.
const FAMILIES: &[Family] = &[
    family("claude-", 200 * K, 64 * K, &[Images, Efforts]),
    family("claude-3-5-", 200 * K, 8_192, &[Images]),
    family("claude-3-haiku", 200 * K, 4_096, &[Images]),
    family("claude-3-opus", 200 * K, 4_096, &[Images]),
    family("claude-opus-4-0", 200 * K, 32 * K, &[Images, Efforts]),
    family("claude-opus-4-1", 200 * K, 32 * K, &[Images, Efforts]),
    family("claude-opus-4-2025", 200 * K, 32 * K, &[Images, Efforts]),
    family("gpt-6", 400 * K, 128 * K, &[Images, Efforts, Patches]),
    family("gpt-5", 400 * K, 128 * K, &[Images, Efforts, Patches]),
    family("gpt-4.1", 1_047_576, 32_768, &[Images, Patches]),
    family("gpt-4o", 128 * K, 16_384, &[Images]),
    family("gpt-oss", 131_072, 32_768, &[Efforts]),
    family("codex", 200 * K, 100 * K, &[Images, Efforts, Patches]),
    family("o1", 200 * K, 100 * K, &[Images, Efforts]),
    family("o3", 200 * K, 100 * K, &[Images, Efforts, Patches]),
    family("o3-mini", 200 * K, 100 * K, &[Efforts]),
    family("o4", 200 * K, 100 * K, &[Images, Efforts, Patches]),
    family("gemini-2.0", GEMINI_WINDOW, 8_192, &[Images, Audio]),
    family(
        "gemini-2.5",
        GEMINI_WINDOW,
        65_536,
        &[Images, Audio, Efforts],
    ),
    family("gemini-3", GEMINI_WINDOW, 65_536, &[Images, Audio, Efforts]),
    family("gemini-", GEMINI_WINDOW, 65_536, &[Images, Audio, Efforts]),
    family("grok-", 131_072, 32_768, &[]),
    family("grok-4", 256 * K, 64 * K, &[Images]),
    family("deepseek", 128 * K, 32 * K, &[]),
    family("mistral", 128 * K, 32 * K, &[]),
    family("magistral", 128 * K, 32 * K, &[]),
    family("devstral", 128 * K, 32 * K, &[]),
    family("codestral", 256 * K, 32 * K, &[]),
    family("kimi-", 256 * K, 32 * K, &[]),
    family("glm-", 200 * K, 64 * K, &[]),
    family("qwen", 131_072, 32 * K, &[]),
    family("qwen2.5vl", 128 * K, 16 * K, &[Images]),
    family("qwen3-coder", 256 * K, 64 * K, &[]),
    family("qwen3-vl", 256 * K, 32 * K, &[Images]),
    family("llama3.1", 128 * K, 16 * K, &[]),
    family("llama3.2", 128 * K, 16 * K, &[]),
    family("llama3.2-vision", 128 * K, 16 * K, &[Images]),
    family("llama3.3", 128 * K, 16 * K, &[]),
    family("llama4", 128 * K, 16 * K, &[Images]),
    family("gemma3", 128 * K, 8_192, &[Images]),
    family("phi4", 16 * K, 4 * K, &[]),
];

/// Returns what is known about a model by its id, `provider/name`; the defaults of [`Facts::new`] where
/// nothing is.
///
/// The name may itself say who made the model, as at OpenRouter: `openrouter/openai/gpt-5`.
pub fn facts(id: &str) -> Facts {
    let name = id.rsplit('/').next().unwrap_or(id).to_ascii_lowercase();
    let mut facts = Facts::new(id);
    let fits = FAMILIES
        .iter()
        .filter(|family| name.starts_with(family.prefix));
    if let Some(family) = fits.max_by_key(|family| family.prefix.len()) {
        facts.window_tokens = family.window_tokens;
        facts.output_tokens_max = family.output_tokens_max;
        facts.images = family.takes.contains(&Images);
        facts.audio = family.takes.contains(&Audio);
        facts.efforts = family.takes.contains(&Efforts);
        facts.patches = family.takes.contains(&Patches);
    }
    facts
}

/// Who trained a model, as far as that matters for what it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Maker {
    Anthropic,
    OpenAi,
    Google,
    Other,
}

/// Returns who trained a model, by its id.
pub(crate) fn maker(id: &str) -> Maker {
    let name = id.rsplit('/').next().unwrap_or(id).to_ascii_lowercase();
    let makers: [(Maker, &[&str]); 3] = [
        (Maker::Anthropic, &["claude"]),
        (Maker::OpenAi, &["gpt-", "codex", "o1", "o3", "o4"]),
        (Maker::Google, &["gemini"]),
    ];
    let is_its = |prefixes: &&[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let found = makers.iter().find(|(_, prefixes)| is_its(prefixes));
    found.map_or(Maker::Other, |(maker, _)| *maker)
}

/// Returns what is known about a model that runs on the user's own machine: its window is smaller than
/// the model's most, and is what the server is told to make room for.
pub fn local(id: &str) -> Facts {
    let mut facts = facts(id);
    facts.window_tokens = facts.window_tokens.min(LOCAL_WINDOW_MAX);
    facts.output_tokens_max = facts.output_tokens_max.min(LOCAL_WINDOW_MAX / 4);
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(id: &str, window_tokens: u64, output_tokens_max: u64, takes: &[Takes]) {
        let facts = facts(id);
        assert_eq!(facts.id, id);
        assert_eq!(facts.window_tokens, window_tokens, "{id}");
        assert_eq!(facts.output_tokens_max, output_tokens_max, "{id}");
        assert_eq!(facts.images, takes.contains(&Images), "{id}");
        assert_eq!(facts.audio, takes.contains(&Audio), "{id}");
        assert_eq!(facts.efforts, takes.contains(&Efforts), "{id}");
        assert_eq!(facts.patches, takes.contains(&Patches), "{id}");
    }

    #[test]
    fn well_known_models_are_known() {
        check(
            "anthropic/claude-sonnet-4-5",
            200_000,
            64_000,
            &[Images, Efforts],
        );
        check(
            "anthropic/claude-opus-4-1-20250805",
            200_000,
            32_000,
            &[Images, Efforts],
        );
        check(
            "anthropic/claude-3-5-haiku-latest",
            200_000,
            8_192,
            &[Images],
        );
        check(
            "openai/gpt-5-codex",
            400_000,
            128_000,
            &[Images, Efforts, Patches],
        );
        check("openai/gpt-4.1-mini", 1_047_576, 32_768, &[Images, Patches]);
        check("openai/o3-mini", 200_000, 100_000, &[Efforts]);
        check(
            "openai/o4-mini",
            200_000,
            100_000,
            &[Images, Efforts, Patches],
        );
        check(
            "gemini/gemini-2.5-pro",
            1_048_576,
            65_536,
            &[Images, Audio, Efforts],
        );
        check("ollama/qwen3-coder:30b", 256_000, 64_000, &[]);
        check("ollama/llama3.2-vision:11b", 128_000, 16_000, &[Images]);
    }

    #[test]
    fn a_model_on_this_machine_has_a_smaller_window() {
        assert_eq!(local("ollama/qwen3-coder:30b").window_tokens, 32_768);
        assert_eq!(local("ollama/phi4").window_tokens, 16_000);
    }

    #[test]
    fn a_name_may_say_who_made_the_model() {
        check(
            "openrouter/anthropic/claude-sonnet-4.5",
            200_000,
            64_000,
            &[Images, Efforts],
        );
    }

    #[test]
    fn nothing_is_claimed_about_a_model_that_is_not_known() {
        assert_eq!(facts("some/thing"), Facts::new("some/thing"));
        assert_eq!(facts(""), Facts::new(""));
    }

    #[test]
    fn makers_are_known_by_the_names_of_their_models() {
        assert_eq!(maker("anthropic/claude-sonnet-5"), Maker::Anthropic);
        assert_eq!(maker("openrouter/openai/gpt-5"), Maker::OpenAi);
        assert_eq!(maker("openai/o3-mini"), Maker::OpenAi);
        assert_eq!(maker("gemini/gemini-2.5-pro"), Maker::Google);
        assert_eq!(maker("ollama/qwen3-coder:30b"), Maker::Other);
    }

    #[test]
    fn an_answer_fits_into_its_window() {
        for family in FAMILIES {
            assert!(
                family.output_tokens_max < family.window_tokens,
                "{family:?}"
            );
        }
    }
}
