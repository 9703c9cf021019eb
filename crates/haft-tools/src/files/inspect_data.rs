//! Describes a data file: structure, types, ranges, examples, in as many words as the caller has room for.
//!
//! haft scans a file and never loads it: memory is bounded for every file size, and a scan stops after two seconds with
//! what it has. It reads the beginning and parts of the rest of a large file, and the answer says so.
//!
//! Not here: reading the file (the file door), changing data (`bash`, `run_code`).

mod archive;
mod column;
mod documents;
mod format;
mod json_scan;
mod report;
mod shape;
mod source;
mod sqlite;
mod survey;
mod table_scan;
mod tar_list;
mod text_lines;
mod zip_list;

use haft_contract::prelude::*;

use crate::catalogue::shapes::FILE_NAMES;
use format::{Format, FormatArgument};
use survey::{TextSink, look};

/// Room of a report without a wish, in tokens.
const USUAL_TOKENS: usize = 1_500;
/// About how many characters a token has.
const CHARACTERS: usize = 4;

/// Says what is in a data file.
pub struct InspectData;

/// The arguments of `inspect_data`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file.
    path: RawPath,
    /// Max tokens of the result. Default 1500.
    #[schemars(range(min = 100, max = 8_000))]
    tokens: Option<usize>,
    /// Reads it as this format. Default: found by its content.
    format: Option<FormatArgument>,
}

impl Tool for InspectData {
    const NAME: &'static str = "inspect_data";
    const DOES: AtMost = AtMost::Looks;
    const DEFERRED: bool = true;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] =
        &[("path", FILE_NAMES), ("tokens", &["max_tokens", "token_budget"])];
    const OTHER_NAMES: &'static [&'static str] = &["llm_friendly", "describe_data", "preview_data"];
    const PATHS: &'static [&'static str] = &["path"];
    type Args = Args;
    type Draft = Target;

    fn manual(&self) -> Manual {
        Manual::read(include_str!("inspect_data.md"))
    }

    async fn plan(&self, args: &Args, cx: &PlanContext<'_>) -> Result<(Plan, Target), ToolError> {
        let target = cx.locate(&args.path)?;
        if target.is_inside() && cx.look().facts(&target)?.kind == FileKind::Folder {
            let next = Next::UseInstead { tool: "list_dir".into(), to: "to see what is in it".into() };
            return Err(ToolError::new(ErrorKind::IsFolder, format!("{target} is a folder."), next));
        }
        Ok((Plan::new([Effect::Read(target.clone())]), target))
    }

    async fn run(&self, args: Args, target: Target, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let file = cx.open(&target).await?;
        let path = target.to_string();
        let (name, wanted) = (path.clone(), args.format.map(FormatArgument::format));
        let looking = tokio::task::spawn_blocking(move || look(file, &name, wanted));
        let broke = |error| ToolError::of(ErrorKind::Bug, format!("Reading {path} failed: {error}"));
        let survey = looking.await.map_err(broke)??;
        let room = args.tokens.unwrap_or(USUAL_TOKENS).saturating_mul(CHARACTERS).min(cx.limits().result_whole);
        let hide = |text: &str| cx.hide(text).into_owned();
        let text = report::written(&survey, &path, (room, &hide));
        let text = match survey.format {
            Format::Binary => text + "haft cannot read this kind of data; for an image use read_file\n",
            _ => text,
        };
        Ok(ToolOutput::text(text).with_data(report::data(&survey, &hide)))
    }
}

impl TextSink for json_scan::JsonScan {
    fn take(&mut self, bytes: &[u8]) {
        self.take(bytes);
    }

    fn has_ended(&self) -> bool {
        self.has_ended()
    }
}

impl TextSink for table_scan::TableScan {
    fn take(&mut self, bytes: &[u8]) {
        self.take(bytes);
    }
}
