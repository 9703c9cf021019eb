//! `find`: paths to start from, then an expression, parts of which may run, remove or write something.

use haft_contract::effect::Danger;

use crate::act::{NestedRun, PathEffect, ProgramReading, RawEffect, StreamContent};
use crate::programs::reading::names_below;
use crate::programs::special::names::{found_below, names};
use crate::value::{ShellValue, ValuePiece};

/// Parts without a value that change nothing.
const PLAIN: &[&str] = &[
    "(",
    ")",
    "!",
    ",",
    "-a",
    "-and",
    "-o",
    "-or",
    "-not",
    "-true",
    "-false",
    "-print",
    "-print0",
    "-ls",
    "-prune",
    "-quit",
    "-depth",
    "-d",
    "-mount",
    "-xdev",
    "-x",
    "-X",
    "-s",
    "-E",
    "-f",
    "-empty",
    "-executable",
    "-readable",
    "-writable",
    "-nouser",
    "-nogroup",
    "-daystart",
    "-follow",
    "-noleaf",
    "-warn",
    "-nowarn",
    "-ignore_readdir_race",
    "-noignore_readdir_race",
    "-H",
    "-L",
    "-P",
    "-help",
    "--help",
    "-version",
    "--version",
];
/// Parts with a value that change nothing and choose no files by more than their sort.
const WITH_VALUE: &[&str] = &[
    "-regextype",
    "-type",
    "-xtype",
    "-maxdepth",
    "-mindepth",
    "-links",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-fstype",
    "-used",
    "-printf",
    "-context",
    "-flags",
    "-D",
];
/// Parts with a value that choose files, so that not everything below a start is meant.
const CHOOSING: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-lname",
    "-ilname",
    "-size",
    "-mtime",
    "-atime",
    "-ctime",
    "-mmin",
    "-amin",
    "-cmin",
    "-newer",
    "-anewer",
    "-cnewer",
    "-samefile",
    "-inum",
    "-perm",
];

/// More commands than this are not looked at.
const MOST_RUNS: usize = 4_000;

pub(crate) fn read(words: &[ShellValue]) -> ProgramReading {
    let mut find = Find {
        words,
        at: 0,
        starts: Vec::new(),
        found: Vec::new(),
        finds_trees: false,
        reading: ProgramReading::default(),
    };
    find.take_starts();
    if words.iter().any(|word| matches!(word.known(), Some("-L" | "-H" | "-follow"))) {
        find.starts.iter_mut().for_each(|start| start.push(ValuePiece::Text("/".to_owned())));
    }
    let expression = words.get(find.at..).unwrap_or_default();
    let names = names(expression);
    if names.asked.len().saturating_mul(find.starts.len()) > MOST_RUNS {
        find.refuse();
        return find.reading;
    }
    let named = found_below(&find.starts, &names);
    find.finds_trees = !chooses(expression);
    find.found = match chooses(expression) {
        false => find.starts.clone(),
        true if named.is_empty() => find.starts.iter().map(something_below).collect(),
        true => named.clone(),
    };
    while let Some(word) = find.next() {
        find.part(word);
    }
    let printed = if named.is_empty() { find.starts.iter().flat_map(names_below).collect() } else { named };
    find.reading.output = if prints_text(expression) { StreamContent::Unknown } else { StreamContent::Paths(printed) };
    find.reading
}

struct Find<'a> {
    words: &'a [ShellValue],
    at: usize,
    starts: Vec<ShellValue>,
    /// What is found: something below the starts, or the starts with all that is in them.
    found: Vec<ShellValue>,
    /// The expression takes in all that is below the starts.
    finds_trees: bool,
    reading: ProgramReading,
}

