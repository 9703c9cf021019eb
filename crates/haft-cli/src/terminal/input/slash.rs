//! Slash commands: the list of all of them, and the parser.
//!
//! A command that only shows something runs the subcommand of haft of the same name, so both print the same.

use haft_host::calling::typed_words::words;

use crate::terminal::protocol::UserCommandFacts;

/// A slash command with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum Slash {
    Help,
    Model(Option<String>),
    Yolo,
    Plan,
    Cost,
    Clear,
    /// Continues a session; without one, the person chooses.
    Resume(Option<String>),
    /// Goes back to before a message, counted from 1.
    Rewind(usize),
    Name(String),
    Export(Option<String>),
    Todo,
    Memory,
    Quit,
    /// A command of the person's own.
    Own,
    /// A subcommand that shows something.
    Shows(Vec<String>),
    /// A subcommand that is shown as a plan first, and done after a yes.
    Confirmed(Vec<String>),
    /// A prompt of a server, which is sent to the model after a yes.
    ServerPrompt(Vec<String>),
}

/// One entry of the list of slash commands.
struct SlashCommand {
    name: &'static str,
    /// The arguments that it takes.
    takes: &'static str,
    does: &'static str,
}

const COMMANDS: &[SlashCommand] = &[
    SlashCommand { name: "help", takes: "", does: "shows keys and commands" },
    SlashCommand {
        name: "undo",
        takes: "[#MESSAGE | N | --file PATH]",
        does: "shows what would be undone, then asks; goes back to any message",
    },
    SlashCommand { name: "redo", takes: "", does: "shows what would be redone, then asks" },
    SlashCommand { name: "diff", takes: "[N]", does: "shows what a change set changed" },
    SlashCommand { name: "blame", takes: "FILE", does: "shows which change wrote each line of a file" },
    SlashCommand { name: "log", takes: "[-n N]", does: "lists changes in this project, newest first" },
    SlashCommand { name: "model", takes: "[NAME]", does: "lists models, or uses another one" },
    SlashCommand { name: "tools", takes: "[TOOL]", does: "lists the tools, or describes one" },
    SlashCommand { name: "rules", takes: "[list | explain 'COMMAND']", does: "lists rules, or explains a command" },
    SlashCommand { name: "network", takes: "[list | allow HOST | deny HOST]", does: "hosts that commands may reach" },
    SlashCommand { name: "jobs", takes: "[output JOB | stop JOB]", does: "lists or controls background jobs" },
    SlashCommand {
        name: "prompt",
        takes: "SERVER [PROMPT [NAME=VALUE…]]",
        does: "shows a prompt of an MCP server, then asks to send it",
    },
    SlashCommand { name: "plan", takes: "", does: "switches plan mode: haft changes nothing" },
    SlashCommand { name: "yolo", takes: "", does: "switches yes to every ordinary question" },
    SlashCommand { name: "todo", takes: "", does: "shows the model's task list" },
    SlashCommand { name: "memory", takes: "", does: "shows what the model remembers of this project" },
    SlashCommand { name: "mcp", takes: "[list | doctor NAME]", does: "lists MCP servers, or examines one" },
    SlashCommand { name: "sessions", takes: "", does: "lists conversations in this project" },
    SlashCommand { name: "resume", takes: "[ID | NAME]", does: "finds and continues a conversation" },
    SlashCommand { name: "name", takes: "NAME", does: "names this conversation" },
    SlashCommand { name: "export", takes: "[FILE.md | FILE.json]", does: "writes this conversation to a file" },
    SlashCommand { name: "clear", takes: "", does: "starts a new conversation" },
    SlashCommand { name: "cost", takes: "", does: "shows tokens and cost of this conversation" },
    SlashCommand { name: "doctor", takes: "[TOOL]", does: "reports the state of this project, or of one tool" },
    SlashCommand { name: "quit", takes: "", does: "leaves haft; Ctrl-D does too" },
];

/// Returns the commands with what they do, for the menu.
pub(in crate::terminal) fn listed() -> Vec<(String, String)> {
    COMMANDS.iter().map(|command| (command.name.to_owned(), command.does.to_owned())).collect()
}

/// Returns the lines of the help: each command, what it takes, what it does.
pub(in crate::terminal) fn help() -> Vec<(String, &'static str)> {
    COMMANDS.iter().map(|command| (format!("/{} {}", command.name, command.takes), command.does)).collect()
}

/// Says whether a typed command needs nothing more.
pub(in crate::terminal) fn is_complete(line: &str, own: &[UserCommandFacts]) -> bool {
    if let Some(command) = own.iter().find(|command| line.strip_prefix('/') == Some(command.name.as_str())) {
        return command.takes.is_none();
    }
    let command = COMMANDS.iter().find(|command| line.strip_prefix('/') == Some(command.name));
    command.is_some_and(|command| command.takes.is_empty() || command.takes.starts_with('['))
}

