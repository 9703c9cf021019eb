//! Fits the edits of one file into its text, or explains why they do not fit.

use std::borrow::Cow;
use std::ops::Range;

use haft_contract::call::CallOrigin;
use haft_contract::doors::door::{FileCopy, FileOp};
use haft_contract::limits::{EditCount, EditNeeds};
use haft_contract::outcome::error::FailedOperation;
use haft_contract::prelude::*;
use haft_contract::text::diff::Diff;
use haft_contract::text::encoding::{NoText, decode};
use haft_contract::text::grouped::GroupedNumber;
use haft_contract::text::lines::LineBreak;
use haft_contract::text::merge::{NotMerged, merge};

use super::{EditPlanFailure, HowMany, OneEdit, PlannedChange, Word};
use crate::files::change::{CONTEXT, FileKnowledge, IN_ITS_PLACE, LARGEST, StaleFile, known, not_read, unencodable};
use crate::files::edit::{Count, Edit, FittedEdits, Miss, Rung, fit};
use crate::files::utf8_only;
use crate::run::hidden_values::{HiddenValues, unclear};

/// Plans to give a file the text that it has after its edits.
pub(super) fn edited_text(
    asked: &[OneEdit],
    target: &Target,
    now: &FileCopy,
    cx: &PlanContext<'_>,
) -> Result<PlannedChange, EditPlanFailure> {
    let looked = |error: ToolError| EditPlanFailure::Looked(error.into());
    let decoded = decode(&now.bytes).map_err(|no_text| looked(not_text(&no_text, target, &now.bytes)))?;
    utf8_only::check(decoded.form, &target.to_string(), cx.limits()).map_err(looked)?;
    let restored = with_values(asked, (&decoded.text, target), cx).map_err(looked)?;
    let meant = |(edit, (old, new)): (&OneEdit, _)| Edit { old, new, count: edit.count(cx.limits().edit_count) };
    let edits: Vec<Edit<'_>> =
        asked.iter().zip(restored.iter().map(|(old, new)| (&**old, &**new))).map(meant).collect();
    let path = target.to_string();
    // Each command of a script is a session of its own, so it has never read anything: it edits as a person does.
    let known = match cx.origin() {
        CallOrigin::Script => Ok(FileKnowledge::AsItIs),
        CallOrigin::Model | CallOrigin::Person => known(cx, target, now),
    };
    let fitted = match (fit(&decoded.text, &edits, &path), &known) {
        (Ok(fitted), _) => fitted,
        (Err(_), Ok(FileKnowledge::AsItWas(read)))
            if decode(read).is_ok_and(|read| fit(&read.text, &edits, &path).is_ok()) =>
        {
            return Err(EditPlanFailure::Looked(StaleFile { target, read, now }.refusal(cx, IN_ITS_PLACE)));
        }
        (Err(miss), _) => return Err(looked(missed(miss, target))),
    };
    let mut notes = Vec::new();
    match known {
        Ok(FileKnowledge::AsItIs) => {}
        Ok(FileKnowledge::AsItWas(read)) => {
            // The model knows what its own commands made of a file, such as those of a formatter.
            let is_own = cx.when_read(target).is_some_and(|read| read.left == Some(now.version.stamp));
            let is_current =
                are_proven(&fitted, &edits) && (is_own || lines_are_current((&read, &decoded.text), &fitted, &edits));
            let checked = if is_current { Ok(()) } else { is_elsewhere((&read, &now.bytes), &edits, &path) };
            checked.map_err(|why| EditPlanFailure::Looked(StaleFile { target, read: &read, now }.refusal(cx, &why)))?;
            if !is_own && differs_elsewhere((&read, &decoded.text), &fitted) {
                notes.push("It was changed elsewhere since it was read; that is kept.".to_owned());
            }
        }
        Ok(FileKnowledge::Not) | Err(_)
            if cx.limits().edit_needs == EditNeeds::Nothing || are_proven(&fitted, &edits) => {}
        Ok(FileKnowledge::Not) => return Err(EditPlanFailure::Blind(not_read(target, cx.origin(), Vec::new()))),
        Err(stale) => return Err(looked(stale)),
    }
    let replacements = replacements(&fitted);
    // A short edit of many places may want more than there is memory for.
    if decoded.size_after(&now.bytes, &replacements) as u64 > LARGEST {
        return Err(looked(too_large_after(target)));
    }
    notes.extend(rungs_used(&fitted));
    notes.extend(repeated(&edits));
    let bytes = decoded.splice(&now.bytes, &replacements).map_err(|error| looked(unencodable(target, &error)))?;
    let diff = Diff::of_replacements(&decoded.text, &replacements, CONTEXT);
    let places = fitted.replacements.len();
    let op = FileOp::Put(target.clone(), bytes.into());
    Ok(PlannedChange { op, diff, notes, edits: asked.len(), places })
}

