//! Tells a model of Anthropic's format how much to think.
//!
//! From version 4.6 on a model decides by itself when to think, and the request says how hard. Earlier versions get a
//! number of tokens, which is part of the length of the reply. Other models behind this format think by themselves and
//! take only the word: DeepSeek's guide has no other way.

use serde::Serialize;

use crate::writing::effort::Effort;

/// Pieces of the names of models that take a number of tokens, with dashes for all other signs.
const COUNTED: [&str; 5] = ["claude-3-", "-4-0", "-4-1", "-4-5", "-4-2025"];
/// The least number that is taken.
const LEAST: u32 = 1024;

/// The members of a request that say it.
#[derive(Default, Serialize)]
pub(super) struct Thinking {
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingMode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ThinkingMode {
    Adaptive,
    Enabled { budget_tokens: u32 },
}

#[derive(Serialize)]
struct OutputConfig {
    effort: &'static str,
}

impl Thinking {
    /// Returns what says it to a model whose reply may be so long.
    pub(super) fn of(model: &str, effort: Effort, most_tokens: u32) -> Thinking {
        let word = Some(OutputConfig { effort: effort.name() });
        if !model.contains("claude") {
            return Thinking { thinking: None, output_config: word };
        }
        if !is_counted(model) {
            return Thinking { thinking: Some(ThinkingMode::Adaptive), output_config: word };
        }
        let wanted = match effort {
            Effort::Low => 4_096,
            Effort::Medium => 10_240,
            Effort::High => 24_576,
        };
        // Half of the reply is left for what is said; a reply that has no room for thoughts goes without.
        let budget_tokens = wanted.min(most_tokens / 2).max(LEAST);
        Thinking {
            thinking: (budget_tokens < most_tokens).then_some(ThinkingMode::Enabled { budget_tokens }),
            output_config: None,
        }
    }

    /// Goes on with a turn where calls were made without a thought and wait for an answer: models that count their thoughts
    /// do not begin with them in the middle of a turn.
    pub(super) fn in_turn_without_thoughts(self) -> Thinking {
        match self.thinking {
            Some(ThinkingMode::Enabled { .. }) => self.without_asking(),
            _ => self,
        }
    }

    /// Leaves thinking to the model: who must call something may not be asked to think before.
    pub(super) fn without_asking(self) -> Thinking {
        Thinking { thinking: None, ..self }
    }
}

fn is_counted(model: &str) -> bool {
    let name: String = model.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '-' }).collect();
    name.ends_with("-4") || COUNTED.iter().any(|piece| name.contains(piece))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(model: &str, effort: Effort, most_tokens: u32) -> String {
        serde_json::to_string(&Thinking::of(model, effort, most_tokens)).expect("it can be written")
    }

    #[test]
    fn new_models_get_the_word_and_old_ones_a_number() {
        let new = r#"{"thinking":{"type":"adaptive"},"output_config":{"effort":"medium"}}"#;
        for model in
            ["claude-opus-4-6", "anthropic/claude-sonnet-4.6", "claude-haiku-5-5", "us.anthropic.claude-opus-5-v1:0"]
        {
            assert_eq!(said(model, Effort::Medium, 32_000), new, "{model}");
        }
        let old = r#"{"thinking":{"type":"enabled","budget_tokens":10240}}"#;
        for model in [
            "claude-3-7-sonnet-20250219",
            "claude-opus-4",
            "claude-sonnet-4@20250514",
            "claude-sonnet-4-20250514",
            "claude-opus-4-1-20250805",
            "anthropic/claude-haiku-4.5",
        ] {
            assert_eq!(said(model, Effort::Medium, 32_000), old, "{model}");
        }
        assert_eq!(said("deepseek-flash", Effort::Low, 32_000), r#"{"output_config":{"effort":"low"}}"#);
    }

    #[test]
    fn thoughts_leave_room_for_the_reply() {
        let budget = |most_tokens| said("claude-haiku-4-5", Effort::High, most_tokens);
        assert!(budget(32_000).contains(":16000}"));
        assert!(budget(64_000).contains(":24576}"));
        assert!(budget(1_025).contains(":1024}"));
        assert_eq!(budget(1_024), "{}");
    }
}
