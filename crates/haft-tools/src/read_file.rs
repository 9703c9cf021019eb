//! Reads text files, page by page.
//!
//! Nothing is refused for its size: a large file has many pages. Profiles that know better say so in their limits.
//!
//! Not here: finding lines and encodings (the file door), the words around a page (`shown_page`).

mod shown_page;

use std::fmt::Write;
use std::path::Path;

use haft::error::Operation;
use haft::grouped::Grouped;
use haft::guarded::is_secret;
use haft::path::Place;
use haft::prelude::*;
use haft::search::{Case, FindOrder, FindRequest};
use shown_page::ShownPage;

/// Most files that one glob reads.
const MOST_FILES: usize = 100;

/// Reads text files.
pub struct ReadFile;

/// The arguments of `read_file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file, relative to the workspace; or "spill:ID" for the rest of a long result. Either this or "paths".
    path: Option<RawPath>,
    /// Several files, or globs such as "src/**/*.rs", each file read from "offset". Either this or "path".
    #[schemars(length(min = 1, max = 100))]
    paths: Option<Vec<RawPath>>,
    /// First line to read, counted from 1. Default 1.
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    /// Most lines to read of each file, at least 1. Default: as many as the profile allows (2000).
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

/// What each path turned out to be.
pub enum Source {
    /// A file.
    File(RawPath, Target),
    /// All files that fit a glob; only where several were asked for.
    Glob(String),
    /// A kept output.
    Spill(String),
    /// Nothing that can be read, with the reason; only where several were asked for.
    Unreadable(RawPath, ToolError),
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("file_path", "path"),
        ("filepath", "path"),
        ("filename", "path"),
        ("file", "path"),
        ("file_paths", "paths"),
        ("files", "paths"),
    ];
    type Args = Args;
    type Draft = Vec<Source>;

    fn manual(&self) -> Manual {
        Manual::read(include_str!("read_file.md"))
    }

    async fn plan(&self, args: &Args, cx: &PlanContext<'_>) -> Result<(Plan, Vec<Source>), ToolError> {
        let sources = match (&args.path, &args.paths) {
            (Some(path), None) => vec![source(path, cx)?],
            (None, Some(paths)) => paths
                .iter()
                .map(|path| several(path, cx).unwrap_or_else(|error| Source::Unreadable(path.clone(), error)))
                .collect(),
            (Some(_), Some(_)) => return Err(one_of_both("Both \"path\" and \"paths\" were given.")),
            (None, None) => return Err(one_of_both("Neither \"path\" nor \"paths\" was given.")),
        };
        let effects = sources.iter().filter_map(|source| match source {
            Source::File(_, target) => Some(Effect::Read(target.clone())),
            Source::Glob(_) => Some(Effect::Read(everything())),
            Source::Spill(id) => Some(Effect::Session(StateKey(format!("spill:{id}")))),
            Source::Unreadable(..) => None,
        });
        Ok((Plan::new(effects), sources))
    }

    async fn run(&self, args: Args, sources: Vec<Source>, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let limits = cx.limits();
        let request = PageRequest {
            first_line: args.offset.unwrap_or(1),
            lines: args.limit.unwrap_or(limits.read_lines).min(limits.read_lines),
            line_length: limits.line_length,
        };
        let mut reading = Reading { cx, request, tokens: 0 };
        if args.paths.is_some() {
            return reading.read_all(sources).await;
        }
        let source = sources.into_iter().next().expect("one path is one source");
        Ok(ToolOutput::text(reading.read(source).await?))
    }
}

/// Files being read for one call.
struct Reading<'a> {
    cx: &'a RunContext<'a>,
    request: PageRequest,
    /// About how many tokens were read so far.
    tokens: usize,
}

