//! Files that a command writes and then runs: haft reads each in the language of the program that runs it.
//!
//! The first line (`#!`) gives the language of a file that is run by its own name; without one, it is text for a shell.
//! When the command runs one of its scripts, or a program that follows the rules of its folder, haft also reads the other
//! scripts that it has written: scripts import each other, and a test runner finds its tests by their names.
//!
//! haft reports only a shell script step by step. A program in another language is code of the workspace: haft asks
//! about it, and reports only the parts that it would refuse.
//!
//! Not here: where the text of a file came from (`arrivals`), how a language is read (`languages`).

use std::collections::{BTreeSet, HashMap};

use crate::act::{CodeLanguage, PathEffect, RawEffect, StreamContent};
use crate::interpret::Interpreter;
use crate::interpret::streams::pipes;
use crate::programs;
use crate::value::ShellValue;

/// The endings of files that are read as soon as code of the workspace is run.
const ENDINGS: &[(&str, CodeLanguage)] = &[
    ("py", CodeLanguage::General),
    ("js", CodeLanguage::General),
    ("mjs", CodeLanguage::General),
    ("cjs", CodeLanguage::General),
    ("jsx", CodeLanguage::General),
    ("ts", CodeLanguage::General),
    ("mts", CodeLanguage::General),
    ("tsx", CodeLanguage::General),
    ("rb", CodeLanguage::General),
    ("pl", CodeLanguage::General),
    ("pm", CodeLanguage::General),
    ("php", CodeLanguage::General),
    ("lua", CodeLanguage::General),
    ("sh", CodeLanguage::Shell),
    ("bash", CodeLanguage::Shell),
    ("mk", CodeLanguage::Makefile),
];
/// Files that are known by their whole name.
const NAMES: &[(&str, CodeLanguage)] = &[
    ("Makefile", CodeLanguage::Makefile),
    ("makefile", CodeLanguage::Makefile),
    ("GNUmakefile", CodeLanguage::Makefile),
    ("Rakefile", CodeLanguage::General),
    ("Gemfile", CodeLanguage::General),
    ("Vagrantfile", CodeLanguage::General),
];

/// The scripts among the files that this command writes, edits and runs.
#[derive(Debug, Default)]
pub(crate) struct WrittenScripts {
    /// What this command puts into files that it edits in place.
    put_in: HashMap<String, ShellValue>,
    /// The scripts that run just now.
    running: Vec<String>,
    /// The files that were not read yet, and those that were, with the languages.
    unread: BTreeSet<String>,
    read: HashMap<String, Vec<CodeLanguage>>,
}

impl WrittenScripts {
    /// Notes that a file has another content from now on.
    pub(crate) fn note_changed(&mut self, place: String) {
        self.read.remove(&place);
        // The rules of a makefile are followed by what works in its folder.
        if language_of_file(&place).is_some_and(|language| language != CodeLanguage::Makefile) {
            self.unread.insert(place);
        }
    }

    /// Returns whether a file is looked at for the first time as one in this language.
    pub(crate) fn is_first_look(&mut self, place: &str, language: CodeLanguage) -> bool {
        let read = self.read.entry(place.to_owned()).or_default();
        let is_first = !read.contains(&language);
        if is_first {
            read.push(language);
        }
        is_first
    }

    /// Adds to what an edit has put into a file.
    pub(crate) fn put_in(&mut self, place: String) -> &mut ShellValue {
        self.put_in.entry(place).or_default()
    }
}

