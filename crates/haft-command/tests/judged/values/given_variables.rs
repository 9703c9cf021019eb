//! Variables that programs get, texts that `IFS` joins, and names that programs print.

use haft_policy::decision::Decision;
use haft_policy::examples::decision;

/// Ways in which a program gets a variable; `NAME` stands for it.
const WAYS: &[&str] = &[
    "NAME=. ls",
    "env NAME=. ls",
    "f() { ls; }; NAME=. f",
    "NAME=. command ls",
    "NAME=. eval ls",
    "NAME=. bash -c ls",
    "x=ls; NAME=. $x",
    "export NAME=.; ls",
    "declare -x NAME=.; ls",
];

/// Variables that some program follows, and that no list of dangerous names is likely to hold.
const FOLLOWED: &[&str] = &[
    "RUSTUP_HOME",
    "APT_CONFIG",
    "DOCKER_CONFIG",
    "TERMINFO_DIRS",
    "PIP_LOG",
    "CARGO_ALIAS_X",
    "JAVA_HOME",
    "JAVACMD",
    "GRADLE_OPTS",
    "DOTNET_STARTUP_HOOKS",
    "CLOUDSDK_PYTHON",
    "TMPDIR",
    "SOME_NAME_THAT_NOBODY_KNOWS",
];

fn check(wanted: Decision, commands: &[&str]) {
    for command in commands {
        assert_eq!(decision(command), wanted, "{command}");
    }
}

#[test]
fn a_variable_that_is_not_known_to_be_harmless_is_asked_about_where_a_program_gets_it() {
    for name in FOLLOWED {
        for way in WAYS {
            let command = way.replace("NAME", name);
            assert_ne!(decision(&command), Decision::Allow, "{command}");
        }
    }
    // What came from outside is given to programs whatever its value is.
    check(Decision::Ask, &["JAVA_HOME=.; java -version", "TMPDIR=src; mktemp", "read RUSTUP_HOME < a.txt; rustc -V"]);
}

#[test]
fn variables_of_everyday_use_are_not_asked_about() {
    check(
        Decision::Allow,
        &[
            "NO_COLOR=1 ls",
            "LC_ALL=C sort a.txt",
            "TZ=Europe/Berlin date",
            "RUST_BACKTRACE=1 RUST_LOG=debug ls",
            "NODE_ENV=test CI=1 ls",
            "env PYTHONUNBUFFERED=1 ls",
            "GIT_AUTHOR_NAME=x git log -n 1",
            "OUT=a.txt; cat \"$OUT\"",
            "SRC_DIR=src; ls \"$SRC_DIR\"",
            "MY_LIST=1 echo x",
            "IFS=, read -r a b < a.txt",
        ],
    );
    check(Decision::Ask, &["TZ=/etc/shadow date", "LC_ALL=../x ls", "TERM=./x ls"]);
}

#[test]
fn values_are_joined_by_what_ifs_is_then() {
    check(
        Decision::Deny,
        &[
            "IFS=; set -- .e nv; cat \"$*\"",
            "IFS=n; a=(.e v); cat \"${a[*]}\"",
            "IFS=; a=(.e nv); x=\"${a[*]}\"; cat $x",
        ],
    );
    check(
        Decision::Ask,
        &["if true; then IFS=x; fi; y=axb; cat $y", "if true; then IFS=; fi; set -- .e nv; cat \"$*\""],
    );
    check(
        Decision::Allow,
        &["IFS=,; a=(1 2); echo \"${a[*]}\"", "set -- a b; echo \"$*\"", "a=(a.txt); cat \"${a[@]}\""],
    );
}

#[test]
fn a_name_that_a_program_has_cut_is_not_the_name_from_before() {
    check(
        Decision::Ask,
        &[
            "cat $(basename a/.envx x)",
            "cat $(basename -s x a/.envx)",
            "cat $(basename -a a b)",
            "cat $(dirname -z a/b)",
            "cat $(dirname a/b /etc/shadow/x)",
            "cat $(readlink a.txt)",
            "cat $(realpath --relative-to=src a.txt)",
        ],
    );
    check(
        Decision::Allow,
        &["cat $(basename docs/a.txt)", "cd \"$(dirname a.txt)\" && cat a.txt", "cat \"$(realpath a.txt)\""],
    );
}
