//! Adapts recorded texts to the copy: paths of the workspace, and names of outputs that were too long to show.

use std::sync::{Mutex, PoisonError};

use haft_agent::work::each_time::{without_after, without_what_differs_each_time};
use haft_model::conversation::ModelToolCall;
use serde_json::Value;

/// Maps the paths and the names of the recorded session to those of the replay.
pub struct ReplayMapping {
    workspace: String,
    copy: String,
    /// The folder that holds the copy.
    scratch: String,
    /// Of outputs that were too long to show, and of calls.
    names: Mutex<Vec<(String, String)>>,
}

impl ReplayMapping {
    pub fn new(workspace: String, copy: String, scratch: String) -> Self {
        Self { workspace, copy, scratch, names: Mutex::default() }
    }

    /// Notes under which name an output was kept or a call was known then, and under which it is now.
    pub fn note_name(&self, then: &str, now: &str) {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).push((then.to_owned(), now.to_owned()));
    }

    /// Returns a call as it is made now.
    pub fn call(&self, call: &ModelToolCall) -> ModelToolCall {
        let arguments = match serde_json::from_str::<Value>(&call.arguments) {
            Ok(mut value) => self.adapt(&mut value).then(|| value.to_string()),
            Err(_) => self.text(&call.arguments),
        };
        match arguments {
            Some(arguments) => ModelToolCall { arguments, ..call.clone() },
            None => call.clone(),
        }
    }

    /// Adapts all texts in a value; returns whether there was anything to adapt.
    fn adapt(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.text(text) {
                Some(adapted) => {
                    *text = adapted;
                    true
                }
                None => false,
            },
            Value::Array(items) => items.iter_mut().map(|item| usize::from(self.adapt(item))).sum::<usize>() > 0,
            Value::Object(fields) => fields.values_mut().map(|field| usize::from(self.adapt(field))).sum::<usize>() > 0,
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    fn text(&self, text: &str) -> Option<String> {
        let mut adapted = with_prefix(text, &self.workspace, &self.copy);
        for (then, now) in self.names.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            adapted = adapted.replace(&format!("spill:{then}"), &format!("spill:{now}"));
        }
        (adapted != text).then_some(adapted)
    }

    /// Returns a text of now as it would have been then, where that is known.
    pub fn as_then(&self, text: &str) -> String {
        let mut text = text.replace(&self.copy, &self.workspace).replace(&self.scratch, "(scratch)");
        for (then, now) in self.names.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            text = text.replace(now, then);
        }
        text
    }
}

/// Leaves out what differs each time: how long something took, numbers of change sets, names made up by `mktemp`.
pub fn settled(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let line = without_what_differs_each_time(line);
        without_after(&line, "/tmp/tmp", |c| c.is_ascii_alphanumeric() || c == '.' || c == '_')
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Replaces a path where it stands as a whole, or before a slash.
fn with_prefix(text: &str, path: &str, by: &str) -> String {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut adapted = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(path) {
        let (before, behind) = (&rest[..at], &rest[at + path.len()..]);
        let is_begun = before.chars().next_back().or(adapted.chars().next_back()).is_some_and(is_of_name);
        // A full stop behind a path ends a sentence, or begins an ending.
        let is_going_on = behind.chars().next().is_some_and(is_of_name);
        adapted.push_str(before);
        adapted.push_str(if is_begun || is_going_on { path } else { by });
        rest = behind;
    }
    adapted + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_replaced_where_it_is_one() {
        let check = |text: &str, expected: &str| assert_eq!(with_prefix(text, "/home/u/ws", "/tmp/c"), expected);
        check("/home/u/ws/a.txt", "/tmp/c/a.txt");
        check("cd /home/u/ws && ls \"/home/u/ws\"", "cd /tmp/c && ls \"/tmp/c\"");
        check("--in=/home/u/ws/a:/home/u/ws/b", "--in=/tmp/c/a:/tmp/c/b");
        check("/home/u/ws2/a /home/u/ws-old /mnt/home/u/ws", "/home/u/ws2/a /home/u/ws-old /mnt/home/u/ws");
    }

    #[test]
    fn calls_mean_the_copy_and_are_else_as_they_came() {
        let adapted = ReplayMapping::new("/ws".into(), "/c/workspace".into(), "/c".into());
        adapted.note_name("old", "new");
        let check = |arguments: &str, expected: &str| {
            let call = ModelToolCall { id: "1".into(), name: "t".into(), arguments: arguments.into(), is_cut: false };
            assert_eq!(adapted.call(&call).arguments, expected);
        };
        check(r#"{ "n": 1.50, "path":"a" }"#, r#"{ "n": 1.50, "path":"a" }"#);
        check(r#"{"command": "cd x\n/ws/run", "n": 1}"#, r#"{"command":"cd x\n/c/workspace/run","n":1}"#);
        check(r#"{"paths": ["spill:old", "b"]}"#, r#"{"paths":["spill:new","b"]}"#);
        check(r#"{"path": "/ws/a"#, r#"{"path": "/c/workspace/a"#);
        assert_eq!(adapted.as_then("at /c/workspace/a, spill:new, /c/state"), "at /ws/a, spill:old, (scratch)/state");
    }

    #[test]
    fn what_differs_each_time_is_left_out() {
        assert_eq!(settled("done in 3.2 s (undo: change set 14).\n"), "done in # s (undo: change set #).\n");
        assert_eq!(settled("/tmp/tmp.x8Ja2kLq1z/a /tmp/tmpdir7_q"), "/tmp/tmp#/a /tmp/tmp#");
        assert_eq!(settled("12 files"), "12 files");
    }
}
