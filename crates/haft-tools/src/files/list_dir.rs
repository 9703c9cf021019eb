//! Lists the contents of a folder, level by level.

use std::fmt::Write;

use haft_contract::description::shape::{ArgumentLookup, ArgumentShape, Meaning, MeantArguments, folder_and_glob};
use haft_contract::files::path::one_line;
use haft_contract::files::search::ListedEntry;
use haft_contract::outcome::output::ReducedLimit;
use haft_contract::prelude::*;
use haft_contract::text::grouped::GroupedNumber;
use serde_json::{Value, json};

use super::left_out::{LooksInto, OmissionHints, SET_IGNORED, only_ignored, words};
use crate::catalogue::shapes::{DESCRIPTION, EXPLANATION, FOLDER_NAMES, only_path};

const WAYS: OmissionHints =
    OmissionHints { ignored: SET_IGNORED, hidden: "set \"hidden\" to true to see them", looks_into: LooksInto::Names };

/// Lists a folder.
pub struct ListDir;

/// The arguments of `list_dir`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Default: the workspace.
    path: Option<RawPath>,
    /// Levels. Default 1.
    #[schemars(range(min = 1, max = 20))]
    depth: Option<usize>,
    /// Also dot files.
    hidden: Option<bool>,
    /// "flat": whole paths; "drawn". Default "tree".
    view: Option<View>,
    /// Globs of names to leave out.
    ignore: Option<Vec<String>>,
    /// Also ignored files.
    ignored: Option<bool>,
    /// Max names.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

/// How a listing is shown.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum View {
    /// What lies below a folder is indented.
    Tree,
    /// Each line has a whole path.
    Flat,
    /// As a tree, with lines that lead from each folder to what is in it.
    Drawn,
}

impl Tool for ListDir {
    const NAME: &'static str = "list_dir";
    const DOES: AtMost = AtMost::Looks;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("path", FOLDER_NAMES),
        ("path", &["relative_workspace_path", "target_directory", "file_path"]),
        ("ignored", &["include_ignored"]),
        ("depth", &["max_depth"]),
        ("hidden", &["show_hidden", "include_hidden", "all"]),
        ("ignore", &["exclude", "ignore_patterns"]),
        ("limit", &["max_files", "max_entries"]),
    ];
    const SHAPES: &'static [ArgumentShape] = &[
        ArgumentShape::new("path", Meaning::Code(only_path)),
        ArgumentShape::new("path", Meaning::Glob(all_of_folder)),
        ArgumentShape::new("recursive", Meaning::Words("depth", &[("true", "20"), ("false", "1")])),
        ArgumentShape::new("-a", Meaning::Words("hidden", &[("true", "true"), ("false", "false")])),
        DESCRIPTION,
        EXPLANATION,
    ];
    const OTHER_NAMES: &'static [&'static str] = &["ls", "list_directory", "list_files", "list_folder"];
    const PATHS: &'static [&'static str] = &["path"];
    const DEFERRED_ARGUMENTS: &'static [&'static str] = &["limit"];
    type Args = Args;
    type Draft = Target;

    fn manual(&self) -> Manual {
        Manual::read(include_str!("list_dir.md"))
    }

    async fn plan(&self, args: &Args, cx: &PlanContext<'_>) -> Result<(Plan, Target), ToolError> {
        let root = RawPath::new(".");
        let target = cx.locate_tree(args.path.as_ref().unwrap_or(&root))?;
        if target.is_inside() {
            cx.look().facts(&target).map_err(|error| no_glob(error, args.path.as_ref()))?;
        }
        Ok((Plan::new([Effect::Read(target.clone())]), target))
    }

    async fn run(&self, args: Args, folder: Target, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let (entries, limited) = ReducedLimit::of(args.limit, cx.limits().list_entries);
        let request = ListRequest {
            depth: args.depth.unwrap_or(1),
            hidden: if args.hidden.unwrap_or(false) { DotfilePolicy::Show } else { DotfilePolicy::Skip },
            ignored: if args.ignored.unwrap_or(false) { IgnorePolicy::Show } else { IgnorePolicy::Skip },
            ignore: args.ignore.unwrap_or_default(),
            usual_excludes: cx.limits().usual_excludes.clone(),
            entries,
        };
        let depth = request.depth;
        let listing = cx.list(&folder, request).await?;
        let mut text = match args.view.unwrap_or(View::Tree) {
            View::Drawn => drawn(&listing, &folder),
            view => entries_in(&listing, view),
        };
        text.push_str(&summary(&listing, (depth, limited), cx));
        Ok(ToolOutput::text(text).with_limited(limited))
    }
}

