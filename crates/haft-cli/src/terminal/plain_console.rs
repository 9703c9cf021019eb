//! Lets commands about servers print and ask, as plain lines of a terminal.

use std::io;

use haft_host::calling::user_questions::typed_line;
use haft_mcp::client::commands::Console;
use serde_json::Value;

use crate::arguments::Common;
use crate::prompt::{forget_what_was_typed, somebody_is_there};
use crate::screen::{self, StyledText};

impl Console for Common {
    fn say(&self, line: &str) -> io::Result<()> {
        screen::line(&[StyledText::Plain(line)])
    }

    fn talk(&self, line: &str) {
        screen::talk(line);
    }

    fn record(&self, record: &Value) -> io::Result<()> {
        screen::record(&record.to_string())
    }

    fn is_for_programs(&self) -> bool {
        self.json
    }

    fn asks(&self, question: &str) -> io::Result<Option<bool>> {
        if !somebody_is_there() {
            return Ok(None);
        }
        forget_what_was_typed();
        screen::talk(&format!("{question} y  yes   n  no"));
        let answer = typed_line(&mut io::stdin().lock())?.unwrap_or_default();
        Ok(Some(matches!(&*answer, "y" | "yes")))
    }

    fn is_attended(&self) -> bool {
        somebody_is_there()
    }

    fn reads(&self, question: &str) -> io::Result<Option<String>> {
        screen::talk(question);
        typed_line(&mut io::stdin().lock())
    }
}
