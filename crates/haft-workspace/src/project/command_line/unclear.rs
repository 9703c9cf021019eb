//! Finds the parts of a command line that may run files which their text does not name.
//!
//! A consent to a command line is bound to files. What code on the command line loads is known only when it runs: haft then
//! says what it does not cover, in the question and in the list of servers.

use std::collections::BTreeSet;

use super::super::shell_words::commands;

/// Programs that read the text of a shell after `-c`.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "ash", "busybox", "su", "script"];
/// Interpreters: how their names begin, the letters of options before code, and letters that end a group of options.
const INTERPRETERS: &[(&str, &str, &str)] = &[
    ("python", "c", "mWX"),
    ("pypy", "c", "mWX"),
    ("node", "ep", "rC"),
    ("bun", "ep", "r"),
    ("deno", "", ""),
    ("tsx", "ep", "r"),
    ("ts-node", "ep", "r"),
    ("perl", "eE", "IMmxFil"),
    ("ruby", "e", "IrFxKTW"),
    ("php", "rBRE", "dcfz"),
    ("lua", "e", "l"),
    ("julia", "eE", "L"),
    ("Rscript", "e", ""),
    ("elixir", "e", "r"),
    ("osascript", "e", "l"),
    ("pwsh", "c", ""),
];
/// Long options and words in front of code.
const CODE_WORDS: &[&str] =
    &["--eval", "--print", "--execute", "--exec", "--command", "--code", "-Command", "-ex", "eval"];
/// Options whose value is the next word.
const TAKES_VALUE: &[&str] = &[
    "-W",
    "-X",
    "-r",
    "--require",
    "--import",
    "--loader",
    "-I",
    "-M",
    "-C",
    "-O",
    "-o",
    "--rcfile",
    "--init-file",
    "-L",
];
/// Programs that run other programs with names from elsewhere.
const RUNS_NAMES: &[&str] = &["xargs", "parallel", "watch", "entr"];
/// What a text of awk has if it runs or loads something.
const AWK_RUNS: &[&str] = &["system", "|", "getline", "@include", "@load"];
/// Programs whose options look like those before code.
const OTHER_OPTIONS: &[&str] = &["docker", "podman", "nerdctl", "env", "grep", "sed"];
/// How deep a text in a text is read.
const DEEPEST: usize = 4;

/// Returns the parts of a command line that are not understood, in words.
pub(super) fn unclear_parts(words: &[String]) -> BTreeSet<String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut unclear = UnclearParts { found: BTreeSet::new() };
    unclear.read(&words, DEEPEST);
    unclear.found
}

struct UnclearParts {
    found: BTreeSet<String>,
}

impl UnclearParts {
    fn read(&mut self, words: &[&str], deeper: usize) {
        for (at, word) in words.iter().enumerate() {
            let (program, rest) = (base_name(word), &words[at + 1..]);
            if SHELLS.contains(&program) {
                self.read_shell((program, rest), deeper);
            } else if let Some((_, letters, ends)) = INTERPRETERS.iter().find(|(name, ..)| program.starts_with(name)) {
                self.read_interpreter(program, rest, (letters, ends));
            } else if program == "env" {
                let text = rest.iter().enumerate().find_map(|(at, word)| split_string(word, &rest[at + 1..]));
                text.iter().for_each(|text| self.read_text("env -S", text, deeper));
            } else if program.ends_with("awk") {
                let is_code = |word: &&&str| AWK_RUNS.iter().any(|part| word.contains(part));
                if rest.iter().any(|word| is_code(&word)) {
                    self.add(program, "runs commands of its own");
                }
            } else if RUNS_NAMES.contains(&program) {
                self.add(program, "runs what it reads elsewhere");
            } else if program == "find" && rest.iter().any(|word| word.starts_with("-exec") || word.starts_with("-ok"))
            {
                self.add("find", "runs something for each file that it finds");
            }
            if word.starts_with("--env-file") {
                self.add(word.split('=').next().unwrap_or_default(), "sets variables that may load more files");
            }
        }
        self.read_unknown(words);
    }

    fn read_shell(&mut self, (program, rest): (&str, &[&str]), deeper: usize) {
        let is_option = |word: &&&str| word.starts_with(['-', '+']);
        let Some(at) = rest.iter().take_while(|word| is_option(word) || !word.contains(['/', '.'])).position(|word| {
            word.starts_with('-') && !word.starts_with("--") && word.contains('c') || *word == "--command"
        }) else {
            return;
        };
        if let Some(text) = rest[at + 1..].iter().find(|word| !is_option(word)) {
            self.read_text(&format!("{program} {}", rest[at]), text, deeper);
        }
    }

    /// Reads the text of a shell.
    fn read_text(&mut self, place: &str, text: &str, deeper: usize) {
        if deeper == 0 || text.contains("<(") || text.contains('`') {
            return self.add(place, "runs what other commands print");
        }
        for command in commands(text) {
            let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
            let program = command.program();
            let is_computed = |word: &&str| word.contains('$');
            let loads = is_interpreter(program) || matches!(program, "." | "source" | "cd");
            let is_quoted = words.iter().any(|word| word.contains("$("));
            if program.contains('$') || loads && words.iter().any(is_computed) || is_quoted {
                self.add(place, "runs a file whose name it computes");
            }
            if is_interpreter(program) && (words.len() == 1 || words.contains(&"-s")) {
                self.add(place, "runs what it reads elsewhere");
            }
            // "eval" is taken for a word in front of a command.
            if text.split_whitespace().any(|word| matches!(word, "eval" | "alias" | "trap" | "read")) {
                self.add(place, "runs a text that it computes");
            }
            self.read(&words, deeper - 1);
        }
    }

