//! Reads servers from the files of other programs as those programs do.
//!
//! A table has one row for each file: its path, its form of variables, and the keys that hold servers. An entry that haft
//! cannot use keeps its name and the reason; it does not affect other entries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use haft_contract::text::visible::{is_deceptive, visible};
use haft_workspace::state::{read_project_file, real_path_of};
use serde_json::{Map, Value};

use super::expansion::{Expander, Style, of_process};
use super::json_with_comments;
use super::{ConfiguredServer, LoginSpec, ServerOrigin, ServerSpec, ServerTransport, ToolFilter};

/// Longest name of a server, in bytes.
const LONGEST_NAME: usize = 128;

/// The folders below which the files of other programs lie.
#[derive(Clone, Copy)]
pub(super) struct ForeignFileRoots<'a> {
    pub(super) home: &'a Path,
    pub(super) workspace: &'a Path,
}

/// A file of another program that may name servers.
struct ForeignServerFile {
    product: &'static str,
    /// Its path in the workspace, or in the home.
    path: &'static str,
    form: ServerFileFormat,
    style: Style,
}

/// The format of a file that names servers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ServerFileFormat {
    /// JSON with the servers below one of the usual keys.
    Json,
    /// The same, with the user's own servers of single projects beside them.
    JsonByProject,
    /// TOML with `[mcp_servers.NAME]`.
    Toml,
}

const fn row(product: &'static str, path: &'static str, form: ServerFileFormat, style: Style) -> ForeignServerFile {
    ForeignServerFile { product, path, form, style }
}

/// Files of a project.
const OF_PROJECT: [ForeignServerFile; 7] = [
    row("Claude Code", ".mcp.json", ServerFileFormat::Json, Style::Braces),
    row("VS Code", ".vscode/mcp.json", ServerFileFormat::Json, Style::Editor),
    row("Cursor", ".cursor/mcp.json", ServerFileFormat::Json, Style::Editor),
    row("Codex", ".codex/config.toml", ServerFileFormat::Toml, Style::Plain),
    row("Gemini CLI", ".gemini/settings.json", ServerFileFormat::Json, Style::Dollar),
    row("opencode", "opencode.json", ServerFileFormat::Json, Style::Curly),
    row("opencode", "opencode.jsonc", ServerFileFormat::Json, Style::Curly),
];
/// Files of the user.
const OF_USER: [ForeignServerFile; 11] = [
    row("Claude Code", ".claude.json", ServerFileFormat::JsonByProject, Style::Braces),
    row("Claude Desktop", ".config/Claude/claude_desktop_config.json", ServerFileFormat::Json, Style::Plain),
    row("Copilot CLI", ".copilot/mcp-config.json", ServerFileFormat::Json, Style::Braces),
    row("VS Code", ".config/Code/User/mcp.json", ServerFileFormat::Json, Style::Editor),
    row("Cursor", ".cursor/mcp.json", ServerFileFormat::Json, Style::Editor),
    row("Codex", ".codex/config.toml", ServerFileFormat::Toml, Style::Plain),
    row("Gemini CLI", ".gemini/settings.json", ServerFileFormat::Json, Style::Dollar),
    row("opencode", ".config/opencode/opencode.json", ServerFileFormat::Json, Style::Curly),
    row("opencode", ".config/opencode/opencode.jsonc", ServerFileFormat::Json, Style::Curly),
    row("TunaCode", ".config/tunacode.json", ServerFileFormat::Json, Style::Plain),
    row("NexAU", ".nexau/mcp.json", ServerFileFormat::Json, Style::Braces),
];

/// The keys below which programs list servers, each a way from the root.
const KEYS: [&[&str]; 5] = [&["mcpServers"], &["mcp_servers"], &["servers"], &["mcp", "servers"], &["mcp"]];
/// Keys of `mcp` that name no server.
const NO_SERVERS: [&str; 4] = ["servers", "allowed", "excluded", "timeout"];

/// What came of one file: its servers, and what is wrong with the file as a whole.
pub(super) type FromFile = (Vec<ConfiguredServer>, Option<String>);

