//! Text for a shell that is not bash: what that shell reads otherwise than bash is asked about.

use haft_policy::decision::Decision;
use haft_policy::examples::decision;

/// Scripts that are harmless in bash, and not in `sh`.
const OF_BASH: &[&str] = &[
    "[[ x == a || ./evil.sh ]]",
    "[[ a > c2 ]]",
    "((1 > 2))",
    "x=cat; x=ls :; $x a.txt",
    "x=cat; x=ls eval true; $x a.txt",
    "declare x=ls; $x",
    "x=touch; local x=ls; $x c1",
    "x=touch; printf -v x ls; $x c1",
    "x=touch; typeset x=ls; $x c1",
    "x=touch; let x=1; echo $x",
    "pushd src; cat a.txt",
    "builtin cd src; ls",
    "cat <<< a",
    "ls &> /dev/null",
    "cat <(ls)",
    "echo {a,b}",
    "x=(ls); $x",
    "x+=a; echo $x",
    "function f { ls; }; f",
    "x=a; echo ${x//a/b}",
    "x=a; echo ${x:0:1}",
    "ls |& cat",
    "case a in a) ls ;& b) pwd ;; esac",
    "shopt -s nullglob; ls",
    "x=touch; read -a x; $x c1",
    "cat src/$RANDOM",
    "eval '[[ a > c2 ]]'",
    "cat $'a.txt'",
    "export x=$y; ls",
];

/// Ways to give a script to a shell; the mark stands for the script in quotes.
const WAYS: &[&str] = &[
    "sh -c SCRIPT",
    "/bin/sh -c SCRIPT",
    "dash -c SCRIPT",
    "busybox sh -c SCRIPT",
    "env sh -c SCRIPT",
    "sh -ec SCRIPT",
    "bash --posix -c SCRIPT",
    "bash -o posix -c SCRIPT",
    "zsh -c SCRIPT",
    "ksh -c SCRIPT",
    "tcsh -c SCRIPT",
    "fish -c SCRIPT",
    "printf %s SCRIPT | sh",
    "sh -s <<< SCRIPT",
    "bash -c 'sh -c \"$1\"' x SCRIPT",
];

#[test]
fn what_only_bash_reads_in_this_way_is_asked_about_in_every_other_shell() {
    for way in WAYS {
        for script in OF_BASH {
            let command = way.replace("SCRIPT", &format!("'{}'", script.replace('\'', r"'\''")));
            assert_ne!(decision(&command), Decision::Allow, "{command}");
        }
    }
}

#[test]
fn what_all_shells_read_alike_is_judged_as_it_is() {
    for command in [
        "sh -c 'ls -la'",
        "sh -c 'cd src && cat main.rs'",
        "sh -c 'for f in *.txt; do cat \"$f\"; done'",
        "sh -c 'if [ -f a.txt ]; then cat a.txt; fi'",
        "sh -c 'x=$(ls | head -n 1); echo \"${x:-none}\"'",
        "sh -c 'grep \"a$\" \"$1\"' sh a.txt",
        "sh -c 'LC_ALL=C sort a.txt 2>/dev/null'",
        "find src -type f -exec sh -c 'wc -l \"$1\"' _ {} \\;",
        "bash -c '[[ -f a.txt ]] && cat a.txt'",
        "bash -c 'x=(a b); echo \"${x[@]}\"'",
        "zsh -c 'ls -la'",
        "fish -c 'ls src'",
    ] {
        assert_eq!(decision(command), Decision::Allow, "{command}");
    }
}
