//! Tests that the state of the shell at each moment decides what a command does.

mod links;
mod secrets;
mod values;

use haft_policy::decision::Decision;
use haft_policy::examples::{decision, steps_in_scene};

fn denied(commands: &[&str]) {
    let weak: Vec<&&str> = commands.iter().filter(|command| decision(command) != Decision::Deny).collect();
    assert!(weak.is_empty(), "not refused: {weak:#?}");
}

fn at_least_asked(commands: &[&str]) {
    let weak: Vec<&&str> = commands.iter().filter(|command| decision(command) == Decision::Allow).collect();
    assert!(weak.is_empty(), "allowed: {weak:#?}");
}

fn asked(commands: &[&str]) {
    let others: Vec<&&str> = commands.iter().filter(|command| decision(command) != Decision::Ask).collect();
    assert!(others.is_empty(), "not asked about: {others:#?}");
}

fn allowed(commands: &[&str]) {
    let strict: Vec<&&str> = commands.iter().filter(|command| decision(command) != Decision::Allow).collect();
    assert!(strict.is_empty(), "not allowed: {strict:#?}");
}

#[test]
fn a_function_hides_a_program_only_from_the_shell_that_defines_it() {
    denied(&[
        "rm(){ :; }; command rm -rf ~",
        "rm(){ :; }; env rm -rf /",
        "rm(){ :; }; exec rm -rf ~",
        "rm(){ :; }; bash -c 'rm -rf ~'",
        "rm(){ :; }; echo ~ | xargs rm -rf",
        "f(){ rm -rf \"$1\"; }; export -f f; bash -c 'f ~'",
    ]);
    allowed(&["cat(){ :; }; cat /etc/shadow"]);
}

#[test]
fn a_function_that_may_not_be_defined_may_be_the_program() {
    denied(&[
        "if false; then rm(){ :; }; fi; rm -rf ~",
        "false && rm(){ :; }; rm -rf ~",
        "f(){ cat \"$1\"; }; false && f(){ :; }; f /etc/shadow",
        "rm(){ :; }; unset -f rm; rm -rf ~",
    ]);
}

#[test]
fn text_that_runs_in_the_same_shell_has_its_parameters() {
    denied(&[
        "set -- ~; eval 'rm -rf \"$1\"'",
        "f(){ eval 'rm -rf \"$1\"'; }; f ~",
        "set -- /etc/shadow; trap 'cat \"$1\"' EXIT",
        "set -- /etc/shadow; source /dev/stdin <<< 'cat \"$1\"'",
        "f(){ rm -rf \"$1/\"; }; f",
    ]);
}

#[test]
fn a_new_shell_has_the_name_that_it_is_given() {
    denied(&[
        "sh -c 'cat $0' /etc/shadow",
        "sh -c '\"$0\" \"$@\"' rm -rf /",
        "sh -c 'sh -c \"cat \\$0\" $0' /etc/shadow",
    ]);
    at_least_asked(&["bash -c 'echo x > $0' notes.txt"]);
    allowed(&["sh -c 'cat \"$1\"' sh README.md", "sh -c 'echo $0'"]);
}

#[test]
fn parameters_are_shifted_set_and_sliced() {
    denied(&[
        "set -- README.md ~/.ssh/id_rsa; shift; cat \"$1\"",
        "sh -c 'shift; cat \"$1\"' x README.md /etc/shadow",
        "set -- a b /etc/shadow; shift 2; cat \"$1\"",
        "set -e ~; rm -rf \"$1\"",
        "set - ~; rm -rf \"$1\"",
        "set -eo pipefail ~; rm -rf \"$1\"",
        "set -- echo rm -rf ~; \"${@:2}\"",
        "set -- cat ~/.netrc; \"${@:1:2}\"",
        "a=(echo rm -rf ~); \"${a[@]:1}\"",
    ]);
    allowed(&["set -euo pipefail; cat README.md", "set -- /etc/shadow README.md; shift; cat \"$1\""]);
}

#[test]
fn a_local_variable_ends_with_its_function() {
    denied(&[
        "x=~/.ssh/id_rsa; f(){ local x=README.md; }; f; cat \"$x\"",
        "x=~/.ssh/id_rsa; f(){ declare x=README.md; }; f; cat \"$x\"",
        "f(){ declare -g x=/etc/shadow; }; f; cat \"$x\"",
        "x=README.md; f(){ if true; then local y; else local x; fi; x=/etc/shadow; }; f; cat \"$x\"",
        "f(){ x=/etc/shadow; return; x=README.md; }; f; cat \"$x\"",
    ]);
    allowed(&["x=README.md; f(){ local x=/etc/shadow; }; f; cat \"$x\""]);
}

