//! The request for an undo: which change sets, which part of them, and whether to do it or only show it.

use haft_contract::files::path::Target;

/// The changes that an undo takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoSelection {
    /// The newest that has not been taken back; of a file, the newest that changed it.
    Newest,
    /// The one with this number.
    Number(u64),
    /// All of the turn that the newest belongs to.
    Turn,
    /// All of the session that the newest belongs to.
    Session,
    /// The one with this number, and all later ones of its session.
    Since(u64),
    /// The last undo, which makes it a redo.
    LastUndo,
}

/// What to take back, and how.
#[derive(Clone, Copy, Debug)]
pub struct UndoRequest<'a> {
    /// Which change sets.
    pub which: UndoSelection,
    /// Which part of them.
    pub scope: Scope<'a>,
    /// Where earlier contents go.
    pub placement: Placement,
    /// Whether anything is changed.
    pub mode: UndoMode,
    /// Which places have been judged before they are written.
    pub judged: JudgedPlaces,
}

/// Which part of change sets is taken back.
#[derive(Clone, Copy, Debug)]
pub enum Scope<'a> {
    /// Everything.
    All,
    /// Only this file, or everything in this folder.
    Below(&'a Target),
    /// Only these hunks of files, as `Diff::between` numbers them from 1 with `HUNK_CONTEXT` unchanged lines around.
    Hunks(&'a [(Target, usize)]),
    /// Only these changes of files, numbered in the same way without unchanged lines around: the smallest parts there are.
    Changes(&'a [(Target, usize)]),
}

/// Where earlier contents go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Where they were.
    InPlace,
    /// Beside it, as `NAME.before-N`.
    Beside,
}

/// Whether anything is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoMode {
    /// It is done.
    Commit,
    /// It is only found out what would be done.
    Plan,
}

/// Which of the places that an undo writes were judged by the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgedPlaces {
    /// None: a person undoes or redoes.
    Nothing,
    /// Those that the plan of a call names, which are not the files in build folders.
    NamedPaths,
    /// All, because what is written was there a moment ago.
    Everything,
}

impl UndoRequest<'_> {
    /// Asks for change sets to be taken back as they are.
    pub fn all(which: UndoSelection) -> Self {
        let (mode, judged) = (UndoMode::Commit, JudgedPlaces::Nothing);
        Self { which, scope: Scope::All, placement: Placement::InPlace, mode, judged }
    }

    /// Returns whether whole change sets are to be taken back.
    pub(in crate::history) fn is_whole(&self) -> bool {
        matches!(self.scope, Scope::All) && self.placement == Placement::InPlace && self.mode == UndoMode::Commit
    }
}
