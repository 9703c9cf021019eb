//! Loads the files of a project's `.haft` that the user trusts.
//!
//! Of untrusted files haft reads only the names. It reports once per run what it does not load; where a person can
//! answer, it asks instead. No answer, a pipe and `--yes` do not trust anything. Trusted rules that no longer hold cause
//! a warning at every start: haft keeps only their hash, so it cannot say what they refused.
//!
//! Not here: what is in the files (`haft-config`), how they are compared (`haft_workspace::project`).

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use haft_config::settings::Settings;
use haft_policy::policy::Mode;
use haft_workspace::project::{
    FOLDER, HelpersChanged, Project, ProjectFileKind, TrustCheck, TrustStatus, skill_folder,
};
use haft_workspace::state::trust::{FolderTrust, TrustStore};

use crate::notices::{Notices, UntrustedFiles};
use crate::options::Options;

/// The texts of a project that count.
#[derive(Debug, Default)]
pub struct ProjectFiles {
    /// The settings, with the check that they are still trusted.
    pub config: Option<(String, TrustCheck)>,
    /// The rules.
    pub rules: Option<String>,
    /// Definitions of tools, and the list of them: their paths from the workspace, and their texts.
    pub tools: Vec<(String, String)>,
    /// The `SKILL.md` of each skill: its path from the workspace, and its text.
    pub skills: Vec<(String, String)>,
    /// Dialects.
    pub dialects: Vec<(String, String)>,
    /// What the project says to agents: `AGENTS.md`.
    pub words: Vec<(String, String)>,
    /// Files with the words of tools.
    pub prompts: Vec<(String, String)>,
    /// Commands that a person sends to a model.
    pub commands: Vec<(String, String)>,
    /// What was said of the rest.
    pub told: Vec<String>,
    /// What was trusted, for those who look again later.
    pub trusted: FolderTrust,
}

/// What to do about files that the user does not trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnUntrusted {
    /// Nothing: no call follows.
    Ignore,
    /// Reports it.
    Report,
    /// Asks where a person can answer, else reports it.
    Ask,
    /// The same, and asks about what the project says to agents too.
    AskAboutWords,
}

/// The paths of what is loaded.
pub const CONFIG: &str = ".haft/config.toml";
/// The rules of a project.
pub const RULES: &str = ".haft/rules.toml";
/// The list of the tools of a project.
pub const TOOL_LIST: &str = ".haft/tools.yaml";
const TOOLS: &str = ".haft/tools/";
const PROMPTS: &str = ".haft/prompts/";
/// The words in the folder; beside it, all that is brought are words.
const WORDS: &str = ".haft/AGENTS.md";
/// The folder with the commands of a project.
pub const COMMANDS: &str = ".haft/commands/";
const DIALECTS: &str = ".haft/dialects/";

/// Loads what is trusted in a workspace.
pub fn load(
    options: &Options,
    settings: &Settings,
    workspace: &Path,
    on_untrusted: OnUntrusted,
) -> anyhow::Result<ProjectFiles> {
    let project = looked_at(settings, workspace)?;
    let store = TrustStore::new(&settings.environment.state_folder);
    let (mut trusted, left_out) = match options.trust {
        true => vouched_for(&project, &store)?,
        false => (known(&store, workspace, &*options.notices), Vec::new()),
    };
    let mut found = ProjectTrustState::of(&project, &trusted, on_untrusted).without(left_out);
    // Plan mode changes nothing, not even what is trusted.
    let asks = matches!(on_untrusted, OnUntrusted::Ask | OnUntrusted::AskAboutWords);
    let may_ask = asks && options.notices.can_ask() && options.yes.is_none() && options.mode != Mode::Plan;
    if may_ask && found.has_untrusted() {
        // haft trusts exactly the files that it saw before the question. It does not ask about files that cannot be trusted.
        let (as_asked, left_out) = vouched_for(&project, &store)?;
        found = found.without(left_out.clone());
        if found.has_untrusted() && options.notices.asks_for_trust(&found.untrusted())? {
            trusted = as_asked;
            store.put(workspace, trusted.clone()).context("the trust in this project cannot be recorded")?;
            found = ProjectTrustState::of(&project, &trusted, on_untrusted).without(left_out);
        }
    }
    let (warnings, told) = (found.warnings(), found.told());
    if on_untrusted != OnUntrusted::Ignore {
        warnings.iter().for_each(|line| options.notices.warn(line));
        told.iter().for_each(|line| options.notices.note(line));
        let changed = project.changed_words(&trusted);
        if !changed.is_empty() {
            options.notices.note(&format!("note: changed since you trusted this folder: {}", changed.join(", ")));
        }
    }
    Ok(ProjectFiles { trusted, told: warnings.into_iter().chain(told).collect(), ..found.loaded })
}

