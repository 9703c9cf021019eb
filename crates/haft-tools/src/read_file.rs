//! Reads text files, page by page.

use std::fmt::Write;

use haft::prelude::*;

/// Reads text files.
pub struct ReadFile;

/// The arguments of `read_file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file, relative to the workspace; or "spill:ID" for the rest of a long result. Either this or "paths".
    path: Option<RawPath>,
    /// Several files, each read from "offset". Either this or "path".
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
                .map(|path| source(path, cx).unwrap_or_else(|error| Source::Unreadable(path.clone(), error)))
                .collect(),
            (Some(_), Some(_)) => return Err(one_of_both("Both \"path\" and \"paths\" were given.")),
            (None, None) => return Err(one_of_both("Neither \"path\" nor \"paths\" was given.")),
        };
        let effects = sources.iter().filter_map(|source| match source {
            Source::File(_, target) => Some(Effect::Read(target.clone())),
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
        let several = args.paths.is_some();
        let mut text = String::new();
        let (mut read, mut first_error) = (0, None);
        for source in sources {
            let name = source.name();
            let page = match source {
                Source::File(_, target) => cx.page(&target, request).await,
                Source::Spill(id) => cx.spilled(&id, request).await,
                Source::Unreadable(_, error) => Err(error),
            };
            if !several {
                return Ok(ToolOutput::text(numbered(&page?)));
            }
            let shown = match page {
                Ok(page) => {
                    read += 1;
                    numbered(&page)
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
            let _infallible = write!(text, "{gap}=== {name} ===\n{shown}");
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
        }
    }
}

/// Finds out what a path is. What is outside is not looked at: that is for the rules to say.
fn source(path: &RawPath, cx: &PlanContext<'_>) -> Result<Source, ToolError> {
    if let Some(id) = path.spill_id() {
        return Ok(Source::Spill(id.to_owned()));
    }
    let target = cx.locate(path)?;
    if target.is_inside() {
        cx.look().facts(&target)?;
    }
    Ok(Source::File(path.clone(), target))
}

fn one_of_both(what: &str) -> ToolError {
    let next = Next::FixArguments(
        "give \"path\" for one file or \"paths\" for several, for example {\"path\": \"src/main.rs\"}".into(),
    );
    ToolError::new(ErrorKind::BadArguments, what, next)
}

fn numbered(page: &Page) -> String {
    let mut text = String::new();
    for (line, number) in page.lines.iter().zip(page.first_line..) {
        let _infallible = write!(text, "{number:>6}\t{}", line.text);
        if line.cut > 0 {
            let _infallible = write!(text, " [… {} more characters in this line]", line.cut);
        }
        text.push('\n');
    }
    let next_line = page.first_line.saturating_add(page.lines.len() as u64);
    let end = match (page.more, page.total_lines) {
        (true, _) => format!("[more lines follow; go on with offset={next_line}]"),
        (false, Some(0)) => "[the file is empty]".to_owned(),
        (false, Some(total)) if page.lines.is_empty() => {
            format!("[there is no line {}; the file has {total} lines]", page.first_line)
        }
        (false, Some(1)) => "[end of file: 1 line]".to_owned(),
        (false, Some(total)) => format!("[end of file: {total} lines]"),
        (false, None) => "[end of file]".to_owned(),
    };
    text.push_str(&end);
    text.push('\n');
    text
}