impl Interpreter<'_> {
    /// Runs what a file holds that this command has filled, with the words that stand behind its name.
    pub(crate) fn run_arrived(&mut self, path: &ShellValue, place: &str, flow: &StreamContent) {
        let name = path.shown();
        let at = self.findings.current.line.iter().position(|word| word.shown() == name).unwrap_or(0);
        let parameters = self.findings.current.line.get(at + 1..).unwrap_or_default().to_vec();
        let Some(texts) = pipes::texts(flow) else {
            self.run_input(CodeLanguage::Shell, &parameters, Some(flow));
            return;
        };
        self.emit(RawEffect::Code("run a file that this command has written".to_owned()));
        for text in texts {
            match self.language_of_run(&name, text) {
                Some(CodeLanguage::Shell) => self.run_script(place, &parameters, text),
                Some(language) => self.suspect_once(place, language, text),
                None => {
                    self.suspect_text(text);
                    self.suspect_once(place, CodeLanguage::General, text);
                }
            }
        }
    }

    /// Runs a script for a shell. One that runs itself is followed once more, with the parameters that it gives itself.
    fn run_script(&mut self, place: &str, parameters: &[ShellValue], text: &ShellValue) {
        if self.scripts.running.iter().filter(|running| *running == place).count() > 1 {
            return;
        }
        self.scripts.running.push(place.to_owned());
        self.run_text_in(CodeLanguage::Shell, parameters, text);
        self.scripts.running.pop();
    }

    /// Returns the language in which the words of just now run a file with this text, where that is known.
    fn language_of_run(&self, file: &str, text: &ShellValue) -> Option<CodeLanguage> {
        let program = self.findings.current.line.first().map(ShellValue::shown).unwrap_or_default();
        if program == file {
            return match interpreter_of(text.prefix()) {
                Some(interpreter) => programs::language_of(interpreter),
                None => Some(CodeLanguage::Shell),
            };
        }
        match program.rsplit('/').next().unwrap_or_default() {
            "source" | "." => Some(CodeLanguage::Shell),
            program => programs::language_of(program),
        }
    }

    /// Looks for what would be refused in the text that an edit has put into a file that is run.
    pub(crate) fn suspect_put_in(&mut self, path: &ShellValue, place: &str) {
        let Some(text) = self.scripts.put_in.get(place).cloned() else { return };
        let by_name = language_of_file(place).filter(|_| self.findings.current.line.first() == Some(path));
        let language = by_name.or_else(|| self.language_of_run(&path.shown(), &text));
        self.suspect_in(language.unwrap_or(CodeLanguage::General), &text);
    }

    /// Looks for what would be refused in the files that a program reads which runs what it reads.
    pub(crate) fn suspect_what_is_read(&mut self, acts: &[RawEffect]) {
        for act in acts {
            let RawEffect::Path(PathEffect::Read, path) = act else { continue };
            let flow = self.content_of(path);
            let texts = pipes::texts(&flow).unwrap_or_default();
            texts.iter().for_each(|text| self.suspect_once(&path.shown(), CodeLanguage::General, text));
        }
    }

    /// Looks for what would be refused in the scripts that this command has written so far.
    pub(crate) fn suspect_written(&mut self) {
        let places = std::mem::take(&mut self.scripts.unread);
        for place in &places {
            let flow = self.streams.content(place).cloned().unwrap_or_default();
            if let (Some(language), Some(texts)) = (language_of_file(place), pipes::texts(&flow)) {
                texts.iter().for_each(|text| self.suspect_once(place, language, text));
            }
        }
        if self.findings.are_partial() {
            self.scripts.unread.extend(places);
        }
    }

    /// Looks at a file once: what it runs may run it again.
    pub(crate) fn suspect_once(&mut self, place: &str, language: CodeLanguage, text: &ShellValue) {
        if self.scripts.is_first_look(place, language) {
            self.suspect_in(language, text);
        }
        if self.findings.are_partial() {
            self.scripts.read.remove(place);
        }
    }

    /// Looks for what would be refused if this were run as text in a language.
    pub(crate) fn suspect_in(&mut self, language: CodeLanguage, text: &ShellValue) {
        match language {
            CodeLanguage::Shell => self.suspect_text(text),
            language => self.only_refused(|interpreter| {
                interpreter.run_text_in(language, &[], text);
            }),
        }
    }
}

/// Returns the language of a file by its name, where scripts of that name are read.
pub(crate) fn language_of_file(path: &str) -> Option<CodeLanguage> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let by_name = NAMES.iter().find(|(known, _)| *known == name);
    by_name.or_else(|| ENDINGS.iter().find(|(known, _)| *known == ending)).map(|(_, language)| *language)
}