/// Loads again what is trusted by now, or what was in the run that vouched for it. Returns what is to be said of the rest.
pub fn load_again(
    settings: &Settings,
    workspace: &Path,
    vouched: Option<&FolderTrust>,
    notices: &dyn Notices,
) -> anyhow::Result<(ProjectFiles, Vec<String>)> {
    let project = looked_at(settings, workspace)?;
    let trusted = vouched.cloned().unwrap_or_else(|| trusted_in(settings, workspace, notices));
    let left_out = if vouched.is_some() { project.vouch().1 } else { Vec::new() };
    Ok(loaded_again(&project, trusted, left_out))
}

/// Trusts everything in a project, with a copy of the code that it can run. Returns what cannot be trusted.
pub fn vouched_for(project: &Project, store: &TrustStore) -> anyhow::Result<(FolderTrust, TrustRefusals)> {
    let (mut trusted, left_out) = project.vouch();
    store
        .copy_code(project, &mut trusted)
        .context("the code of this project cannot be copied, and haft runs it only from a copy")?;
    Ok((trusted, left_out))
}

/// Returns what is trusted of a workspace.
pub fn trusted_in(settings: &Settings, workspace: &Path, notices: &dyn Notices) -> FolderTrust {
    known(&TrustStore::new(&settings.environment.state_folder), workspace, notices)
}

/// Loads of a copy what was trusted in its original, or everything. Returns what is to be said of the rest.
pub fn load_copy(
    settings: &Settings,
    copy: &Path,
    vouched: Option<FolderTrust>,
) -> anyhow::Result<(ProjectFiles, Vec<String>)> {
    let project = looked_at(settings, copy)?;
    let (trusted, left_out) = match vouched {
        Some(trusted) => (trusted, Vec::new()),
        None => vouched_for(&project, &TrustStore::new(&settings.environment.state_folder))?,
    };
    Ok(loaded_again(&project, trusted, left_out))
}

/// Reads the files that a workspace contains for haft, with the memory that the settings name.
///
/// # Errors
///
/// Fails when the workspace cannot be read.
pub fn looked_at(settings: &Settings, workspace: &Path) -> anyhow::Result<Arc<Project>> {
    let project = Project::look(workspace).context("the workspace cannot be read")?;
    Ok(Arc::new(project.with_memory(&settings.limits.memory_file)))
}

fn loaded_again(project: &Arc<Project>, trusted: FolderTrust, left_out: TrustRefusals) -> (ProjectFiles, Vec<String>) {
    let found = ProjectTrustState::of(project, &trusted, OnUntrusted::Report).without(left_out);
    let told = found.warnings().into_iter().chain(found.told()).collect();
    (ProjectFiles { trusted, ..found.loaded }, told)
}

/// Says whether a file of a project describes tools.
fn is_of_tools(name: &str) -> bool {
    name == TOOL_LIST || name.starts_with(TOOLS)
}

