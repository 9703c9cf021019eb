//! Everything that was set, put together: flags over the user's file over the profile.

use std::path::PathBuf;

use haft::limits::Limits;

use crate::environment::{Environment, NoHome};
use crate::file::{Mistake, load};
use crate::profile::Profile;
use crate::surroundings::Surroundings;

/// What was set for this run.
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
    pub surroundings: Surroundings,
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
    /// Reads environment and files. A profile that a flag names goes before the one of the file.
    pub fn read(profile: Option<Profile>) -> Result<Self, SettingsError> {
        let variables: Vec<_> = std::env::vars_os().collect();
        let environment = Environment::of(&variables)?;
        let config_file = environment.config_folder.join("config.toml");
        let file = load(&config_file)?;
        let profile = profile.or(file.profile).unwrap_or_default();
        let limits = file.limits.over(profile.limits());
        if limits.result_head.saturating_add(limits.result_tail) > limits.result_whole {
            return Err(SettingsError::Mistake(Mistake {
                file: config_file,
                line: 1,
                problem: "result_head and result_tail together are more than result_whole".into(),
                fix: "make them smaller, or set only result_whole".into(),
            }));
        }
        let surroundings = Surroundings::of(file.sandbox, &variables, &environment.secrets);
        Ok(Self { profile, limits, config_file, environment, surroundings })
    }
}
