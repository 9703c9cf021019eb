//! Shows a question as a form: the planned effects, the reason for the question, and the possible answers.

use std::borrow::Cow;

use haft_contract::plan::{FileDiff, Preview};
use haft_contract::text::visible::visible;
use haft_runtime::asking::approval::{ApprovalRequest, Verdict};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value, json};

/// Most lines of a preview.
const MOST_LINES: usize = 60;
/// Most characters of the whole question.
const LONGEST: usize = 8_000;
/// Longest word for the model, in characters.
const LONGEST_NOTE: usize = 500;

/// The answer that holds always.
const ALWAYS: &str = "always";

/// How the answers of a list have titles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Titles {
    /// In a list of their own, as up to 2025-06-18.
    Apart,
    /// Beside each answer.
    Beside,
}

/// Whether an answer can be written to the user's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Always {
    Offered,
    NotOffered,
}

/// Puts a question.
pub(super) fn params(request: &ApprovalRequest, (titles, always): (Titles, Always)) -> ElicitRequestParams {
    let once = ("yes".to_owned(), "Yes, this once".to_owned());
    form(message(request), schema([once].into_iter().chain(for_longer(request, always)), titles))
}

/// Puts a question that came up while the call ran, before it runs again. Only answers for longer are offered: nothing
/// waits yet that "once" could mean.
pub(super) fn params_before_the_next_run(request: &ApprovalRequest, always: Always) -> ElicitRequestParams {
    let before = "This call ran before and was refused a connection. It is asked about before the call runs again.";
    form(format!("{before}\n{}", message(request)), schema(for_longer(request, always), Titles::Beside))
}

pub(super) fn form(message: String, schema: Map<String, Value>) -> ElicitRequestParams {
    let requested_schema = ElicitationSchema::from_json_schema(schema).unwrap_or_else(|_| {
        // A list of texts is always one; without answers there is only no.
        ElicitationSchema::new(Default::default())
    });
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema }
}

/// Returns whether an answer shall hold always.
pub(super) fn is_always(answer: &ElicitResult) -> bool {
    let said = answer.content.as_ref().and_then(|content| content.get("answer")?.as_str());
    answer.action == ElicitationAction::Accept && said == Some(ALWAYS)
}

/// Reads the answer. What is not clearly a yes is a no.
pub(super) fn verdict(request: &ApprovalRequest, answer: &ElicitResult) -> Verdict {
    let refuse = |note: Option<&str>| Verdict::Refuse { note: note.map(str::to_owned) };
    match answer.action {
        ElicitationAction::Accept => {}
        ElicitationAction::Decline => return refuse(None),
        // Whatever else there may be one day, it is not a yes.
        _ => return refuse(Some("the question was dismissed without an answer")),
    }
    let field = |name: &str| answer.content.as_ref()?.get(name)?.as_str();
    let note: Option<String> = field("note").map(|note| note.trim().chars().take(LONGEST_NOTE).collect());
    let note = note.filter(|note| !note.is_empty());
    match field("answer") {
        Some("yes") => Verdict::AllowOnce,
        Some("no") => refuse(note.as_deref()),
        chosen => {
            let number = chosen.and_then(|chosen| chosen.strip_prefix("yes-")?.parse::<usize>().ok());
            match number.and_then(|number| request.offers.get(number.checked_sub(1)?)) {
                Some(offer) => Verdict::AllowFor(offer.scope.clone()),
                None => refuse(Some("the answer was not one of those offered")),
            }
        }
    }
}

/// The answers that hold for longer than a call, each with its title.
fn for_longer(request: &ApprovalRequest, always: Always) -> impl Iterator<Item = (String, String)> {
    let offers = request.offers.iter().zip(1..).map(|(offer, number)| {
        (format!("yes-{number}"), format!("Yes, and don't ask again for {}", one_line(&offer.words)))
    });
    let always = request.always().filter(|_| always == Always::Offered);
    offers.chain(always.map(|words| (ALWAYS.to_owned(), format!("Yes, always: {}", one_line(&words)))))
}

