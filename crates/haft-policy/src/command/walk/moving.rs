//! `cd`, `pushd` and `popd`: the folders of the shell.

use super::super::places::Folder;
use super::super::value::Value;
use super::Walk;

impl Walk<'_> {
    pub(super) fn change_folder(&mut self, words: &[Value]) {
        let folders = self.folders_of(words);
        self.shell.move_to(folders);
    }

    fn folders_of(&self, words: &[Value]) -> Vec<Folder> {
        let operand = words.iter().find(|word| !word.prefix().starts_with('-') || word.known() == Some("-"));
        match operand {
            None => vec![Folder::Known(self.home_of(""))],
            Some(word) if word.known() == Some("-") => self.shell.folders_before.clone(),
            Some(word) => {
                let starts = self.shell.folders.iter().cloned().chain(self.folders_searched(word));
                starts.map(|folder| folder.changed(word)).collect()
            }
        }
    }

    /// `CDPATH` names folders in which `cd` looks for a relative path first.
    fn folders_searched(&self, word: &Value) -> Vec<Folder> {
        let first = word.prefix().split('/').next().unwrap_or_default();
        let is_searched = !word.prefix().starts_with('/') && !matches!(first, "." | "..");
        let values = self.shell.values("CDPATH").filter(|_| is_searched).unwrap_or_default();
        let lists = values.iter().filter_map(|list| list.first());
        let folder =
            |path: &str| self.shell.folders.iter().map(|from| from.changed(&Value::text(path))).collect::<Vec<_>>();
        let folders = |list: &Value| match list.known() {
            Some(list) => list.split(':').flat_map(folder).collect(),
            None => vec![Folder::Unknown],
        };
        lists.flat_map(folders).collect()
    }

    pub(super) fn push_folder(&mut self, words: &[Value]) {
        let keeps_folder = words.iter().any(|word| word.known() == Some("-n"));
        let operand = words.iter().find(|word| word.known() != Some("-n"));
        match operand {
            Some(word) if is_place_on_stack(word) => self.turn_stack(),
            Some(_) if keeps_folder => {
                let folders = self.folders_of(words);
                self.shell.stack.push(folders);
            }
            Some(_) => {
                self.shell.stack.push(self.shell.folders.clone());
                self.change_folder(words);
            }
            None => {
                if let Some(folders) = self.shell.stack.pop() {
                    self.shell.stack.push(self.shell.folders.clone());
                    self.shell.move_to(folders);
                }
            }
        }
    }

    pub(super) fn pop_folder(&mut self, words: &[Value]) {
        if !words.is_empty() {
            return self.turn_stack();
        }
        if let Some(folders) = self.shell.stack.pop() {
            self.shell.move_to(folders);
        }
    }

    /// `pushd +1` and `popd +1`: any folder of the stack may be the present one then.
    fn turn_stack(&mut self) {
        let all: Vec<Folder> = self.shell.folders.iter().chain(self.shell.stack.iter().flatten()).cloned().collect();
        self.shell.stack.iter_mut().for_each(|folders| *folders = all.clone());
        self.shell.move_to(all);
    }
}

/// `+1`, `-0`.
fn is_place_on_stack(word: &Value) -> bool {
    let number = word.prefix().strip_prefix(['+', '-']);
    number.is_some_and(|number| number.is_empty() || number.bytes().all(|digit| digit.is_ascii_digit()))
        && word.known() != Some("-")
}
