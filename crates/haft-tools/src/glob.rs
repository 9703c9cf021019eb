//! Finds files by their names.

use std::fmt::Write;

use haft::grouped::Grouped;
use haft::path::one_line;
use haft::prelude::*;
use haft::shape::{Arguments, Given, Meaning, Shape};
use serde_json::{Value, json};

use crate::left_out::{Ways, words};
use crate::shapes::{EXPLANATION, NOT_BELOW, RECURSIVE, only_path, texts};

const WAYS: Ways = Ways {
    ignored: "to look in an ignored folder, name it as \"path\"",
    hidden: "hidden names fit only a pattern with the dot, such as \".*\" or \".github/**\"",
};

/// Finds files by their names.
pub struct Glob;

/// The arguments of `glob`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The folder to look in. Default: the workspace.
    path: Option<RawPath>,
    /// The glob.
    pattern: String,
    /// "sensitive", "insensitive", or "smart": capitals count if the pattern has one. Default "sensitive".
    case: Option<Capitals>,
    /// "name", or "time" for those changed last first. Default "name".
    sort: Option<Sort>,
    /// Most paths to return. Default: the profile's (1000).
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

/// Whether capital letters count.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Capitals {
    /// If the pattern has one.
    Smart,
    /// Yes.
    Sensitive,
    /// No.
    Insensitive,
}

/// Which paths come first.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// By path.
    Name,
    /// Those changed last.
    Time,
}

impl Tool for Glob {
    const NAME: &'static str = "glob";
    const DOES: AtMost = AtMost::Looks;
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("glob", "pattern"),
        ("glob_pattern", "pattern"),
        ("directory", "path"),
        ("dir", "path"),
        ("folder", "path"),
        ("dir_path", "path"),
        ("directory_path", "path"),
        ("search_path", "path"),
        ("root", "path"),
        ("max_results", "limit"),
        ("head_limit", "limit"),
        ("sort_by", "sort"),
    ];
    const SHAPES: &'static [Shape] = &[
        Shape::new("path", Meaning::Code(only_path)),
        Shape::new("pattern", Meaning::Code(either)),
        Shape::new("patterns", Meaning::Code(either)),
        Shape::new("path", Meaning::Code(pattern_alone)),
        Shape::new("path", Meaning::Glob(joined)),
        Shape::new("pattern", Meaning::Glob(from_root)),
        Shape::new(
            "case_sensitive",
            Meaning::Words("case", &[("true", "\"sensitive\""), ("false", "\"insensitive\"")]),
        ),
        RECURSIVE,
        NOT_BELOW,
        EXPLANATION,
    ];
    const OTHER_NAMES: &'static [&'static str] =
        &["find_files", "file_search", "glob_search", "glob_file_search", "find_by_name", "search_by_name"];
    const PATHS: &'static [&'static str] = &["path"];
    type Args = Args;
    type Draft = Target;

    fn manual(&self) -> Manual {
        Manual::read(include_str!("glob.md"))
    }

    async fn plan(&self, args: &Args, cx: &PlanContext<'_>) -> Result<(Plan, Target), ToolError> {
        let root = RawPath::new(".");
        let target = cx.locate_tree(args.path.as_ref().unwrap_or(&root))?;
        if target.is_inside() {
            cx.look().facts(&target)?;
        }
        Ok((Plan::new([Effect::Read(target.clone())]), target))
    }

    async fn run(&self, args: Args, folder: Target, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let most = cx.limits().glob_paths;
        let request = FindRequest {
            pattern: args.pattern,
            case: match args.case.unwrap_or(Capitals::Sensitive) {
                Capitals::Smart => Case::Smart,
                Capitals::Sensitive => Case::Sensitive,
                Capitals::Insensitive => Case::Insensitive,
            },
            order: match args.sort.unwrap_or(Sort::Name) {
                Sort::Name => FindOrder::Name,
                Sort::Time => FindOrder::Newest,
            },
            paths: args.limit.unwrap_or(most).min(most),
        };
        let found = cx.find(&folder, request).await?;
        Ok(ToolOutput::text(shown(&found)))
    }
}

/// Reads several patterns as one that fits either.
fn either(value: &Value, _: &Given<'_>) -> Option<Arguments> {
    let pattern = match (value, texts(value)) {
        (Value::String(pattern), _) => pattern.clone(),
        (_, Some(patterns)) if patterns.len() == 1 => patterns[0].to_owned(),
        (_, Some(patterns)) => {
            // Where a "/" stands decides what a pattern is compared with.
            let is_plain = |pattern: &&str| !pattern.contains(['{', '}', ',']);
            let are_alike = patterns.iter().all(|pattern| pattern.contains('/') == patterns[0].contains('/'));
            if !are_alike || !patterns.iter().all(is_plain) {
                return None;
            }
            format!("{{{}}}", patterns.join(","))
        }
        (_, None) => return None,
    };
    (value.as_str() != Some(&pattern)).then(|| vec![("pattern", json!(pattern))])
}

/// Reads a glob that came as the folder, where there is no pattern.
fn pattern_alone(value: &Value, given: &Given<'_>) -> Option<Arguments> {
    let is_glob = value.as_str()?.contains(['*', '?']);
    let has_pattern = ["pattern", "glob", "glob_pattern"].iter().any(|name| given.get(name).is_some());
    (is_glob && !has_pattern).then(|| vec![("pattern", value.clone()), ("path", Value::Null)])
}

/// Reads a folder with the letters of a glob as the beginning of the pattern.
fn joined(value: &Value, given: &Given<'_>) -> Option<Arguments> {
    let (path, pattern) = (value.as_str()?, given.get("pattern")?.as_str()?);
    let joined = format!("{}/{pattern}", path.trim_end_matches('/'));
    let meant = || vec![("pattern", Value::Null), ("path", Value::Null), ("pattern", json!(joined))];
    (!pattern.starts_with('/')).then(meant)
}

/// Reads a pattern from the root of the system, which is given without that root, as one of the workspace; and a list of
/// patterns that came as text.
fn from_root(value: &Value, given: &Given<'_>) -> Option<Arguments> {
    if value.is_array() {
        return either(value, given);
    }
    let is_changed = value.is_string() && given.get("pattern").is_some_and(|written| written != value);
    (is_changed && given.get("path").is_none()).then(|| vec![("pattern", value.clone())])
}

fn shown(found: &Found) -> String {
    let mut text = String::new();
    for path in &found.paths {
        text.push_str(&one_line(path));
        text.push('\n');
    }
    if found.matched == 0 {
        let _infallible = write!(text, "[nothing fits; {} compared", Grouped(found.compared).of("name"));
        if !found.near.is_empty() {
            let near: Vec<_> = found.near.iter().map(|path| one_line(path)).collect();
            let _infallible = write!(text, "; near: {}", near.join(", "));
        }
    } else {
        let _infallible = write!(text, "[{}", Grouped(found.matched).of("path"));
        let left = found.matched.saturating_sub(found.paths.len() as u64);
        if left > 0 {
            let first = Grouped(found.paths.len() as u64).of("path");
            let _infallible = write!(text, "; the first {first} shown, narrow the pattern or give a \"path\"");
        }
    }
    for part in words(&found.left_out, &WAYS) {
        let _infallible = write!(text, "; {part}");
    }
    text.push_str("]\n");
    text
}
