//! What is denied stays denied in every disguise; nothing breaks the reading; reading takes bounded time.

use std::time::Duration;

use haft_policy::decision::Decision;
use haft_policy::examples::{decision, ruling, steps_in_scene};
use haft_policy::policy::Policy;
use proptest::prelude::*;
use rustix::time::{ClockId, clock_gettime};

/// Commands that are refused, each as one simple command.
const DENIED: [&str; 9] = [
    "rm -rf ~",
    "rm -rf /etc",
    "rm -rf .git",
    "dd if=/dev/zero of=/dev/sda",
    "shred -u ~/.netrc",
    "cat ~/.ssh/id_rsa",
    "git push --force",
    "tee -a ~/.bashrc",
    "chmod -R 777 /",
];

/// The longest command that is read, in bytes.
const LONGEST: usize = 64 * 1024;
/// How long reading it may take. A build for tests is far slower than one for people, for which `benches/rules` holds
/// the limit; what takes a square of time takes minutes.
const MOST_TIME: Duration = Duration::from_millis(if cfg!(debug_assertions) { 6_000 } else { 250 });

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Constructs around a script of any form.
const AROUND_SCRIPTS: [fn(&str) -> String; 27] = [
    |script| format!("echo {} | bash -c \"$(cat)\"", quoted(script)),
    |script| format!("printf %s {} | {{ eval \"$(cat)\" < /dev/null; }}", quoted(script)),
    |script| format!("{{ x=$(cat); eval \"$x\"; }} <<< {}", quoted(script)),
    |script| format!("true && {{ {script}\n}}"),
    |script| format!("ls; {script}"),
    |script| format!("false || ( {script})"),
    |script| format!("( {script})"),
    |script| format!("{{ {script}\n}}"),
    |script| format!("if true; then {script}\nfi"),
    |script| format!("if {script}\nthen :; fi"),
    |script| format!("if false; then :; else {script}\nfi"),
    |script| format!("while :; do {script}\nbreak; done"),
    |script| format!("for x in 1 2; do {script}\ndone"),
    |script| format!("case a in b) ;; *) {script}\n;; esac"),
    |script| format!("f() {{ {script}\n}}; f"),
    |script| format!("echo \"$( {script}\n)\""),
    |script| format!("x=$( {script}\n)"),
    |script| format!("cat <( {script}\n)"),
    |script| format!("echo a | ( {script}\n)"),
    |script| format!("( {script}\n) | cat"),
    |script| format!("( {script}\n) &"),
    |script| format!("sh -c {}", quoted(script)),
    |script| format!("eval {}", quoted(script)),
    |script| format!("bash <<'HERE_{}'\n{script}\nHERE_{}\n", script.len(), script.len()),
    |script| format!("trap {} EXIT", quoted(script)),
    |script| format!("x={}; eval \"$x\"", quoted(script)),
    |script| format!("printf '%s\\n' {} | sh", quoted(script)),
];

/// Programs in front of a simple command.
const AROUND_WORDS: [&str; 10] = [
    "env A=1",
    "timeout 5",
    "nohup",
    "nice -n 5",
    "command",
    "exec",
    "setsid",
    "xargs",
    "stdbuf -oL",
    "find . -maxdepth 0 -exec",
];

/// Ways to write the name of a program.
const SPELLINGS: [fn(&str) -> String; 7] = [
    |name| name.to_owned(),
    |name| format!("\\{name}"),
    |name| format!("'{name}'"),
    |name| format!("{}\"\"{}", &name[..1], &name[1..]),
    |name| format!("$'\\x{:02x}'{}", name.as_bytes()[0], &name[1..]),
    |name| format!("/usr/bin/{name}"),
    |name| format!("$(echo {name})"),
];

fn disguised() -> impl Strategy<Value = String> {
    let spelled =
        (proptest::sample::select(&DENIED), proptest::sample::select(&SPELLINGS)).prop_map(|(command, spell)| {
            let (name, rest) = command.split_once(' ').expect("a command has words");
            format!("{} {rest}", spell(name))
        });
    let fronts = proptest::collection::vec(proptest::sample::select(&AROUND_WORDS), 0..3);
    let simple = (spelled, fronts).prop_map(|(command, fronts)| {
        fronts.iter().fold(command, |command, front| match front.starts_with("find") {
            true => format!("{front} {command} ';'"),
            false => format!("{front} {command}"),
        })
    });
    let around = proptest::collection::vec(proptest::sample::select(&AROUND_SCRIPTS), 0..4);
    (simple, around).prop_map(|(command, around)| around.iter().fold(command, |script, around| around(&script)))
}

