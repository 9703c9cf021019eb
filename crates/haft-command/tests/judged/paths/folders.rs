//! A `cd` may fail: then the commands behind it run where the shell was.

use haft_policy::decision::Decision;
use haft_policy::examples::{decision, decision_beside};

/// A secret in the workspace, a file that is no folder, and a folder.
const PLANTED: &[&str] = &[".env", "afile", "sub/x.txt"];

/// Moves that fail, or may. Each leaves the shell in the workspace, where `.env` is.
const FAILING: &[&str] = &[
    "cd nope; ",
    "cd nope\n",
    "cd afile; ",
    "cd afile/x; ",
    "cd sub/x.txt; ",
    "cd -Z sub; ",
    "cd --nope sub; ",
    "cd sub docs; ",
    "cd sub < nope; ",
    "cd sub > nope/x; ",
    "cd sub 2> /nope/x; ",
    "cd sub < nope && true; ",
    "cd sub < nope && cd deep; ",
    "cd sub < nope || true; ",
    "{ cd sub; } < nope; ",
    "if true; then cd sub; fi < nope; ",
    "pushd nope; ",
    "pushd nope > /dev/null; ",
    "pushd -n sub; ",
    "pushd sub; popd; ",
    "pushd nope; pushd nope2; ",
    "cd sub; pushd nope; { cd ~1; } || cd \"$OLDPWD\"; ",
    "builtin cd nope; ",
    "command cd nope; ",
    "command -p cd nope; ",
    "\\cd nope; ",
    "'cd' nope; ",
    "! cd nope; ",
    "! cd nope && ",
    "! cd nope && true; ",
    "cd nope || true; ",
    "cd nope || echo no; ",
    "cd nope || ",
    "cd nope || exit 1 2; ",
    "cd nope || return; ",
    "cd nope || break; ",
    "cd nope || continue; ",
    "cd nope || (exit 1); ",
    "cd nope || exit < nope; ",
    "cd nope || { false && exit; }; ",
    "cd nope || { exit & }; ",
    "exit() { :; }; cd nope || exit; ",
    "cd sub && false; cd ../nope; cd ..; ",
    "cd sub || true; cd -; ",
    "false && cd sub; ",
    "true || cd sub; ",
    "cd nope && cd sub; ",
    "cd nope && true; ",
    "cd nope & ",
    "cd sub & ",
    "cd nope | true; ",
    "cd sub | true; ",
    "(cd sub); ",
    "$(cd sub); ",
    "x=$(cd sub); ",
    "eval 'cd nope'; ",
    "eval cd nope; ",
    "f() { cd nope; }; f; ",
    "f() { cd nope; }; f && true; ",
    "f() { cd nope || return; }; f; ",
    "f() { cd nope || return 0; }; f && ",
    "for i in 1 2; do cd nope; done; ",
    "for i in 1 2; do cd nope || break; done; ",
    "for i in 1 2; do cd nope || continue; done; ",
    "while cd nope; do break; done; ",
    "if cd nope; then true; fi; ",
    "if cd nope; then :; else ",
    "case x in x) cd nope;; esac; ",
    "set -e; set +e; cd nope; ",
    "set -e; cd nope || true; ",
    "set -e; ! cd nope; ",
    "set -e; cd nope && true; ",
    "true && set -e; cd nope; ",
    "f() { cd nope; }; set -e; f || true; ",
    "CDPATH=docs cd nope; ",
    "CDPATH=nope; cd sub2; ",
    "rm -r sub; cd sub; ",
    "rm -r docs; cd docs; ",
    "mv sub other; cd sub; ",
    "chmod 000 sub; cd sub; ",
    "mkdir made; rmdir made; cd made; ",
    "mkdir a/b/c; cd a/b/c; ",
    "mkdir -p afile/x; cd afile/x; ",
    "false && mkdir made; cd made; ",
    "mkdir made < nope; cd made; ",
    "mkdir --nope made; cd made; ",
    "(mkdir made; rmdir made); cd made; ",
    "unset HOME; cd; ",
    "HOME=nope; cd; ",
    "cd $x; ",
    "cd \"$(cat a.txt)\"; ",
    "cd ~nobody-is-called-so; ",
    "time cd nope; ",
    "cd nope; cd nope; cd nope; ",
    "cd '' ; ",
    "cd .; ",
];

/// What shows the secret in the workspace and is harmless in a folder without one.
const SHOWS: &[&str] = &["cat .*", "cat .e*", "grep x .*", "head -5 .e?v"];

#[test]
fn what_follows_a_move_that_fails_runs_where_the_shell_was() {
    let mut allowed = Vec::new();
    for moved in FAILING {
        for shown in SHOWS {
            let end = if moved.ends_with("else ") { "; fi" } else { "" };
            let command = format!("{moved}{shown}{end}");
            if decision_beside(PLANTED, &command) == Decision::Allow {
                allowed.push(command);
            }
        }
    }
    assert!(allowed.is_empty(), "{} are allowed: {allowed:#?}", allowed.len());
}

