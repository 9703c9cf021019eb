//! Searches what is in files.

mod other_shapes;

use std::fmt::Write;

use haft::grouped::Grouped;
use haft::path::one_line;
use haft::prelude::*;
use haft::search::FoundLine;
use haft::shape::Shape;

use crate::left_out::{Ways, words};

/// A file or folder that is named is searched, whatever ignores or hides it.
const NAME_IT: &str = "to search an ignored or hidden one, name it as \"path\"";
const WAYS: Ways = Ways { ignored: NAME_IT, hidden: NAME_IT };

/// Searches what is in files.
pub struct Grep;

/// The arguments of `grep`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file or folder to search. Default: the workspace.
    path: Option<RawPath>,
    /// The regular expression.
    pattern: String,
    /// Globs of files to search, such as "*.rs". Default: all.
    include: Option<Vec<String>>,
    /// Globs of files and folders to leave out.
    exclude: Option<Vec<String>>,
    /// Whether the pattern is plain text. Default false.
    literal: Option<bool>,
    /// "sensitive", "insensitive", or "smart": capitals count if the pattern has one. Default "smart".
    case: Option<CaseWord>,
    /// Lines to show around each match, 0–20. Default 0.
    #[schemars(range(min = 0, max = 20))]
    context: Option<usize>,
    /// Whether a match may reach over line ends. Default false.
    multiline: Option<bool>,
    /// "content" returns lines, "files" the files, "count" how many each file has. Default "content".
    mode: Option<Mode>,
    /// Most matches, or files, to return. Default: the profile's (100).
    #[schemars(range(min = 1))]
    limit: Option<usize>,
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
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The matching lines.
    Content,
    /// The files that have a match.
    Files,
    /// How many matches each file has.
    Count,
}

impl Tool for Grep {
    const NAME: &'static str = "grep";
    const DOES: AtMost = AtMost::Looks;
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("regex", "pattern"),
        ("query", "pattern"),
        ("search", "pattern"),
        ("directory", "path"),
        ("dir", "path"),
        ("folder", "path"),
        ("file_path", "path"),
        ("glob", "include"),
        ("include_pattern", "include"),
        ("includes", "include"),
        ("file_pattern", "include"),
        ("exclude_pattern", "exclude"),
        ("excludes", "exclude"),
        ("fixed_strings", "literal"),
        ("context_lines", "context"),
        ("search_pattern", "pattern"),
        ("search_term", "pattern"),
        ("dir_path", "path"),
        ("directory_path", "path"),
        ("search_path", "path"),
        ("max_results", "limit"),
        ("head_limit", "limit"),
        ("max_matches", "limit"),
    ];
    const SHAPES: &'static [Shape] = other_shapes::SHAPES;
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
        let request = request(args, cx);
        let wanted = request.wanted;
        let most = request.most;
        let searched = cx.search(&target, request).await?;
        Ok(ToolOutput::text(shown(&searched, wanted, most)))
    }
}

fn request(args: Args, cx: &RunContext<'_>) -> SearchRequest {
    let most = cx.limits().grep_matches;
    SearchRequest {
        pattern: args.pattern,
        syntax: if args.literal.unwrap_or(false) { Syntax::Literal } else { Syntax::Regex },
        case: match args.case.unwrap_or(CaseWord::Smart) {
            CaseWord::Smart => Case::Smart,
            CaseWord::Sensitive => Case::Sensitive,
            CaseWord::Insensitive => Case::Insensitive,
        },
        span: if args.multiline.unwrap_or(false) { Span::Lines } else { Span::Line },
        include: args.include.unwrap_or_default(),
        exclude: args.exclude.unwrap_or_default(),
        context: args.context.unwrap_or(0),
        wanted: match args.mode.unwrap_or(Mode::Content) {
            Mode::Content => Wanted::Lines,
            Mode::Files => Wanted::Files,
            Mode::Count => Wanted::Counts,
        },
        most: args.limit.unwrap_or(most).min(most),
        line_length: cx.limits().line_length,
    }
}

fn shown(searched: &Searched, wanted: Wanted, most: usize) -> String {
    let mut text = String::new();
    for file in &searched.files {
        let path = one_line(&file.path);
        let _infallible = match wanted {
            Wanted::Files => writeln!(text, "{path}"),
            Wanted::Counts => writeln!(text, "{path}: {}", file.matches),
            Wanted::Lines => {
                let gap = if text.is_empty() { "" } else { "\n" };
                let _infallible = writeln!(text, "{gap}{path}");
                show_lines(&mut text, &file.lines)
            }
        };
    }
    text.push_str(&summary(searched, wanted, most));
    text
}

fn show_lines(text: &mut String, lines: &[FoundLine]) -> std::fmt::Result {
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
            write!(text, " [… {} more characters]", line.cut_after)?;
        }
        text.push('\n');
    }
    Ok(())
}

fn summary(searched: &Searched, wanted: Wanted, most: usize) -> String {
    if searched.reach == Reach::StoppedEarly {
        let noun = if wanted == Wanted::Files { "file with matches" } else { "match" };
        let shown = if wanted == Wanted::Files && most != 1 {
            format!("{most} files with matches")
        } else {
            Grouped(most as u64).of(noun)
        };
        return format!(
            "[the first {shown}; there are more, the search stopped here. Narrow it with \"path\", \"include\" or the pattern, or count with mode \"count\"]\n"
        );
    }
    let matches = Grouped(searched.matches).of("match");
    let files = Grouped(searched.matched_files).of("file");
    let mut parts = vec![match wanted {
        _ if searched.matches == 0 => "no match".to_owned(),
        Wanted::Lines | Wanted::Counts => format!("{matches} in {files}"),
        Wanted::Files => format!("{files} with matches"),
    }];
    if searched.matched_files > searched.files.len() as u64 {
        parts.push(format!("the first {} shown", Grouped(searched.files.len() as u64).of("file")));
    }
    parts.push(format!("{} searched", Grouped(searched.searched).of("file")));
    parts.extend(words(&searched.left_out, &WAYS));
    format!("[{}]\n", parts.join("; "))
}
