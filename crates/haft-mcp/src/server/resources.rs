//! Serves the log of changes, and outputs that were too long to show, as resources.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use haft_contract::doors::door::{Breadth, PageRequest};
use haft_host::changes::change_log::as_text;
use haft_host::toolbox::Toolbox;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

/// The log of changes.
pub(crate) const LOG: &str = "haft://log";
const SPILL: &str = "haft://spill/";
/// Most change sets that the log shows.
const MOST_SETS: usize = 100;
/// Most outputs that are listed.
const MOST_SPILLS: usize = 100;
/// Most lines of one page.
const MOST_LINES: usize = 1_000;
/// Most characters of an address in an error.
const LONGEST_URI: usize = 200;
/// Most bytes of one page.
const MOST_BYTES: usize = 256 * 1024;
/// Most characters of one line.
const LONGEST_LINE: usize = 32_000;

/// The outputs of this server that were too long to show, the newest last.
#[derive(Default)]
pub(crate) struct Spills {
    known: Mutex<VecDeque<(String, String)>>,
}

impl Spills {
    /// Remembers the output of a tool.
    pub(crate) fn add(&self, id: &str, tool: &str) {
        let mut known = self.known();
        known.push_back((id.to_owned(), tool.to_owned()));
        if known.len() > MOST_SPILLS {
            known.pop_front();
        }
    }

    fn known(&self) -> MutexGuard<'_, VecDeque<(String, String)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lists what can be read, the newest output first.
pub(crate) fn list(spills: &Spills) -> Vec<Resource> {
    let log = Resource::new(LOG, "log")
        .with_title("Changes in this workspace")
        .with_description("The change sets of this workspace, newest first. \"haft undo N\" undoes one.")
        .with_mime_type("text/plain");
    let spill = |(id, tool): &(String, String)| {
        Resource::new(format!("{SPILL}{id}"), format!("spill-{id}"))
            .with_title(format!("The whole output of a call of {tool}"))
            .with_mime_type("text/plain")
    };
    std::iter::once(log).chain(spills.known().iter().rev().map(spill)).collect()
}

/// Says whether there is such a resource.
pub(crate) fn is_known(spills: &Spills, uri: &str) -> bool {
    let is_spill = |id: &str| spills.known().iter().any(|(known, _)| known == id);
    uri == LOG || uri.strip_prefix(SPILL).is_some_and(is_spill)
}

/// Lists the forms of addresses.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let spill = ResourceTemplate::new(format!("{SPILL}{{id}}{{?line}}"), "spill")
        .with_title("An output that was too long to show")
        .with_description("A page of the output, from this line on (default 1). The result of the call names the id.")
        .with_mime_type("text/plain");
    vec![spill]
}

/// Reads one.
pub(crate) async fn read(toolbox: &Toolbox, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let text = match (uri, uri.strip_prefix(SPILL)) {
        (LOG, _) => log(toolbox).await?,
        (_, Some(rest)) => spill(toolbox, rest).await?,
        (_, None) => return Err(no_such_resource(toolbox, uri)),
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri)]))
}

async fn log(toolbox: &Toolbox) -> Result<String, ErrorData> {
    let host = toolbox.host().clone();
    // Names of files and commands may hold secrets of the workspace.
    let (look, redactor) = (toolbox.host().runtime.doors().look.clone(), toolbox.host().runtime.redactor().clone());
    let log = tokio::task::spawn_blocking(move || {
        redactor.also_hide_files(&look.secrets(Breadth::Whole).changed);
        let log = host.history.log().map_err(|error| error.to_string())?;
        Ok(as_text(log, MOST_SETS, &redactor))
    })
    .await;
    log.unwrap_or_else(|error| Err(error.to_string())).map_err(|why| ErrorData::internal_error(why, None))
}

async fn spill(toolbox: &Toolbox, rest: &str) -> Result<String, ErrorData> {
    let (id, query) = rest.split_once('?').unwrap_or((rest, ""));
    let first_line = match query.strip_prefix("line=") {
        None if query.is_empty() => 1,
        line => match line.and_then(|line| line.parse().ok()).filter(|line| *line > 0) {
            Some(line) => line,
            None => return Err(unknown("only ?line=N may follow the id, with a line from 1 on")),
        },
    };
    let request = PageRequest { first_line, lines: MOST_LINES, column: 1, line_length: LONGEST_LINE };
    let page = toolbox.session().spilled(id, request).await.map_err(|error| unknown(&error.what))?;
    let mut text = String::new();
    let mut next_line = page.first_line;
    for line in &page.lines {
        if !text.is_empty() && text.len() + line.text.len() > MOST_BYTES {
            break;
        }
        text.push_str(&line.text);
        text.push('\n');
        next_line += 1;
    }
    let shown = usize::try_from(next_line - page.first_line).unwrap_or(usize::MAX);
    if page.more || shown < page.lines.len() {
        text.push_str(&format!("[more at {SPILL}{id}?line={next_line}]\n"));
    }
    Ok(text)
}

/// Says that there is no such resource, and which was asked for.
pub(crate) fn no_such_resource(toolbox: &Toolbox, uri: &str) -> ErrorData {
    // What is left out of an address must not make a secret of it again.
    let plain: String = uri.chars().filter(|c| !c.is_control()).collect();
    let uri = toolbox.host().runtime.redactor().redact_known(&plain);
    let shown: String = uri.chars().take(LONGEST_URI).collect();
    let words = "there is no such resource; resources/list lists the resources";
    ErrorData::invalid_params(words, Some(json!({ "uri": shown })))
}

fn unknown(words: &str) -> ErrorData {
    ErrorData::invalid_params(words.to_owned(), None)
}
