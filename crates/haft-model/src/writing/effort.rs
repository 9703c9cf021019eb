//! How much a model thinks before it answers.
//!
//! All models share the same three words. Each format translates a word: some take the word, some a number of tokens,
//! and that depends on the model too. A model that cannot think refuses the request, and says so.

/// How much a model shall think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// As little as is sensible.
    Low,
    /// Something between.
    Medium,
    /// Much.
    High,
}

impl Effort {
    /// All of them.
    pub const ALL: [Effort; 3] = [Effort::Low, Effort::Medium, Effort::High];

    /// Returns the name, which is also what most providers take.
    pub fn name(self) -> &'static str {
        match self {
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Effort;
    use crate::anthropic::Anthropic;
    use crate::chat::Chat;
    use crate::conversation::{Message, ModelToolCall, Native, Reply, ReplyPart, StopReason, ToolAnswer, Usage};
    use crate::form::WireFormat;
    use crate::gemini::Gemini;
    use crate::lower::{ProviderDialect, ToolOffer, lower_all};
    use crate::provider::ModelRequest;
    use crate::quirks::{ChatServer, Quirks};
    use crate::responses::Responses;
    use crate::wire::Wire;
    use serde_json::value::RawValue;
    use serde_json::{Value, json};

    /// Returns what a request says beside the conversation and the tools.
    fn said(form: &dyn WireFormat, model: &str, request: &ModelRequest<'_>) -> String {
        let mut body: Value = serde_json::from_slice(&form.request(model, request)).expect("it is JSON");
        let members = body.as_object_mut().expect("it is an object");
        for known in ["model", "messages", "input", "contents", "tools", "stream", "stream_options", "store"] {
            members.shift_remove(known);
        }
        body.to_string()
    }

    struct EffortCase {
        effort: Option<Effort>,
        must_call: bool,
    }

    fn check(EffortCase { effort, must_call }: EffortCase) -> String {
        let schema = json!({ "type": "object" });
        let bash = ToolOffer { name: "bash", title: None, description: "", input_schema: &schema, read_only: None };
        let messages = [Message::user("Do it.")];
        let chat = |server| Chat { quirks: Quirks::of_server(server) };
        let forms: [(&dyn WireFormat, ProviderDialect, &str); 8] = [
            (&Anthropic, ProviderDialect::Anthropic, "claude-opus-5"),
            (&Anthropic, ProviderDialect::Anthropic, "claude-haiku-4-5"),
            (&Responses::default(), ProviderDialect::OpenAi, "gpt-5.2"),
            (&chat(ChatServer::OpenAi), ProviderDialect::OpenAi, "gpt-5.2"),
            (&chat(ChatServer::LlamaCpp), ProviderDialect::OpenAi, "gpt-oss-20b"),
            (&chat(ChatServer::Other), ProviderDialect::OpenAi, "some-model"),
            (&Gemini, ProviderDialect::Gemini, "gemini-3-flash"),
            (&Gemini, ProviderDialect::Gemini, "gemini-2.5-pro"),
        ];
        let lines = forms.map(|(form, provider, model)| {
            let tools = lower_all(&[bash], provider);
            let request = ModelRequest {
                instructions: "",
                tools: &tools,
                messages: &messages,
                most_tokens: None,
                effort,
                must_call,
            };
            format!("{model}: {}", said(form, model, &request))
        });
        lines.join("\n")
    }

    #[test]
    fn every_form_says_it_in_its_own_way() {
        insta::assert_snapshot!(check(EffortCase { effort: Some(Effort::High), must_call: false }), @r#"
        claude-opus-5: {"max_tokens":32000,"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}}
        claude-haiku-4-5: {"max_tokens":32000,"thinking":{"type":"enabled","budget_tokens":16000}}
        gpt-5.2: {"reasoning":{"effort":"high"},"include":["reasoning.encrypted_content"]}
        gpt-5.2: {"reasoning_effort":"high"}
        gpt-oss-20b: {"reasoning_effort":"high","chat_template_kwargs":{"reasoning_effort":"high"},"parallel_tool_calls":true}
        some-model: {"reasoning_effort":"high"}
        gemini-3-flash: {"generationConfig":{"thinkingConfig":{"thinkingLevel":"HIGH"}}}
        gemini-2.5-pro: {"generationConfig":{"thinkingConfig":{"thinkingBudget":24576}}}
        "#);
        insta::assert_snapshot!(check(EffortCase { effort: Some(Effort::Medium), must_call: false }), @r#"
        claude-opus-5: {"max_tokens":32000,"thinking":{"type":"adaptive"},"output_config":{"effort":"medium"}}
        claude-haiku-4-5: {"max_tokens":32000,"thinking":{"type":"enabled","budget_tokens":10240}}
        gpt-5.2: {"reasoning":{"effort":"medium"},"include":["reasoning.encrypted_content"]}
        gpt-5.2: {"reasoning_effort":"medium"}
        gpt-oss-20b: {"reasoning_effort":"medium","chat_template_kwargs":{"reasoning_effort":"medium"},"parallel_tool_calls":true}
        some-model: {"reasoning_effort":"medium"}
        gemini-3-flash: {"generationConfig":{"thinkingConfig":{"thinkingLevel":"MEDIUM"}}}
        gemini-2.5-pro: {"generationConfig":{"thinkingConfig":{"thinkingBudget":8192}}}
        "#);
    }

    #[test]
    fn a_turn_that_began_without_a_thought_goes_on_without() {
        let tools = lower_all(&[], ProviderDialect::Anthropic);
        let said = |model: &str, native: &str| {
            let call = ModelToolCall { id: "1".into(), name: "bash".into(), arguments: "{}".into(), is_cut: false };
            let native = Native {
                wire: Wire::Anthropic,
                model: model.into(),
                json: RawValue::from_string(native.into()).expect("it is JSON"),
            };
            let (parts, stop, usage) = (vec![ReplyPart::Call(call)], StopReason::Calls, Usage::default());
            let reply = Reply { parts, native, stop, usage, why_cut: None };
            let answer = ToolAnswer {
                call: "1".into(),
                name: "bash".into(),
                text: "x".into(),
                is_error: false,
                images: Vec::new(),
            };
            let messages = [Message::user("Do it."), Message::Model(reply), Message::Tools { answers: vec![answer] }];
            let effort = Some(Effort::High);
            let request = ModelRequest {
                instructions: "",
                tools: &tools,
                messages: &messages,
                most_tokens: None,
                effort,
                must_call: false,
            };
            said(&Anthropic, model, &request)
        };
        let (call, thought) = (
            r#"{"type":"tool_use","id":"1","name":"bash","input":{}}"#,
            r#"{"type":"thinking","thinking":"","signature":"s"}"#,
        );
        let (without, with) = (format!("[{call}]"), format!("[{thought},{call}]"));
        assert!(!said("claude-haiku-4-5", &without).contains("thinking"));
        assert!(said("claude-haiku-4-5", &with).contains("enabled"));
        assert!(said("claude-opus-5", &without).contains("adaptive"));
    }

    #[test]
    fn where_nothing_is_said_nothing_is_sent() {
        insta::assert_snapshot!(check(EffortCase { effort: None, must_call: false }), @r#"
        claude-opus-5: {"max_tokens":32000}
        claude-haiku-4-5: {"max_tokens":32000}
        gpt-5.2: {"include":["reasoning.encrypted_content"]}
        gpt-5.2: {}
        gpt-oss-20b: {"parallel_tool_calls":true}
        some-model: {}
        gemini-3-flash: {}
        gemini-2.5-pro: {}
        "#);
    }

    #[test]
    fn who_must_call_is_not_asked_to_think_where_both_is_refused() {
        insta::assert_snapshot!(check(EffortCase { effort: Some(Effort::Low), must_call: true }), @r#"
        claude-opus-5: {"max_tokens":32000,"tool_choice":{"type":"any"},"output_config":{"effort":"low"}}
        claude-haiku-4-5: {"max_tokens":32000,"tool_choice":{"type":"any"}}
        gpt-5.2: {"tool_choice":"required","reasoning":{"effort":"low"},"include":["reasoning.encrypted_content"]}
        gpt-5.2: {"reasoning_effort":"low","tool_choice":"required"}
        gpt-oss-20b: {"reasoning_effort":"low","chat_template_kwargs":{"reasoning_effort":"low"},"tool_choice":"required","parallel_tool_calls":true}
        some-model: {"reasoning_effort":"low","tool_choice":"required"}
        gemini-3-flash: {"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"generationConfig":{"thinkingConfig":{"thinkingLevel":"LOW"}}}
        gemini-2.5-pro: {"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"generationConfig":{"thinkingConfig":{"thinkingBudget":1024}}}
        "#);
    }

    #[test]
    fn the_first_gemini_with_levels_has_nothing_between() {
        let tools = lower_all(&[], ProviderDialect::Gemini);
        let effort = Some(Effort::Medium);
        let request = ModelRequest {
            instructions: "",
            tools: &tools,
            messages: &[],
            most_tokens: Some(9),
            effort,
            must_call: false,
        };
        let config =
            json!({ "generationConfig": { "maxOutputTokens": 9, "thinkingConfig": { "thinkingLevel": "HIGH" } } });
        assert_eq!(said(&Gemini, "gemini-3-pro-preview", &request), config.to_string());
    }
}
