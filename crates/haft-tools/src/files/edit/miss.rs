//! Words a refusal: what is wrong, what nearly matches, and what to send instead.
//!
//! A refused edit costs the model one more call, so the refusal carries what that call needs: the line numbers, the
//! differences, and the exact text if it is short. All of it is bounded.

use std::ops::Range;

use haft_contract::outcome::error::{CallFix, Next};
use haft_contract::outcome::kinds::ErrorKind;
use serde_json::{Value, json};

use super::already::{Already, already};
use super::even::{EvenText, evened};
use super::exact::{self, MatchRanges};
use super::ladder::{FORGIVING, Overlap, Reason};
use super::nearest::{Nearest, nearest};
use super::rungs::Misfit;
use super::shown;
use super::{Count, Edit, Miss, Near, Rung};

/// Characters of a whole refusal.
const WORDS: usize = 3_900;
/// Lines and bytes of a region that is sent back as the text to use.
const CORRECTED_LINES: usize = 20;
const CORRECTED_BYTES: usize = 1_600;
/// A region this alike is offered as the text to send.
const OFFERED: f32 = 0.5;

/// Lines of a file that are shown when nothing in it is like the old text, and characters of each.
const FIRST_LINES: usize = 10;
const FIRST_CHARACTERS: usize = 120;

/// What to do when the new text is there.
const GO_ON: &str = "go on if that is what you want; else copy the text to replace from there";

/// The edit of a call that is refused, with the path of its file.
pub(super) struct RefusedEdit<'a> {
    pub(super) edits: &'a [Edit<'a>],
    pub(super) index: usize,
    pub(super) path: &'a str,
}

