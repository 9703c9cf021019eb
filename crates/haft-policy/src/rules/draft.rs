//! A rule as a person wrote it, before it is checked.

use super::WrittenRule;
use super::arguments::ArgumentPattern;
use super::conditions::Conditions;
use super::examples::{self, ExampleFailure, ExampleReader, Examples};
use super::names::NamePattern;
use super::paths::{PathPattern, Roots};
use super::words::{FlagPattern, ProgramPattern};
use crate::decision::{Class, Decision};
use crate::effect_kind::EffectKind;
use crate::effect_kind::{self, Touches};
use crate::rule::{Pattern, Rule, defaults};
use haft_command::programs::address::normal;

/// The patterns of one key, one of which must fit: a text, or a list of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns(pub Vec<String>);

impl From<&str> for Patterns {
    fn from(text: &str) -> Self {
        Self(vec![text.to_owned()])
    }
}

impl From<String> for Patterns {
    fn from(text: String) -> Self {
        Self(vec![text])
    }
}

/// A rule as a person wrote it: the keys of its table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleDraft {
    /// Its name.
    pub name: Option<String>,
    /// What it decides.
    pub decision: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// What to do instead.
    pub instead: Option<String>,
    /// See [`Conditions`] for these.
    pub tool: Option<Patterns>,
    /// The names of sorts of effects.
    pub effect: Option<Patterns>,
    /// A program with its subcommand.
    pub program: Option<Patterns>,
    /// Flags, one of which is given.
    pub flags: Option<Vec<String>>,
    /// A pattern of paths.
    pub path: Option<Patterns>,
    /// A pattern of hosts.
    pub host: Option<Patterns>,
    /// Text in words and paths.
    pub pattern: Option<Patterns>,
    /// Arguments of the call, each with its patterns.
    pub arguments: Option<Vec<(String, Patterns)>>,
    /// Whether a person is asked each time.
    pub dangerous: Option<bool>,
    /// Commands that it matches.
    pub matches: Option<Vec<String>>,
    /// Commands that it does not match.
    pub not_matches: Option<Vec<String>>,
}

/// The tools, roots and example reader that a rule draft is checked against.
#[derive(Clone, Copy)]
pub struct RuleCheckContext<'a> {
    /// The native names of the tools.
    pub tools: &'a [String],
    /// Where paths are seen from.
    pub roots: &'a Roots,
    /// What reads examples.
    pub reader: ExampleReader<'a>,
}

/// A fault of a rule draft, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleProblem {
    /// The key it is about; none for the rule as a whole.
    pub key: Option<&'static str>,
    /// What is wrong.
    pub problem: String,
    /// How to fix it.
    pub fix: String,
}

impl RuleProblem {
    fn of(key: &'static str, problem: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { key: Some(key), problem: problem.into(), fix: fix.into() }
    }

    fn of_rule(problem: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { key: None, problem: problem.into(), fix: fix.into() }
    }
}

impl RuleDraft {
    /// Checks the draft: a rule, or everything that is wrong with it.
    pub fn check(&self, known: RuleCheckContext<'_>) -> Result<WrittenRule, Vec<RuleProblem>> {
        let mut problems = Vec::new();
        let decision = self.decision(&mut problems);
        let name = self.name(&mut problems);
        let conditions = self.conditions(known.tools, known.roots, &mut problems);
        self.check_keys(decision, &mut problems);
        if let Some(conditions) = &conditions {
            self.check_together(conditions, decision, &mut problems);
            self.check_tools(conditions, known.tools, &mut problems);
        }
        let (Some(name), Some(decision), Some(conditions), true) = (name, decision, conditions, problems.is_empty())
        else {
            return Err(problems);
        };
        let rule = Rule {
            name,
            matches: Pattern::Written(Box::new(conditions)),
            decision,
            class: if self.dangerous == Some(true) { Class::Dangerous } else { Class::Ordinary },
            reason: self.reason.clone().unwrap_or_default(),
            instead: self.instead.clone().unwrap_or_else(|| "ask the user, whose rule it is".to_owned()),
        };
        let examples = Examples {
            matches: self.matches.clone().unwrap_or_default(),
            not_matches: self.not_matches.clone().unwrap_or_default(),
        };
        // A path in the home is another one where examples are read.
        let there = self.conditions(known.tools, known.reader.roots, &mut problems).unwrap_or_default();
        let there = Rule { matches: Pattern::Written(Box::new(there)), ..rule.clone() };
        let mut failed: Vec<RuleProblem> =
            examples.failures(&there, known.reader).into_iter().map(of_failure).collect();
        if decision == Decision::Allow {
            failed.extend(examples.beyond(&there, (known.reader, &can_be_allowed)).map(of_beyond));
        }
        if failed.is_empty() { Ok(WrittenRule { rule, examples }) } else { Err(failed) }
    }

