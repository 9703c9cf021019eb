//! Describes who wanted a call and what it does, as the journal keeps it for `haft log`.
//!
//! Every text passes the redactor before it is cut, so no half of a secret remains.

use haft_contract::call::CallOrigin;
use haft_contract::doors::door::Purpose;
use haft_contract::effect::Effect;
use haft_contract::files::path::one_line;

use crate::pipeline::call_context::CallContext;

/// Longest line that is kept, in characters.
const LONGEST: usize = 200;

/// Says what a call is for, by who makes it and by the effects that were planned.
pub(crate) fn of_call(cx: &CallContext<'_>, effects: &[Effect]) -> Purpose {
    let short = |text: &str| bounded(&one_line(&cx.session.ground.redactor.redact(text)));
    let command = effects.iter().find_map(|effect| match effect {
        Effect::Run(command) => Some(short(&command.0)),
        _ => None,
    });
    let description = if command.is_some() { None } else { described(effects).map(|text| short(&text)) };
    let agent = cx.session.agent().map_or_else(|| maker(cx.origin).to_owned(), |agent| short(&agent));
    Purpose { agent: Some(agent), command, description }
}

fn maker(origin: CallOrigin) -> &'static str {
    match origin {
        CallOrigin::Person => "person",
        CallOrigin::Script => "script",
        CallOrigin::Model => "model",
    }
}

/// Names the first change that was planned, and counts the others.
fn described(effects: &[Effect]) -> Option<String> {
    let mut changes = effects.iter().filter(|effect| matches!(effect, Effect::Change(..)));
    let first = changes.next()?;
    Some(match changes.count() {
        0 => first.to_string(),
        more => format!("{first} and {more} more"),
    })
}

fn bounded(line: &str) -> String {
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