impl RefusedEdit<'_> {
    /// Puts a reason into words.
    pub(super) fn refused(&self, text: &EvenText<'_>, reason: Reason) -> Miss {
        match reason {
            Reason::EmptyOld => self.empty_old(),
            Reason::NoMatch => self.no_match(text),
            Reason::Miscounted { places, wanted, overlap } => self.miscounted(text, &places, (wanted, overlap)),
            Reason::Ambiguous { places, forgiven } => self.ambiguous(text, &places, &forgiven),
            Reason::CannotAdapt { range, rung, misfit } => self.cannot_adapt(text, &range, (rung, misfit)),
        }
    }

    fn empty_old(&self) -> Miss {
        let next = "name the text to replace; to add lines, replace a line by itself and the new ones; to write a \
                    whole file, call \"write_file\"";
        self.miss(ErrorKind::EmptyOld, format!("{} is empty.", self.old_text()), Next::FixArguments(next.into()))
    }

    fn ambiguous(&self, text: &EvenText<'_>, places: &MatchRanges, forgiven: &[Rung]) -> Miss {
        let (count, lines) = (count_words(places), line_list(text, places));
        let (old_text, path) = (self.old_text(), self.path());
        let what = match forgiven.iter().filter_map(|rung| rung.differing()).collect::<Vec<_>>().as_slice() {
            [] => format!("{old_text} occurs {count} times in {path} ({lines})."),
            differing => format!(
                "{old_text} does not occur exactly in {path}; when {} may differ, {count} places match ({lines}).{}",
                differing.join(" or "),
                if forgiven == [Rung::LineNumbers] {
                    " The numbers do not choose: they may be out of date."
                } else {
                    ""
                }
            ),
        };
        let next = match (forgiven, self.edits[self.index].count) {
            ([], _) => Next::AnyOf(vec![
                CallFix::new("add a line before or after it so that it occurs once"),
                CallFix::with("give {} to replace every one", "count", self.every_one(places)),
            ]),
            (_, Count::All) => {
                Next::FixArguments("copy the text exactly from the file: only exact matches are all replaced".into())
            }
            _ => Next::FixArguments(
                "copy the text exactly from the file, with a line before or after it so that it occurs once".into(),
            ),
        };
        Miss { count: places.count, near: near_first(text, places), ..self.miss(ErrorKind::Ambiguous, what, next) }
    }

    /// Returns the counts that mean every one of these places.
    fn every_one(&self, places: &MatchRanges) -> Vec<Value> {
        let number = (!places.may_be_more).then(|| json!(places.count));
        std::iter::once(json!("all")).chain(number).collect()
    }

    fn miscounted(&self, text: &EvenText<'_>, places: &MatchRanges, (wanted, overlap): (usize, Overlap)) -> Miss {
        let count = places.count;
        let is_less = count < wanted && !places.may_be_more;
        let kind = if is_less { ErrorKind::NoMatch } else { ErrorKind::Ambiguous };
        let occurs = format!(
            "{} occurs {} {} in {} ({})",
            self.old_text(),
            count_words(places),
            if count == 1 { "time" } else { "times" },
            self.path(),
            line_list(text, places)
        );
        let (what, next) = match overlap {
            Overlap::Yes => (
                format!("{occurs}, and some of these places overlap."),
                Next::FixArguments("add the text before or after it, so that only one place is meant".to_owned()),
            ),
            Overlap::No => (
                format!("{occurs}, not {wanted}."),
                Next::AnyOf(vec![
                    CallFix::with("give {} if every one is meant", "count", vec![json!(count), json!("all")]),
                    CallFix::new(if is_less {
                        "copy the text exactly as it is in the file"
                    } else {
                        "add lines to \"old_text\""
                    }),
                ]),
            ),
        };
        Miss { count, near: near_first(text, places), ..self.miss(kind, what, next) }
    }

    fn cannot_adapt(&self, text: &EvenText<'_>, range: &Range<usize>, (rung, misfit): (Rung, Misfit)) -> Miss {
        let (first, last) = text.lines_of(range);
        let place = format!("{} matches {} of {}", self.old_text(), line_words(first, last), self.path());
        let differing = rung.differing().unwrap_or("something");
        let what = match misfit {
            Misfit::Numbers => format!(
                "{place} without its line numbers, but it is not clear whether the numbers in new_text are line numbers too."
            ),
            Misfit::TabWidth => format!(
                "{place} when {differing} may differ, but new_text has depths that old_text lacks, and it is not \
                 certain how wide a tab is there."
            ),
            Misfit::Lacking => {
                format!("{place} when {differing} may differ, but new_text cannot be changed in the same way.")
            }
        };
        let next = self.corrected(text, range).unwrap_or_else(|| self.look_at(first, last));
        let near = Some(Near { first_line: first, last_line: last });
        Miss { near, count: 1, ..self.miss(ErrorKind::NoMatch, what, next) }
    }

    fn no_match(&self, text: &EvenText<'_>) -> Miss {
        let old = evened(self.edits[self.index].old);
        let intro = format!("{} does not occur in {}", self.old_text(), self.path());
        if text.as_str().len() > FORGIVING {
            let next = Next::LookFirst { tool: "grep".into(), at: format!("where the text is in {}", self.path()) };
            return self.miss(ErrorKind::NoMatch, format!("{intro}.{}", first_lines(text)), next);
        }
        let nearest = nearest(text, &old);
        let already = already(text, &self.edits[self.index], nearest.as_ref());
        if let Some(Already::Seems(there)) = already {
            return self.is_there(text, &there, format!("{intro}; the change seems to be made already"));
        }
        let hint = self.hint(&old);
        if let (Some(Already::MayBe(there)), None) = (&already, &nearest) {
            return self.is_there(text, there, format!("{intro}.{hint} new_text is there already"));
        }
        let Some(nearest) = nearest else {
            let next = Next::LookFirst { tool: "read_file".into(), at: self.path() };
            let first = if hint.is_empty() { first_lines(text) } else { String::new() };
            return self.miss(ErrorKind::NoMatch, format!("{intro}, nor anything like it.{hint}{first}"), next);
        };
        let may_be = match already {
            Some(Already::MayBe(there)) => {
                let (first, last) = text.lines_of(&there);
                format!(" new_text is in {} already, so the change may have been made.", line_words(first, last))
            }
            Some(Already::Seems(_)) | None => String::new(),
        };
        self.near_miss(text, &nearest, format!("{intro}.{hint}{may_be}"))
    }

    fn is_there(&self, text: &EvenText<'_>, there: &Range<usize>, intro: String) -> Miss {
        let (first, last) = text.lines_of(there);
        let what = format!("{intro}, {}.", line_words(first, last));
        let near = Some(Near { first_line: first, last_line: last });
        Miss { near, ..self.miss(ErrorKind::NoMatch, what, Next::FixArguments(GO_ON.to_owned())) }
    }

    fn near_miss(&self, text: &EvenText<'_>, nearest: &Nearest<'_>, intro: String) -> Miss {
        let (first, last) = text.lines_of(&nearest.range);
        let differences = shown::differences(nearest);
        let lines = line_words(first, last);
        let how = if differences.is_empty() {
            "; the old text begins or ends inside a line there".to_owned()
        } else if shown::only_white_space_differs(&nearest.pairs) {
            format!("; only white space differs (· is a space, → a tab):{differences}")
        } else {
            format!("; what differs:{differences}")
        };
        let what = format!("{intro} Closest: {lines}{how}");
        // What is offered ends as the old text does, so that the new text still goes with it.
        let is_closed = self.edits[self.index].old.ends_with(['\n', '\r']);
        let has_end = is_closed && text.as_str()[nearest.range.end..].starts_with('\n');
        let region = nearest.range.start..nearest.range.end + usize::from(has_end);
        let offer = if nearest.likeness >= OFFERED { self.corrected(text, &region) } else { None };
        let next = offer.unwrap_or_else(|| self.look_at(first, last));
        let near = Some(Near { first_line: text.line_at(nearest.range.start), last_line: last });
        Miss { near, ..self.miss(ErrorKind::NoMatch, what, next) }
    }

    /// Returns what is often the reason, when the old text shows it.
    fn hint(&self, old: &str) -> &'static str {
        let is_gap = |line: &str| {
            let bare = line.trim().trim_start_matches(['/', '#', '*', '-', ';', '%', '<', '!', ' ']);
            bare.starts_with("...") || bare.starts_with('…')
        };
        let others = self.edits.iter().enumerate().filter(|(index, _)| *index != self.index);
        if others.map(|(_, edit)| evened(edit.new)).any(|new| new.contains(old)) {
            " It is in the new text of another edit, but haft locates all edits in the file before it makes any of \
             them."
        } else if old.split('\n').any(|line| line.starts_with("[end of file")) {
            " \"[end of file…\" is a note of \"read_file\", not a line of the file: leave it out."
        } else if old.split('\n').any(is_gap) {
            " It has a line of dots: lines that are left out cannot be found; write all of them, or use two edits."
        } else {
            ""
        }
    }

    /// Returns the text to send instead, if the region is short and occurs once.
    fn corrected(&self, text: &EvenText<'_>, range: &Range<usize>) -> Option<Next> {
        let region = &text.as_str()[range.clone()];
        if region.trim_end_matches('\n') == evened(self.edits[self.index].new).trim_end_matches('\n') {
            return Some(Next::FixArguments(GO_ON.to_owned()));
        }
        // A line that was split by a formatter goes on in the lines behind it: they belong to the place.
        let last = |text: &str| text.trim_end().rsplit('\n').next().unwrap_or_default().trim().to_owned();
        let (old, found) = (last(&evened(self.edits[self.index].old)), last(region));
        if old.len() > found.len() && old.starts_with(&found) {
            return None;
        }
        let is_short = region.len() <= CORRECTED_BYTES && region.matches('\n').count() < CORRECTED_LINES;
        if !is_short || exact::all(text.as_str(), region).count != 1 {
            return None;
        }
        let json = serde_json::to_string(region).ok().filter(|json| json.len() <= CORRECTED_BYTES + 400)?;
        let words = format!("if that is the place, send \"old_text\": {json}, and a \"new_text\" for the whole of it");
        Some(Next::FixArguments(words))
    }

    fn look_at(&self, first: usize, last: usize) -> Next {
        Next::LookFirst { tool: "read_file".into(), at: format!("{} of {}", line_words(first, last), self.path()) }
    }

    /// Says that two edits want the same text.
    pub(super) fn overlap(&self, text: &EvenText<'_>, ranges: [&Range<usize>; 2], other: usize) -> Miss {
        let shared = ranges[0].start.max(ranges[1].start)..ranges[0].end.min(ranges[1].end);
        let (first, last) = text.lines_of(&shared);
        let (path, lines) = (self.path(), line_words(first, last));
        let what = format!("Edits {} and {} both replace text of {lines} in {path}.", other + 1, self.index + 1);
        let next = Next::FixArguments("join the two edits into one".into());
        let near = Some(Near { first_line: first, last_line: last });
        Miss { near, count: 2, ..self.miss(ErrorKind::Overlap, what, next) }
    }

    fn old_text(&self) -> String {
        if self.edits.len() == 1 { "old_text".into() } else { format!("old_text of edit {}", self.index + 1) }
    }

    fn path(&self) -> String {
        path_words(self.path)
    }

    fn miss(&self, kind: ErrorKind, what: String, next: Next) -> Miss {
        let room = WORDS.saturating_sub(next.to_string().chars().count());
        let what = match what.char_indices().nth(room) {
            Some((end, _)) => format!("{}…", &what[..end]),
            None => what,
        };
        Miss { kind, edit: self.index, what: what.into(), next, near: None, count: 0 }
    }
}

