//! Finds files by their names.

use std::fmt::Write;

use haft_contract::description::shape::{ArgumentLookup, ArgumentShape, Meaning, MeantArguments};
use haft_contract::files::path::one_line;
use haft_contract::outcome::output::ReducedLimit;
use haft_contract::prelude::*;
use haft_contract::text::grouped::GroupedNumber;
use serde_json::{Value, json};

use super::left_out::{LooksInto, OmissionHints, SET_IGNORED, only_ignored, words};
use super::paged::ResultPage;
use crate::catalogue::shapes::{DESCRIPTION, EXPLANATION, FOLDER_NAMES, RECURSIVE, only_path, texts};

const WAYS: OmissionHints = OmissionHints {
    ignored: SET_IGNORED,
    hidden: "a pattern with the dot finds them: \".*\", \".github/**\"",
    looks_into: LooksInto::Names,
};

/// Finds files by their names.
pub struct Glob;

/// The arguments of `glob`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Default: the workspace.
    path: Option<RawPath>,
    /// The glob.
    pattern: String,
    /// "smart", "sensitive" (default) or "insensitive".
    case: Option<Capitals>,
    /// "time" (newest first), "size", "depth"; default "name".
    sort: Option<GlobOrder>,
    /// Max paths. Default {glob_paths}.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
    /// How many to skip.
    offset: Option<usize>,
    /// Also ignored files.
    ignored: Option<bool>,
    /// Globs of files and folders to leave out.
    exclude: Option<Vec<String>>,
    /// Levels. Default: all.
    #[schemars(range(min = 1))]
    depth: Option<usize>,
    /// Also names that begin with a dot.
    hidden: Option<bool>,
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
pub enum GlobOrder {
    /// By path.
    Name,
    /// Those changed last.
    Time,
    /// The largest.
    Size,
    /// Those of the upper levels.
    Depth,
}

impl Tool for Glob {
    const NAME: &'static str = "glob";
    const DOES: AtMost = AtMost::Looks;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("pattern", &["glob", "glob_pattern"]),
        ("path", FOLDER_NAMES),
        ("path", &["search_path", "root"]),
        ("limit", &["max_results", "head_limit"]),
        ("sort", &["sort_by"]),
        ("offset", &["skip"]),
        ("ignored", &["include_ignored"]),
        ("exclude", &["exclude_dirs", "exclude_patterns", "ignore"]),
        ("depth", &["max_depth"]),
        ("hidden", &["include_hidden", "show_hidden"]),
    ];
    const SHAPES: &'static [ArgumentShape] = &[
        ArgumentShape::new("path", Meaning::Code(only_path)),
        ArgumentShape::new("pattern", Meaning::Code(either)),
        ArgumentShape::new("patterns", Meaning::Code(either)),
        ArgumentShape::new("path", Meaning::Code(pattern_alone)),
        ArgumentShape::new("path", Meaning::Glob(joined)),
        ArgumentShape::new("pattern", Meaning::Glob(from_root)),
        ArgumentShape::new(
            "case_sensitive",
            Meaning::Words("case", &[("true", "\"sensitive\""), ("false", "\"insensitive\"")]),
        ),
        ArgumentShape::new("recursive", Meaning::Words("depth", &[("false", "1")])),
        RECURSIVE,
        DESCRIPTION,
        EXPLANATION,
    ];
    const OTHER_NAMES: &'static [&'static str] =
        &["find_files", "file_search", "glob_search", "glob_file_search", "find_by_name", "search_by_name"];
    const PATHS: &'static [&'static str] = &["path"];
    const DEFERRED_ARGUMENTS: &'static [&'static str] = &["exclude", "depth", "hidden"];
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
        let (paths, limited) = ReducedLimit::of(args.limit, cx.limits().glob_paths);
        let skip = args.offset.unwrap_or(0);
        let request = FindRequest {
            pattern: args.pattern,
            case: match args.case.unwrap_or(Capitals::Sensitive) {
                Capitals::Smart => Case::Smart,
                Capitals::Sensitive => Case::Sensitive,
                Capitals::Insensitive => Case::Insensitive,
            },
            exclude: args.exclude.unwrap_or_default(),
            usual_excludes: cx.limits().usual_excludes.clone(),
            depth: args.depth.unwrap_or(usize::MAX),
            hidden: if args.hidden.unwrap_or(false) { DotfilePolicy::Show } else { DotfilePolicy::Skip },
            order: match args.sort.unwrap_or(GlobOrder::Name) {
                GlobOrder::Name => FindOrder::Name,
                GlobOrder::Time => FindOrder::Newest,
                GlobOrder::Size => FindOrder::Largest,
                GlobOrder::Depth => FindOrder::Shallow,
            },
            ignored: if args.ignored.unwrap_or(false) { IgnorePolicy::Show } else { IgnorePolicy::Skip },
            skip,
            paths,
        };
        let found = cx.find(&folder, request).await?;
        let text = shown(&found, (skip as u64, limited), cx);
        Ok(ToolOutput::text(text).with_limited(limited))
    }
}

/// Reads several patterns as one that fits either.
fn either(value: &Value, _: &ArgumentLookup<'_>) -> Option<MeantArguments> {
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
fn pattern_alone(value: &Value, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    let is_glob = value.as_str()?.contains(['*', '?']);
    let has_pattern = ["pattern", "glob", "glob_pattern"].iter().any(|name| given.get(name).is_some());
    (is_glob && !has_pattern).then(|| vec![("pattern", value.clone()), ("path", Value::Null)])
}

/// Reads a folder with the letters of a glob as the beginning of the pattern.
fn joined(value: &Value, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    let (path, pattern) = (value.as_str()?, given.get("pattern")?.as_str()?);
    let joined = format!("{}/{pattern}", path.trim_end_matches('/'));
    let meant = || vec![("pattern", Value::Null), ("path", Value::Null), ("pattern", json!(joined))];
    (!pattern.starts_with('/')).then(meant)
}

/// Reads a pattern from the root of the system, which is given without that root, as one of the workspace; and a list of
/// patterns that came as text.
fn from_root(value: &Value, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    if value.is_array() {
        return either(value, given);
    }
    let is_changed = value.is_string() && given.get("pattern").is_some_and(|written| written != value);
    (is_changed && given.get("path").is_none()).then(|| vec![("pattern", value.clone())])
}

fn shown(found: &FindResult, (skip, limited): (u64, Option<ReducedLimit>), cx: &RunContext<'_>) -> String {
    let arguments = cx.limits().page_style.arguments;
    let mut text = String::new();
    for path in &found.paths {
        text.push_str(&one_line(path));
        text.push('\n');
    }
    let page = ResultPage { skip, shown: found.paths.len() as u64, total: found.matched, at_least: "" };
    if found.matched == 0 {
        let _infallible = write!(text, "[nothing matches; {} compared", GroupedNumber(found.compared).of("name"));
        if !found.near.is_empty() {
            let near: Vec<_> = found.near.iter().map(|path| one_line(path)).collect();
            let _infallible = write!(text, "; near: {}", near.join(", "));
        }
    } else {
        let _infallible = write!(text, "[{}", page.which("path"));
    }
    let mut parts: Vec<String> = page.go_on(arguments).into_iter().collect();
    parts.extend(limited.map(|limited| limited.to_string()));
    parts.extend(only_ignored(&found.left_out).map(str::to_owned));
    parts.extend(words(&found.left_out, &WAYS.with(arguments).once(&found.left_out, cx)));
    for part in parts {
        let _infallible = write!(text, "; {part}");
    }
    text.push_str("]\n");
    text
}
