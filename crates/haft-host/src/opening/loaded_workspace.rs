//! Loads what every judgement needs before anything can run: settings, workspace and rules.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use haft_config::file::Mistake;
use haft_config::settings::Settings;
use haft_contract::doors::process::ConfinementLevel;
use haft_contract::files::path::one_line;
use haft_policy::decision::{Class, Decision};
use haft_policy::effect_kind::EffectKind;
use haft_policy::rule::{Pattern, Rule};
use haft_workspace::files::{Bounds, Workspace, is_guarded_folder};
use haft_workspace::project::{TrustCheck, named_by_code};
use haft_workspace::replica::Replica;
use haft_workspace::state::{WorkspaceState, real_path_of};

use super::hosts::HostsOfSettings;
use super::project_files;
use super::project_files::{OnUntrusted, ProjectFiles};
use super::reload::Reload;
use super::rulebook::Rulebook;
use crate::notices::Notices;
use crate::options::{HostAccess, Options};

/// A workspace with everything that was set for it.
pub struct LoadedWorkspace {
    /// The user's settings, with those of a trusted project.
    pub settings: Settings,
    /// The opened folder.
    pub workspace: Workspace,
    /// The rules of this run.
    pub rulebook: Rulebook,
    /// The workspace's files for haft; nothing if haft uses none of them.
    pub files: Option<ProjectFiles>,
    /// Reloads changed files at the start of each turn, for a caller that stays for a second turn.
    pub reload: Option<Reload>,
    /// What the project's settings are held to, where they are files.
    pub held: Option<TrustCheck>,
}

impl LoadedWorkspace {
    /// Opens the workspace that the command line names, with the user's settings and rules and those of a project that
    /// is trusted.
    pub fn open(options: &Options, on_untrusted: OnUntrusted) -> anyhow::Result<Self> {
        let mut settings = Settings::read(options.profile())?;
        if let Some(folder) = &options.state_folder {
            settings.environment.state_folder.clone_from(folder);
        }
        if options.hosts == HostAccess::All {
            settings.network.allow_all();
        }
        let workspace = open_workspace(options, options.folder(), &settings)?;
        anyhow::ensure!(
            !is_guarded_folder(workspace.path()),
            "the workspace {} is a folder whose name protects the files in it: other programs run them, or they are secrets; name a \
             folder above it",
            workspace.path().display()
        );
        let files = project_files::load(options, &settings, workspace.path(), on_untrusted)?;
        // Who is told, and not asked, is a program that stays.
        let reload =
            (on_untrusted == OnUntrusted::Report).then(|| Reload::new(options, &settings, (workspace.path(), &files)));
        Ok(Self { reload, ..Self::with(options, settings, workspace, files)? })
    }

    /// Opens the workspace for commands that must work with broken settings too. Every mistake is reported, and the
    /// file that has it counts as empty.
    pub fn salvage(options: &Options, search: WorkspaceSearch) -> anyhow::Result<Self> {
        let (settings, mistake) = Settings::salvage(options.profile())?;
        let folder = search.folder(options, &settings.environment.state_folder);
        let workspace = open_workspace(options, &folder, &settings)?;
        let mut mistakes: Vec<String> = mistake.iter().map(ToString::to_string).collect();
        let files =
            project_files::load(options, &settings, workspace.path(), OnUntrusted::Ignore).unwrap_or_else(|error| {
                mistakes.push(format!("{error:#}"));
                ProjectFiles::default()
            });
        let file = |name: &str| workspace.path().join(name);
        let with_project = files.config.as_ref().map(|(text, held)| {
            let settings = settings.clone().with_project(&file(project_files::CONFIG), text)?;
            Ok::<_, Mistake>((settings, Some(held.clone())))
        });
        let (settings, held) = with_project.unwrap_or_else(|| Ok((settings.clone(), None))).unwrap_or_else(|mistake| {
            mistakes.push(mistake.to_string());
            (settings, None)
        });
        let rules = file(project_files::RULES);
        let project = files.rules.as_deref().map(|text| (rules.as_path(), text));
        let (mut rulebook, found) = Rulebook::salvage(&settings, workspace.path(), project);
        rulebook.hosts = Some(Arc::new(HostsOfSettings::of(&settings, workspace.path())));
        mistakes.extend(found.iter().map(ToString::to_string));
        report(&mistakes, &*options.notices);
        Ok(Self { settings, workspace, rulebook, files: Some(files), reload: None, held })
    }

