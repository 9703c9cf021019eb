//! Words of a command that makes links: a relative target starts at the folder of the link.

use haft_contract::doors::door::FileKind;

use crate::interpret::Interpreter;
use crate::places::PathDestination;
use crate::programs::meaning::below;
use crate::value::ShellValue;

impl Interpreter<'_> {
    /// Returns the words of `ln -s` with its targets as seen from here: a link leads from the folder that it lies in.
    pub(crate) fn words_of_link(&self, name: &str, words: &[ShellValue]) -> Option<Vec<ShellValue>> {
        let is_plain = |word: &&ShellValue| {
            let flags = word.prefix().strip_prefix('-').unwrap_or_default();
            word.known().is_some() && flags.chars().all(|letter| "sfnvbiT".contains(letter))
        };
        let flags: Vec<&ShellValue> = words.iter().filter(|word| word.prefix().starts_with('-')).collect();
        let is_link = name.rsplit('/').next() == Some("ln") && is_symbolic(words) && flags.iter().all(is_plain);
        let mut operands = words.iter().skip(1).filter(|word| !word.prefix().starts_with('-'));
        let (2.., Some(link), true) = (operands.clone().count(), operands.next_back(), is_link) else { return None };
        let folder = self.folder_of_link(link)?;
        let last = words.iter().rposition(|word| word == link)?;
        let seen_from_here = |(at, word): (usize, &ShellValue)| match at == 0 || at == last || !is_relative(word) {
            true => word.clone(),
            false => below(&folder, word),
        };
        Some(words.iter().enumerate().map(seen_from_here).collect())
    }

    /// Returns the folder that a link lies in; nothing where it is the present one.
    fn folder_of_link(&self, link: &ShellValue) -> Option<ShellValue> {
        let is_folder = |place: PathDestination| match place {
            PathDestination::At(place) => self.locate.locate(&place).kind == Some(FileKind::Folder),
            PathDestination::Anywhere => false,
        };
        if self.shell.folders.now.iter().any(|folder| is_folder(folder.place(link))) {
            return Some(link.clone());
        }
        link.known()?.trim_end_matches('/').rsplit_once('/').map(|(folder, _)| match folder {
            "" => ShellValue::text("/"),
            folder => ShellValue::text(folder),
        })
    }
}

fn is_symbolic(words: &[ShellValue]) -> bool {
    words.iter().skip(1).any(|word| {
        let text = word.prefix();
        text == "--symbolic" || (text.starts_with('-') && !text.starts_with("--") && text.contains('s'))
    })
}

fn is_relative(path: &ShellValue) -> bool {
    let begins_with_gap = path.begins_with_gap();
    !path.is_empty() && !begins_with_gap && !path.prefix().starts_with(['/', '~', '-'])
}
