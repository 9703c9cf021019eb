//! Calls a tool as the pipeline would, on a workspace of one file in memory.

use std::sync::Arc;

use haft_contract::BoxFuture;
use haft_contract::call::{CallId, CallOrigin};
use haft_contract::context::{PlanContext, ReadHistory, RunContext};
use haft_contract::doors::door::{
    Doors, FileCopy, FileFacts, FileKind, FileOp, FileOpResult, Files, Look, Page, PageLine, PageRequest, Permit,
    PermitIssuer, Provenance, ReadVersion, SessionName, Spill, Spilling, Store,
};
use haft_contract::doors::history::NoHistory;
use haft_contract::doors::idle_workers::IdleWorkers;
use haft_contract::doors::net::NoNet;
use haft_contract::doors::process::{NoProcesses, Staging, StagingMode};
use haft_contract::effect::{Change, Effect};
use haft_contract::files::path::{Extent, FileLocation, RawPath, Target};
use haft_contract::files::search::{
    FindRequest, FindResult, FolderListing, ListRequest, SearchRequest, SearchResult, SearchedSoFar,
};
use haft_contract::files::stamp::FileStamp;
use haft_contract::limits::Limits;
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::output::Image;
use haft_contract::text::encoding::TextForm;
use haft_contract::text::lines::LineEnds;
use haft_contract::tool::{AnyTool, Tool, Typed};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Binds, plans and runs a call; returns one line per effect, then what the model reads.
pub async fn call(tool: impl Tool, args: Value) -> String {
    let mut lines = Vec::new();
    if let Err(error) = follow(tool, args, &mut lines).await {
        lines.push(error.to_string());
    }
    lines.join("\n")
}

async fn follow(tool: impl Tool, args: Value, lines: &mut Vec<String>) -> Result<(), ToolError> {
    let processes = Arc::new(NoProcesses);
    let (look, files, store) = (Arc::new(OneFile), Arc::new(OneFile), Arc::new(OneFile));
    let doors = Doors {
        look,
        files,
        processes,
        net: Arc::new(NoNet),
        store,
        history: Arc::new(NoHistory),
        idle_workers: IdleWorkers::default(),
    };
    let limits = Limits::default();
    let mut bound = Arc::new(Typed::new(tool)).bind(&args)?;
    let plan = bound.plan(&PlanContext::new(&doors, &OneFile, CallOrigin::Model, &limits)).await?;
    lines.extend(plan.effects.iter().map(|effect| format!("would {effect}")));
    let session = SessionName::new("scene");
    let errand = Provenance {
        call: CallId::new("1"),
        tool: "t".into(),
        session: session.clone(),
        run: "r".into(),
        turn: 1,
        purpose: haft_contract::doors::door::Purpose::default(),
        old_changes: haft_contract::doors::door::OldChanges::Stay,
    };
    let permit = Permit::issue(&PermitIssuer::of_the_runtime(), errand, plan.effects, CancellationToken::new());
    let output = bound.run(&RunContext::new(&permit, &doors, &session, &limits)).await?;
    lines.extend(output.for_model.iter().filter_map(|content| content.text().map(str::to_owned)));
    lines.extend(output.data.map(|data| format!("data {data}")));
    Ok(())
}

/// The workspace: there is `notes.txt`, and nothing else.
struct OneFile;

const STAMP: FileStamp = FileStamp { size: 6, modified_ns: 0, changed_ns: 0, inode: 1 };

fn is_notes(target: &Target) -> bool {
    target.to_string() == "notes.txt"
}

async fn unused<T>() -> Result<T, ToolError> {
    Err(ToolError::of(ErrorKind::Bug, "No scene needs this."))
}

