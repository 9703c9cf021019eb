//! Plans the effects of a defined tool, as its definition declares them.
//!
//! haft plans the call as the run of a command, with one step for each declared effect. It enforces the declaration: no
//! other change of the tool comes into the workspace. A tool that declares nothing is an unknown program.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use haft_contract::doors::process::Keeps;
use haft_contract::effect::{CommandStep, StepEffect};
use haft_contract::files::path::FileLocation;
use haft_contract::prelude::*;
use haft_contract::text::grouped::GroupedNumber;
use serde_json::{Map, Value};

use crate::defined::definition::{DeclaredEffect, Definition};
use crate::run::bash::exposures;

/// Longest value of an argument in the line of a call, in characters.
const LONGEST_VALUE: usize = 400;

/// What planning found.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// The call as a line: what is judged, shown and admitted.
    pub(super) line: String,
    /// The workspace, by its real path.
    pub(super) folder: PathBuf,
    pub(super) time: Duration,
    pub(super) keeps: Keeps,
    /// What it reads outside the workspace.
    pub(super) outside: Vec<PathBuf>,
    /// What it declares to touch in the workspace, by real paths; nothing where it declares nothing at all.
    pub(super) inside: Option<Vec<PathBuf>>,
    /// Whether it connects to somewhere.
    pub(super) network: bool,
}

/// Plans a call of a defined tool, which these words show.
pub(super) fn plan(
    definition: &Definition,
    arguments: &Map<String, Value>,
    words: Vec<String>,
    cx: &PlanContext<'_>,
) -> Result<(Plan, Draft), ToolError> {
    let root = Target::Inside(FileLocation::new("", Extent::Tree));
    let none = || ToolError::of(ErrorKind::Unavailable, "Tools cannot be run here: the workspace has no real path.");
    let folder = cx.look().real_path(&root).ok_or_else(none)?;
    let deeds = deeds(definition, arguments, cx)?;
    let line = words.join(" ");
    let changed = |does: &StepEffect| match does {
        StepEffect::Change(target, _) => Some(target.clone()),
        _ => None,
    };
    let keeps = match definition.effects {
        Some(_) => Keeps::Only(deeds.iter().filter_map(changed).collect()),
        None => Keeps::All,
    };
    let outside = |does: &StepEffect| match does {
        StepEffect::Read(Target::Outside(place)) => Some(absolute(place.path(), &folder, cx.look().home())),
        _ => None,
    };
    let inside = |does: &StepEffect| match does {
        StepEffect::Read(target @ Target::Inside(_)) | StepEffect::Change(target @ Target::Inside(_), _) => {
            cx.look().real_path(target)
        }
        _ => None,
    };
    let draft = Draft {
        inside: definition.effects.as_ref().map(|_| deeds.iter().filter_map(inside).collect()),
        folder: folder.clone(),
        time: definition.timeout.unwrap_or(cx.limits().command_time).min(cx.limits().time_within_call()),
        keeps,
        outside: deeds.iter().filter_map(outside).collect(),
        network: deeds.iter().any(|does| matches!(does, StepEffect::Connect(_))),
        line: line.clone(),
    };
    let mut effects = vec![Effect::Run(CommandLine(line.clone()))];
    let (command, words): (Arc<str>, Arc<[String]>) = (line.as_str().into(), words.into());
    let step = |does| CommandStep {
        command: command.clone(),
        folder: "".into(),
        part: (0, line.len()),
        words: words.clone(),
        does,
    };
    effects.extend(deeds.into_iter().map(step).map(Effect::Step));
    effects.extend(exposures(cx).into_iter().map(Effect::Expose));
    Ok((marked(Plan::new(effects), definition), draft))
}

