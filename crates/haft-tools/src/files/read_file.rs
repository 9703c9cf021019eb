//! Reads text files, page by page.
//!
//! haft refuses no file for its size: a large file has many pages, and a page ends where a result is full. A profile can
//! set its own limits.
//!
//! Not here: finding lines and encodings (the file door), the words around a page (`shown_page`), the kind of a path
//! (`source`), notebooks (`notebook`), globs (`globs`), how several files share one result (`several`).

mod globs;
mod notebook;
mod other_shapes;
mod several;
mod shown_page;
mod source;

use haft_contract::description::shape::ArgumentShape;
use haft_contract::files::path::one_line;
use haft_contract::limits::Limits;
use haft_contract::outcome::error::FailedOperation;
use haft_contract::outcome::output::{Image, ReducedLimit};
use haft_contract::prelude::*;
use haft_contract::text::grouped::GroupedNumber;
use serde_json::json;

use super::utf8_only;
use crate::catalogue::shapes::FILE_NAMES;
use globs::{Below, GlobOptions, everything};
use several::read_several;
use shown_page::{NARROWEST_LINE, ReadUnit, ShownPage};
use source::ReadSource;

/// Largest image that is shown, in bytes: providers take 5 MB in Base64.
const LARGEST_IMAGE: u64 = 3_750_000;

/// Reads text files, and images for models that see.
pub struct ReadFile;

/// The arguments of `read_file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file, or "spill:ID".
    path: Option<RawPath>,
    /// Several files or globs.
    #[schemars(length(min = 1, max = 100))]
    paths: Option<Vec<RawPath>>,
    /// First line. Default 1.
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    /// Max lines. Default {read_lines}.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
    /// Of line "offset".
    #[schemars(range(min = 1))]
    column: Option<u64>,
    /// Globs of files and folders that globs leave out.
    exclude: Option<Vec<String>>,
    /// Globs also find ignored files.
    ignored: Option<bool>,
    /// Globs look into folders that they do not name. Default true.
    deep: Option<bool>,
    /// Globs leave out what the profile leaves out where no ignore file is. Default true.
    usual_excludes: Option<bool>,
}

impl Args {
    fn glob_options(&self, limits: &Limits) -> GlobOptions {
        let usual = self.usual_excludes != Some(false);
        GlobOptions {
            usual_excludes: if usual { limits.usual_excludes.clone() } else { Vec::new() },
            exclude: self.exclude.clone().unwrap_or_default(),
            ignored: if self.ignored == Some(true) { IgnorePolicy::Show } else { IgnorePolicy::Skip },
            below: if self.deep == Some(false) { Below::Left } else { Below::Searched },
        }
    }
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const DOES: AtMost = AtMost::Looks;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("path", FILE_NAMES),
        ("paths", &["file_paths", "files"]),
        ("offset", &["start_line", "line_start", "from_line", "first_line"]),
        ("limit", &["max_lines", "num_lines", "line_count"]),
    ];
    const SHAPES: &'static [ArgumentShape] = other_shapes::SHAPES;
    const OTHER_NAMES: &'static [&'static str] = &[
        "read",
        "view",
        "view_file",
        "open_file",
        "cat",
        "read_files",
        "read_many_files",
        "str_replace_editor command=view",
        "str_replace_based_edit_tool command=view",
    ];
    const PATHS: &'static [&'static str] = &["path", "paths[]"];
    const DEFERRED_ARGUMENTS: &'static [&'static str] = &["exclude", "ignored", "deep", "usual_excludes"];
    type Args = Args;
    type Draft = Vec<ReadSource>;

    fn manual(&self) -> Manual {
        Manual::read(include_str!("read_file.md"))
    }

    async fn plan(&self, args: &Args, cx: &PlanContext<'_>) -> Result<(Plan, Vec<ReadSource>), ToolError> {
        let (look, limits) = (cx.look(), cx.limits());
        let sources = match (&args.path, &args.paths) {
            (Some(path), None) => vec![ReadSource::of(path, look, limits)?],
            (None, Some(_)) if args.column.is_some() => return Err(column_of_several()),
            (None, Some(paths)) => paths.iter().map(|path| ReadSource::of_several(path, look, limits)).collect(),
            (Some(_), Some(_)) => return Err(one_of_both("Both \"path\" and \"paths\" were given.")),
            (None, None) => return Err(one_of_both("Neither \"path\" nor \"paths\" was given.")),
        };
        let effects = sources.iter().filter_map(|source| match source {
            ReadSource::File(_, target) => Some(Effect::Read(target.clone())),
            ReadSource::Glob(_) => Some(Effect::Read(everything())),
            ReadSource::Spill(id) => Some(Effect::Session(StateKey(format!("spill:{id}")))),
            ReadSource::Unreadable(..) => None,
        });
        Ok((Plan::new(effects), sources))
    }

    async fn run(&self, args: Args, sources: Vec<ReadSource>, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let limits = cx.limits();
        let (lines, limited) = ReducedLimit::of(args.limit, limits.read_lines);
        // More lines than that do not fit a result, however short they are.
        let fitting = limits.result_whole / NARROWEST_LINE + 1;
        let request = PageRequest {
            first_line: args.offset.unwrap_or(1),
            lines: if args.column.is_some() { 1 } else { lines.min(fitting) },
            column: args.column.unwrap_or(1),
            // A line that is read alone may fill the result.
            line_length: if args.column.is_some() { limits.result_whole } else { limits.line_length },
        };
        let extent = if args.column.is_some() { ReadUnit::Line } else { ReadUnit::Lines };
        let mut reading = PageReader { cx, request, extent, limited, tokens: 0 };
        if args.paths.is_some() {
            return read_several(reading, sources, &args.glob_options(limits)).await;
        }
        let asks_for_lines = args.offset.is_some() || args.limit.is_some() || args.column.is_some();
        let source = sources.into_iter().next().expect("one path is one source");
        let place = match &source {
            ReadSource::File(_, target) => Some(target.clone()),
            _ => None,
        };
        match (reading.read(source).await, place) {
            (Err(error), Some(target)) if error.kind == ErrorKind::Binary => seen(cx, &target, error).await,
            (Ok(page), Some(target)) if !asks_for_lines && notebook::is_named_so(&target, cx) => {
                let cells = notebook::cells(&target, cx).await?;
                Ok(cells.unwrap_or_else(|| ToolOutput::text(page.text())))
            }
            (page, _) => Ok(ToolOutput::text(page?.noting(limited).text()).with_limited(limited)),
        }
    }
}

