//! Runs the commands about servers, without a screen: `haft mcp list`, `add`, `remove`, `login`, `logout` and `doctor`.
//!
//! The program around them shows lines and asks. This module makes no decision for a person.

use std::collections::BTreeMap;
use std::io;

use haft_contract::text::visible::visible;
use haft_host::host::block_on;
use haft_host::opening::servers::ServerScope;
use haft_host::opening::servers::edit::{Addition, add_to_file, remove_from_file};
use serde_json::{Value, json};

use super::management::{ChosenServer, Consent, ListedServer, ServerInspection, list as listed};
use super::oauth::flow::{Browser, ShownVisit, log_in};
use super::offers::prompts::{ArgumentRequirement, ListedPrompt};

/// Where the commands say something, and ask.
pub trait Console {
    /// Shows a line of the answer.
    ///
    /// # Errors
    ///
    /// Fails if the reader has closed the output.
    fn say(&self, line: &str) -> io::Result<()>;

    /// Shows a remark beside the answer.
    fn talk(&self, line: &str);

    /// Shows the answer as one JSON value. Only asked where [`Console::is_for_programs`].
    ///
    /// # Errors
    ///
    /// As [`Console::say`].
    fn record(&self, record: &Value) -> io::Result<()>;

    /// Returns whether the answer is for a program.
    fn is_for_programs(&self) -> bool;

    /// Asks for a yes; returns nothing if no person can answer.
    ///
    /// # Errors
    ///
    /// Fails if the question cannot be shown, or the answer cannot be read.
    fn asks(&self, question: &str) -> io::Result<Option<bool>>;

    /// Returns whether a person can answer questions.
    fn is_attended(&self) -> bool;

    /// Reads a line that the person types or pastes; nothing at the end of input.
    ///
    /// # Errors
    ///
    /// Fails if the input cannot be read.
    fn reads(&self, question: &str) -> io::Result<Option<String>>;
}

/// What a plan says.
const PLANS: &str = "Plan mode changes no settings and allows no server; leave out --plan.";

/// How a command about servers ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpCommandOutcome {
    /// It did what it should.
    Done,
    /// It did not work.
    Failed,
    /// It needs a yes from a person, or the person said no.
    Refused,
}

/// Lists all servers, with the file that names each.
///
/// # Errors
///
/// Fails if the reader has closed the output.
pub fn list(scope: &ServerScope, console: &dyn Console) -> io::Result<McpCommandOutcome> {
    let (servers, problems) = listed(scope);
    if console.is_for_programs() {
        let servers: Vec<Value> = servers.iter().map(record).collect();
        console.record(&json!({ "v": 1, "servers": servers, "problems": problems }))?;
        return Ok(McpCommandOutcome::Done);
    }
    for server in &servers {
        let ListedServer { name, file, product, state, tools, tokens, deferred, not_covered, error } = server;
        let known = if *tools > 0 { format!(", {tools} tools, about {tokens} tokens") } else { String::new() };
        let known = if *deferred { format!("{known}, deferred") } else { known };
        console.say(&format!("{name}  {state}{known}  ({product}: {})", file.display()))?;
        for line in not_covered.iter().chain(error) {
            console.say(&format!("    {}", visible(line)))?;
        }
    }
    problems.iter().for_each(|problem| console.talk(&format!("note: {problem}")));
    if servers.is_empty() {
        console.talk("No MCP server is configured. Add one: haft mcp add NAME -- COMMAND");
    } else if servers.iter().any(|server| server.state == "not allowed" || server.state == "changed") {
        console.talk("Use one: haft mcp add NAME (shows its command line and asks)");
    }
    Ok(McpCommandOutcome::Done)
}

fn record(server: &ListedServer) -> Value {
    json!({
        "name": server.name, "source": server.file, "product": server.product, "state": server.state,
        "tools": server.tools, "tokens": server.tokens, "deferred": server.deferred,
        "not_covered": server.not_covered, "error": server.error,
    })
}

