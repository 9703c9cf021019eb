//! `haft man`: prints or writes the manual pages, made from the same texts as `--help`.

use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::{Args, Command, CommandFactory};
use haft_workspace::state::create_new_files;

use crate::arguments::CliArguments;
use crate::exit::Exit;
use crate::screen;

/// Arguments of `haft man`.
#[derive(Args)]
#[command(after_help = "Examples:
  haft man rules explain | man -l -
  haft man --to ~/.local/share/man/man1")]
pub(crate) struct ManArguments {
    /// The command, in one or more words [default: haft itself]
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
    /// Write the pages of all commands to this folder, as new files
    #[arg(long, value_name = "FOLDER", conflicts_with = "words")]
    to: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(arguments: &ManArguments) -> anyhow::Result<Exit> {
    let mut haft = CliArguments::command().disable_help_subcommand(true);
    haft.build();
    let Some(folder) = &arguments.to else {
        let found = arguments.words.iter().try_fold(&haft, |command, word| command.find_subcommand(word));
        let command = found.with_context(|| format!("there is no command \"haft {}\"", arguments.words.join(" ")))?;
        screen::answer(&page(command)?.1)?;
        return Ok(Exit::Ok);
    };
    let mut pages = Vec::new();
    collect(&haft, &mut pages)?;
    let files: Vec<(&str, &str)> = pages.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    create_new_files(folder, &files)
        .map_err(|error| anyhow!("nothing was written: {error}; remove the old pages first, or name another folder"))?;
    screen::talk(&format!("Wrote {} pages to {}", files.len(), folder.display()));
    Ok(Exit::Ok)
}

/// Collects the pages of a command and of all commands below it.
fn collect(command: &Command, pages: &mut Vec<(String, String)>) -> anyhow::Result<()> {
    pages.push(page(command)?);
    command.get_subcommands().filter(|below| !below.is_hide_set()).try_for_each(|below| collect(below, pages))
}

/// Returns the name of a page and its text.
fn page(command: &Command) -> anyhow::Result<(String, String)> {
    let man = clap_mangen::Man::new(command.clone());
    let man = man.source(concat!("haft ", env!("HAFT_VERSION"))).manual("Commands of haft");
    let mut text = Vec::new();
    man.render(&mut text)?;
    Ok((man.get_filename(), String::from_utf8(text)?))
}
