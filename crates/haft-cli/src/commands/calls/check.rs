//! `haft check`: reports every problem of a file, with its line and the fix.

use haft_host::reports::check::{CheckReport, ToolTrialReport, Trying, check};
use haft_runtime::conformance::ConformanceVerdict;

use crate::arguments::{Check, Common};
use crate::exit::Exit;
use crate::screen::{self, StyledText};

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &Check) -> anyhow::Result<Exit> {
    let trying = if arguments.run { Trying::Everything } else { Trying::Examples };
    let report = check(&common.options(), &arguments.paths, trying)?;
    let CheckReport { found, tried, not_tried } = &report;
    for found in found {
        if common.json { screen::record(&found.record()) } else { screen::answer(&found.line()) }?;
    }
    tried.iter().try_for_each(|tried| show(common, tried))?;
    Ok(match () {
        () if report.has_failed() => Exit::Failed,
        // A caller that wants tools to run must not believe that they did.
        () if arguments.run && *not_tried => Exit::Refused,
        () => Exit::Ok,
    })
}

/// Shows each check of a tool in a line, or as a record.
fn show(common: &Common, tried: &ToolTrialReport) -> anyhow::Result<()> {
    if common.json {
        let records = tried.findings.iter().map(|finding| tried.record(finding).to_string());
        return Ok(records.into_iter().try_for_each(|record| screen::record(&record))?);
    }
    let file = tried.file.display().to_string();
    screen::line(&[StyledText::Strong(&file), StyledText::Plain(": "), StyledText::Strong(&tried.tool)])?;
    for finding in &tried.findings {
        let verdict = match finding.verdict {
            ConformanceVerdict::Passed => StyledText::Good("pass    "),
            ConformanceVerdict::Failed => StyledText::Bad("FAIL    "),
            ConformanceVerdict::Skipped => StyledText::Faint("skipped "),
        };
        let fix = finding.fix.as_ref().map(|fix| format!("; {fix}")).unwrap_or_default();
        let what = format!(" {:<16} {}{fix}", finding.check, one_line(&finding.what));
        screen::line(&[StyledText::Plain("  "), verdict, StyledText::Plain(&what)])?;
    }
    Ok(())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