/// Returns a file that is not text as the image that it is, where it is one.
async fn seen(cx: &RunContext<'_>, target: &Target, not_text: ToolError) -> Result<ToolOutput, ToolError> {
    let Some(image) = cx.image(target, LARGEST_IMAGE).await? else { return Err(not_text) };
    let size = GroupedNumber(image.bytes.len() as u64).of("byte");
    let Image { media_type, width, height, .. } = image;
    let data = json!({ "media_type": media_type, "width": width, "height": height, "bytes": image.bytes.len() });
    let words = format!("{target} is an image ({media_type}, {width} × {height} pixels, {size}).\n");
    Ok(ToolOutput::text(words).with_image(image).with_data(data))
}

/// Reads pages of the files of one call.
struct PageReader<'a> {
    cx: &'a RunContext<'a>,
    request: PageRequest,
    extent: ReadUnit,
    limited: Option<ReducedLimit>,
    /// About how many tokens were read so far.
    tokens: usize,
}

impl PageReader<'_> {
    /// Reads one page, as far as one result can show it.
    async fn read(&mut self, source: ReadSource) -> Result<ShownPage, ToolError> {
        let path = source.path();
        let page = match source {
            ReadSource::File(_, target) => {
                let page = self.cx.page(&target, self.request).await?;
                utf8_only::checked(page, &path, self.cx.limits())?
            }
            ReadSource::Spill(id) => self.cx.spilled(&id, self.request).await?,
            ReadSource::Unreadable(_, error) => return Err(error),
            ReadSource::Glob(_) => return Err(ToolError::of(ErrorKind::Bug, "A glob was read as if it were a file.")),
        };
        let mut page = ShownPage::of(page, self.extent, self.cx);
        let tokens = page.tokens();
        if let Some(most) = self.cx.limits().read_tokens.filter(|most| self.tokens + tokens > *most) {
            return Err(too_many_tokens(&path, &page, most - self.tokens));
        }
        self.tokens += tokens;
        page.fit(self.cx.limits().result_whole, self.cx);
        Ok(page)
    }
}

fn one_of_both(what: &str) -> ToolError {
    let next = Next::FixArguments(
        "give \"path\" for one file or \"paths\" for several, for example {\"path\": \"src/main.rs\"}".into(),
    );
    ToolError::new(ErrorKind::BadArguments, what, next)
}

fn column_of_several() -> ToolError {
    let next =
        Next::FixArguments("give the file as \"path\", for example {\"path\": \"a.js\", \"column\": 2001}".into());
    ToolError::new(ErrorKind::BadArguments, "\"column\" is for one file, and \"paths\" was given.", next)
}

fn too_many_tokens(path: &str, page: &ShownPage, left: usize) -> ToolError {
    let (lines, tokens) = (page.lines(), page.tokens());
    let fitting = (lines * left / tokens.max(1)).max(1);
    let example = json!({ "path": path, "offset": page.first_line(), "limit": fitting });
    let (path, lines) = (one_line(path), GroupedNumber(lines as u64).of("line"));
    let (tokens, left) = (GroupedNumber(tokens as u64), GroupedNumber(left as u64));
    let what = format!("The {lines} of {path} have about {tokens} tokens; this profile leaves {left} for them.");
    let next = Next::FixArguments(format!("read a part of it, for example {example}"));
    ToolError::new(ErrorKind::TooLarge, what, next).about_file(path, FailedOperation::Read)
}
