//! What walking and searching a tree ask, and what they answer.
//!
//! All three ways through a tree (listing, finding names, searching content) leave the same things out, so
//! they share one account of it ([`LeftOut`]): a model that does not see a file must learn why.
//!
//! Not here: walking (`haft-workspace`), words for the model (`haft-tools`).

use crate::door::FileKind;

/// How to list a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRequest {
    /// How many levels; 1 is the folder's own entries.
    pub depth: usize,
    /// Whether names that begin with a dot are listed.
    pub hidden: Hidden,
    /// Globs of names to leave out.
    pub ignore: Vec<String>,
    /// Most entries.
    pub entries: usize,
}

/// Whether names that begin with a dot are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// They are.
    Show,
    /// They are not.
    Skip,
}

/// The entries of a folder, depth first, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The first entries.
    pub entries: Vec<ListedEntry>,
    /// How many files there are, listed or not; links and special files are counted here.
    pub files: u64,
    /// How many folders there are, listed or not.
    pub folders: u64,
    /// Whether everything was counted.
    pub reach: Reach,
    /// What was not listed for a reason other than the limit.
    pub left_out: LeftOut,
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEntry {
    /// Its path below the listed folder.
    pub path: String,
    /// How deep it lies, from 1.
    pub depth: usize,
    /// What it is.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
}

/// Whether a walk saw everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It did; its counts are exact.
    Whole,
    /// It stopped because it had enough; its counts are lower bounds.
    StoppedEarly,
}

/// What a walk met and left out. A folder counts as one, whatever it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Names that an ignore file says to ignore.
    pub ignored: u64,
    /// Names that begin with a dot.
    pub hidden: u64,
    /// Files that are no text.
    pub binary: u64,
    /// Files that usually hold secrets.
    pub secret: u64,
    /// Files with a line, or in a search across lines a content, too long to search.
    pub too_long: u64,
    /// Folders nested too deeply, and names beyond the most that are looked at in one folder.
    pub beyond: u64,
    /// Files and folders that could not be opened.
    pub unreadable: u64,
    /// The first paths of those.
    pub unreadable_paths: Vec<String>,
}

impl LeftOut {
    /// Most paths of unreadable files that are kept.
    const MOST_PATHS: usize = 5;

    /// Notes something that could not be opened.
    pub fn note_unreadable(&mut self, path: impl FnOnce() -> String) {
        self.unreadable += 1;
        if self.unreadable_paths.len() < Self::MOST_PATHS {
            self.unreadable_paths.push(path());
        }
    }

    /// Adds what another part of the same walk left out.
    pub fn add(&mut self, other: LeftOut) {
        self.ignored += other.ignored;
        self.hidden += other.hidden;
        self.binary += other.binary;
        self.secret += other.secret;
        self.too_long += other.too_long;
        self.beyond += other.beyond;
        self.unreadable += other.unreadable;
        self.unreadable_paths.extend(other.unreadable_paths);
        self.unreadable_paths.sort_unstable();
        self.unreadable_paths.truncate(Self::MOST_PATHS);
    }
}

/// Which names to find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindRequest {
    /// The glob. Without a `/` it is for names in any folder, else for paths below the folder.
    pub pattern: String,
    /// Whether capital letters matter.
    pub case: Case,
    /// Which paths come first.
    pub order: FindOrder,
    /// Most paths.
    pub paths: usize,
}

/// Which paths come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindOrder {
    /// By path.
    Name,
    /// Those changed last.
    Newest,
}

/// The names that fit a glob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The first paths, below the root of the workspace.
    pub paths: Vec<String>,
    /// How many fit in all.
    pub matched: u64,
    /// How many names were compared.
    pub compared: u64,
    /// Where nothing fits: paths that nearly do.
    pub near: Vec<String>,
    /// What was not looked at.
    pub left_out: LeftOut,
}

/// What to search for, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchRequest {
    /// The text or expression.
    pub pattern: String,
    /// How the pattern is read.
    pub syntax: Syntax,
    /// Whether capital letters matter.
    pub case: Case,
    /// Whether a match may reach over line ends.
    pub span: Span,
    /// Globs of files to search; none means all.
    pub include: Vec<String>,
    /// Globs of files and folders to leave out.
    pub exclude: Vec<String>,
    /// How many lines around a match are returned.
    pub context: usize,
    /// What is wanted of the matches.
    pub wanted: Wanted,
    /// Most matches, or most files where only files are wanted.
    pub most: usize,
    /// Most characters of a line that are kept.
    pub line_length: usize,
}

/// How a pattern is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// As a regular expression.
    Regex,
    /// As it is written.
    Literal,
}

/// Whether capital letters matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Only when the pattern has one.
    Smart,
    /// Always.
    Sensitive,
    /// Never.
    Insensitive,
}

/// Whether a match may reach over line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// Each line is searched for itself.
    Line,
    /// A match may begin on one line and end on another.
    Lines,
}

/// What is wanted of the matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The lines.
    Lines,
    /// The files that have one.
    Files,
    /// How many each file has.
    Counts,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Searched {
    /// The first files with matches, by path.
    pub files: Vec<MatchedFile>,
    /// How many matches there are; where only files are wanted, at least this many.
    pub matches: u64,
    /// How many files have one.
    pub matched_files: u64,
    /// How many files were searched.
    pub searched: u64,
    /// Whether everything was searched.
    pub reach: Reach,
    /// What was not searched.
    pub left_out: LeftOut,
}

/// A file with matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedFile {
    /// Its path below the root of the workspace.
    pub path: String,
    /// How many matches it has.
    pub matches: u64,
    /// The lines, where they are wanted.
    pub lines: Vec<FoundLine>,
}

/// A line that matches, or that is near to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundLine {
    /// Its number, from 1.
    pub number: u64,
    /// Whether the match is in it.
    pub kind: LineKind,
    /// The text, cut around the match at the requested length.
    pub text: String,
    /// Where in the text the match begins, in characters; 0 in a line without its beginning.
    pub match_at: usize,
    /// How many characters were left out before it.
    pub cut_before: usize,
    /// How many characters were left out behind it.
    pub cut_after: usize,
}

/// Why a line is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// A match begins in it.
    Match,
    /// A match that began above reaches into it.
    MatchGoesOn,
    /// It is near to a match.
    Context,
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchedSoFar {
    /// Files searched.
    pub files: u64,
    /// Matches found.
    pub matches: u64,
}
