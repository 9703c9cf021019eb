//! Adds hosts to the lists of the user's `config.toml`, for `haft network allow` and for answers that hold always.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use haft_config::edits::network_edit::{HostList, with_hosts};
use haft_config::file::Mistake;
use haft_workspace::state::{read_config_file, replace_own_file};

/// The lists of hosts in the user's own file.
#[derive(Clone, Debug)]
pub struct HostLists {
    file: PathBuf,
}

impl HostLists {
    /// The lists of this file, which need not exist.
    pub fn of_file(file: &Path) -> Self {
        Self { file: file.to_owned() }
    }

    /// Lets commands reach these without a question from now on; returns whether the file is another now.
    ///
    /// # Errors
    ///
    /// As [`HostLists::add`].
    pub fn allow(&self, names: &[String]) -> anyhow::Result<bool> {
        self.add(HostList::Allow, names)
    }

    /// Adds names to a list; returns whether the file is another now.
    ///
    /// # Errors
    ///
    /// Fails where the file cannot be read, edited without changing more of it, or written.
    pub fn add(&self, list: HostList, names: &[String]) -> anyhow::Result<bool> {
        let file = &self.file;
        let text = read_config_file(file).with_context(|| format!("{} cannot be read", file.display()))?;
        let mistake = |(line, problem, fix)| Mistake { file: file.clone(), line, problem, fix };
        let new = with_hosts(&text.unwrap_or_default(), list, names).map_err(mistake)?;
        let Some(new) = new else { return Ok(false) };
        replace_own_file(file, &new).map_err(|error| anyhow!("{} cannot be written: {error}", file.display()))?;
        Ok(true)
    }
}
