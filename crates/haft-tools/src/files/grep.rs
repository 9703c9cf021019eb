//! Searches the contents of files.

mod json_form;
mod other_shapes;

use std::fmt::Write;

use haft_contract::description::page_style::ContinuationArguments;
use haft_contract::description::shape::ArgumentShape;
use haft_contract::files::path::one_line;
use haft_contract::files::search::FoundLine;
use haft_contract::outcome::output::ReducedLimit;
use haft_contract::prelude::*;
use haft_contract::text::grouped::GroupedNumber;

use super::left_out::{LooksInto, OmissionHints, only_ignored, words};
use super::paged::ResultPage;
use crate::catalogue::shapes::FOLDER_NAMES;

const WAYS: OmissionHints = OmissionHints {
    ignored: "set \"ignored\" to true to search them",
    hidden: "name one as \"path\" to search it",
    looks_into: LooksInto::Contents,
};

/// Most matches that are passed over: they are kept until their order is known.
const MOST_SKIPPED: usize = 100_000;

/// Searches what is in files.
pub struct Grep;

/// The arguments of `grep`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file or folder. Default: the workspace.
    path: Option<RawPath>,
    /// The regular expression.
    pattern: String,
    /// Globs of files to search.
    include: Option<Vec<String>>,
    /// Globs of files to leave out.
    exclude: Option<Vec<String>>,
    /// The pattern is plain text.
    literal: Option<bool>,
    /// "smart" (default), "sensitive" or "insensitive".
    case: Option<CaseWord>,
    /// Lines around each match.
    #[schemars(range(min = 0, max = 20))]
    context: Option<usize>,
    /// Before it.
    #[schemars(range(min = 0, max = 20))]
    before: Option<usize>,
    /// After it.
    #[schemars(range(min = 0, max = 20))]
    after: Option<usize>,
    /// A match may span lines.
    multiline: Option<bool>,
    /// "files", "count" or "json"; default "content".
    mode: Option<GrepMode>,
    /// Max matches, or files. Default {grep_matches}.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
    /// How many to skip.
    offset: Option<usize>,
    /// Also ignored files.
    ignored: Option<bool>,
}

/// Whether capital letters count.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CaseWord {
    /// Only when the pattern has one.
    Smart,
    /// Always.
    Sensitive,
    /// Never.
    Insensitive,
}

/// What to return.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GrepMode {
    /// The matching lines.
    Content,
    /// The files that have a match.
    Files,
    /// How many matches each file has.
    Count,
    /// The matching lines as one JSON object.
    Json,
}

impl Tool for Grep {
    const NAME: &'static str = "grep";
    const DOES: AtMost = AtMost::Looks;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("pattern", &["regex", "query", "search", "search_pattern", "search_term"]),
        ("path", FOLDER_NAMES),
        ("path", &["file_path", "search_path"]),
        ("include", &["glob", "include_pattern", "includes", "file_pattern"]),
        ("exclude", &["exclude_pattern", "excludes"]),
        ("literal", &["fixed_strings"]),
        ("context", &["context_lines"]),
        ("before", &["before_context", "lines_before"]),
        ("after", &["after_context", "lines_after"]),
        ("limit", &["max_results", "head_limit", "max_matches"]),
        ("offset", &["skip"]),
        ("ignored", &["include_ignored"]),
    ];
    const SHAPES: &'static [ArgumentShape] = other_shapes::SHAPES;
    const OTHER_NAMES: &'static [&'static str] =
        &["grep_search", "search_file_content", "search_in_files", "search_text", "ripgrep", "rg"];
    const PATHS: &'static [&'static str] = &["path"];
    type Args = Args;
    type Draft = Target;

    fn manual(&self) -> Manual {
        Manual::read(include_str!("grep.md"))
    }

    async fn plan(&self, args: &Args, cx: &PlanContext<'_>) -> Result<(Plan, Target), ToolError> {
        let root = RawPath::new(".");
        let raw = args.path.as_ref().unwrap_or(&root);
        let tree = cx.locate_tree(raw)?;
        let is_file = tree.is_inside() && cx.look().facts(&tree)?.kind != FileKind::Folder;
        let target = if is_file { cx.locate(raw)? } else { tree };
        Ok((Plan::new([Effect::Read(target.clone())]), target))
    }

    async fn run(&self, args: Args, target: Target, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let skip = args.offset.unwrap_or(0);
        if skip > MOST_SKIPPED {
            return Err(skips_too_much(skip));
        }
        let (most, limited) = ReducedLimit::of(args.limit, cx.limits().grep_matches);
        let (hint, is_json) = (hint(&args), args.mode == Some(GrepMode::Json));
        let request = SearchRequest { most, ..request(args, cx) };
        let wanted = request.wanted;
        let searched = cx.search(&target, request).await?;
        let arguments = cx.limits().page_style.arguments;
        let shown = GrepReport { searched: &searched, wanted, skip, limited, hint, arguments, cx };
        let text = if is_json { json_form::written(&searched, &shown.summary()) } else { shown.text() };
        Ok(ToolOutput::text(text).with_limited(limited))
    }
}