#[test]
fn a_variable_in_front_of_a_command_is_there_for_it_alone() {
    denied(&[
        "x=README.md; x=/etc/shadow bash -c 'cat \"$x\"'",
        "x=README.md; x=/etc/shadow eval 'cat \"$x\"'",
        "x=README.md; env x=/etc/shadow bash -c 'cat \"$x\"'",
        "f(){ cat \"$x\"; }; x=README.md; x=/etc/shadow f",
        "x=/etc/shadow; x=README.md true; cat \"$x\"",
    ]);
    allowed(&["x=README.md; x=/etc/shadow true; cat \"$x\""]);
}

#[test]
fn a_new_shell_has_the_variables_that_are_exported() {
    denied(&[
        "x=src; bash -c 'rm -rf \"$x/\"'",
        "set -a; x=/etc/shadow; bash -c 'cat \"$x\"'",
        "export x=/etc/shadow; bash -c 'cat \"$x\"'",
        "x=/etc/shadow; export x; bash -c 'cat \"$x\"'",
    ]);
}

#[test]
fn a_word_that_declares_is_not_split() {
    denied(&[
        "f() { local x=$1; rm -rf ~; }; f a",
        "x='a /etc/shadow'; declare y=$x; cat $y",
        "export $(cat .env | xargs)",
        "y='/etc/shadow'; local -r x=$y; cat \"$x\"",
        "x='a y=/etc/shadow'; command export z=$x; cat \"$y\"",
        "x='a y=/etc/shadow'; \\export z=$x; cat \"$y\"",
    ]);
    at_least_asked(&["export A=$(date)", "export PYTHONPATH=$PYTHONPATH:src", "export $x", "command declare x=$y"]);
    allowed(&[
        "local f=$1",
        "readonly V=$V",
        "declare -r N=$(wc -l < a.txt); echo $N",
        "y=README.md; x='a y=/etc/shadow'; declare z=$x; cat \"$y\"",
        "declare ''",
    ]);
}

#[test]
fn references_arrays_and_folders_are_assigned() {
    denied(&[
        "declare -n r=x; x=README.md; r=/etc/shadow; cat \"$x\"",
        "declare -a a=(/etc/shadow); cat ${a[0]}",
        "declare -a a=(rm -rf ~); \"${a[@]}\"",
        "y='-rf /'; declare -a a=(rm $y); \"${a[@]}\"",
        "OLDPWD=/etc; cd -; cat shadow",
        "PWD=/etc; cat \"$PWD/shadow\"",
        "a=(); a+=(rm); a+=(-rf); a+=(~); \"${a[@]}\"",
    ]);
    at_least_asked(&["x=5; (( x = 1 + 2 )); rm -rf \"$x\""]);
}

#[test]
fn what_is_set_under_a_condition_is_added() {
    denied(&[
        "x=~/.ssh/id_rsa; false && read x <<< README.md; cat \"$x\"",
        "x=/etc/shadow; for x in $(true); do :; done; cat \"$x\"",
        "set -- /etc/shadow; false && set -- README.md; cat \"$1\"",
        "x=/etc/shadow; false && unset x; cat \"$x\"",
        "IFS=: read -r a b <<< 'README.md:/etc/shadow'; cat \"$b\"",
        "true && a=(rm -rf ~); \"${a[@]}\"",
        "x=README.md; while :; do x=/etc/shadow; break; x=README.md; done; cat \"$x\"",
        "[ -n \"$1\" ] && d=src; rm -rf \"$d/\"",
    ]);
    allowed(&["x=/etc/shadow; read x <<< README.md; cat \"$x\""]);
}

#[test]
fn a_loop_is_walked_until_nothing_changes() {
    let shifted = "x=README.md y=src/a.rs z=/etc/shadow; while :; do cat \"$x\"; x=$y; y=$z; done";
    let nested = format!("{{ {{ {{ {{ {shifted}; }}; }}; }}; }}");
    let long =
        "a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=/etc; while :; do rm -rf \"$a\"; a=$b; b=$c; c=$d; d=$e; e=$f; f=$g; g=$h; done";
    denied(&[shifted, &nested]);
    at_least_asked(&[long]);
}

