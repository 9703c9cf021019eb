//! Finds the files that a text loads or runs, by the few forms in which scripts do that.
//!
//! `reach` copies every script that a text mentions, because an extra copy costs nothing. A file that does not exist
//! yet cannot be copied: code that would load it is refused once it exists, and its name is protected. A mere mention
//! must not do that, so this module reads only forms that load: `. lib.sh`, `python3 run.py`, `./run`,
//! `-include local.mk`, `require("./opt")`, `import opt`, and folders that a text enters or searches.
//!
//! Not here: where the names lead (`reach`).

use std::collections::BTreeSet;

use super::patterns::is_pattern;
use super::reach::is_script;

/// What a text loads and runs, as the text writes it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Loads {
    /// Files by their paths, some without their ending.
    pub(super) files: BTreeSet<String>,
    /// Modules of Python.
    pub(super) modules: BTreeSet<String>,
    /// Folders that the text enters: names that follow may mean files there.
    pub(super) entered: BTreeSet<String>,
    /// Folders that the text searches for programs or modules, or of which it loads every file.
    pub(super) searched: BTreeSet<String>,
    /// Patterns of files that the text runs or loads.
    pub(super) patterns: BTreeSet<String>,
    /// Programs that the text starts.
    pub(super) programs: BTreeSet<String>,
    /// Parts of the text that load a file whose name is only known when they run.
    pub(super) unknown: BTreeSet<String>,
}

/// Programs that run the file that is their first operand.
pub(super) const INTERPRETERS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "fish", "python", "python2", "python3", "node", "nodejs", "deno", "bun", "tsx",
    "ts-node", "perl", "ruby", "php", "lua", "luajit", "Rscript", "tclsh", "source", ".",
];
/// Words that stand in front of a command.
const BEFORE_COMMANDS: &[&str] = &[
    "if", "then", "else", "elif", "do", "while", "until", "!", "time", "exec", "env", "nohup", "sudo", "nice", "xargs",
    "command", "builtin", "eval", "command:", "command", "=", "run:", "-", "@", "test", "entry:",
];
/// Options with the folder in which a program works.
const ENTERING_OPTIONS: &[&str] = &["--prefix", "--cwd", "--dir", "--directory", "--chdir", "--project"];
/// Words of programming languages in front of the quoted name of a file or module that they load.
const LOADING_WORDS: &[&str] = &[
    "require",
    "require_relative",
    "require_once",
    "include",
    "include_once",
    "import",
    "from",
    "load",
    "do",
    "dofile",
    "loadfile",
    "run_path",
    "execfile",
    "import_module",
    "exec",
    "source",
    "open",
];
/// What a line mentions that says where programs or modules are searched.
const SEARCH_PATHS: &[&str] = &[
    "PATH",
    "PYTHONPATH",
    "NODE_PATH",
    "PERL5LIB",
    "PERLLIB",
    "RUBYLIB",
    "LUA_PATH",
    "LD_LIBRARY_PATH",
    "sys.path",
    "package.path",
    "@INC",
    "LOAD_PATH",
    "use lib",
    "fpath",
];
/// Longest word that is read as a name.
const LONGEST_NAME: usize = 200;

/// Reads what a text loads.
pub(super) fn loads(text: &str) -> Loads {
    let mut loads = Loads::default();
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with('#') || line.starts_with("//") {
            continue;
        }
        loads.read_commands(line);
        loads.read_search_path(line);
        loads.read_include(line);
        loads.read_quoted(line);
        loads.read_import(line);
    }
    loads
}

