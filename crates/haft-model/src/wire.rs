//! The formats of requests and replies that models use.

use serde::{Deserialize, Serialize};

/// A form of requests and replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions, which most others speak too.
    Chat,
    /// Google Gemini.
    Gemini,
}

impl Wire {
    /// All of them.
    pub const ALL: [Wire; 4] = [Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini];

    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Wire::Anthropic => "anthropic",
            Wire::Responses => "responses",
            Wire::Chat => "chat",
            Wire::Gemini => "gemini",
        }
    }
}
