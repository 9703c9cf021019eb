//! The rule that a person could put into `rules.toml` so that a question never comes again.
//!
//! It is text for a person to read, change and paste, as narrow as the words of the command allow: haft itself never
//! writes a rule. There is none where a rule would allow far more than what was asked, and none that would not be
//! accepted or would not help: that is tried.
//!
//! Not here: reading such files.

#[cfg(test)]
mod tests;

use haft::effect::{Does, Effect, Step};
use haft::path::Target;

use crate::decision::Decision;
use crate::policy::{Policy, Situation};
use crate::rule::{EffectSort, Rule};
use crate::rules::draft::{Draft, Known};
use crate::rules::examples::Reader;

/// What the rules say of themselves.
const REASON: &str = "Allowed after it was asked about.";
/// Most rules for one command.
const MOST_RULES: usize = 3;

/// Programs that take any code as words: a rule about one of them names what it runs.
const INTERPRETERS: &[&str] = &[
    "ash",
    "awk",
    "bash",
    "bun",
    "dash",
    "deno",
    "env",
    "fish",
    "gawk",
    "ksh",
    "lua",
    "mawk",
    "node",
    "nodejs",
    "npx",
    "osascript",
    "perl",
    "php",
    "pwsh",
    "python",
    "python2",
    "python3",
    "ruby",
    "sh",
    "uvx",
    "xargs",
    "zsh",
];

/// Operands behind which stands what is really run.
const RUNS_NEXT: &[&str] = &["run", "run-script", "exec", "x", "dlx"];

/// Returns the rules that would have answered everything that is open about a call, as text for `rules.toml`.
pub fn rule_to_paste(policy: &Policy, (tool, effects): (&str, &[Effect]), situation: Situation<'_>) -> Option<String> {
    let open = policy.open_questions(tool, effects, situation);
    let sketches = sketches(open.iter().map(|(effect, _)| *effect))?;
    let rules: Vec<Rule> = sketches.iter().map(Sketch::rule).collect::<Option<_>>()?;
    let helped = policy.clone().with_rules(rules).judge(tool, effects, situation);
    let text = || sketches.iter().map(Sketch::text).collect::<Vec<_>>().join("\n");
    (helped.decision == Decision::Allow).then(text)
}

/// Returns the rules that these effects need, one for each program; nothing where there are none or too many.
fn sketches<'a>(open: impl Iterator<Item = &'a Effect>) -> Option<Vec<Sketch>> {
    let mut rules: Vec<Sketch> = Vec::new();
    for effect in open {
        let Effect::Step(step) = effect else { return None };
        let sketch = Sketch::of(step)?;
        match rules.iter_mut().find(|rule| rule.program == sketch.program) {
            Some(rule) => rule.also(sketch)?,
            None => rules.push(sketch),
        }
    }
    (1..=MOST_RULES).contains(&rules.len()).then_some(rules)
}

/// A rule about one program.
#[derive(Debug, PartialEq, Eq)]
struct Sketch {
    program: String,
    path: Option<String>,
    host: Option<String>,
    example: String,
}

impl Sketch {
    fn of(step: &Step) -> Option<Self> {
        if !may_be_allowed(EffectSort::of_step(&step.does)) {
            return None;
        }
        let (path, host) = match &step.does {
            Does::Change(target, _) | Does::Read(target) | Does::List(target) => (Some(shown(target)?), None),
            Does::Connect(Some(host)) => (None, Some(host.0.clone())),
            // A program that changes whatever it finds is allowed by nothing that could be written down.
            Does::ChangeUnknown(_) | Does::ReadUnknown => return None,
            _ => (None, None),
        };
        let example = step.command.get(step.part.0..step.part.1)?.trim().to_owned();
        let is_one_line = !example.is_empty() && !example.contains('\n');
        is_one_line.then_some(Sketch { program: program(&step.words)?, path, host, example })
    }

    /// Takes in another thing that the same program does. One rule names one path and one host.
    fn also(&mut self, other: Sketch) -> Option<()> {
        let fits = |own: &mut Option<String>, others: Option<String>| match (own.as_ref(), others) {
            (Some(own), Some(others)) => *own == others,
            (None, Some(others)) => {
                *own = Some(others);
                true
            }
            (_, None) => true,
        };
        (fits(&mut self.path, other.path) && fits(&mut self.host, other.host)).then_some(())
    }

    /// Returns the rule as it will be when the text is read; nothing where it would be a mistake.
    fn rule(&self) -> Option<Rule> {
        let draft = Draft {
            name: Some(self.name()),
            decision: Some("allow".to_owned()),
            reason: Some(REASON.to_owned()),
            program: Some(self.program.clone()),
            path: self.path.clone(),
            host: self.host.clone(),
            matches: Some(vec![self.example.clone()]),
            ..Draft::default()
        };
        let reader = Reader::default();
        draft.check(Known { tools: &[], home: reader.home, reader }).ok().map(|written| written.rule)
    }

    fn text(&self) -> String {
        let mut lines = vec![
            "[[rule]]".to_owned(),
            format!("name = {}", quoted(&self.name())),
            "decision = \"allow\"".to_owned(),
            format!("reason = {}", quoted(REASON)),
            format!("program = {}", quoted(&self.program)),
        ];
        lines.extend(self.path.as_ref().map(|path| format!("path = {}", quoted(path))));
        lines.extend(self.host.as_ref().map(|host| format!("host = {}", quoted(host))));
        lines.push(format!("matches = [{}]", quoted(&self.example)));
        lines.join("\n") + "\n"
    }

    fn name(&self) -> String {
        let of = |word: &str, name: &Option<String>| name.as_ref().map(|name| format!(" {word} {name}"));
        let (path, host) = (of("at", &self.path), of("to", &self.host));
        format!("allow {}{}{}", self.program, path.unwrap_or_default(), host.unwrap_or_default())
    }
}

/// An allow rule answers ordinary questions about what is understood.
fn may_be_allowed(sort: EffectSort) -> bool {
    matches!(
        sort,
        EffectSort::CommandReadsElsewhere
            | EffectSort::CommandCreatesInside
            | EffectSort::CommandChangesInside
            | EffectSort::CommandRemovesInside
            | EffectSort::CommandChangesTemporary
            | EffectSort::CommandConnects
            | EffectSort::CommandPublishes
            | EffectSort::CommandRunsCode
            | EffectSort::CommandRunsUnknownProgram
            | EffectSort::CommandChangesHistory
    )
}

/// A path in a rule is a pattern: one with signs of patterns in it would mean something else.
fn shown(target: &Target) -> Option<String> {
    let path = target.place().path().to_str()?;
    let is_plain = !path.is_empty() && !path.contains(['*', '?', '[', ']', '{', '}', '!', '\\', '#']);
    is_plain.then(|| if target.is_inside() { format!("/{path}") } else { path.to_owned() })
}

/// Returns the program with the operands that say what of it is meant: `cargo test`, `npm run build`.
fn program(words: &[String]) -> Option<String> {
    let (name, operands) = words.split_first()?;
    let is_plain = |word: &&String| is_plain_word(word);
    Some(name).filter(is_plain)?;
    let mut named = vec![name.as_str()];
    let leading = operands.first().filter(is_plain);
    named.extend(leading.map(String::as_str));
    if leading.is_some_and(|operand| RUNS_NEXT.contains(&operand.as_str())) {
        named.push(operands.get(1).filter(is_plain)?);
    }
    let is_too_wide = INTERPRETERS.contains(&name.as_str()) && named.len() < 2;
    (!is_too_wide).then(|| named.join(" "))
}

fn is_plain_word(word: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@+".contains(c);
    !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain)
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
