//! Adds a fact to the memory of a project: a list in a file that people can read and edit.
//!
//! The file is an ordinary file of the workspace. haft judges, journals and undoes a change of it like any other. Later
//! sessions get the facts as notes, but only if the user trusts the project's words.
//!
//! Not here: whether the file is trusted and shown (`haft-host`), a memory of the user across projects.

use bytes::Bytes;
use haft_contract::files::path::one_line;
use haft_contract::plan::FileDiff;
use haft_contract::prelude::*;
use haft_contract::text::diff::Diff;
use serde_json::json;

use crate::files::change::{CONTEXT, Replaces, effects};

/// The usual file, from the root of the workspace.
pub const MEMORY_FILE: &str = "HAFT_MEMORY.md";
/// Longest fact, in characters.
const LONGEST_FACT: usize = 500;
/// Most facts of a memory.
const MOST_FACTS: usize = 100;
/// Largest file that a fact is added to, in bytes.
const LARGEST: u64 = 1024 * 1024;

/// Adds a fact to the memory.
pub struct Remember;

/// The arguments of `remember`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The fact in one sentence, at most 500 characters.
    fact: String,
    /// Another file. Default {memory_file}, the only one that later sessions read.
    file: Option<RawPath>,
}

/// What planning found.
pub enum Draft {
    /// The file gets this content.
    Add(Target, String, Bytes),
    /// The fact is there.
    Known(Target, String),
}

impl Tool for Remember {
    const NAME: &'static str = "remember";
    const DEFERRED: bool = true;
    const DEFERRED_ARGUMENTS: &'static [&'static str] = &["file"];
    const PATHS: &'static [&'static str] = &["file"];
    const DOES: AtMost = AtMost::Changes;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] =
        &[("fact", &["memory", "text", "content", "note"])];
    const OTHER_NAMES: &'static [&'static str] = &["save_memory", "add_memory", "store_memory", "update_memory"];
    type Args = Args;
    type Draft = Draft;

    fn manual(&self) -> Manual {
        Manual::read(include_str!("remember.md"))
    }

    async fn plan(&self, args: &Args, cx: &PlanContext<'_>) -> Result<(Plan, Draft), ToolError> {
        let fact = bullet(&args.fact)?;
        let heading = &cx.limits().memory_heading;
        let usual = RawPath::new(&cx.limits().memory_file);
        let target = cx.locate(args.file.as_ref().unwrap_or(&usual))?;
        let (before, change) = match cx.look().stamp(&target).filter(|_| target.is_inside()) {
            None => (String::new(), Change::Create),
            Some(_) => {
                let copy = cx.read(&target, LARGEST)?;
                let text = String::from_utf8(copy.bytes.to_vec()).map_err(|_| {
                    let what = format!("{target} is not text in UTF-8, so nothing can be added to it.");
                    ToolError::new(ErrorKind::BadEncoding, what, Next::AskUser(format!("to save {target} as UTF-8")))
                })?;
                (text, Change::Replace)
            }
        };
        let facts = facts_in(&before, heading);
        if facts.contains(&fact.as_str()) {
            return Ok((Plan::new(effects(&target, Replaces::No)), Draft::Known(target, fact)));
        }
        if facts.len() >= MOST_FACTS {
            let what = format!("{target} has {} facts, and at most {MOST_FACTS} are kept.", facts.len());
            let next = Next::FixArguments(format!(
                "remove facts that are out of date from {target}, then send this call again"
            ));
            return Err(ToolError::new(ErrorKind::TooLarge, what, next));
        }
        let after = with_fact(&before, &fact, heading);
        let diff = Diff::between(&before, &after, CONTEXT);
        let shown = FileDiff { path: target.to_string(), diff, notes: Vec::new() };
        let plan = Plan::new([Effect::Change(target.clone(), change)]).preview(Preview::Diff(vec![shown]));
        Ok((plan, Draft::Add(target, fact, after.into())))
    }

    async fn run(&self, _args: Args, draft: Draft, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let (target, fact, content) = match draft {
            Draft::Add(target, fact, content) => (target, fact, content),
            Draft::Known(target, fact) => {
                let text = format!("{target} has this fact already. Nothing was changed.");
                return Ok(ToolOutput::text(text).with_data(json!({ "fact": fact, "added": false })));
            }
        };
        if cx.hide(&fact) != fact {
            let what = "The fact holds what looks like a secret, and a memory never has one. Nothing was remembered.";
            let next = Next::FixArguments("leave the secret out, and say where it is kept".to_owned());
            return Err(ToolError::new(ErrorKind::BadArguments, what, next));
        }
        cx.write(&target, &content).await?;
        let text = format!("Remembered in {target}: {fact}");
        Ok(ToolOutput::text(text).with_data(json!({ "fact": fact, "added": true, "file": target.to_string() })))
    }
}

