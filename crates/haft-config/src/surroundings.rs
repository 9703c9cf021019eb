//! The surroundings of a command: which folders it may read, and which variables it gets.
//!
//! Both are lists (`surroundings/lists.rs`). A command does not see what is not listed. haft leaves out a listed variable
//! if its value is, or holds, a secret.

mod at_terminal;
mod caches;
mod lists;
mod of_agent;

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use haft_contract::doors::process::ConfinementLevel;
use haft_workspace::state::read_project_file;
use serde::Deserialize;

pub use self::caches::ToolCache;
use crate::git_identity;

/// How many MiB of what tools have downloaded are kept for a workspace, where the user has set nothing.
const CACHES: u32 = 10 * 1024;

/// Most processes and threads of one command, where the user has set nothing.
const PROCESSES: u32 = 2048;
/// Most disk that a command and its session take, where the user has set nothing.
const DISK: u64 = 20 * GIB;
const GIB: u64 = 1024 * 1024 * 1024;

/// What makes git compare files by size and time of change alone: then it takes a masked one for unchanged.
const GIT_BY_SIZE_AND_TIME: [(&str, &str); 5] = [
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "core.checkStat"),
    ("GIT_CONFIG_VALUE_0", "minimal"),
    ("GIT_CONFIG_KEY_1", "core.trustctime"),
    ("GIT_CONFIG_VALUE_1", "false"),
];

/// The surroundings of commands, and how commands are confined.
#[derive(Clone, Debug)]
pub struct CommandSurroundings {
    /// Whether the user has switched the sandbox off.
    pub is_off: bool,
    /// The level of confinement without which no command runs unasked.
    pub required: ConfinementLevel,
    /// Whether the user has set that.
    pub is_requirement_set: bool,
    /// Whether commands reach the network.
    pub network: bool,
    /// Most processes and threads of one command.
    pub processes: u32,
    /// Most bytes of memory of one command, where the user has set them; 0 means that they are not bound.
    pub memory: Option<u64>,
    /// Most bytes on disk that the changes of one command, the home and the temporary files of its session take.
    pub disk: Option<u64>,
    /// Whether commands see blank files in the place of those that hold secrets.
    pub masks_secrets: bool,
    /// The whole environment of a command that a person runs at a terminal, as `haft exec` does.
    pub environment_at_terminal: Vec<(OsString, OsString)>,
    /// The whole environment of a command that another agent runs, which has set variables for it.
    pub environment_of_agent: Vec<(OsString, OsString)>,
    /// The whole environment of commands.
    pub environment: Vec<(OsString, OsString)>,
    /// What background jobs have beside it.
    pub job_environment: Vec<(OsString, OsString)>,
    /// Folders and files outside the workspace that commands may read.
    pub readable: Vec<PathBuf>,
    /// Files in those that they may not.
    pub hidden: Vec<PathBuf>,
    /// The user's home.
    pub home: PathBuf,
    /// Small files that commands find in their private home.
    pub home_files: Vec<(PathBuf, String)>,
    /// Where tools keep what they download.
    pub caches: Vec<ToolCache>,
    /// How many bytes of it haft keeps for a workspace.
    pub cache_room: u64,
}

/// What the user has set about commands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SandboxSection {
    r#use: Option<SetUse>,
    required: Option<SetLevel>,
    network: Option<bool>,
    processes: Option<Processes>,
    /// In MiB.
    caches: Option<u32>,
    memory: Option<Gigabytes>,
    disk: Option<Gigabytes>,
    secrets: Option<SetSecrets>,
    #[serde(default)]
    readable: Vec<PathBuf>,
    #[serde(default)]
    variables: Vec<String>,
}

impl SandboxSection {
    fn is_off(&self) -> bool {
        self.r#use == Some(SetUse::None)
    }

    /// Who switches the sandbox off requires nothing of it.
    fn required(&self) -> ConfinementLevel {
        if self.is_off() {
            ConfinementLevel::None
        } else {
            self.required.map_or(ConfinementLevel::Full, ConfinementLevel::from)
        }
    }