fn schema(yes: impl Iterator<Item = (String, String)>, titles: Titles) -> Map<String, Value> {
    let mut answers: Vec<(String, String)> = yes.collect();
    answers.push(("no".to_owned(), "No".to_owned()));
    let mut answer = json!({ "type": "string", "title": "Your answer" });
    match titles {
        Titles::Apart => {
            let (values, names): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
            answer["enum"] = json!(values);
            answer["enumNames"] = json!(names);
        }
        Titles::Beside => {
            let one = |(value, title): (String, String)| json!({ "const": value, "title": title });
            answer["oneOf"] = answers.into_iter().map(one).collect();
        }
    }
    let note = json!({ "type": "string", "title": "A message for the model, with a no", "maxLength": LONGEST_NOTE });
    let schema = json!({
        "type": "object",
        "properties": { "answer": answer, "note": note },
        "required": ["answer"],
    });
    schema.as_object().cloned().unwrap_or_default()
}

/// Says what would be done and why it is asked. Only text that a person can see all of.
fn message(request: &ApprovalRequest) -> String {
    let mut lines = Vec::new();
    let (title, tool) = (one_line(&request.title), one_line(&request.tool));
    match &request.command {
        Some(command) => {
            lines.push(format!("{title} ({tool}) would run:"));
            lines.extend(indented(&command.text));
            lines.push("It would:".to_owned());
        }
        None => lines.push(format!("{title} ({tool}) would:")),
    }
    lines.extend(request.effects.iter().map(|effect| {
        let mark = if effect.is_dangerous() { "dangerous: " } else { "" };
        format!("- {mark}{}", one_line(&effect.words))
    }));
    lines.extend(request.besides.iter().map(|words| format!("- also {}", one_line(words))));
    if let Some(command) = &request.command {
        lines.push(format!("Protection: {}.", one_line(&command.around)));
    }
    lines.extend(preview(request));
    let ruling = &request.ruling;
    let why = format!("Why you are asked: the rule \"{}\". {}", one_line(&ruling.rule), one_line(&ruling.reason));
    // The reason is short; what stands before it may be cut.
    let room = LONGEST.saturating_sub(why.chars().count());
    let shown = lines.join("\n");
    match shown.char_indices().nth(room) {
        None => format!("{shown}\n{why}"),
        Some((end, _)) => {
            let left = shown[end..].chars().count();
            format!("{}\n[… {left} more characters are not shown]\n{why}", &shown[..end])
        }
    }
}

fn preview(request: &ApprovalRequest) -> Vec<String> {
    match &request.preview {
        Preview::Arguments => vec![format!("with {}", one_line(&request.arguments.to_string()))],
        Preview::Diff(files) => files.iter().flat_map(diff).collect(),
        // It is shown above, with everything else about the command.
        Preview::Command(_) => Vec::new(),
        Preview::Request(text) | Preview::Text(text) => indented(text),
    }
}

fn diff(file: &FileDiff) -> Vec<String> {
    let mut lines = vec![format!("{}:", one_line(&file.path))];
    lines.extend(file.diff.render(MOST_LINES).lines().map(|line| visible(line).into_owned()));
    lines.extend(file.notes.iter().map(|note| format!("({})", one_line(note))));
    lines
}

fn indented(text: &str) -> Vec<String> {
    let all = text.lines().count();
    let mut lines: Vec<String> = text.lines().take(MOST_LINES).map(|line| format!("  {}", visible(line))).collect();
    if all > MOST_LINES {
        lines.push(format!("  [… {} more lines]", all - MOST_LINES));
    }
    lines
}

pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    match visible(text) {
        shown if shown.contains(['\n', '\t']) => Cow::Owned(shown.replace(['\n', '\t'], " ")),
        shown => shown,
    }
}