/// Returns the program that the first line of a script names.
fn interpreter_of(text: &str) -> Option<&str> {
    let line = text.lines().next()?.strip_prefix("#!")?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    match words.next()? {
        "env" => words.find(|word| !word.starts_with('-') && !word.contains('=')),
        program => Some(program),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judging::check_all as check;
    use haft_policy::decision::Decision::{Ask, Deny};

    #[test]
    fn a_script_is_read_once_in_each_language_until_it_changes() {
        let mut scripts = WrittenScripts::default();
        assert!(scripts.is_first_look("/ws/a.py", CodeLanguage::General));
        assert!(!scripts.is_first_look("/ws/a.py", CodeLanguage::General));
        assert!(scripts.is_first_look("/ws/a.py", CodeLanguage::Shell));
        scripts.note_changed("/ws/a.py".to_owned());
        assert!(scripts.is_first_look("/ws/a.py", CodeLanguage::General) && scripts.unread.contains("/ws/a.py"));
        scripts.note_changed("/ws/Makefile".to_owned());
        assert!(!scripts.unread.contains("/ws/Makefile"), "what works in the folder follows it");
    }

    #[test]
    fn a_file_is_read_in_the_language_of_what_runs_it() {
        check(
            Deny,
            &[
                "echo 'import os; os.system(\"rm -rf ~\")' > build/a.py; python3 build/a.py",
                "echo 'os.execute(\"rm -rf ~\")' > build/n.nse; nmap --script=build/n.nse localhost",
                "echo 'rm -rf ~' > build/a.py; bash build/a.py",
                "echo 'rm -rf ~' > build/a; chmod +x build/a; build/a",
                "printf '#!/usr/bin/env -S node\\nrequire(\"fs\").rmSync(\"/home\")' > build/a; ./build/a",
                "echo 'BEGIN { system(\"rm -rf ~\") }' > build/a.txt; awk -f build/a.txt t.csv",
            ],
        );
        check(
            Ask,
            &[
                "echo 'print(1)' > build/a.py; python3 build/a.py",
                "echo 'echo \"rm -rf /\"' > a.sh; sh a.sh",
                "echo 'rm -rf ~' > build/a.py; python3 build/a.py",
                "printf '#!/usr/bin/python3\\nimport os\\nos.listdir((1)) (2) (3) (4) (5) (6)' > build/a; ./build/a",
            ],
        );
    }

    #[test]
    fn a_script_that_another_one_may_import_is_read_as_well() {
        let helper = "echo 'import shutil; shutil.rmtree(\"/home\")' > helper.py";
        for runs in
            ["python3 main.py", "pytest -q", "make test", "cargo test", "echo 'import helper' > a.py; python3 a.py"]
        {
            check(Deny, &[&format!("{helper}; {runs}")]);
        }
        check(Ask, &[&format!("{}; python3 main.py", helper.replace(".py", ".txt"))]);
    }

    #[test]
    fn a_script_that_runs_itself_is_followed_once_more() {
        check(Deny, &["echo 'rm -rf \"$1\"; sh a.sh ~' > a.sh; sh a.sh build"]);
        check(Ask, &["echo 'sh a.sh; python3 b.py' > a.sh; echo 'import a' > b.py; sh a.sh"]);
        check(Ask, &["printf 'all:\\n\\tmake all\\n' > Makefile; make; make; make"]);
    }

    #[test]
    fn the_first_line_names_the_interpreter() {
        let cases = [
            ("#!/bin/sh\nls", Some("sh")),
            ("#! /usr/bin/env python3\n", Some("python3")),
            ("#!/usr/bin/env -S A=1 node --x\n", Some("node")),
            ("# !/bin/sh", None),
            ("", None),
        ];
        for (text, interpreter) in cases {
            assert_eq!(interpreter_of(text), interpreter, "{text}");
        }
    }
}
