//! Replaces each glob with the files that fit.
//!
//! The plan for a glob covers the whole workspace. So haft locates and checks each match here like a named path: it
//! follows a link inside, reports a link that leads outside, and applies the limits of the profile. It also reports each
//! match that it does not read: a model that does not see a file concludes that the file does not exist.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use haft_contract::files::guarded::is_secret;
use haft_contract::files::path::{FileLocation, one_line};
use haft_contract::files::search::OmittedNames;
use haft_contract::outcome::error::FailedOperation;
use haft_contract::prelude::*;
use haft_contract::text::grouped::GroupedNumber;

use super::source::{ReadSource, refuse_too_large};
use crate::files::left_out::{LooksInto, OmissionHints, secrets, words};

/// A file that is named is read, whatever ignores or hides it.
const NAME_IT: &str = "name one to read it";
const WAYS: OmissionHints = OmissionHints { ignored: NAME_IT, hidden: NAME_IT, looks_into: LooksInto::Names };

/// Most files that one call reads.
const MOST_FILES: usize = 100;
/// Most notes about globs.
const MOST_NOTES: usize = 10;

/// What globs leave out.
#[derive(Clone)]
pub(super) struct GlobOptions {
    /// Globs of files and folders.
    pub(super) exclude: Vec<String>,
    /// Names, where no ignore file is.
    pub(super) usual_excludes: Vec<String>,
    /// What ignore files name.
    pub(super) ignored: IgnorePolicy,
    pub(super) below: Below,
}

/// Whether globs look into folders that they do not name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Below {
    Searched,
    Left,
}

/// The files to read in place of the globs, and notes about the globs.
pub(super) struct GlobExpansion {
    pub(super) files: Vec<ReadSource>,
    /// Lines for the model.
    pub(super) notes: Vec<String>,
}

/// The whole workspace, where every glob looks.
pub(super) fn everything() -> Target {
    Target::Inside(FileLocation::new("", Extent::Tree))
}

/// Expands all globs; one that cannot be used does not stop the others. Fails only when the call was stopped.
pub(super) async fn expanded(
    cx: &RunContext<'_>,
    sources: Vec<ReadSource>,
    options: &GlobOptions,
) -> Result<GlobExpansion, ToolError> {
    let named = sources.iter().filter(|source| !matches!(source, ReadSource::Glob(_))).count();
    let room = MOST_FILES.saturating_sub(named);
    let mut globs = Globs { cx, options, room, taken: HashSet::new(), said: Vec::new() };
    let (mut files, mut not_looked_for) = (Vec::new(), Vec::new());
    for source in sources {
        match source {
            ReadSource::Glob(pattern) if globs.room == 0 => not_looked_for.push(one_line(&pattern).into_owned()),
            ReadSource::Glob(pattern) => files.extend(globs.expand(&pattern).await?),
            source if globs.is_first(&source) => files.push(source),
            _ => {}
        }
    }
    let mut notes = globs.notes();
    if !not_looked_for.is_empty() {
        let globs = listed(&not_looked_for, 1_000);
        notes.push(format!("[not looked for, because one call reads at most {MOST_FILES} files: {globs}]\n"));
    }
    Ok(GlobExpansion { files, notes })
}

/// Returns the names as a list of about so many characters; those behind it are counted.
pub(super) fn listed(names: &[String], most: usize) -> String {
    let mut list = String::new();
    for (index, name) in names.iter().enumerate() {
        if index > 0 && list.chars().count() + name.chars().count() > most {
            return format!("{list} and {} more", names.len() - index);
        }
        let gap = if index > 0 { ", " } else { "" };
        list.push_str(gap);
        list.push_str(name);
    }
    list
}

/// The globs of one call.
struct Globs<'a> {
    cx: &'a RunContext<'a>,
    options: &'a GlobOptions,
    /// How many files may still be taken.
    room: usize,
    taken: HashSet<PathBuf>,
    /// What there is to say, each with the globs it is true of.
    said: Vec<(String, Vec<String>)>,
}

/// The paths that fit one glob, by what became of them.
#[derive(Default)]
struct GlobMatches {
    files: Vec<ReadSource>,
    /// How many had been taken before.
    doubles: u64,
    secret: OmittedNames,
    folders: u64,
    /// How many there was no room for.
    behind: u64,
}

