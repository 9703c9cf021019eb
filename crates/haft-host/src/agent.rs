//! An agent for a program: a model, tools and a conversation, owned in one value.
//!
//! Not here: the loop itself (`haft-agent`), and which model there is (`model`).

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::Stream;
use haft_agent::agent::AgentLoop as Loop;
use haft_agent::instructions::{BasePrompt, Instructions};
use haft_agent::memory::history::Past;
use haft_agent::memory::record::{NoRecord, Record};
use haft_agent::outcome::{AgentEndReason, AgentOutcome};
use haft_agent::output::OutputSchema;
use haft_agent::settings::AgentSettings;
use haft_agent::work::told::RunEvent;
use haft_contract::outcome::result::ToolResult;
use haft_contract::tool::Tool;
use haft_model::conversation::{Message, Usage};
use serde_json::Value;
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use crate::opening::model::Model;
use crate::toolbox::{OpenError, Toolbox, ToolboxBuilder};

/// Most events that wait for one listener; a slower one stops the agent's reports to it, never the agent.
const LONGEST_QUEUE: usize = 8_192;

/// A model at work with tools.
pub struct Agent {
    toolbox: Toolbox,
    model: Model,
    settings: AgentSettings,
    messages: Mutex<Vec<Message>>,
    listeners: std::sync::Mutex<Vec<mpsc::Sender<AgentEvent>>>,
    record: Box<dyn Record>,
}

/// The answer of an agent to a prompt.
#[derive(Clone, Debug)]
pub struct AgentAnswer {
    /// The last words of the model.
    pub text: String,
    /// The answer as a value, where it has to fit a schema.
    pub output: Option<Value>,
    /// How often the model was asked.
    pub steps: u32,
    /// What that cost, in tokens.
    pub usage: Usage,
}

/// The error of an agent that did not finish: how it ended, and the last words of the model.
#[derive(Clone)]
pub struct UnfinishedRun {
    /// How it ended.
    pub ended: AgentEndReason,
    /// The last words of the model.
    pub text: String,
}

impl std::fmt::Display for UnfinishedRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.ended.fmt(f)
    }
}

/// The same text: a `main` that returns the error shows it in this form.
impl std::fmt::Debug for UnfinishedRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for UnfinishedRun {}

/// One thing that an agent did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AgentEvent {
    /// The model is asked.
    Asked,
    /// More of the model's text.
    Text(String),
    /// More of what the model thinks.
    Thinking(String),
    /// A call is about to run.
    CallBegan {
        /// Its id.
        id: String,
        /// The tool.
        tool: String,
        /// The arguments as the model wrote them.
        arguments: String,
    },
    /// A call has ended.
    CallEnded {
        /// Its id.
        id: String,
        /// How.
        result: Arc<ToolResult>,
    },
    /// A call was not run; the text says why.
    NotRun {
        /// Its id.
        id: String,
        /// What the model reads instead of a result.
        text: String,
    },
    /// The provider is asked again, for this reason.
    Retrying(String),
    /// Older parts of the conversation were left out to make room.
    Compacted,
}

impl Agent {
    /// Starts a description of an agent.
    #[must_use]
    pub fn builder() -> AgentBuilder {
        AgentBuilder::default()
    }

    /// Works on a prompt until the model has nothing more to call. The conversation goes on with the next prompt.
    ///
    /// # Errors
    ///
    /// Says how it ended instead: a limit, a refusal, a provider that cannot be reached.
    pub async fn ask(&self, prompt: impl Into<String>) -> Result<AgentAnswer, UnfinishedRun> {
        self.ask_until(prompt, &CancellationToken::new()).await
    }

