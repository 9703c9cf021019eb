//! Asks the model for one reply, in a request that fits.

use std::time::Duration;

use haft_contract::call::CallId;
use haft_model::conversation::{Reply, Usage};
use haft_model::provider::{ModelError, ModelErrorKind, ModelRequest, ReplyEvent};
use haft_model::writing::images;

use super::told::RunEvent;
use crate::agent::{AgentLoop, Run};
use crate::memory::compaction;
use crate::memory::compaction::CompactionReport;
use crate::outcome::AgentEndReason;

/// How long a model may take to stop after it was told to.
const GRACE: Duration = Duration::from_millis(500);
/// The share of the window that is used before room is made, in percent; the rest is for the reply.
const FULL: u64 = 80;
/// The share of it that is used afterwards: room is made seldom, because it spoils the provider's cache.
const AFTERWARDS: u64 = 50;

impl AgentLoop<'_> {
    /// Asks for the next reply. Where the conversation is longer than the model takes, room is made and it is asked again.
    pub(crate) async fn ask(&mut self, run: &mut Run<'_>) -> Result<Reply, AgentEndReason> {
        self.leave_out_what_is_not_seen();
        self.make_room(run);
        run.steps += 1;
        self.state.at_step(run.steps);
        (run.told)(RunEvent::Step(run.steps));
        let mut reply = self.ask_once(run).await;
        // A resumed session may be many times as long as a window that haft does not know.
        while matches!(&reply, Err(error) if error.kind == ModelErrorKind::TooLong)
            && self.make_room_for_smaller_window(run)
        {
            reply = self.ask_once(run).await;
        }
        let reply = reply.map_err(|error| match error.kind {
            ModelErrorKind::Stopped => AgentEndReason::Stopped,
            _ => AgentEndReason::Failed(error),
        })?;
        self.leave_out_what_is_not_seen();
        self.count(&reply, run);
        Ok(reply)
    }

    /// Puts notes in the place of images where the model is shown none, so that they count for nothing. On disk they stay.
    fn leave_out_what_is_not_seen(&mut self) {
        if let Some(why) = self.model.why_no_images() {
            images::leave_out_all(&mut self.messages, why);
        }
    }

    async fn ask_once(&self, run: &Run<'_>) -> Result<Reply, ModelError> {
        let request = ModelRequest {
            instructions: &self.instructions,
            tools: &run.tools.list,
            messages: &self.messages,
            most_tokens: self.settings.most_tokens,
            effort: self.settings.effort,
            must_call: self.settings.call_first && run.steps == 1,
        };
        let heard = |piece: ReplyEvent<'_>| match piece {
            ReplyEvent::Text(text) => (run.told)(RunEvent::Text(text)),
            ReplyEvent::Thinking(text) => (run.told)(RunEvent::Thinking(text)),
            ReplyEvent::CallBegins(_, name) => (run.told)(RunEvent::Writing(name)),
            ReplyEvent::Again(after, why) => (run.told)(RunEvent::Again(after, why)),
            ReplyEvent::Arguments(_, text) => (run.told)(RunEvent::Arguments(text.len())),
            ReplyEvent::Usage(_) => {}
        };
        let too_late = async {
            run.stop.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            biased;
            replied = self.model.reply(&request, &heard, run.stop) => replied,
            // A model that does not stop by itself is left behind.
            () = too_late => Err(ModelError {
                kind: ModelErrorKind::Stopped,
                what: "The model was stopped.".to_owned(),
                next: "ask again".to_owned(),
            }),
        }
    }

    /// Adds up what replies cost. What a provider does not count is estimated.
    fn count(&mut self, reply: &Reply, run: &mut Run<'_>) {
        let size = self.size_of_request(run);
        self.gauge.learn(size, &reply.usage);
        let estimated = Usage {
            input: self.gauge.tokens(size),
            output: self.gauge.tokens(reply.native.json.get().len()),
            ..Usage::default()
        };
        // A reply costs tokens on both sides. A count of zero means that the provider did not count.
        let counted = |counted: u64, estimated: u64| if counted == 0 { estimated } else { counted };
        let usage = Usage {
            input: counted(reply.usage.input, estimated.input),
            output: counted(reply.usage.output, estimated.output),
            ..reply.usage
        };
        run.usage = run.usage.plus(usage);
        (run.told)(RunEvent::Replied { reply, usage, total: run.usage });
    }

    fn size_of_request(&self, run: &Run<'_>) -> usize {
        self.instructions.len() + run.tools.size + compaction::size(&self.messages)
    }

    /// Refuses a prompt that no request can carry: what the user says is never left out to make room.
    ///
    /// Where the tools alone are more than the window, the window is not believed, and only the prompt counts.
    pub(crate) fn refuse_what_never_fits(&self, prompt: &str, run: &Run<'_>) -> Result<(), AgentEndReason> {
        let window = self.settings.window;
        let tokens = self.gauge.tokens(prompt.len());
        let beside = self.gauge.tokens(self.instructions.len() + run.tools.size);
        let beside = if beside < window { beside } else { 0 };
        if tokens.saturating_add(beside) <= window {
            return Ok(());
        }
        Err(AgentEndReason::PromptTooLong { tokens, beside, window })
    }

    fn make_room(&mut self, run: &Run<'_>) {
        let window = self.settings.window;
        let reply = u64::from(self.settings.most_tokens.unwrap_or(0));
        let full = (window * FULL / 100).min(window.saturating_sub(reply));
        let before = self.size_of_request(run);
        let too_many_images = compaction::bound_images(&mut self.messages);
        self.say_what_is_left_out(too_many_images, before, run);
        if self.gauge.tokens(self.size_of_request(run)) > full {
            self.compact_to(full.min(window * AFTERWARDS / 100), run);
        }
    }

    /// Believes the model that the conversation is too long for it; returns whether it is shorter now.
    fn make_room_for_smaller_window(&mut self, run: &Run<'_>) -> bool {
        let tokens = self.gauge.tokens(self.size_of_request(run));
        self.settings.window = self.settings.window.min(tokens);
        self.compact_to(tokens * AFTERWARDS / 100, run)
    }

    fn compact_to(&mut self, tokens: u64, run: &Run<'_>) -> bool {
        let before = self.size_of_request(run);
        let fixed = before - compaction::size(&self.messages);
        let most = self.gauge.bytes(tokens).saturating_sub(fixed);
        let done = compaction::compact(&mut self.messages, most);
        self.say_what_is_left_out(done, before, run)
    }

    /// Tells everybody what was left out of a request of so many bytes; returns whether it is shorter now.
    fn say_what_is_left_out(&mut self, done: CompactionReport, before: usize, run: &Run<'_>) -> bool {
        let now = self.size_of_request(run);
        if now == before {
            return false;
        }
        for call in &done.calls {
            self.session.text_dropped(&CallId::new(call));
        }
        self.guard.forget(&done.calls);
        let (tokens_before, tokens_now) = (self.gauge.tokens(before), self.gauge.tokens(now));
        (run.told)(RunEvent::Compacted(&CompactionReport { tokens_before, tokens_now, ..done }));
        now < before
    }
}
