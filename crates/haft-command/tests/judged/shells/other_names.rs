//! Programs that are started by another name than their own, or with another surrounding, by what starts them.

use haft_policy::decision::Decision::{Allow, Ask, Deny};
use haft_policy::examples::decision;

/// How a program is given another name; `NAME` is the name, and the program follows.
const RENAMES: &[&str] = &[
    "exec -a NAME",
    "exec -aNAME",
    "exec -ca NAME",
    "exec -la NAME",
    "exec -cl -a NAME",
    "exec -a NAME --",
    "command exec -a NAME",
    "builtin exec -a NAME",
    "exec -l",
    "exec -cl",
    "exec -a \"$X\"",
    "exec -a \"$(echo x)\"",
    "env -a NAME",
    "env -aNAME",
    "env --argv0=NAME",
    "env --argv0 NAME",
    "env --argv NAME",
    "env --a NAME",
    "env -ia NAME",
    "env -v -a NAME",
    "env A=1 env -a NAME",
    "env -a \"$X\"",
    "ld.so --argv0 NAME",
    "/lib64/ld-linux-x86-64.so.2 --argv0 NAME",
    "ld.so --argv0=NAME",
    "ld.so --list --argv0 NAME",
    "xargs env -a NAME",
    "timeout 5 env -a NAME",
];

/// Programs that are harmless by their own name, with another one by which they are not.
const MANY_CALLS: &[(&str, &str)] = &[
    ("unxz", "/usr/bin/xzcat a.xz"),
    ("xz", "/usr/bin/xzcat a.txt"),
    ("bunzip2", "/usr/bin/bzcat a.bz2"),
    ("unzstd", "/usr/bin/zstdcat a.zst"),
    ("unlz4", "/usr/bin/lz4cat a.lz4"),
    ("tic", "/usr/bin/infocmp x"),
    ("evil.zip", "/usr/bin/unzipsfx"),
    ("vim", "/usr/bin/less a.txt"),
    ("-sh", "/bin/cat a.txt"),
];

/// Options that decide which libraries or programs are loaded; the program follows.
const SURROUNDINGS: &[&str] = &[
    "ld.so --library-path .",
    "ld.so --library-path=.",
    "ld.so --preload ./x.so",
    "ld.so --audit ./x.so",
    "ld.so --glibc-hwcaps-prepend x",
    "ld.so --inhibit-cache",
    "ld.so --inhibit-rpath x",
    "ld.so --other",
    "/lib64/ld-linux-x86-64.so.2 --library-path .",
    "/lib/ld-musl-x86_64.so.1 --library-path .",
    "/lib64/ld-linux-x86-64.so.2 --inhibit-cache --library-path .",
];

/// Variables that programs follow.
const FOLLOWED: &[&str] = &[
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LD_AUDIT",
    "PATH",
    "GIT_DIR",
    "BASH_ENV",
    "ENV",
    "GCONV_PATH",
    "HOME",
    "PYTHONPATH",
    "GIT_EXTERNAL_DIFF",
    "LESSOPEN",
    "NODE_OPTIONS",
    "SOME_VARIABLE",
    "HAFT_HOME",
];

fn not_allowed(commands: impl Iterator<Item = String>) {
    let allowed: Vec<String> = commands.filter(|command| decision(command) == Allow).collect();
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[test]
fn a_program_by_another_name_is_asked_about() {
    not_allowed(RENAMES.iter().flat_map(|rename| {
        MANY_CALLS.iter().map(move |(name, program)| format!("{} {program}", rename.replace("NAME", name)))
    }));
}

#[test]
fn a_program_by_another_name_is_refused_as_by_its_own() {
    for rename in RENAMES {
        let command = format!("{} /bin/rm -rf ~", rename.replace("NAME", "ls"));
        assert_eq!(decision(&command), Deny, "{command}");
    }
}

#[test]
fn what_decides_which_libraries_are_loaded_is_asked_about() {
    not_allowed(SURROUNDINGS.iter().map(|start| format!("{start} /bin/ls")));
    for start in SURROUNDINGS.iter().filter(|start| !start.ends_with("--other")) {
        let command = format!("{start} /bin/rm -rf ~");
        assert_eq!(decision(&command), Deny, "{command}");
    }
}

#[test]
fn a_variable_that_xargs_sets_counts_as_one_that_a_command_sets() {
    for name in FOLLOWED {
        not_allowed(
            [
                "--process-slot-var=NAME",
                "--process-slot-var NAME",
                "--process-slot=NAME",
                "--process=NAME",
                "--pr NAME",
            ]
            .iter()
            .map(|flag| format!("xargs {} ls", flag.replace("NAME", name))),
        );
    }
    assert_eq!(decision("xargs --process-slot-var=$X ls"), Ask);
    assert_eq!(decision("ls | xargs --process-slot-var=CI wc -l"), Allow);
}

#[test]
fn everyday_starts_are_allowed() {
    for command in
        ["exec ls", "exec cat a.txt", "env ls", "env -i ls", "env A=1 ls", "ls | xargs wc -l", "ld.so /bin/ls"]
    {
        assert_eq!(decision(command), Allow, "{command}");
    }
}