fn known(store: &TrustStore, workspace: &Path, notices: &dyn Notices) -> FolderTrust {
    store.of(workspace).unwrap_or_else(|error| {
        let place = store.path().display();
        notices.note(&format!(
            "note: nothing is trusted, because {place} cannot be read: {error}; remove it and trust again"
        ));
        FolderTrust::default()
    })
}

/// The names that cannot be trusted, each with the reason.
pub type TrustRefusals = Vec<(String, String)>;

/// The trust state of the project's files: loaded, new, changed, refused and gone ones.
#[derive(Debug, Default)]
struct ProjectTrustState {
    loaded: ProjectFiles,
    new: Vec<String>,
    changed: Vec<(String, Vec<String>)>,
    /// What differs from the copy that runs.
    helpers: Vec<HelpersChanged>,
    refused: TrustRefusals,
    /// What was trusted and is not there.
    gone: Vec<String>,
    /// Whether the user once trusted the rules of the project.
    had_rules: bool,
}

impl ProjectTrustState {
    fn of(project: &Arc<Project>, trusted: &FolderTrust, on_untrusted: OnUntrusted) -> Self {
        let had_rules = trusted.code.contains_key(RULES);
        let for_agents = on_untrusted == OnUntrusted::AskAboutWords;
        // What lies beside haft's own folder is for other programs too: only agents are asked about it.
        let is_meant = |name: &str| name.starts_with(FOLDER) || for_agents || trusted.code.contains_key(name);
        let refused = project.refused().iter().filter(|(name, _)| is_meant(name)).cloned().collect();
        let mut found = Self { refused, gone: project.gone(trusted), had_rules, ..Self::default() };
        for file in project.brought().iter().filter(|file| is_meant(&file.name)) {
            let standing = project.standing(file, trusted);
            let held = TrustCheck::new(project.clone(), Arc::new(trusted.clone()), &file.name);
            if let (TrustStatus::Trusted(_), Some(changed)) = (&standing, held.helpers_changed())
                && !found.helpers.contains(&changed)
            {
                found.helpers.push(changed);
            }
            match standing {
                TrustStatus::Trusted(text) if file.name == CONFIG => {
                    found.loaded.config = Some((text, held));
                }
                TrustStatus::Trusted(text) if file.name == RULES => found.loaded.rules = Some(text),
                TrustStatus::Trusted(text) if is_of_tools(&file.name) => {
                    found.loaded.tools.push((file.name.clone(), text));
                }
                TrustStatus::Trusted(text) if file.name.starts_with(PROMPTS) => {
                    found.loaded.prompts.push((file.name.clone(), text));
                }
                TrustStatus::Trusted(text) if skill_folder(&file.name).is_some() => {
                    found.loaded.skills.push((file.name.clone(), text));
                }
                TrustStatus::Trusted(text) if file.name.starts_with(DIALECTS) => {
                    found.loaded.dialects.push((file.name.clone(), text));
                }
                TrustStatus::Trusted(text) if file.name.starts_with(COMMANDS) => {
                    found.loaded.commands.push((file.name.clone(), text));
                }
                TrustStatus::Trusted(text) if file.name == WORDS || !file.name.starts_with(FOLDER) => {
                    found.loaded.words.push((file.name.clone(), text));
                }
                TrustStatus::Trusted(_) => {}
                TrustStatus::New => found.new.push(file.name.clone()),
                TrustStatus::Changed { files, text } => {
                    // Its hooks stay: each refuses the calls that it would judge, until the user trusts it again.
                    if let (true, Some(text)) = (file.name == CONFIG, text) {
                        found.loaded.config = Some((text, held));
                    }
                    found.changed.push((file.name.clone(), files));
                }
                TrustStatus::Refused(why) => found.refused.push((file.name.clone(), why)),
            }
        }
        found
    }