/// Uses a server from now on: adds it to the user's file if a command line is given, asks about the command line of one
/// that a file names already, starts it, shows its tools, and remembers them.
///
/// # Errors
///
/// Fails if the reader has closed the output, or haft cannot show the question.
pub fn add(scope: ServerScope, addition: &Addition, console: &dyn Console) -> io::Result<McpCommandOutcome> {
    if scope.only_plans() {
        return refused(console, PLANS);
    }
    let name = &addition.name;
    let is_typed = !addition.command.is_empty();
    let scope = match add_to_file(scope, addition) {
        Ok(scope) => scope,
        Err(error) => return failed(console, &format!("{error:#}")),
    };
    let mut chosen = match ChosenServer::find(scope, name) {
        Ok(chosen) => chosen,
        Err(why) => return failed(console, &why),
    };
    if !is_typed {
        chosen.grant(&addition.hosts);
    }
    for line in chosen.described() {
        console.talk(&line);
    }
    // A person who typed the command line has seen it.
    if chosen.consent() != Consent::Given && !is_typed {
        let question = match chosen.consent() {
            Consent::Changed => "This is not what you agreed to. Use it as it is now?",
            Consent::New | Consent::Given => "Use this server now, and whenever one of its tools is called?",
        };
        match console.asks(question)? {
            Some(true) => {}
            Some(false) => return refused(console, "Nothing was started."),
            None => {
                let words = chosen.written();
                return refused(
                    console,
                    &format!(
                        "Nothing was started: a person must agree. Run it at a terminal, or give the command line yourself: \
                     haft mcp add {name} -- {words}"
                    ),
                );
            }
        }
    }
    if let Err(why) = chosen.agree() {
        return failed(console, &why);
    }
    match chosen.inspect() {
        Ok(inspected) => pinned(chosen, inspected, (name, console)),
        Err(lines) => {
            lines.iter().for_each(|line| console.talk(line));
            console.talk(&format!("The server stays configured. Try again: haft mcp add {name}"));
            Ok(McpCommandOutcome::Failed)
        }
    }
}

/// Shows the tools, asks if they are others than the user agreed to, and remembers them.
fn pinned(
    mut chosen: ChosenServer,
    inspected: ServerInspection,
    (name, console): (&str, &dyn Console),
) -> io::Result<McpCommandOutcome> {
    let summary = inspected.summary(name);
    match &inspected.difference {
        Some(difference) => {
            console.talk(&format!("The server \"{name}\" describes its tools differently from what you agreed to:"));
            difference.lines().for_each(|line| console.talk(line));
            match console.asks("Use the tools as they are now?")? {
                Some(true) => {}
                Some(false) => return refused(console, "Nothing was changed; its tools stay refused."),
                None => {
                    return refused(
                        console,
                        "Nothing was changed: a person must agree to changed tools, at a terminal.",
                    );
                }
            }
        }
        None if !console.is_for_programs() => {
            inspected.tools().lines().try_for_each(|line| console.say(line))?;
        }
        None => {}
    }
    if let Err(why) = chosen.pin(inspected) {
        return failed(console, &why);
    }
    if console.is_for_programs() {
        console.record(&json!({ "v": 1, "name": name, "state": "allowed", "summary": summary }))?;
    } else {
        console.talk(&format!("Allowed: {name}, {summary}."));
    }
    Ok(McpCommandOutcome::Done)
}

/// Removes a server from the user's file, and forgets what the user agreed to.
///
/// # Errors
///
/// Fails if the reader has closed the output.
pub fn remove(scope: ServerScope, name: &str, console: &dyn Console) -> io::Result<McpCommandOutcome> {
    if scope.only_plans() {
        return refused(console, PLANS);
    }
    let forgotten = ChosenServer::find(scope.clone(), name).map(|chosen| (chosen.forget(), chosen.is_own()));
    match (remove_from_file(&scope, name), forgotten) {
        (Err(error), _) => failed(console, &format!("{error:#}")),
        (Ok(_), Ok((Err(why), _))) => failed(console, &why),
        (Ok(true), _) => {
            said(console, name, "removed", &format!("Removed {name} from {}.", scope.config_file().display()))
        }
        (Ok(false), Ok((Ok(()), _))) => {
            let text = format!(
                "haft no longer starts {name}. It stays in the file of the other program, which haft does not change."
            );
            said(console, name, "not allowed", &text)
        }
        (Ok(false), Err(why)) => failed(console, &why),
    }
}

/// Starts a server, shows every step, and ends it.
///
/// # Errors
///
/// Fails if the reader has closed the output.
pub fn doctor(scope: ServerScope, name: &str, console: &dyn Console) -> io::Result<McpCommandOutcome> {
    let chosen = match ChosenServer::find(scope, name) {
        Ok(chosen) => chosen,
        Err(why) => return failed(console, &why),
    };
    let mut lines = chosen.described();
    let (ending, more) = match chosen.consent() {
        Consent::New | Consent::Changed => {
            let line = format!(
                "consent   you have not agreed to this command line; nothing was started. Run: haft mcp add {name}"
            );
            (McpCommandOutcome::Failed, vec![line])
        }
        Consent::Given => match chosen.inspect() {
            Ok(inspected) => {
                let changed = inspected.difference.is_some();
                let tools = if changed {
                    format!("tools     they differ from those that you agreed to. Run: haft mcp add {name}")
                } else {
                    format!("tools     {}", inspected.summary(name))
                };
                let mut lines = inspected.lines;
                lines.push(tools);
                (if changed { McpCommandOutcome::Failed } else { McpCommandOutcome::Done }, lines)
            }
            Err(lines) => (McpCommandOutcome::Failed, lines),
        },
    };
    lines.extend(more);
    match console.is_for_programs() {
        true => {
            console.record(&json!({ "v": 1, "name": name, "ok": ending == McpCommandOutcome::Done, "lines": lines }))?
        }
        false => lines.iter().try_for_each(|line| console.say(line))?,
    }
    Ok(ending)
}