/// Returns the whole path of a place outside the workspace, which may be shown relative to the workspace or the home.
fn absolute(path: &Path, folder: &Path, home: Option<PathBuf>) -> PathBuf {
    let whole = match (path.strip_prefix("~"), home) {
        (Ok(below), Some(home)) => home.join(below),
        _ => folder.join(path),
    };
    let mut plain = PathBuf::new();
    for part in whole.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

/// Adds what a definition says of all its calls, whatever they do.
pub(super) fn marked(plan: Plan, definition: &Definition) -> Plan {
    let mut plan = plan;
    if definition.disable_parallel {
        let alone = Effect::Session(StateKey::alone(&definition.name));
        plan.effects = plan.effects.iter().cloned().chain([alone]).collect();
    }
    match definition.kept_for() {
        Some(time) => plan.cached_for(time),
        None => plan,
    }
}

/// Returns what the definition declares for these arguments.
fn deeds(
    definition: &Definition,
    arguments: &Map<String, Value>,
    cx: &PlanContext<'_>,
) -> Result<Vec<StepEffect>, ToolError> {
    let Some(declared) = &definition.effects else { return Ok(vec![StepEffect::Program(definition.name.clone())]) };
    let mut deeds = Vec::new();
    for effect in declared {
        match effect {
            DeclaredEffect::Read(template) => {
                for path in template.fill(arguments)? {
                    deeds.push(StepEffect::Read(located(&path, cx)?));
                }
            }
            DeclaredEffect::Change(template) => {
                for path in template.fill(arguments)? {
                    deeds.push(StepEffect::Change(located(&path, cx)?, Change::Replace));
                }
            }
            DeclaredEffect::Connect(host) => deeds.push(StepEffect::Connect(Some(Host(host.clone())))),
        }
    }
    if deeds.is_empty() {
        deeds.push(StepEffect::Nothing);
    }
    deeds.push(StepEffect::NothingElse);
    Ok(deeds)
}

/// Says where a path leads: a folder, or a path that ends like one, means everything in it.
fn located(path: &str, cx: &PlanContext<'_>) -> Result<Target, ToolError> {
    let target = cx.locate(&RawPath::new(path))?;
    // The stamp comes first because it is cheap where nothing is there: the facts would look for near names.
    let kind = cx.look().stamp(&target).and_then(|_| cx.look().facts(&target).ok()).map(|facts| facts.kind);
    let is_tree = path.ends_with('/') || kind == Some(FileKind::Folder) || target.place().path().as_os_str().is_empty();
    Ok(if is_tree { target.as_tree() } else { target })
}

/// Says a call in words, the tool first, then each argument.
pub(super) fn words(name: &str, arguments: &Map<String, Value>) -> Vec<String> {
    let word = |(name, value): (&String, &Value)| format!("{name}={}", shown(value));
    std::iter::once(name.to_owned()).chain(arguments.iter().map(word)).collect()
}

/// Shows a value as a word of a line.
pub(super) fn shown(value: &Value) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@%+,".contains(c);
    let text = match value {
        Value::String(text) if !text.is_empty() && text.chars().all(is_plain) => text.clone(),
        value => value.to_string(),
    };
    match text.char_indices().nth(LONGEST_VALUE) {
        None => text,
        // A person who agrees to this line agrees to this value and no other.
        Some((end, _)) => {
            let hash = blake3::hash(text.as_bytes()).to_hex();
            let all = GroupedNumber(text.chars().count() as u64);
            format!("{}…[{all} characters, blake3 {}]", &text[..end], &hash[..16])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(arguments: Value) -> String {
        words("t", arguments.as_object().unwrap()).join(" ")
    }

    #[test]
    fn a_place_outside_has_its_whole_path() {
        let whole = |path: &str| absolute(Path::new(path), Path::new("/w/s"), Some("/home/u".into()));
        for (path, expected) in [("~/a", "/home/u/a"), ("../a/b", "/w/a/b"), ("../../a", "/a"), ("/x/y", "/x/y")] {
            assert_eq!(whole(path), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn a_call_is_a_line_that_a_person_can_read() {
        let arguments = json!({ "city": "Bonn", "days": 3, "note": "two words", "tags": ["a", "b"], "none": null });
        assert_eq!(line(arguments), r#"t city=Bonn days=3 note="two words" tags=["a","b"] none=null"#);
    }

    #[test]
    fn long_values_are_cut_and_still_tell_themselves_apart() {
        let long = |end: &str| line(json!({ "text": format!("{}{end}", "x".repeat(1_000)) }));
        assert!(long("a").len() < 500 && long("a").contains("1,001 characters"));
        assert_ne!(long("a"), long("b"));
    }
}
