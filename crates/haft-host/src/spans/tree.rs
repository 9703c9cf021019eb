//! Builds the spans of one run: the run, and below it each request to the model and each call of a tool.

use std::time::Instant;

use haft_agent::outcome::{AgentEndReason, AgentOutcome};
use haft_contract::doors::door::ChangeSetId;
use haft_contract::outcome::result::{Did, Status, ToolResult};
use haft_model::client::Endpoint;
use haft_model::conversation::{ModelToolCall, Reply, StopReason, Usage};
use haft_runtime::events::{CallEventContent, Subscription};
use haft_runtime::record::verdict_name;
use opentelemetry::trace::{Span as _, SpanKind, Status as SpanStatus, TraceContextExt, Tracer};
use opentelemetry::{Array, Context, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::{SdkTracer, Span};

use super::content::SpanContentFilter;
use super::names;

const AGENT: &str = "haft";
/// Longest name of a tool or a call, in characters.
const LONGEST_NAME: usize = 200;

/// The session, the verdicts and the content filter that all spans of a run share.
pub(super) struct RunSpanContext {
    pub(super) session: String,
    /// The answers to questions about calls.
    pub(super) verdicts: Subscription,
    pub(super) content: SpanContentFilter,
}

/// The spans of a run that are still open.
pub(super) struct SpanTree {
    tracer: SdkTracer,
    about: RunSpanContext,
    model: String,
    provider: &'static str,
    server: Option<(String, i64)>,
    run: Span,
    question: Option<PendingModelRequest>,
    /// With the ids of their calls. One may come twice.
    calls: Vec<(String, Span)>,
    /// What providers have counted.
    usage: Usage,
    /// The calls that a person was asked about, with the answer.
    answered: Vec<(String, &'static str)>,
    is_ended: bool,
}

/// A request to the model that has no reply yet.
struct PendingModelRequest {
    span: Span,
    began: Instant,
    has_begun_to_reply: bool,
    again: i64,
}

impl SpanTree {
    /// Begins the span of a run.
    pub(super) fn begin(tracer: SdkTracer, about: RunSpanContext, endpoint: &Endpoint, prompt: &str) -> Self {
        let provider = names::provider(endpoint);
        let attributes = [
            KeyValue::new(names::OPERATION, names::INVOKE_AGENT),
            KeyValue::new(names::AGENT_NAME, AGENT),
            KeyValue::new(names::AGENT_VERSION, env!("CARGO_PKG_VERSION")),
            KeyValue::new(names::CONVERSATION, about.session.clone()),
            KeyValue::new(names::PROVIDER, provider),
            KeyValue::new(names::MODEL, endpoint.model.clone()),
        ];
        let attributes = attributes.into_iter().chain(about.content.prompt(prompt));
        let builder = tracer.span_builder(format!("{} {AGENT}", names::INVOKE_AGENT)).with_kind(SpanKind::Internal);
        let run = tracer.build_with_context(builder.with_attributes(attributes), &Context::new());
        let (model, server) = (endpoint.model.clone(), names::server(&endpoint.base_url));
        Self {
            tracer,
            about,
            model,
            provider,
            server,
            run,
            question: None,
            calls: Vec::new(),
            usage: Usage::default(),
            answered: Vec::new(),
            is_ended: false,
        }
    }

    /// The model is asked.
    pub(super) fn ask(&mut self) {
        let mut attributes = vec![
            KeyValue::new(names::OPERATION, names::CHAT),
            KeyValue::new(names::PROVIDER, self.provider),
            KeyValue::new(names::MODEL, self.model.clone()),
            KeyValue::new(names::CONVERSATION, self.about.session.clone()),
            KeyValue::new(names::STREAM, true),
        ];
        if let Some((host, port)) = &self.server {
            attributes.extend([KeyValue::new(names::SERVER, host.clone()), KeyValue::new(names::PORT, *port)]);
        }
        let span = self.beneath(format!("{} {}", names::CHAT, self.model), SpanKind::Client, attributes);
        self.question = Some(PendingModelRequest { span, began: Instant::now(), has_begun_to_reply: false, again: 0 });
    }

    /// Something of the reply comes.
    pub(super) fn hear(&mut self) {
        if let Some(question) = self.question.as_mut().filter(|question| !question.has_begun_to_reply) {
            question.has_begun_to_reply = true;
            let waited = question.began.elapsed().as_secs_f64();
            question.span.set_attribute(KeyValue::new(names::FIRST_CHUNK, waited));
        }
    }

    /// The provider is asked again.
    pub(super) fn ask_again(&mut self) {
        if let Some(question) = &mut self.question {
            question.again += 1;
        }
    }

    /// A reply is whole, or as whole as it gets.
    pub(super) fn reply(&mut self, reply: &Reply) {
        let Some(PendingModelRequest { mut span, again, .. }) = self.question.take() else { return };
        let reasons = Array::from(vec![StringValue::from(names::finish_reason(reply.stop))]);
        span.set_attribute(KeyValue::new(names::FINISH_REASONS, Value::Array(reasons)));
        // What is only estimated is not said.
        span.set_attributes(counted(reply.usage));
        span.set_attributes(self.about.content.reply(reply));
        if again > 0 {
            span.set_attribute(KeyValue::new(names::AGAIN, again));
        }
        if reply.stop == StopReason::Cut {
            fail(&mut span, "cut");
        }
        self.usage = self.usage.plus(reply.usage);
        span.end();
    }

    /// A call is about to run.
    pub(super) fn begin_call(&mut self, call: &ModelToolCall) {
        let span = self.call(call);
        self.calls.push((call.id.clone(), span));
    }

    /// A call has ended; the model reads this of it.
    pub(super) fn end_call(&mut self, call: &ModelToolCall, result: &ToolResult, words: &str) {
        let Some(at) = self.calls.iter().position(|(id, _)| *id == call.id) else { return };
        let (_, mut span) = self.calls.remove(at);
        span.set_attribute(KeyValue::new(names::STATUS, result.status.code()));
        span.set_attributes(self.verdict_on(&call.id).map(|verdict| KeyValue::new(names::VERDICT, verdict)));
        span.set_attributes(result.exit_code.map(|code| KeyValue::new(names::EXIT_CODE, i64::from(code))));
        span.set_attributes(result.sandbox.map(|level| KeyValue::new(names::SANDBOX, level.code())));
        span.set_attributes(done(&result.did));
        span.set_attributes(self.about.content.result(words));
        if let Some(rule) = result.error.as_ref().and_then(|error| error.rule.clone()) {
            span.set_attribute(KeyValue::new(names::RULE, rule));
        }
        if result.status != Status::Ok {
            let kind = result.error.as_ref().map_or(result.status.code(), |error| error.kind.code());
            fail(&mut span, kind);
        }
        span.end();
    }

    /// A call is not run.
    pub(super) fn leave_out(&mut self, call: &ModelToolCall) {
        let mut span = self.call(call);
        span.set_attribute(KeyValue::new(names::STATUS, "not_run"));
        fail(&mut span, "not_run");
        span.end();
    }

    /// Ends everything that is open, the run last.
    pub(super) fn end(&mut self, how: &'static str, outcome: Option<&AgentOutcome>) {
        if std::mem::replace(&mut self.is_ended, true) {
            return;
        }
        let why = match outcome.map(|outcome| &outcome.ended) {
            Some(AgentEndReason::Finished) => None,
            Some(AgentEndReason::Failed(error)) => Some(names::model_error(error.kind)),
            Some(_) | None => Some(how),
        };
        let question = self.question.take().map(|question| question.span);
        for mut span in self.calls.drain(..).map(|(_, span)| span).chain(question) {
            fail(&mut span, why.unwrap_or(how));
            span.end();
        }
        self.run.set_attribute(KeyValue::new(names::HOW, how));
        self.run.set_attributes(counted(self.usage));
        if let Some(outcome) = outcome {
            self.run.set_attribute(KeyValue::new(names::STEPS, i64::from(outcome.steps)));
            self.run.set_attributes(self.about.content.answer(&outcome.answer));
        }
        if let Some(why) = why {
            fail(&mut self.run, why);
        }
        self.run.end();
    }

    fn call(&self, call: &ModelToolCall) -> Span {
        let name = short(&call.name);
        let attributes = [
            KeyValue::new(names::OPERATION, names::EXECUTE_TOOL),
            KeyValue::new(names::TOOL_NAME, name.clone()),
            KeyValue::new(names::TOOL_TYPE, "function"),
            KeyValue::new(names::TOOL_CALL, short(&call.id)),
            KeyValue::new(names::AGENT_NAME, AGENT),
        ];
        let attributes = attributes.into_iter().chain(self.about.content.arguments(call)).collect();
        self.beneath(format!("{} {name}", names::EXECUTE_TOOL), SpanKind::Internal, attributes)
    }

    fn beneath(&self, name: String, kind: SpanKind, attributes: Vec<KeyValue>) -> Span {
        let context = Context::new().with_remote_span_context(self.run.span_context().clone());
        let builder = self.tracer.span_builder(name).with_kind(kind).with_attributes(attributes);
        self.tracer.build_with_context(builder, &context)
    }

    /// Returns the answer to the question about a call, if there was one.
    fn verdict_on(&mut self, id: &str) -> Option<&'static str> {
        while let Some(event) = self.about.verdicts.try_next() {
            if let CallEventContent::ApprovalGiven { verdict, .. } = &event.what {
                self.answered.push((event.call.to_string(), verdict_name(verdict)));
            }
        }
        let at = self.answered.iter().position(|(call, _)| call == id)?;
        Some(self.answered.remove(at).1)
    }
}

/// Cuts what a model wrote as a name: it may be anything.
fn short(name: &str) -> String {
    name.chars().take(LONGEST_NAME).collect()
}

fn fail(span: &mut Span, why: &'static str) {
    span.set_attribute(KeyValue::new(names::ERROR, why));
    // No words: they may say what was said.
    span.set_status(SpanStatus::error(""));
}

/// What a provider has counted; one that counts nothing says nothing.
fn counted(usage: Usage) -> Vec<KeyValue> {
    if usage == Usage::default() {
        return Vec::new();
    }
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let always = [(names::INPUT_TOKENS, usage.input), (names::OUTPUT_TOKENS, usage.output)];
    let cached = [(names::CACHE_READ_TOKENS, usage.cache_read), (names::CACHE_WRITTEN_TOKENS, usage.cache_written)];
    let cached = cached.into_iter().filter(|(_, count)| *count > 0);
    always.into_iter().chain(cached).map(|(name, count)| KeyValue::new(name, number(count))).collect()
}

fn done(did: &Did) -> Vec<KeyValue> {
    match did {
        Did::Nothing => vec![KeyValue::new(names::DID, "nothing")],
        Did::Unknown(_) => vec![KeyValue::new(names::DID, "unknown")],
        Did::Changed { change_set, .. } => {
            let number = change_set.and_then(|ChangeSetId(number)| i64::try_from(number).ok());
            let number = number.map(|number| KeyValue::new(names::CHANGE_SET, number));
            std::iter::once(KeyValue::new(names::DID, "changed")).chain(number).collect()
        }
    }
}
