//! Checks whether a provider would accept a conversation.
//!
//! Providers refuse a whole request for one call without a result, each in its own words. Here all formats refuse it
//! alike, so a test with any format finds a history that is wrong for one of them.

use std::collections::BTreeSet;

use super::asked::{Conversation, ConversationCall, ConversationEntry, ConversationResult};

impl Conversation {
    /// Returns what is wrong with it, a sentence each.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        match self.said.first() {
            Some(ConversationEntry::User(_)) => {}
            Some(ConversationEntry::Model(..) | ConversationEntry::Results(_)) => {
                faults.push("the first to speak is not the user".into())
            }
            None => faults.push("there is no message".into()),
        }
        let mut ids = BTreeSet::new();
        let mut open: Vec<&ConversationCall> = Vec::new();
        for said in &self.said {
            match said {
                ConversationEntry::Results(results) => {
                    faults.extend(unpaired(&std::mem::take(&mut open), results));
                }
                ConversationEntry::User(_) | ConversationEntry::Model(..) => {
                    faults.extend(std::mem::take(&mut open).iter().map(|call| unanswered(call)));
                }
            }
            if let ConversationEntry::Model(_, calls) = said {
                open = calls.iter().collect();
                let again = calls.iter().filter_map(|call| call.id.as_deref()).filter(|id| !ids.insert(*id));
                faults.extend(again.map(|id| format!("two calls have the id {id:?}")));
            }
        }
        faults.extend(open.iter().map(|call| unanswered(call)));
        faults
    }
}

fn unanswered(call: &ConversationCall) -> String {
    format!("the call of {:?} with the id {:?} has no result right after it", call.name, call.id)
}

fn unpaired(calls: &[&ConversationCall], results: &[ConversationResult]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut left: Vec<&ConversationCall> = calls.to_vec();
    for result in results {
        let fits = |call: &&ConversationCall| match (&call.id, &result.id) {
            (Some(made), Some(came)) => made == came,
            (None, _) | (_, None) => result.name.as_ref().is_none_or(|name| *name == call.name),
        };
        match left.iter().position(fits) {
            Some(index) => {
                left.remove(index);
            }
            None => faults.push(format!("a result has the id {:?}, which no unanswered call has", result.id)),
        }
    }
    faults.extend(left.into_iter().map(unanswered));
    faults
}
