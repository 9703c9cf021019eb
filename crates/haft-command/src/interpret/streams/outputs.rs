//! Output of well-known programs that only compute: `$(dirname "$HOME")` is a folder, `$(which rm)` a program.

use crate::act::StreamContent;
use crate::interpret::Interpreter;
use crate::value::{ShellValue, ValuePiece};

/// Stands for the number of a process of haft.
const OWN_PROCESS: &str = "(haft)";

impl Interpreter<'_> {
    /// Returns what a program prints, where it can be known.
    pub(crate) fn output_of(&self, name: &str, words: &[ShellValue]) -> Option<StreamContent> {
        let operands: Vec<&ShellValue> = words[1..].iter().filter(|word| !word.prefix().starts_with('-')).collect();
        let first = operands.first().copied();
        // With further words they print more than one path, or cut something off.
        let only = first.filter(|_| operands.len() == 1);
        let flags: Vec<&ShellValue> = words[1..].iter().filter(|word| word.prefix().starts_with('-')).collect();
        let has_only = |usual: &[&str]| flags.iter().all(|flag| flag.known().is_some_and(|flag| usual.contains(&flag)));
        let text = match (name, only.or(first)) {
            ("dirname" | "basename" | "realpath" | "readlink" | "which", _) if only.is_none() => return None,
            ("dirname", Some(path)) if has_only(&["--"]) => parent(path),
            ("basename", Some(path)) if has_only(&["--"]) => {
                ShellValue::text(path.known()?.trim_end_matches('/').rsplit('/').next()?)
            }
            ("realpath", Some(path)) if has_only(&["--", "-e", "-m", "-s", "-P", "-L", "-q"]) => path.clone(),
            // Without a flag it prints what stands in the link.
            ("readlink", Some(path)) if !flags.is_empty() && has_only(&["-f", "-e", "-m"]) => path.clone(),
            ("which", Some(program)) if has_only(&["-a"]) => ShellValue::text(format!("/usr/bin/{}", program.known()?)),
            _ if prints_numbers(name, words, &operands) => ShellValue::number(),
            ("whoami" | "logname", _) => ShellValue::text(self.scene.user.clone()),
            ("mktemp", None) if has_only(&["-d", "-q", "-u", "--directory"]) => with_some_end("/tmp/tmp."),
            ("mktemp", Some(template)) if only.is_some() && has_only(&["-d", "-q", "-u", "--directory"]) => {
                with_some_end(template.known()?.split("XXX").next()?)
            }
            ("mktemp", Some(template)) if only.is_some() && has_only(&["-d", "-q", "-t"]) => {
                with_some_end(&format!("/tmp/{}", template.known()?.split("XXX").next()?))
            }
            ("git", Some(sub)) if sub.known() == Some("rev-parse") => {
                let asks_for_root = words.iter().any(|word| word.known() == Some("--show-toplevel"));
                asks_for_root.then(|| ShellValue::text(self.scene.workspace.clone()))?
            }
            ("pgrep" | "pidof", _) => {
                let is_haft = |word: &&ShellValue| word.known().is_some_and(|text| text.contains("haft"));
                operands.iter().any(is_haft).then(|| ShellValue::text(OWN_PROCESS))?
            }
            _ => return None,
        };
        Some(StreamContent::Text(text))
    }

    /// Returns whether words name the process that runs haft.
    pub(crate) fn names_haft(words: &[ShellValue]) -> bool {
        words.iter().any(|word| matches!(word.known(), Some(OWN_PROCESS | "$PPID")))
    }
}

/// Returns a path of which the end is known only when it is made.
fn with_some_end(beginning: &str) -> ShellValue {
    let mut path = ShellValue::text(beginning);
    path.push(ValuePiece::Glob);
    path
}

/// Returns whether a program prints nothing but numbers.
fn prints_numbers(name: &str, words: &[ShellValue], operands: &[&ShellValue]) -> bool {
    let has = |flag: &str| words.iter().any(|word| word.known() == Some(flag));
    let flags = words.len().saturating_sub(operands.len() + 1);
    // What may be a flag may make it print names or separators as well.
    if operands.iter().any(|operand| operand.begins_with_gap()) {
        return false;
    }
    match name {
        "seq" => flags == 0,
        "nproc" => true,
        // With a file it prints the name as well.
        "wc" => operands.is_empty() && !words.iter().any(|word| word.prefix().starts_with("--files0")),
        "grep" | "egrep" | "fgrep" => has("-c") && operands.len() <= 2 && flags == 1,
        "id" => (has("-u") || has("-g")) && flags == 1,
        "date" => {
            operands.iter().all(|format| format.known().is_some_and(is_format_of_numbers)) && !operands.is_empty()
        }
        "git" => operands.first().is_some_and(|sub| sub.known() == Some("rev-list")) && has("--count"),
        _ => false,
    }
}

/// Returns whether `date` prints digits alone by a format.
fn is_format_of_numbers(format: &str) -> bool {
    let letters = format.strip_prefix("+%").map(|fields| fields.split('%').collect::<Vec<&str>>());
    letters.is_some_and(|letters| letters.iter().all(|letter| "sNYmdHMSjuwyUVW".contains(letter) && letter.len() == 1))
}

/// Returns whether a text is numbers and blanks alone.
pub(crate) fn is_numbers(text: &ShellValue) -> bool {
    let is_blank = |piece: &ValuePiece| match piece {
        ValuePiece::Number => true,
        ValuePiece::Text(text) => text.bytes().all(|byte| byte.is_ascii_whitespace() || byte.is_ascii_digit()),
        ValuePiece::Glob | ValuePiece::Unknown | ValuePiece::Foreign(_) => false,
    };
    !text.is_empty() && text.pieces().iter().all(is_blank)
}

fn parent(path: &ShellValue) -> ShellValue {
    let Some(known) = path.known() else { return below_parent(path) };
    let trimmed = known.trim_end_matches('/');
    match trimmed.rsplit_once('/') {
        None => ShellValue::text("."),
        Some(("", _)) => ShellValue::text("/"),
        Some((parent, _)) => ShellValue::text(parent),
    }
}

/// The parent of a path whose end is a gap is at least what stands before the gap.
fn below_parent(path: &ShellValue) -> ShellValue {
    match path.prefix().rsplit_once('/') {
        Some((parent, _)) if !parent.is_empty() => {
            let mut value = ShellValue::text(format!("{parent}/"));
            value.push(ValuePiece::Glob);
            value
        }
        _ => ShellValue::unknown(),
    }
}
