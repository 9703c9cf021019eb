//! What a program in a language such as Python or Perl would do.

use crate::command::act::{Act, Reading};

/// Reads a program.
pub(super) fn read(_text: &str) -> Reading {
    Reading { acts: vec![Act::Code("run a program written in the command".to_owned())], ..Reading::default() }
}
