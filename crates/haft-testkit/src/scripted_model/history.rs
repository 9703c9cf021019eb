//! Whether a conversation is one that a provider would take.
//!
//! Providers refuse a whole request for one call without a result, and each says it in other words. Here it is
//! refused in all forms alike, so that a history which is wrong for one of them is found with any.

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
