//! Converts a result to the protocol: text for the model, and the outcome of the call for programs.

use base64::prelude::{BASE64_STANDARD, Engine};
use haft_contract::doors::door::ChangeSetId;
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::output::Content;
use haft_contract::outcome::result::{Did, Status, ToolResult};
use haft_runtime::catalogue::entry::CatalogEntry;
use haft_runtime::runtime::Runtime;
use rmcp::model::{Annotations, CallToolResult, ContentBlock, MetaObject, Role, TextContent};
use serde_json::{Map, Value, json};

use super::listing::{is_reported, promised};

/// Where a result says what became of the call.
pub(crate) const RECORD: &str = "haft/record";
/// Longest data of a report, in bytes: what repeats the text is not sent twice.
const LONGEST_DATA: usize = 2_000;
/// Most changed files that are named for programs.
const MOST_FILES: usize = 50;

/// Makes the answer to a call of a tool.
pub(crate) fn of_result(result: &ToolResult, entry: &CatalogEntry, runtime: &Runtime) -> CallToolResult {
    let mut content: Vec<ContentBlock> = result.content.iter().map(block).collect();
    content.extend(for_user(result));
    let mut answer = match result.status {
        Status::Ok => CallToolResult::success(content),
        Status::Failed | Status::Refused | Status::TimedOut | Status::Cancelled => CallToolResult::error(content),
    };
    let record = record(result);
    answer.structured_content = match is_reported(entry, runtime) {
        true => Some(report(result, &record)),
        false => structured(result, entry, runtime),
    };
    let mut meta = MetaObject::default();
    meta.0.insert(RECORD.to_owned(), record);
    answer.meta = Some(meta);
    answer
}

fn block(piece: &Content) -> ContentBlock {
    match piece {
        Content::Text(text) => ContentBlock::text(text),
        Content::Image(image) => ContentBlock::image(BASE64_STANDARD.encode(&image.bytes), image.media_type),
    }
}

/// What only the user can do about a refusal, such as the rule that would allow it.
fn for_user(result: &ToolResult) -> Option<ContentBlock> {
    let error = result.error.as_ref().filter(|error| error.kind == ErrorKind::NeedsApproval)?;
    let audience = Annotations::default().with_audience(vec![Role::User]);
    let text = TextContent::new(format!("For the user: {}", error.detail.as_ref()?)).with_annotations(audience);
    Some(ContentBlock::Text(text))
}

/// The data of a result, where a client may show it instead of the text without losing anything: where it is promised, or
/// where the text says the same.
fn structured(result: &ToolResult, entry: &CatalogEntry, runtime: &Runtime) -> Option<Value> {
    let data = result.data.as_ref().filter(|data| data.is_object())?;
    let is_promised = result.status == Status::Ok && promised(entry.shown(), runtime).is_some();
    let says_the_same = || serde_json::from_str::<Value>(&result.text()).is_ok_and(|said| said == *data);
    (is_promised || says_the_same()).then(|| data.clone())
}

/// Tells a result of haft's own tools as an object. The text is part of it, because there are clients that show a model
/// nothing but the object.
fn report(result: &ToolResult, record: &Value) -> Value {
    let mut report = Map::from_iter([("text".to_owned(), Value::from(result.text()))]);
    for name in ["status", "did", "change_set", "files", "exit_code", "spill", "error"] {
        report.extend(record.get(name).map(|value| (name.to_owned(), value.clone())));
    }
    let data = result.data.as_ref().filter(|data| data.is_object() && data.to_string().len() <= LONGEST_DATA);
    report.extend(data.map(|data| ("data".to_owned(), data.clone())));
    Value::Object(report)
}

fn record(result: &ToolResult) -> Value {
    let mut record = Map::new();
    record.insert("status".to_owned(), result.status.code().into());
    let did = match &result.did {
        Did::Nothing => "nothing",
        Did::Changed { files, change_set } => {
            if let Some(ChangeSetId(number)) = change_set {
                record.insert("change_set".to_owned(), (*number).into());
            }
            let named: Vec<String> = files.iter().take(MOST_FILES).map(ToString::to_string).collect();
            record.insert("files".to_owned(), named.into());
            if files.len() > MOST_FILES {
                record.insert("more_files".to_owned(), (files.len() - MOST_FILES).into());
            }
            "changed"
        }
        Did::Unknown(_) => "unknown",
    };
    record.insert("did".to_owned(), did.into());
    if let Some(error) = &result.error {
        record.insert("error".to_owned(), json!({ "kind": error.kind.code(), "rule": error.rule }));
    }
    let spill = result.spilled.as_ref().map(|id| json!(format!("haft://spill/{id}")));
    let exit_code = result.exit_code.map(Value::from);
    let sandbox = result.sandbox.map(|level| level.code().into());
    for (name, value) in [("spill", spill), ("exit_code", exit_code), ("sandbox", sandbox)] {
        record.extend(value.map(|value| (name.to_owned(), value)));
    }
    Value::Object(record)
}
