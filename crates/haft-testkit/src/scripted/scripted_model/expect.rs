//! What a turn expects of the request that it answers.

use serde::{Deserialize, Deserializer};

use super::asked::ReplyRequest;

/// What a request must have. What is left out is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    /// Words that the user's last message has.
    #[serde(deserialize_with = "one_or_many")]
    pub user_says: Vec<String>,
    /// Words, each of them in one of the results that came last.
    #[serde(deserialize_with = "one_or_many")]
    pub tool_result_contains: Vec<String>,
    /// How many results came last.
    pub tool_results: Option<usize>,
    /// How many images the whole request shows.
    pub images: Option<usize>,
    /// Words in the instructions.
    #[serde(deserialize_with = "one_or_many")]
    pub instructions_contain: Vec<String>,
    /// Tools that are offered.
    #[serde(deserialize_with = "one_or_many")]
    pub tools_include: Vec<String>,
    /// Tools that are not offered.
    #[serde(deserialize_with = "one_or_many")]
    pub tools_exclude: Vec<String>,
    /// Words anywhere in the text of the body.
    #[serde(deserialize_with = "one_or_many")]
    pub body_contains: Vec<String>,
    /// The most bytes that the body has.
    pub most_bytes: Option<usize>,
}

impl Expect {
    /// Expects these words of the user.
    pub fn user_says(words: impl Into<String>) -> Self {
        Self { user_says: vec![words.into()], ..Self::default() }
    }

    /// Expects these words in one of the last results.
    pub fn tool_result_contains(words: impl Into<String>) -> Self {
        Self { tool_result_contains: vec![words.into()], ..Self::default() }
    }

    /// Returns everything that a request lacks, a sentence each.
    pub(super) fn lacks(&self, asked: &ReplyRequest) -> Vec<String> {
        let mut lacks = Vec::new();
        let mut demand = |holds: bool, what: String| lacks.extend((!holds).then_some(what));

        let user = asked.conversation.last_of_user();
        for words in &self.user_says {
            demand(user.contains(words.as_str()), format!("the user should say {words:?}, but says {user:?}"));
        }
        let results = asked.conversation.last_results();
        let texts: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
        for words in &self.tool_result_contains {
            let is_there = texts.iter().any(|text| text.contains(words.as_str()));
            demand(is_there, format!("a result should contain {words:?}, but the last ones are {texts:?}"));
        }
        if let Some(count) = self.tool_results {
            demand(texts.len() == count, format!("there should be {count} results, but there are {}", texts.len()));
        }
        if let Some(count) = self.images {
            let shown = asked.conversation.images.len();
            demand(shown == count, format!("there should be {count} images, but there are {shown}"));
        }
        for words in &self.instructions_contain {
            let is_there = asked.conversation.instructions.contains(words.as_str());
            demand(is_there, format!("the instructions should contain {words:?}"));
        }
        let offered = &asked.conversation.tools;
        for tool in &self.tools_include {
            demand(offered.contains(tool), format!("the tool {tool:?} should be offered; there are {offered:?}"));
        }
        for tool in &self.tools_exclude {
            demand(!offered.contains(tool), format!("the tool {tool:?} should not be offered"));
        }
        for words in &self.body_contains {
            demand(asked.text.contains(words.as_str()), format!("the body should contain {words:?}"));
        }
        if let Some(most) = self.most_bytes {
            let bytes = asked.text.len();
            demand(bytes <= most, format!("the body should have at most {most} bytes, but has {bytes}"));
        }
        lacks
    }
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a text or a list of texts")]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(text) => vec![text],
        OneOrMany::Many(texts) => texts,
    })
}
