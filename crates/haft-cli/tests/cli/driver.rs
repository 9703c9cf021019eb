//! A program that makes one call after the other in one session (`haft call -`).

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::Value;

use super::Place;

pub(super) struct Driver {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Driver {
    pub(super) fn start(place: &Place) -> Self {
        let mut command = place.command(&["call", "-"]);
        let mut child = command.stderr(Stdio::inherit()).spawn().expect("the command runs");
        let input = child.stdin.take().expect("it has an input");
        let output = BufReader::new(child.stdout.take().expect("it has an output"));
        Self { child, input, output }
    }

    /// Makes a call in a turn of its own; returns its record.
    pub(super) fn call(&mut self, text: &str) -> Value {
        writeln!(self.input, "{text}\n").expect("it reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it answers");
        serde_json::from_str(&line).expect("a record")
    }

    /// Ends the session, which was in order.
    pub(super) fn ends(mut self) {
        drop(self.input);
        assert!(self.child.wait().expect("it ends").success());
    }
}
