//! Takes the reports of the worker, and shows them.

use std::time::Instant;

use haft_runtime::asking::approval::Verdict;

use super::activity::ModelDoes;
use super::{App, QuestionDialog};
use haft_contract::doors::user_questions::UserAnswer;

use crate::terminal::drawing::painted::{Ink, paint};
use crate::terminal::protocol::{
    Idle, ModelReport, Reply, RewindScope, ScreenQuestion, ScreenQuestionSubject, StartupFacts, WorkerReport,
};
use crate::terminal::question_body::question_body;
use haft_host::calling::user_questions::question_rows;

/// Most lines of a preview in a question.
const MOST_LINES: usize = 40;

impl App {
    /// Takes a report.
    pub(in crate::terminal) fn hear(&mut self, report: WorkerReport, now: Instant) {
        match report {
            WorkerReport::Found(found) => self.found(*found),
            WorkerReport::Model(model) => {
                self.use_model(model);
                self.use_what_waited_for_model(now);
            }
            known @ (WorkerReport::Files(_)
            | WorkerReport::UserCommands(_)
            | WorkerReport::Sessions(_)
            | WorkerReport::Preview(..)
            | WorkerReport::Points(_)
            | WorkerReport::Typed(_)
            | WorkerReport::Session(_)
            | WorkerReport::Restored(..)) => self.learn(known),
            WorkerReport::Step => {
                self.end_text();
                self.activity.model_does(ModelDoes::Awaited, now);
            }
            WorkerReport::Text(text) => {
                self.activity.model_does(ModelDoes::Talks, now);
                let lines = self.markdown.push(&text, self.columns);
                self.finished.extend(lines);
            }
            WorkerReport::Thinking(characters) => self.activity.thinks(characters, now),
            WorkerReport::Writing(tool) => {
                self.end_text();
                self.activity.model_does(ModelDoes::Writes { tool, bytes: 0 }, now);
            }
            WorkerReport::Arguments(bytes) => self.activity.writes(bytes),
            WorkerReport::Again(at, why) => {
                self.activity.model_does(ModelDoes::Nothing, now);
                self.activity.model_does(ModelDoes::Again { why, at }, now);
            }
            WorkerReport::Replied { context, total, cost } => {
                self.end_text();
                self.activity.model_does(ModelDoes::Nothing, now);
                (self.status.context, self.status.tokens, self.status.cost) = (context, total, cost);
            }
            WorkerReport::Steered(id) => self.steered(id),
            WorkerReport::CallBegan(call) => self.activity.call_began(call, now),
            WorkerReport::CallEnded { id, lines, whole } => {
                self.activity.call_ended(&id);
                self.finished.extend(lines);
                self.last_result = whole.or_else(|| self.last_result.take());
            }
            WorkerReport::Question(asked) => self.ask(asked),
            WorkerReport::Withdrawn(id) => self.withdraw(id),
            WorkerReport::Lines(lines) => self.finished.extend(lines),
            WorkerReport::Note(text) => self.say(&text),
            WorkerReport::Warn(text) => self.print(paint(Ink::Bad, &text)),
            WorkerReport::Idle(how) => self.idle(how, now),
        }
    }

    /// Takes what can be typed and chosen from now on.
    fn learn(&mut self, report: WorkerReport) {
        match report {
            WorkerReport::Files(files) => {
                self.known.files = files;
                self.refresh_menu();
            }
            WorkerReport::UserCommands(commands) => {
                self.known.own = commands;
                self.refresh_menu();
            }
            WorkerReport::Sessions(sessions) => {
                self.previews.clear();
                self.known.sessions = sessions;
            }
            WorkerReport::Preview(id, lines) => _ = self.previews.insert(id, lines),
            WorkerReport::Points(points) => self.known.points = points,
            WorkerReport::Typed(text) => self.type_again(&text),
            WorkerReport::Session(id) => self.status.session = Some(id),
            WorkerReport::Restored(queue, draft) => {
                self.next_id = queue.iter().map(|queued| queued.id).max().unwrap_or(0).max(self.next_id);
                self.restored_up_to = self.next_id;
                self.queue = queue;
                if self.editor.is_empty() {
                    self.editor.set(&draft);
                }
            }
            // Everything else is something that happens.
            _ => {}
        }
    }

    /// Puts a text into the input, in front of what is typed.
    fn type_again(&mut self, text: &str) {
        let typed = self.editor.take();
        let gap = if typed.is_empty() { "" } else { "\n" };
        self.editor.set(&format!("{text}{gap}{typed}"));
        self.refresh_menu();
    }

    fn idle(&mut self, how: Idle, now: Instant) {
        self.end_text();
        let was_stopped = self.activity.is_stopping;
        self.activity.end();
        match how {
            Idle::Stopped if !was_stopped => self.return_queued(),
            Idle::Done | Idle::Stopped => self.start_queued(now),
        }
    }

    /// Prints what is left of the model's text.
    pub(in crate::terminal) fn end_text(&mut self) {
        let lines = self.markdown.finish(self.columns);
        self.finished.extend(lines);
    }

    fn steered(&mut self, id: u64) {
        if let Some(index) = self.queue.iter().position(|queued| queued.id == id) {
            let queued = self.queue.remove(index);
            self.print_typed(&queued.text);
        }
    }