    /// Reports why files cannot be loaded, instead of reporting them as not trusted.
    fn without(mut self, left_out: TrustRefusals) -> Self {
        for (name, why) in left_out {
            let was_new = self.new.iter().position(|new| *new == name);
            if let Some(at) = was_new {
                self.new.remove(at);
                self.refused.push((name, why));
            }
        }
        self
    }

    fn untrusted(&self) -> UntrustedFiles {
        UntrustedFiles { new: self.new.clone(), changed: self.changed.clone(), gone: self.gone.clone() }
    }

    fn has_untrusted(&self) -> bool {
        !self.new.is_empty() || !self.changed.is_empty() || !self.gone.is_empty()
    }

    /// Warns about trusted rules that no longer apply.
    fn warnings(&self) -> Vec<String> {
        if !self.had_rules || self.loaded.rules.is_some() {
            return Vec::new();
        }
        let (because, next) = match () {
            () if self.is_gone(RULES) => ("is gone", "To continue without it: haft trust ."),
            () if self.has_changed(RULES) => ("changed since it was trusted", "Read it; to trust it: haft trust ."),
            () => ("cannot be loaded", "Fix it, and trust it again: haft trust ."),
        };
        vec![format!(
            "warning: {RULES} {because}, so none of its rules apply: calls that they denied or asked about may run. {next}"
        )]
    }

    fn is_gone(&self, name: &str) -> bool {
        self.gone.iter().any(|gone| gone == name)
    }

    fn has_changed(&self, name: &str) -> bool {
        self.changed.iter().any(|(changed, _)| changed == name)
    }

    fn told(&self) -> Vec<String> {
        let look = "Read them; to trust them: haft trust .";
        let mut lines = Vec::new();
        if !self.new.is_empty() {
            lines.push(format!("note: this project is not trusted, so haft does not load {}. {look}", few(&self.new)));
        }
        for (name, what) in self.changed.iter().filter(|(name, _)| name != RULES) {
            let others: Vec<&str> = what.iter().map(String::as_str).filter(|changed| changed != name).collect();
            let others: Vec<String> = others.into_iter().map(str::to_owned).collect();
            let because = if others.is_empty() { String::new() } else { format!(" (in {})", few(&others)) };
            let so = match (name == CONFIG, self.loaded.config.is_some()) {
                (true, true) => "so its hooks refuse the calls that they would judge",
                (true, false) => "so it is not loaded, and its hooks are not asked",
                (false, _) => "so it is not loaded",
            };
            lines.push(format!("note: {name} changed since it was trusted{because}, {so}. {look}"));
        }
        lines.extend(self.helpers.iter().map(|changed| format!("note: {changed}. {LOOK_AT_HELPERS}")));
        let gone = self.gone.iter().filter(|name| *name != RULES);
        lines.extend(
            gone.map(|name| format!("note: {name} was trusted and is gone. To continue without it: haft trust .")),
        );
        lines.extend(self.refused.iter().map(|(name, why)| format!("note: {name} is not loaded: {why}")));
        lines
    }
}

/// Most files that one note names.
const MOST_NAMED: usize = 12;

/// Names files, and says how many more there are.
fn few(names: &[String]) -> String {
    let named = names.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// What to do about files that differ from the trusted copy.
pub const LOOK_AT_HELPERS: &str = "To see the difference: haft trust --diff; to trust it: haft trust .";

/// What trust means, in words.
pub const MEANING: &str = "\
haft loads code (settings, rules, tools, dialects, skills) as it is now, with every file of the workspace that tools and hooks name and every file of a skill. It does not load code that changed until you trust it again. haft now copies the code of the workspace that tools, hooks and skills run, and they run from the copy. Models read words (AGENTS.md, prompts); haft reports when they change. Commands are words too, and haft loads them only as they were trusted. The rules of a project only make things stricter.";

/// Says what a kind is called.
pub fn name_of(kind: ProjectFileKind) -> &'static str {
    match kind {
        ProjectFileKind::Code => "code",
        ProjectFileKind::Words => "words",
    }
}
