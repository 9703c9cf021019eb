//! Asks a worker about a function outside any call: for `haft check`, and for words missing from a definition.

use std::path::PathBuf;
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_contract::doors::inspection::{Inspection, Inspector};
use haft_contract::doors::process::Keeps;
use haft_contract::files::path::FileLocation;
use haft_contract::prelude::*;

use super::super::claims::Draft;
use super::talk::WorkerAnswer;
use super::{Description, Function, FunctionRequest};

/// How long a module may take to be imported.
const TIME: Duration = Duration::from_secs(30);

/// Asks what a function looks like. Whatever importing its module changes is discarded.
pub(in super::super) async fn describe(
    function: Function,
    inspector: &impl Inspector,
) -> Result<Description, ToolError> {
    inspector.inspect(&Describing { function }).await
}

/// Imports the module of a function, and asks what the function looks like.
struct Describing {
    function: Function,
}

impl Inspection for Describing {
    type Found = Description;

    fn tool(&self) -> &str {
        &self.function.spec.name
    }

    fn line(&self) -> CommandLine {
        let name = &self.function.name;
        CommandLine(format!("describe {}:{}", name.module, name.function))
    }

    fn run<'a>(&'a self, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<Description, ToolError>> {
        let function = &self.function;
        Box::pin(async move {
            let root = cx.look().real_path(&Target::Inside(FileLocation::new("", Extent::Tree)));
            let folder = root.unwrap_or_else(|| PathBuf::from(&function.home.workspace));
            let inside = function.definition.effects.as_ref().map(|_| Vec::new());
            let (line, outside) = (self.line().0, Vec::new());
            let draft = Draft { line, folder, time: TIME, keeps: Keeps::All, outside, inside, network: false };
            let served = function.serve(draft, FunctionRequest::Description, cx).await?;
            match served.answer {
                Some(WorkerAnswer::Description(description)) => Ok(description),
                Some(WorkerAnswer::Failed(failure)) => Err(failure.into_error(&function.spec.name)),
                _ => Err(function.broken(&served)),
            }
        })
    }
}
