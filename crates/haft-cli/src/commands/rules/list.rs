//! `haft rules list`: which rules hold, the strictest first.

use crate::arguments::Common;
use crate::exit::Exit;

/// Runs the command.
pub(super) fn run(_common: &Common) -> anyhow::Result<Exit> {
    for rule in haft_policy::rule::defaults() {
        crate::screen::answer(&rule.name)?;
    }
    Ok(Exit::Ok)
}