impl Loads {
    /// Reads a line as commands of a shell, of a recipe, or of a list of words.
    fn read_commands(&mut self, line: &str) {
        for part in line.split([';', '&', '|', '(', ')', '{', '}', '`']) {
            let words: Vec<&str> = part.split(is_between).filter(|word| !word.is_empty()).collect();
            let is_prefix = |word: &&&str| BEFORE_COMMANDS.contains(*word) || is_assignment(word);
            let mut rest = words.iter().skip_while(is_prefix);
            if let Some(first) = rest.next() {
                let first = first.trim_start_matches('@');
                self.programs.insert(base_name(first).to_owned());
                if first.contains('/') {
                    self.add_file(first, part);
                }
            }
            for (at, word) in words.iter().enumerate() {
                if let Some((_, folder)) = word.split_once('=').filter(|(option, _)| ENTERING_OPTIONS.contains(option))
                {
                    self.entered.extend(literal(folder).map(str::to_owned));
                }
                let operand = words[at + 1..].iter().find(|word| !word.starts_with('-'));
                let Some(operand) = operand else { break };
                match *word {
                    word if matches!(word, "cd" | "pushd" | "-C") || ENTERING_OPTIONS.contains(&word) => {
                        self.entered.extend(literal(operand).map(str::to_owned))
                    }
                    "-m" => _ = self.modules.insert((*operand).to_owned()),
                    word if INTERPRETERS.contains(&base_name(word)) => {
                        self.programs.insert(base_name(word).to_owned());
                        let is_bare = !operand.contains(['/', '$']);
                        self.add_file(&if is_bare { format!("./{operand}") } else { (*operand).to_owned() }, part);
                    }
                    _ => {}
                }
            }
            if let ["for", _, "in", folder @ ..] = &words[..] {
                let patterns = folder.iter().filter_map(|word| literal(word)).filter(|word| is_pattern(word));
                self.patterns.extend(patterns.map(str::to_owned));
                self.searched.extend(folder.iter().filter_map(|word| Some(word.rsplit_once("/*")?.0.to_owned())));
            }
        }
    }

    /// Reads `PATH=./bin:$PATH` and its like: the value of each assignment, and every quoted text.
    fn read_search_path(&mut self, line: &str) {
        if !SEARCH_PATHS.iter().any(|name| line.contains(name)) {
            return;
        }
        let values = line.split_whitespace().filter_map(|word| Some(word.split_once('=')?.1));
        let quoted = line.split(['"', '\'']).skip(1).step_by(2).filter(|text| !text.contains(' '));
        for folder in values.chain(quoted).flat_map(|value| value.split(':')).filter_map(literal) {
            self.searched.insert(folder.to_owned());
        }
    }

    /// Reads `include more.mk` of a makefile.
    fn read_include(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        if matches!(words.next(), Some("include" | "-include" | "sinclude")) {
            words.for_each(|word| self.add_file(word, line));
        }
    }

    /// Reads the quoted names behind words that load.
    fn read_quoted(&mut self, line: &str) {
        for quote in ['"', '\''] {
            let parts: Vec<&str> = line.split(quote).collect();
            for pair in parts.windows(2).step_by(2) {
                let (before, name) = (pair[0].trim_end().trim_end_matches('(').trim_end(), pair[1]);
                let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
                match &before[start..] {
                    "open" | "exec" | "source" if !is_script(name) => {}
                    "import_module" => _ = self.modules.insert(name.to_owned()),
                    "require_relative" => _ = self.files.insert(format!("./{name}")),
                    word if LOADING_WORDS.contains(&word) => self.add_file(name, line),
                    _ => {}
                }
            }
        }
    }

    /// Reads `import a, b.c` and `from .a import b` of Python.
    fn read_import(&mut self, line: &str) {
        let mut add = |name: &str| {
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
            if is_name && name.len() < LONGEST_NAME {
                self.modules.insert(name.to_owned());
            }
        };
        if let Some(rest) = line.strip_prefix("import ") {
            rest.split(',').filter_map(|name| name.split_whitespace().next()).for_each(add);
        } else if let Some((module, names)) = line.strip_prefix("from ").and_then(|rest| rest.split_once(" import")) {
            let module = module.trim();
            add(module);
            let names = names.split([',', '(', ')']).filter_map(|name| name.split_whitespace().next());
            names.for_each(|name| {
                add(&if module.ends_with('.') { format!("{module}{name}") } else { format!("{module}.{name}") })
            });
        }
    }