/// Reads `src/*` as the folder.
fn all_of_folder(value: &Value, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    if value.is_array() {
        return only_path(value, given);
    }
    match folder_and_glob(value.as_str()?) {
        (folder, "*") => Some(vec![("path", json!(folder))]),
        _ => None,
    }
}

/// Names the tool that reads globs, where a glob was given as a folder.
fn no_glob(mut error: ToolError, path: Option<&RawPath>) -> ToolError {
    if let Some(path) = path.filter(|path| path.as_str().contains(['*', '?'])) {
        let call = json!({ "pattern": path.as_str() });
        error.next = Next::UseInstead { tool: "glob".into(), to: format!("with {call}, which reads globs") };
    }
    error
}

/// Writes the entries, one in each line.
fn entries_in(listing: &FolderListing, view: View) -> String {
    let line = |entry: &ListedEntry| match view {
        View::Flat => shown(entry, &entry.path),
        View::Tree | View::Drawn => "  ".repeat(entry.depth - 1) + &shown(entry, last_name(&entry.path)),
    };
    listing.entries.iter().map(line).collect()
}

/// Draws the entries below the name of their folder.
fn drawn(listing: &FolderListing, folder: &Target) -> String {
    let mut lines = Vec::new();
    // From the last entry on: by then it is known at which levels more entries of the same folder follow.
    let mut follows = Vec::new();
    for entry in listing.entries.iter().rev() {
        follows.resize(entry.depth, false);
        let above = follows[..entry.depth - 1].iter().map(|follows| if *follows { "│   " } else { "    " });
        let mut line: String = above.collect();
        line.push_str(if follows[entry.depth - 1] { "├── " } else { "└── " });
        line.push_str(&shown(entry, last_name(&entry.path)));
        lines.push(line);
        follows[entry.depth - 1] = true;
    }
    let top = folder.to_string();
    format!("{}/\n", one_line(top.trim_end_matches('/'))) + &lines.into_iter().rev().collect::<String>()
}

fn last_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Writes the line of an entry by this name.
fn shown(entry: &ListedEntry, name: &str) -> String {
    let name = one_line(name);
    match entry.kind {
        FileKind::Folder => format!("{name}/\n"),
        FileKind::File => format!("{name}  {}\n", entry.size),
        FileKind::Link => format!("{name}  (link)\n"),
        FileKind::Special => format!("{name}  (special)\n"),
    }
}

/// Says how much there is, and what is not shown.
fn summary(listing: &FolderListing, (depth, limited): (usize, Option<ReducedLimit>), cx: &RunContext<'_>) -> String {
    let arguments = cx.limits().page_style.arguments;
    let at_least = if listing.reach == WalkCoverage::StoppedEarly { "at least " } else { "" };
    let (files, folders) = (GroupedNumber(listing.files).of("file"), GroupedNumber(listing.folders).of("folder"));
    let mut text = format!("[{at_least}{files}, {folders}");
    let shown = listing.entries.len() as u64;
    if listing.files + listing.folders > shown {
        let shown = GroupedNumber(shown).of("name");
        let first = if depth > 1 { ", upper levels first" } else { "" };
        let _infallible = write!(text, "; the first {shown} shown{first}; list a folder below or use \"ignore\"");
    }
    let only = only_ignored(&listing.left_out).filter(|_| listing.folders == 0).map(str::to_owned);
    let limited = limited.map(|limited| limited.to_string());
    let left_out = words(&listing.left_out, &WAYS.with(arguments).once(&listing.left_out, cx));
    for part in limited.into_iter().chain(only).chain(left_out) {
        let _infallible = write!(text, "; {part}");
    }
    text + "]\n"
}
