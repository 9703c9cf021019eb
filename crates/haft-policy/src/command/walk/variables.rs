//! Variables that make programs run something.

use haft::effect::Danger;

use super::super::act::{Act, Deed};
use super::super::value::Value;
use super::Walk;

/// What a variable means to the programs that read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// Nothing that matters here.
    Data,
    /// Its value is run as a command.
    Script,
    /// Its value is a file that is run or loaded.
    File,
    /// Its value is a file that is written.
    Output,
    /// It loads code into every program, which no ordinary work needs.
    Injection,
    /// It says where programs or their settings are found.
    Search,
    /// It says what the shell keeps of the commands that were run.
    Trail,
    /// It belongs to haft.
    Haft,
}

const SCRIPTS: &[&str] = &[
    "PAGER",
    "GIT_PAGER",
    "MANPAGER",
    "SYSTEMD_PAGER",
    "BAT_PAGER",
    "AWS_PAGER",
    "GH_PAGER",
    "DELTA_PAGER",
    "EDITOR",
    "VISUAL",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "FCEDIT",
    "SUDO_EDITOR",
    "KUBE_EDITOR",
    "BROWSER",
    "GIT_SSH_COMMAND",
    "GIT_SSH",
    "GIT_PROXY_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "RSYNC_RSH",
    "CVS_RSH",
    "LESSOPEN",
    "LESSCLOSE",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC",
    "CARGO_BUILD_RUSTC",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTDOC",
    "CMAKE_C_COMPILER_LAUNCHER",
    "CMAKE_CXX_COMPILER_LAUNCHER",
    "MAKE",
    "COMSPEC",
    "TEXEDIT",
];
const FILES: &[&str] = &["PYTHONSTARTUP", "BASH_ENV", "ENV", "ZDOTDIR", "INPUTRC", "PERL5DB"];
/// Their values name files that are written; so do all that begin with `GIT_TRACE`.
const OUTPUTS: &[&str] = &["LD_DEBUG_OUTPUT", "LD_PROFILE_OUTPUT", "SSLKEYLOGFILE"];
const INJECTIONS: &[&str] = &["LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "GCONV_PATH", "SHELLOPTS", "BASHOPTS"];
const SEARCHES: &[&str] = &[
    "PATH",
    "HOME",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_PARAMETERS",
    "PERL5OPT",
    "PERL5LIB",
    "RUBYOPT",
    "RUBYLIB",
    "NODE_PATH",
    "PYTHONHOME",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "TAR_OPTIONS",
    "GREP_OPTIONS",
    "RSYNC_OPTIONS",
    "WGETRC",
    "CURL_HOME",
    "http_proxy",
    "https_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "all_proxy",
    "FTP_PROXY",
    "ftp_proxy",
    "SSH_AUTH_SOCK",
    "DOCKER_HOST",
    "IFS",
    "GLOBIGNORE",
    "CDPATH",
    "TERMINFO",
    "GNUPGHOME",
    "KUBECONFIG",
    "NODE_OPTIONS",
    "PYTHONPATH",
    "CARGO_HOME",
    "OPENSSL_CONF",
    "OPENSSL_MODULES",
    "OPENSSL_ENGINES",
    "RIPGREP_CONFIG_PATH",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GOFLAGS",
    "RUSTUP_TOOLCHAIN",
    "LESS",
    "LESSKEYIN",
    "LESSKEY",
    "MANPATH",
    "MANOPT",
];

const TRAILS: &[&str] = &["HISTFILE", "HISTSIZE", "HISTFILESIZE", "HISTCONTROL", "HISTIGNORE"];

fn meaning(name: &str) -> Meaning {
    match name {
        _ if TRAILS.contains(&name) => Meaning::Trail,
        _ if name.starts_with("HAFT_") => Meaning::Haft,
        _ if SCRIPTS.contains(&name) => Meaning::Script,
        _ if name.starts_with("CARGO_TARGET_") && (name.ends_with("_RUNNER") || name.ends_with("_LINKER")) => {
            Meaning::Script
        }
        _ if name.starts_with("GIT_CONFIG_VALUE_") => Meaning::Script,
        _ if OUTPUTS.contains(&name) || name.starts_with("GIT_TRACE") => Meaning::Output,
        _ if FILES.contains(&name) => Meaning::File,
        _ if INJECTIONS.contains(&name) || name.starts_with("BASH_FUNC_") => Meaning::Injection,
        _ if SEARCHES.contains(&name) || name.starts_with("GIT_CONFIG_") => Meaning::Search,
        _ => Meaning::Data,
    }
}

/// Returns whether programs do something else because of a variable.
pub(super) fn matters(name: &str) -> bool {
    meaning(name) != Meaning::Data
}

/// Parts of names that say that a variable holds a secret.
const SECRET_PARTS: &[&str] = &[
    "SECRET",
    "TOKEN",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "API_KEY",
    "APIKEY",
    "PRIVATE_KEY",
    "ACCESS_KEY",
];

/// Returns whether a variable holds a secret by its name.
pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.to_uppercase();
    SECRET_PARTS.iter().any(|part| name.contains(part)) || name.ends_with("_KEY") || name == "PGPASS"
}

