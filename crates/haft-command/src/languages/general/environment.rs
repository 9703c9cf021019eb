//! Access of a program to the environment: one variable, a secret, or all of it.

use haft_contract::files::guarded::is_secret_variable;

use crate::languages::general::expression::TokenizedProgram;
use crate::languages::general::findings::CodeFindings;
use crate::languages::strings::StringToken;

/// Looks whether the word at a place is the environment, and what is taken of it.
pub(crate) fn study(program: &TokenizedProgram, findings: &mut CodeFindings, at: usize) {
    const ENVIRONMENTS: [&str; 8] =
        ["os.environ", "environ", "ENV", "$ENV", "process.env", "$_ENV", "os.getenv", "getenv"];
    let name = program.name(at);
    if name == "%ENV" {
        findings.reads_environment = true;
        return;
    }
    let is_environment = |name: &str| ENVIRONMENTS.contains(&name);
    let key_at = match name.rsplit_once('.') {
        _ if is_environment(&name) => key_behind(program, at),
        Some((before, "get" | "fetch")) if is_environment(before) => key_behind(program, at),
        Some((before, key)) if before.ends_with("process.env") => {
            note(findings, key);
            return;
        }
        _ => return,
    };
    match key_at.and_then(|at| program.tokens.get(at)) {
        Some(StringToken::Text(key) | StringToken::Word(key)) => note(findings, key),
        Some(_) => findings.reads_environment = true,
        // `os.environ.get` and `process.env.X` are seen again at their last word.
        None if program.is_sign(at + 1, '.') && !is_whole(program, at) => {}
        // An import names it and reads nothing.
        None if at > 0 && matches!(program.word(at - 1), Some("import")) => {}
        None => findings.reads_environment = true,
    }
}

fn key_behind(program: &TokenizedProgram, at: usize) -> Option<usize> {
    ['[', '{', '('].iter().any(|sign| program.is_sign(at + 1, *sign)).then_some(at + 2)
}

fn is_whole(program: &TokenizedProgram, at: usize) -> bool {
    const WHOLE: [&str; 8] = ["items", "values", "copy", "to_h", "each", "to_a", "map", "inspect"];
    program.word(at + 2).is_some_and(|word| WHOLE.contains(&word))
}

fn note(findings: &mut CodeFindings, key: &str) {
    if is_secret_variable(key) {
        findings.secret_variable = Some(key.to_owned());
    }
}
