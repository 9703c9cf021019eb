//! Gives an id to calls without one, or with one that the conversation already has.
//!
//! An id depends only on the conversation, so the same stream gives the same reply when it is read twice. An id has
//! nine letters and digits, because Mistral accepts no others and every other provider accepts these.

use std::collections::HashSet;

use super::foreign::safe_id;
use crate::conversation::Message;
use crate::provider::ModelRequest;

const LENGTH: usize = 9;
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The ids of a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Ids {
    used: HashSet<String>,
    seed: String,
}

impl Ids {
    /// Returns those that were used before the reply to this request.
    pub(crate) fn of(request: &ModelRequest<'_>) -> Ids {
        let mut used = HashSet::new();
        for message in request.messages {
            if let Message::Model(reply) = message {
                used.extend(reply.calls().map(|call| call.id.clone()));
            }
        }
        // With the last words in it: a conversation that was shortened has the same length twice.
        let last = request.messages.last().and_then(|message| serde_json::to_string(message).ok());
        let seed = format!("{} {}", request.messages.len(), last.unwrap_or_default());
        Ids { used, seed }
    }

    /// Takes the id that a provider gave, or makes one.
    pub(crate) fn take(&mut self, given: &str) -> String {
        let is_new = !given.is_empty() && given != "null" && !self.used.contains(given);
        let id = if is_new { given.to_owned() } else { self.made() };
        self.used.insert(id.clone());
        id
    }

    /// Takes the id that a provider gave where everybody takes it, else one that stands for it. For forms in which a
    /// reply goes back as it came: what answers it must have the same id.
    pub(crate) fn take_safe(&mut self, given: &str) -> String {
        if given.is_empty() { self.take(given) } else { self.take(&safe_id(given)) }
    }

    fn made(&self) -> String {
        let mut count = self.used.len();
        loop {
            let id = nine(&format!("{} {count}", self.seed));
            if !self.used.contains(&id) {
                return id;
            }
            count += 1;
        }
    }
}

/// Returns nine letters and digits that stand for a text.
pub(crate) fn nine(text: &str) -> String {
    let hash = blake3::hash(text.as_bytes());
    hash.as_bytes().iter().take(LENGTH).map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect()
}

/// Says whether an id has nine letters and digits.
pub(crate) fn is_nine(id: &str) -> bool {
    id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::{ProviderDialect, lower_all};

    #[test]
    fn an_id_is_given_once_and_made_where_it_is_missing() {
        let tools = lower_all(&[], ProviderDialect::OpenAi);
        let request = ModelRequest {
            instructions: "",
            tools: &tools,
            messages: &[],
            most_tokens: None,
            effort: None,
            must_call: false,
        };
        let mut ids = Ids::of(&request);
        assert_eq!(ids.take("call_1"), "call_1");
        let made = [ids.take("call_1"), ids.take(""), ids.take("null"), ids.take("")];
        assert!(made.iter().all(|id| is_nine(id)), "{made:?}");
        assert_eq!(made.iter().collect::<HashSet<_>>().len(), made.len());
    }
}