    fn read_interpreter(&mut self, program: &str, rest: &[&str], (letters, ends): (&str, &str)) {
        let mut is_value = false;
        for word in rest {
            let is_operand = !word.starts_with('-') && *word != "eval";
            if is_operand && !is_value {
                return;
            }
            is_value = TAKES_VALUE.contains(word);
            let group = word.strip_prefix('-').filter(|group| !group.starts_with('-')).unwrap_or_default();
            let is_module = program.starts_with("py") && group.contains('m');
            let group = group.split(|letter| ends.contains(letter)).next().unwrap_or_default();
            let name = word.split('=').next().unwrap_or_default();
            if group.contains(|letter| letters.contains(letter)) || CODE_WORDS.contains(&name) {
                let option: String =
                    if group.is_empty() { name.to_owned() } else { word.chars().take(group.len() + 1).collect() };
                return self.add(&format!("{program} {}", shortened(&option)), "runs code of the command line");
            }
            if is_module {
                // What follows a module is for the module.
                return;
            }
        }
    }

    /// Reads the options of a program that haft does not know.
    fn read_unknown(&mut self, words: &[&str]) {
        let program = words.first().map(|word| base_name(word)).unwrap_or_default();
        if OTHER_OPTIONS.contains(&program) || is_interpreter(program) || program.ends_with("awk") {
            return;
        }
        for pair in words.windows(2) {
            let is_option = CODE_WORDS.contains(&pair[0]) || matches!(pair[0], "-c" | "-e" | "-E");
            if is_option && pair[1].contains(['(', ';', '|', '`', '"', '\'']) {
                self.add(&format!("{program} {}", pair[0]), "runs code of the command line");
            }
        }
    }

    fn add(&mut self, place: &str, what: &str) {
        self.found.insert(format!("\"{place}\" {what}"));
    }
}

/// The text that `env -S` splits.
fn split_string<'w>(word: &'w str, rest: &[&'w str]) -> Option<&'w str> {
    if let Some(text) = word.strip_prefix("--split-string") {
        return text.strip_prefix('=').or_else(|| rest.first().copied());
    }
    let group = word.strip_prefix('-').filter(|group| !group.starts_with('-'))?;
    let text = &group[group.find('S')? + 1..];
    if text.is_empty() { rest.first().copied() } else { Some(text) }
}

fn is_interpreter(program: &str) -> bool {
    SHELLS.contains(&program) || INTERPRETERS.iter().any(|(name, ..)| program.starts_with(name))
}

fn shortened(option: &str) -> String {
    option.chars().take(20).collect()
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_names_no_file_is_told_of_and_plain_commands_are_not() {
        let of = |words: &[&str]| unclear_parts(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let unclear: &[&[&str]] = &[
            &["python3", "-c", "import srv"],
            &["python3", "-Bc", "import srv"],
            &["python3", "-cimport srv"],
            &["/usr/bin/python3.12", "-W", "ignore", "-c", "x"],
            &["timeout", "9", "python3", "-c", "x"],
            &["node", "-e", "require('./srv')"],
            &["node", "-r", "./pre.js", "-pe", "1"],
            &["node", "--eval=1"],
            &["node", "--env-file=e.env", "srv.js"],
            &["deno", "eval", "1"],
            &["perl", "-ne", "do './x'"],
            &["php", "-r", "include 'x';"],
            &["awk", "BEGIN{system(\"x\")}"],
            &["xargs", "-a", "cmd", "python3"],
            &["find", ".", "-exec", "python3", "{}", ";"],
            &["sh", "-c", "F=srv.py; python3 $F"],
            &["sh", "-ec", "$X srv.py"],
            &["bash", "--rcfile", "rc", "-ic", "python3 -c 'import x'"],
            &["bash", "-c", "exec python3 <(cat srv.py)"],
            &["sh", "-c", "cat srv.sh | sh"],
            &["sh", "-c", "eval \"$X\""],
            &["env", "-S", "python3 -c x"],
            &["env", "-iSpython3 -c x"],
            &["strange", "--eval", "load(\"x\")"],
        ];
        unclear.iter().for_each(|words| assert!(!of(words).is_empty(), "{words:?}"));
        let clear: &[&[&str]] = &[
            &["python3", "srv.py", "-c", "config.toml"],
            &["python3", "-msrc", "-c", "x"],
            &["python3", "-Bm", "srv"],
            &["node", "-r", "./pre.js", "srv.js", "-e"],
            &["npx", "-y", "@x/y", "-e", "prod"],
            &["docker", "run", "-e", "A=\"(b)\"", "image"],
            &["sh", "-c", "python3 srv.py"],
            &["sh", "-c", "cd sub && exec python3 srv.py"],
            &["sh", "-c", "npx y --token $TOKEN"],
            &["sh", "run.sh", "-c", "$X"],
            &["bash", "-c", "source ./lib.sh; main"],
            &["env", "-S", "python3 srv.py"],
            &["make", "-s", "serve"],
            &["awk", "-f", "a.awk"],
        ];
        clear.iter().for_each(|words| assert_eq!(of(words), BTreeSet::new(), "{words:?}"));
    }
}