    /// Adds a file, or notes that its name is not known before it is loaded.
    fn add_file(&mut self, word: &str, part: &str) {
        let Some(literal) = literal(word) else {
            if word.contains('$') {
                self.unknown.insert(part.trim().chars().take(80).collect());
            }
            return;
        };
        match literal.split_once(['*', '?', '[']) {
            Some((before, _)) => {
                self.patterns.insert(literal.to_owned());
                self.searched.extend(before.rsplit_once('/').map(|(folder, _)| folder.to_owned()));
            }
            None => _ = self.files.insert(literal.to_owned()),
        }
    }
}

/// Returns the part of a name that is written out: all of it, or what stands behind the last variable.
pub(super) fn literal(word: &str) -> Option<&str> {
    let word = word.trim_matches(['"', '\'', ';', ',', ')']);
    let literal = match word.rfind('$') {
        Some(at) => word[at..].split_once('/')?.1,
        None => word,
    };
    let literal = literal.trim_end_matches('/');
    (!literal.is_empty() && literal.len() < LONGEST_NAME).then_some(literal)
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || "\"'<>[],\\".contains(c)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> Vec<String> {
        loads(text).files.into_iter().collect()
    }

    #[test]
    fn forms_that_load_a_file_are_read_in_many_languages() {
        let table: &[(&str, &[&str])] = &[
            ("[ -f lib/opt.sh ] && . lib/opt.sh", &["lib/opt.sh"]),
            ("test -r x && source \"$ROOT/lib/opt.sh\" || true", &["lib/opt.sh"]),
            (". \"$(dirname \"$0\")/lib.sh\"", &["/lib.sh"]),
            ("if python3 -u tools/run.py; then :; fi", &["tools/run.py"]),
            ("exec ./bin/run --fast", &["./bin/run"]),
            ("command = \"FOO=1 ./check.sh $1\"", &["./check.sh"]),
            ("binding: {command: [sh, scripts/x.sh]}", &["scripts/x.sh"]),
            ("-include local.mk more/*.mk", &["local.mk"]),
            ("const o = require('../lib/opt')", &["../lib/opt"]),
            ("import { a } from \"./opt.js\"", &["./opt.js"]),
            ("require_relative 'opt'", &["./opt"]),
            ("exec(open('tools/helper.py').read())", &["tools/helper.py"]),
        ];
        for (text, expected) in table {
            assert_eq!(files(text), *expected, "{text}");
        }
    }

    #[test]
    fn a_mention_is_no_load() {
        for text in ["# . lib.sh", "cp a.js out/b.js", "echo 'see lib/opt.sh'", "gen > out.js", "open('data.txt')"] {
            assert!(files(text).is_empty(), "{text}: {:?}", files(text));
        }
    }

    #[test]
    fn folders_that_are_entered_or_searched_and_modules_are_read() {
        let read = loads(
            "cd scripts && ./run\nPATH=./bin:$PATH tool\nsys.path.insert(0, \"lib\")\nfor f in hooks.d/*; do . \"$f\"; done\n",
        );
        assert!(read.entered.contains("scripts"));
        for folder in ["./bin", "lib", "hooks.d"] {
            assert!(read.searched.contains(folder), "{folder}: {read:?}");
        }
        assert_eq!(read.unknown.iter().map(String::as_str).collect::<Vec<_>>(), ["do . \"$f\""]);
        let modules = loads("import os, a.b as c\nfrom .d import (e, f)\n").modules;
        let modules: Vec<&str> = modules.iter().map(String::as_str).collect();
        assert_eq!(modules, [".d", ".d.e", ".d.f", "a.b", "os"]);
    }
}