    /// The same, until the caller cancels it. The conversation stays valid.
    ///
    /// # Errors
    ///
    /// As [`Agent::ask`]; a cancelled run is [`AgentEndReason::Stopped`].
    pub async fn ask_until(
        &self,
        prompt: impl Into<String>,
        stop: &CancellationToken,
    ) -> Result<AgentAnswer, UnfinishedRun> {
        let mut messages = self.messages.lock().await;
        let runtime = &self.toolbox.host().runtime;
        let agent = Loop::new(runtime, self.toolbox.session(), &*self.model.0, &*self.record);
        let past = Past { messages: std::mem::take(&mut *messages), ..Past::default() };
        let mut agent = agent.with_settings(self.settings.clone()).going_on(past);
        let told = |told: RunEvent<'_>| self.tell(told);
        let AgentOutcome { ended, answer, output, steps, usage, .. } = agent.run(prompt.into(), &told, stop).await;
        *messages = agent.messages().to_vec();
        match ended {
            AgentEndReason::Finished => {
                Ok(AgentAnswer { text: answer, output: output.map(|output| output.value), steps, usage })
            }
            ended => Err(UnfinishedRun { ended, text: answer }),
        }
    }

    /// Listens to what the agent does from now on.
    #[must_use]
    pub fn events(&self) -> AgentEvents {
        let (sender, receiver) = mpsc::channel(LONGEST_QUEUE);
        self.listeners.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(sender);
        AgentEvents(receiver)
    }

    /// Returns the tools.
    #[must_use]
    pub fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    /// Returns what was said so far.
    pub async fn messages(&self) -> Vec<Message> {
        self.messages.lock().await.clone()
    }

    fn tell(&self, told: RunEvent<'_>) {
        let mut listeners = self.listeners.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if listeners.is_empty() {
            return;
        }
        let Some(event) = AgentEvent::of(told) else { return };
        listeners.retain(|listener| listener.try_send(event.clone()).is_ok());
    }
}

impl AgentEvent {
    fn of(told: RunEvent<'_>) -> Option<Self> {
        Some(match told {
            RunEvent::Step(_) => Self::Asked,
            RunEvent::Text(text) | RunEvent::Finished(text) => Self::Text(text.to_owned()),
            RunEvent::Thinking(text) => Self::Thinking(text.to_owned()),
            RunEvent::CallBegan { call, .. } => {
                Self::CallBegan { id: call.id.clone(), tool: call.name.clone(), arguments: call.arguments.clone() }
            }
            RunEvent::CallEnded { call, result, .. } => {
                Self::CallEnded { id: call.id.clone(), result: Arc::new(result.clone()) }
            }
            RunEvent::NotRun { call, answer } => Self::NotRun { id: call.id.clone(), text: answer.text.clone() },
            RunEvent::Again(_, why) => Self::Retrying(why.to_owned()),
            RunEvent::Compacted(_) => Self::Compacted,
            RunEvent::Writing(_) | RunEvent::Arguments(_) | RunEvent::Steered(_) => return None,
            RunEvent::Replied { .. } | RunEvent::GoesOn(_) | RunEvent::Unfit(_) => return None,
        })
    }
}

/// The events of an agent, as a stream. It ends with the agent.
pub struct AgentEvents(mpsc::Receiver<AgentEvent>);

impl AgentEvents {
    /// Waits for the next event; nothing when the agent is gone.
    pub async fn next(&mut self) -> Option<AgentEvent> {
        self.0.recv().await
    }

    /// Returns the next event if there is one already.
    pub fn try_next(&mut self) -> Option<AgentEvent> {
        self.0.try_recv().ok()
    }
}

impl Stream for AgentEvents {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        self.0.poll_recv(cx)
    }
}

/// An agent that is being described.
#[derive(Default)]
pub struct AgentBuilder {
    toolbox: ToolboxBuilder,
    is_configured: bool,
    opened: Option<Toolbox>,
    model: Option<Model>,
    settings: AgentSettings,
    instructions: Option<String>,
    has_coding_prompt: bool,
    record: Option<Box<dyn Record>>,
}

impl AgentBuilder {
    /// Asks this model.
    #[must_use]
    pub fn model(mut self, model: impl Into<Model>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Adds a tool. haft's own tools are not there unless [`AgentBuilder::toolbox`] brings them; then all tools are those of
    /// the toolbox, and [`ToolboxBuilder::tool`] adds one.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool) -> Self {
        self.toolbox = self.toolbox.tool(tool);
        self
    }