/// Says that the edits would leave the text as it is.
pub(super) fn no_change(path: &str) -> Miss {
    let what = format!("The edits do not change {}: new_text is there already.", path_words(path));
    let next = Next::FixArguments("go on if that is right; else send a new_text that differs from old_text".into());
    Miss { kind: ErrorKind::NoChange, edit: 0, what: what.into(), next, near: None, count: 0 }
}

impl Rung {
    fn differing(self) -> Option<&'static str> {
        match self {
            Rung::Exact => None,
            Rung::LineEndBlanks => Some("white space at line ends"),
            Rung::Indentation => Some("the indentation"),
            Rung::Typography => Some("typographic quotes, dashes or spaces"),
            Rung::LineNumbers => Some("line numbers"),
        }
    }
}

fn path_words(path: &str) -> String {
    path.chars().take(300).collect::<String>().escape_debug().to_string()
}

/// Shows how the file begins, where nothing in it is like the old text: often it is another file than was thought.
fn first_lines(text: &EvenText<'_>) -> String {
    let mut lines = text.as_str().split('\n').take(FIRST_LINES).enumerate().peekable();
    if text.as_str().is_empty() {
        return " The file is empty.".to_owned();
    }
    let mut shown = " It begins:".to_owned();
    while let Some((index, line)) = lines.next() {
        if lines.peek().is_none() && line.is_empty() {
            break;
        }
        let cut: String = line.chars().take(FIRST_CHARACTERS).collect();
        let more = if cut.len() < line.len() { "…" } else { "" };
        shown.push_str(&format!("\n{}| {cut}{more}", index + 1));
    }
    shown
}

fn near_first(text: &EvenText<'_>, places: &MatchRanges) -> Option<Near> {
    let (first_line, last_line) = text.lines_of(places.first.first()?);
    Some(Near { first_line, last_line })
}

fn line_words(first: usize, last: usize) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first}-{last}") }
}

fn count_words(places: &MatchRanges) -> String {
    if places.may_be_more { format!("at least {}", places.count) } else { places.count.to_string() }
}

fn line_list(text: &EvenText<'_>, places: &MatchRanges) -> String {
    let lines: Vec<String> = places.first.iter().map(|range| text.lines_of(range).0.to_string()).collect();
    let more = if places.count > places.first.len() { ", …" } else { "" };
    match lines.as_slice() {
        [] => "too many lines to compare".to_owned(),
        [line] => format!("line {line}{more}"),
        lines => format!("lines {}{more}", lines.join(", ")),
    }
}