    fn is_requirement_set(&self) -> bool {
        self.is_off() || self.required.is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SetLevel {
    None,
    Partial,
    Full,
}

/// Whether there is a sandbox at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SetUse {
    Full,
    None,
}

/// What becomes of secrets in files of the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SetSecrets {
    /// Programs read them; in what the model sees they are hidden.
    Hide,
    /// Programs see blank files.
    Mask,
}

impl From<SetLevel> for ConfinementLevel {
    fn from(level: SetLevel) -> Self {
        match level {
            SetLevel::None => ConfinementLevel::None,
            SetLevel::Partial => ConfinementLevel::Partial,
            SetLevel::Full => ConfinementLevel::Full,
        }
    }
}

/// A number of processes. The kernel takes no limit below 301 for a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u32")]
struct Processes(u32);

impl TryFrom<u32> for Processes {
    type Error = &'static str;

    fn try_from(number: u32) -> Result<Self, Self::Error> {
        if (301..=4_000_000).contains(&number) { Ok(Self(number)) } else { Err("must be from 301 to 4000000") }
    }
}

/// A number of gibibytes; 0 means without bound.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
struct Gigabytes(f64);

impl Eq for Gigabytes {}

impl TryFrom<f64> for Gigabytes {
    type Error = &'static str;

    fn try_from(number: f64) -> Result<Self, Self::Error> {
        if number == 0.0 || (0.01..=1_000_000.0).contains(&number) {
            Ok(Self(number))
        } else {
            Err("must be 0 (no bound), or from 0.01 to 1000000 GiB")
        }
    }
}

impl Gigabytes {
    fn bytes(self) -> Option<u64> {
        (self.0 > 0.0).then_some((self.0 * GIB as f64) as u64)
    }
}

/// Returns the variables that commands have as the user has them.
fn passed_on() -> impl Iterator<Item = &'static str> {
    let folders = lists::FOLDERS.iter().chain(lists::SET_FOR_JOBS).map(|(name, _)| *name);
    lists::VARIABLES.split_ascii_whitespace().chain(folders)
}

/// Returns the variables of jobs that the user has not set.
fn set_for_jobs(variables: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let is_unset = |(name, _): &&(&str, &str)| variables.iter().all(|(set, _)| set != name);
    lists::SET_FOR_JOBS.iter().filter(is_unset).map(|(name, value)| (name.into(), value.into())).collect()
}

/// Returns the user's home; the root of the file system where none is known.
pub(crate) fn home_of(variables: &[(OsString, OsString)]) -> PathBuf {
    let home = variables.iter().find(|(key, _)| key == "HOME").map(|(_, value)| PathBuf::from(value));
    home.filter(|home| home.is_absolute()).unwrap_or_else(|| "/".into())
}