fn skips_too_much(skip: usize) -> ToolError {
    let what = format!("\"offset\" is {skip}; at most {} matches can be skipped.", GroupedNumber(MOST_SKIPPED as u64));
    let next = Next::FixArguments("narrow the search with \"path\", \"include\" or the pattern".into());
    ToolError::new(ErrorKind::BadArguments, what, next)
}

fn request(args: Args, cx: &RunContext<'_>) -> SearchRequest {
    SearchRequest {
        pattern: args.pattern,
        syntax: if args.literal.unwrap_or(false) { Syntax::Literal } else { Syntax::Regex },
        case: match args.case.unwrap_or(CaseWord::Smart) {
            CaseWord::Smart => Case::Smart,
            CaseWord::Sensitive => Case::Sensitive,
            CaseWord::Insensitive => Case::Insensitive,
        },
        span: if args.multiline.unwrap_or(false) { Span::Lines } else { Span::Line },
        include: globs(args.include),
        exclude: globs(args.exclude),
        usual_excludes: cx.limits().usual_excludes.clone(),
        before: args.before.or(args.context).unwrap_or(0),
        after: args.after.or(args.context).unwrap_or(0),
        wanted: match args.mode.unwrap_or(GrepMode::Content) {
            GrepMode::Content | GrepMode::Json => SearchOutputMode::Lines,
            GrepMode::Files => SearchOutputMode::Files,
            GrepMode::Count => SearchOutputMode::Counts,
        },
        ignored: if args.ignored.unwrap_or(false) { IgnorePolicy::Show } else { IgnorePolicy::Skip },
        skip: args.offset.unwrap_or(0),
        most: 0,
        line_length: cx.limits().line_length,
    }
}

/// Says what a search over several lines needs, where other programs need nothing.
fn hint(args: &Args) -> Option<&'static str> {
    let spans_lines = args.multiline == Some(true) && args.literal != Some(true);
    let has_dot = args.pattern.contains('.') && !args.pattern.contains("(?s");
    (spans_lines && has_dot).then_some("\".\" matches no line break, \"(?s)\" before the pattern changes that")
}

/// Returns the globs that are meant; an empty one fits nothing and stands for none.
fn globs(given: Option<Vec<String>>) -> Vec<String> {
    given.into_iter().flatten().filter(|glob| !glob.trim().is_empty()).collect()
}

/// The result of a search, with everything that decides how it is shown.
struct GrepReport<'a> {
    searched: &'a SearchResult,
    wanted: SearchOutputMode,
    skip: usize,
    limited: Option<ReducedLimit>,
    /// Why there may be no match.
    hint: Option<&'static str>,
    arguments: ContinuationArguments,
    cx: &'a RunContext<'a>,
}

