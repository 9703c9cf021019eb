//! Ways in which bash assigns a variable: each is judged as `NAME=value` is.

use haft_policy::decision::Decision;
use haft_policy::examples::decision;

/// Ways to give a variable a value, or to take its value away; the second word stands for the name.
const WAYS: &[&str] = &[
    "NAME=evil; ls",
    "NAME=evil ls",
    "NAME+=evil; ls",
    "NAME[0]=evil; ls",
    "NAME=(evil); ls",
    "read NAME < a.txt; ls",
    "read -r x NAME <<< 'a evil'; ls",
    "read -a NAME < a.txt; ls",
    "read -raNAME < a.txt; ls",
    "read 'NAME[0]' <<< evil; ls",
    "while read -r NAME; do ls; done < a.txt",
    "cat a.txt | { read NAME; ls; }",
    "mapfile NAME < a.txt; ls",
    "mapfile -t -n 1 NAME < a.txt; ls",
    "readarray -t NAME < <(echo evil); ls",
    "for NAME in evil; do ls; done",
    "set -- evil; for NAME; do ls; done",
    "select NAME in evil; do ls; done",
    "printf -v NAME evil; ls",
    "printf -vNAME evil; ls",
    "printf -v 'NAME[0]' evil; ls",
    "printf -v NAME -- evil; ls",
    "printf 'ab%n' NAME; ls",
    "declare NAME=evil; ls",
    "typeset NAME=evil; ls",
    "declare -g NAME=evil; ls",
    "declare -x NAME=evil; ls",
    "export NAME=evil; ls",
    "readonly NAME=evil; ls",
    "builtin declare NAME=evil; ls",
    "command export NAME=evil; ls",
    "f() { local NAME=evil; ls; }; f",
    "declare -n r=NAME; r=evil; ls",
    "declare -n r=NAME; r=evil ls",
    "f() { local -n r=NAME; r=evil; ls; }; f",
    "declare -n r; r=NAME; r=evil; ls",
    "r=NAME; declare -n r; r=evil; ls",
    "declare -n r=x; for r in NAME; do r=evil; done; ls",
    "declare -n r=NAME; read r < a.txt; ls",
    "x=evil; declare -n NAME=x; ls",
    "getopts ab NAME -a; ls",
    "while getopts ab NAME; do ls; done",
    "true & wait -n -p NAME; ls",
    "wait -np NAME; ls",
    "coproc NAME { cat; }; ls",
    "exec {NAME}< a.txt; ls",
    "ls {NAME}< a.txt",
    ": {NAME}<&0; ls",
    "eval NAME=evil; ls",
    "x=NAME; eval \"$x=evil\"; ls",
    "x=NAME; declare \"$x=evil\"; ls",
    "x=NAME; printf -v \"$x\" evil; ls",
    "x=NAME; read \"$x\" <<< evil; ls",
    "env NAME=evil ls",
    "set -k; ls NAME=evil",
    "set -o keyword; ls NAME=evil",
    "bash -k -c 'ls NAME=evil'",
    "bash -o keyword -c 'ls NAME=evil'",
];

/// Ways that give a number, which is a folder or a file like any other.
const NUMBERS: &[&str] = &[
    "((NAME=1)); ls",
    "((NAME++)); ls",
    "(( x = NAME = 1 )); ls",
    "let NAME=1; ls",
    "let x=1 'NAME = 2'; ls",
    ": $((NAME=1)); ls",
    "echo $[NAME=1]; ls",
    "x=$((NAME=1)) ls",
    "for ((NAME=1; NAME<2; NAME++)); do ls; done",
    "a[NAME=1]=x; ls",
    "a=([NAME=1]=x); ls",
    "echo ${a[NAME=1]}; ls",
    "echo ${a:NAME=1}; ls",
    "[[ NAME=1 -eq 1 ]]; ls",
    "[[ -v a[NAME=1] ]]; ls",
    "declare -i y; read y <<< NAME=1; ls",
    "declare -i y; for y in NAME=1; do ls; done",
    "x='NAME=1'; ((x)); ls",
    "x='NAME=1'; echo $((x)); ls",
    "declare -i x='NAME=1'; ls",
    "read 'a[NAME=1]' <<< x; ls",
    "unset 'a[NAME=1]'; ls",
];