/// Whether the reader came to its end. Where it panics, the command has one step that says so.
fn is_read(command: &str) -> bool {
    let steps = steps_in_scene(command);
    !steps.is_empty() && !steps.iter().any(|step| step.to_string().contains("fail to read it"))
}

/// A command with a few bytes taken out, doubled or put in.
fn mutated() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(
        &["'", "\"", "$(", ")", "`", "{", "}", "<<E\n", "|", "&", ";", "\\", "$", "#", "((", "\0", "é"][..],
    );
    (disguised(), proptest::collection::vec((any::<prop::sample::Index>(), piece), 1..4)).prop_map(
        |(command, edits)| {
            edits.iter().fold(command, |command, (at, piece)| {
                let characters: Vec<char> = command.chars().collect();
                let at = at.index(characters.len());
                characters[..at].iter().copied().chain(piece.chars()).chain(characters[at..].iter().copied()).collect()
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 768, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_denied_stays_denied_in_every_disguise(command in disguised()) {
        prop_assert_eq!(decision(&command), Decision::Deny, "{}", command);
    }

    #[test]
    fn a_mutated_command_breaks_nothing(command in mutated()) {
        prop_assert!(is_read(&command), "{}", command);
    }

    #[test]
    fn any_text_breaks_nothing(text in any::<String>(), more in "[-a-z $(){}<>|&;'\"`\\\\\n#=*~/\\[\\]!]{0,80}") {
        prop_assert!(is_read(&text), "{}", text);
        prop_assert!(is_read(&more), "{}", more);
    }
}

#[test]
fn the_dangerous_part_may_come_last() {
    let long = format!("{}rm -rf ~", "true; ".repeat(60));
    assert_eq!(decision(&long), Decision::Deny);
}

/// Commands that do what is refused by a way round.
const BY_A_WAY_ROUND: [&str; 29] = [
    "bash -norc -c 'rm -rf ~'",
    "bash -noprofile -c 'rm -rf ~'",
    "bash -n +n -c 'rm -rf ~'",
    "bash -n +o noexec -c 'rm -rf ~'",
    "bash -n -i -c 'rm -rf ~'",
    "bash -rcfile x -c 'rm -rf ~'",
    "zsh -oerrexit -c 'rm -rf ~'",
    "bash --unheard-of -c 'rm -rf ~'",
    "echo 'rm -rf \"$1\"' | sh -s -- /",
    "echo 'rm -rf \"$1\"' | sh -s /",
    "echo 'rm -rf \"$1\"' | sh /dev/stdin /",
    "cat to_ssl/../shadow",
    "cat docs/../to_ssl/../shadow",
    "cd to_ssl; cat ../shadow",
    "ln -s /etc/ssl q; cat q/../shadow",
    "find . -name .env -exec cat {} \\;",
    "find . -name .env | xargs cat",
    "find . -type f -name .env -print0 | xargs -0 cat",
    "find . \\( -name .env -o -name x \\) -exec cat {} +",
    "cat $(find . -name .env)",
    "find . -name .env | while read f; do cat \"$f\"; done",
    "find /etc -name shadow -exec cat {} +",
    "find /etc -name 'shado?' -exec cat {} +",
    "find . -name .git -exec rm -rf {} +",
    "find . -name .git | xargs rm -rf",
    "fd -H '^\\.env$' -x cat",
    "fd -H .env | xargs cat",
    "env a-b=1 rm -rf ~",
    "env 'BASH_FUNC_ls%%=() { rm -rf ~; }' bash -c ls",
];

#[test]
fn a_way_round_to_what_is_denied_is_denied() {
    let passed: Vec<_> = BY_A_WAY_ROUND.iter().filter(|command| decision(command) != Decision::Deny).collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

#[test]
fn what_only_looks_like_a_way_round_is_let_through() {
    let harmless = [
        "bash -n build.sh",
        "bash -n -c 'rm -rf ~'",
        "cat docs/../README.md",
        "cd to_ssl/.. && cat README.md",
        "find . -name '*.rs' | xargs wc -l",
        "find . -name '*.rs' -exec grep -n x {} +",
        "find . -name .git -prune -o -type f -print | xargs wc -l",
        "find src -not -name .env -type f | xargs cat",
        "find . -not \\( -name .git -prune \\) -type f | xargs wc -l",
        "fd '\\.rs$' src -x wc -l",
    ];
    let stopped: Vec<_> = harmless.iter().filter(|command| decision(command) != Decision::Allow).collect();
    assert!(stopped.is_empty(), "{stopped:#?}");
}

#[test]
fn what_lies_beyond_a_limit_is_refused() {
    assert_eq!(decision("rm -rf {~,{1..2000}}"), Decision::Deny);
    assert_eq!(decision(&format!("{}; rm -rf ~", "echo ) ;".repeat(6))), Decision::Deny);
}

#[test]
fn the_state_of_the_shell_is_asked_about() {
    assert_eq!(decision("export PAGER=less"), Decision::Ask);
}

/// A command with as many different operands as there is room for.
fn numbered(command: &str, operand: &str) -> String {
    let operands = (0..).map(|number| format!(" {operand}{number}"));
    let mut left = LONGEST - command.len();
    let fitting = operands.take_while(|operand| {
        left = left.saturating_sub(operand.len());
        left > 0
    });
    std::iter::once(command.to_owned()).chain(fitting).collect()
}

#[test]
fn a_command_of_the_greatest_length_is_read_in_time() {
    let filled = |piece: &str| piece.repeat(LONGEST / piece.len());
    let worst = [
        filled("true; "),
        filled("$(echo "),
        filled("("),
        filled("a b c "),
        format!("x=a; true && x=b; echo {}", "$x ".repeat(LONGEST / 4)),
        numbered("rm", "../a/b"),
        numbered("cat", "f"),
        numbered("git add", "f"),
        format!("echo {{{}1..999}}", "0".repeat(30_000)),
        format!("x={}; {}", "a".repeat(4_000), "echo ${x#*aaaaaaaaaaaaaaaaaaaaab}; ".repeat(20)),
        filled("eval "),
        filled("env "),
        filled("timeout 5 "),
        filled("xargs "),
        format!("find . {}", "-exec ls {} \\; ".repeat(LONGEST / 16)),
        format!("find . {}", "\\( ".repeat(LONGEST / 4)),
        format!("git {}", "-c a.b=c ".repeat(LONGEST / 10)),
        format!("ls {}", "*/".repeat(LONGEST / 3)),
        filled("cd a;"),
        filled("cd x && "),
        "cd src&&".repeat(LONGEST / 8 - 1) + "ls",
        filled("cd src && cd .. && "),
        filled("pushd src&&"),
        filled("cd $x && "),
        format!("git {} log", "-C a ".repeat(LONGEST / 6)),
        format!("hg log {}", "-R a ".repeat(LONGEST / 6)),
        numbered("hg log", "sub/a"),
        (0..4_000).map(|number| format!("f{number}(){{ ls; }};")).collect(),
        format!("find {}{}", "a ".repeat(LONGEST / 8), "-exec a \\; ".repeat(LONGEST / 24)),
        format!("echo {}", "*[a-z]?".repeat(LONGEST / 8)),
        filled("x=$x$x; "),
        filled("{a,b}"),
        filled("cat <<E\nE\n"),
        filled("if true; then "),
        format!("a=({}); {}", "b ".repeat(LONGEST / 4), "a[0]=x; ".repeat(LONGEST / 17)),
        format!("a=({}); {}", "b ".repeat(LONGEST / 4), "a[$x]=x; unset 'a[1]'; ".repeat(LONGEST / 48)),
        format!("a=({}); {}", "b ".repeat(LONGEST / 4), "echo ${a[1]}; ".repeat(LONGEST / 29)),
        filled("f() { f; }; "),
        filled("\"$(\""),
        filled("bash -c 'ls'; "),
        filled("cd ..; ls; "),
        filled("${x:-"),
        filled("ls | "),
        filled("x=1 && y=2; "),
        filled("while :; do x=$y; "),
        format!("for x in {{a..z}}{{1..7}}; do {} done", "cat $x; ".repeat(LONGEST / 10)),
        format!("for x in {{1..190}}; do echo {}; done", "$x ".repeat(LONGEST / 4)),
        format!("trap 'x=1' DEBUG; {}", "true; ".repeat(LONGEST / 7)),
        (0..LONGEST / 16).map(|number| format!("x{number}=1 && (:); ")).collect(),
        (0..LONGEST / 32).map(|number| format!("true && f() {{ f {number}; }}; ")).collect(),
        format!("while :; do {} done", "while :; do x=$x$y; y=$x; done; ".repeat(LONGEST / 40)),
    ];
    worst.iter().for_each(|command| check_time(command));
}

#[test]
fn scripts_of_great_length_are_read_in_time() {
    let half = LONGEST / 2 - 50;
    let written = |file: &str, text: &str| format!("cat > {file} <<'E'\n{text}\nE\n");
    let long = |file: &str, line: &str, times: usize| written(file, &line.repeat(times / line.len()));
    let long_text = LONGEST - 200;
    let worst = [
        (0..LONGEST / 50).map(|number| format!("echo 'import os' > a{number}.py;python3 a{number}.py\n")).collect(),
        (0..LONGEST / 30).map(|number| format!("echo 'x = 1' > a{number}.py; ")).collect::<String>() + "pytest",
        long("a.py", "print(\"a b\", \"find x\")\n", long_text) + "python3 a.py",
        long("a.py", "app.delete('/items/1', x.run(y))\n", long_text) + "python3 a.py",
        long("a.py", "f('rm -rf a', [1, {2: g(3)}])\n", long_text) + "python3 a.py",
        long("a.py", "subprocess.run(['python3', 'a.py'])\n", long_text) + "python3 a.py",
        long("a.js", "foo(", long_text) + "node a.js",
        long("a.js", "const x = require('fs'); x.rmSync(y);\n", long_text) + "node a.js",
        long("a.py", "import os\n", half) + &"python3 a.py; ".repeat(half / 14),
        long("a.sh", "ls; ", half) + &"sh a.sh; ".repeat(half / 9),
        long("a.sh", "echo a\n", half) + &"sed -i s/a/bb/ a.sh; ".repeat(half / 21) + "sh a.sh",
        long("a.sh", "ls\n", half) + &"foowrap ls -l a; ".repeat(half / 17),
        "echo 'ls' >> a.sh; ".repeat(long_text / 19) + "sh a.sh",
        long("Makefile", "a:\n\tls $(X)\n", long_text) + "make; make",
        long("Makefile", "X = $(X)$(X)$(X)$(X)$(X)\na:\n\t$(X)\n", long_text) + "make",
        format!("cat > a.py <<E\n{}\nE\npython3 a.py", "$x $(ls) ".repeat(long_text / 10)),
    ];
    worst.iter().for_each(|command| check_time(command));
}

#[track_caller]
fn check_time(command: &str) {
    let begun = time_of_thread();
    assert!(!steps_in_scene(command).is_empty());
    let taken = time_of_thread() - begun;
    assert!(taken < MOST_TIME, "{}…: {taken:?}", &command[..24]);
}

/// Returns how long the processor has worked for this thread: what else the machine does has no part in it.
fn time_of_thread() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).expect("the time of a thread is not negative");
    Duration::from_secs(seconds) + Duration::from_nanos(time.tv_nsec.unsigned_abs())
}

#[test]
fn text_that_a_program_makes_is_not_run() {
    for command in [
        "awk 'BEGIN{print \"rm -rf /\"}' | bash",
        "jq -rn '\"rm -rf /\"' | sh",
        "echo ls | sed 's/.*/rm -rf ~/' | sh",
        "echo 'echo rm -rf /' | cut -c6- | sh",
        "eval \"$(awk 'BEGIN{print 1}')\"",
    ] {
        assert_eq!(decision(command), Decision::Deny, "{command}");
    }
    for command in ["echo a:b | cut -d: -f1", "echo v1 | sed s/v//", "awk 'BEGIN{print 1}'"] {
        assert_eq!(decision(command), Decision::Allow, "{command}");
    }
}

#[test]
fn a_loop_over_many_names_is_judged_by_all_of_them() {
    let names: Vec<String> = (0..120).map(|number| format!("a{number}")).collect();
    let names = names.join(" ");
    assert_eq!(decision("for i in {1..100}; do echo $i; done"), Decision::Allow);
    assert_eq!(decision("for i in {1..5000}; do echo a$i b$i; done"), Decision::Allow);
    assert_eq!(decision(&format!("for x in {names}; do cat $x $x.txt; done")), Decision::Allow);
    assert_eq!(decision(&format!("for x in {names} ~; do rm -rf $x b$x; done")), Decision::Deny);
    assert_eq!(decision(&format!("for x in {names} rm; do $x -rf ~; done")), Decision::Deny);
}

#[test]
fn a_pattern_for_a_program_is_refused_because_it_hides_the_program() {
    let patterns = ["/bin/l?", "/bin/l? -la", "/usr/bin/l*", "/bin/m*", "/bin/s*", "/sbin/m?*", "/bin/p*"];
    for command in patterns {
        let ruling = ruling(&Policy::default(), command);
        assert_eq!(ruling.decision, Decision::Deny, "{command}");
        assert!(ruling.reason.contains("hide which program it runs"), "{command}: {}", ruling.reason);
    }
}
