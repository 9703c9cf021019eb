//! Reads a program in a language such as Python, Perl, Ruby, JavaScript, PHP or Lua.
//!
//! It is code, so haft asks about it in any case. This module finds what haft should refuse: commands that it runs, files
//! that it removes, writes or reads, connections, and decoded or downloaded text that it runs. It looks at calls and at
//! the strings in them, not at reachability: a branch that never runs counts as well.
//!
//! If a call gets an unknown value, haft assumes that the value may be any string of the program that no other call has
//! taken.

use crate::act::{ProgramReading, RawEffect};
use crate::languages::strings::{StringSyntax, tokens};
use expression::TokenizedProgram;
use findings::CodeFindings;

mod calls;
mod commands;
mod environment;
mod expression;
mod files;
mod findings;
mod leftovers;
mod names;

/// How deep code may stand in code: `eval("eval('…')")`.
const DEEPEST: usize = 3;

/// How many commands in templates are read.
const MOST_TEMPLATES: usize = 200;

/// Reads a program.
pub(crate) fn read(text: &str) -> ProgramReading {
    let mut findings = CodeFindings::default();
    study(text, &mut findings, 0);
    let templates: Vec<&str> = shell_templates(text).take(MOST_TEMPLATES + 1).collect();
    if templates.len() > MOST_TEMPLATES {
        findings.not_understood("it runs too many commands to be read");
    }
    templates.iter().for_each(|command| findings.script(command));
    let mut reading = ProgramReading::default();
    reading.acts.push(RawEffect::Code("run a program written in the command".to_owned()));
    findings.tell(&mut reading);
    reading
}

/// Returns the commands in templates of JavaScript that a shell runs: ``$`ls` `` of Bun and zx.
fn shell_templates(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("$`").filter_map(|(at, mark)| {
        let command = &text[at + mark.len()..];
        command.find('`').map(|end| &command[..end])
    })
}

/// Adds what a text would do to what is found already.
fn study(text: &str, findings: &mut CodeFindings, depth: usize) {
    if depth > DEEPEST {
        findings.not_understood("it nests code in code too deeply");
        return;
    }
    let folder = findings.folder.clone();
    for dialect in dialects(text) {
        findings.folder.clone_from(&folder);
        match tokens(text, dialect) {
            Some(tokens) => calls::study(&TokenizedProgram::new(tokens), findings, depth),
            None => findings.not_understood("it is too long to be read"),
        }
    }
}

/// The dialects that the program may be in, by words that are written in one of them only.
fn dialects(text: &str) -> Vec<StringSyntax> {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let mut dialects = Vec::new();
    if has(&[
        "require(",
        "process.",
        "console.",
        "const ",
        "let ",
        "child_process",
        "Deno.",
        "Bun.",
        "fetch(",
        "import(",
    ]) {
        dialects.push(StringSyntax::Slash);
    }
    if has(&[
        "os.execute",
        "io.popen",
        "io.open",
        "os.remove",
        "os.rename",
        "local ",
        "io.lines",
        "loadstring",
        "dofile",
    ]) {
        dialects.push(StringSyntax::Dash);
    }
    let hash = [
        "import ",
        "puts",
        "my $",
        "use ",
        "<?",
        "def ",
        "$_",
        "__import__",
        "print ",
        "%x",
        "qx",
        "system",
        "File",
        "shutil",
        "subprocess",
        "urllib",
        "require '",
        "require \"",
        "unlink",
        "echo ",
        "end",
    ];
    if dialects.is_empty() || has(&hash) {
        dialects.push(StringSyntax::Hash);
    }
    dialects
}

#[cfg(test)]
mod tests;