impl ForeignFileRoots<'_> {
    /// Reads all files that exist: those of the project first.
    pub(super) fn read_all(self) -> Vec<FromFile> {
        let of_project =
            OF_PROJECT.iter().map(|row| (row, self.workspace.join(row.path), ServerOrigin::Project(row.product)));
        let of_user = OF_USER.iter().map(|row| (row, self.home.join(row.path), ServerOrigin::User(row.product)));
        let is_twice = |path: &PathBuf| self.home == self.workspace && path.starts_with(self.home);
        let of_user =
            of_user.filter(|(_, path, _)| !(is_twice(path) && OF_PROJECT.iter().any(|row| path.ends_with(row.path))));
        of_project.chain(of_user).filter_map(|(row, path, origin)| self.read(row, path, origin)).collect()
    }

    /// Returns where all files are, or would be.
    pub(super) fn files(self) -> impl Iterator<Item = PathBuf> {
        let of_project = OF_PROJECT.iter().map(move |row| self.workspace.join(row.path));
        of_project.chain(OF_USER.iter().map(move |row| self.home.join(row.path)))
    }

    fn read(self, row: &ForeignServerFile, path: PathBuf, origin: ServerOrigin) -> Option<FromFile> {
        let text = match read_project_file(&path) {
            Ok(text) => text?,
            Err(error) => return Some((Vec::new(), Some(format!("{}: cannot be read: {error}", path.display())))),
        };
        Some(match self.servers_of(row, &text, (&path, origin)) {
            Ok(servers) => (servers, None),
            Err(problem) => (Vec::new(), Some(format!("{}: {problem}", path.display()))),
        })
    }

    fn servers_of(
        self,
        row: &ForeignServerFile,
        text: &str,
        from: (&Path, ServerOrigin),
    ) -> Result<Vec<ConfiguredServer>, String> {
        let root = match row.form {
            ServerFileFormat::Json | ServerFileFormat::JsonByProject => json_with_comments::read(text)?,
            ServerFileFormat::Toml => toml::from_str::<Value>(text).map_err(|error| error.message().to_owned())?,
        };
        let mut entries = entries(&root);
        if row.form == ServerFileFormat::JsonByProject {
            // Claude Code knows a project by the path that it was started in.
            let projects = root.get("projects").and_then(Value::as_object);
            let own = projects.into_iter().flatten().find(|(path, _)| real_path_of(Path::new(path)) == self.workspace);
            entries.extend(own.map(|(_, project)| self::entries(project)).unwrap_or_default());
        }
        let (path, origin) = from;
        let variable = &of_process;
        let expander = Expander { style: row.style, home: self.home, workspace: self.workspace, variable };
        let limits = Switches::of(&root);
        let configured = |(name, entry): (String, &Value)| ConfiguredServer {
            spec: check_name(&name).and_then(|()| limits.check(&name)).and_then(|()| spec_of(entry, &expander)),
            name: visible(&name).into_owned(),
            file: path.to_owned(),
            origin,
            hidden_by: None,
        };
        Ok(entries.into_iter().map(configured).collect())
    }
}

/// Which servers a file switches on and off by name.
struct Switches {
    allowed: Option<BTreeSet<String>>,
    excluded: BTreeSet<String>,
}

impl Switches {
    fn of(root: &Value) -> Self {
        let names = |key: &str| root.get("mcp").and_then(|mcp| mcp.get(key)).and_then(names_in);
        Self { allowed: names("allowed"), excluded: names("excluded").unwrap_or_default() }
    }

    fn check(&self, name: &str) -> Result<(), String> {
        let is_on = !self.excluded.contains(name) && self.allowed.as_ref().is_none_or(|allowed| allowed.contains(name));
        if is_on { Ok(()) } else { Err("its file switches it off".to_owned()) }
    }
}

/// Finds the servers: an object with names, or a list whose entries have names.
fn entries(root: &Value) -> Vec<(String, &Value)> {
    if let Value::Array(list) = root {
        return listed(list);
    }
    let found = KEYS.iter().find_map(|way| {
        let found = way.iter().try_fold(root, |value, key| value.get(key))?;
        let is_servers = |map: &Map<String, Value>| way.len() > 1 || way[0] != "mcp" || !map.contains_key("servers");
        match found {
            Value::Object(map) if is_servers(map) => {
                let is_server = |name: &str| way != &["mcp"] || !NO_SERVERS.contains(&name);
                Some(
                    map.iter().filter(|(name, _)| is_server(name)).map(|(name, entry)| (name.clone(), entry)).collect(),
                )
            }
            Value::Array(list) => Some(listed(list)),
            _ => None,
        }
    });
    found.unwrap_or_default()
}

