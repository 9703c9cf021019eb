//! Variables before a program that is allowed: some let it write, load or run something else.

use haft_policy::decision::Decision;
use haft_policy::examples::decision;

#[test]
fn a_variable_that_names_a_file_to_write_is_judged_as_that_write() {
    for name in
        ["GIT_TRACE", "GIT_TRACE_SETUP", "GIT_TRACE2", "GIT_TRACE2_EVENT", "LD_DEBUG_OUTPUT", "LD_PROFILE_OUTPUT"]
    {
        for before in ["", "env ", "env -i A=1 "] {
            let denied = format!("{before}{name}=/home/somebody/.bashrc git status");
            assert_eq!(decision(&denied), Decision::Deny, "{denied}");
            let asked = format!("{before}{name}=README.md git status");
            assert_eq!(decision(&asked), Decision::Ask, "{asked}");
        }
        for value in ["", "0", "1", "2", "true", "false"] {
            let harmless = format!("{name}={value} git status");
            assert_eq!(decision(&harmless), Decision::Allow, "{harmless}");
        }
    }
}

#[test]
fn a_variable_that_changes_what_is_loaded_is_asked_about() {
    let variables = [
        "NODE_OPTIONS='--require ./x.js'",
        "NODE_OPTIONS='--max-old-space-size=4096 -r ./x.js'",
        "NODE_OPTIONS=--import=./x.mjs",
        "NODE_OPTIONS=--experimental-loader=./x.mjs",
        "NODE_OPTIONS=$x",
        "PYTHONPATH=/tmp/x",
        "CARGO_HOME=/tmp/x",
        "CARGO_BUILD_RUSTC=/tmp/x",
        "CARGO_BUILD_RUSTC_WRAPPER=/tmp/x",
        "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER=/tmp/x",
        "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=/tmp/x",
        "OPENSSL_CONF=/tmp/x",
        "RIPGREP_CONFIG_PATH=/tmp/x",
        "GIT_INDEX_FILE=/tmp/x",
        "GIT_OBJECT_DIRECTORY=/tmp/x",
        "GOFLAGS=-toolexec=/tmp/x",
        "RUSTUP_TOOLCHAIN=/tmp/x",
        "LESS=+!ls",
        "LESS=-oREADME.md",
        "LESS='-R --log-file=README.md'",
        "MANPATH=/tmp/x",
        "MANOPT='-P /tmp/x'",
    ];
    for variable in variables {
        let command = format!("{variable} ls");
        assert_ne!(decision(&command), Decision::Allow, "{command}");
    }
}

#[test]
fn a_variable_whose_value_is_run_is_judged_as_that_command() {
    let variables = [
        "CARGO_BUILD_RUSTC_WRAPPER='rm -rf ~'",
        "CARGO_BUILD_RUSTDOC='rm -rf ~'",
        "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER='rm -rf ~'",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!rm -rf ~'",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0='rm -rf ~'",
        "env 'BASH_FUNC_ls%%=() { rm -rf ~; }'",
        "GIT_WORK_TREE=/",
        "GIT_WORK_TREE=~",
    ];
    for variable in variables {
        let command = format!("{variable} git status");
        assert_eq!(decision(&command), Decision::Deny, "{command}");
    }
}

#[test]
fn everyday_variables_change_nothing() {
    let variables = [
        "GIT_PAGER=cat",
        "GIT_TERMINAL_PROMPT=0",
        "GIT_OPTIONAL_LOCKS=0",
        "NODE_ENV=test",
        "NODE_OPTIONS=--max-old-space-size=4096",
        "NODE_OPTIONS='--no-warnings --enable-source-maps'",
        "PYTHONDONTWRITEBYTECODE=1",
        "PYTHONUNBUFFERED=1",
        "CARGO_TERM_COLOR=never",
        "CARGO_INCREMENTAL=0",
        "CARGO_PROFILE_DEV_DEBUG=0",
        "RUST_BACKTRACE=1",
        "RUST_LOG=debug",
        "RUSTUP_TOOLCHAIN=nightly",
        "GOFLAGS=-mod=mod",
        "LESS=-FRX",
        "LESS=R",
        "CI=1",
        "LC_ALL=C",
        "TZ=UTC",
        "FORCE_COLOR=1",
        "NO_COLOR=1",
    ];
    for variable in variables {
        let command = format!("{variable} git status");
        assert_eq!(decision(&command), Decision::Allow, "{command}");
    }
}