/// How the answer of the browser comes to haft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WayBack {
    /// The browser comes back to a port of this machine.
    Port,
    /// The person pastes the address at which the browser ended: it runs on another machine.
    Pasted,
}

impl From<bool> for WayBack {
    /// Returns [`WayBack::Pasted`] if the person asked to paste, else [`WayBack::Port`].
    fn from(pastes: bool) -> Self {
        if pastes { WayBack::Pasted } else { WayBack::Port }
    }
}

/// Logs the person in to a server with an address, and uses the server from then on.
///
/// # Errors
///
/// Fails if the reader has closed the output, or haft cannot show the question.
pub fn login(scope: ServerScope, name: &str, (way, console): (WayBack, &dyn Console)) -> io::Result<McpCommandOutcome> {
    if scope.only_plans() {
        return refused(console, PLANS);
    }
    let chosen = match ChosenServer::find(scope, name) {
        Ok(chosen) => chosen,
        Err(why) => return failed(console, &why),
    };
    let Some(login) = chosen.login() else {
        let why = format!(
            "\"{name}\" needs no login: haft starts it, or its entry has a header \"Authorization\". Set what it needs in its entry"
        );
        return failed(console, &why);
    };
    if chosen.consent() != Consent::Given {
        return refused(console, &format!("You have not agreed to \"{name}\" yet. Run: haft mcp add {name}"));
    }
    if !console.is_attended() {
        let why = format!(
            "A login needs a person and a browser: run \"haft mcp login {name}\" at a terminal; every haft process of yours uses it from then \
             on. A program without a person needs a key of the server: headers = {{ Authorization = \"Bearer …\" }} in config.toml"
        );
        return refused(console, &why);
    }
    let browser = ConsoleBrowser { way, console };
    let logged_in = block_on(log_in(&login, &browser)).map_err(io::Error::other)?;
    match logged_in {
        Ok(sentence) => console.talk(&sentence),
        Err(why) => return failed(console, &format!("You are not logged in to \"{name}\". {why}")),
    }
    if chosen.has_tools() {
        return said(console, name, "logged in", &format!("haft uses {name} with this login."));
    }
    match chosen.inspect() {
        Ok(inspected) => pinned(chosen, inspected, (name, console)),
        Err(lines) => {
            lines.iter().for_each(|line| console.talk(line));
            Ok(McpCommandOutcome::Failed)
        }
    }
}

/// Lists the prompts of a server, or shows the text of one. Its arguments are written as `name=value`.
///
/// # Errors
///
/// Fails if the reader has closed the output.
pub fn prompt(
    scope: ServerScope,
    name: &str,
    (words, console): (&[String], &dyn Console),
) -> io::Result<McpCommandOutcome> {
    let chosen = match ChosenServer::find(scope, name) {
        Ok(chosen) => chosen,
        Err(why) => return failed(console, &why),
    };
    let not_given = |lines: Vec<String>| failed(console, &lines.join("\n"));
    let Some((prompt, arguments)) = words.split_first() else {
        return match chosen.prompts() {
            Ok(prompts) => show_prompts(&prompts, (name, console)),
            Err(lines) => not_given(lines),
        };
    };
    let mut given = BTreeMap::new();
    for word in arguments {
        match word.split_once('=') {
            Some((argument, value)) => drop(given.insert(argument.to_owned(), value.to_owned())),
            None => return failed(console, &format!("\"{word}\" is not an argument; write it as name=value")),
        }
    }
    match chosen.prompt(prompt, &given) {
        Ok(text) if console.is_for_programs() => {
            console.record(&json!({ "v": 1, "name": name, "prompt": prompt, "text": text }))?;
            Ok(McpCommandOutcome::Done)
        }
        Ok(text) => {
            text.lines().try_for_each(|line| console.say(line))?;
            Ok(McpCommandOutcome::Done)
        }
        Err(lines) => not_given(lines),
    }
}

