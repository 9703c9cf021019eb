//! Reads the environment once at the start.

use std::env::VarError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use haft_contract::files::guarded::{is_secret_variable, is_service_address};

/// The folders and secrets that the environment names.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Where haft's configuration is.
    pub config_folder: PathBuf,
    /// Where haft keeps its state.
    pub state_folder: PathBuf,
    /// Where short-lived folders may be made.
    pub temporary_folder: PathBuf,
    /// Values that are hidden wherever something is shown.
    pub secrets: Vec<String>,
}

/// Says that no home folder is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no home folder is known; set HOME, or both XDG_CONFIG_HOME and XDG_STATE_HOME")]
pub struct NoHome;

/// Returns the value of a variable of this process; nothing when it is not set or is no text.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Says that a variable is set to something that is no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is set, but not to text in UTF-8; set it again, or unset it")]
pub struct NotText(String);

/// Returns the value of a variable of this process; nothing when it is not set. For variables that haft must not ignore.
pub fn text_of_variable(name: &str) -> Result<Option<String>, NotText> {
    match std::env::var(name) {
        Ok(value) => Ok(Some(value)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(NotText(name.to_owned())),
    }
}

/// Returns the variables with which the user's own tools are asked about their settings: those of this process, without
/// secrets. Where `npm` runs haft as a script of a project, it has put settings of that project into variables; those are
/// left out.
pub fn variables_of_tools() -> Vec<(OsString, OsString)> {
    tools_see(std::env::vars_os().collect())
}

fn tools_see(mut variables: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let is_script = variables.iter().any(|(name, _)| name == "npm_lifecycle_event");
    variables.retain(|(name, _)| {
        let name = name.to_string_lossy();
        let is_of_script = is_script && name.to_ascii_lowercase().starts_with("npm_");
        !is_secret_variable(&name) && !is_of_script
    });
    variables
}

/// Returns where the program lies that is running, for lines that other programs start it by.
pub fn own_program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// Returns the folder that this process was started in.
pub fn current_folder() -> Option<PathBuf> {
    std::env::current_dir().ok()
}

/// Returns the words that this program was started with, its own name first.
pub fn command_line() -> Vec<OsString> {
    std::env::args_os().collect()
}

impl Environment {
    /// Returns the user's rules, whether they exist or not.
    pub fn rules_file(&self) -> PathBuf {
        self.config_folder.join("rules.toml")
    }

    /// Reads what the variables of this process say.
    pub(crate) fn of(variables: &[(OsString, OsString)]) -> Result<Self, NoHome> {
        let folder = |name: &str| {
            let found = variables.iter().find(|(key, _)| key == name);
            // The specification of these folders says that relative ones do not count.
            found.map(|(_, value)| PathBuf::from(value)).filter(|path| path.is_absolute())
        };
        let home = folder("HOME");
        let below_home = |path: &str| home.as_deref().map(|home: &Path| home.join(path));
        Ok(Self {
            config_folder: folder("XDG_CONFIG_HOME").or_else(|| below_home(".config")).ok_or(NoHome)?.join("haft"),
            state_folder: folder("XDG_STATE_HOME").or_else(|| below_home(".local/state")).ok_or(NoHome)?.join("haft"),
            temporary_folder: folder("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp")),
            secrets: secrets_in(variables),
        })
    }
}

fn secrets_in(variables: &[(OsString, OsString)]) -> Vec<String> {
    // Of the address of a service only the password is one; the rest is found in ordinary words.
    let is_secret = |name: &str| is_secret_variable(name) && !is_service_address(name);
    let readable = variables.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    readable
        .filter_map(|(name, value)| if is_secret(name) { Some(value) } else { password_in_address(value) })
        .map(str::to_owned)
        .collect()
}

/// The password of an address such as `postgres://user:password@host/`.
fn password_in_address(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let (user, _) = rest.split('/').next()?.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Result<Environment, NoHome> {
        let variables: Vec<_> = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Environment::of(&variables)
    }

    #[test]
    fn folders_come_from_their_variables_else_from_home() {
        let plain = environment(&[("HOME", "/h")]).expect("home is known");
        assert_eq!(plain.config_folder, Path::new("/h/.config/haft"));
        assert_eq!(plain.state_folder, Path::new("/h/.local/state/haft"));
        let named = environment(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "relative")]);
        let named = named.expect("home is known");
        assert_eq!(named.config_folder, Path::new("/c/haft"));
        assert_eq!(named.state_folder, Path::new("/h/.local/state/haft"));
        assert!(environment(&[]).is_err());
    }

    #[test]
    fn tools_are_asked_without_secrets_and_without_what_a_script_of_a_project_was_given() {
        let seen = |variables: &[(&str, &str)]| -> Vec<String> {
            let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
            tools_see(variables).into_iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
        };
        let own = [("PATH", "/bin"), ("MY_TOKEN", "t"), ("npm_config_registry", "https://own.example/")];
        assert_eq!(seen(&own), ["PATH", "npm_config_registry"]);
        let script = [&own[..], &[("npm_lifecycle_event", "test"), ("NPM_CONFIG_REGISTRY", "https://x.example/")]];
        assert_eq!(seen(&script.concat()), ["PATH"]);
    }

    #[test]
    fn values_of_variables_that_are_named_like_secrets_are_secrets() {
        let environment = environment(&[
            ("HOME", "/h"),
            ("OPENAI_API_KEY", "k"),
            ("my_token", "t"),
            ("KEYBOARD", "us"),
            ("DATABASE_URL", "postgres://me:pa@ss@host/db"),
            ("HOMEPAGE", "https://example.org/a:b@c"),
        ]);
        assert_eq!(environment.expect("home is known").secrets, ["k", "t", "pa@ss"]);
    }
}