#[test]
fn the_stack_of_folders_is_kept() {
    denied(&[
        "pushd /etc; pushd /home/somebody/work; pushd +1; cat shadow",
        "cd /etc; pushd /tmp; pushd /home/somebody/work; popd; popd; cat shadow",
        "pushd /etc; pushd /home/somebody/work; pushd; cat shadow",
        "pushd -n /etc; popd; cat shadow",
    ]);
    allowed(&["pushd src; popd; cat README.md"]);
}

#[test]
fn traps_run_later() {
    denied(&[
        "trap 'cd /etc' DEBUG; cat shadow",
        "x=README.md; trap 'cat \"$x\"' EXIT; x=/etc/shadow",
        "x=README.md; ( trap 'cat \"$x\"' EXIT; x=/etc/shadow )",
        "x=README.md; trap 'cat \"$x\"' EXIT; x=/etc/shadow; exit; x=README.md",
        "bash -c 'x=README.md; trap \"cat \\$x\" EXIT; x=/etc/shadow'",
    ]);
}

#[test]
fn a_variable_may_have_many_values() {
    let numbers: Vec<String> = (1..=25).map(|number| number.to_string()).collect();
    let array = format!("a=(rm -rf ~ {}); \"${{a[@]}}\"", numbers.join(" "));
    let names: Vec<String> = (1..=300).map(|number| format!("f{number}")).collect();
    let beyond = format!("for x in {} ~; do rm -rf \"$x\"; done", names.join(" "));
    denied(&["for x in {1..30} ~; do rm -rf \"$x\"; done", &array, &beyond]);
    allowed(&["for i in {1..900}; do echo \"$i\"; done"]);
}

#[test]
fn a_program_of_a_package_is_fetched_unless_it_is_installed() {
    let connects = |command: &str| steps_in_scene(command).iter().any(haft_contract::effect::Effect::gives_network);
    for command in ["npx tsc --noEmit", "npm exec -- eslint src", "cd src/..; npx prettier -c .", "bunx tsc"] {
        assert!(!connects(command), "{command}");
    }
    for command in ["npx cowsay", "npx tsc@latest", "cd src; npx tsc", "npx ../tsc", "npx \"$x\"", "npx -p tsc x"] {
        assert!(connects(command), "{command}");
    }
}

#[test]
fn a_function_is_judged_where_it_is_called() {
    denied(&[
        "f() { cat \"$1\"; }; f /etc/shadow",
        "f() { g \"$1\"; }; g() { cat \"$1\"; }; f /etc/shadow",
        "f() { cat \"$1\"; }; find . -name .env | while read l; do f \"$l\"; done",
        "f() { \"$@\"; }; f rm -rf ~",
        "f() { rm -rf ~/\"$1\"; }",
        "f() { rm -rf ~; }",
    ]);
    at_least_asked(&[
        "f() { cat \"$1\"; }; f $x",
        "f() { rm \"$1\"; }; trap 'f \"$y\"' EXIT",
        "f() { rm \"$1\"; }; \"$y\" notes.txt",
        "f() { rm \"$1\"; }; eval \"$y\"",
        "f() { rm \"$1\"; }; export -f f",
        "f() { rm \"$2\"; }; mapfile -C f < a.txt",
        "command_not_found_handle() { \"$2\"; }; rg x",
        "retry() { \"$@\" || \"$@\"; }; retry make",
    ]);
    allowed(&[
        "count() { wc -l < \"$1\"; }; count notes.txt",
        "show() { sed -n \"$2,$3p\" \"$1\"; }; show src/main.rs 1 5",
        "r() { grep \"$@\"; }; r -c '' notes.txt",
        "f() { g \"$1\"; }; g() { cat \"$1\"; }; f notes.txt",
        "retry() { \"$@\" || \"$@\"; }; retry ls",
    ]);
}

#[test]
fn a_pattern_of_programs_is_matched_with_those_of_the_system_only_where_they_may_be() {
    denied(&[
        "r? -rf ~",
        "/bin/r? -rf ~",
        "cd /bin; ./r? -rf ~",
        "cd /bin; ./rm -rf ~",
        "cd /usr; bin/rm -rf ~",
        "../../../bin/r* -rf ~",
    ]);
    let steps = |command: &str| steps_in_scene(command).iter().map(ToString::to_string).collect::<Vec<_>>();
    for command in ["./*.sh", "./scripts/*.sh", "for s in ./scripts/*.sh; do \"$s\"; done", "./run*"] {
        assert_eq!(decision(command), Decision::Ask, "{command}: {:?}", steps(command));
    }
}