impl Reading<'_> {
    /// Reads one page and returns it as it is shown.
    async fn read(&mut self, source: Source) -> Result<String, ToolError> {
        let name = source.name();
        let page = match source {
            Source::File(_, target) => self.cx.page(&target, self.request).await?,
            Source::Spill(id) => self.cx.spilled(&id, self.request).await?,
            Source::Glob(pattern) => return Err(nothing_fits(&pattern)),
            Source::Unreadable(_, error) => return Err(error),
        };
        let shown = ShownPage::of(&page);
        if let Some(most) = self.cx.limits().read_tokens.filter(|most| self.tokens + shown.tokens > *most) {
            return Err(too_many_tokens(&name, &page, shown.tokens, most - self.tokens));
        }
        self.tokens += shown.tokens;
        Ok(shown.text)
    }

    /// Puts the files that fit in the place of each glob. What is a secret by its name is left out.
    async fn with_globs_expanded(&self, sources: Vec<Source>) -> Result<Vec<Source>, ToolError> {
        let mut expanded = Vec::new();
        for source in sources {
            let Source::Glob(pattern) = source else {
                expanded.push(source);
                continue;
            };
            let (case, order) = (Case::Sensitive, FindOrder::Name);
            let request = FindRequest { pattern: pattern.clone(), case, order, paths: MOST_FILES };
            let found = self.cx.find(&everything(), request).await?;
            let read = found.paths.into_iter().filter(|path| !is_secret(Path::new(path)));
            let before = expanded.len();
            expanded.extend(read.map(|path| {
                let target = Target::Inside(Place::new(&path, Extent::Entry));
                Source::File(RawPath::new(path), target)
            }));
            if expanded.len() == before {
                expanded.push(Source::Glob(pattern));
            }
        }
        Ok(expanded)
    }

    /// Reads a page of each; one that cannot be read does not stop the others.
    async fn read_all(&mut self, sources: Vec<Source>) -> Result<ToolOutput, ToolError> {
        let mut text = String::new();
        let (mut read, mut first_error) = (0, None);
        for source in self.with_globs_expanded(sources).await? {
            let name = source.name();
            let shown = match self.read(source).await {
                Ok(shown) => {
                    read += 1;
                    shown
                }
                // Once the call was stopped, the files that are left are not errors of their own.
                Err(error) if error.kind == ErrorKind::Cancelled => {
                    return Err(error.with_so_far(ToolOutput::text(text)));
                }
                Err(error) => {
                    let shown = format!("Error: {error}\n");
                    first_error.get_or_insert(error);
                    shown
                }
            };
            let gap = if text.is_empty() { "" } else { "\n" };
            let header = self.cx.limits().read_header.replace("{path}", &name);
            let _infallible = write!(text, "{gap}{header}\n{shown}");
        }
        let end = &self.cx.limits().read_end;
        if !end.is_empty() {
            let _infallible = writeln!(text, "{end}");
        }
        match first_error {
            // When no file could be read, the call did not work, and says so for every one of them.
            Some(error) if read == 0 => Err(error.with_so_far(ToolOutput::text(text))),
            _ => Ok(ToolOutput::text(text)),
        }
    }
}

impl Source {
    fn name(&self) -> String {
        match self {
            Source::File(path, _) | Source::Unreadable(path, _) => path.as_str().to_owned(),
            Source::Spill(id) => format!("spill:{id}"),
            Source::Glob(pattern) => pattern.clone(),
        }
    }
}

/// The whole workspace.
fn everything() -> Target {
    Target::Inside(Place::new("", Extent::Tree))
}

/// Finds out what one of several paths is: a glob, unless there is a file of that very name.
fn several(path: &RawPath, cx: &PlanContext<'_>) -> Result<Source, ToolError> {
    let is_glob = path.as_str().contains(['*', '?', '[', '{']);
    if is_glob && cx.look().stamp(&cx.locate(path)?).is_none() {
        return Ok(Source::Glob(path.as_str().to_owned()));
    }
    source(path, cx)
}

fn nothing_fits(pattern: &str) -> ToolError {
    let next = Next::UseInstead { tool: "glob".into(), to: "to see which files there are".into() };
    ToolError::new(ErrorKind::MissingFile, format!("No file fits \"{pattern}\"."), next)
        .about_file(pattern, Operation::Access)
}

/// Finds out what a path is. What is outside is not looked at: that is for the rules to say.
fn source(path: &RawPath, cx: &PlanContext<'_>) -> Result<Source, ToolError> {
    if let Some(id) = path.spill_id() {
        return Ok(Source::Spill(id.to_owned()));
    }
    let target = cx.locate(path)?;
    if target.is_inside() {
        let facts = cx.look().facts(&target)?;
        if let Some(most) = cx.limits().read_bytes.filter(|most| facts.stamp.size > *most)
            && facts.kind == FileKind::File
        {
            return Err(too_many_bytes(path, facts.stamp.size, most));
        }
    }
    Ok(Source::File(path.clone(), target))
}

fn one_of_both(what: &str) -> ToolError {
    let next = Next::FixArguments(
        "give \"path\" for one file or \"paths\" for several, for example {\"path\": \"src/main.rs\"}".into(),
    );
    ToolError::new(ErrorKind::BadArguments, what, next)
}

fn too_many_bytes(path: &RawPath, size: u64, most: u64) -> ToolError {
    let path = path.as_str();
    let (size, most) = (Grouped(size), Grouped(most));
    let what = format!("{path} has {size} bytes; this profile reads files of at most {most}.");
    let next = Next::AskUser("ask the user for another profile, or work with smaller files".into());
    ToolError::new(ErrorKind::TooLarge, what, next).about_file(path, Operation::Read)
}

fn too_many_tokens(path: &str, page: &Page, tokens: usize, left: usize) -> ToolError {
    let fitting = (page.lines.len() * left / tokens.max(1)).max(1);
    let (tokens, left) = (Grouped(tokens as u64), Grouped(left as u64));
    let lines = page.lines.len();
    let what = format!("The {lines} lines of {path} have about {tokens} tokens; this profile leaves {left} for them.");
    let example = serde_json::json!({ "path": path, "offset": page.first_line, "limit": fitting });
    let next = Next::FixArguments(format!("read a part of it, for example {example}"));
    ToolError::new(ErrorKind::TooLarge, what, next).about_file(path, Operation::Read)
}
