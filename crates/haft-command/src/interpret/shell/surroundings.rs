//! Variables that may exist although the command has not set them: those that commands are given, and those of bash.
//!
//! A command gets only the variables of a list (`haft-config/src/surroundings/lists.rs`). So the default of
//! `${X:-default}` is certain for a name that is on no list, and one of two values for the others. This module does not
//! know the names that a user adds by a setting.

use crate::patterns::fits;

/// Variables that have the same value for every command.
pub(crate) const SET: &[(&str, &str)] = &[
    ("LC_ALL", "C.UTF-8"),
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_EDITOR", "true"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("TMPDIR", "/tmp"),
    ("TAR_OPTIONS", "--no-same-owner"),
];

/// Variables that are passed on as they are; `*` stands for any text.
const PASSED: &str = "
    PATH USER LOGNAME HOME TZ CC CXX CPP LD AR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS CMAKE_GENERATOR
    CMAKE_BUILD_PARALLEL_LEVEL PKG_CONFIG_PATH LD_LIBRARY_PATH LIBRARY_PATH CPATH RUSTUP_TOOLCHAIN RUSTFLAGS RUSTC_WRAPPER
    RUST_BACKTRACE CARGO_BUILD_JOBS CARGO_INCREMENTAL CARGO_PROFILE_* GOFLAGS GO111MODULE GOOS GOARCH CGO_ENABLED NODE_ENV
    NODE_VERSION PYTHONPATH PYTHONUTF8 PYTHONHASHSEED PYENV_VERSION RBENV_VERSION ASDF_*_VERSION RUBYLIB PERL5LIB
    JAVA_TOOL_OPTIONS SOURCE_DATE_EPOCH CI NIX_PATH NIX_PROFILES NIX_SSL_CERT_FILE SSL_CERT_FILE SSL_CERT_DIR CARGO_HOME
    RUSTUP_HOME GOROOT GOPATH JAVA_HOME JDK_HOME M2_HOME GRADLE_HOME MAVEN_HOME NVM_DIR FNM_DIR VOLTA_HOME PNPM_HOME
    BUN_INSTALL DENO_INSTALL PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX POETRY_HOME PIPX_HOME RBENV_ROOT GEM_HOME SDKMAN_DIR ASDF_DIR
    ASDF_DATA_DIR MISE_DATA_DIR GHCUP_INSTALL_BASE_PREFIX OPAMROOT DOTNET_ROOT ANDROID_HOME ANDROID_SDK_ROOT FLUTTER_ROOT
    JULIA_DEPOT_PATH HOMEBREW_PREFIX HOMEBREW_CELLAR HOMEBREW_REPOSITORY LLVM_SYS_PREFIX
    PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONIOENCODING PYTHONNOUSERSITE PYTHONOPTIMIZE PYTHONFAULTHANDLER
    PYTHONDEVMODE PIP_DISABLE_PIP_VERSION_CHECK PIP_DEFAULT_TIMEOUT PIP_TIMEOUT PIP_RETRIES PIP_NO_INPUT PIP_NO_COLOR
    PIP_PROGRESS_BAR PIP_REQUIRE_VIRTUALENV PIP_PREFER_BINARY PIP_NO_CACHE_DIR PIP_ROOT_USER_ACTION UV_HTTP_TIMEOUT
    UV_NO_PROGRESS UV_LINK_MODE UV_COMPILE_BYTECODE npm_config_fund npm_config_audit npm_config_update_notifier
    npm_config_loglevel npm_config_progress NPM_CONFIG_FUND NPM_CONFIG_AUDIT NPM_CONFIG_UPDATE_NOTIFIER
    NPM_CONFIG_LOGLEVEL NPM_CONFIG_PROGRESS NODE_NO_WARNINGS NODE_DISABLE_COLORS NO_UPDATE_NOTIFIER NO_COLOR
    CARGO_TERM_COLOR CARGO_NET_RETRY CARGO_NET_OFFLINE CARGO_HTTP_TIMEOUT RUST_LOG RUST_TEST_THREADS RUST_MIN_STACK
    GOMAXPROCS GOGC GOMEMLIMIT DO_NOT_TRACK NEXT_TELEMETRY_DISABLED DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_NOLOGO";

/// Variables that people have in their environment, whether haft passes them on or not: where a setting adds some, it
/// is mostly these.
const USUAL: &str = "EDITOR VISUAL BROWSER LANG LC_* LANGUAGE SHELL DISPLAY SSH_* XDG_* HISTFILE *_proxy *_PROXY";

/// Variables that bash sets by itself.
const OF_BASH: &str = "
    BASH* COMP_* COMPREPLY COPROC COLUMNS LINES DIRSTACK EPOCHREALTIME FUNCNAME FUNCNEST GROUPS HISTCMD HOSTNAME HOSTTYPE
    MACHTYPE MAPFILE OLDPWD OPTARG OPTERR OSTYPE PIPESTATUS POSIXLY_CORRECT PPID PS1 PS2 PS4 PWD READLINE_* REPLY SHELLOPTS";

/// Returns whether a variable may be there that the text has not set.
pub(crate) fn may_hold(name: &str) -> bool {
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    // A parameter that is missing is missing.
    is_name && [PASSED, USUAL, OF_BASH].iter().any(|names| names.split_whitespace().any(|listed| fits(listed, name)))
}

/// Returns whether programs get a variable where the environment has it.
pub(crate) fn is_passed(name: &str) -> bool {
    [PASSED, USUAL].iter().any(|names| names.split_whitespace().any(|listed| fits(listed, name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTS: &str = include_str!("../../../../haft-config/src/surroundings/lists.rs");

    /// Returns the lines of a list, without its head.
    fn below(constant: &str) -> impl Iterator<Item = &'static str> {
        let head = format!("pub(super) const {constant}: ");
        let lines = LISTS.lines().skip_while(move |line| !line.starts_with(&head)).skip(1);
        lines.take_while(|line| line.starts_with(' '))
    }

    /// Returns the pairs of texts in a list.
    fn pairs(constant: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
        let pair = |line: &'static str| line.trim().strip_prefix("(\"")?.strip_suffix("\"),")?.split_once("\", \"");
        below(constant).filter_map(pair)
    }

    #[test]
    fn every_variable_that_commands_are_given_is_known() {
        let passed = below("VARIABLES").flat_map(|line| line.trim_end_matches("\";").split_whitespace());
        let folders = pairs("FOLDERS").map(|(name, _)| name);
        let given: Vec<&str> = passed.chain(folders).collect();
        assert!(given.len() > 100, "{given:?}");
        let is_unknown = |name: &&&str| !may_hold(name) && !SET.iter().any(|(set, _)| set == *name);
        let missing: Vec<&&str> = given.iter().filter(is_unknown).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn what_is_set_for_every_command_is_known_by_its_value() {
        let set: Vec<(&str, &str)> = pairs("SET").collect();
        assert_eq!(set, SET);
    }
}
