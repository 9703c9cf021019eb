//! Reads the requested intents from the end of the journal, and scans the others only as bytes.
//!
//! Most questions about a file or a word concern few of many change sets. haft parses a record only if its text may concern
//! the question, and stops reading as soon as the question is answered.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::sync::Arc;

use super::frame::{BodyExtent, RecordFrame};
use super::{Inline, Intent, IntentOutcome, Journal, JournalSnapshot, Record, frame, parsed};

/// How the text of an outcome begins.
const OUTCOME: &[u8] = br#"{"record":"outcome","#;

/// Chooses intents while a journal is read from its end.
pub(crate) trait Choosing {
    /// Returns whether the text of an intent may concern the question. It is the JSON of the record.
    fn may_concern(&self, text: &[u8]) -> bool;

    /// Takes an intent that happened, or may have; returns whether it concerns the question.
    fn takes(&mut self, intent: &Intent) -> bool;

    /// Returns whether nothing older can concern the question.
    fn is_enough(&self) -> bool;
}

impl Journal {
    /// Reads the intents that are chosen. The reading has no others, and says nothing about which change sets are lost.
    pub(crate) fn read_chosen(&self, choosing: &mut dyn Choosing) -> io::Result<JournalSnapshot> {
        let choosing = RefCell::new(choosing);
        self.read_with(&|file| chosen(file, &mut **choosing.borrow_mut()))
    }
}

fn chosen(file: File, choosing: &mut dyn Choosing) -> io::Result<JournalSnapshot> {
    let mut end = file.metadata()?.len();
    let mut reading = JournalSnapshot::default();
    let mut outcomes: HashMap<(u64, u32), IntentOutcome> = HashMap::new();
    while end > 0 && !choosing.is_enough() {
        let Some((frame, body)) = frame::last_part(&file, end, BodyExtent::Beginning)? else {
            return chosen_of_damaged((file, end), reading, choosing);
        };
        end = frame.begin();
        reading.sets = reading.sets.max(frame.head.sets);
        if !is_worth_reading(&body, choosing) {
            continue;
        }
        match parsed(&file, &frame, &body) {
            Some((Record::Intent(intent), inline)) => {
                let outcome = outcomes.remove(&(intent.set, intent.part));
                let happened = happened_of(*intent, outcome).filter(|intent| choosing.takes(intent));
                reading.intents.extend(happened.map(|intent| (intent, inline_of(&frame, inline))));
            }
            Some((Record::Outcome(outcome), _)) => _ = outcomes.insert((outcome.set, outcome.part), outcome),
            Some((Record::Dropped { up_to }, _)) => reading.dropped = reading.dropped.max(up_to),
            None => reading.damaged.push(frame.body.end - frame.body.start),
        }
    }
    Ok(finished(reading, file))
}

/// Returns whether a record must be taken apart: all but intents that do not concern the question, and outcomes that say
/// no more than that everything happened.
fn is_worth_reading(body: &[u8], choosing: &dyn Choosing) -> bool {
    let length = body.first_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize);
    let Some(text) = body.get(4..4 + length) else { return true };
    match () {
        () if text.starts_with(OUTCOME) => !text.ends_with(br#""happened":true}"#),
        () if text.starts_with(super::INTENT) => choosing.may_concern(text),
        () => true,
    }
}

/// Goes on before a damaged stretch: the records there are found only from the beginning.
fn chosen_of_damaged(
    (file, end): (File, u64),
    mut reading: JournalSnapshot,
    choosing: &mut dyn Choosing,
) -> io::Result<JournalSnapshot> {
    let whole = JournalSnapshot::of(file.try_clone()?)?;
    reading.damaged.clone_from(&whole.damaged);
    (reading.sets, reading.dropped) = (whole.sets, whole.dropped);
    for (intent, inline) in whole.intents.iter().rev().filter(|(_, inline)| inline.begin < end) {
        if choosing.is_enough() {
            break;
        }
        let outcome = whole.outcome(intent).map(|happened| IntentOutcome { happened, ..intent.happened() });
        let happened = happened_of(intent.clone(), outcome).filter(|intent| choosing.takes(intent));
        reading.intents.extend(happened.map(|intent| (intent, *inline)));
    }
    Ok(finished(reading, file))
}

fn inline_of(frame: &RecordFrame, begin: usize) -> Inline {
    Inline { begin: frame.body.start + begin as u64, end: frame.body.end }
}

/// Returns what happened of an intent; nothing where nothing did.
fn happened_of(mut intent: Intent, outcome: Option<IntentOutcome>) -> Option<Intent> {
    if let Some(outcome) = &outcome {
        if !outcome.happened {
            return None;
        }
        if !outcome.standing.is_empty() {
            intent.keep_only(&outcome.standing);
        }
    }
    Some(intent)
}

fn finished(mut reading: JournalSnapshot, file: File) -> JournalSnapshot {
    reading.intents.reverse();
    reading.not_read = reading.sets;
    reading.file = Some(Arc::new(file));
    reading
}
