//! `cd`, `pushd` and `popd`: the folders of the shell.
//!
//! A move may fail, so the shell may also stay in its old folder: the folder may be missing or be a file, or an earlier
//! part of the command may have removed it.

use std::path::Path;

use haft_contract::doors::door::FileKind;
use haft_contract::effect::{Change, StepEffect};

use crate::interpret::Interpreter;
use crate::interpret::control::lists::ListEnd;
use crate::interpret::files::ANYTHING;
use crate::interpret::shell::add_folders;
use crate::places;
use crate::places::Folder;
use crate::value::ShellValue;

/// How many bytes of a path are as much work as a command.
const BYTES_OF_WORK: usize = 8;
/// How often the stack of folders is copied where it changes.
const COPIES_OF_STACK: usize = 8;
/// Folders that every system has.
const OF_EVERY_SYSTEM: [&str; 10] =
    ["/", "/tmp", "/usr", "/etc", "/var", "/bin", "/home", "/opt", "/usr/bin", "/usr/share"];

impl Interpreter<'_> {
    pub(crate) fn change_folder(&mut self, words: &[ShellValue]) {
        let length = |folder: &Folder| if let Folder::Known(path) = folder { path.len() } else { 0 };
        if !self.has_time(self.shell.folders.now.iter().map(length).sum::<usize>() / BYTES_OF_WORK) {
            return;
        }
        let folders = self.folders_of(words);
        if self.surely_moves(words) { self.move_shell(folders) } else { self.perhaps_move_shell(folders) }
    }

    /// Moves to other folders, unless that fails.
    fn move_shell(&mut self, folders: Vec<Folder>) {
        if !folders.iter().all(|folder| self.may_be_entered(folder)) {
            return self.perhaps_move_shell(folders);
        }
        self.shell.move_to(folders.clone());
        self.control.moved = Some(ListEnd { worked: folders, failed: Vec::new() });
    }

    /// Moves to other folders, or stays.
    fn perhaps_move_shell(&mut self, folders: Vec<Folder>) {
        let (from, before) = (self.shell.folders.now.clone(), self.shell.folders.before.clone());
        self.shell.move_to(folders.clone());
        add_folders(&mut self.shell.folders.now, from.clone());
        add_folders(&mut self.shell.folders.before, before);
        self.control.moved = Some(ListEnd { worked: folders, failed: from });
    }

    /// Returns whether a move with these words works where the folder is there: it knows its flags, and there is one folder.
    fn surely_moves(&self, words: &[ShellValue]) -> bool {
        let flags = words.iter().take_while(|word| word.prefix().starts_with('-') && word.known() != Some("-")).count();
        let is_flag = |word: &ShellValue| {
            let letters = word.known().and_then(|word| word.strip_prefix('-'));
            letters.is_some_and(|letters| letters == "-" || letters.chars().all(|letter| "LPe".contains(letter)))
        };
        let goes_home = words.len() == flags;
        words[..flags].iter().all(is_flag)
            && words.len() <= flags + 1
            && (!goes_home || self.shell.values("HOME").is_some())
    }

    /// Returns whether a folder is certainly there, whatever this command has done so far.
    fn may_be_entered(&self, folder: &Folder) -> bool {
        let Folder::Known(place) = folder else { return false };
        if self.shell.folders.made.contains(place) {
            return true;
        }
        let is_above = |path: &str| Path::new(path).starts_with(place);
        let is_known = OF_EVERY_SYSTEM.contains(&place.as_str())
            || is_above(&self.scene.workspace)
            || is_above(&self.scene.folder)
            || is_above(&self.scene.home);
        (is_known || self.locate.locate(place).kind == Some(FileKind::Folder)) && !self.may_be_gone(place)
    }

    /// Returns whether an earlier part of this command may have removed a folder, or may keep the shell out of it.
    fn may_be_gone(&self, place: &str) -> bool {
        let real = places::path_of(self.scene, &self.locate.locate(place).target);
        self.files.may_be_gone(&real)
    }

    /// Notes the folders that `mkdir` certainly makes.
    pub(crate) fn note_made(&mut self, words: &[ShellValue]) {
        let (flags, paths): (Vec<&ShellValue>, Vec<&ShellValue>) =
            words.iter().skip(1).partition(|word| word.prefix().starts_with('-'));
        let is_known = |flag: &&ShellValue| matches!(flag.known(), Some("-p" | "-v" | "-pv" | "-vp" | "--parents"));
        let ([Folder::Known(folder)], true) = (self.shell.folders.now.as_slice(), flags.iter().all(is_known)) else {
            return;
        };
        let makes_parents = flags.iter().any(|flag| flag.prefix().contains('p'));
        let folder = folder.clone();
        for path in paths.iter().filter_map(|path| path.known()) {
            let place =
                places::normal(&if path.starts_with('/') { path.to_owned() } else { format!("{folder}/{path}") });
            let missing = self.missing_folders(&place);
            if missing.len() <= 1 || makes_parents {
                self.shell.folders.made.extend(missing);
            }
        }
    }

    /// Returns a folder and those above it that are not certainly there; nothing where something else may be in the way.
    fn missing_folders(&self, place: &str) -> Vec<String> {
        let mut missing = Vec::new();
        let above = Path::new(place).ancestors().map(|path| path.to_string_lossy().into_owned());
        for path in above {
            if self.may_be_entered(&Folder::Known(path.clone())) {
                break;
            }
            if self.locate.locate(&path).kind.is_some() && !self.may_be_gone(&path) {
                return Vec::new();
            }
            missing.push(path);
        }
        missing
    }

    /// Notes what a change may take away.
    pub(crate) fn note_taken_away(&mut self, does: &StepEffect) {
        let changed = match does {
            StepEffect::Change(target, Change::Remove | Change::Replace) => places::path_of(self.scene, target),
            StepEffect::ChangeUnknown(_) => ANYTHING.to_owned(),
            _ => return,
        };
        let is_gone = |made: &String| changed == ANYTHING || Path::new(made).starts_with(&changed);
        self.shell.folders.made.retain(|made| !is_gone(made));
        self.files.take_away(&changed);
    }

    fn folders_of(&self, words: &[ShellValue]) -> Vec<Folder> {
        let operand = words.iter().find(|word| !word.prefix().starts_with('-') || word.known() == Some("-"));
        match operand {
            None => vec![Folder::Known(self.home_of(""))],
            Some(word) if word.known() == Some("-") => self.shell.folders.before.clone(),
            Some(word) => {
                let starts = self.shell.folders.now.iter().cloned().chain(self.folders_searched(word));
                let mut folders: Vec<Folder> = starts.map(|folder| folder.changed(word)).collect();
                let is_physical = |flag: &ShellValue| flag.prefix().starts_with('-') && flag.prefix().contains('P');
                if self.shell.options.is_physical || words.iter().any(is_physical) {
                    add_folders(&mut folders, self.folders_through(word));
                }
                folders
            }
        }
    }

    /// Returns the folders that a path leads to as the system takes it, and by its text: a link may be gone by then.
    pub(crate) fn folders_through(&self, path: &ShellValue) -> Vec<Folder> {
        let real = |folder: &Folder| folder.changed_through(path, &|place| self.real_path(place));
        let mut folders: Vec<Folder> = self.shell.folders.now.iter().map(real).collect();
        add_folders(&mut folders, self.shell.folders.now.iter().map(|folder| folder.changed(path)).collect());
        folders
    }

    /// `CDPATH` names folders in which `cd` looks for a relative path first.
    fn folders_searched(&self, word: &ShellValue) -> Vec<Folder> {
        let first = word.prefix().split('/').next().unwrap_or_default();
        let is_searched = !word.prefix().starts_with('/') && !matches!(first, "." | "..");
        let values = self.shell.values("CDPATH").filter(|_| is_searched).unwrap_or_default();
        let lists = values.iter().filter_map(|list| list.first());
        let folder = |path: &str| {
            self.shell.folders.now.iter().map(|from| from.changed(&ShellValue::text(path))).collect::<Vec<_>>()
        };
        let folders = |list: &ShellValue| match list.known() {
            Some(list) => list.split(':').flat_map(folder).collect(),
            None => vec![Folder::Unknown],
        };
        lists.flat_map(folders).collect()
    }

    pub(crate) fn push_folder(&mut self, words: &[ShellValue]) {
        if !self.has_time_for_stack() {
            return;
        }
        let keeps_folder = words.iter().any(|word| word.known() == Some("-n"));
        let operand = words.iter().find(|word| word.known() != Some("-n"));
        match operand {
            Some(word) if is_place_on_stack(word) => self.turn_stack(),
            Some(_) if keeps_folder => {
                let folders = self.folders_of(words);
                self.shell.folders.stack.push(folders);
            }
            Some(_) => {
                let stack = self.shell.folders.stack.clone();
                self.shell.folders.stack.push(self.shell.folders.now.clone());
                self.change_folder(words);
                self.keep_stack_of_failure(&stack);
            }
            None => {
                let stack = self.shell.folders.stack.clone();
                if let Some(folders) = self.shell.folders.stack.pop() {
                    self.shell.folders.stack.push(self.shell.folders.now.clone());
                    self.move_shell(folders);
                    self.keep_stack_of_failure(&stack);
                }
            }
        }
    }

    pub(crate) fn pop_folder(&mut self, words: &[ShellValue]) {
        if !self.has_time_for_stack() {
            return;
        }
        if !words.is_empty() {
            return self.turn_stack();
        }
        let stack = self.shell.folders.stack.clone();
        if let Some(folders) = self.shell.folders.stack.pop() {
            self.move_shell(folders);
            self.keep_stack_of_failure(&stack);
        }
    }

    /// Counts the work of copying the stack, and returns whether it may be done.
    fn has_time_for_stack(&mut self) -> bool {
        self.has_time(self.shell.folders.stack.len() * COPIES_OF_STACK)
    }

    /// Keeps the old stack as a possibility where the move may have failed.
    fn keep_stack_of_failure(&mut self, stack: &[Vec<Folder>]) {
        if self.control.moved.as_ref().is_none_or(|moved| !moved.failed.is_empty()) {
            self.shell.join_stack(stack);
        }
    }

    /// `pushd +1` and `popd +1`: any folder of the stack may be the present one then.
    fn turn_stack(&mut self) {
        let all: Vec<Folder> =
            self.shell.folders.now.iter().chain(self.shell.folders.stack.iter().flatten()).cloned().collect();
        self.shell.folders.stack.iter_mut().for_each(|folders| *folders = all.clone());
        self.shell.move_to(all);
    }
}

/// `+1`, `-0`.
fn is_place_on_stack(word: &ShellValue) -> bool {
    let number = word.prefix().strip_prefix(['+', '-']);
    number.is_some_and(|number| number.is_empty() || number.bytes().all(|digit| digit.is_ascii_digit()))
        && word.known() != Some("-")
}