impl CommandSurroundings {
    /// Puts the lists, what the user has set and what the environment says together.
    pub(crate) fn of(section: SandboxSection, variables: &[(OsString, OsString)], secrets: &[String]) -> Self {
        let value = |name: &str| variables.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let home = home_of(variables);
        let at_home = |path: &str| path.strip_prefix("~/").map_or_else(|| path.into(), |below| home.join(below));
        // Who names the home or the whole system as a toolchain's folder would open both.
        let is_apart = |folder: &PathBuf| folder.is_absolute() && !home.starts_with(folder);
        let folders = |name: &str| value(name).into_iter().flat_map(std::env::split_paths).filter(is_apart);
        let named = || lists::FOLDERS.iter().flat_map(|(name, _)| folders(name));
        let covered: Vec<&str> = lists::SECRETS.split_ascii_whitespace().collect();
        let secrets_in_named = lists::FOLDERS.iter().flat_map(|(name, usual)| {
            let inner = covered.iter().filter_map(move |secret| secret.strip_prefix(usual)?.strip_prefix('/'));
            folders(name).flat_map(move |folder| inner.clone().map(move |inner| folder.join(inner)).collect::<Vec<_>>())
        });
        let caches: Vec<ToolCache> =
            lists::CACHES.iter().filter_map(|row| row.resolved(&|name| folders(name).next(), &at_home)).collect();
        let listed = section.readable.iter();
        let own: Vec<PathBuf> = listed.map(|path| at_home(&path.to_string_lossy())).collect();
        // Tokens and keys may lie anywhere in a toolchain's folder; the sandbox looks for them.
        let toolchains = || lists::TOOLCHAINS.split_ascii_whitespace().map(at_home);
        let keys = toolchains().chain(named());
        let keys = caches::with_caches(keys.collect(), &caches).into_iter().map(|folder| folder.join("*"));
        let secrets_in_caches = lists::CACHES.iter().flat_map(|row| row.secrets(&covered, &caches));
        let hidden =
            covered.iter().map(|secret| at_home(secret)).chain(secrets_in_named).chain(secrets_in_caches).chain(keys);
        // A file that the user lists is granted, for private registries.
        let hidden: Vec<PathBuf> = hidden.filter(|path| !own.contains(path)).collect();
        let elsewhere = lists::ELSEWHERE.iter().map(PathBuf::from);
        let readable = elsewhere.chain(toolchains()).chain(named()).chain(own);
        let listed = ListedNames::of(&section);
        let passed = variables.iter().filter(|(name, value)| {
            name.to_str().is_some_and(|name| listed.has(name)) && !holds_secret(value, secrets)
        });
        let mut environment: Vec<(OsString, OsString)> = passed.cloned().collect();
        environment.retain(|(name, _)| lists::SET.iter().all(|(set, _)| name != set));
        environment.extend(lists::SET.iter().map(|(name, value)| (name.into(), value.into())));
        environment.push(("HOME".into(), home.clone().into()));
        let masks_secrets = section.secrets == Some(SetSecrets::Mask);
        let of_git = GIT_BY_SIZE_AND_TIME.iter().filter(|_| masks_secrets);
        environment.extend(of_git.map(|(name, value)| (name.into(), value.into())));
        Self {
            environment_at_terminal: at_terminal::environment(variables, secrets, &environment),
            environment_of_agent: of_agent::environment(variables, secrets, &environment),
            is_off: section.is_off(),
            required: section.required(),
            is_requirement_set: section.is_requirement_set(),
            network: section.network.unwrap_or(false),
            masks_secrets,
            processes: section.processes.map_or(PROCESSES, |Processes(number)| number),
            memory: section.memory.map(|set| set.bytes().unwrap_or(0)),
            disk: section.disk.map_or(Some(DISK), Gigabytes::bytes),
            environment,
            job_environment: set_for_jobs(variables),
            readable: readable.collect(),
            hidden,
            home_files: home_files(&home, value("XDG_CONFIG_HOME").map(OsString::as_os_str)),
            home,
            caches,
            cache_room: u64::from(section.caches.unwrap_or(CACHES)) << 20,
        }
    }
}

/// The names of the variables that reach commands.
struct ListedNames<'l> {
    whole: HashSet<&'l str>,
    patterns: Vec<&'l str>,
}

