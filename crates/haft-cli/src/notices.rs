//! Shows the host's remarks at the terminal, and asks there whether the user trusts a project.

use std::io::{self, BufRead, Write};

use haft_host::notices::{Notices, UntrustedFiles};
use haft_host::opening::project_files::MEANING;

use crate::prompt::{forget_what_was_typed, somebody_is_there};
use crate::screen::{self, StyledText, safe};
use haft_host::calling::user_questions::typed_line;
use haft_host::texts::wrapped::wrapped;

/// Shows remarks on stderr.
pub(crate) struct Stderr;

impl Notices for Stderr {
    fn note(&self, text: &str) {
        screen::talk(text);
    }

    fn warn(&self, text: &str) {
        screen::talk_part(&StyledText::Bad(text));
    }

    fn can_ask(&self) -> bool {
        somebody_is_there()
    }

    fn asks_for_trust(&self, files: &UntrustedFiles) -> io::Result<bool> {
        forget_what_was_typed();
        ask(files, &mut io::stdin().lock(), &mut anstream::stderr())
    }
}

/// Asks whether a project is trusted. The end of input means no.
fn ask(files: &UntrustedFiles, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<bool> {
    writeln!(output, "This project has files for haft that you do not trust yet:")?;
    for name in &files.new {
        writeln!(output, "  {}", safe(name))?;
    }
    for (name, what) in &files.changed {
        writeln!(output, "  {} (changed: {})", safe(name), safe(&what.join(", ")))?;
    }
    for name in &files.gone {
        writeln!(output, "  {} (removed)", safe(name))?;
    }
    wrapped(MEANING, screen::talk_width(), 0).iter().try_for_each(|row| writeln!(output, "{row}"))?;
    writeln!(output, "y  yes, I have read them and trust them as they are")?;
    writeln!(output, "n  no, continue without them")?;
    loop {
        write!(output, "> ")?;
        output.flush()?;
        let Some(answer) = typed_line(input)? else {
            return Ok(false);
        };
        match answer.to_ascii_lowercase().as_str() {
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => writeln!(output, "Answer y or n.")?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_trusts_a_project() {
        let files = UntrustedFiles { new: vec![".haft/a\u{1b}[2J".into()], ..UntrustedFiles::default() };
        let answered = |input: &str| {
            let mut output = Vec::new();
            let answer = ask(&files, &mut input.as_bytes(), &mut output).expect("memory can be written");
            (answer, String::from_utf8_lossy(&output).into_owned())
        };
        assert!(answered("y\n").0 && answered("\nmaybe\nyes\n").0 && answered("Y\n").0);
        assert!(!answered("n\n").0 && !answered("").0 && !answered("1\ny please\n").0);
        assert!(!answered("n\n").1.contains('\u{1b}'));
    }
}