#[test]
fn what_follows_a_move_that_works_runs_in_the_new_folder() {
    for command in [
        "cd sub; cat .*",
        "cd sub && cat .*",
        "cd ./sub/; cat .*",
        "cd -P sub; cat .*",
        "cd -- sub; cat .*",
        "cd docs/../sub; cat .*",
        "cd sub; cd ../docs; cat .*",
        "cd nope && cat .*",
        "cd nope && ls && cat .*",
        "cd nope && { ls; cat .*; }",
        "(cd nope && cat .*)",
        "cd nope || exit; cat .*",
        "cd nope || exit 1; cat .*",
        "cd nope || { echo failed >&2; exit 1; }; cat .*",
        "f() { cd nope || return; cat .*; }; f",
        "for d in nope; do cd ~/work/$d || continue; cat .*; done",
        "for d in nope; do cd ~/work/$d || break; cat .*; done",
        "set -e; cd nope; cat .*",
        "set -euo pipefail; cd nope; cat .*",
        "set -o errexit\ncd nope\ncat .*",
        "mkdir -p made && cd made && cat .*",
        "mkdir -p made; cd made; cat .*",
        "mkdir -p a/b/c; cd a/b; cat .*",
        "mkdir made; cd made; cat .*",
        "mkdir -p made && cd made || exit; cat .*",
        "pushd sub; cat .*",
        "pushd sub > /dev/null; cat .*",
        "pushd docs; popd; cd sub; cat .*",
        "cd sub 2>/dev/null; cat .*",
        "cd sub 2>&1; cat .*",
        "! cd nope || cat .*",
        "cd sub || true; cat .*",
        "builtin cd sub; cat .*",
        "command cd sub && cat .*",
    ] {
        assert_eq!(decision_beside(PLANTED, command), Decision::Allow, "{command}");
    }
}

#[test]
fn protected_names_are_protected_behind_a_move_that_fails() {
    for command in [
        "cd .git; cd ../nope; cp a.txt hooks/pre-commit",
        "cd .git; cd nope; echo x > config",
        "cd .git || true; cd nope; echo x > config",
        "cd .git/hooks; pushd nope; cp a.txt pre-commit",
        "cd nope; rm -rf .git",
        "cd nope; cp a.txt .git/hooks/pre-commit",
        "cd ~; cd nope; rm -rf .ssh",
        "cd /; cd nope; rm -rf etc",
    ] {
        assert_ne!(decision(command), Decision::Allow, "{command}");
    }
}

#[test]
fn a_command_that_does_not_run_for_a_redirection_sets_nothing() {
    for command in [
        "x=.env; read x < nope; cat \"$x\"",
        "x=.env; { x=a.txt; } < nope; cat \"$x\"",
        "x=.env; x=a.txt > nope/y; cat $x",
    ] {
        assert_ne!(decision(command), Decision::Allow, "{command}");
    }
}

#[test]
fn an_assignment_to_the_stack_of_folders_makes_it_unknown() {
    let assigned = [
        "DIRSTACK[1]=/etc",
        "DIRSTACK=(a /etc)",
        "DIRSTACK+=(/etc)",
        "declare DIRSTACK[1]=/etc",
        "declare -n d=DIRSTACK; d[1]=/etc",
        "printf -v 'DIRSTACK[1]' /etc",
        "read DIRSTACK[1] <<< /etc",
        "read -a DIRSTACK <<< 'a /etc'",
        "mapfile -t DIRSTACK < a.txt",
        "for DIRSTACK[1] in /etc; do :; done",
        "for DIRSTACK in /etc; do :; done",
        ": ${DIRSTACK[1]:=/etc}",
        "((DIRSTACK[1]=5))",
        "dirstack=(/etc)",
    ];
    for assignment in assigned {
        for use_of_stack in [
            "popd; cat shadow",
            "cat ~1/shadow",
            "cat ~+1/shadow",
            "cat ~-0/shadow",
            "pushd; cat x",
            "popd; git status",
            "pushd +1; cat x",
        ] {
            let command = format!("pushd src; {assignment}; {use_of_stack}");
            assert_ne!(decision(&command), Decision::Allow, "{command}");
        }
    }
    for command in ["dirstack=(/etc); popd; cat shadow", "dirstack=(/etc); cat ~1/shadow"] {
        assert_ne!(decision(command), Decision::Allow, "{command}");
    }
    assert_eq!(decision("pushd src; DIRSTACK[1]=~; popd; rm -rf *"), Decision::Deny);
    assert_eq!(decision("pushd src; DIRSTACK[1]=$PWD/../.git/hooks; popd; echo x > pre-commit"), Decision::Deny);
    assert_eq!(decision("pushd src; popd; cat a.txt"), Decision::Allow);
    assert_eq!(decision("pushd src; cat ~1/a.txt"), Decision::Allow);
}
