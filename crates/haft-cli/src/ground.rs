//! What every judgement stands on: settings, the workspace and the rules, before anything can run.

use std::path::{Path, PathBuf};

use anyhow::Context;
use haft_config::settings::Settings;
use haft_workspace::files::{Bounds, Workspace};
use haft_workspace::project::{Held, named_by_code};

use crate::again::Again;
use crate::arguments::Common;
use crate::brought::{self, Loaded, Manner};
use crate::rulebook::Rulebook;

/// A workspace with everything that was set for it.
pub(crate) struct Ground {
    pub(crate) settings: Settings,
    pub(crate) workspace: Workspace,
    pub(crate) rulebook: Rulebook,
    /// What the workspace brings along, where what others describe is put to use at all.
    pub(crate) loaded: Option<Loaded>,
    /// What is looked at again at the start of each turn, where somebody stays for a second one.
    pub(crate) again: Option<Again>,
    /// What the project's settings are held to, where they are loaded.
    pub(crate) held: Option<Held>,
}

impl Ground {
    /// Opens the workspace that the command line names, with the user's settings and rules and those of a project that
    /// is trusted.
    pub(crate) fn open(common: &Common, manner: Manner) -> anyhow::Result<Self> {
        let folder = common.workspace.clone().unwrap_or_else(|| PathBuf::from("."));
        let settings = Settings::read(common.profile())?;
        let workspace = open_workspace(common, &folder, &settings)?;
        let loaded = brought::load(common, &settings, workspace.path(), manner)?;
        // Who is told, and not asked, is a program that stays.
        let again = (manner == Manner::Telling).then(|| Again::new(common, &settings, (workspace.path(), &loaded)));
        let file = |name: &str| workspace.path().join(name);
        let (settings, held) = match &loaded.config {
            Some((text, held)) => (settings.with_project(&file(brought::CONFIG), text)?, Some(held.clone())),
            None => (settings, None),
        };
        let rules = file(brought::RULES);
        let project = loaded.rules.as_deref().map(|text| (rules.as_path(), text));
        let mut rulebook = Rulebook::load(&settings, workspace.path(), project)?;
        rulebook.named = named_by_code(workspace.path(), &loaded.trusted);
        workspace.protect(rulebook.named.iter().cloned());
        Ok(Self { settings, workspace, rulebook, loaded: Some(loaded), again, held })
    }
}

/// Opens a folder as the workspace, without haft's own folders.
pub(crate) fn open_workspace(common: &Common, folder: &Path, settings: &Settings) -> anyhow::Result<Workspace> {
    let environment = &settings.environment;
    let bounds = Bounds {
        added: common.added.clone(),
        left_out: vec![environment.state_folder.clone(), environment.config_folder.clone()],
        home: Some(settings.surroundings.home.clone()),
    };
    Workspace::open_within(folder, &bounds).with_context(|| {
        format!("the workspace {} (or a folder of --add-dir) cannot be opened; name a folder with -C", folder.display())
    })
}
