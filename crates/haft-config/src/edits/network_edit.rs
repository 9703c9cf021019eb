//! Edits the section `[network]` of the user's `config.toml`, and keeps comments, order and spaces.
//!
//! haft reads the new text back before it writes the file: only the requested change may differ from the old settings.

use toml_edit::{Array, Decor, DocumentMut, Item, RawString, Table, Value};

use crate::file::parse;
use crate::sections::network::{Group, NetworkSection};

/// A list of `[network]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostList {
    /// What commands reach without a question.
    Allow,
    /// What they never reach.
    Deny,
    /// More hosts of a group.
    Group(Group),
}

impl HostList {
    /// Returns its name in the file.
    pub fn name(self) -> &'static str {
        match self {
            HostList::Allow => "allow",
            HostList::Deny => "deny",
            HostList::Group(group) => group.name(),
        }
    }
}

/// Adds hosts to a list; returns the new text, or nothing where it has them all. The error says line, problem and fix.
pub fn with_hosts(text: &str, list: HostList, hosts: &[String]) -> Result<Option<String>, (usize, String, String)> {
    let before = parse(text)?.network;
    let missing: Vec<&String> = hosts.iter().filter(|host| !listed(&before, list).contains(host)).collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let by_hand = || {
        let fix = format!("add {hosts:?} to \"{}\" of [network] by hand", list.name());
        (1, "haft cannot edit this file without changing more of it".to_owned(), fix)
    };
    let mut document: DocumentMut = text.parse().map_err(|_| by_hand())?;
    let section = document.entry("network").or_insert_with(|| Item::Table(Table::new()));
    let section = section.as_table_like_mut().ok_or_else(by_hand)?;
    let array = section.entry(list.name()).or_insert_with(|| Item::Value(Value::Array(Array::new())));
    let array = array.as_array_mut().ok_or_else(by_hand)?;
    missing.iter().for_each(|host| push(array, host));
    let new = document.to_string();
    let after = parse(&new)?.network;
    let mut expected = listed(&before, list);
    expected.extend(missing.into_iter().cloned());
    let others = [HostList::Allow, HostList::Deny].into_iter().chain(Group::ALL.map(HostList::Group));
    let is_same = others.filter(|other| *other != list).all(|other| listed(&before, other) == listed(&after, other));
    if is_same && listed(&after, list) == expected { Ok(Some(new)) } else { Err(by_hand()) }
}

/// Puts a host at the end, in a line of its own where the others have one. A comment stays behind what it is about.
fn push(array: &mut Array, host: &str) {
    let text = |text: Option<&RawString>| text.and_then(RawString::as_str).unwrap_or_default().to_owned();
    let last = array.len().checked_sub(1).and_then(|last| array.get_mut(last));
    let (mut lead, mut tail) = last.map_or((String::new(), String::new()), |last| {
        let decor = last.decor_mut();
        let (prefix, suffix) = (text(decor.prefix()), text(decor.suffix()));
        decor.set_suffix("");
        let lead = prefix.rfind('\n').map_or_else(|| " ".to_owned(), |line| prefix[line..].to_owned());
        (lead, suffix)
    });
    tail.push_str(&text(Some(array.trailing())));
    if let Some(end) = tail.rfind('\n').filter(|_| tail.contains('#')) {
        let line = if lead.contains('\n') { lead } else { "\n    ".to_owned() };
        lead = format!("{}{line}", &tail[..end]);
        tail = tail[end..].to_owned();
    }
    let has_comma = array.trailing_comma();
    array.set_trailing(if has_comma { tail.as_str() } else { "" });
    let mut value = Value::from(host);
    *value.decor_mut() = Decor::new(lead, if has_comma { "" } else { tail.as_str() });
    array.push_formatted(value);
}

fn listed(section: &NetworkSection, list: HostList) -> Vec<String> {
    match list {
        HostList::Allow => section.allow.iter().map(ToString::to_string).collect(),
        HostList::Deny => section.deny.iter().map(ToString::to_string).collect(),
        HostList::Group(group) => section.added_to(group).iter().map(ToString::to_string).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, list: HostList, hosts: &[&str], expected: &str) {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        assert_eq!(with_hosts(text, list, &hosts), Ok(Some(expected.to_owned())), "{text}");
    }

    #[test]
    fn comments_order_and_forms_of_the_file_stay() {
        check("", HostList::Allow, &["a.example"], "[network]\nallow = [\"a.example\"]\n");
        check(
            "# mine\nprofile = \"haft\" # short\n",
            HostList::Allow,
            &["registries"],
            "# mine\nprofile = \"haft\" # short\n\n[network]\nallow = [\"registries\"]\n",
        );
        check(
            "[network] # hosts\n# one\nallow = [ \"a.example\" ] # end\n\n[limits]\nread_lines = 7\n",
            HostList::Allow,
            &["b.example", "c.example"],
            "[network] # hosts\n# one\nallow = [ \"a.example\", \"b.example\", \"c.example\" ] # end\n\n[limits]\nread_lines = 7\n",
        );
        check(
            "[network]\nallow = [\n  \"a.example\", # the first\n  \"b.example\",\n]\n",
            HostList::Allow,
            &["c.example"],
            "[network]\nallow = [\n  \"a.example\", # the first\n  \"b.example\",\n  \"c.example\",\n]\n",
        );
        for (before, after) in [
            ("\n  \"a.example\", # one\n", "\n  \"a.example\", # one\n  \"b.example\",\n"),
            ("\n  \"a.example\" # one\n", "\n  \"a.example\", # one\n  \"b.example\"\n"),
            ("\"a.example\", # one\n", "\"a.example\", # one\n    \"b.example\",\n"),
            ("\n  # all\n  \"a.example\",\n  # more\n", "\n  # all\n  \"a.example\",\n  # more\n  \"b.example\",\n"),
            ("\n  # none yet\n", "\n  # none yet\n    \"b.example\"\n"),
        ] {
            let list = |inside: &str| format!("[network]\nallow = [{inside}]\n");
            check(&list(before), HostList::Allow, &["b.example"], &list(after));
        }
        check(
            "[network]\nallow = [\"x\"]\n[limits]\n",
            HostList::Deny,
            &["y.example"],
            "[network]\nallow = [\"x\"]\ndeny = [\"y.example\"]\n[limits]\n",
        );
        check(
            "network.allow = [\"a.example\"]\n",
            HostList::Group(Group::Registries),
            &["dl.example"],
            "network.allow = [\"a.example\"]\nnetwork.registries = [\"dl.example\"]\n",
        );
        check("network = { allow = [] }\n", HostList::Allow, &["a.example"], "network = { allow = [\"a.example\"] }\n");
    }

    #[test]
    fn a_host_that_is_listed_changes_nothing_and_a_mistake_is_told() {
        let text = "[network]\nallow = [\"A.example\"]\n";
        assert_eq!(with_hosts(text, HostList::Allow, &["a.example".to_owned()]), Ok(None));
        assert!(with_hosts("[network]\nalow = []\n", HostList::Allow, &["a.example".to_owned()]).is_err());
    }
}
