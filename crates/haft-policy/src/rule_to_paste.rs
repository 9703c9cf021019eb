//! The rule that a person could put into `rules.toml` to avoid the same question in future.
//!
//! It is text for a person to read, change and paste, as narrow as the words of the command allow: haft itself never
//! writes a rule. haft shows no rule that would allow far more than the question asked. It also tries each rule, and
//! shows none that it would not accept or that would not help.
//!
//! Not here: reading such files.

#[cfg(test)]
mod tests;

use haft_contract::effect::{CommandStep, Effect, StepEffect};
use haft_contract::files::path::Target;

use crate::decision::Decision;
use crate::effect_kind::EffectKind;
use crate::effect_kind::RuleAnswer;
use crate::policy::{Policy, Situation};
use crate::rule::Rule;
use crate::rules::draft::{Patterns, RuleCheckContext, RuleDraft};
use crate::rules::examples::ExampleReader;
use crate::rules::names::GAP;

/// What the rules say of themselves.
const REASON: &str = "Allowed after it was asked about.";
/// Most rules for one command.
const MOST_RULES: usize = 3;

/// Programs that take any code as words: a rule about one of them names what it runs. Without versions.
const INTERPRETERS: &[&str] = &[
    "awk",
    "bun",
    "deno",
    "gawk",
    "guile",
    "lua",
    "luajit",
    "mawk",
    "node",
    "nodejs",
    "npx",
    "osascript",
    "perl",
    "php",
    "pypy",
    "python",
    "ruby",
    "tclsh",
    "uvx",
];

/// Programs that run whatever other program their words name: no rule about one of them is narrow.
const WRAPPERS: &[&str] = &[
    "ash", "bash", "busybox", "bwrap", "chroot", "command", "dash", "doas", "entr", "env", "eval", "exec", "fd",
    "find", "fish", "flock", "ionice", "ksh", "nice", "nohup", "parallel", "pwsh", "script", "setsid", "sh", "ssh",
    "stdbuf", "strace", "su", "sudo", "taskset", "time", "timeout", "toybox", "watch", "xargs", "zsh",
];

/// Operands behind which stands what is really run.
const RUNS_NEXT: &[&str] = &["run", "run-script", "exec", "x", "dlx"];

/// Returns the rules that would have answered everything that is open about a call, as text for `rules.toml`.
pub fn rule_to_paste(policy: &Policy, (tool, effects): (&str, &[Effect]), situation: Situation<'_>) -> Option<String> {
    let open = policy.open_questions(tool, effects, situation);
    let open = || open.iter().map(|(effect, _)| *effect);
    let sketches = if changes_inside(open()) { vec![Sketch::of_changes(tool)] } else { sketches(open())? };
    let rules: Vec<Rule> = sketches.iter().map(Sketch::rule).collect::<Option<_>>()?;
    let helped = policy.clone().with_rules(rules).judge(tool, effects, situation);
    let text = || sketches.iter().map(Sketch::text).collect::<Vec<_>>().join("\n");
    (helped.decision == Decision::Allow).then(text)
}

/// Returns whether a tool itself, and not a command, would change files of the workspace, and there is nothing else.
fn changes_inside<'a>(open: impl Iterator<Item = &'a Effect>) -> bool {
    let mut sorts = open.map(EffectKind::of).peekable();
    sorts.peek().is_some() && sorts.all(|sort| sort == EffectKind::ChangeInside)
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

/// A rule about one program, or about what one tool changes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sketch {
    tool: Option<String>,
    effect: Option<&'static str>,
    program: Option<String>,
    path: Option<String>,
    host: Option<String>,
    example: Option<String>,
}

impl Sketch {
    /// About what a tool changes in the workspace, whichever file: a rule for one would be asked for again with the next.
    fn of_changes(tool: &str) -> Self {
        let effect = Some(EffectKind::ChangeInside.name());
        Sketch { tool: Some(tool.to_owned()), effect, ..Sketch::default() }
    }