/// Makes one line of a fact, without the dashes with which some models begin it.
fn bullet(fact: &str) -> Result<String, ToolError> {
    let words: Vec<&str> = fact.split_whitespace().collect();
    let fact = one_line(words.join(" ").trim_start_matches(['-', '*', ' '])).to_string();
    let bad = |what: String, fix: &str| {
        Err(ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(fix.to_owned())))
    };
    match fact.chars().count() {
        0 => bad("$.fact is empty.".to_owned(), "say what is to be remembered"),
        long if long > LONGEST_FACT => bad(
            format!("$.fact has {long} characters, and a fact has at most {LONGEST_FACT}."),
            "say it in one sentence",
        ),
        _ => Ok(fact),
    }
}

/// Returns the facts of a memory file.
pub fn facts_in<'t>(text: &'t str, heading: &str) -> Vec<&'t str> {
    let section = text.lines().skip_while(|line| line.trim_end() != heading).skip(1);
    let section = section.take_while(|line| !line.starts_with("# ") && !line.starts_with("## "));
    section.filter_map(|line| line.strip_prefix("- ").map(str::trim)).filter(|fact| !fact.is_empty()).collect()
}

/// Adds a fact behind the others.
fn with_fact(text: &str, fact: &str, heading: &str) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<&str> = text.lines().collect();
    let line = format!("- {fact}");
    match lines.iter().position(|line| line.trim_end() == heading) {
        Some(above) => {
            let is_next = |line: &&str| line.starts_with("# ") || line.starts_with("## ");
            let length = lines[above + 1..].iter().take_while(|line| !is_next(line)).count();
            let section = &lines[above + 1..above + 1 + length];
            let behind = section.iter().rposition(|line| !line.trim().is_empty()).map_or(above, |at| above + 1 + at);
            if behind == above {
                lines.splice(above + 1..above + 1, ["", line.as_str()]);
            } else {
                lines.insert(behind + 1, &line);
            }
        }
        None => {
            if lines.last().is_some_and(|last| !last.trim().is_empty()) {
                lines.push("");
            }
            lines.extend([heading, "", line.as_str()]);
        }
    }
    lines.join(end) + end
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADING: &str = "## Remembered facts";

    #[test]
    fn a_fact_comes_behind_the_others_and_the_rest_of_the_file_stays() {
        let new = with_fact("", "a", HEADING);
        assert_eq!(new, "## Remembered facts\n\n- a\n");
        assert_eq!(with_fact(&new, "b", HEADING), "## Remembered facts\n\n- a\n- b\n");
        let mixed = "# Notes\r\n\r\n## Remembered facts\r\n\r\n- a\r\n\r\n## Other\r\n- no fact\r\n";
        let expected = "# Notes\r\n\r\n## Remembered facts\r\n\r\n- a\r\n- b\r\n\r\n## Other\r\n- no fact\r\n";
        assert_eq!(with_fact(mixed, "b", HEADING), expected);
        assert_eq!(facts_in(expected, HEADING), ["a", "b"]);
        assert_eq!(with_fact("Mine", "a", HEADING), "Mine\n\n## Remembered facts\n\n- a\n");
    }

    #[test]
    fn a_section_that_goes_on_below_keeps_what_follows_it() {
        let text = "# T\n\n## Memories\n- a\n\n## Other\nx\n";
        assert_eq!(with_fact(text, "b", "## Memories"), "# T\n\n## Memories\n- a\n- b\n\n## Other\nx\n");
    }

    #[test]
    fn a_fact_is_one_line_without_dashes() {
        assert_eq!(bullet("--- use\n  tabs ").expect("it is one"), "use tabs");
        assert!(bullet(" - ").is_err() && bullet(&"x".repeat(501)).is_err());
    }
}