    /// Uses an opened toolbox: its tools, its approver, its workspace.
    #[must_use]
    pub fn toolbox(mut self, toolbox: Toolbox) -> Self {
        self.opened = Some(toolbox);
        self
    }

    /// Changes how the toolbox is opened that [`AgentBuilder::tool`] fills.
    #[must_use]
    pub fn configure(mut self, change: impl FnOnce(ToolboxBuilder) -> ToolboxBuilder) -> Self {
        self.toolbox = change(self.toolbox);
        self.is_configured = true;
        self
    }

    /// Tells the model this first, and nothing of haft's own. It takes the place of [`AgentBuilder::coding_prompt`].
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Begins with haft's coding prompt, which names the workspace.
    #[must_use]
    pub fn coding_prompt(mut self) -> Self {
        self.has_coding_prompt = true;
        self.settings.instructions.base = BasePrompt::Coding;
        self
    }

    /// Asks the model at most this often for one prompt.
    #[must_use]
    pub fn max_steps(mut self, steps: u32) -> Self {
        self.settings.max_steps = steps;
        self
    }

    /// Wants a final answer that fits this schema.
    #[must_use]
    pub fn output_schema(mut self, schema: OutputSchema) -> Self {
        self.settings.output = Some(schema);
        self
    }

    /// Changes any other setting of the loop.
    #[must_use]
    pub fn settings(mut self, change: impl FnOnce(&mut AgentSettings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Writes what is said and done to this record before anything follows from it.
    #[must_use]
    pub fn record(mut self, record: impl Record + 'static) -> Self {
        self.record = Some(Box::new(record));
        self
    }

    /// Makes the agent. Nothing is sent before the first prompt.
    ///
    /// # Errors
    ///
    /// Fails when no model was given, the workspace cannot be opened, there are instructions beside the coding prompt, or
    /// there is an opened toolbox and tools that are not in it.
    pub fn build(self) -> Result<Agent, OpenError> {
        let Self { toolbox, is_configured, opened, model, mut settings, instructions, has_coding_prompt, record } =
            self;
        let model = model.ok_or_else(|| anyhow::anyhow!("an agent needs a model: Agent::builder().model(…)"))?;
        if has_coding_prompt && instructions.is_some() {
            let why = "an agent has instructions(…) or coding_prompt(), not both; remove one of them";
            return Err(anyhow::anyhow!(why).into());
        }
        let toolbox = match opened {
            Some(opened) => {
                check_has_no_tools(&toolbox)?;
                if is_configured {
                    return Err(configured_in_vain());
                }
                opened
            }
            None => toolbox.without_built_in_tools().build()?,
        };
        match instructions {
            Some(text) => {
                settings.instructions = Instructions { base: BasePrompt::Own(text), ..Instructions::default() }
            }
            None if settings.instructions.workspace.is_none() => {
                settings.instructions.workspace = Some(toolbox.host().workspace.display().to_string());
            }
            None => {}
        }
        let record = record.unwrap_or_else(|| Box::new(NoRecord));
        Ok(Agent {
            toolbox,
            model,
            settings,
            messages: Mutex::default(),
            listeners: std::sync::Mutex::default(),
            record,
        })
    }
}

/// Refuses tools of a second toolbox beside the opened one.
fn check_has_no_tools(described: &ToolboxBuilder) -> Result<(), OpenError> {
    let tools = described.tool_names();
    if !tools.is_empty() {
        return Err(OpenError::from(anyhow::anyhow!(
            "an agent with toolbox(…) has the tools of that toolbox only, and {} {} given to the agent; add the tool to the \
             toolbox: Toolbox::builder().tool(…)",
            tools.join(", "),
            if tools.len() == 1 { "was" } else { "were" }
        )));
    }
    Ok(())
}

fn configured_in_vain() -> OpenError {
    OpenError::from(anyhow::anyhow!(
        "configure(…) changes nothing of an opened toolbox; leave it out, and configure what toolbox(…) gets: \
         Toolbox::builder()"
    ))
}
