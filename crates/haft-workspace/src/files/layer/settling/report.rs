//! Words the report on a command's changes: what was refused, kept aside or left out, and why nothing was committed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use haft_contract::doors::process::Conflict;
use haft_contract::files::path::{Extent, FileLocation, Target, one_line};
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;

use super::meanwhile::Meanwhile;
use super::settle::Settling;
use crate::files::change::transaction::NotDone;
use crate::files::change::write;
use crate::files::layer::difference::{Caps, Clash, Difference, LayerChange, LayerExclusion, RootedPath};
use crate::files::layer::judging::judge::{JudgedDifference, WHY_TO_DO, repository_of};

/// Most names in one sentence.
const MOST_NAMES: usize = 10;
/// Most folders that are named when there is too much.
const MOST_FOLDERS: usize = 5;

/// Says what was not brought in.
pub(in crate::files::layer) fn of_judged(
    settling: &Settling<'_>,
    judged: &JudgedDifference,
    kept: &[(RootedPath, LayerChange)],
) -> Vec<String> {
    let name = |spot: &RootedPath| settling.target(spot, Extent::Entry).to_string();
    let mut groups: BTreeMap<LayerExclusion, Vec<String>> = BTreeMap::new();
    for (spot, why) in left_out(judged) {
        groups.entry(*why).or_default().push(name(spot));
    }
    let mut notes: Vec<String> = groups.iter().map(|(why, names)| of_left_out(*why, &listed(names))).collect();
    notes.extend(of_stopped(judged));
    let clashes: HashMap<&RootedPath, Option<Clash>> =
        judged.clashes.iter().map(|found| (&found.spot, found.clash)).collect();
    for (spot, found) in kept.iter().take(MOST_NAMES) {
        let how = clashes.get(spot).copied().flatten();
        notes.push(format!(
            "{} {}, so haft left it unchanged; the command's version is {}.",
            name(spot),
            of_clash(how.unwrap_or(Clash::Changed)),
            name(&found.spot)
        ));
    }
    if let Some(more) = kept.len().checked_sub(MOST_NAMES).filter(|more| *more > 0) {
        notes.push(format!(
            "{more} more were left unchanged for the same reason; look for names that end in .kept-by-haft."
        ));
    }
    let mut others: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    let aside: HashSet<&RootedPath> = kept.iter().map(|(spot, _)| spot).collect();
    for clash in judged.clashes.iter().filter(|clash| !aside.contains(&clash.spot)) {
        let how = of_clash(clash.clash.unwrap_or(Clash::Changed));
        others.entry(how).or_default().push(name(&clash.spot));
    }
    for (how, names) in others {
        notes.push(format!("The command's changes there were not kept, because it {how}: {}.", listed(&names)));
    }
    let merged: Vec<String> = judged.merged.iter().map(|found| name(&found.spot)).collect();
    if !merged.is_empty() {
        notes.push(format!("Merged with what was changed while the command ran: {}.", listed(&merged)));
    }
    let in_repository = |clash: &LayerChange| repository_of(&clash.spot.path).is_some();
    if judged.clashes.iter().any(in_repository) {
        notes.push(
            "Commits that the command made are among git's objects: \"git fsck --lost-found\" lists them.".into(),
        );
    }
    notes
}

/// Returns the files that others changed too, whose two versions are not one.
pub(in crate::files::layer) fn conflicts(
    settling: &Settling<'_>,
    (judged, kept): (&JudgedDifference, &[(RootedPath, LayerChange)]),
    meanwhile: Option<&Meanwhile>,
) -> Vec<Conflict> {
    // A folder that stays because of what is in it is told by that.
    let clashes = judged.clashes.iter().filter(|clash| clash.clash != Some(Clash::Holds));
    let conflict = |clash: &LayerChange| {
        let path = settling.target(&clash.spot, Extent::Entry);
        let place = settling.roots[clash.spot.root].place_of(&clash.spot.path);
        let aside = kept.iter().find(|(spot, _)| *spot == clash.spot).map(|(_, found)| &found.spot);
        let kept = aside.map(|spot| settling.target(spot, Extent::Entry));
        Conflict { path, kept, theirs: meanwhile.and_then(|meanwhile| meanwhile.last_of(&place)) }
    };
    clashes.map(conflict).collect()
}

