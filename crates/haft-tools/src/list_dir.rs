//! Lists what is in a folder, level by level.

use std::fmt::Write;

use haft_contract::grouped::Grouped;
use haft_contract::path::one_line;
use haft_contract::prelude::*;
use haft_contract::shape::{Given, Meaning, MeantArguments, Shape, folder_and_glob};
use serde_json::{Value, json};

use crate::left_out::{LooksInto, SET_IGNORED, Ways, only_ignored, words};
use crate::shapes::{DESCRIPTION, EXPLANATION, FOLDER_NAMES, only_path};

const WAYS: Ways =
    Ways { ignored: SET_IGNORED, hidden: "set \"hidden\" to true to see them", looks_into: LooksInto::Names };

/// Lists a folder.
pub struct ListDir;

/// The arguments of `list_dir`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Default: the workspace.
    path: Option<RawPath>,
    /// Levels, 1–20. Default 1.
    #[schemars(range(min = 1, max = 20))]
    depth: Option<usize>,
    /// Also dot files.
    hidden: Option<bool>,
    /// "flat": whole paths. Default "tree".
    view: Option<View>,
    /// Globs of names to leave out.
    ignore: Option<Vec<String>>,
    /// Also ignored files.
    ignored: Option<bool>,
}

/// How a listing is shown.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum View {
    /// What lies below a folder is indented.
    Tree,
    /// Each line has a whole path.
    Flat,
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
    ];
    const SHAPES: &'static [Shape] = &[
        Shape::new("path", Meaning::Code(only_path)),
        Shape::new("path", Meaning::Glob(all_of_folder)),
        Shape::new("recursive", Meaning::Words("depth", &[("true", "20"), ("false", "1")])),
        Shape::new("-a", Meaning::Words("hidden", &[("true", "true"), ("false", "false")])),
        DESCRIPTION,
        EXPLANATION,
    ];
    const OTHER_NAMES: &'static [&'static str] = &["ls", "list_directory", "list_files", "list_folder"];
    const PATHS: &'static [&'static str] = &["path"];
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
        let request = ListRequest {
            depth: args.depth.unwrap_or(1),
            hidden: if args.hidden.unwrap_or(false) { Hidden::Show } else { Hidden::Skip },
            ignored: if args.ignored.unwrap_or(false) { Ignored::Show } else { Ignored::Skip },
            ignore: args.ignore.unwrap_or_default(),
            entries: cx.limits().list_entries,
        };
        let depth = request.depth;
        let listing = cx.list(&folder, request).await?;
        Ok(ToolOutput::text(shown(&listing, (depth, args.view.unwrap_or(View::Tree)), cx)))
    }
}

/// Reads `src/*` as the folder.
fn all_of_folder(value: &Value, given: &Given<'_>) -> Option<MeantArguments> {
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

fn shown(listing: &Listing, (depth, view): (usize, View), cx: &RunContext<'_>) -> String {
    let arguments = cx.limits().page_style.arguments;
    let mut text = String::new();
    for entry in &listing.entries {
        let (indent, name) = match view {
            View::Tree => ("  ".repeat(entry.depth - 1), entry.path.rsplit('/').next().unwrap_or(&entry.path)),
            View::Flat => (String::new(), entry.path.as_str()),
        };
        let name = one_line(name);
        let _infallible = match entry.kind {
            FileKind::Folder => writeln!(text, "{indent}{name}/"),
            FileKind::File => writeln!(text, "{indent}{name}  {}", entry.size),
            FileKind::Link => writeln!(text, "{indent}{name}  (link)"),
            FileKind::Special => writeln!(text, "{indent}{name}  (special)"),
        };
    }
    let at_least = if listing.reach == Reach::StoppedEarly { "at least " } else { "" };
    let (files, folders) = (Grouped(listing.files).of("file"), Grouped(listing.folders).of("folder"));
    let _infallible = write!(text, "[{at_least}{files}, {folders}");
    let shown = listing.entries.len() as u64;
    if listing.files + listing.folders > shown {
        let shown = Grouped(shown).of("name");
        let first = if depth > 1 { ", upper levels first" } else { "" };
        let _infallible = write!(text, "; the first {shown} shown{first}; list a folder below or use \"ignore\"");
    }
    let only = only_ignored(&listing.left_out).filter(|_| listing.folders == 0).map(str::to_owned);
    for part in only.into_iter().chain(words(&listing.left_out, &WAYS.with(arguments).once(&listing.left_out, cx))) {
        let _infallible = write!(text, "; {part}");
    }
    text.push_str("]\n");
    text
}