fn listed(list: &[Value]) -> Vec<(String, &Value)> {
    let name_of = |place: usize, entry: &Value| {
        let name = entry.get("name").and_then(Value::as_str);
        name.map_or_else(|| format!("entry-{}", place + 1), str::to_owned)
    };
    // Whatever its keys are, a list of anything else is not one of servers.
    let entries = list.iter().enumerate().filter(|(_, entry)| entry.is_object());
    entries.map(|(place, entry)| (name_of(place, entry), entry)).collect()
}

/// Refuses a name that could deceive where it is shown.
fn check_name(name: &str) -> Result<(), String> {
    let is_odd = |c: char| is_deceptive(c) || c.is_control() || "\"'`".contains(c);
    match name.is_empty() || name.len() > LONGEST_NAME || name.contains(is_odd) {
        true => Err("its name is empty, too long, or has characters that are not shown as they are".to_owned()),
        false => Ok(()),
    }
}

/// Reads one entry; the error says why it cannot be used.
fn spec_of(entry: &Value, expander: &Expander<'_>) -> Result<ServerSpec, String> {
    let entry = entry.as_object().ok_or("the entry is not an object")?;
    let is = |key: &str| entry.get(key).and_then(Value::as_bool);
    if is("enabled") == Some(false) || is("disabled") == Some(true) {
        return Err("its file switches it off".to_owned());
    }
    let is_elsewhere = !entry.contains_key("command");
    let written = match is_elsewhere {
        true => texts_in(entry, &["headers", "http_headers"])?,
        false => texts_in(entry, &["env", "environment"])?,
    };
    let mut environment = BTreeMap::new();
    for (name, value) in &written {
        environment.insert(name.clone(), expander.expand(value)?);
    }
    let mut written_environment = written;
    let passed_on = entry.get("env_vars").filter(|_| !is_elsewhere);
    for name in passed_on.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if let Some(value) = (expander.variable)(name) {
            environment.insert(name.to_owned(), value);
            written_environment.insert(name.to_owned(), format!("${name}"));
        }
    }
    if let Some(name) = entry.get("bearer_token_env_var").and_then(Value::as_str) {
        let token = (expander.variable)(name).ok_or_else(|| format!("the variable {name} is not set; set it"))?;
        environment.insert("Authorization".to_owned(), format!("Bearer {token}"));
        written_environment.insert("Authorization".to_owned(), format!("Bearer ${name}"));
    }
    Ok(ServerSpec {
        reach: reach_of(entry, expander)?,
        written_reach: written_reach(entry),
        environment,
        written_environment,
        hosts: Vec::new(),
        timeout: timeout_of(entry),
        start_timeout: start_timeout_of(entry),
        filter: filter_of(entry),
        login: login_of(entry),
        sampling: 0,
    })
}