#[test]
fn a_number_is_neither_a_flag_nor_a_program_nor_code() {
    denied(&[
        "x=/etc/shadow; for x in $(seq 5 1); do :; done; cat \"$x\"",
        "awk \"BEGIN{system(sprintf(\\\"%c%c\\\", $((100+14)), $((100+9))))}\"",
        "sed -n \"$((1))w /etc/x\" notes.txt",
        "cat /srv/keys/id_ed$((25519))",
    ]);
    at_least_asked(&[
        "rm -rf $((1))",
        "$((1))",
        "n=$(wc -l a.txt); sed -n \"${n}p\" notes.txt",
        "n=$(id -u -n); sed -n \"${n}p\" notes.txt",
        "sed \"s/a/$((1))/e\" notes.txt",
        "rm -rf \"$_\"",
    ]);
    allowed(&[
        "i=1; while [ $i -le 3 ]; do sed -n \"${i}p\" a.txt; i=$((i+1)); done",
        "start=1; end=$((start+10)); sed -n \"${start},${end}p\" notes.txt",
        "for i in $(seq 1 3); do sed -n \"${i}p\" a.txt; done",
        "for ((i=1;i<4;i++)); do sed -n \"${i}p\" a.txt; done",
        "for i in {1..900}; do sed -n \"${i}p\" a.txt; done",
        "n=$(cat a.txt | wc -l); awk \"NR==$n\" notes.txt",
        "n=${#x}; sed -n \"${n}p\" notes.txt; tail -n +$((5+1)) notes.txt",
        "let n=1+1; head -$n notes.txt | cut -c1-$n",
        "eval \"sed -n $((1+1))p notes.txt\"",
        "echo $? $# $RANDOM $SECONDS",
    ]);
}

#[test]
fn an_array_has_its_values_where_they_are() {
    denied(&[
        "a=(echo -rf ~); a[0]=rm; \"${a[@]}\"",
        "a=(echo rm -rf ~); unset 'a[0]'; \"${a[@]}\"",
        "a=(echo -rf ~); declare a[0]=rm; \"${a[@]}\"",
        "a=(echo -rf ~); printf -v 'a[0]' rm; \"${a[@]}\"",
        "a=(echo -rf ~); read 'a[0]' <<< rm; \"${a[@]}\"",
        "a=([1]=-rf [0]=rm [2]=~); \"${a[@]}\"",
        "declare -a a=([1]=-rf [0]=rm [2]=~); \"${a[@]}\"",
        "x='rm -rf ~'; a=($x); \"${a[@]}\"",
        "a=(rm ls); \"${a[0]}\" -rf ~",
        "a=(rm ls); \"${a[$y]}\" -rf ~",
        "declare -A m=([x]=rm); \"${m[x]}\" -rf ~",
        "declare -A m; m[x]=rm; for k in \"${!m[@]}\"; do \"${m[$k]}\" -rf ~; done",
        "true && x=rm || x=ls; a=($x -rf ~); \"${a[@]}\"",
        "a=(x); echo \"${a[$(rm -rf ~)]}\"",
        "a=(x); a=([$(rm -rf ~)]=1)",
        "a[$(rm -rf ~)]=1",
        "f() { echo \"${a[$1]}\"; }; f 'x[$(rm -rf ~)]'",
    ]);
    at_least_asked(&["a=(1 2); read i; echo \"${a[$i]}\"", "declare -A m; rm -rf \"${!m[@]}\""]);
    allowed(&[
        "declare -A m=([a]=1 [b]=2); for k in \"${!m[@]}\"; do echo \"$k=${m[$k]}\"; done",
        "declare -A m; m[a]=1; for k in \"${!m[@]}\"; do echo \"$k=${m[$k]}\"; done",
        "a=(1 2); i=1; echo \"${a[$i]}\"",
        "a=(x y); for i in \"${!a[@]}\"; do echo \"$i ${a[$i]}\"; done",
        "a=(grep -c '' notes.txt docs/*.md); \"${a[@]}\"",
        "a=(rm -rf ~); a[0]=echo; \"${a[@]}\"",
        "a=(ls); a[1]=src; \"${a[@]}\"",
        "a=(rm ls); \"${a[1]}\" src; \"${a[-1]}\" src",
        "args=(); args+=(-n 5); head \"${args[@]}\" notes.txt",
    ]);
}