impl GlobMatches {
    fn gives_something(&self) -> bool {
        !self.files.is_empty() || self.doubles > 0
    }
}

/// What a path that fits a glob is.
enum Met {
    File(Target),
    Secret,
    Folder,
}

impl Globs<'_> {
    /// Tells whether this is not a file that was named before, and remembers it.
    fn is_first(&mut self, source: &ReadSource) -> bool {
        match source {
            ReadSource::File(_, target) => self.taken.insert(target.place().path().to_owned()),
            ReadSource::Spill(_) | ReadSource::Glob(_) | ReadSource::Unreadable(..) => true,
        }
    }

    async fn expand(&mut self, pattern: &str) -> Result<Vec<ReadSource>, ToolError> {
        let unreadable = |error| ReadSource::Unreadable(RawPath::new(pattern), error);
        let found = match self.find(pattern).await {
            Ok(found) => found,
            Err(error) if error.kind == ErrorKind::Cancelled => return Err(error),
            Err(error) => return Ok(vec![unreadable(error)]),
        };
        let mut sorted =
            GlobMatches { behind: found.matched.saturating_sub(found.paths.len() as u64), ..GlobMatches::default() };
        found.paths.iter().for_each(|path| self.sort(path, &mut sorted));
        self.say(pattern, &found, &sorted);
        if !sorted.gives_something() {
            sorted.files.push(unreadable(nothing_to_read(self.cx, pattern, &found, &sorted)));
        }
        Ok(sorted.files)
    }

    async fn find(&self, pattern: &str) -> Result<FindResult, ToolError> {
        if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
            let what = format!("The glob \"{}\" leads out of the workspace.", one_line(pattern));
            let next = "write it relative to the workspace, such as \"src/**/*.rs\", or name each file";
            return Err(ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next.into())));
        }
        let GlobOptions { exclude, usual_excludes, ignored, below } = self.options.clone();
        let (case, order, hidden) = (Case::Sensitive, FindOrder::Name, DotfilePolicy::Skip);
        // Without the folders below, "**" is one level as "*" is.
        let (pattern, depth) = match below {
            Below::Searched => (pattern.to_owned(), usize::MAX),
            Below::Left => (pattern.replace("**", "*"), pattern.trim_start_matches("./").split('/').count()),
        };
        let (skip, paths) = (0, MOST_FILES);
        let request =
            FindRequest { pattern, case, exclude, usual_excludes, depth, hidden, order, ignored, skip, paths };
        self.cx.find(&everything(), request).await
    }

    fn sort(&mut self, path: &str, sorted: &mut GlobMatches) {
        if self.room == 0 {
            sorted.behind += 1;
            return;
        }
        if !self.taken.insert(PathBuf::from(path)) {
            sorted.doubles += 1;
            return;
        }
        let raw = RawPath::new(path);
        let source = match self.meet(&raw) {
            Ok(Met::File(target)) => ReadSource::File(raw, target),
            Ok(Met::Secret) => return sorted.secret.note(|| path.to_owned()),
            Ok(Met::Folder) => return sorted.folders += 1,
            Err(error) => ReadSource::Unreadable(raw, error),
        };
        self.room -= 1;
        sorted.files.push(source);
    }

    fn meet(&self, raw: &RawPath) -> Result<Met, ToolError> {
        let look = self.cx.look();
        if is_secret(Path::new(raw.as_str())) {
            return Ok(Met::Secret);
        }
        let target = look.locate(raw, Extent::Entry)?;
        if is_secret(target.place().path()) {
            return Ok(Met::Secret);
        }
        if !target.is_inside() {
            return Err(leads_outside(raw));
        }
        let facts = look.facts(&target)?;
        if facts.kind == FileKind::Folder {
            return Ok(Met::Folder);
        }
        refuse_too_large(raw, facts, self.cx.limits())?;
        Ok(Met::File(target))
    }

    /// Notes what fits the glob and is not read, and what was not looked at.
    fn say(&mut self, pattern: &str, found: &FindResult, sorted: &GlobMatches) {
        let mut parts = Vec::new();
        if sorted.behind > 0 {
            let (matched, taken) =
                (GroupedNumber(found.matched).of("file"), found.matched.saturating_sub(sorted.behind));
            parts.push(format!(
                "{matched} match, the first {taken} were chosen: one call reads at most {MOST_FILES}; use a narrower \
                 glob for the others"
            ));
        }
        if sorted.secret.count > 0 && sorted.gives_something() {
            parts.push(format!("not read: {}; name one as \"path\" to ask for it", secrets(&sorted.secret)));
        }
        parts.extend(words(&found.left_out, &WAYS));
        if parts.is_empty() {
            return;
        }
        let (parts, pattern) = (parts.join("; "), format!("\"{}\"", one_line(pattern)));
        match self.said.iter_mut().find(|(said, _)| *said == parts) {
            Some((_, patterns)) => patterns.push(pattern),
            None => self.said.push((parts, vec![pattern])),
        }
    }

    fn notes(self) -> Vec<String> {
        let more = self.said.len().saturating_sub(MOST_NOTES);
        let said = self.said.iter().take(MOST_NOTES);
        let mut notes: Vec<String> =
            said.map(|(parts, patterns)| format!("[{}: {parts}]\n", listed(patterns, 200))).collect();
        if more > 0 {
            notes.push(format!(
                "[something was left out for {} too; use fewer]\n",
                GroupedNumber(more as u64).of("more glob")
            ));
        }
        notes
    }
}