/// Reads how a program logs in to the server. Secrets of others' clients are not taken from their files.
fn login_of(entry: &Map<String, Value>) -> LoginSpec {
    let own = entry.get("oauth").and_then(Value::as_object);
    let text = |keys: [&str; 2]| {
        let value = keys.iter().find_map(|key| own?.get(*key)).and_then(Value::as_str);
        value.filter(|value| !value.contains(['$', '{'])).map(str::to_owned)
    };
    let scopes = own.and_then(|own| own.get("scopes")).or_else(|| entry.get("scopes"));
    let scopes = match scopes {
        Some(Value::Array(scopes)) => texts(scopes).unwrap_or_default(),
        Some(Value::String(scopes)) => scopes.split_whitespace().map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let port = own.and_then(|own| own.get("callbackPort")).and_then(Value::as_u64);
    LoginSpec {
        client_id: text(["clientId", "client_id"]),
        scopes,
        callback_port: port.and_then(|port| u16::try_from(port).ok()),
        ..LoginSpec::default()
    }
}

/// Returns the program and its arguments, as the file has them.
fn words_of(entry: &Map<String, Value>) -> Result<Vec<String>, String> {
    let mut words = match entry.get("command") {
        Some(Value::String(program)) => vec![program.clone()],
        Some(Value::Array(words)) => texts(words).ok_or("\"command\" has entries that are not text")?,
        None => Vec::new(),
        Some(_) => return Err("\"command\" is neither text nor a list of texts".to_owned()),
    };
    if let Some(arguments) = entry.get("args") {
        let arguments = arguments.as_array().and_then(|arguments| texts(arguments));
        words.extend(arguments.ok_or("\"args\" is not a list of texts")?);
    }
    Ok(words)
}

fn url_of(entry: &Map<String, Value>) -> Option<&str> {
    ["httpUrl", "url"].iter().find_map(|key| entry.get(*key)).and_then(Value::as_str)
}

/// Returns the command line or the address, as the file has them.
fn written_reach(entry: &Map<String, Value>) -> Vec<String> {
    url_of(entry).map_or_else(|| words_of(entry).unwrap_or_default(), |url| vec![url.to_owned()])
}

fn reach_of(entry: &Map<String, Value>, expander: &Expander<'_>) -> Result<ServerTransport, String> {
    let (words, url) = (words_of(entry)?, url_of(entry));
    match (words.first().is_some_and(|program| !program.is_empty()), url) {
        (true, None) => {
            let words = words.iter().map(|word| expander.expand(word)).collect::<Result<Vec<_>, _>>()?;
            let folder = entry.get("cwd").and_then(Value::as_str).map(|folder| expander.expand(folder)).transpose()?;
            let folder = folder.map(|folder| expander.workspace.join(folder));
            Ok(ServerTransport::Command { words, folder })
        }
        (false, Some(url)) => Ok(ServerTransport::Url(expander.expand(url)?)),
        (true, Some(_)) => Err("it has both a command and a url".to_owned()),
        (false, None) => Err("it has neither a command nor a url".to_owned()),
    }
}

fn texts(values: &[Value]) -> Option<Vec<String>> {
    values.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}

/// Returns the texts of the first of these keys that exists.
fn texts_in(entry: &Map<String, Value>, keys: &[&str]) -> Result<BTreeMap<String, String>, String> {
    let Some((key, value)) = keys.iter().find_map(|key| Some((key, entry.get(*key)?))) else {
        return Ok(BTreeMap::new());
    };
    let wrong = || format!("\"{key}\" is not an object with texts");
    let text = |(name, value): (&String, &Value)| {
        let value = match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(is) => Some(is.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        };
        Some((name.clone(), value?))
    };
    value.as_object().and_then(|map| map.iter().map(text).collect()).ok_or_else(wrong)
}

/// Reads how long the start may take; the key says the unit.
fn start_timeout_of(entry: &Map<String, Value>) -> Option<Duration> {
    let number = |key: &str| entry.get(key).and_then(Value::as_f64).filter(|number| *number > 0.0);
    let seconds = number("startup_timeout_sec").or_else(|| Some(number("startup_timeout_ms")? / 1_000.0));
    seconds.and_then(bounded)
}

fn bounded(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds.clamp(0.1, 86_400.0)).ok()
}

/// Reads how long a call may take; the key says the unit.
fn timeout_of(entry: &Map<String, Value>) -> Option<Duration> {
    let number = |key: &str| entry.get(key).and_then(Value::as_f64).filter(|number| *number > 0.0);
    let seconds = number("tool_timeout_sec").or_else(|| {
        // A limit in seconds is not above an hour and a half; a limit in milliseconds is not below that number.
        number("timeout").map(|number| if number > 5_400.0 { number / 1_000.0 } else { number })
    });
    seconds.and_then(bounded)
}

fn filter_of(entry: &Map<String, Value>) -> ToolFilter {
    let first = |keys: [&str; 3]| keys.iter().find_map(|key| entry.get(*key)).and_then(names_in);
    let only = first(["enabled_tools", "includeTools", "tools"]).filter(|only| !only.contains("*"));
    ToolFilter { only, without: first(["disabled_tools", "excludeTools", "exclude_tools"]).unwrap_or_default() }
}