/// Says how to go on where git stopped in the middle of its work and its list of what is to do was refused.
fn of_stopped(judged: &JudgedDifference) -> Option<String> {
    let mut refused = judged.left_out.iter().filter(|(_, why)| *why == LayerExclusion::Protected(WHY_TO_DO));
    let is_rebase = refused.next()?.0.path.iter().any(|part| part == "rebase-merge" || part == "rebase-apply");
    let work = if is_rebase { "rebase" } else { "cherry-pick" };
    Some(format!(
        "The stopped {work} cannot go on without that list. \"git {work} --abort\" ends it; then do it without \"exec\" \
         lines and other strategies, and run the programs as separate commands."
    ))
}

/// Returns what was not kept because the tool had not said that it would change it.
pub(in crate::files::layer) fn undeclared(settling: &Settling<'_>, judged: &JudgedDifference) -> Vec<Target> {
    let not_said = left_out(judged).into_iter().filter(|(_, why)| *why == LayerExclusion::NotSaid);
    not_said.map(|(spot, _)| settling.target(spot, Extent::Entry)).collect()
}

/// Returns what was left out. What is in a folder stands for it.
fn left_out(judged: &JudgedDifference) -> Vec<&(RootedPath, LayerExclusion)> {
    let mut left_out: Vec<&(RootedPath, LayerExclusion)> =
        judged.left_out.iter().filter(|(spot, _)| !is_of_samples(spot, judged)).collect();
    left_out.sort();
    let is_named_below = |index: usize, (spot, why): &(RootedPath, LayerExclusion)| {
        left_out.get(index + 1).is_some_and(|(next, other)| why == other && spot.holds(next))
    };
    let named = left_out.iter().enumerate().filter(|(index, left)| !is_named_below(*index, left));
    named.map(|(_, left)| *left).collect()
}

/// Returns whether it is one of git's own examples of hooks, or the folder that holds only those.
fn is_of_samples(spot: &RootedPath, judged: &JudgedDifference) -> bool {
    let mut inside =
        judged.left_out.iter().map(|(other, _)| other).filter(|other| *other != spot && spot.holds(other)).peekable();
    let holds_samples = spot.path.ends_with(".git/hooks") && inside.peek().is_some() && inside.all(is_sample);
    is_sample(spot) || holds_samples
}

/// Returns whether it is one of git's own examples of hooks, which `git init` makes and git never runs.
fn is_sample(spot: &RootedPath) -> bool {
    let in_hooks = spot.path.parent().is_some_and(|folder| folder.ends_with(".git/hooks"));
    in_hooks && spot.path.extension().is_some_and(|end| end == "sample")
}

fn of_left_out(why: LayerExclusion, names: &str) -> String {
    match why {
        LayerExclusion::Special => format!("Skipped, because haft does not keep pipes, sockets and devices: {names}."),
        LayerExclusion::TooDeep => format!("Skipped, because it is more than 200 folders deep: {names}."),
        LayerExclusion::Lock => format!("Discarded, because a stopped git left it behind: {names}."),
        LayerExclusion::SetId => {
            format!("Kept without the bits that let a program run as its owner or group: {names}.")
        }
        LayerExclusion::NotSaid => {
            format!("Not kept, because the tool did not declare that it changes it: {names}.")
        }
        LayerExclusion::Covered => {
            format!(
                "Left unchanged, because commands see a blank file in its place ([sandbox] secrets = \"mask\"): \
                 {names}."
            )
        }
        LayerExclusion::NotAllowed => {
            format!(
                "Left unchanged, because it could not be kept for undo or the system does not let this user change it: \
                 {names}."
            )
        }
        LayerExclusion::MovedToRefused => {
            format!("Not removed, because the command moved it to a name that was refused: {names}.")
        }
        LayerExclusion::Protected(why) => format!(
            "Refused, because {why}: {names}. It was left unchanged; a person can change it in their own terminal."
        ),
        LayerExclusion::ProtectedInTree(why) => format!(
            "Refused, because {why}: {names}. The build folder was committed without it; undo restores what was there before."
        ),
    }
}

fn of_clash(clash: Clash) -> &'static str {
    match clash {
        Clash::Changed => "was changed by another call or program while the command ran",
        Clash::Gone => "was removed by another call or program while the command ran",
        Clash::FolderMoved => "is in a folder that another call or program moved or replaced while the command ran",
        Clash::Holds => "is a folder that still holds something",
        Clash::Locked => "is in a repository that another program is using",
    }
}

