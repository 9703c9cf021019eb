//! Slash commands: the list of all of them, and the parser.
//!
//! A command that only shows something runs the subcommand of haft of the same name, so both print the same.

use super::call_line::words;

/// A slash command with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Slash {
    Help,
    Model(Option<String>),
    Yolo,
    Plan,
    Cost,
    Clear,
    Resume(String),
    Quit,
    /// A subcommand that shows something.
    Shows(Vec<String>),
    /// A subcommand that is shown as a plan first, and done after a yes.
    Confirmed(Vec<String>),
}

/// One entry of the list.
struct Command {
    name: &'static str,
    /// The arguments that it takes.
    takes: &'static str,
    does: &'static str,
}

const COMMANDS: &[Command] = &[
    Command { name: "help", takes: "", does: "shows keys and commands" },
    Command {
        name: "undo",
        takes: "[N | --turn | --session | --file PATH]",
        does: "shows what would be undone, then asks",
    },
    Command { name: "redo", takes: "", does: "shows what would be redone, then asks" },
    Command { name: "diff", takes: "[N]", does: "shows what a change set changed" },
    Command { name: "blame", takes: "FILE", does: "shows which change wrote each line of a file" },
    Command { name: "log", takes: "[-n N]", does: "lists changes in this project, newest first" },
    Command { name: "model", takes: "[NAME]", does: "lists models, or uses another one" },
    Command { name: "tools", takes: "[TOOL]", does: "lists the tools, or describes one" },
    Command { name: "rules", takes: "[list | explain 'COMMAND']", does: "lists rules, or explains a command" },
    Command { name: "network", takes: "[list | allow HOST | deny HOST]", does: "hosts that commands may reach" },
    Command { name: "jobs", takes: "[output JOB | stop JOB]", does: "lists or controls background jobs" },
    Command { name: "plan", takes: "", does: "switches plan mode: haft changes nothing" },
    Command { name: "yolo", takes: "", does: "switches yes to every ordinary question" },
    Command { name: "sessions", takes: "", does: "lists conversations in this project" },
    Command { name: "resume", takes: "ID", does: "continues a conversation" },
    Command { name: "clear", takes: "", does: "starts a new conversation" },
    Command { name: "cost", takes: "", does: "shows tokens and cost of this conversation" },
    Command { name: "doctor", takes: "[TOOL]", does: "reports the state of this project, or of one tool" },
    Command { name: "quit", takes: "", does: "leaves haft; Ctrl-D does too" },
];

/// Returns the commands with what they do, for the menu.
pub(super) fn listed() -> Vec<(String, String)> {
    COMMANDS.iter().map(|command| (command.name.to_owned(), command.does.to_owned())).collect()
}

/// Returns the lines of the help: each command, what it takes, what it does.
pub(super) fn help() -> Vec<(String, &'static str)> {
    COMMANDS.iter().map(|command| (format!("/{} {}", command.name, command.takes), command.does)).collect()
}

/// Says whether a typed command needs nothing more.
pub(super) fn is_complete(line: &str) -> bool {
    let command = COMMANDS.iter().find(|command| line.strip_prefix('/') == Some(command.name));
    command.is_some_and(|command| command.takes.is_empty() || command.takes.starts_with('['))
}

/// Parses a slash command: nothing if the line is none, an error if the command is unknown.
pub(super) fn read(line: &str) -> Option<Result<Slash, String>> {
    let rest = line.strip_prefix('/')?;
    // A path is no command.
    let name: String = rest.chars().take_while(|c| !c.is_whitespace()).collect();
    if name.contains('/') || name.is_empty() {
        return None;
    }
    let (arguments, _) = words(&rest[name.len()..]);
    let arguments: Vec<String> = arguments.into_iter().map(|word| word.text).collect();
    Some(meant(&name, arguments))
}

fn meant(name: &str, arguments: Vec<String>) -> Result<Slash, String> {
    let with = |name: &str| std::iter::once(name.to_owned()).chain(arguments.clone()).collect::<Vec<_>>();
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        let names = COMMANDS.iter().map(|command| command.name);
        let near = haft_contract::closest::closest(name, names).map(|near| format!(" Did you mean /{near}?"));
        return Err(format!("There is no command /{name}.{} /help lists them.", near.unwrap_or_default()));
    };
    if command.takes.is_empty() && !arguments.is_empty() {
        return Err(format!("/{name} takes no arguments."));
    }
    Ok(match name {
        "help" => Slash::Help,
        "model" => match arguments.first() {
            Some(model) => Slash::Model(Some(model.clone())),
            None => Slash::Model(None),
        },
        "yolo" => Slash::Yolo,
        "plan" => Slash::Plan,
        "cost" => Slash::Cost,
        "clear" => Slash::Clear,
        "quit" => Slash::Quit,
        "resume" => match arguments.first() {
            Some(id) => Slash::Resume(id.clone()),
            None => return Err("/resume needs the ID of a session; /sessions lists them.".to_owned()),
        },
        "blame" if arguments.is_empty() => return Err("/blame needs a file, such as /blame src/main.rs.".to_owned()),
        "undo" | "redo" => Slash::Confirmed(with(name)),
        "rules" if arguments.is_empty() => Slash::Shows(vec!["rules".to_owned(), "list".to_owned()]),
        "network" if arguments.is_empty() => Slash::Shows(vec!["network".to_owned(), "list".to_owned()]),
        name => Slash::Shows(with(name)),
    })
}

impl Slash {
    /// Says whether it can be done beside what runs.
    pub(super) fn works_while_busy(&self) -> bool {
        matches!(self, Slash::Help | Slash::Yolo | Slash::Plan | Slash::Cost | Slash::Quit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_read_with_what_stands_behind_it() {
        assert_eq!(read("/undo 3"), Some(Ok(Slash::Confirmed(vec!["undo".into(), "3".into()]))));
        let explain = vec!["rules".to_owned(), "explain".to_owned(), "rm -r x".to_owned()];
        assert_eq!(read("/rules explain 'rm -r x'"), Some(Ok(Slash::Shows(explain))));
        assert_eq!(read("/model"), Some(Ok(Slash::Model(None))));
        assert_eq!(read("/usr/bin/env is where?"), None);
        assert_eq!(read("hello"), None);
        let wrong = read("/und").expect("it is one").expect_err("nobody knows it");
        assert_eq!(wrong, "There is no command /und. Did you mean /undo? /help lists them.");
        assert!(read("/clear all").is_some_and(|read| read.is_err()));
    }

    #[test]
    fn every_listed_command_is_known() {
        for (name, _) in listed() {
            let needs_more = ["resume", "blame"].contains(&name.as_str());
            let line = if needs_more { format!("/{name} x") } else { format!("/{name}") };
            assert!(matches!(read(&line), Some(Ok(_))), "{name}");
            assert_eq!(is_complete(&format!("/{name}")), !needs_more, "{name}");
        }
    }
}
