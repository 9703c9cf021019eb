//! Combines all settings: flags override the user's file, and the file overrides the profile.

use std::path::{Path, PathBuf};

use haft_contract::limits::Limits;

use crate::environment::{Environment, NoHome, variable};
use crate::file::{CommandsSection, ConfigFile, Mistake, ToolsSection, line_with, load, parse};
use crate::profile::{Profile, SomeLimits};
use crate::sections::hooks::HookSetting;
use crate::sections::journal::JournalSection;
use crate::sections::mcp::McpSection;
use crate::sections::model::ModelSection;
use crate::sections::network::{HostSelector, NetworkSection};
use crate::sections::price::Prices;
use crate::surroundings::{CommandSurroundings, SandboxSection, home_of};

/// The user's file, in the folder of the configuration.
const FILE: &str = "config.toml";

/// All settings of this run: flags, the user's file and the profile together.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The profile in force.
    pub profile: Profile,
    /// Its limits, with the user's changes.
    pub limits: Limits,
    /// The user's configuration file, whether it exists or not.
    pub config_file: PathBuf,
    /// What the environment says.
    pub environment: Environment,
    /// What commands find around themselves.
    pub surroundings: CommandSurroundings,
    /// The user's hooks, and behind them those of a project that is trusted.
    pub hooks: Vec<HookSetting>,
    /// How commands are run.
    pub commands: CommandsSection,
    /// What is kept for undo.
    pub journal: JournalSection,
    /// Which hosts commands may reach.
    pub network: NetworkSection,
    /// The part of it that a trusted project denies.
    pub denied_by_project: Vec<HostSelector>,
    /// The model that the user's file names.
    pub model: ModelSection,
    /// What models cost, as the user's file says.
    pub prices: Prices,
    /// Which deferred tools a model gets; a trusted project adds its own.
    pub tools: ToolsSection,
    /// The servers whose tools the user's file adds.
    pub mcp: McpSection,
    own: Own,
}

/// What the user has set, kept for a project whose settings come beneath it.
#[derive(Clone, Debug)]
struct Own {
    profile: Option<Profile>,
    limits: SomeLimits,
}