impl GrepReport<'_> {
    fn text(&self) -> String {
        let mut text = String::new();
        for file in &self.searched.files {
            let path = one_line(&file.path);
            let _infallible = match self.wanted {
                SearchOutputMode::Files => writeln!(text, "{path}"),
                SearchOutputMode::Counts => writeln!(text, "{path}: {}", file.matches),
                SearchOutputMode::Lines => {
                    let gap = if text.is_empty() { "" } else { "\n" };
                    let _infallible = writeln!(text, "{gap}{path}");
                    self.show_lines(&mut text, &file.lines)
                }
            };
        }
        text.push_str(&self.summary());
        text
    }

    fn show_lines(&self, text: &mut String, lines: &[FoundLine]) -> std::fmt::Result {
        let mut last = None;
        let with_context = lines.iter().any(|line| line.kind == LineKind::Context);
        for line in lines {
            if with_context && last.is_some_and(|last| line.number > last + 1) {
                writeln!(text, "--")?;
            }
            last = Some(line.number);
            let mark = if line.kind == LineKind::Context { '-' } else { ':' };
            write!(text, "{}{mark}", line.number)?;
            if line.cut_before > 0 {
                write!(text, "[{} characters …] ", line.cut_before)?;
            }
            text.push_str(&line.text);
            if line.cut_after > 0 {
                let column = line.cut_before + line.text.chars().count() + 1;
                let how = self.how_to_read(format!("{{\"offset\": {}, \"column\": {column}}}", line.number));
                write!(text, " [… {} more characters{how}]", line.cut_after)?;
            }
            if line.cut_below > 0 {
                let how = self.how_to_read(format!("{{\"offset\": {}}}", line.number + 1));
                write!(text, " [… {} more bytes in the lines below{how}]", line.cut_below)?;
            }
            text.push('\n');
        }
        Ok(())
    }

    /// Names the call that shows what was left out; in other systems it has other names.
    fn how_to_read(&self, arguments: String) -> String {
        match self.arguments {
            ContinuationArguments::Own => format!("; \"read_file\" with {arguments}"),
            ContinuationArguments::Shared => String::new(),
        }
    }

    fn summary(&self) -> String {
        let searched = self.searched;
        let is_early = searched.reach == WalkCoverage::StoppedEarly;
        let mut parts = self.totals(if is_early { "at least " } else { "" });
        parts.extend(self.limited.map(|limited| limited.to_string()));
        if is_early {
            parts.push("to see fewer, narrow \"path\", \"include\" or the pattern".to_owned());
            return format!("[{}]\n", parts.join("; "));
        }
        parts.push(format!("{} searched", GroupedNumber(searched.searched).of("file")));
        parts.extend(only_ignored(&searched.left_out).map(str::to_owned));
        parts.extend(words(&searched.left_out, &WAYS.with(self.arguments).once(&searched.left_out, self.cx)));
        format!("[{}]\n", parts.join("; "))
    }

    /// Says how much there is, which part of it is shown, and how to go on.
    fn totals(&self, at_least: &'static str) -> Vec<String> {
        let searched = self.searched;
        let paged = |shown, total| ResultPage { skip: self.skip as u64, shown, total, at_least };
        let files = paged(searched.files.len() as u64, searched.matched_files);
        let in_files = |matches: String| match at_least {
            "" => format!("{matches} in {}", GroupedNumber(searched.matched_files).of("file")),
            _ => matches,
        };
        let (said, page) = match self.wanted {
            _ if searched.matches == 0 => {
                return std::iter::once("no match").chain(self.hint).map(str::to_owned).collect();
            }
            SearchOutputMode::Lines => {
                let page = paged(searched.files.iter().map(|file| file.matches).sum(), searched.matches);
                (vec![in_files(page.which("match"))], page)
            }
            SearchOutputMode::Counts => {
                let mut said = vec![in_files(GroupedNumber(searched.matches).of("match"))];
                said.extend(files.is_part().then(|| files.which("file")));
                (said, files)
            }
            SearchOutputMode::Files => (vec![format!("{} with matches", files.which("file"))], files),
        };
        said.into_iter().chain(page.go_on(self.arguments)).collect()
    }
}
