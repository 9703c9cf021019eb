//! Requests and answers for walking and searching a tree.
//!
//! All three ways through a tree (listing, finding names, searching content) omit the same entries and share one account
//! of them ([`WalkOmissions`]): a model that does not see a file must learn why.
//!
//! Not here: walking (`haft-workspace`), words for the model (`haft-tools`).

use crate::doors::door::FileKind;

/// How to list a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRequest {
    /// How many levels; 1 is the folder's own entries.
    pub depth: usize,
    /// Whether names that begin with a dot are listed.
    pub hidden: DotfilePolicy,
    /// Whether names that ignore files name are listed.
    pub ignored: IgnorePolicy,
    /// Globs of names to leave out.
    pub ignore: Vec<String>,
    /// Names to leave out as well where no ignore file says what to leave out.
    pub usual_excludes: Vec<String>,
    /// Most entries.
    pub entries: usize,
}

/// Says whether names that begin with a dot are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DotfilePolicy {
    /// They are.
    Show,
    /// They are not.
    Skip,
}

/// Says whether a walk includes names that ignore files exclude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IgnorePolicy {
    /// They are.
    Show,
    /// They are not.
    Skip,
}

/// The entries of a folder. Where there are too many, those of the upper levels come before those of the lower ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderListing {
    /// The entries that are listed, each behind the folder that holds it, by name.
    pub entries: Vec<ListedEntry>,
    /// How many files there are, listed or not; links and special files are counted here.
    pub files: u64,
    /// How many folders there are, listed or not.
    pub folders: u64,
    /// Whether everything was counted.
    pub reach: WalkCoverage,
    /// What was not listed for a reason other than the limit.
    pub left_out: WalkOmissions,
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

/// Says whether a walk saw everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkCoverage {
    /// It did; its counts are exact.
    Whole,
    /// It stopped because it had enough; its counts are lower bounds.
    StoppedEarly,
}

/// The names that a walk met and left out. A folder counts as one, whatever it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalkOmissions {
    /// How many files were met and not left out by their names.
    pub met: u64,
    /// Names that an ignore file says to ignore.
    pub ignored: OmittedNames,
    /// Names that begin with a dot.
    pub hidden: OmittedNames,
    /// Files that are no text.
    pub binary: OmittedNames,
    /// Files that usually hold secrets.
    pub secret: OmittedNames,
    /// Files with a line, or in a search across lines a content, too long to search.
    pub too_long: OmittedNames,
    /// Folders nested too deeply, and names beyond the most that are looked at in one folder.
    pub beyond: u64,
    /// Files and folders that could not be opened.
    pub unreadable: OmittedNames,
}

/// Names that were left out for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OmittedNames {
    /// How many there are.
    pub count: u64,
    /// The first of their paths, below the root of the workspace.
    pub paths: Vec<String>,
}

impl OmittedNames {
    /// Most paths that are kept.
    pub const MOST_PATHS: usize = 5;

    /// Notes one.
    pub fn note(&mut self, path: impl FnOnce() -> String) {
        self.count += 1;
        if self.paths.len() < Self::MOST_PATHS {
            self.paths.push(path());
        }
    }

    /// Adds what another part of the same walk left out.
    pub fn add(&mut self, other: OmittedNames) {
        self.count += other.count;
        self.paths.extend(other.paths);
        self.paths.sort_unstable();
        self.paths.truncate(Self::MOST_PATHS);
    }
}

impl WalkOmissions {
    /// Adds what another part of the same walk left out.
    pub fn add(&mut self, other: WalkOmissions) {
        self.met += other.met;
        self.ignored.add(other.ignored);
        self.hidden.add(other.hidden);
        self.binary.add(other.binary);
        self.secret.add(other.secret);
        self.too_long.add(other.too_long);
        self.beyond += other.beyond;
        self.unreadable.add(other.unreadable);
    }
}

/// Which names to find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindRequest {
    /// The glob. Without a `/` it is for names in any folder, else for paths below the folder.
    pub pattern: String,
    /// Whether capital letters matter.
    pub case: Case,
    /// Globs of files and folders to leave out.
    pub exclude: Vec<String>,
    /// Names to leave out as well where no ignore file says what to leave out.
    pub usual_excludes: Vec<String>,
    /// How many levels are looked at; 1 is the folder's own names.
    pub depth: usize,
    /// Whether names that begin with a dot are found; a pattern that has the dot finds them anyway.
    pub hidden: DotfilePolicy,
    /// Which paths come first.
    pub order: FindOrder,
    /// Whether names that ignore files name are found.
    pub ignored: IgnorePolicy,
    /// How many of the first paths are passed over.
    pub skip: usize,
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
    /// The largest.
    Largest,
    /// Those of the upper levels.
    Shallow,
}

/// The names that fit a glob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindResult {
    /// The first paths behind those that are passed over, below the root of the workspace.
    pub paths: Vec<String>,
    /// How many fit in all.
    pub matched: u64,
    /// How many names were compared.
    pub compared: u64,
    /// Where nothing fits: paths that nearly do.
    pub near: Vec<String>,
    /// What was not looked at.
    pub left_out: WalkOmissions,
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
    /// Names to leave out as well where no ignore file says what to leave out.
    pub usual_excludes: Vec<String>,
    /// How many lines before a match are returned.
    pub before: usize,
    /// How many lines after a match are returned.
    pub after: usize,
    /// What is wanted of the matches.
    pub wanted: SearchOutputMode,
    /// Whether files that ignore files name are searched.
    pub ignored: IgnorePolicy,
    /// How many of the first matches, or files where lines are not wanted, are passed over.
    pub skip: usize,
    /// Most matches, or most files where lines are not wanted.
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

/// The form in which a search returns its matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchOutputMode {
    /// The lines.
    Lines,
    /// The files that have one.
    Files,
    /// How many each file has.
    Counts,
}

/// The matches that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchResult {
    /// The first files with matches behind those that are passed over, by path.
    pub files: Vec<MatchedFile>,
    /// How many matches there are; where only files are wanted, at least this many.
    pub matches: u64,
    /// How many files have one.
    pub matched_files: u64,
    /// How many files were searched.
    pub searched: u64,
    /// Whether everything was searched.
    pub reach: WalkCoverage,
    /// What was not searched.
    pub left_out: WalkOmissions,
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
    /// How many bytes of the match were left out in the lines below.
    pub cut_below: usize,
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