/// The refusal of a link that a glob met; what it leads to is not looked at.
fn leads_outside(link: &RawPath) -> ToolError {
    let what = format!("{} is a link that leads out of the workspace.", one_line(link.as_str()));
    let next = Next::AskUser("ask the user to add that folder, or to copy the file in".into());
    ToolError::new(ErrorKind::Denied, what, next)
        .by_rule("reads outside")
        .about_file(link.as_str(), FailedOperation::Access)
}

/// Says why a glob gives no file.
fn nothing_to_read(cx: &RunContext<'_>, pattern: &str, found: &FindResult, sorted: &GlobMatches) -> ToolError {
    let shown = one_line(pattern);
    let error = if sorted.secret.count > 0 {
        let what = format!("\"{shown}\" matches only {}. Globs do not read secrets.", secrets(&sorted.secret));
        let next = Next::FixArguments("name one as \"path\" to ask for it".into());
        ToolError::new(ErrorKind::NeedsApproval, what, next).by_rule("secret files")
    } else if sorted.folders > 0 {
        let next = Next::FixArguments("write a glob that matches files, such as \"src/*\"".into());
        ToolError::new(ErrorKind::IsFolder, format!("\"{shown}\" matches only folders."), next)
    } else {
        meant_as_a_name(cx, pattern).unwrap_or_else(|| nothing_fits(&shown, &found.near))
    };
    error.about_file(shown, FailedOperation::Access)
}

fn nothing_fits(shown: &str, near: &[String]) -> ToolError {
    let mut what = format!("No file matches \"{shown}\".");
    if !near.is_empty() {
        let near: Vec<String> = near.iter().map(|path| one_line(path).into_owned()).collect();
        what.push_str(&format!(" Near: {}.", near.join(", ")));
    }
    let brackets = if shown.contains('[') { "; a \"[\" of a name is written \"[[]\" in a glob" } else { "" };
    let to = format!("to see which files there are{brackets}");
    ToolError::new(ErrorKind::MissingFile, what, Next::UseInstead { tool: "glob".into(), to })
}

/// A name may hold brackets, as `app/[id]/page.tsx`: when no file fits, names near to it are told.
fn meant_as_a_name(cx: &RunContext<'_>, pattern: &str) -> Option<ToolError> {
    if pattern.contains(['*', '?']) {
        return None;
    }
    let target = cx.look().locate(&RawPath::new(pattern), Extent::Entry).ok().filter(Target::is_inside)?;
    let missing = cx.look().facts(&target).err()?;
    let has_near_names = missing.kind == ErrorKind::MissingFile && matches!(missing.next, Next::FixArguments(_));
    let what = format!("No file matches \"{}\" as a glob. {}", one_line(pattern), missing.what);
    has_near_names.then(|| ToolError::new(ErrorKind::MissingFile, what, missing.next.clone()))
}
