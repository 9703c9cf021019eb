//! Edits the servers of the user's `config.toml`, and keeps comments, order and spaces.
//!
//! haft reads the new text back before it writes the file: only the requested change may differ from the old settings.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use crate::file::parse;
use crate::sections::mcp::{CommandWords, ServerSection};

/// Why a file cannot be edited: line, problem and fix.
type Mistake = (usize, String, String);

/// Adds a server; returns the new text. The error says line, problem and fix.
///
/// # Errors
///
/// Fails if the file has a mistake, has a server of that name, or has a form that haft cannot edit.
pub fn with_server(text: &str, name: &str, server: &ServerSection) -> Result<String, Mistake> {
    let before = parse(text)?;
    if before.mcp.servers.contains_key(name) {
        let problem = format!("there is a server \"{name}\" already");
        return Err((1, problem, format!("run \"haft mcp remove {name}\" first, or choose another name")));
    }
    let mut document: DocumentMut = text.parse().map_err(|_| by_hand(name))?;
    let implicit = || {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    };
    let mcp = document.entry("mcp").or_insert_with(implicit).as_table_like_mut().ok_or_else(|| by_hand(name))?;
    let servers = mcp.entry("servers").or_insert_with(implicit).as_table_like_mut().ok_or_else(|| by_hand(name))?;
    servers.insert(name, Item::Table(table_of(server)));
    let new = document.to_string();
    let mut expected = before.mcp;
    expected.servers.insert(name.to_owned(), server.clone());
    // What cannot be read back as it was meant is not written.
    if parse(&new)?.mcp == expected { Ok(new) } else { Err(by_hand(name)) }
}

/// Removes a server; returns the new text, or nothing where there is no server of that name.
///
/// # Errors
///
/// Fails if the file has a mistake, or has a form that haft cannot edit.
pub fn without_server(text: &str, name: &str) -> Result<Option<String>, Mistake> {
    let before = parse(text)?;
    if !before.mcp.servers.contains_key(name) {
        return Ok(None);
    }
    let cannot = || (1, "haft cannot edit this file".to_owned(), format!("remove [mcp.servers.{name}] by hand"));
    let mut document: DocumentMut = text.parse().map_err(|_| cannot())?;
    let mcp = document.get_mut("mcp").and_then(Item::as_table_like_mut).ok_or_else(cannot)?;
    let servers = mcp.get_mut("servers").and_then(Item::as_table_like_mut).ok_or_else(cannot)?;
    servers.remove(name);
    let new = document.to_string();
    let mut expected = before.mcp;
    expected.servers.remove(name);
    if parse(&new)?.mcp == expected { Ok(Some(new)) } else { Err(cannot()) }
}

fn by_hand(name: &str) -> Mistake {
    let problem = "haft cannot edit this file without changing more of it".to_owned();
    (1, problem, format!("add [mcp.servers.{name}] by hand"))
}

fn table_of(server: &ServerSection) -> Table {
    let mut table = Table::new();
    let array = |words: &[String]| Value::Array(words.iter().map(String::as_str).collect::<Array>());
    if let Some(command) = &server.command {
        let value = match command {
            CommandWords::Program(program) => Value::from(program.as_str()),
            CommandWords::Words(words) => array(words),
        };
        table.insert("command", Item::Value(value));
    }
    if !server.args.is_empty() {
        table.insert("args", Item::Value(array(&server.args)));
    }
    if let Some(url) = &server.url {
        table.insert("url", Item::Value(Value::from(url.as_str())));
    }
    for (key, texts) in [("headers", &server.headers), ("env", &server.env)] {
        if !texts.is_empty() {
            let texts: InlineTable = texts.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            table.insert(key, Item::Value(Value::InlineTable(texts)));
        }
    }
    if !server.hosts.is_empty() {
        let hosts: Vec<String> = server.hosts.iter().map(ToString::to_string).collect();
        table.insert("hosts", Item::Value(array(&hosts)));
    }
    for (key, time) in [("timeout", server.timeout), ("start_timeout", server.start_timeout)] {
        if let Some(time) = time {
            table.insert(key, Item::Value(Value::from(time.as_secs_f64())));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> ServerSection {
        ServerSection {
            command: Some(CommandWords::Words(vec!["npx".into(), "-y".into()])),
            env: [("KEY".to_owned(), "a \"b\"".to_owned())].into(),
            hosts: vec!["registries".parse().expect("a group")],
            ..ServerSection::default()
        }
    }

    #[test]
    fn a_server_is_added_behind_what_is_there_and_removed_again() {
        let before = "# mine\nprofile = \"haft\" # short\n\n[mcp.servers.other]\ncommand = \"x\"\n";
        let added = with_server(before, "git", &server()).expect("it can be added");
        let expected = "\n[mcp.servers.git]\ncommand = [\"npx\", \"-y\"]\nenv = { KEY = \"a \\\"b\\\"\" }\nhosts = [\"registries\"]\n";
        assert_eq!(added, format!("{before}{expected}").replace("\"a \\\"b\\\"\"", "'a \"b\"'"));
        assert_eq!(without_server(&added, "git"), Ok(Some(before.to_owned())));
        assert_eq!(without_server(before, "git"), Ok(None));
        assert!(with_server(before, "other", &server()).is_err_and(|(_, problem, _)| problem.contains("already")));
    }

    #[test]
    fn the_first_server_makes_no_empty_sections() {
        let added = with_server("", "a", &server()).expect("it can be added");
        assert!(added.starts_with("[mcp.servers.a]\n"), "{added}");
    }
}