    fn name(&self, problems: &mut Vec<RuleProblem>) -> Option<String> {
        let taken = |name: &str| defaults().iter().any(|rule| rule.name == name);
        match self.name.as_deref().map(str::trim) {
            None => problems.push(RuleProblem::of("name", "the rule has no name", "add name = \"…\"")),
            Some("") => {
                problems.push(RuleProblem::of("name", "the name is empty", "say in a few words what it is about"))
            }
            Some(name) if name.chars().any(char::is_control) => {
                problems.push(RuleProblem::of("name", "the name has a control character", "write it in one line"));
            }
            Some(name) if taken(name) => {
                let problem = format!("\"{name}\" is the name of a built-in rule");
                problems.push(RuleProblem::of("name", problem, "choose another name"));
            }
            Some(name) => return Some(name.to_owned()),
        }
        None
    }

    fn decision(&self, problems: &mut Vec<RuleProblem>) -> Option<Decision> {
        match self.decision.as_deref() {
            Some("allow") => return Some(Decision::Allow),
            Some("ask") => return Some(Decision::Ask),
            Some("deny") => return Some(Decision::Deny),
            Some(other) => {
                let problem = format!("\"{other}\" is not a decision");
                problems.push(RuleProblem::of("decision", problem, "use \"allow\", \"ask\" or \"deny\""));
            }
            None => problems.push(RuleProblem::of(
                "decision",
                "the rule has no decision",
                "add decision = \"deny\", \"ask\" or \"allow\"",
            )),
        }
        None
    }

    /// Checks what has nothing to do with what the rule is about.
    fn check_keys(&self, decision: Option<Decision>, problems: &mut Vec<RuleProblem>) {
        let is_missing = |text: &Option<String>| text.as_deref().is_none_or(|text| text.trim().is_empty());
        if decision != Some(Decision::Allow) && is_missing(&self.reason) {
            let fix = "add reason = \"…\": haft shows it with the refusal";
            problems.push(RuleProblem::of("reason", "the rule has no reason", fix));
        }
        if self.dangerous == Some(true) && decision.is_some_and(|decision| decision != Decision::Ask) {
            let problem = "\"dangerous\" is about questions, and this rule asks none";
            problems.push(RuleProblem::of("dangerous", problem, "remove it, or use decision = \"ask\""));
        }
        let lists = [("matches", &self.matches), ("not_matches", &self.not_matches)];
        for (key, list) in lists {
            if list.iter().flatten().any(|command| command.trim().is_empty()) {
                problems.push(RuleProblem::of(key, "an example is empty", "write a command"));
            }
        }
    }

    fn conditions(&self, tools: &[String], roots: &Roots, problems: &mut Vec<RuleProblem>) -> Option<Conditions> {
        let before = problems.len();
        let conditions = Conditions {
            tools: each("tool", &self.tool, problems, |name| tool(name, tools)),
            effects: each("effect", &self.effect, problems, effect),
            programs: each("program", &self.program, problems, |text| {
                let problem = || RuleProblem::of("program", "the program is blank", "name one, such as \"git push\"");
                ProgramPattern::new(text).ok_or_else(problem)
            }),
            flags: self.flags(problems),
            paths: each("path", &self.path, problems, |text| {
                PathPattern::new(text, roots).map_err(|(problem, fix)| RuleProblem::of("path", problem, fix))
            }),
            hosts: each("host", &self.host, problems, host),
            texts: each("pattern", &self.pattern, problems, |text| {
                let problem = || RuleProblem::of("pattern", "the pattern is blank", "write the text to match");
                Some(text.to_owned()).filter(|text| !text.trim().is_empty()).ok_or_else(problem)
            }),
            arguments: self.arguments(problems),
        };
        (problems.len() == before).then_some(conditions)
    }

    fn arguments(&self, problems: &mut Vec<RuleProblem>) -> Vec<ArgumentPattern> {
        if self.arguments.as_ref().is_some_and(Vec::is_empty) {
            problems.push(RuleProblem::of(
                "arguments",
                "the table of arguments is empty",
                "name one, or remove the line",
            ));
        }
        let decision = (self.decision.as_deref() == Some("allow")).then_some(Decision::Allow);
        let pattern = |(name, patterns): &(String, Patterns)| {
            let told = |(problem, fix): (String, String)| RuleProblem::of("arguments", problem, fix);
            ArgumentPattern::new(name, &patterns.0, decision).map_err(told)
        };
        self.arguments.iter().flatten().filter_map(|argument| noted(pattern(argument), problems)).collect()
    }

