//! Finds files by their names.

use std::fmt::Write;

use haft::grouped::Grouped;
use haft::path::one_line;
use haft::prelude::*;

use crate::left_out::{Ways, words};

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
        ("max_results", "limit"),
        ("sort_by", "sort"),
    ];
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