/// Why the settings cannot be used. The start stops: nothing is silently left out.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// There is no place for configuration and state.
    #[error(transparent)]
    NoHome(#[from] NoHome),
    /// The user's file has a mistake.
    #[error(transparent)]
    Mistake(#[from] Mistake),
}

impl Settings {
    /// Returns where the user's file is, or would be.
    ///
    /// # Errors
    ///
    /// Fails where there is no place for configuration.
    pub fn file() -> Result<PathBuf, NoHome> {
        let variables: Vec<_> = std::env::vars_os().collect();
        Ok(Environment::of(&variables)?.config_folder.join(FILE))
    }

    /// Reads environment and files. A profile that a flag names goes before the one of the file.
    pub fn read(profile: Option<Profile>) -> Result<Self, SettingsError> {
        match Self::salvage(profile)? {
            (settings, None) => Ok(settings),
            (_, Some(mistake)) => Err(mistake.into()),
        }
    }

    /// Reads environment and files, for commands that must work with broken settings too: a file with a mistake counts
    /// as empty, and the mistake is returned.
    pub fn salvage(profile: Option<Profile>) -> Result<(Self, Option<Mistake>), NoHome> {
        let variables: Vec<_> = std::env::vars_os().collect();
        let mut environment = Environment::of(&variables)?;
        let config_file = environment.config_folder.join(FILE);
        let (file, mistake) =
            match load(&config_file, &home_of(&variables)).and_then(|file| checked(file, profile, &config_file)) {
                Ok(file) => (file, None),
                Err(mistake) => (ConfigFile::default(), Some(mistake)),
            };
        // Whatever the variable is called: a key is not for commands, and not to be shown.
        environment.secrets.extend(file.model.key_env.as_deref().and_then(variable).filter(|key| !key.is_empty()));
        let own = Own { profile: profile.or(file.profile), limits: file.limits };
        let (profile, limits) = own.over(None, SomeLimits::default());
        let surroundings = CommandSurroundings::of(file.sandbox, &variables, &environment.secrets);
        let hooks = file.hooks.of_user(&environment.config_folder, &surroundings.home);
        let (commands, network, model, prices) = (file.commands, file.network, file.model, file.prices);
        let (journal, denied_by_project, tools) = (file.journal, Vec::new(), file.tools);
        let mcp = file.mcp;
        let settings = Self {
            profile,
            limits,
            config_file,
            environment,
            surroundings,
            hooks,
            commands,
            journal,
            network,
            denied_by_project,
            model,
            prices,
            tools,
            mcp,
            own,
        };
        Ok((settings, mistake))
    }

    /// Puts the settings of a project that is trusted beneath the user's: profile, limits and hooks.
    ///
    /// What commands may reach, and which model is told everything, is never a project's to say.
    pub fn with_project(mut self, file: &Path, text: &str) -> Result<Self, Mistake> {
        let mistake = |(line, problem, fix)| Mistake { file: file.into(), line, problem, fix };
        let project = parse(text).map_err(mistake)?;
        if project.sandbox != SandboxSection::default() {
            let line = line_with(text, "sandbox");
            let problem = "a project cannot set what commands may reach".to_owned();
            return Err(mistake((line, problem, "move [sandbox] to your own config.toml".to_owned())));
        }
        if project.network.opens() {
            let line = line_with(text, "network");
            let problem = "a project cannot allow hosts".to_owned();
            let fix = "keep only \"deny\" here, and move the rest of [network] to your own config.toml".to_owned();
            return Err(mistake((line, problem, fix)));
        }
        if project.model != ModelSection::default() {
            let line = line_with(text, "model");
            let problem = "a project cannot choose the model that reads this conversation".to_owned();
            return Err(mistake((line, problem, "move [model] to your own config.toml".to_owned())));
        }
        if project.journal != JournalSection::default() {
            let line = line_with(text, "journal");
            let problem = "a project cannot set how long your changes can be undone".to_owned();
            return Err(mistake((line, problem, "move [journal] to your own config.toml".to_owned())));
        }
        if project.mcp != McpSection::default() {
            let problem = "a project cannot add servers here".to_owned();
            let fix = "move [mcp] to your own config.toml, or write the server into .mcp.json".to_owned();
            return Err(mistake((line_with(text, "mcp"), problem, fix)));
        }
        if project.limits.names_memory() {
            let problem = "a project cannot choose the file of its memory".to_owned();
            let fix = "move it to [limits] in your own config.toml".to_owned();
            return Err(mistake((line_with(text, "memory_"), problem, fix)));
        }
        if !project.prices.is_empty() {
            let problem = "a project cannot set what a model costs".to_owned();
            return Err(mistake((
                line_with(text, "prices"),
                problem,
                "move [prices] to your own config.toml".to_owned(),
            )));
        }
        self.tools.show.extend(project.tools.show);
        self.commands.overlap &= project.commands.overlap;
        self.network.deny.extend(project.network.deny.iter().cloned());
        self.denied_by_project.extend(project.network.deny);
        (self.profile, self.limits) = self.own.over(project.profile, project.limits);
        is_in_order(&self.limits, file)?;
        self.hooks.extend(project.hooks.of_project(file, text)?);
        Ok(self)
    }
}

impl Own {
    /// Puts what the user has set over what a project sets.
    fn over(&self, profile: Option<Profile>, limits: SomeLimits) -> (Profile, Limits) {
        let profile = self.profile.or(profile).unwrap_or_default();
        (profile, self.limits.clone().over(limits.over(profile.limits())))
    }
}

/// Makes sure that the limits of the user's file fit together, whichever profile they are put over.
fn checked(file: ConfigFile, profile: Option<Profile>, path: &Path) -> Result<ConfigFile, Mistake> {
    let own = Own { profile: profile.or(file.profile), limits: file.limits.clone() };
    is_in_order(&own.over(None, SomeLimits::default()).1, path)?;
    Ok(file)
}

fn is_in_order(limits: &Limits, file: &Path) -> Result<(), Mistake> {
    if limits.result_head.saturating_add(limits.result_tail) <= limits.result_whole {
        return Ok(());
    }
    Err(Mistake {
        file: file.into(),
        line: 1,
        problem: "result_head and result_tail together are more than result_whole".into(),
        fix: "make them smaller, or set only result_whole".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn settings(text: &str) -> Settings {
        let file = parse(text).expect("the file is in order");
        let variables: Vec<(OsString, OsString)> = vec![("HOME".into(), "/h".into())];
        let environment = Environment::of(&variables).expect("home is known");
        let own = Own { profile: file.profile, limits: file.limits };
        let (profile, limits) = own.over(None, SomeLimits::default());
        let surroundings = CommandSurroundings::of(file.sandbox, &variables, &[]);
        let hooks = file.hooks.of_user(&environment.config_folder, Path::new("/h"));
        Settings {
            profile,
            limits,
            config_file: "c".into(),
            environment,
            surroundings,
            hooks,
            commands: file.commands,
            journal: file.journal,
            network: NetworkSection::default(),
            denied_by_project: Vec::new(),
            model: file.model,
            prices: file.prices,
            tools: file.tools,
            mcp: file.mcp,
            own,
        }
    }

    #[test]
    fn a_project_sets_what_the_user_has_left_open_and_nothing_else() {
        let own = settings("[limits]\nread_lines = 7\n");
        let both = own.with_project(Path::new("p"), "profile = \"ally\"\n[limits]\nread_lines = 9\nline_length = 11\n");
        let both = both.expect("the project is in order");
        assert_eq!((both.profile, both.limits.read_lines, both.limits.line_length), (Profile::Ally, 7, 11));
        let kept = settings("profile = \"wyrm\"").with_project(Path::new("p"), "profile = \"ally\"");
        assert_eq!(kept.expect("the project is in order").profile, Profile::Wyrm);
    }

    #[test]
    fn a_project_cannot_choose_who_is_told_what_is_said() {
        let text = "profile = \"ally\"\n[model]\nbase_url = \"https://example.org\"\n";
        let told = settings("").with_project(Path::new("p"), text).expect_err("it is refused").to_string();
        let words =
            "p:2: a project cannot choose the model that reads this conversation; move [model] to your own config.toml";
        assert_eq!(told, words);
    }

    #[test]
    fn a_project_cannot_choose_its_memory() {
        let text = "[limits]\nmemory_file = \"README.md\"\n";
        let told = settings("").with_project(Path::new("p"), text).expect_err("it is refused").to_string();
        assert!(told.starts_with("p:2: a project cannot choose the file of its memory; move it to"), "{told}");
    }

    #[test]
    fn a_project_cannot_set_how_long_changes_are_kept() {
        let told = settings("").with_project(Path::new("p"), "[journal]\nsize = \"1 MiB\"\n");
        let told = told.expect_err("it is refused").to_string();
        assert_eq!(
            told,
            "p:1: a project cannot set how long your changes can be undone; move [journal] to your own config.toml"
        );
    }

    #[test]
    fn a_project_cannot_make_a_model_cheap() {
        let text = "profile = \"ally\"\n[prices.m]\ninput = 0\noutput = 0\n";
        let told = settings("").with_project(Path::new("p"), text).expect_err("it is refused").to_string();
        assert_eq!(told, "p:2: a project cannot set what a model costs; move [prices] to your own config.toml");
    }

    #[test]
    fn a_project_cannot_open_the_sandbox() {
        for text in [
            "profile = \"ally\"\n[sandbox]\nnetwork = true\n",
            "sandbox = { network = true }",
            "sandbox.network = true",
        ] {
            let told = settings("").with_project(Path::new("p"), text).expect_err("it is refused").to_string();
            assert!(told.contains("a project cannot set what commands may reach"), "{told}");
        }
    }
}
