//! Orders the deeds of one job so that all of them can be done.
//!
//! A folder is made before its content, and removed after it. If something else replaces a folder, the content of the folder
//! is removed first. A reader never sees a reference before its target: new files come before those that are replaced, and
//! removals are last.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::Path;

use haft_contract::files::stamp::ExpectedVersion;

use crate::files::change::transaction::{FileAction, FileMutation, Precondition};
use crate::files::fingerprint::Fingerprint;

/// Puts deeds into an order in which each of them can be done.
pub(crate) fn in_order(mut deeds: Vec<FileMutation>) -> Vec<FileMutation> {
    let ends_folder = |deed: &&FileMutation| {
        matches!(deed.action, FileAction::Put(..) | FileAction::Bring(_) | FileAction::MakeLink(_))
    };
    let filled: HashSet<&Path> = deeds.iter().filter(ends_folder).map(|deed| deed.place.as_path()).collect();
    let is_beneath = |place: &Path| place.ancestors().skip(1).any(|above| filled.contains(above));
    let mut ranked: Vec<(Rank, u8, usize)> = deeds
        .iter()
        .enumerate()
        .map(|(index, deed)| (rank(deed, &is_beneath), rank_in_git(&deed.place), index))
        .collect();
    // What a folder in a repository holds never has a lower rank than the folder, so both orders keep them apart.
    ranked.sort_by(|(one_rank, one_git, one), (other_rank, other_git, other)| {
        let (one, other) = ((one_git, &deeds[*one].place), (other_git, &deeds[*other].place));
        let places = if one_rank.is_deepest_first() { Reverse(one).cmp(&Reverse(other)) } else { one.cmp(&other) };
        one_rank.cmp(other_rank).then(places)
    });
    let mut sources: Vec<usize> = ranked.into_iter().map(|(_, _, index)| index).collect();
    // Deeds are large, so they change places instead of being copied.
    for place in 0..sources.len() {
        let mut source = sources[place];
        while source < place {
            source = sources[source];
        }
        sources[place] = source;
        deeds.swap(place, source);
    }
    deeds
}

/// When a deed is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Lets us do something in a folder.
    Widens,
    /// Goes, so that something else can take the place of the folder it is in.
    GoesFirst,
    MakesFolder,
    Comes,
    Replaces,
    /// Exchanges a tree, after the folders around it come and before they go.
    Exchanges,
    Goes,
    /// Lets us do nothing more in a folder.
    Narrows,
}

impl Rank {
    fn is_deepest_first(self) -> bool {
        matches!(self, Rank::GoesFirst | Rank::Goes | Rank::Narrows)
    }
}

fn rank(deed: &FileMutation, is_beneath_something_new: &dyn Fn(&Path) -> bool) -> Rank {
    let is_new = matches!(
        deed.expected,
        Precondition::Basis(ExpectedVersion::Nothing) | Precondition::Same(Fingerprint::Absent)
    );
    match &deed.action {
        FileAction::SetMode(mode) if is_workable(*mode) => Rank::Widens,
        FileAction::SetMode(_) => Rank::Narrows,
        FileAction::Remove | FileAction::Tree(_) if is_beneath_something_new(&deed.place) => Rank::GoesFirst,
        FileAction::Tree(_) => Rank::Exchanges,
        FileAction::Remove => Rank::Goes,
        FileAction::MakeFolder(_) => Rank::MakesFolder,
        FileAction::Put(..) | FileAction::Bring(_) | FileAction::MakeLink(_) if is_new => Rank::Comes,
        FileAction::Put(..) | FileAction::Bring(_) | FileAction::MakeLink(_) | FileAction::Rename(_) => Rank::Replaces,
    }
}

/// What the owner of a folder must be allowed to do something in it.
pub(crate) const WORKABLE: u32 = 0o700;

/// Returns whether the owner of a folder with this mode can do something in it.
pub(crate) fn is_workable(mode: u32) -> bool {
    mode & WORKABLE == WORKABLE
}

/// In a repository what is referred to comes first: objects, then names for them, then the index.
fn rank_in_git(place: &Path) -> u8 {
    let mut parts = place.iter().skip_while(|part| *part != ".git").skip(1);
    match parts.next().and_then(|part| part.to_str()) {
        None | Some("objects") => 0,
        Some("index") => 2,
        Some(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::change::transaction::NewContent;

    fn order(deeds: &[(&str, FileAction)]) -> Vec<String> {
        let deed = |(place, action): &(&str, FileAction)| {
            let (place, is_new) = (place.trim_start_matches('+'), place.starts_with('+'));
            let expected = if is_new { Precondition::Basis(ExpectedVersion::Nothing) } else { Precondition::Anything };
            FileMutation { place: place.into(), action: action.clone(), expected }
        };
        let ordered = in_order(deeds.iter().map(deed).collect());
        ordered.iter().map(|deed| deed.place.display().to_string()).collect()
    }

    fn put() -> FileAction {
        FileAction::Put(NewContent::Bytes("x".into()), None)
    }

    #[test]
    fn folders_come_first_and_removals_last() {
        let deeds = [
            ("gone/a", FileAction::Remove),
            ("gone", FileAction::Remove),
            ("old", put()),
            ("+new/deep/b", put()),
            ("+new/deep", FileAction::MakeFolder(None)),
            ("+new", FileAction::MakeFolder(None)),
        ];
        assert_eq!(order(&deeds), ["new", "new/deep", "new/deep/b", "old", "gone/a", "gone"]);
    }

    #[test]
    fn a_folder_is_emptied_before_something_else_takes_its_place() {
        let deeds =
            [("d", put()), ("a", FileAction::Remove), ("d/e", FileAction::Remove), ("d/e/f", FileAction::Remove)];
        assert_eq!(order(&deeds), ["d/e/f", "d/e", "d", "a"]);
    }

    #[test]
    fn a_folder_is_opened_before_and_closed_after_the_work_in_it() {
        let deeds = [
            ("shut", FileAction::SetMode(0o555)),
            ("shut/f", put()),
            ("open", FileAction::SetMode(0o755)),
            ("open/f", FileAction::Remove),
        ];
        assert_eq!(order(&deeds), ["open", "shut/f", "open/f", "shut"]);
    }

    #[test]
    fn in_a_repository_objects_come_before_names_and_names_before_the_index() {
        let deeds = [
            ("+.git/index", put()),
            ("+.git/HEAD", put()),
            ("+.git/refs/heads/main", put()),
            ("+.git/objects/12/34", put()),
        ];
        let wanted = [".git/objects/12/34", ".git/HEAD", ".git/refs/heads/main", ".git/index"];
        assert_eq!(order(&deeds), wanted);
    }

    #[test]
    fn a_repository_goes_the_other_way_round_and_its_folder_last() {
        let places = [".git", ".git/HEAD", ".git/index", ".git/objects", ".git/objects/12", ".git/refs"];
        let deeds = places.map(|place| (place, FileAction::Remove));
        let wanted = [".git/index", ".git/refs", ".git/HEAD", ".git/objects/12", ".git/objects", ".git"];
        assert_eq!(order(&deeds), wanted);
    }
}
