//! Lists what is in a folder, level by level.

use std::fmt::Write;

use haft::prelude::*;

/// Lists a folder.
pub struct ListDir;

/// The arguments of `list_dir`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The folder, relative to the workspace. Default: the workspace itself.
    path: Option<RawPath>,
    /// How many levels to show, 1–20. Default 1: the folder's own entries.
    #[schemars(range(min = 1, max = 20))]
    depth: Option<usize>,
    /// Whether names that begin with a dot are shown. Default false.
    hidden: Option<bool>,
    /// Globs of names to leave out, such as "*.log" or "node_modules".
    ignore: Option<Vec<String>>,
}

impl Tool for ListDir {
    const NAME: &'static str = "list_dir";
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("directory", "path"), ("dir", "path"), ("folder", "path"), ("dir_path", "path")];
    type Args = Args;
    type Draft = Target;

    fn manual(&self) -> Manual {
        Manual::read(include_str!("list_dir.md"))
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
        let request = ListRequest {
            depth: args.depth.unwrap_or(1),
            hidden: if args.hidden.unwrap_or(false) { Hidden::Show } else { Hidden::Skip },
            ignore: args.ignore.unwrap_or_default(),
            entries: cx.limits().list_entries,
        };
        let listing = cx.list(&folder, request).await?;
        Ok(ToolOutput::text(shown(&listing)))
    }
}

fn shown(listing: &Listing) -> String {
    let mut text = String::new();
    let (mut files, mut folders) = (0, 0);
    for entry in &listing.entries {
        let indent = "  ".repeat(entry.depth - 1);
        let name = one_line(entry.path.rsplit('/').next().unwrap_or(&entry.path));
        let _infallible = match entry.kind {
            FileKind::Folder => writeln!(text, "{indent}{name}/"),
            FileKind::File => writeln!(text, "{indent}{name}  {}", entry.size),
            FileKind::Link => writeln!(text, "{indent}{name}  (link)"),
            FileKind::Special => writeln!(text, "{indent}{name}  (special)"),
        };
        if entry.kind == FileKind::Folder { folders += 1 } else { files += 1 }
    }
    let _infallible = write!(text, "[{}, {}", counted(files, "file"), counted(folders, "folder"));
    if listing.left_out > 0 {
        let _infallible =
            write!(text, "; at least {} more not shown, list a folder below or use \"ignore\"", listing.left_out);
    }
    if !listing.unreadable.is_empty() {
        let _infallible = write!(text, "; could not open {}", one_line(&listing.unreadable.join(", ")));
    }
    text.push_str("]\n");
    text
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A name may hold a line end; one entry stays one line.
fn one_line(name: &str) -> String {
    if name.contains(char::is_control) { name.escape_debug().to_string() } else { name.to_owned() }
}