fn show_prompts(prompts: &[ListedPrompt], (name, console): (&str, &dyn Console)) -> io::Result<McpCommandOutcome> {
    if console.is_for_programs() {
        let record = |prompt: &ListedPrompt| {
            let arguments = prompt
                .arguments
                .iter()
                .map(|(name, needed)| json!({ "name": name, "required": *needed == ArgumentRequirement::Yes }));
            json!({ "name": prompt.name, "description": prompt.description, "arguments": arguments.collect::<Vec<_>>() })
        };
        let prompts = prompts.iter().map(record).collect::<Vec<_>>();
        console.record(&json!({ "v": 1, "name": name, "prompts": prompts }))?;
        return Ok(McpCommandOutcome::Done);
    }
    if prompts.is_empty() {
        console.talk(&format!("{name} has no prompts."));
    }
    for ListedPrompt { name, description, arguments } in prompts {
        let argument = |(name, needed): &(String, ArgumentRequirement)| match needed {
            ArgumentRequirement::Yes => format!(" {name}=…"),
            ArgumentRequirement::No => format!(" [{name}=…]"),
        };
        let arguments: String = arguments.iter().map(argument).collect();
        console.say(&format!("{name}{arguments}  {description}"))?;
    }
    Ok(McpCommandOutcome::Done)
}

/// Forgets the login to a server.
///
/// # Errors
///
/// Fails if the reader has closed the output.
pub fn logout(scope: ServerScope, name: &str, console: &dyn Console) -> io::Result<McpCommandOutcome> {
    if scope.only_plans() {
        return refused(console, PLANS);
    }
    let chosen = match ChosenServer::find(scope, name) {
        Ok(chosen) => chosen,
        Err(why) => return failed(console, &why),
    };
    match chosen.login().map(|login| login.forget()) {
        None => failed(console, &format!("\"{name}\" has no login")),
        Some(Err(why)) => failed(console, &why),
        Some(Ok(true)) => {
            let text = format!(
                "haft forgot the login to {name}. The server may still know it: end it there if you want it to end everywhere."
            );
            said(console, name, "logged out", &text)
        }
        Some(Ok(false)) => said(console, name, "logged out", &format!("You were not logged in to {name}.")),
    }
}

/// Shows the way through the browser on the console.
struct ConsoleBrowser<'a> {
    way: WayBack,
    console: &'a dyn Console,
}

impl Browser for ConsoleBrowser<'_> {
    fn show(&self, visit: &ShownVisit<'_>) {
        let talk = |line: &str| self.console.talk(&visible(line));
        talk(&format!("You log in at {}.", visit.issuer));
        if !visit.scopes.is_empty() {
            talk(&format!("haft asks for: {}", visit.scopes.iter().cloned().collect::<Vec<_>>().join(", ")));
        }
        talk("Open this address in your browser:");
        talk(visit.address);
        if self.way == WayBack::Port {
            talk(
                "haft waits for the browser on this machine. If yours runs elsewhere, stop with Ctrl-C and add --paste.",
            );
        }
    }

    fn pasted(&self) -> Option<Result<String, String>> {
        if self.way == WayBack::Port {
            return None;
        }
        let question =
            "Log in there. The browser then shows a page that it cannot open; paste the address of that page:";
        Some(match self.console.reads(question) {
            Ok(Some(text)) if !text.is_empty() => Ok(text),
            Ok(_) => Err("No address was pasted.".to_owned()),
            Err(error) => Err(format!("The terminal cannot be read: {error}.")),
        })
    }
}

fn said(console: &dyn Console, name: &str, state: &str, text: &str) -> io::Result<McpCommandOutcome> {
    match console.is_for_programs() {
        true => console.record(&json!({ "v": 1, "name": name, "state": state }))?,
        false => console.say(text)?,
    }
    Ok(McpCommandOutcome::Done)
}

fn failed(console: &dyn Console, why: &str) -> io::Result<McpCommandOutcome> {
    ended(console, "failed", why)?;
    Ok(McpCommandOutcome::Failed)
}

fn refused(console: &dyn Console, why: &str) -> io::Result<McpCommandOutcome> {
    ended(console, "needs_approval", why)?;
    Ok(McpCommandOutcome::Refused)
}

fn ended(console: &dyn Console, kind: &str, why: &str) -> io::Result<()> {
    match console.is_for_programs() {
        true => console.record(&json!({ "v": 1, "error": { "kind": kind, "what": why } })),
        false => {
            console.talk(&format!("haft: {why}"));
            Ok(())
        }
    }
}
