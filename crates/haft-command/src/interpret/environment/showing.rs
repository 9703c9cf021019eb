//! Built-ins that print variables as `env` and `printenv` do, such as `declare -p` and `export`.

use haft_contract::effect::Danger;
use haft_contract::files::guarded::{is_secret_variable, is_service_address};

use crate::act::RawEffect;
use crate::interpret::Interpreter;
use crate::value::ShellValue;

/// Flags of `declare` that choose variables which programs never get.
const KINDS_OF_THE_SHELL: [char; 6] = ['a', 'A', 'i', 'n', 'l', 'u'];
/// Programs to which the address of a service is given so that they connect to it.
const CLIENTS: &[&str] = &[
    "psql",
    "pg_dump",
    "pg_restore",
    "pg_isready",
    "createdb",
    "dropdb",
    "mysql",
    "mysqldump",
    "mariadb",
    "mongo",
    "mongosh",
    "mongodump",
    "redis-cli",
    "valkey-cli",
    "usql",
    "pgcli",
    "sqlx",
    "diesel",
    "migrate",
    "dbmate",
    "goose",
    "atlas",
];

impl Interpreter<'_> {
    /// Tells what a built-in shows of variables, or takes from haft, whatever else it does.
    pub(crate) fn look_at_variables(&mut self, builtin: &str, words: &[ShellValue]) {
        match builtin {
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                self.show_variables(builtin, words);
                self.leave_to_haft(builtin, words);
            }
            "set" => {
                self.show_variables(builtin, words);
                self.trace(words);
            }
            "unset" => self.leave_to_haft(builtin, words),
            _ => {}
        }
    }

    /// Tells what `declare`, `export`, `set` and their kin print.
    fn show_variables(&mut self, builtin: &str, words: &[ShellValue]) {
        let is_flag = |word: &&ShellValue| builtin != "set" && word.prefix().starts_with(['-', '+']);
        let has_flag = |letter: char| words.iter().filter(is_flag).any(|flag| flag.prefix()[1..].contains(letter));
        let operands: Vec<&ShellValue> = words.iter().filter(|word| !is_flag(word)).collect();
        if has_flag('f') || has_flag('F') {
            return;
        }
        let are_of_the_shell = match builtin {
            "local" => true,
            "declare" | "typeset" => KINDS_OF_THE_SHELL.iter().any(|kind| has_flag(*kind)) && !has_flag('x'),
            _ => false,
        };
        match operands.as_slice() {
            [] if are_of_the_shell => {}
            [] => self.show_environment(),
            operands if has_flag('p') => operands.iter().for_each(|name| self.show_variable(name)),
            _ => {}
        }
    }

    /// `set -x`: from now on the shell prints what it runs.
    fn trace(&mut self, words: &[ShellValue]) {
        let flags: Vec<&str> = words.iter().map_while(ShellValue::known).take_while(|word| *word != "--").collect();
        for (at, flag) in flags.iter().enumerate() {
            let is_named = flag.ends_with('o') && flags.get(at + 1) == Some(&"xtrace");
            match flag.chars().next() {
                Some(sign @ ('-' | '+')) if is_named || flag.contains('x') => self.shell.options.traces = sign == '-',
                _ => {}
            }
        }
    }

    fn show_environment(&mut self) {
        self.findings.shows_environment = true;
        self.emit(RawEffect::Unknown("it prints the environment, in which there may be secrets".to_owned()));
    }

    /// Tells that the value of a variable is printed.
    pub(crate) fn show_variable(&mut self, name: &ShellValue) {
        let Some(name) = name.known() else { return self.show_environment() };
        if let Some(secret) = self.secret_of(name) {
            self.emit(RawEffect::Danger(Danger::Secret, format!("show the secret in ${secret}")));
        }
    }

    /// Returns the variable that a name stands for, where it holds a secret that did not come from this command.
    fn secret_of(&self, name: &str) -> Option<String> {
        let is_secret = |name: &String| self.shell.values(name).is_none() && is_secret_variable(name);
        self.shell.targets(name).into_iter().find(is_secret)
    }

    /// Notes that a variable is read, where it holds such a secret.
    pub(crate) fn read_secret(&mut self, name: &str) {
        let is_address = self.shell.values(name).is_none() && may_hold_password(name);
        let secret = self.secret_of(name).or_else(|| is_address.then(|| name.to_owned()));
        self.shell.reads.secrets.extend(secret);
    }

    /// Forgets secrets that were read by commands which show nothing of them.
    pub(crate) fn forget_secrets_of(&mut self, lines: &[Vec<ShellValue>]) {
        let all_are = |names: &[&str]| {
            lines
                .iter()
                .flat_map(|words| words.first())
                .all(|name| name.known().is_some_and(|name| names.contains(&name)))
        };
        // With `set -x` the shell itself prints what it compares, and so does a test that takes it for a number.
        let shows = lines.iter().any(|words| shows_operand(words));
        if all_are(&["test", "[", ":", "true", "false"]) && !self.shell.options.traces && !shows {
            self.shell.reads.secrets.clear();
        }
        if all_are(CLIENTS) {
            self.shell.reads.secrets.retain(|name| !is_service_address(name));
        }
    }
}

/// Returns whether a variable of this name often holds an address in which there is a password.
pub(crate) fn may_hold_password(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let ends = ["_PROXY", "_INDEX_URL", "UV_INDEX", "_CONFIG_REGISTRY"].iter().any(|end| name.ends_with(end));
    ends && name != "NO_PROXY"
}

/// Returns whether a test prints an operand where that is wrong: no number, or where an operator must stand.
fn shows_operand(words: &[ShellValue]) -> bool {
    let operands = words.get(1..).unwrap_or_default();
    let is_of_texts = |word: &str| {
        matches!(
            word,
            "=" | "==" | "!=" | "<" | ">" | "!" | "-a" | "-o" | "-n" | "-z" | "-e" | "-f" | "-d" | "-r" | "-x" | "-s"
        )
    };
    let known: Vec<&str> = operands.iter().filter_map(ShellValue::known).filter(|word| *word != "]").collect();
    let is_of_numbers = |word: &&str| matches!(*word, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-t");
    let is_alone = operands.iter().filter(|word| word.known() != Some("]")).count() <= 1;
    known.iter().any(is_of_numbers) || !is_alone && !known.iter().any(|word| is_of_texts(word))
}

/// Returns what it means that the value of such a variable is shown.
pub(crate) fn shows(name: &str) -> RawEffect {
    match is_secret_variable(name) {
        true => RawEffect::Danger(Danger::Secret, format!("show the secret in ${name}")),
        false => RawEffect::Unknown(format!("it shows ${name}, in which there may be a password")),
    }
}