    /// Opens a copy of a workspace as that would be opened: what was trusted there is trusted here, where it is the same.
    /// Commands must be held in the copy, and nothing may leave the machine: hooks do not reach the network here.
    pub fn open_copy(options: &Options, copy: &Replica, of: &Path) -> anyhow::Result<Self> {
        let mut settings = Settings::read(options.profile())?;
        let trusted = project_files::trusted_in(&settings, of, &*options.notices);
        // What is out of reach in the workspace is so in the copy, too.
        let inside = |paths: &[PathBuf]| -> Vec<PathBuf> {
            paths.iter().filter_map(|path| copy.counterpart(of, path)).collect()
        };
        let mut left_out = own_folders(&settings);
        left_out.extend(inside(&left_out));
        let hidden = inside(&settings.surroundings.hidden);
        settings.surroundings.hidden.extend(hidden);
        settings.environment.state_folder = copy.state();
        left_out.push(copy.state());
        settings.surroundings.required = ConfinementLevel::Full;
        settings.surroundings.is_requirement_set = true;
        let workspace = open_without(options, &copy.workspace(), (left_out, &settings))?;
        let vouched = (!options.trust).then_some(trusted);
        let (files, told) = project_files::load_copy(&settings, workspace.path(), vouched)?;
        told.iter().for_each(|line| options.notices.note(line));
        let mut copied = Self::with(options, settings, workspace, files)?;
        copied.rulebook.besides = nothing_leaves();
        // haft does not judge the effects of a hook, so hooks have no network in a copy.
        copied.settings.hooks.iter_mut().for_each(|hook| hook.network = false);
        Ok(copied)
    }

    fn with(options: &Options, settings: Settings, workspace: Workspace, files: ProjectFiles) -> anyhow::Result<Self> {
        let file = |name: &str| workspace.path().join(name);
        let (settings, held) = match &files.config {
            Some((text, held)) => (settings.with_project(&file(project_files::CONFIG), text)?, Some(held.clone())),
            None => (settings, None),
        };
        let rules = file(project_files::RULES);
        let project = files.rules.as_deref().map(|text| (rules.as_path(), text));
        let mut rulebook = Rulebook::load(&settings, workspace.path(), project, &*options.notices)?;
        rulebook.hosts = Some(Arc::new(HostsOfSettings::of(&settings, workspace.path())));
        rulebook.named = named_by_code(workspace.path(), &files.trusted);
        workspace.protect(rulebook.named.iter().cloned());
        Ok(Self { settings, workspace, rulebook, files: Some(files), reload: None, held })
    }
}

/// How the folder of the workspace is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkspaceSearch {
    /// The one that the command line names, or the current one.
    Named,
    /// The nearest of that one and its parents that has history; the named one where none has.
    NearestWithHistory,
}

impl WorkspaceSearch {
    /// Finds the folder, and says which it is where it is not the named one.
    fn folder(self, options: &Options, state_folder: &Path) -> PathBuf {
        let named = options.folder();
        let found = match self {
            WorkspaceSearch::Named => None,
            WorkspaceSearch::NearestWithHistory => WorkspaceState::nearest_with_history(state_folder, named),
        };
        let Some(found) = found.filter(|found| *found != real_path_of(named)) else { return named.to_owned() };
        let of = options.folder.as_ref().map_or("the current folder".into(), |named| named.to_string_lossy());
        options.notices.note(&one_line(&format!("Workspace: {} (parent of {of})", found.display())));
        found
    }
}

/// Reports mistakes in settings that a command works without.
fn report(mistakes: &[String], notices: &dyn Notices) {
    mistakes.iter().for_each(|mistake| notices.note(&format!("warning: {mistake}")));
    if !mistakes.is_empty() {
        notices.note(
            "warning: this command ignores the settings above; commands that call tools stop until they are fixed",
        );
    }
}

/// The name of the rules that hold in a copy.
pub const NOTHING_LEAVES: &str = "nothing leaves a copy";

/// Denies effects that haft cannot discard together with a copy, whatever else is allowed.
fn nothing_leaves() -> Vec<Rule> {
    let rule = |sort| Rule {
        name: NOTHING_LEAVES.to_owned(),
        matches: Pattern::Effect(sort),
        decision: Decision::Deny,
        class: Class::Ordinary,
        reason: "It would act outside of the copy.".to_owned(),
        instead: "do it in the workspace itself".to_owned(),
    };
    [EffectKind::CommandPublishes, EffectKind::RemoteChange].map(rule).into()
}

/// Opens a folder as the workspace, without haft's own folders.
pub fn open_workspace(options: &Options, folder: &Path, settings: &Settings) -> anyhow::Result<Workspace> {
    open_without(options, folder, (own_folders(settings), settings))
}

/// Returns the folders that are haft's own.
pub fn own_folders(settings: &Settings) -> Vec<PathBuf> {
    vec![settings.environment.state_folder.clone(), settings.environment.config_folder.clone()]
}

/// Opens a folder as the workspace, without these.
fn open_without(
    options: &Options,
    folder: &Path,
    (left_out, settings): (Vec<PathBuf>, &Settings),
) -> anyhow::Result<Workspace> {
    let bounds = Bounds { added: options.added.clone(), left_out, home: Some(settings.surroundings.home.clone()) };
    Workspace::open_within(folder, &bounds).with_context(|| {
        let cannot_be_opened = |folder: &&Path| Workspace::open_within(folder, &Bounds::default()).is_err();
        let added = options.added.iter().map(PathBuf::as_path);
        let which = std::iter::once(folder).chain(added).find(cannot_be_opened).unwrap_or(folder);
        format!("the folder {} cannot be opened; name a folder that exists and that you can read", which.display())
    })
}
