//! Finds the files that `rg` and `ag` read: by default they skip hidden files and files that git ignores.
//!
//! Options include them: single files (`-g .env`), a type of file, or all. haft reads an option as widely as the program
//! may read it.

use std::path::{Path, PathBuf};

use haft_workspace::files::FolderReader;

use super::name_pattern::may_find;

/// Searchers that leave out what git ignores, and names that begin with a dot.
const SEARCHERS: &[&str] = &["rg", "ag", "ripgrep"];
/// Long options that take in what is left out, and all that begin like the last ones.
const ALL: &[&str] =
    &["--hidden", "--unrestricted", "--all-types", "--all-text", "--skip-vcs-ignores", "--path-to-ignore"];
const ALL_THAT_BEGIN: &[&str] = &["--no-ignore", "--ignore-file", "--type-add"];
/// Short options that do so.
const ALL_LETTERS: &str = "uU.a";
/// Short options with a value: the rest of the word, or the next word.
const WITH_VALUE: &str = "ABCEGMTWdefgjmprt";
/// Types of files, none of which has hidden names or endings of data in it.
const TYPES_OF_CODE: &[&str] = &[
    "rust",
    "py",
    "python",
    "js",
    "ts",
    "typescript",
    "go",
    "java",
    "c",
    "cpp",
    "h",
    "cs",
    "csharp",
    "rb",
    "ruby",
    "php",
    "swift",
    "kotlin",
    "scala",
    "lua",
    "perl",
    "haskell",
    "elixir",
    "erlang",
    "clojure",
    "css",
    "html",
    "md",
    "markdown",
    "make",
    "cmake",
    "sql",
    "tex",
    "vue",
    "svelte",
    "zig",
    "dart",
    "proto",
];

/// The files that a search reads.
pub(in crate::other_agents::guard) struct Selection {
    pub(in crate::other_agents::guard) reader: FolderReader,
    /// Patterns for names; where there are any, it reads nothing else.
    only: Vec<String>,
}

impl Selection {
    /// Reads the words of a program; the first one is its name.
    pub(in crate::other_agents::guard) fn of(words: &[String]) -> Self {
        let is_searcher = words.first().is_some_and(|program| SEARCHERS.contains(&program.as_str()));
        let reader = if is_searcher { FolderReader::NotIgnoredOrHidden } else { FolderReader::Everything };
        let mut selection = Self { reader, only: Vec::new() };
        let mut rest = words.iter().skip(1);
        while let Some(word) = rest.next().filter(|_| is_searcher) {
            match word.strip_prefix('-') {
                Some("-") => break,
                Some(long) if long.starts_with('-') => selection.long(word, &mut rest),
                Some(letters) => selection.short(letters, &mut rest),
                None => {}
            }
        }
        // A pattern takes in whatever it finds.
        if !selection.only.is_empty() {
            selection.reader = FolderReader::Everything;
        }
        selection
    }

    /// Returns whether a file is among those that it reads.
    pub(in crate::other_agents::guard) fn takes(&self, file: &Path) -> bool {
        let file = PathBuf::from(file.to_string_lossy().to_lowercase());
        self.only.is_empty() || self.only.iter().any(|pattern| may_find(pattern, &file))
    }

    fn long<'a>(&mut self, word: &str, rest: &mut impl Iterator<Item = &'a String>) {
        let (name, attached) =
            word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value.to_owned())));
        let takes_all = name.len() > 4 && ALL.iter().any(|option| option.starts_with(name));
        if takes_all || ALL_THAT_BEGIN.iter().any(|option| name.starts_with(option)) {
            self.reader = FolderReader::Everything;
        }
        if matches!(name, "--glob" | "--iglob" | "--type") {
            let value = attached.or_else(|| rest.next().cloned()).unwrap_or_default();
            self.valued(if name == "--type" { 't' } else { 'g' }, &value);
        }
    }

    fn short<'a>(&mut self, letters: &str, rest: &mut impl Iterator<Item = &'a String>) {
        for (at, letter) in letters.char_indices() {
            if ALL_LETTERS.contains(letter) {
                self.reader = FolderReader::Everything;
            }
            if WITH_VALUE.contains(letter) {
                let attached = letters[at + letter.len_utf8()..].trim_start_matches('=').to_owned();
                let value = if attached.is_empty() { rest.next().cloned().unwrap_or_default() } else { attached };
                return self.valued(letter, &value);
            }
        }
    }

    fn valued(&mut self, letter: char, value: &str) {
        match letter {
            'g' if !value.starts_with('!') => self.only.push(value.to_lowercase()),
            // Another list of what `ag` ignores.
            'p' => self.reader = FolderReader::Everything,
            't' if !TYPES_OF_CODE.contains(&value) => self.reader = FolderReader::Everything,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(line: &str, file: &str) -> bool {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let selection = Selection::of(&words);
        // The file is hidden and ignored.
        matches!(selection.reader, FolderReader::Everything) && selection.takes(Path::new(file))
    }

    #[test]
    fn every_option_that_takes_in_what_is_left_out_is_seen() {
        for line in [
            "rg -g .env KEY",
            "rg -g.env KEY",
            "rg -g=.env KEY",
            "rg -ig .env KEY",
            "rg --glob .env KEY",
            "rg --glob=.env KEY",
            "rg --iglob .ENV KEY",
            "rg --glob-case-insensitive -g .ENV KEY",
            "rg -g *env KEY",
            "rg -g * KEY",
            "rg -g ** KEY",
            "rg -g conf/** KEY",
            "rg -g **/.env KEY",
            "rg -g {.env,x} KEY",
            "rg -g .en[v] KEY",
            "rg -g *.rs -g .env KEY",
            "rg --type-add x:.env -tx KEY",
            "rg --type-add=x:.env -t x KEY",
            "rg -t all KEY",
            "rg -tall KEY",
            "rg --type=all KEY",
            "rg -uu KEY",
            "rg -nuu KEY",
            "rg -n. KEY",
            "rg -. KEY",
            "rg --hidden KEY",
            "rg --no-ignore KEY",
            "rg --no-ignore-dot KEY",
            "rg --no-ignore-files KEY",
            "rg --ignore-file x KEY",
            "rg --unrestricted KEY",
            "ag -u KEY",
            "ag -U KEY",
            "ag -nU KEY",
            "ag --hidden KEY",
            "ag --hid KEY",
            "ag --unres KEY",
            "ag --skip-vcs KEY",
            "ag -p x KEY",
            "ack KEY",
            "grep -r KEY",
        ] {
            assert!(reads(line, "conf/.env"), "{line}");
        }
    }

    #[test]
    fn a_search_that_names_other_files_reads_no_other() {
        for line in [
            "rg KEY",
            "rg -n KEY src",
            "rg -g *.rs KEY",
            "rg -g !.env KEY",
            "rg --glob=*.rs KEY",
            "rg -t rust KEY",
            "rg -trust KEY",
            "rg -e user KEY",
            "rg -euser KEY",
            "rg -A 3 KEY",
            "rg -- -uu",
            "ag KEY src",
            "ag -i KEY",
        ] {
            assert!(!reads(line, "conf/.env"), "{line}");
        }
    }
}
