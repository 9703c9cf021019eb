//! Output of a program that lists names: the path of a file, or the names in a folder.

use haft_contract::doors::door::FileKind;

use crate::act::{PathEffect, RawEffect};
use crate::interpret::Interpreter;
use crate::patterns;
use crate::places::PathDestination;
use crate::value::{ShellValue, ValuePiece};

/// How many names in a folder are looked at.
const MOST_NAMES: usize = 2_000;

impl Interpreter<'_> {
    /// Returns the names that are printed of these. A folder itself is none of them, and a name without its folder is
    /// printed only where a folder is listed.
    pub(crate) fn printed_names(&mut self, names: &[ShellValue], acts: &[RawEffect]) -> Vec<ShellValue> {
        let lists_folder = acts.iter().any(|act| match act {
            RawEffect::Path(PathEffect::List | PathEffect::Read, path) => self.may_be_folder(path),
            _ => false,
        });
        let is_printed = |name: &&ShellValue| match name.pieces() {
            [ValuePiece::Glob] => lists_folder,
            _ => name.known().is_none() || !self.may_be_folder(name),
        };
        let printed: Vec<ShellValue> = names.iter().filter(is_printed).cloned().collect();
        let finds_deep = std::mem::replace(&mut self.shell.options.finds_deep, true);
        let odd: Vec<ShellValue> = printed.iter().flat_map(|name| self.odd_names(name)).collect();
        let of_folders = acts.iter().filter_map(|act| match act {
            RawEffect::Path(PathEffect::List | PathEffect::Read, path) => path.known(),
            _ => None,
        });
        let of_folders: Vec<ShellValue> = of_folders.map(all_in).flat_map(|all| self.odd_names(&all)).collect();
        self.shell.options.finds_deep = finds_deep;
        printed.into_iter().chain(odd).chain(of_folders).collect()
    }

    /// Returns whether a path is a folder, or may find one.
    fn may_be_folder(&self, path: &ShellValue) -> bool {
        let is_at = |place: PathDestination| match place {
            PathDestination::At(place) => self.is_or_finds_folder(&place),
            PathDestination::Anywhere => true,
        };
        self.shell.folders.now.iter().any(|folder| is_at(folder.place(path)))
    }

    fn is_or_finds_folder(&self, place: &str) -> bool {
        let is_folder = |place: &str| self.locate.locate(place).kind == Some(FileKind::Folder);
        let (parent, name) = place.rsplit_once('/').unwrap_or(("", place));
        match (parent.contains('*'), name.contains('*')) {
            (false, false) => is_folder(place),
            (false, true) => {
                let names = self.locate.names_in(parent);
                let mut found = names.iter().take(MOST_NAMES).filter(|found| patterns::fits(name, found));
                found.any(|found| is_folder(&format!("{parent}/{found}")))
            }
            // Which folders are meant is not looked up; files have names such as `*.rs`.
            (true, _) => !name.contains('.'),
        }
    }
}

/// Returns what stands for everything in a folder.
fn all_in(folder: &str) -> ShellValue {
    let mut all = ShellValue::text(format!("{}/", folder.trim_end_matches('/')));
    all.push(ValuePiece::Glob);
    all
}
