//! The messages between the screen and the worker: orders to the worker, reports to the screen.
//!
//! The screen has its own thread, so it shows a key immediately, whatever the worker does.

use std::time::Duration;

use haft_contract::doors::user_questions::{UserAnswer, UserQuestion};
use haft_policy::policy::Mode;
use haft_runtime::asking::approval::{ApprovalRequest, Verdict};
use serde_json::Value;
use std::sync::Arc;

use super::input::call_line::CallLine;
use super::tool_facts::ToolFacts;

/// An order of the screen.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Order {
    /// A message for the model.
    Prompt(String),
    /// A command of the person's own, as it was typed.
    UserCommand(String),
    /// A call by the person.
    Call(CallLine),
    /// A command of the person, run as the model's would be.
    Shell(String),
    /// A subcommand of haft, whose output is shown.
    Haft(Vec<String>),
    /// The same, first as a plan; it is done after a yes.
    Confirmed(Vec<String>),
    /// A subcommand of haft whose output is a message for the model, after a yes.
    ServerPrompt(Vec<String>),
    /// A message for the model at its next step, while it works.
    Queue(WaitingMessage),
    /// Withdraws such a message.
    Unqueue(u64),
    /// Stops what runs.
    Stop,
    /// Answers a question.
    Answer(u64, Reply),
    /// What happens to changes from now on.
    Mode(Mode),
    /// Which questions are answered with yes from now on.
    Yes(Yes),
    /// Another model.
    Model(String),
    /// Begins a new conversation.
    Clear,
    /// Continues a session.
    Resume(String),
    /// Shows what a session is about, before it is continued.
    Preview(String),
    /// Goes back to before this message of the conversation, counted from 1.
    Rewind(usize),
    /// Names the conversation.
    Name(String),
    /// Writes the conversation to a file.
    Export(Option<String>),
    /// A call of a tool by haft's own name, with these arguments.
    NativeCall(&'static str, Value),
    /// Keeps what is typed and not sent. The second value exists until that is done.
    Draft(String, Arc<()>),
    /// Gives the terminal back to the shell until the shell resumes haft.
    Suspend,
    Quit,
}

/// Whether ordinary questions are answered with yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Yes {
    Asked = 0,
    ToUndoable = 1,
    ToAll = 2,
}

/// A message that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WaitingMessage {
    pub(super) id: u64,
    pub(super) text: String,
    pub(super) when: MessageDelivery,
}

/// The moment at which a waiting message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageDelivery {
    /// At the model's next step.
    NextStep,
    /// After the turn.
    AfterTurn,
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    /// One of the answers that every approver gives.
    Verdict(Verdict),
    /// Yes, and the hosts are added to the user's settings.
    Always,
    /// No: the person makes another call instead, and the model gets its result.
    Instead(CallLine),
    /// To a model that repeats itself: it may continue.
    GoOn,
    /// To a question of the model.
    User(UserAnswer),
    /// The questions of the model are not answered.
    Dismissed,
    /// To a plan to go back: what goes back.
    Rewind(RewindScope),
}

/// What goes back to an earlier point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RewindScope {
    Both,
    Files,
    Conversation,
}

/// A question for the person at the screen.
#[derive(Clone, Debug)]
pub(super) struct ScreenQuestion {
    pub(super) id: u64,
    pub(super) about: ScreenQuestionSubject,
}

/// The subject of a question.
#[derive(Clone, Debug)]
pub(super) enum ScreenQuestionSubject {
    /// A call.
    Call(Arc<ApprovalRequest>),
    /// A model that calls the same tool again and again.
    Circle { tool: String, times: u32 },
    /// A question of the model, with its number and how many there are.
    User { question: Arc<UserQuestion>, count: (usize, usize) },
    /// Something that the person asked for and has seen the plan of.
    Plan { does: String },
    /// Going back in the conversation, of which the person has seen the plan.
    Rewind { change_sets: usize, messages: usize },
}

/// A report of the worker.
#[derive(Clone, Debug)]
pub(super) enum WorkerReport {
    /// The facts that haft found at the start.
    Found(Box<StartupFacts>),
    /// Which model is used, or why none is.
    Model(ModelReport),
    /// The files of the workspace.
    Files(Vec<String>),
    /// The commands of the user and the project, with what they take and do.
    UserCommands(Vec<UserCommandFacts>),
    /// Conversations by their IDs, with when they were used and how they began.
    Sessions(Vec<(String, String)>),
    /// What a session is about.
    Preview(String, Vec<String>),
    /// The messages to which the person can go back, numbered from 1, with what was changed since.
    Points(Vec<(String, String)>),
    /// A text to be changed and sent again; what is typed stays.
    Typed(String),
    /// The model is asked.
    Step,
    /// More of the model's text.
    Text(String),
    /// More of what the model thinks, in characters.
    Thinking(usize),
    /// The model writes a call of this tool.
    Writing(String),
    /// More of the arguments of a call, in bytes.
    Arguments(usize),
    /// The provider is asked again.
    Again(Duration, String),
    /// A reply is whole: how many tokens its request had, and what all have cost since the beginning.
    Replied { context: u64, total: u64, cost: Option<String> },
    /// A waiting message was given to the model.
    Steered(u64),
    /// A call runs.
    CallBegan(RunningCall),
    /// A call has ended: what is shown of it, and all of its result where that is more.
    CallEnded { id: String, lines: Vec<String>, whole: Option<String> },
    /// A question.
    Question(ScreenQuestion),
    /// A question needs no answer any more.
    Withdrawn(u64),
    /// Finished text, painted.
    Lines(Vec<String>),
    /// A remark of haft.
    Note(String),
    /// A remark about a protection that does not hold.
    Warn(String),
    /// The session, once there is one.
    Session(String),
    /// The waiting messages and the unsent input of a session that was left.
    Restored(Vec<WaitingMessage>, String),
    /// Everything that was asked for is done.
    Idle(Idle),
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Idle {
    Done,
    /// The person stopped it, or it failed: haft does not send waiting messages.
    Stopped,
}

/// A call that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunningCall {
    pub(super) id: String,
    /// What it is called: `Tool(read_file)`, `MCP(server/tool)`.
    pub(super) title: String,
    pub(super) about: String,
}

/// A command of the user or of the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UserCommandFacts {
    pub(super) name: String,
    pub(super) about: String,
    /// The arguments that it takes.
    pub(super) takes: Option<String>,
}

/// The facts that haft finds at the start.
#[derive(Clone, Debug, Default)]
pub(super) struct StartupFacts {
    pub(super) workspace: String,
    pub(super) sandbox: String,
    pub(super) tools: Vec<ToolFacts>,
    /// Conversations by their IDs, with when they were used and how they began.
    pub(super) sessions: Vec<(String, String)>,
    /// How many change sets of the project are recorded, undone ones and undos among them.
    pub(super) changes: usize,
}

/// The model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ModelReport {
    /// This one, from there.
    Is { name: String, from: String, window: u64 },
    /// None, and why.
    None(String),
}