    fn of(step: &CommandStep) -> Option<Self> {
        if EffectKind::of_step(&step.does).facts().written_rule != RuleAnswer::Offered {
            return None;
        }
        let (path, host) = match &step.does {
            StepEffect::Change(target, _) | StepEffect::Read(target) | StepEffect::List(target) => {
                (Some(shown(target)?), None)
            }
            StepEffect::Connect(Some(host)) => (None, Some(host.0.clone())),
            // A program that changes whatever it finds is allowed by nothing that could be written down.
            StepEffect::ChangeUnknown(_) | StepEffect::ReadUnknown => return None,
            _ => (None, None),
        };
        let example = step.command.get(step.part.0..step.part.1)?.trim().to_owned();
        let is_one_line = !example.is_empty() && !example.contains('\n');
        let (program, breadth) = match &step.does {
            // What leaves the machine is allowed as it was asked about, and to nowhere else.
            StepEffect::Publish(_) | StepEffect::Serve(_) | StepEffect::SendHere(_) => {
                (exactly(&step.words)?, Breadth::AsAsked)
            }
            _ => program(&step.words)?,
        };
        let is_narrow = breadth == Breadth::AsAsked || path.is_some() || host.is_some();
        let (program, example) = (Some(program), Some(example));
        (is_one_line && is_narrow).then_some(Sketch { program, path, host, example, ..Sketch::default() })
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
        let draft = RuleDraft {
            name: Some(self.name()),
            decision: Some("allow".to_owned()),
            reason: Some(REASON.to_owned()),
            tool: self.tool.clone().map(Patterns::from),
            effect: self.effect.map(Patterns::from),
            program: self.program.clone().map(Patterns::from),
            path: self.path.clone().map(Patterns::from),
            host: self.host.clone().map(Patterns::from),
            matches: self.example.clone().map(|example| vec![example]),
            ..RuleDraft::default()
        };
        let reader = ExampleReader::default();
        // The tool is one of them: it was called.
        let tools: Vec<String> = self.tool.iter().cloned().collect();
        draft.check(RuleCheckContext { tools: &tools, roots: reader.roots, reader }).ok().map(|written| written.rule)
    }

    fn text(&self) -> String {
        let mut lines = vec![
            "[[rule]]".to_owned(),
            format!("name = {}", quoted(&self.name())),
            "decision = \"allow\"".to_owned(),
            format!("reason = {}", quoted(REASON)),
        ];
        let effect = self.effect.map(str::to_owned);
        let keys = [
            ("tool", &self.tool),
            ("effect", &effect),
            ("program", &self.program),
            ("path", &self.path),
            ("host", &self.host),
        ];
        lines.extend(keys.iter().filter_map(|(key, value)| Some(format!("{key} = {}", quoted(value.as_ref()?)))));
        lines.extend(self.example.as_ref().map(|example| format!("matches = [{}]", quoted(example))));
        lines.join("\n") + "\n"
    }

    fn name(&self) -> String {
        let of = |word: &str, name: &Option<String>| name.as_ref().map(|name| format!(" {word} {name}"));
        let (path, host) = (of("at", &self.path), of("to", &self.host));
        let what = self.program.clone().or_else(|| self.tool.as_ref().map(|tool| format!("changes by {tool}")));
        format!("allow {}{}{}", what.unwrap_or_default(), path.unwrap_or_default(), host.unwrap_or_default())
    }
}

/// A path in a rule is a pattern: one with signs of patterns in it would mean something else.
fn shown(target: &Target) -> Option<String> {
    let path = target.place().path().to_str()?;
    let is_plain = !path.is_empty() && !path.contains(['*', '?', '[', ']', '{', '}', '!', '\\', '#']);
    // With a slash in front it would be meant at `/`, too.
    is_plain.then(|| if target.is_inside() { format!("./{path}") } else { path.to_owned() })
}

/// How much of the words that were asked about the name of a program says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Breadth {
    /// What of it is meant, or there is nothing more to say.
    AsAsked,
    /// Less: what is meant stands behind a flag, or is no plain word.
    Wider,
}

/// Returns the program with the operands that say what of it is meant: `cargo test`, `npm run build`.
fn program(words: &[String]) -> Option<(String, Breadth)> {
    let (name, operands) = words.split_first()?;
    let is_plain = |word: &&String| is_plain_word(word);
    let mut named = vec![Some(name).filter(is_plain)?.as_str()];
    let leading = operands.first().filter(is_plain);
    named.extend(leading.map(String::as_str));
    if leading.is_some_and(|operand| RUNS_NEXT.contains(&operand.as_str())) {
        named.push(operands.get(1).filter(is_plain)?);
    }
    let is_any = |names: &[&str], word: &str| names.contains(&without_version(word));
    let runs_anything =
        named.iter().any(|word| is_any(WRAPPERS, word)) || named.last().is_some_and(|word| is_any(INTERPRETERS, word));
    let has_flags_only = operands.iter().all(|word| word.starts_with('-') && !word.contains(GAP));
    let breadth = if leading.is_some() || has_flags_only { Breadth::AsAsked } else { Breadth::Wider };
    (!runs_anything).then(|| (named.join(" "), breadth))
}

/// Returns all words of a part, where a rule can say them.
fn exactly(words: &[String]) -> Option<String> {
    let is_sayable = |word: &String| is_plain_word(word);
    words.iter().all(is_sayable).then(|| words.join(" "))
}

/// `python` for `python3.11`.
fn without_version(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-')
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