impl<'l> ListedNames<'l> {
    fn of(section: &'l SandboxSection) -> Self {
        let set = section.variables.iter().map(String::as_str);
        // Without the closures the lists would make the compiler ask for settings that live for ever.
        let all = passed_on().map(|name| -> &'l str { name }).chain(set);
        let (patterns, mut whole): (Vec<&str>, Vec<&str>) = all.partition(|name| name.contains('*'));
        whole.extend(lists::CACHES.iter().flat_map(caches::CacheRow::variables).map(|name| -> &'l str { name }));
        Self { whole: whole.into_iter().collect(), patterns }
    }

    fn has(&self, name: &str) -> bool {
        self.whole.contains(name) || self.patterns.iter().any(|listed| is_name(listed, name))
    }
}

/// Returns whether a listed name means this one.
fn is_name(listed: &str, name: &str) -> bool {
    match listed.split_once('*') {
        None => listed == name,
        Some((begin, end)) => name.len() > begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end),
    }
}

/// Shorter values of secrets are found in too many places.
const SHORTEST_SECRET: usize = 6;

fn holds_secret(value: &OsStr, secrets: &[String]) -> bool {
    let value = value.as_bytes();
    let holds = |secret: &String| {
        secret.len() >= SHORTEST_SECRET && value.windows(secret.len()).any(|window| window == secret.as_bytes())
    };
    secrets.iter().any(holds)
}

/// Who the user is to git, and nothing else of its settings, which may hold keys and programs.
fn home_files(home: &Path, config: Option<&OsStr>) -> Vec<(PathBuf, String)> {
    let config = config.map_or_else(|| home.join(".config"), PathBuf::from);
    // The second one goes over the first, as in git.
    let files = [config.join("git/config"), home.join(".gitconfig")];
    let texts = files.iter().filter_map(|file| read_project_file(file).ok().flatten());
    let identity = git_identity::of(texts);
    identity.into_iter().map(|text| (PathBuf::from(".gitconfig"), text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(section: &str, variables: &[(&str, &str)]) -> CommandSurroundings {
        let section: SandboxSection = toml::from_str(section).expect("the section is in order");
        let variables: Vec<(OsString, OsString)> =
            variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        CommandSurroundings::of(section, &variables, &["hunter2-hunter2".to_owned()])
    }

    fn value<'s>(surroundings: &'s CommandSurroundings, name: &str) -> Option<&'s str> {
        let mut found = surroundings.environment.iter().filter(|(key, _)| key == name);
        let value = found.next()?.1.to_str();
        assert!(found.next().is_none(), "{name} is there twice");
        value
    }

    #[test]
    fn only_listed_variables_reach_a_command_and_none_with_a_secret() {
        let all = surroundings(
            "variables = [\"MY_*\"]",
            &[
                ("HOME", "/h"),
                ("PATH", "/bin"),
                ("OPENAI_API_KEY", "k"),
                ("SOMETHING", "else"),
                ("CFLAGS", "-DX=hunter2-hunter2"),
                ("TERM", "xterm"),
                ("MY_FLAG", "1"),
                ("MY_PASS", "hunter2-hunter2"),
            ],
        );
        assert_eq!(value(&all, "PATH"), Some("/bin"));
        assert_eq!(value(&all, "MY_FLAG"), Some("1"));
        assert_eq!(value(&all, "TERM"), Some("dumb"));
        assert_eq!(value(&all, "HOME"), Some("/h"));
        for gone in ["OPENAI_API_KEY", "SOMETHING", "CFLAGS", "MY_PASS"] {
            assert_eq!(value(&all, gone), None, "{gone}");
        }
    }

    #[test]
    fn variables_that_only_make_tools_quieter_or_more_patient_reach_a_command_and_those_that_load_code_do_not() {
        let quiet =
            ["PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PIP_DISABLE_PIP_VERSION_CHECK", "PIP_DEFAULT_TIMEOUT"];
        let more = ["npm_config_fund", "NPM_CONFIG_UPDATE_NOTIFIER", "NO_COLOR", "CARGO_NET_RETRY", "RUST_LOG"];
        let unlisted = [
            "PYTHONSTARTUP",
            "PYTHONHOME",
            "PYTHONBREAKPOINT",
            "PYTHONINSPECT",
            "PYTEST_ADDOPTS",
            "PIP_INDEX_URL",
            "PIP_CONFIG_FILE",
            "npm_config_node_options",
            "npm_config_script_shell",
            "NPM_CONFIG__AUTH",
            "NODE_OPTIONS",
            "RUSTC_LOG_TOKEN",
        ];
        let given: Vec<(&str, &str)> = quiet.iter().chain(&more).chain(&unlisted).map(|name| (*name, "1")).collect();
        let all = surroundings("", &given);
        quiet.iter().chain(&more).for_each(|name| assert_eq!(value(&all, name), Some("1"), "{name}"));
        unlisted.iter().for_each(|name| assert_eq!(value(&all, name), None, "{name}"));
    }

    #[test]
    fn watchers_in_jobs_poll_unless_the_user_has_set_how_they_watch() {
        let of_jobs = |all: &CommandSurroundings| -> Vec<String> {
            all.job_environment.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
        };
        let plain = surroundings("", &[("HOME", "/h")]);
        assert!(of_jobs(&plain).contains(&"CHOKIDAR_USEPOLLING".to_owned()));
        assert_eq!(value(&plain, "CHOKIDAR_USEPOLLING"), None, "commands that a call waits for are left alone");
        let own = surroundings("", &[("HOME", "/h"), ("CHOKIDAR_USEPOLLING", "0")]);
        assert!(!of_jobs(&own).contains(&"CHOKIDAR_USEPOLLING".to_owned()));
        assert_eq!(value(&own, "CHOKIDAR_USEPOLLING"), Some("0"));
        assert_eq!(of_jobs(&own).len() + 1, of_jobs(&plain).len());
    }

    #[test]
    fn toolchains_are_readable_where_they_are_and_never_the_home_itself() {
        let all = surroundings(
            "readable = [\"~/data\"]",
            &[("HOME", "/h/me"), ("CARGO_HOME", "/big/cargo"), ("GOPATH", "/h/me:/x/go"), ("JAVA_HOME", "/")],
        );
        for there in ["/h/me/.rustup", "/big/cargo", "/x/go", "/h/me/data"] {
            assert!(all.readable.contains(&there.into()), "{there}");
        }
        for not in ["/h/me", "/h", "/"] {
            assert!(!all.readable.contains(&not.into()), "{not}");
        }
        for covered in ["/h/me/.cargo/credentials.toml", "/big/cargo/credentials.toml"] {
            assert!(all.hidden.contains(&covered.into()), "{covered}");
        }
    }

    #[test]
    fn keys_in_every_toolchain_are_covered_and_a_file_that_the_user_lists_is_granted() {
        let lists = "readable = [\"~/.cargo/credentials.toml\", \"~/.nvm\"]";
        let all = surroundings(lists, &[("HOME", "/h/me"), ("PYENV_ROOT", "/big/pyenv")]);

        for folder in ["/h/me/.cargo", "/h/me/.nvm", "/h/me/.pyenv", "/big/pyenv", "/h/me/go", "/h/me/.gem"] {
            assert!(all.hidden.contains(&Path::new(folder).join("*")), "{folder}");
        }
        assert!(!all.hidden.contains(&"/h/me/.cargo/credentials.toml".into()));
        assert!(all.hidden.contains(&"/h/me/.cargo/credentials".into()));
    }

    #[test]
    fn the_full_level_is_required_and_the_network_is_off_unless_the_user_says_otherwise() {
        let plain = surroundings("", &[("HOME", "/h")]);
        assert_eq!((plain.required, plain.network, plain.processes), (ConfinementLevel::Full, false, PROCESSES));
        let set = surroundings("required = \"partial\"\nnetwork = true\nprocesses = 400", &[("HOME", "/h")]);
        assert_eq!((set.required, set.network, set.processes), (ConfinementLevel::Partial, true, 400));
        let off = surroundings("use = \"none\"", &[("HOME", "/h")]);
        assert_eq!((plain.is_off, off.is_off, off.required), (false, true, ConfinementLevel::None));
        assert!(toml::from_str::<SandboxSection>("processes = 300").is_err());
        assert_eq!((plain.memory, plain.disk), (None, Some(DISK)));
        let set = surroundings("memory = 1.5\ndisk = 0", &[("HOME", "/h")]);
        assert_eq!((set.memory, set.disk), (Some(3 * GIB / 2), None));
        assert_eq!(surroundings("memory = 0", &[("HOME", "/h")]).memory, Some(0));
        for wrong in ["memory = -1", "disk = 0.001", "memory = \"much\"", "disk = nan"] {
            assert!(toml::from_str::<SandboxSection>(wrong).is_err(), "{wrong}");
        }
        assert!(toml::from_str::<SandboxSection>("netwrok = true").is_err());
    }
}
