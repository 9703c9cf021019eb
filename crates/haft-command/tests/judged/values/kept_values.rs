//! Assignments and commands that bash refuses, ignores or undoes: the value from before stays possible.

use haft_policy::decision::Decision;
use haft_policy::examples::decision;

/// Commands that would be harmless if bash did what they say.
const REFUSED: &[&str] = &[
    // Variables that bash keeps itself.
    "FUNCNAME=ls; $FUNCNAME c",
    "BASH_SOURCE=a.txt; cat $BASH_SOURCE",
    "BASH_REMATCH=a.txt; cat $BASH_REMATCH",
    "BASH_COMMAND=a.txt; cat $BASH_COMMAND",
    "PIPESTATUS=a.txt; cat $PIPESTATUS",
    "GROUPS=a.txt; cat $GROUPS",
    "DIRSTACK=a.txt; cat $DIRSTACK",
    "COMP_LINE=a.txt; cat $COMP_LINE",
    "unset RANDOM; RANDOM=/etc/shadow; cat $RANDOM",
    "unset SECONDS; SECONDS=.env; cat $SECONDS",
    "OPTIND=.env; cat $OPTIND",
    "BASH_ARGV0=./evil.sh; $0 c",
    // What refuses assignments.
    "readonly x=./evil.sh; x=ls; $x c",
    "declare -r x=./evil.sh; x=ls; $x c",
    "x=./evil.sh; readonly x; x=ls; $x c",
    "readonly x=./evil.sh; for x in ls; do $x c; done",
    "readonly x=./evil.sh; read x <<< ls; $x c",
    "readonly x=./evil.sh; f() { local x=ls; $x c; }; f",
    "readonly x=./evil.sh; unset x; ${x:-ls} c",
    "x=./evil.sh; local x=ls; $x c",
    "x=./evil.sh; declare -p x=ls; $x c",
    "x=./evil.sh; declare -f x=ls; $x c",
    "x=./evil.sh; declare -F x=ls; $x c",
    "x=./evil.sh; declare -Z x=ls; $x c",
    "x=./evil.sh; readonly -f x=ls; $x c",
    "x=./evil.sh; export -Z x=ls; $x c",
    "x=./evil.sh; printf -v x; ${x:-ls} c",
    "x=./evil.sh; read -Z x <<< ls; $x c",
    "x=./evil.sh; read -t 0 x <<< ls; $x c",
    "x=./evil.sh; read -u 9 x <<< ls; $x c",
    "x=./evil.sh; unset -f x; ${x:-ls} c",
    "x=./evil.sh; unset -Z x; ${x:-ls} c",
    "ls() { ./evil.sh; }; ls=1; unset ls; ls",
    "ls() { ./evil.sh; }; unset -v ls; ls",
    "set -- ./evil.sh; set -Z ls; $1 c",
    "set -- ./evil.sh; set -o nonsense ls; $1 c",
    // Other variables of the same name.
    "f() { local x=./evil.sh; declare -g x=ls; $x c; }; f",
    "f() { local x=1; declare -g x=./evil.sh; }; x=ls; f; $x c",
    "x=./evil.sh; f() { local x=ls; g; $x c; }; g() { unset x; }; f",
    // Arrays without a first field, and letters that change.
    "x[1]=cat; $x ./evil.sh c",
    "x=([1]=ls); $x ./evil.sh c",
    "x=([1]=ls); ${x%z} ./evil.sh c",
    "declare -l x; x=.ENV; cat $x",
    "declare -l x=.ENV; cat $x",
    // POSIX mode.
    "set -o posix; x=cat; x=ls :; $x a.txt",
    "shopt -s -o posix; x=cat; x=ls :; $x a.txt",
    "POSIXLY_CORRECT=1; x=cat; x=ls :; $x a.txt",
    "export POSIXLY_CORRECT=1; ls",
    "set +B; ls {a,b}",
];

/// Redirections that fail.
const FAILING: &[&str] =
    &[">&9", "<&7", "3>&8-", "2>&5", "2000000</dev/null", "{fd}<&7", "< missing.txt", ">&\"$y\"", "{y}>&-"];

/// Commands that change the shell, unless their redirection fails; each is followed by `$x c`.
const CHANGING: &[&str] = &[
    "x=ls REDIRECTION",
    "eval x=ls REDIRECTION",
    "read x <<< ls REDIRECTION",
    "printf -v x ls REDIRECTION",
    "declare x=ls REDIRECTION",
    "{ x=ls; } REDIRECTION",
    "for x in ls; do :; done REDIRECTION",
    "while x=ls; do break; done REDIRECTION",
    "if x=ls; then :; fi REDIRECTION",
    "f() { x=ls; }; f REDIRECTION",
    "f() { x=ls; } REDIRECTION; f",
    "mapfile -t x <<< ls REDIRECTION",
];

#[test]
fn what_bash_refuses_ignores_or_undoes_is_not_believed() {
    for command in REFUSED {
        assert_ne!(decision(command), Decision::Allow, "{command}");
    }
}

#[test]
fn a_command_whose_redirection_fails_has_not_run() {
    for redirection in FAILING {
        for change in CHANGING {
            let command = format!("x=./evil.sh; {}; $x c", change.replace("REDIRECTION", redirection));
            assert_ne!(decision(&command), Decision::Allow, "{command}");
        }
        let command = format!("set -- ./evil.sh; set -- ls {redirection}; $1 c");
        assert_ne!(decision(&command), Decision::Allow, "{command}");
        let command = format!("exit {redirection} && ls || ./evil.sh");
        assert_ne!(decision(&command), Decision::Allow, "{command}");
    }
}

#[test]
fn a_descriptor_that_was_closed_is_none() {
    for command in [
        "exec 1>&-; x=./evil.sh; eval x=ls >&1; $x c",
        "x=./evil.sh; { eval x=ls <&0; $x c; } <&-",
        "x=./evil.sh; eval x=ls >&- 2>&1; $x c",
        "exec 0<&3-; x=./evil.sh; eval x=ls <&0; $x c",
    ] {
        assert_ne!(decision(command), Decision::Allow, "{command}");
    }
}

#[test]
fn everyday_scripts_keep_their_values() {
    for command in [
        "set -euo pipefail; ls",
        "set -- a.txt; cat \"$1\"",
        "SECONDS=0; ls; echo $SECONDS",
        "OPTIND=1; while getopts ab opt; do echo $opt; done",
        "RANDOM=42; echo $RANDOM",
        "readonly DIR=src; ls \"$DIR\"",
        "declare -r FILE=a.txt; cat \"$FILE\"",
        "f() { local x=a.txt; cat \"$x\"; }; f",
        "f() { local x; x=a.txt; cat \"$x\"; }; f",
        "x=(a.txt notes.txt); cat \"${x[0]}\" \"${x[@]}\"",
        "declare -A m=([a]=1); echo \"${m[a]}\"",
        "x=a.txt; echo start >&2; cat $x 2>&1",
        "while read -r line; do echo \"$line\"; done < a.txt 2>&1",
        "exec 3< a.txt; read -r line <&3; echo \"$line\"; exec 3<&-",
        "x=a.txt; unset y; cat $x",
    ] {
        assert_eq!(decision(command), Decision::Allow, "{command}");
    }
}
