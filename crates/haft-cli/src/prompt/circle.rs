//! Asks the person what a model should do that makes no progress.

use std::io;

use haft_agent::overseer::{Advice, Circle, Nobody, Overseer};
use haft_contract::BoxFuture;
use haft_host::conversations::circle_question::converse;

use super::{forget_what_was_typed, somebody_is_there};
use crate::live::LiveLine;

/// Returns an overseer: the person at the terminal if there is one. Other output on this line waits for the answer.
pub(crate) fn overseer(line: LiveLine) -> Box<dyn Overseer> {
    if somebody_is_there() { Box::new(Person(line)) } else { Box::new(Nobody) }
}

/// The person at the terminal.
struct Person(LiveLine);

impl Overseer for Person {
    fn goes_in_circles<'a>(&'a self, circle: &'a Circle) -> BoxFuture<'a, Advice> {
        let circle = circle.clone();
        Box::pin(async move {
            let _held = self.0.hold();
            let asked = tokio::task::spawn_blocking(move || {
                forget_what_was_typed();
                converse(&circle, (&mut io::stdin().lock(), &mut anstream::stderr()))
            });
            // If haft cannot ask the person, the run ends.
            asked.await.ok().and_then(Result::ok).unwrap_or(Advice::End)
        })
    }
}