impl Walk<'_> {
    /// Tells what it means that a program gets a variable with one of these values.
    pub(super) fn environment(&mut self, name: &str, values: &[Value]) {
        match meaning(name) {
            Meaning::Data => {}
            Meaning::Script => self.scripts_in(name, values),
            Meaning::File => {
                values.iter().filter(|value| !value.is_empty()).for_each(|value| {
                    self.emit(Act::Path(Deed::Run, value.clone()));
                    self.emit(Act::ShellState(format!("let programs run what {name} names")));
                });
            }
            Meaning::Output => {
                let files = values.iter().filter(|value| !is_switch(value));
                files.for_each(|value| self.emit(Act::Path(Deed::Replace, value.clone())));
            }
            Meaning::Injection if values.iter().all(Value::is_empty) => {}
            Meaning::Injection => {
                self.emit(Act::Danger(Danger::HiddenCode, format!("load code into every program by {name}")));
            }
            Meaning::Search if is_harmless(name, values) => {}
            Meaning::Search => {
                self.emit(Act::ShellState(format!("change where programs look, by {name}")));
                if name == "GIT_WORK_TREE" {
                    values.iter().for_each(|value| self.emit(Act::Path(Deed::Replace, value.clone())));
                }
            }
            Meaning::Trail => self.emit(Act::ShellState(format!("change what the shell keeps of commands, by {name}"))),
            Meaning::Haft => self.emit(Act::Danger(Danger::Haft, format!("change how haft works, by {name}"))),
        }
    }

    fn scripts_in(&mut self, name: &str, values: &[Value]) {
        for value in values.iter().filter(|value| !value.is_empty()) {
            if !is_usual_viewer(value) {
                self.emit(Act::Code(format!("run {} where a program is named by {name}", value.shown())));
            }
            // LESSOPEN begins with a bar, and an alias of git with an exclamation mark.
            let bare = ["|", "!"].iter().find_map(|mark| value.strip_prefix(mark));
            let value = bare.unwrap_or_else(|| value.clone());
            self.deeper(|walk| walk.run_new_shell(&value, &[], None));
        }
    }
}

/// Returns whether a command is one of those that people name to look at text.
pub(in crate::command) fn is_usual_viewer(command: &Value) -> bool {
    let Some(text) = command.known() else { return false };
    let mut words = text.split_whitespace();
    let is_viewer =
        matches!(words.next(), None | Some("cat" | "less" | "more" | "most" | "delta" | "bat" | "true" | ":" | "head"));
    is_viewer
        && words.all(|word| {
            word.starts_with('-') && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-=".contains(&byte))
        })
}

/// Paths that begin with the old value and add only folders of the system change nothing that matters.
fn is_harmless(name: &str, values: &[Value]) -> bool {
    let is_plain_proxy = name.to_lowercase().ends_with("proxy") && values.iter().all(Value::is_empty);
    let is_null = |value: &Value| matches!(value.known(), Some("" | "/dev/null"));
    let is_config_off = name.starts_with("GIT_CONFIG_") && values.iter().all(is_null);
    let is_blank_ifs = name == "IFS" && values.iter().all(|value| value.known().is_some());
    let is_set_as_usual = values.iter().all(|value| value.known().is_some_and(|text| is_usual(name, text)));
    is_plain_proxy || is_config_off || is_blank_ifs || is_set_as_usual
}

/// Returns whether a value turns something on or off, where another one would name a file.
fn is_switch(value: &Value) -> bool {
    matches!(value.known(), Some("" | "0" | "1" | "2" | "true" | "false"))
}

/// Flags of node that load nothing and write nothing.
const FLAGS_OF_NODE: &[&str] = &[
    "--max-old-space-size=",
    "--max-semi-space-size=",
    "--max-http-header-size=",
    "--no-warnings",
    "--no-deprecation",
    "--enable-source-maps",
    "--experimental-vm-modules",
    "--openssl-legacy-provider",
    "--stack-trace-limit=",
    "--trace-warnings",
    "--trace-deprecation",
    "--throw-deprecation",
    "--unhandled-rejections=",
    "--dns-result-order=",
];
/// Flags of go that run nothing and take no file.
const FLAGS_OF_GO: &[&str] =
    &["-mod=", "-race", "-v", "-count=", "-tags=", "-trimpath", "-buildvcs=", "-p=", "-short", "-timeout="];

/// Returns whether a variable that may change what is loaded has one of the values that people give it every day.
fn is_usual(name: &str, value: &str) -> bool {
    let all_begin_with_one_of = |flags: &[&str]| {
        value.split_whitespace().all(|word| {
            flags.iter().any(|flag| match flag.ends_with('=') {
                true => word.starts_with(flag),
                false => word == *flag || word.starts_with(&format!("{flag}=")),
            })
        })
    };
    match name {
        "NODE_OPTIONS" => all_begin_with_one_of(FLAGS_OF_NODE),
        "GOFLAGS" => all_begin_with_one_of(FLAGS_OF_GO),
        "RUSTUP_TOOLCHAIN" => !value.contains('/'),
        // `o` and `O` write a file, `k` reads one, `t`, `T` and `p` take more, and `+` runs a command.
        "LESS" => value.chars().all(|letter| letter == '-' || "aeEfFgGiIJKmMnNqQrRsSuwWXx 0123456789".contains(letter)),
        "OPENSSL_CONF" | "RIPGREP_CONFIG_PATH" => matches!(value, "" | "/dev/null"),
        _ => false,
    }
}
