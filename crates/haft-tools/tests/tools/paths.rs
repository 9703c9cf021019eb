//! The cases of `tests/cases/paths.jsonl` and `more_paths.jsonl`: where a path leads, and what may be done there.
//!
//! Every case gets a base folder of its own with `ws/`, `out/` and `home/`, and one call through the whole
//! pipeline. Ordinary questions are answered with yes, so that what is left is about the place.

#[path = "paths/checks.rs"]
mod checks;
#[path = "paths/setup.rs"]
mod setup;

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use haft_contract::call::{CallOrigin, RawArguments, ToolCall};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::result::{Status, ToolResult};
use haft_runtime::asking::approval::YesToOrdinary;
use haft_testkit::file_tools::{Remove, Rename};
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::nobody;
use serde::Deserialize;
use serde_json::{Value, json};

use setup::Step;

const CASES: [&str; 2] =
    [include_str!("../../../../tests/cases/paths.jsonl"), include_str!("../../../../tests/cases/more_paths.jsonl")];

/// A call answers within this time, whatever the path is.
const LONGEST: Duration = Duration::from_secs(1);
/// A call that takes longer than this hangs.
const HANGS: Duration = Duration::from_secs(10);
/// How often a call runs while another thread swaps its file.
const RACES: usize = 40;
/// How many cases run side by side: most of them wait for the disk.
const AT_ONCE: usize = 3;

/// One case, as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "a case also has words for people")]
struct Case {
    id: String,
    op: String,
    path: String,
    verdict: String,
    accept: Vec<String>,
    kind: String,
    why: String,
    #[serde(default)]
    setup: Vec<Step>,
    #[serde(default)]
    check: Option<String>,
}

/// The folders of one case.
pub(crate) struct Base(PathBuf);

impl Base {
    fn of(scene: &Scene) -> Self {
        let base = Self(scene.root().parent().expect("a workspace has a folder around it").to_owned());
        for name in ["out", "home"] {
            std::fs::create_dir(base.path(name)).expect("folders can be made");
        }
        base
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Puts the real folders in the place of their names.
    fn expanded(&self, text: &str) -> String {
        ["WS", "OUT", "HOME"].iter().fold(text.to_owned(), |text, name| {
            let folder = self.path(&name.to_lowercase());
            text.replace(&format!("${{{name}}}"), folder.to_str().expect("temporary folders are text"))
        })
    }
}

#[test]
fn the_path_cases_hold() {
    let mut ids = std::collections::BTreeSet::new();
    let lines = CASES.iter().flat_map(|cases| cases.lines()).filter(|line| !line.trim().is_empty());
    let cases: Vec<Case> =
        lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect();
    for case in &cases {
        assert!(case.accept.contains(&case.verdict), "{}: the verdict itself is not accepted", case.id);
        assert!(ids.insert(&case.id), "{} is there twice", case.id);
    }
    let wrong = |cases: &[Case]| -> Vec<String> { cases.iter().filter_map(|case| judged(case).err()).collect() };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let parts = cases.chunks(cases.len().div_ceil(AT_ONCE)).map(|part| scope.spawn(move || wrong(part)));
        let parts: Vec<_> = parts.collect();
        parts.into_iter().flat_map(|part| part.join().expect("a case does not break the test")).collect()
    });
    assert!(wrong.is_empty(), "{} of {} cases are wrong:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Runs a case; on a busy machine it may try again to be in time.
fn judged(case: &Case) -> Result<(), String> {
    let named = |why: String| format!("{} ({} {:?}): {why}\n   {}", case.id, case.op, case.path, case.why);
    let in_time = |took: Duration| took <= LONGEST;
    if in_time(on_a_thread(case).map_err(named)?) {
        return Ok(());
    }
    let took = on_a_thread(case).map_err(named)?;
    if in_time(took) { Ok(()) } else { Err(named(format!("answered after {took:?}"))) }
}

/// Runs a case on a thread of its own, so that one that hangs is told and not waited for.
fn on_a_thread(case: &Case) -> Result<Duration, String> {
    let (sender, receiver) = mpsc::channel();
    let case = case.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("threads can be made");
        // The test may have given up on this case.
        let _ = sender.send(runtime.block_on(run(&case)));
    });
    receiver.recv_timeout(HANGS).unwrap_or_else(|error| Err(format!("hangs or breaks: {error}")))
}

async fn run(case: &Case) -> Result<Duration, String> {
    let scene = Scene::new().tool(Remove).tool(Rename).approver(YesToOrdinary::or_ask(nobody()));
    let base = Base::of(&scene);
    case.setup.iter().for_each(|step| step.lay_out(&base));
    let Some((tool, arguments)) = call_of(case, &base, &scene) else { return Ok(Duration::ZERO) };
    let before = checks::Before::of(&base);
    let races: Vec<_> = case.setup.iter().filter_map(|step| step.begin_race(&base)).collect();
    let mut longest = Duration::ZERO;
    for _ in 0..if races.is_empty() { 1 } else { RACES } {
        scene.session().begin_turn();
        let begun = Instant::now();
        let call = ToolCall::new(&tool, RawArguments::from(arguments.clone())).by(CallOrigin::Person);
        let result = scene.send(call).await;
        longest = longest.max(begun.elapsed());
        judge(case, &result)?;
        checks::during(case.check.as_deref(), &result)?;
    }
    drop(races);
    checks::afterwards(case.check.as_deref(), &base, &before)?;
    Ok(longest)
}

fn judge(case: &Case, result: &ToolResult) -> Result<(), String> {
    let verdict = verdict(result);
    let said = haft_testkit::snapshot::told(result);
    if result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::Bug) {
        return Err(format!("a defect: {said}"));
    }
    if case.accept.iter().any(|accepted| accepted == verdict) {
        return Ok(());
    }
    Err(format!("{verdict} instead of {}:\n   {}", case.accept.join(" or "), said.replace('\n', "\n   ")))
}

fn verdict(result: &ToolResult) -> &'static str {
    let kind = result.error.as_ref().map(|error| error.kind);
    match (result.status, kind) {
        (Status::Ok, _) => "allow",
        (_, Some(ErrorKind::NeedsApproval)) => "ask",
        (_, Some(ErrorKind::Denied)) => "deny",
        _ => "error",
    }
}

/// The call that a case means, when there is a tool for it.
fn call_of(case: &Case, base: &Base, scene: &Scene) -> Option<(String, Value)> {
    let path = base.expanded(&case.path);
    let (tool, arguments) = match case.op.as_str() {
        "read" => ("read_file", json!({ "path": path })),
        "write" => ("write_file", json!({ "path": path, "content": "written\n", "write_mode": "overwrite" })),
        "edit" => ("edit_file", json!({ "path": path, "edits": [{ "old_text": "x", "new_text": "y" }] })),
        "list" => ("list_dir", json!({ "path": path, "hidden": true, "depth": 5 })),
        "glob" => ("glob", json!({ "path": path, "pattern": "**" })),
        "grep" | "search" => ("grep", json!({ "path": path, "pattern": "." })),
        "delete" => ("remove", json!({ "path": path })),
        "move" => {
            let (from, to) = path.split_once(" -> ").expect("a move says from where to where");
            ("rename", json!({ "from": from, "to": to }))
        }
        op => panic!("{}: no tool does {op}", case.id),
    };
    scene.runtime().catalog().find(tool).is_some().then(|| (tool.to_owned(), arguments))
}

/// Returns the entries of a folder by name.
fn names_in(folder: &Path) -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    names.sort();
    names
}