/// Says what is worth knowing of single files: what holds for several is said once.
pub(in crate::files::layer) fn of_places(places: &[PathBuf], notes: &[Vec<String>]) -> Vec<String> {
    let mut by_note: Vec<(&str, Vec<String>)> = Vec::new();
    for (place, notes) in places.iter().zip(notes) {
        let target = Target::Inside(FileLocation::new(place, Extent::Entry)).to_string();
        for note in notes {
            match by_note.iter_mut().find(|(known, _)| known == note) {
                Some((_, targets)) => targets.push(target.clone()),
                None => by_note.push((note, vec![target.clone()])),
            }
        }
    }
    by_note.into_iter().map(|(note, targets)| format!("{}: {note}", listed(&targets))).collect()
}

/// Says which names of one file are files of their own now.
pub(in crate::files::layer) fn of_names(names: &[String]) -> Option<String> {
    let apart = || format!("Hard links of one file became separate files: {}.", listed(names));
    (!names.is_empty()).then(apart)
}

/// Says that what a command removed still takes room on a disk that has little left.
pub(in crate::files::layer) fn of_much_kept(tree: &Target, bytes: u64) -> String {
    format!(
        "The old content of {tree} ({}) is kept for undo, and the disk has little space left; \"haft gc --trees\" \
         frees it.",
        size(bytes)
    )
}

/// Says that a tree stays as it is because others changed what the command changed.
pub(in crate::files::layer) fn of_kept(tree: &Target, kept: usize) -> Option<String> {
    let entries = if kept == 1 { "1 entry was".to_owned() } else { format!("{kept} entries were") };
    (kept > 0)
        .then(|| format!("{tree}: {entries} changed by another call or program meanwhile; haft kept that version."))
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MOST_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

/// The error when more was changed than may come in.
pub(in crate::files::layer) fn too_much(difference: &Difference, caps: Caps) -> ToolError {
    let mut folders: Vec<_> = difference.tally.iter().collect();
    folders.sort_by_key(|(_, (entries, bytes))| std::cmp::Reverse((*bytes, *entries)));
    let largest: Vec<String> = folders
        .iter()
        .take(MOST_FOLDERS)
        .map(|(name, (entries, bytes))| {
            format!("{} ({entries} entries, {})", one_line(&name.to_string_lossy()), size(*bytes))
        })
        .collect();
    let what = format!(
        "The command changed {} files and folders with {} of new contents; haft keeps at most {} and {}. None of it \
         was kept. Most of it: {}.",
        difference.entries,
        size(difference.bytes),
        caps.entries,
        size(caps.bytes),
        largest.join(", ")
    );
    let next =
        "do it in smaller parts, or write files that can be rebuilt to /tmp or to a folder that the repository ignores";
    ToolError::new(ErrorKind::TooLarge, what, Next::FixArguments(next.into()))
}

/// The error when a layer cannot be read.
pub(in crate::files::layer) fn unread(place: &Path, error: io::Error) -> ToolError {
    let shown = one_line(&place.to_string_lossy()).into_owned();
    let what = format!("The command's changes could not be read at {shown}: {error}. None of them were kept.");
    ToolError::of(ErrorKind::Io, what).caused_by(error)
}

/// The error when the transaction failed.
pub(in crate::files::layer) fn not_committed(not_done: NotDone) -> ToolError {
    match not_done {
        NotDone::Stopped => write::stopped(),
        NotDone::Standing(standing) => write::stands(&standing),
        NotDone::Journal(error) => write::not_journalled(&error),
        NotDone::Plants { place, repository } => {
            let what = format!(
                "While the command ran, another call changed {}, so {} would let git run programs there. None of the \
                 command's changes were kept.",
                Target::Inside(FileLocation::new(repository, Extent::Entry)),
                one_line(&place.to_string_lossy())
            );
            ToolError::new(ErrorKind::Denied, what, Next::FixArguments("write to another folder".into()))
                .by_rule("protected names")
        }
        NotDone::Stale(place) => {
            let what = format!(
                "Other programs kept changing {} while haft committed the command's changes. None of the command's \
                 changes were kept.",
                one_line(&place.to_string_lossy())
            );
            ToolError::of(ErrorKind::Stale, what)
        }
        NotDone::System(place, error) => {
            let shown = one_line(&place.to_string_lossy()).into_owned();
            let what = format!(
                "haft could not commit the command's changes: {shown}: {error}. None of them were kept, and the \
                 workspace is unchanged."
            );
            let next = match error.kind() {
                io::ErrorKind::StorageFull => Next::AskUser("ask the user to free some space".into()),
                _ => Next::AskUser("ask the user to check that path, and run the command again".into()),
            };
            ToolError::new(ErrorKind::Io, what, next).caused_by(error)
        }
    }
}
