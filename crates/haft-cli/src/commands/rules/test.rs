//! `haft rules test`: tests the examples of all rules, and of the table of programs.

use haft_config::rules::Mistakes;
use haft_policy::examples::failures_of_table;

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen;
use haft_host::opening::loaded_workspace::LoadedWorkspace;
use haft_host::opening::project_files::OnUntrusted;

/// Runs the command.
pub(super) fn run(common: &Common) -> anyhow::Result<Exit> {
    // Reading rules proves their examples; what stops every other start is the answer here.
    let written = match LoadedWorkspace::open(&common.options(), OnUntrusted::Report) {
        Ok(LoadedWorkspace { rulebook, .. }) => {
            let examples = rulebook.own.iter().chain(&rulebook.project).map(|filed| &filed.written.examples);
            Ok(examples.map(|examples| examples.matches.len() + examples.not_matches.len()).sum::<usize>())
        }
        Err(error) => match error.downcast::<Mistakes>() {
            Ok(Mistakes(mistakes)) => Err(mistakes.iter().map(ToString::to_string).collect::<Vec<_>>()),
            Err(other) => return Err(other),
        },
    };
    let of_table = failures_of_table();
    for failure in written.as_ref().err().into_iter().flatten().chain(&of_table) {
        screen::answer(failure)?;
    }
    match written {
        Ok(count) if of_table.is_empty() => {
            screen::talk(&format!("All examples hold: {count} of written rules, and those of the table of programs."));
            Ok(Exit::Ok)
        }
        _ => Ok(Exit::Failed),
    }
}