/// The text to replace and the new one.
type OldAndNew<'a> = (Cow<'a, str>, Cow<'a, str>);

/// Returns the old and new texts of edits with the hidden values that their placeholders stand for.
fn with_values<'a>(
    asked: &'a [OneEdit],
    (text, target): (&str, &Target),
    cx: &PlanContext<'_>,
) -> Result<Vec<OldAndNew<'a>>, ToolError> {
    let sent: Vec<&str> = asked.iter().flat_map(|edit| [edit.old_text.as_str(), &edit.new_text]).collect();
    let hidden = HiddenValues::of(text, cx.hides(), &sent);
    let restored = |edit: &'a OneEdit| {
        let old = hidden.restored(&edit.old_text, &[]).map_err(|line| unclear(target, "old_text", line))?;
        let new = hidden.restored(&edit.new_text, &old.values).map_err(|line| unclear(target, "new_text", line))?;
        Ok((old.text, new.text))
    };
    asked.iter().map(restored).collect()
}

/// Tells whether each edit is there letter by letter, at one place or at as many as the caller counted: then it knows
/// the places.
fn are_proven(fitted: &FittedEdits, edits: &[Edit<'_>]) -> bool {
    let mut places = vec![0_usize; edits.len()];
    fitted.replacements.iter().for_each(|replacement| places[replacement.edit] += 1);
    let is_named = |(edit, places): (&Edit<'_>, &usize)| match edit.count {
        Count::Exactly(_) => true,
        Count::Unique | Count::All | Count::First => *places <= 1,
    };
    edits.iter().zip(&places).all(is_named) && fitted.rungs.iter().all(|rung| *rung == Rung::Exact)
}

/// Tells whether the lines that each edit touches are those that were read, or text that only the present file has.
fn lines_are_current((read, now): (&[u8], &str), fitted: &FittedEdits, edits: &[Edit<'_>]) -> bool {
    let Ok(read) = decode(read) else { return false };
    fitted.replacements.iter().all(|replacement| {
        let start = now[..replacement.range.start].rfind('\n').map_or(0, |at| at + 1);
        // A text that ends with its line does not touch the next one.
        let last = replacement.range.end - usize::from(now[replacement.range.clone()].ends_with('\n'));
        let end = now[last..].find('\n').map_or(now.len(), |at| last + at);
        let stands_alone = |at: usize, lines: &str| {
            (at == 0 || read.text.as_bytes()[at - 1] == b'\n')
                && read.text.as_bytes().get(at + lines.len()).is_none_or(|byte| *byte == b'\n')
        };
        let lines = &now[start..end];
        let was_read = read.text.match_indices(lines).any(|(at, lines)| stands_alone(at, lines));
        was_read || !read.text.contains(edits[replacement.edit].old)
    })
}

/// Tells whether anything but the lines of one edit differs from what was read.
fn differs_elsewhere((read, now): (&[u8], &str), fitted: &FittedEdits) -> bool {
    let Ok(read) = decode(read) else { return true };
    let is_same = |(one, other): &(&u8, &u8)| one == other;
    let (was, is) = (read.text.as_bytes(), now.as_bytes());
    let begin = was.iter().zip(is).take_while(is_same).count();
    let end = was[begin..].iter().rev().zip(is[begin..].iter().rev()).take_while(is_same).count();
    let changed = begin..is.len() - end;
    let holds = |range: &Range<usize>| {
        let start = now[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let end = now[range.end..].find('\n').map_or(now.len(), |at| range.end + at + 1);
        start <= changed.start && changed.end <= end
    };
    !fitted.replacements.iter().any(|replacement| holds(&replacement.range))
}

/// Finds out whether what changed since the file was read leaves alone what the edits replace; else says why not.
fn is_elsewhere((read, now): (&[u8], &[u8]), edits: &[Edit<'_>], path: &str) -> Result<(), String> {
    let edited = |bytes: &[u8]| {
        let decoded = decode(bytes).ok()?;
        let fitted = fit(&decoded.text, edits, path).ok()?;
        let replacements = replacements(&fitted);
        let is_bounded = decoded.size_after(bytes, &replacements) as u64 <= LARGEST;
        is_bounded.then(|| decoded.splice(bytes, &replacements).ok())?
    };
    let in_words = |why: NotMerged| format!(", {why}");
    if decode(read).is_err() {
        return Err(in_words(NotMerged::NotText));
    }
    match (edited(read), edited(now)) {
        (Some(as_meant), Some(as_done)) => match merge(read, now, &as_meant) {
            Ok(both) if both == as_done => Ok(()),
            Ok(_) | Err(NotMerged::Touching) => Err(IN_ITS_PLACE.to_owned()),
            Err(why @ (NotMerged::NotText | NotMerged::OutOfTime)) => Err(in_words(why)),
        },
        // They fit neither, so nothing can be said of their place.
        (None, None) => Err(String::new()),
        _ => Err(IN_ITS_PLACE.to_owned()),
    }
}

impl OneEdit {
    fn count(&self, otherwise: EditCount) -> Count {
        match self.count {
            Some(HowMany::Word(Word::Unique)) => Count::Unique,
            Some(HowMany::Word(Word::All)) => Count::All,
            Some(HowMany::Word(Word::First)) => Count::First,
            Some(HowMany::Exactly(number)) => Count::Exactly(number),
            None if otherwise == EditCount::First => Count::First,
            None => Count::Unique,
        }
    }
}

fn too_large_after(target: &Target) -> ToolError {
    let what = format!("{target} would become larger than {} MiB, the maximum for one write.", LARGEST >> 20);
    let next = Next::FixArguments("replace fewer places or send less text".into());
    ToolError::new(ErrorKind::TooLarge, what, next).about_file(target.to_string(), FailedOperation::Write)
}

fn replacements(fitted: &FittedEdits) -> Vec<(Range<usize>, &str)> {
    fitted.replacements.iter().map(|replacement| (replacement.range.clone(), &*replacement.new)).collect()
}

/// Says which edits were sent twice.
fn repeated(edits: &[Edit<'_>]) -> Vec<String> {
    let words = |(index, edit): (usize, &Edit<'_>)| {
        let first = edits[..index].iter().position(|earlier| earlier == edit)? + 1;
        Some(format!("Edit {} is the same as edit {first} and was made once.", index + 1))
    };
    edits.iter().enumerate().filter_map(words).collect()
}

/// Says which edits did not fit exactly, and how they differed.
fn rungs_used(fitted: &FittedEdits) -> Vec<String> {
    let words =
        |(number, rung): (usize, &Rung)| rung.words().map(|words| format!("Edit {number} matched although {words}."));
    (1..).zip(&fitted.rungs).filter_map(words).collect()
}

fn missed(miss: Miss, target: &Target) -> ToolError {
    ToolError::new(miss.kind, miss.what, miss.next).about_file(target.to_string(), FailedOperation::Write)
}

fn not_text(no_text: &NoText, target: &Target, bytes: &[u8]) -> ToolError {
    let error = match *no_text {
        NoText::Binary => {
            let size = GroupedNumber(bytes.len() as u64).of("byte");
            ToolError::of(ErrorKind::Binary, format!("{target} is not text ({size})."))
        }
        NoText::BadEncoding { looks_like: Some("UTF-8"), at } => {
            let line = LineBreak::of(&[bytes]).count(&bytes[..at]) + 1;
            let what = format!(
                "{target} is UTF-8 with damage: byte {at} (in line {line}) belongs to no character. It was not touched, \
                 because every byte that is not edited must stay unchanged."
            );
            let next =
                format!("tell the user that line {line} is damaged, or replace the whole file with \"write_file\"");
            ToolError::new(ErrorKind::BadEncoding, what, Next::AskUser(next))
        }
        NoText::BadEncoding { .. } => {
            ToolError::of(ErrorKind::BadEncoding, format!("{target} cannot be edited without damage: {no_text}."))
        }
    };
    error.about_file(target.to_string(), FailedOperation::Decode)
}