    /// The first screen: what was found, and what to type.
    fn found(&mut self, found: StartupFacts) {
        self.known.tools = found.tools;
        self.known.sessions = found.sessions;
        self.print(paint(Ink::Strong, "haft"));
        self.print(fact("project", &found.workspace));
        self.print(fact("sandbox", &found.sandbox));
        if found.changes > 0 {
            let sets =
                if found.changes == 1 { "1 change set".to_owned() } else { format!("{} change sets", found.changes) };
            self.print(fact("undo", &format!("{sets} recorded here: /log shows them, /undo undoes the last one")));
        }
    }

    fn use_model(&mut self, model: ModelReport) {
        let is_first = self.status.model.is_none();
        match &model {
            ModelReport::Is { name, from, .. } => {
                self.print(fact("model", &format!("{name} at {from}")));
                if is_first {
                    self.print(hint("type", "a task, / for commands, @ for files, ! for a command of your own"));
                }
            }
            ModelReport::None(why) => {
                self.print(fact("model", &format!("none: {why}")));
                if is_first {
                    self.print(hint("type", "read_file path=README.md, or !ls, or / for commands; Tab completes"));
                }
            }
        }
        self.known.has_model = matches!(model, ModelReport::Is { .. });
        self.status.model = Some(model);
    }

    /// Sends what was typed while haft looked for a model. What waited when the session was left waits on.
    fn use_what_waited_for_model(&mut self, now: Instant) {
        let typed_now = self.queue.iter().position(|queued| queued.id > self.restored_up_to);
        match (typed_now, self.has_model()) {
            _ if self.activity.is_busy() => {}
            (None, _) => {}
            (Some(index), true) => self.start_one(index, now),
            (Some(_), false) => self.return_queued(),
        }
    }

    fn ask(&mut self, asked: ScreenQuestion) {
        self.end_text();
        let is_first = self.questions.is_empty();
        self.questions.push_back(QuestionDialog::new(asked, 0));
        if is_first && self.editing.is_none() {
            self.show_question(MOST_LINES);
        }
    }

    /// Shows what the first question is about, above the answers.
    pub(super) fn show_question(&mut self, most_lines: usize) {
        let Some(question) = self.questions.front_mut() else { return };
        let (lines, folded) = match &question.asked.about {
            ScreenQuestionSubject::Call(request) => question_body(request, (self.columns, self.colours), most_lines),
            ScreenQuestionSubject::Plan { .. } | ScreenQuestionSubject::Rewind { .. } => return,
            ScreenQuestionSubject::User { question, count } => {
                let rows = question_rows(question, *count, self.columns);
                (rows.into_iter().map(|row| paint(Ink::Plain, &row)).collect(), 0)
            }
            ScreenQuestionSubject::Circle { tool, times } => {
                let words = format!(
                    "The model called {tool} {times} times in the same way with the same result, and nothing else changed."
                );
                (vec![paint(Ink::Plain, &words)], 0)
            }
        };
        question.folded = folded;
        self.finished.push(String::new());
        self.finished.extend(lines);
    }

    pub(super) fn show_all_of_question(&mut self) {
        self.show_question(usize::MAX);
    }

    fn withdraw(&mut self, id: u64) {
        let was_first = self.questions.front().is_some_and(|question| question.asked.id == id);
        self.questions.retain(|question| question.asked.id != id);
        if self.editing.as_ref().is_some_and(|question| question.asked.id == id) {
            self.editing = None;
            self.hint = Some("The question was withdrawn.".to_owned());
        }
        if was_first {
            self.show_next_question();
        }
    }

    fn show_next_question(&mut self) {
        if !self.questions.is_empty() && self.editing.is_none() {
            self.show_question(MOST_LINES);
        }
    }

    pub(super) fn print_answer(&mut self, reply: &Reply) {
        let words = match reply {
            Reply::Verdict(Verdict::AllowOnce) => "yes".to_owned(),
            Reply::Verdict(Verdict::AllowFor(scope)) => {
                format!("yes, and don't ask again for {}", scope.without_text())
            }
            Reply::Verdict(Verdict::Refuse { note: Some(note) }) => format!("no: {note}"),
            Reply::Verdict(Verdict::StopTurn) => "no, and stop".to_owned(),
            Reply::Verdict(_) => "no".to_owned(),
            Reply::Always => "always".to_owned(),
            Reply::GoOn => "yes, let it continue".to_owned(),
            Reply::User(UserAnswer::Chosen(labels)) => labels.join(", "),
            Reply::User(UserAnswer::Words(words)) => words.clone(),
            Reply::User(UserAnswer::Yes) => "yes".to_owned(),
            Reply::User(UserAnswer::No) => "no".to_owned(),
            Reply::User(UserAnswer::Skipped) => "no answer".to_owned(),
            Reply::Dismissed => "dismissed".to_owned(),
            Reply::Rewind(RewindScope::Both) => "files and conversation".to_owned(),
            Reply::Rewind(RewindScope::Files) => "files only".to_owned(),
            Reply::Rewind(RewindScope::Conversation) => "conversation only".to_owned(),
            Reply::Instead(_) => return,
        };
        self.print(paint(Ink::Faint, &format!("  → {words}")));
        self.show_next_question();
    }
}

pub(super) fn fact(name: &str, value: &str) -> String {
    format!("{}{}", paint(Ink::Faint, &format!("{name:<9}")), paint(Ink::Plain, value))
}

fn hint(name: &str, value: &str) -> String {
    format!("{}{}", paint(Ink::Faint, &format!("{name:<9}")), paint(Ink::Name, value))
}
