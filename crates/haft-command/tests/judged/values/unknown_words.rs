//! Words that are known only when a command runs: how many of them there are, and whether they are options.

use haft_policy::decision::Decision::{self, Allow};
use haft_policy::examples::decision;

/// Commands whose option takes a value, in which `@` stands for the value. What follows the value is harmless.
const VALUES: &[&str] = &[
    "timeout @ ls",
    "timeout -k @ 5 ls",
    "timeout -s @ 5 ls",
    "nice -n @ ls",
    "env -u @ ls",
    "env -C @ ls",
    "stdbuf -o @ ls",
    "stdbuf -oL -e @ ls",
    "ls | xargs -n @ echo",
    "ls | xargs -L @ echo",
    "ls | xargs -P @ echo",
    "ls | xargs -I @ echo",
    "find . -maxdepth @",
    "find . -size @",
    "find . -newermt @",
    "find . -name @",
    "find . -name @ -print",
    "head -n @ a.txt",
    "tail -n @ a.txt",
    "cut -f @ a.txt",
    "cut -d @ -f 1 a.txt",
    "sort -k @ a.txt",
    "sort -t @ a.txt",
    "nl -s @ a.txt",
    "pr -l @ a.txt",
    "column -s @ a.txt",
    "diff -U @ a.txt notes.txt",
    "diff -I @ a.txt notes.txt",
    "xxd -l @ a.txt",
    "git log -n @",
    "git log --author @",
    "git log -S @",
    "git log -n@",
    "grep -m @ x a.txt",
    "grep -A @ x a.txt",
    "rg -g @ x",
    "read -n @ x",
    "read -t @ x",
    "read -p @ x",
    "mapfile -n @ A",
    "mapfile -d @ A",
    "wait @",
    "wait -n @",
    "trap @",
    "compgen -A @",
    "compgen -P @ x",
    "printf @",
    "printf @ x",
    "declare @",
    "export @",
    "local @",
    "unset @",
    "getopts ab @",
    "set @; ls",
    "hash @",
    "jobs @",
    "command @",
    "builtin @",
    "exec @",
];

/// What an unquoted value is that haft cannot know.
const UNKNOWN: &[&str] = &["$(cat f)", "`cat f`", "$n", "${n}", "$(<f)", "${n:-$(cat f)}", "$1", "$(cat f)x"];

/// Values that are certainly one word, or numbers.
const ONE_WORD: &[&str] = &["5", "$((2 + 3))", "$#", "${#x}", "$(wc -l < a.txt)"];

#[track_caller]
fn check_not_allowed(commands: impl IntoIterator<Item = String>) {
    let allowed: Vec<String> = commands.into_iter().filter(|command| decision(command) == Allow).collect();
    assert!(allowed.is_empty(), "allowed:\n{}", allowed.join("\n"));
}

#[track_caller]
fn check(wanted: Decision, commands: &str) {
    let wrong: Vec<&str> = commands.lines().filter(|line| !line.is_empty() && decision(line) != wanted).collect();
    assert!(wrong.is_empty(), "not {wanted:?}:\n{}", wrong.join("\n"));
}

#[test]
fn an_unquoted_value_that_is_not_known_may_be_any_number_of_words() {
    let with = |command: &'static &str| UNKNOWN.iter().map(move |value| command.replace('@', value));
    check_not_allowed(VALUES.iter().flat_map(with));
}

/// Lists of words that are not known, quoted as they are: each word of a list stays one.
const LISTS: &[&str] = &[
    "mapfile -t A < f; COMMAND \"${A[@]}\"",
    "readarray A < f; COMMAND \"${A[@]}\"",
    "read -ra A < f; COMMAND \"${A[@]}\"",
    "A=($(cat f)); COMMAND \"${A[@]}\"",
    "A=(); A+=($n); COMMAND \"${A[@]}\"",
    "for i in 1 2 3; do A+=(\"$i\" \"$(cat f)\"); done; COMMAND \"${A[@]}\"",
    "x=$(base64 -d f); COMMAND $x",
    "set -- $(cat f); COMMAND \"$@\"",
    "f() { COMMAND \"$@\"; }; f $(cat f)",
    "f() { COMMAND $1; }; f \"$(cat f)\"",
    "cat f | xargs COMMAND",
    "echo \"$n\" | xargs COMMAND",
    "xargs -a f COMMAND",
];

#[test]
fn a_list_that_is_not_known_has_any_number_of_words() {
    let commands = ["timeout", "head -n", "find . -name", "git log -n", "sort -k", "nice -n"];
    check_not_allowed(LISTS.iter().flat_map(|list| commands.map(|command| list.replace("COMMAND", command))));
}

#[test]
fn a_value_that_is_a_number_is_one_word() {
    let commands =
        ["timeout @ ls", "nice -n @ ls", "head -n @ a.txt", "tail -n @ a.txt", "cut -f @ a.txt", "git log -n @"];
    for command in commands.iter().flat_map(|command| ONE_WORD.iter().map(move |value| command.replace('@', value))) {
        assert_eq!(decision(&command), Allow, "{command}");
    }
}

/// Built-ins that run the words behind them.
const RUNNING: &[&str] = &[
    "jobs -x",
    "jobs -lx",
    "jobs -xl",
    "jobs -x --",
    "jobs -l -x",
    "builtin jobs -x",
    "command jobs -x",
    "command builtin jobs -lx",
    "command -p",
    "builtin command",
    "exec",
    "coproc",
];