impl Look for OneFile {
    fn locate(&self, raw: &RawPath, extent: Extent) -> Result<Target, ToolError> {
        match raw.as_str().strip_prefix("./").unwrap_or(raw.as_str()) {
            "nowhere" => Err(ToolError::of(ErrorKind::MissingFile, "\"nowhere\" cannot be located.")),
            path => Ok(Target::Inside(FileLocation::new(path, extent))),
        }
    }

    fn facts(&self, _: &Target) -> Result<FileFacts, ToolError> {
        Ok(FileFacts { kind: FileKind::File, stamp: STAMP })
    }

    fn stamp(&self, target: &Target) -> Option<FileStamp> {
        is_notes(target).then_some(STAMP)
    }

    fn read(&self, target: &Target, _: u64) -> Result<FileCopy, ToolError> {
        Err(ToolError::of(ErrorKind::MissingFile, format!("{target} is not read here.")))
    }
}

impl ReadHistory for OneFile {
    fn when_read(&self, _: &Target) -> Option<ReadVersion> {
        None
    }
}

impl Files for OneFile {
    fn uncovered(&self) -> Option<String> {
        None
    }

    fn page<'a>(
        &'a self,
        permit: &'a Permit,
        target: &'a Target,
        _: PageRequest,
    ) -> BoxFuture<'a, Result<Page, ToolError>> {
        Box::pin(async move {
            permit.admit(&Effect::Read(target.clone()))?;
            let lines = vec![PageLine { text: "hello".into(), before: 0, cut: 0 }];
            let (form, line_ends) = (TextForm::utf8(), LineEnds::Newline);
            Ok(Page { lines, first_line: 1, more: false, total_lines: Some(1), form, line_ends, lossy: false })
        })
    }

    fn image<'a>(&'a self, _: &'a Permit, _: &'a Target, _: u64) -> BoxFuture<'a, Result<Option<Image>, ToolError>> {
        Box::pin(unused())
    }

    fn list<'a>(
        &'a self,
        _: &'a Permit,
        _: &'a Target,
        _: ListRequest,
    ) -> BoxFuture<'a, Result<FolderListing, ToolError>> {
        Box::pin(unused())
    }

    fn find<'a>(
        &'a self,
        _: &'a Permit,
        _: &'a Target,
        _: FindRequest,
    ) -> BoxFuture<'a, Result<FindResult, ToolError>> {
        Box::pin(unused())
    }

    fn search<'a>(
        &'a self,
        _: &'a Permit,
        _: &'a Target,
        _: SearchRequest,
        _: &'a (dyn Fn(SearchedSoFar) + Send + Sync),
    ) -> BoxFuture<'a, Result<SearchResult, ToolError>> {
        Box::pin(unused())
    }

    fn change<'a>(
        &'a self,
        permit: &'a Permit,
        ops: &'a [FileOp],
    ) -> BoxFuture<'a, Result<Vec<FileOpResult>, ToolError>> {
        Box::pin(async move {
            let mut written = Vec::new();
            for op in ops {
                let FileOp::Put(target, _) = op else { return unused().await };
                let change = if is_notes(target) { Change::Replace } else { Change::Create };
                permit.admit(&Effect::Change(target.clone(), change))?;
                written.push(FileOpResult { change, notes: Vec::new() });
            }
            Ok(written)
        })
    }

    fn ground<'a>(&'a self, _: &'a Permit, _: StagingMode) -> BoxFuture<'a, Result<Box<dyn Staging>, ToolError>> {
        Box::pin(unused())
    }
}

impl Store for OneFile {
    fn spill<'a>(&'a self, _: &'a SessionName, _: &'a str) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(unused())
    }

    fn spilling(&self, _: &SessionName, _: u64) -> Result<Box<dyn Spilling>, ToolError> {
        Err(ToolError::of(ErrorKind::Bug, "No scene needs this."))
    }

    fn spilled<'a>(&'a self, _: &'a Permit, _: Spill<'a>, _: PageRequest) -> BoxFuture<'a, Result<Page, ToolError>> {
        Box::pin(unused())
    }
}