impl<'a> Find<'a> {
    fn next(&mut self) -> Option<&'a ShellValue> {
        let word = self.words.get(self.at);
        self.at += 1;
        word
    }

    fn unknown(&mut self, why: impl Into<String>) {
        self.reading.acts.push(RawEffect::Unknown(why.into()));
    }

    /// What lies beyond a limit could be anything.
    fn refuse(&mut self) {
        let danger = RawEffect::Danger(Danger::HiddenCode, "run more commands than are looked at".to_owned());
        if self.reading.acts.last() != Some(&danger) {
            self.reading.acts.push(danger);
        }
    }

    fn take_starts(&mut self) {
        while let Some(word) = self.words.get(self.at) {
            let start = word.prefix();
            let is_option = matches!(start, "-H" | "-L" | "-P" | "-D" | "-E" | "-X" | "-x" | "-s" | "-f")
                || start.starts_with("-O");
            match word.known() {
                Some("-D") => self.at += 1,
                Some("--") => {}
                Some(_) if is_option => {}
                Some("(" | ")" | "!" | ",") => break,
                _ if start.starts_with('-') => break,
                _ => {
                    if word.begins_with_gap() {
                        self.unknown("a word that may be a flag");
                    }
                    self.starts.push(word.clone());
                }
            }
            self.at += 1;
        }
        if self.starts.is_empty() {
            self.starts.push(ShellValue::text("."));
        }
        let looks = self.starts.iter().map(|start| RawEffect::Path(PathEffect::List, start.clone()));
        self.reading.acts.extend(looks);
    }

    fn part(&mut self, word: &ShellValue) {
        match word.known() {
            Some(action @ ("-exec" | "-ok" | "-execdir" | "-okdir")) => self.run(action),
            Some("-delete") => {
                let removed = self.found.iter().map(|path| RawEffect::Path(PathEffect::Remove, path.clone()));
                self.reading.acts.extend(removed);
            }
            Some("-fprint" | "-fprint0" | "-fls") => self.write(),
            Some("-fprintf") => {
                self.write();
                self.next();
            }
            Some("-files0-from") => {
                let list = self.next().cloned().unwrap_or_default();
                self.reading.acts.push(RawEffect::Path(PathEffect::Read, list));
                self.unknown("where it starts is in a file");
            }
            Some(part) if PLAIN.contains(&part) => {}
            Some(part)
                if [WITH_VALUE, CHOOSING].iter().any(|parts| parts.contains(&part)) || part.starts_with("-newer") =>
            {
                self.next();
            }
            Some(part) if part.starts_with("-O") => {}
            Some(part) => self.unknown(format!("\"{part}\" of find is not known")),
            None => self.unknown("a word that may be a flag"),
        }
    }

    fn write(&mut self) {
        let file = self.next().cloned().unwrap_or_default();
        self.reading.acts.push(RawEffect::Path(PathEffect::Replace, file));
    }

    /// Runs a command for what is found: where `find` is, or in the folder of each.
    fn run(&mut self, action: &str) {
        let mut command: Vec<ShellValue> = Vec::new();
        while let Some(word) = self.next() {
            let ends_batch = word.known() == Some("+") && command.last().and_then(ShellValue::known) == Some("{}");
            if word.known() == Some(";") || ends_batch {
                break;
            }
            command.push(word.clone());
        }
        if self.reading.inner.len() + self.found.len() > MOST_RUNS {
            return self.refuse();
        }
        let put = |found: &ShellValue| command.iter().map(|word| put_in(word, "{}", found)).collect();
        self.reading.inner.extend(self.found.iter().map(|found| NestedRun::Words(put(found))));
        if self.finds_trees {
            // A start stands for all that is in it; a command that runs what is found runs each file.
            let below = self.starts.iter().map(|start| NestedRun::Words(put(&something_below(start))));
            self.reading.inner.extend(below);
        }
        if action.ends_with("dir") {
            // What it does with the file itself is told already.
            let name = ShellValue::text("./found");
            let runs = self.starts.iter().map(|start| NestedRun::WordsIn(something_below(start), put(&name)));
            self.reading.inner.extend(runs);
        }
    }
}

/// Returns whether the expression chooses some of the files by something else than their sort.
fn chooses(expression: &[ShellValue]) -> bool {
    expression.iter().enumerate().any(|(at, word)| {
        let is_turned = at > 0 && matches!(expression[at - 1].known(), Some("!" | "-not"));
        let takes_all =
            expression.get(at + 1).and_then(ShellValue::known).is_some_and(|value| value.trim_matches('*').is_empty());
        let chooses = word.known().is_some_and(|part| part == "-empty" || CHOOSING.contains(&part) && !takes_all);
        chooses && !is_turned
    })
}

/// Returns a path of which it is known that it lies below a start.
pub(crate) fn something_below(start: &ShellValue) -> ShellValue {
    let mut path = start.clone();
    if !matches!(start.pieces().last(), Some(ValuePiece::Text(text)) if text.ends_with('/')) {
        path.push(ValuePiece::Text("/".to_owned()));
    }
    // Shown as `**`, because it lies at any depth.
    path.push(ValuePiece::Glob);
    path.push(ValuePiece::Unknown);
    path
}

/// Returns whether the expression prints text of its own, in which names are some of the words.
fn prints_text(expression: &[ShellValue]) -> bool {
    let is_path = |format: Option<&str>| matches!(format, Some("%p\\n" | "%p\\0" | "%p " | "%p\n"));
    expression.windows(2).any(|pair| pair[0].known() == Some("-printf") && !is_path(pair[1].known()))
}

/// Puts a value in the place of a mark, wherever it stands in a word.
pub(crate) fn put_in(word: &ShellValue, mark: &str, value: &ShellValue) -> ShellValue {
    let mut whole = ShellValue::default();
    for piece in word.pieces() {
        match piece {
            ValuePiece::Text(text) => {
                for (at, part) in text.split(mark).enumerate() {
                    if at > 0 {
                        whole.append(value);
                    }
                    whole.push(ValuePiece::Text(part.to_owned()));
                }
            }
            other => whole.push(other.clone()),
        }
    }
    whole
}