/// Ways that take the value away.
const REMOVALS: &[&str] = &[
    "unset NAME; ls",
    "unset -v NAME; ls",
    "unset 'NAME[0]'; ls",
    "declare -n r=NAME; unset r; ls",
    "f() { local NAME; ls; }; f",
    "f() { declare NAME; ls; }; f",
];

#[test]
fn every_way_to_assign_a_variable_that_programs_follow_is_asked_about() {
    for name in ["PATH", "BASH_ENV", "LD_LIBRARY_PATH", "GIT_DIR", "EDITOR", "PYTHONPATH", "PERL5LIB", "HOME"] {
        for way in WAYS {
            let command = way.replace("NAME", name);
            assert_ne!(decision(&command), Decision::Allow, "{command}");
        }
    }
}

#[test]
fn every_way_to_make_it_a_number_or_to_take_it_away_is_asked_about() {
    for name in ["PATH", "LD_LIBRARY_PATH", "GIT_DIR"] {
        for way in NUMBERS.iter().chain(REMOVALS) {
            let command = way.replace("NAME", name);
            assert_ne!(decision(&command), Decision::Allow, "{command}");
        }
    }
}

#[test]
fn a_default_that_is_assigned_is_judged_as_an_assignment() {
    for name in ["PATH", "EDITOR", "BASH_ENV", "PYTHONPATH"] {
        for way in [": ${NAME:=evil}; ls", ": \"${NAME=evil}\"; ls", "x=NAME; : ${!x:=evil}; ls"] {
            let command = way.replace("NAME", name);
            assert_ne!(decision(&command), Decision::Allow, "{command}");
        }
    }
}

#[test]
fn what_is_refused_as_a_plain_assignment_is_refused_by_every_way() {
    for way in [
        "LD_PRELOAD=./x.so ls",
        "read LD_PRELOAD < a.txt; ls",
        "for LD_PRELOAD in ./x.so; do ls; done",
        "printf -vLD_PRELOAD ./x.so; ls",
        ": ${LD_PRELOAD:=./x.so}; ls",
        "declare -n r=LD_PRELOAD; r=./x.so; ls",
        "mapfile -t LD_PRELOAD < a.txt",
        "read HAFT_HOME < a.txt",
        "for HAFT_HOME in x; do ls; done",
        "for PAGER in 'rm -rf ~'; do git log; done",
        "read PAGER <<< 'rm -rf ~'; git log",
    ] {
        assert_eq!(decision(way), Decision::Deny, "{way}");
    }
}

#[test]
fn variables_of_the_command_itself_are_not_asked_about() {
    for command in [
        "read -r line < a.txt; echo \"$line\"",
        "while IFS= read -r line; do echo \"$line\"; done < a.txt",
        "while IFS=: read -r a b; do echo \"$a\"; done < a.txt",
        "for f in *.txt; do cat \"$f\"; done",
        "for i in 1 2 3; do echo $((i + 1)); done",
        "mapfile -t lines < a.txt; echo \"${#lines[@]}\"",
        "printf -v padded '%05d' 7; echo \"$padded\"",
        "((count = 1, count++)); echo $count",
        "x=$((1 + 2)); let y=x+1; echo $y",
        "[[ 1 -eq 1 ]] && ls",
        "while getopts ab opt; do echo $opt; done",
        "exec {fd}< a.txt; cat <&$fd",
        "f() { local name=x; echo $name; }; f",
        ": \"${name:=x}\"; echo $name",
        "declare -A map=([a]=1); echo \"${map[a]}\"",
        "declare -n ref=name; ref=x; echo $name",
        "unset name; ls",
        ": ${PAGER:=less}; git log",
        "declare -p PATH",
        "echo \"PATH=$PATH\"",
        "x='a=1'; echo $x",
    ] {
        assert_eq!(decision(command), Decision::Allow, "{command}");
    }
}
