//! Marks the parts of a command that need the yes of a question.

use haft_contract::effect::{CommandLine, Effect};
use haft_policy::decision::Class;

use crate::asking::approval::{AskedCommand, AskedPart};
use crate::confining::containment::CommandContainment;
use crate::redaction::redact::Redactor;

/// Returns the command that the effects speak of, its parts marked, secrets hidden.
pub(super) fn command(
    effects: &[Effect],
    open: &[(&Effect, Class)],
    (around, redactor): (&CommandContainment, &Redactor),
) -> Option<AskedCommand> {
    let text = effects.iter().find_map(|effect| match effect {
        Effect::Run(CommandLine(text)) => Some(text.as_str()),
        _ => None,
    })?;
    let parts = open.iter().filter_map(|(effect, class)| match effect {
        Effect::Step(step) if *step.command == *text => Some((step.part, *class)),
        Effect::Run(_) => Some(((0, text.len()), *class)),
        _ => None,
    });
    let mut marked: Vec<AskedPart> = Vec::new();
    let shown = redactor.redact(text);
    for ((from, to), class) in parts {
        let bytes = if shown == text { Some(from..to) } else { found_again(text.get(from..to), &shown, redactor) };
        // What cannot be found is everywhere.
        let bytes = bytes.filter(|bytes| shown.get(bytes.clone()).is_some()).unwrap_or(0..shown.len());
        match marked.iter_mut().find(|part| part.bytes == bytes) {
            Some(part) => part.class = part.class.max(class),
            None => marked.push(AskedPart { bytes, class }),
        }
    }
    marked.sort_by_key(|part| (part.bytes.start, part.bytes.end));
    Some(AskedCommand { text: shown.into_owned(), parts: marked, around: around.line(effects) })
}

/// Finds a part in the text from which secrets are hidden; nothing where it is not there exactly once.
fn found_again(part: Option<&str>, shown: &str, redactor: &Redactor) -> Option<std::ops::Range<usize>> {
    let part = redactor.redact(part?).into_owned();
    let mut places = shown.match_indices(part.as_str());
    let (start, _) = places.next()?;
    places.next().is_none().then_some(start..start + part.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::effect::{CommandStep, StepEffect};

    fn marked(text: &str, parts: &[(&str, Class)], redactor: &Redactor) -> Vec<(String, Class)> {
        let step = |part: &str| {
            let from = text.find(part).expect("it is a part");
            let (command, part) = (text.into(), (from, from + part.len()));
            Effect::Step(CommandStep {
                command,
                folder: "".into(),
                part,
                words: [].into(),
                does: StepEffect::Code("run code".into()),
            })
        };
        let steps: Vec<(Effect, Class)> = parts.iter().map(|(part, class)| (step(part), *class)).collect();
        let open: Vec<(&Effect, Class)> = steps.iter().map(|(effect, class)| (effect, *class)).collect();
        let around = CommandContainment::SEALED;
        let run = [Effect::Run(CommandLine(text.into()))];
        let command = command(&run, &open, (&around, redactor)).expect("there is one");
        command.parts.iter().map(|part| (command.text[part.bytes.clone()].to_owned(), part.class)).collect()
    }

    #[test]
    fn parts_are_marked_in_the_order_of_the_text_with_the_stricter_class() {
        let asked = [("rm b", Class::Ordinary), ("make", Class::Ordinary), ("rm b", Class::Dangerous)];
        let parts = marked("make; ls; rm b", &asked, &Redactor::default());
        assert_eq!(parts, [("make".to_owned(), Class::Ordinary), ("rm b".to_owned(), Class::Dangerous)]);
    }

    #[test]
    fn a_hidden_secret_moves_the_marks_or_marks_everything() {
        let redactor = Redactor::of_values(["hunter2hunter2".to_owned()]);
        let text = "echo hunter2hunter2; make; echo hunter2hunter2";
        let parts = marked(text, &[("make", Class::Ordinary)], &redactor);
        assert_eq!(parts, [("make".to_owned(), Class::Ordinary)]);
        let parts = marked(text, &[("echo hunter2hunter2", Class::Ordinary)], &redactor);
        assert_eq!(parts, [("echo [secret]; make; echo [secret]".to_owned(), Class::Ordinary)]);
    }
}
