//! Reads a text of settings: each line is an option of its program, and haft judges it as a word of that program.
//!
//! `curl -K`, `wget -e` and `ssh -F` accept such a text in place of flags.

use crate::act::{NestedRun, ProgramReading, SettingsProgram};
use crate::value::ShellValue;

/// Reads the lines of a program's settings.
pub(crate) fn read(program: SettingsProgram, text: &ShellValue) -> ProgramReading {
    let shown = text.shown();
    let lines = shown.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut words = vec![ShellValue::text(program.name())];
    lines.for_each(|line| words.extend(program.words(line).into_iter().map(ShellValue::text)));
    ProgramReading { inner: vec![NestedRun::Words(words)], ..ProgramReading::default() }
}

impl SettingsProgram {
    fn name(self) -> &'static str {
        match self {
            SettingsProgram::Curl => "curl",
            SettingsProgram::Wget => "wget",
            SettingsProgram::Ssh => "ssh",
        }
    }

    /// Returns the flags that a line stands for.
    fn words(self, line: &str) -> Vec<String> {
        let (name, value) = line
            .split_once(|letter: char| letter == '=' || letter == ':' || letter.is_whitespace())
            .map_or((line, ""), |(name, value)| (name.trim(), value.trim_start_matches([' ', '\t', '=', ':'])));
        let value = value.trim_matches('"');
        match self {
            SettingsProgram::Ssh => vec!["-o".to_owned(), format!("{name}={value}")],
            SettingsProgram::Curl if name.starts_with('-') => vec![name.to_owned(), value.to_owned()],
            SettingsProgram::Curl | SettingsProgram::Wget => {
                let flag = format!("--{}", name.trim_start_matches('-').replace('_', "-").to_ascii_lowercase());
                if value.is_empty() { vec![flag] } else { vec![format!("{flag}={value}")] }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(program: SettingsProgram, text: &str) -> Vec<String> {
        match read(program, &ShellValue::text(text)).inner.as_slice() {
            [NestedRun::Words(words)] => words.iter().map(ShellValue::shown).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_line_is_an_option() {
        assert_eq!(
            words(SettingsProgram::Curl, "# x\nupload-file = \"a b\"\nsilent"),
            ["curl", "--upload-file=a b", "--silent"]
        );
        assert_eq!(words(SettingsProgram::Curl, "-o x"), ["curl", "-o", "x"]);
        assert_eq!(words(SettingsProgram::Wget, "output_document=/etc/x"), ["wget", "--output-document=/etc/x"]);
        assert_eq!(
            words(SettingsProgram::Ssh, "Host h\n  ProxyCommand rm x"),
            ["ssh", "-o", "Host=h", "-o", "ProxyCommand=rm x"]
        );
    }
}