/// Parses a slash command: nothing if the line is none, an error if the command is unknown.
pub(in crate::terminal) fn read(line: &str, own: &[UserCommandFacts]) -> Option<Result<Slash, String>> {
    let rest = line.strip_prefix('/')?;
    // A path is no command.
    let name: String = rest.chars().take_while(|c| !c.is_whitespace()).collect();
    if name.contains('/') || name.is_empty() {
        return None;
    }
    let (arguments, _) = words(&rest[name.len()..]);
    let arguments: Vec<String> = arguments.into_iter().map(|word| word.text).collect();
    let is_built_in = COMMANDS.iter().any(|command| command.name == name);
    if !is_built_in && own.iter().any(|command| command.name == name) {
        return Some(Ok(Slash::Own));
    }
    Some(meant(&name, arguments, own))
}

/// Says whether haft has a command of this name.
pub(in crate::terminal) fn is_built_in(name: &str) -> bool {
    COMMANDS.iter().any(|command| command.name == name)
}

fn meant(name: &str, arguments: Vec<String>, own: &[UserCommandFacts]) -> Result<Slash, String> {
    let with = |name: &str| std::iter::once(name.to_owned()).chain(arguments.clone()).collect::<Vec<_>>();
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        let names = COMMANDS.iter().map(|command| command.name).chain(own.iter().map(|own| own.name.as_str()));
        let near = haft_contract::text::closest::closest(name, names).map(|near| format!(" Did you mean /{near}?"));
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
        "todo" => Slash::Todo,
        "memory" => Slash::Memory,
        "resume" => Slash::Resume(arguments.first().cloned()),
        "name" if arguments.is_empty() => return Err("/name needs a name, such as /name fix-login.".to_owned()),
        "name" => Slash::Name(arguments.join(" ")),
        "export" => Slash::Export(arguments.first().cloned()),
        "undo" if arguments.first().is_some_and(|first| first.starts_with('#')) => match arguments[0][1..].parse() {
            Ok(number @ 1..) if arguments.len() == 1 => Slash::Rewind(number),
            _ => return Err("Write the number of a message, such as /undo #2.".to_owned()),
        },
        "mcp" if arguments.is_empty() => Slash::Shows(vec!["mcp".to_owned(), "list".to_owned()]),
        "blame" if arguments.is_empty() => return Err("/blame needs a file, such as /blame src/main.rs.".to_owned()),
        "prompt" if arguments.is_empty() => {
            return Err("/prompt needs a server, such as /prompt git; it lists the prompts of that server.".to_owned());
        }
        "prompt" => {
            let words = ["mcp", "prompt"].map(str::to_owned).into_iter().chain(arguments.clone()).collect();
            if arguments.len() > 1 { Slash::ServerPrompt(words) } else { Slash::Shows(words) }
        }
        "undo" | "redo" => Slash::Confirmed(with(name)),
        "rules" if arguments.is_empty() => Slash::Shows(vec!["rules".to_owned(), "list".to_owned()]),
        "network" if arguments.is_empty() => Slash::Shows(vec!["network".to_owned(), "list".to_owned()]),
        name => Slash::Shows(with(name)),
    })
}

impl Slash {
    /// Says whether it can be done beside what runs.
    pub(in crate::terminal) fn works_while_busy(&self) -> bool {
        matches!(self, Slash::Help | Slash::Yolo | Slash::Plan | Slash::Cost | Slash::Quit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<Result<Slash, String>> {
        read(line, &[UserCommandFacts { name: "fix".into(), about: "Fixes".into(), takes: Some("[number]".into()) }])
    }

    #[test]
    fn a_command_is_read_with_what_stands_behind_it() {
        assert_eq!(of("/undo 3"), Some(Ok(Slash::Confirmed(vec!["undo".into(), "3".into()]))));
        let explain = vec!["rules".to_owned(), "explain".to_owned(), "rm -r x".to_owned()];
        assert_eq!(of("/rules explain 'rm -r x'"), Some(Ok(Slash::Shows(explain))));
        assert_eq!(of("/model"), Some(Ok(Slash::Model(None))));
        assert_eq!(of("/usr/bin/env is where?"), None);
        assert_eq!(of("hello"), None);
        assert_eq!(of("/fix 47"), Some(Ok(Slash::Own)));
        assert_eq!(of("/undo #2"), Some(Ok(Slash::Rewind(2))));
        assert!(of("/undo #x").is_some_and(|command| command.is_err()));
        let wrong = of("/und").expect("it is one").expect_err("nobody knows it");
        assert_eq!(wrong, "There is no command /und. Did you mean /undo? /help lists them.");
        assert!(of("/clear all").is_some_and(|command| command.is_err()));
    }

    #[test]
    fn every_listed_command_is_known() {
        for (name, _) in listed() {
            let needs_more = ["name", "blame", "prompt"].contains(&name.as_str());
            let line = if needs_more { format!("/{name} x") } else { format!("/{name}") };
            assert!(matches!(of(&line), Some(Ok(_))), "{name}");
            assert_eq!(is_complete(&format!("/{name}"), &[]), !needs_more, "{name}");
        }
    }
}
