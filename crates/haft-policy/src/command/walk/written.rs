//! Files that a command writes and runs: each is read in the language of the program that runs it.
//!
//! A file that is run by its own name is in the language of its first line (`#!`), or else text for a shell. Other
//! scripts that the command has written are read as well as soon as it runs one of them, or a program that follows the
//! rules of its folder: scripts import each other, and a test runner finds its tests by their names.
//!
//! Only a script for a shell is told step by step. A program in another language is code of the workspace, which is
//! asked about; of it only what would be refused is told.
//!
//! Not here: where the text of a file came from (`arrivals`), how a language is read (`languages`).

use super::super::act::{Act, Deed, Flow, Language};
use super::super::programs;
use super::super::value::Value;
use super::{Walk, pipes};

/// The endings of files that are read as soon as code of the workspace is run.
const ENDINGS: &[(&str, Language)] = &[
    ("py", Language::General),
    ("js", Language::General),
    ("mjs", Language::General),
    ("cjs", Language::General),
    ("jsx", Language::General),
    ("ts", Language::General),
    ("mts", Language::General),
    ("tsx", Language::General),
    ("rb", Language::General),
    ("pl", Language::General),
    ("pm", Language::General),
    ("php", Language::General),
    ("lua", Language::General),
    ("sh", Language::Shell),
    ("bash", Language::Shell),
    ("mk", Language::Makefile),
];
/// Files that are known by their whole name.
const NAMES: &[(&str, Language)] = &[
    ("Makefile", Language::Makefile),
    ("makefile", Language::Makefile),
    ("GNUmakefile", Language::Makefile),
    ("Rakefile", Language::General),
    ("Gemfile", Language::General),
    ("Vagrantfile", Language::General),
];

impl Walk<'_> {
    /// Runs what a file holds that this command has filled, with the words that stand behind its name.
    pub(super) fn run_arrived(&mut self, path: &Value, place: &str, flow: &Flow) {
        let name = path.shown();
        let at = self.line.iter().position(|word| word.shown() == name).unwrap_or(0);
        let parameters = self.line.get(at + 1..).unwrap_or_default().to_vec();
        let Some(texts) = pipes::texts(flow) else {
            self.run_input(Language::Shell, &parameters, Some(flow));
            return;
        };
        self.emit(Act::Code("run a file that this command has written".to_owned()));
        for text in texts {
            match self.language_of_run(&name, text) {
                Some(Language::Shell) => self.run_script(place, &parameters, text),
                Some(language) => self.suspect_once(place, language, text),
                None => {
                    self.suspect_text(text);
                    self.suspect_once(place, Language::General, text);
                }
            }
        }
    }

    /// Runs a script for a shell. One that runs itself is followed once more, with the parameters that it gives itself.
    fn run_script(&mut self, place: &str, parameters: &[Value], text: &Value) {
        if self.running.iter().filter(|running| *running == place).count() > 1 {
            return;
        }
        self.running.push(place.to_owned());
        self.run_text_in(Language::Shell, parameters, text);
        self.running.pop();
    }

    /// Returns the language in which the words of just now run a file with this text, where that is known.
    fn language_of_run(&self, file: &str, text: &Value) -> Option<Language> {
        let program = self.line.first().map(Value::shown).unwrap_or_default();
        if program == file {
            return match interpreter_of(text.prefix()) {
                Some(interpreter) => programs::language_of(interpreter),
                None => Some(Language::Shell),
            };
        }
        match program.rsplit('/').next().unwrap_or_default() {
            "source" | "." => Some(Language::Shell),
            program => programs::language_of(program),
        }
    }

    /// Looks for what would be refused in the text that an edit has put into a file that is run.
    pub(super) fn suspect_put_in(&mut self, path: &Value, place: &str) {
        let Some(text) = self.put_in.get(place).cloned() else { return };
        let by_name = language_of_file(place).filter(|_| self.line.first() == Some(path));
        let language = by_name.or_else(|| self.language_of_run(&path.shown(), &text));
        self.suspect_in(language.unwrap_or(Language::General), &text);
    }

    /// Looks for what would be refused in the files that a program reads which runs what it reads.
    pub(super) fn suspect_what_is_read(&mut self, acts: &[Act]) {
        for act in acts {
            let Act::Path(Deed::Read, path) = act else { continue };
            let flow = self.content_of(path);
            let texts = pipes::texts(&flow).unwrap_or_default();
            texts.iter().for_each(|text| self.suspect_once(&path.shown(), Language::General, text));
        }
    }

    /// Looks for what would be refused in the scripts that this command has written so far.
    pub(super) fn suspect_written(&mut self) {
        let places = std::mem::take(&mut self.unread_files);
        for place in &places {
            let flow = self.arrived.get(place).cloned().unwrap_or_default();
            if let (Some(language), Some(texts)) = (language_of_file(place), pipes::texts(&flow)) {
                texts.iter().for_each(|text| self.suspect_once(place, language, text));
            }
        }
        if self.tells_less() {
            self.unread_files.extend(places);
        }
    }

    /// Notes that a file has another content from now on.
    pub(super) fn note_changed(&mut self, place: String) {
        self.read_files.remove(&place);
        // The rules of a makefile are followed by what works in its folder.
        if language_of_file(&place).is_some_and(|language| language != Language::Makefile) {
            self.unread_files.insert(place);
        }
    }

    /// Looks at a file once: what it runs may run it again.
    pub(super) fn suspect_once(&mut self, place: &str, language: Language, text: &Value) {
        if self.is_first_look(place, language) {
            self.suspect_in(language, text);
        }
        if self.tells_less() {
            self.read_files.remove(place);
        }
    }

    /// Returns whether a file is looked at for the first time as one in this language.
    pub(super) fn is_first_look(&mut self, place: &str, language: Language) -> bool {
        let read = self.read_files.entry(place.to_owned()).or_default();
        let is_first = !read.contains(&language);
        if is_first {
            read.push(language);
        }
        is_first
    }

    /// Returns whether another look may tell more than this one.
    fn tells_less(&self) -> bool {
        self.second_look || self.only_known
    }

    /// Looks for what would be refused if this were run as text in a language.
    pub(super) fn suspect_in(&mut self, language: Language, text: &Value) {
        match language {
            Language::Shell => self.suspect_text(text),
            language => self.only_refused(|walk| {
                walk.run_text_in(language, &[], text);
            }),
        }
    }
}

/// Returns the language of a file by its name, where scripts of that name are read.
pub(super) fn language_of_file(path: &str) -> Option<Language> {
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
    use crate::command::examples::check_all as check;
    use crate::decision::Decision::{Ask, Deny};

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