#[test]
fn a_default_is_certain_only_for_a_name_that_no_environment_has() {
    denied(&[
        "cat \"${F:-/etc/shadow}\"",
        "rm -rf \"${D:-/}\"",
        ": \"${D:-src}\"; rm -rf \"$D/\"",
        "env -i sh -c 'cat \"${PAGER:-/etc/shadow}\"'",
        "F=/etc/shadow; export F; sh -c 'cat \"${F:-notes.txt}\"'",
    ]);
    at_least_asked(&[
        "\"${EDITOR:-vi}\" notes.txt",
        "${CC:-true} notes.txt",
        "cat \"${CARGO_HOME:-src}/x\"",
        "echo hi > \"${CI:-new.txt}\"",
        ": \"${D:=src}\"; rm -rf \"$D/\"",
    ]);
    allowed(&[
        "\"${PAGER:-less}\" notes.txt",
        "${X:-cat} notes.txt",
        "cat \"${F:-notes.txt}\" \"${1:-a.txt}\"",
        "echo hi > \"${OUT:-new.txt}\"",
        ": ${F:=notes.txt}; cat \"$F\"",
        "f() { head -n \"${2:-10}\" \"$1\"; }; f notes.txt",
        "echo \"${TERM:-dumb} ${LANG:-C}\"",
    ]);
}

#[test]
fn what_hides_the_trail_or_reaches_later_commands_is_asked_about() {
    at_least_asked(&[
        "unset HISTFILE",
        "HISTFILE=/dev/null",
        "export HISTFILE=/dev/null",
        "HISTSIZE=0",
        "set +o history",
        "set -a; A=1",
        "set -o allexport",
        "export -n PATH",
        "readonly PATH",
        "hash -p /tmp/x ls",
    ]);
    allowed(&["trap '' INT TERM", "readonly X=1", "set -euo pipefail", "unset X", "hash rg", "hash -r"]);
}

#[test]
fn text_that_a_command_writes_and_runs_has_the_parameters_it_gets() {
    denied(&[
        "echo 'rm -rf \"$1\"' > x.sh; sh x.sh /",
        "echo 'rm -rf \"$1\"' > x.sh; chmod +x x.sh; ./x.sh /",
        "echo 'rm -rf \"$2\"' > x.sh; bash -x ./x.sh a ~",
        "echo 'rm -rf \"$1\"' > x.sh; . ./x.sh /",
        "echo 'rm -rf \"$x\"' > x.sh; x=/; . ./x.sh",
        "echo 'rm -rf \"$1\"' > x.sh; find / -maxdepth 0 -exec sh x.sh {} \\;",
    ]);
    at_least_asked(&["echo 'cat \"$1\"' > x.sh; bash ./x.sh notes.txt"]);
}

#[test]
fn a_link_leads_from_the_folder_that_it_lies_in() {
    denied(&[
        "ln -s ../../../../etc src/e; cat src/e/shadow",
        "ln -s ../.git/config src/c; echo x > src/c",
        "ln -s /etc/ssl q; cat q/../shadow",
        "ln -s etc/shadow /x",
    ]);
    at_least_asked(&["ln -s ../../x src/y", "ln -s ../x y"]);
    allowed(&["ln -s ../docs src/docs-link", "ln -s ../docs src/d; cat src/d/a.md", "ln -s a.txt b; cat b"]);
}

#[test]
fn a_pattern_for_git_finds_what_is_not_there_any_more() {
    denied(&["git log -p -- '.en*'", "git show HEAD -- '.en*'", "git grep x -- '.env*'"]);
    allowed(&["git log -p -- '*.rs'", "git log --stat -- '.gi*'", "git diff -- 'src/*'"]);
}

#[test]
fn commands_that_go_into_the_background_together_are_one_shell() {
    denied(&["cd ~ && rm -rf * &", "cd / && ls && rm -rf home & wait", "(cd ~ && rm -rf * &)"]);
    asked(&["cd src && npm run dev > ../dev.log &", "cd ~ & rm -rf build"]);
}

#[test]
fn a_document_has_a_text_for_each_value_of_its_variables() {
    denied(&[
        "for n in 1 2; do cat > x.sh <<E\necho $n\nrm -rf ~\nE\nsh x.sh; done",
        "for d in build ~; do python3 - <<E\nimport shutil\nshutil.rmtree('$d')\nE\ndone",
        "for n in 1 2; do bash <<< \"echo $n; rm -rf ~\"; done",
    ]);
    asked(&["for n in 1 2; do cat > a$n.py <<E\nprint($n)\nE\npython3 a$n.py; done"]);
}