    fn flags(&self, problems: &mut Vec<RuleProblem>) -> Vec<FlagPattern> {
        if self.flags.as_ref().is_some_and(Vec::is_empty) {
            problems.push(RuleProblem::of("flags", "the list of flags is empty", "name one, or remove the line"));
        }
        let flag = |text: &String| {
            let problem = || RuleProblem::of("flags", format!("\"{text}\" is not a flag"), "write it with its dashes");
            FlagPattern::new(text).ok_or_else(problem)
        };
        self.flags.iter().flatten().filter_map(|text| noted(flag(text), problems)).collect()
    }

    /// Finds what can never hold together, or says too little.
    fn check_together(&self, about: &Conditions, decision: Option<Decision>, problems: &mut Vec<RuleProblem>) {
        let mut add = |key, problem: String, fix: &str| problems.push(RuleProblem::of(key, problem, fix));
        if *about == Conditions::default() {
            let fix = "add one of tool, effect, program, path, host, pattern, arguments";
            problems.push(RuleProblem::of_rule("the rule is about nothing", fix));
            return;
        }
        if !about.flags.is_empty() && about.programs.is_empty() {
            add("flags", "flags without a program say too little".into(), "add program = \"…\"");
        }
        if !about.paths.is_empty() && !about.hosts.is_empty() {
            add("host", "nothing touches both a path and a host".into(), "write two rules");
        }
        for sort in about.effects.iter().copied() {
            let name = sort.name();
            let touches = sort.touches();
            if !about.paths.is_empty() && touches != Touches::Path {
                add("path", format!("the effect \"{name}\" touches no path"), "remove one of the two");
            }
            if !about.hosts.is_empty() && touches != Touches::Host && sort != EffectKind::CommandPublishes {
                add("host", format!("the effect \"{name}\" connects to no host"), "remove one of the two");
            }
            if about.is_about_commands() && !sort.is_of_commands() {
                add("effect", format!("commands have no effect \"{name}\""), "remove it, or the program");
            }
            if decision == Some(Decision::Allow) && !can_be_allowed(sort) {
                add("effect", format!("no rule can allow the effect \"{name}\""), "do it by hand when it is needed");
            }
        }
        let only_text = Conditions { texts: about.texts.clone(), ..Conditions::default() };
        if decision == Some(Decision::Allow) && *about == only_text {
            let problem = "text alone says too little to allow something".to_owned();
            add("pattern", problem, "say which program, tool, path or host is allowed");
        }
        if decision == Some(Decision::Allow) && !about.arguments.is_empty() && about.tools.is_empty() {
            let problem = "arguments without a tool say too little to allow something".to_owned();
            add("arguments", problem, "say which tool is allowed");
        }
        if about.is_about_commands() && self.matches.as_ref().is_none_or(Vec::is_empty) {
            let fix = "add matches = [\"…\"] with a command that it is about";
            problems.push(RuleProblem::of("matches", "a rule about commands needs an example", fix));
        }
    }

    /// Finds what calls of haft's own tools never do. What other tools do is unknown here.
    fn check_tools(&self, about: &Conditions, known: &[String], problems: &mut Vec<RuleProblem>) {
        let named = about.tools.iter().filter(|tool| !tool.is_open()).map(NamePattern::text);
        let own = named.filter(|name| known.iter().any(|tool| tool == name));
        own.for_each(|tool| self.check_tool(tool, about, problems));
    }

    fn check_tool(&self, tool: &str, about: &Conditions, problems: &mut Vec<RuleProblem>) {
        let mut add = |key, problem: String, fix: &str| problems.push(RuleProblem::of(key, problem, fix));
        let mut sorts = about.effects.iter().map(|sort| (*sort, sort.name()));
        if tool == examples::TOOL {
            if let Some((_, name)) = sorts.find(|(sort, _)| !sort.is_of_command_calls()) {
                add("effect", format!("the tool \"{tool}\" has no effect \"{name}\""), "remove one of the two");
            }
            return;
        }
        if about.is_about_commands() {
            let problem = format!("the tool \"{tool}\" runs no commands, so the rule can never match");
            add("tool", problem, "remove it, or the program");
        }
        if let Some((_, name)) = sorts.find(|(sort, _)| sort.is_only_of_command_calls()) {
            add(
                "effect",
                format!("only commands have the effect \"{name}\", and \"{tool}\" runs none"),
                "remove one of the two",
            );
        }
        for (key, list) in [("matches", &self.matches), ("not_matches", &self.not_matches)] {
            if !about.is_about_commands() && list.as_ref().is_some_and(|list| !list.is_empty()) {
                add(key, format!("examples are commands, and \"{tool}\" runs none"), "remove them, or the tool");
            }
        }
    }
}

