//! Ignored folders that commands write at once: no layer takes what happens there, and undo does not bring it back.
//!
//! What programs make there is made anew at any time, so building and testing may go on in them, and it is said. What a
//! command removes or replaces there by its name is nobody's product, and is asked about.
//!
//! Not here: which folders those are (the file door).

use std::fmt;
use std::path::Path;

use haft::effect::{Change, Does, Effect, Step};
use haft::path::{Extent, Target};

use crate::command::patterns;

/// Most folders that are named in a sentence.
const MOST_NAMES: usize = 5;

/// The ignored folders of a workspace that undo does not cover. Its display names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ignored<'a>(pub &'a [Target]);

impl Ignored<'_> {
    /// Returns the folders in which this would lose something by its name that is there now.
    pub(crate) fn lost_by(self, effect: &Effect) -> Vec<Target> {
        let Effect::Step(Step { does: Does::Change(target, change), .. }) = effect else { return Vec::new() };
        // What a pattern finds is there already.
        let loses = *change != Change::Create || has_gap(target);
        self.0.iter().filter(|folder| loses && touches(target, *change, folder)).cloned().collect()
    }

    /// Returns the folders that a command with these effects may write.
    pub fn written_by(self, effects: &[Effect]) -> Vec<Target> {
        let is_told = effects.iter().any(|effect| matches!(effect, Effect::Step(_)));
        let is_written = |folder: &&Target| {
            effects.iter().any(|effect| match effect {
                Effect::Step(step) => may_write(&step.does, folder),
                Effect::Run(_) => !is_told,
                _ => false,
            })
        };
        self.0.iter().filter(is_written).cloned().collect()
    }
}

/// Says that undo does not cover some folders, in a sentence.
pub(crate) fn not_covered(folders: &[Target]) -> String {
    let (are, they_are) = if folders.len() == 1 { ("is", "it is") } else { ("are", "they are") };
    format!("{} {are} not covered by undo: {they_are} ignored.", Ignored(folders))
}

/// Returns whether a part of a command may write in a folder. What runs code of others may: a commit runs hooks.
fn may_write(does: &Does, folder: &Target) -> bool {
    match does {
        Does::Change(target, change) => touches(target, *change, folder),
        Does::ChangeUnknown(_)
        | Does::Code(_)
        | Does::Program(_)
        | Does::Unknown(_)
        | Does::History(_)
        | Does::Publish(_)
        | Does::Danger(..) => true,
        Does::Nothing
        | Does::NothingElse
        | Does::Read(_)
        | Does::List(_)
        | Does::ReadUnknown
        | Does::Connect(_)
        | Does::Settings(_)
        | Does::ShellState(_)
        | Does::Process(_) => false,
    }
}

/// Returns whether a change of the target is one of the folder, or of something in it.
fn touches(target: &Target, change: Change, folder: &Target) -> bool {
    let (Target::Inside(place), Target::Inside(folder)) = (target, folder) else { return false };
    let (parts, around) = (place.path().components(), folder.path().components());
    let fits = parts.clone().zip(around.clone()).all(|(part, name)| {
        let text = |part: &Path| part.to_string_lossy().into_owned();
        patterns::fits(&text(part.as_ref()), &text(name.as_ref()))
    });
    // Whoever removes a folder removes all that is in it; whoever writes into one names what he writes.
    let reaches_down = change == Change::Remove || place.extent() == Extent::Tree;
    fits && (parts.count() >= around.count() || reaches_down)
}

fn has_gap(target: &Target) -> bool {
    target.place().path().to_string_lossy().contains('*')
}

impl fmt::Display for Ignored<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, folder) in self.0.iter().take(MOST_NAMES).enumerate() {
            write!(f, "{}{folder}", if number == 0 { "" } else { ", " })?;
        }
        match self.0.len().saturating_sub(MOST_NAMES) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// What undo brings back of what a command does, where there is a layer. Its display says it, as the end of "it …".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undo {
    /// The ignored folders that the command may write.
    pub but_for: Vec<Target>,
    /// Whether the command has the network, so that something may be sent.
    pub sends: bool,
}

impl fmt::Display for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let but_for = match Ignored(&self.but_for) {
            Ignored([]) => String::new(),
            folders => format!(", but for ignored folders: {folders}"),
        };
        match (self.sends, but_for.as_str()) {
            (false, but_for) => write!(f, "can be undone{but_for}"),
            (true, "") => f.write_str("changes to files can be undone, what is sent cannot"),
            (true, but_for) => write!(f, "changes to files can be undone{but_for}; what is sent cannot"),
        }
    }
}

/// Returns whether all parts of a command only look, so that it does not matter what undo does not cover.
pub fn only_looks(effects: &[Effect]) -> bool {
    let mut parts = effects.iter().filter_map(|effect| match effect {
        Effect::Step(step) => Some(&step.does),
        _ => None,
    });
    let looks = |does: &Does| matches!(does, Does::Nothing | Does::NothingElse | Does::Read(_) | Does::List(_));
    parts.clone().next().is_some() && parts.all(looks)
}

#[cfg(test)]
mod tests;
