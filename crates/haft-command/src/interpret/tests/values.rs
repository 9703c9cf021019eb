//! Tests values that the shell computes before a command runs.

use crate::interpret::tests::{allowed, asked, denied};

#[test]
fn a_variable_that_names_another_is_followed() {
    denied(&["t=HOME; rm -rf \"${!t}\"", "set -- ~; n=1; rm -rf \"${!n}\"", "x=/etc/shadow; y=x; cat ${!y}"]);
    asked(&["echo \"${!x}\""]);
    allowed(&["x=README.md; y=x; cat \"${!y}\""]);
}

#[test]
fn a_text_that_is_expanded_again_runs_what_stands_in_it() {
    denied(&[
        "x='$(rm -rf ~)'; echo \"${x@P}\"",
        "x='$(rm -rf \"$HOME\")'; echo \"${x@P}\"",
        "x='a[$(rm -rf \"$HOME\")]'; echo $((x))",
    ]);
    asked(&["echo \"${x@P}\""]);
}

#[test]
fn what_is_read_into_a_list_is_known() {
    denied(&[
        "mapfile -t L < <(echo 'rm -rf ~'); eval \"${L[0]}\"",
        "readarray -t -n 3 L <<< 'rm -rf ~'; eval \"${L[0]}\"",
        "read -ra L <<< 'rm -rf /etc'; \"${L[@]}\"",
        "read -t 5 x <<< /etc/shadow; cat \"$x\"",
    ]);
    allowed(&["mapfile -t L <<< README.md; cat \"${L[0]}\"", "read -t 5 x <<< README.md; cat \"$x\""]);
}

#[test]
fn what_is_printed_by_number_or_turned_round_is_run() {
    denied(&[
        "bash -c \"$(printf \"\\\\$(printf %o 114)m -rf ~\")\"",
        "printf '%s\\n' '~' '-rf' rm | tac | xargs | sh",
        "echo rm -rf '~' | xargs | sh",
    ]);
    allowed(&["printf '%x\\n' 255", "ls | xargs"]);
}

#[test]
fn a_folder_is_found_as_the_shell_finds_it() {
    denied(&[
        "CDPATH=/; cd etc && rm -rf ssl",
        "CDPATH=.:/; cd etc; cat shadow",
        "pushd ~; pushd /tmp; rm -rf ~1/x",
        "pushd /etc; pushd src; cat ~1/shadow ~-1/README.md",
        "cd /etc; pushd /tmp; cat ~-0/shadow",
    ]);
    allowed(&["pushd src; cat ~1/README.md", "cat ~1/README.md"]);
}

#[test]
fn a_name_runs_the_program_that_it_was_given() {
    denied(&["hash -p /bin/rm ls; ls -rf ~"]);
    asked(&["hash -p /bin/cat ls; ls README.md"]);
    allowed(&["hash; ls"]);
}

#[test]
fn what_is_written_to_a_shell_in_the_background_is_run() {
    denied(&[
        "coproc S { sh; }; echo 'rm -rf ~' >&\"${S[1]}\"",
        "coproc sh; echo 'rm -rf ~' >&${COPROC[1]}",
        "exec 3> >(sh); echo 'rm -rf ~' >&3",
    ]);
    allowed(&["echo x >&2", "exec 3>&1; echo x >&3"]);
}

#[test]
fn what_a_pattern_finds_may_be_several_words() {
    denied(&[
        "set -- .e*; shift; cat \"$1\"",
        "set -- .e*; shift 3; cat \"$@\"",
        "set -- .e*; cat \"${@:2}\"",
        "set -- .e*; cat \"${@:2:1}\"",
        "a=(.e*); cat \"${a[@]:1}\"",
        "a=(x .e* y); cat \"${a[@]:2:1}\"",
        "f() { shift; cat \"$@\"; }; f .e*",
        "bash -c 'shift; cat \"$@\"' _ .e*",
    ]);
    allowed(&["set -- a.txt .env; cat \"${@:1:1}\"", "f() { shift; cat \"$@\"; }; f x a.txt"]);
}