fn names_in(value: &Value) -> Option<BTreeSet<String>> {
    value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(row: &ForeignServerFile, text: &str) -> Vec<ConfiguredServer> {
        let places = ForeignFileRoots { home: Path::new("/h"), workspace: Path::new("/w") };
        let from = (Path::new("/w/file"), ServerOrigin::Project(row.product));
        places.servers_of(row, text, from).expect("the file is in order")
    }

    fn told(row: &ForeignServerFile, text: &str) -> String {
        let one = |server: &ConfiguredServer| match &server.spec {
            Ok(ServerSpec { reach: ServerTransport::Command { words, folder }, environment, .. }) => {
                let folder = folder.as_ref().map(|folder| format!(" in {}", folder.display())).unwrap_or_default();
                let variables: String = environment.iter().map(|(name, value)| format!(" {name}={value}")).collect();
                format!("{}: {}{folder}{variables}", server.name, words.join(" "))
            }
            Ok(ServerSpec { reach: ServerTransport::Url(url), .. }) => format!("{}: {url}", server.name),
            Err(problem) => format!("{}: {problem}", server.name),
        };
        read(row, text).iter().map(one).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn each_program_has_its_servers_in_its_own_place() {
        for (row, text, expected) in [
            (
                &OF_PROJECT[0],
                r#"{"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"], "env": {"K": "${NONE:-v}"}}}}"#,
                "a: npx -y x K=v",
            ),
            (
                &OF_PROJECT[1],
                "{ // c\n\"servers\": {\"a\": {\"command\": \"x\", \"cwd\": \"${workspaceFolder}/s\"}}, \"inputs\": [],}",
                "a: x in /w/s",
            ),
            (
                &OF_PROJECT[3],
                "[mcp_servers.a]\ncommand = \"x\"\nargs = [\"1\"]\n[mcp_servers.b]\nurl = \"https://h/mcp\"\n",
                "a: x 1\nb: https://h/mcp",
            ),
            (
                &OF_PROJECT[4],
                r#"{"mcpServers": {"a": {"httpUrl": "https://h"}, "b": {"command": "y"}}, "mcp": {"excluded": ["b"]}}"#,
                "a: https://h\nb: its file switches it off",
            ),
            (
                &OF_PROJECT[5],
                r#"{"mcp": {"a": {"type": "local", "command": ["x", "1"], "environment": {"K": "v"}}, "b": {"command": ["y"], "enabled": false}}}"#,
                "a: x 1 K=v\nb: its file switches it off",
            ),
            (&OF_PROJECT[5], r#"{"mcp": {"servers": {"a": {"command": ["x"]}}}}"#, "a: x"),
            (&OF_USER[9], r#"{"mcpServers": {"a": {"command": "x", "args": [], "env": {}}}}"#, "a: x"),
            (
                &OF_USER[10],
                r#"{"mcp_servers": [{"name": "a", "type": "stdio", "command": "x"}, {"type": "http", "url": "https://h"}]}"#,
                "a: x\nentry-2: https://h",
            ),
            (&OF_PROJECT[0], r#"[{"name": "a", "command": "x"}]"#, "a: x"),
        ] {
            assert_eq!(told(row, text), expected, "{text}");
        }
    }

    #[test]
    fn an_entry_with_a_mistake_keeps_its_name_and_costs_no_other() {
        let text = r#"{"mcpServers": {"a": 7, "b": {}, "c": {"command": 1}, "d": {"command": "x", "args": "y"},
                       "e": {"command": "x", "env": {"K": "${HAFT_NOT_SET_ANYWHERE}"}}, "f": {"command": "x"}}}"#;
        let expected = "a: the entry is not an object\nb: it has neither a command nor a url\n\
                        c: \"command\" is neither text nor a list of texts\nd: \"args\" is not a list of texts\n\
                        e: the variable HAFT_NOT_SET_ANYWHERE is not set; set it\nf: x";
        assert_eq!(told(&OF_PROJECT[0], text), expected);
    }

    #[test]
    fn filters_and_time_limits_are_read_in_the_units_of_each_program() {
        let text = "[mcp_servers.a]\ncommand = \"x\"\ntool_timeout_sec = 90\nstartup_timeout_sec = 5\nenabled_tools = [\"t\"]\ndisabled_tools = [\"u\"]\n";
        let spec = read(&OF_PROJECT[3], text).remove(0).spec.expect("it is in order");
        assert_eq!(spec.timeout, Some(Duration::from_secs(90)));
        assert_eq!(spec.start_timeout, Some(Duration::from_secs(5)));
        assert!(spec.filter.admits("t") && !spec.filter.admits("u") && !spec.filter.admits("v"));
        let text = r#"{"mcpServers": {"a": {"command": "x", "timeout": 600000, "tools": ["*"]}}}"#;
        let spec = read(&OF_PROJECT[0], text).remove(0).spec.expect("it is in order");
        assert_eq!(spec.timeout, Some(Duration::from_secs(600)));
        assert!(spec.filter.admits("anything"));
    }
}