#[test]
fn a_command_that_a_builtin_runs_is_judged() {
    check_not_allowed(
        RUNNING
            .iter()
            .flat_map(|builtin| ["rm -rf src", "sh a.txt", "curl x.example"].map(|inner| format!("{builtin} {inner}"))),
    );
    for command in RUNNING.iter().filter(|builtin| builtin.contains("jobs")).map(|builtin| format!("{builtin} ls")) {
        assert_eq!(decision(&command), Allow, "{command}");
    }
    check(Allow, "jobs\njobs -l\njobs -p\njobs %1\njobs -l %1");
}

/// Callbacks of `mapfile`, which are run with an index and a line behind them.
const CALLBACKS: &str = "
mapfile -C rm -c 1 A < a.txt
mapfile -C 'rm -f' -c 1 A < a.txt
mapfile -Crm -c 1 A < a.txt
mapfile -tC 'git' -c1 A < a.txt
readarray -C env -c 1 A < a.txt
readarray -C 'timeout 5' -c 1 A < a.txt
readarray -C 'cat' -c 1 A < a.txt
mapfile -C sh -c 1 A < a.txt
mapfile -C eval -c 1 A < a.txt
mapfile -C 'command' -c 1 A < a.txt
mapfile -C 'cd / ; cat' -c 1 A < a.txt
builtin mapfile -C eval A < a.txt
f() { $2; }; mapfile -C f -c 1 A < a.txt
f() { cat \"$2\"; }; mapfile -C f -c 1 A < a.txt
";

#[test]
fn a_callback_gets_an_index_and_a_line() {
    check_not_allowed(CALLBACKS.lines().filter(|line| !line.is_empty()).map(str::to_owned));
    check(Allow, "mapfile -t A < a.txt\nmapfile -C 'echo' -c 1 A < a.txt\nmapfile -C : A < a.txt");
}

/// Built-ins of which the first word may be an option, in which `@` stands for a quoted value that is not known.
const OPTIONS: &[&str] = &[
    "printf @",
    "printf @ x",
    "printf @ 'a[0]' x",
    "printf @a 'a[0]' x",
    "printf -- @ x; printf @",
    "compgen @ x",
    "compgen -A file @",
    "wait @",
    "wait -n @",
    "read @",
    "read -r @ x",
    "read @ x",
    "mapfile @",
    "mapfile @ A",
    "declare @",
    "export @",
    "unset @",
    "getopts @ x y; getopts ab @",
    "trap @",
    "trap @ EXIT",
    "hash @",
    "jobs @",
    "jobs @ x",
    "command @ x",
    "builtin @ x",
    "exec @ x",
    "test @ x",
    "enable @",
    "shopt @",
    "alias @",
    "bind @",
    "fc @",
    "let @",
    "git rev-list @ HEAD",
    "git log @",
    "git blame @ a.txt",
    "git diff @",
    "git show @",
    "sort @ a.txt",
    "find @",
    "n=$(seq @); echo $((n))",
    "n=$(grep -c @ a.txt); echo $((n))",
];

#[test]
fn a_quoted_word_that_is_not_known_may_be_an_option() {
    let quoted = ["\"$(cat z)\"", "\"$(base64 -d z)\"", "\"$n\"", "\"$1\"", "\"$(cat z)\"x"];
    check_not_allowed(OPTIONS.iter().flat_map(|command| quoted.map(|value| command.replace('@', value))));
}

/// Loops in which a variable holds numbers at first, and something else after as many rounds as it takes to get there.
#[test]
fn what_holds_numbers_for_some_rounds_of_a_loop_need_not_hold_them_in_all() {
    let letters = ["a", "b", "c", "d", "e", "g", "h", "i", "j", "k", "l"];
    let chain: String = letters.windows(2).map(|pair| format!("{}=${}; ", pair[0], pair[1])).collect();
    let numbers: String = letters.iter().map(|name| format!("{name}=1; ")).collect();
    check_not_allowed([
        format!("{numbers} l=$(cat f); while read -r y; do {chain} done < z; wait \"$a\""),
        format!("{numbers} while read -r y; do {chain} l=$(cat f); done < z; wait \"$a\""),
        format!("A=(); {numbers} while read -r y; do A+=($! \"$a\"); {chain} l=$(cat f); done < z; wait \"${{A[@]}}\""),
        format!(
            "x=$!; {numbers} while read -r y; do x=$!; if [ \"$a\" = y ]; then x=$(cat f); fi; done < z; wait \"$x\""
        ),
    ]);
}

#[test]
fn a_word_with_a_beginning_of_its_own_is_no_option() {
    check(
        Allow,
        r#"
printf 'x %s\n' "$(cat a.txt)"
printf "%s\n" "$x"
printf "a $x\n"
printf -- "$x"
echo "$x"
wait $!
wait "$!"
wait $(jobs -p)
pids=(); for i in 1 2; do sleep 1 & pids+=($!); done; for p in "${pids[@]}"; do wait "$p"; done
pids=(); for i in 1 2; do sleep 1 & pids+=("$!"); done; wait "${pids[@]}"
"#,
    );
}