/// Says whether some question about it is an ordinary one of a default rule.
fn can_be_allowed(sort: EffectKind) -> bool {
    let rules = defaults();
    let mut about = rules.iter().filter(|rule| rule.matches == Pattern::Effect(sort));
    sort.is_answerable() && about.all(|rule| rule.decision != Decision::Deny && rule.class == Class::Ordinary)
}

/// Reads each pattern of a key, and notes what is wrong with it.
fn each<T>(
    key: &'static str,
    patterns: &Option<Patterns>,
    problems: &mut Vec<RuleProblem>,
    read: impl Fn(&str) -> Result<T, RuleProblem>,
) -> Vec<T> {
    if patterns.as_ref().is_some_and(|patterns| patterns.0.is_empty()) {
        problems.push(RuleProblem::of(key, format!("the list of \"{key}\" is empty"), "name one, or remove the line"));
    }
    patterns.iter().flat_map(|patterns| &patterns.0).filter_map(|text| noted(read(text), problems)).collect()
}

/// Reads the name of a tool. It may be one that haft does not know, of a definition or of a server, but no slip.
fn tool(name: &str, known: &[String]) -> Result<NamePattern, RuleProblem> {
    let pattern = NamePattern::with_stars(name.trim());
    if name.trim().is_empty() {
        return Err(RuleProblem::of("tool", "the tool is blank", "name one, such as \"write_file\""));
    }
    let is_known = known.iter().any(|tool| tool == pattern.text());
    let near = haft_contract::text::closest::closest(name, known.iter().map(String::as_str));
    match near.filter(|_| !pattern.is_open() && !name.contains("__") && !is_known) {
        Some(near) => {
            let fix = format!("did you mean \"{near}\"? If the name is right, write \"{}*\"", pattern.text());
            Err(RuleProblem::of("tool", format!("haft has no tool \"{name}\""), fix))
        }
        None => Ok(pattern),
    }
}

fn effect(name: &str) -> Result<EffectKind, RuleProblem> {
    EffectKind::named(name).ok_or_else(|| {
        let names: Vec<&str> = effect_kind::ALL.iter().map(|sort| sort.name()).collect();
        let fix = match haft_contract::text::closest::closest(name, names.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"? There are {}", names.join(", ")),
            None => format!("use one of {}", names.join(", ")),
        };
        RuleProblem::of("effect", format!("there is no effect \"{name}\""), fix)
    })
}

fn host(text: &str) -> Result<NamePattern, RuleProblem> {
    let name = text.trim().trim_end_matches('.').to_lowercase();
    let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(&name).to_owned();
    if name.is_empty() {
        return Err(RuleProblem::of("host", "the host is blank", "name one, such as \"*.example.com\""));
    }
    let is_address = name.contains("::") || name.matches(':').count() > 1;
    if name.contains(['/', '@', ' ']) || (name.contains(':') && !is_address) {
        let problem = format!("\"{text}\" is not the name of a host");
        return Err(RuleProblem::of("host", problem, "leave out scheme, user, port and path"));
    }
    if !name.is_ascii() {
        let problem = format!("\"{text}\" is not how the network writes the name");
        return Err(RuleProblem::of("host", problem, "write it with \"xn--\", as a browser copies it"));
    }
    Ok(NamePattern::with_stars(&normal(&name)))
}

fn of_failure(failure: ExampleFailure) -> RuleProblem {
    let key = match failure {
        ExampleFailure::NotMatched(_) => "matches",
        ExampleFailure::Matched(_) => "not_matches",
    };
    RuleProblem::of(key, format!("the rule {failure}"), "fix the rule or the example")
}

fn of_beyond(command: &String) -> RuleProblem {
    let problem = format!("no rule can allow what the example {command:?} does");
    RuleProblem::of("matches", problem, "do it by hand when it is needed")
}

fn noted<T>(result: Result<T, RuleProblem>, problems: &mut Vec<RuleProblem>) -> Option<T> {
    result.map_err(|problem| problems.push(problem)).ok()
}
