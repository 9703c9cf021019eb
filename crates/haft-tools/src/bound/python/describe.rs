//! Asks a worker about a function outside of any call: for `haft check`, and for words that a definition lacks.

use std::path::PathBuf;
use std::time::Duration;

use haft_contract::call::CallId;
use haft_contract::context::Unheard;
use haft_contract::door::{Doors, Errand, Permit, SessionName};
use haft_contract::limits::Limits;
use haft_contract::path::Place;
use haft_contract::prelude::*;
use haft_contract::process::{Keeps, Settle};
use tokio_util::sync::CancellationToken;

use super::super::claims::Draft;
use super::talk::Answer;
use super::{Description, Function, Wish};

/// How long a module may take to be imported.
const TIME: Duration = Duration::from_secs(30);

/// Asks what a function looks like. Whatever importing its module changes is thrown away.
pub(in super::super) async fn describe(
    function: &Function,
    (doors, limits): (&Doors, &Limits),
) -> Result<Description, ToolError> {
    let line = format!("describe {}:{}", function.module, function.function);
    let (call, session) = (CallId::new("describe"), SessionName::new("describe"));
    let errand = Errand {
        call,
        tool: function.spec.name.clone(),
        session: session.clone(),
        run: "describe".into(),
        turn: 1,
        purpose: haft_contract::door::Purpose::default(),
    };
    let effects = [Effect::Run(CommandLine(line.clone()))];
    let permit = Permit::issue(errand, effects.into(), Vec::new(), CancellationToken::new());
    let cx = RunContext::new(&permit, doors, &Unheard, (&session, limits)).settling(Settle::Show);
    let root = doors.look.real_path(&Target::Inside(Place::new("", Extent::Tree)));
    let folder = root.unwrap_or_else(|| PathBuf::from(&function.home.workspace));
    let inside = function.definition.effects.as_ref().map(|_| Vec::new());
    let draft = Draft { line, folder, time: TIME, keeps: Keeps::All, outside: Vec::new(), inside, network: false };
    let served = function.serve(draft, Wish::Description, &cx).await?;
    match served.answer {
        Some(Answer::Description(description)) => Ok(description),
        Some(Answer::Failed(failure)) => Err(failure.into_error(&function.spec.name)),
        _ => Err(function.broken(&served)),
    }
}
