//! Commands that look like more than they are, and need no question.

use haft_policy::decision::Decision::{self, Allow, Ask, Deny};
use haft_policy::examples::{decision, decision_beside};

fn check(wanted: Decision, commands: &[&str]) {
    commands.iter().for_each(|command| assert_eq!(decision(command), wanted, "{command}"));
}

#[test]
fn a_variable_that_is_known_to_be_harmless_may_be_exported() {
    check(
        Allow,
        &[
            "export FOO=1; echo $FOO",
            "export FOO=1",
            "export FOO",
            "export FOO=bar BAR=\"a b\"; echo \"$FOO $BAR\"",
            "declare -x NODE_ENV=test; npm ls",
            "export CI=1 RUST_LOG=debug && git log",
            "export LC_ALL=C; sort a.txt",
            "FOO=1; export FOO; echo $FOO",
        ],
    );
    check(
        Ask,
        &[
            "export",
            "export -p",
            "export SOME_NAME=1",
            "export FOO=1 SOME_NAME=1",
            "export PAGER=less",
            "export PATH=/x:$PATH; ls",
            "export EDITOR=x; git log",
            "export LC_ALL=../x; ls",
            "export TZ=$x; ls",
            "export TZ; ls",
            "export $x",
            "env | grep -i path",
            "env | sort",
        ],
    );
    check(
        Deny,
        &[
            "export LD_PRELOAD=x",
            "export FOO=$(cat .env)",
            "export FILE=/etc/shadow; bash -c 'cat \"$FILE\"'",
            "export DIR=~; sh -c 'rm -rf \"$DIR\"'",
        ],
    );
}

#[test]
fn code_that_only_prints_numbers_is_no_code() {
    check(
        Allow,
        &[
            "python3 -c 'print(1+1)'",
            "python3 -c \"print((7 // 2) * 3, 1.5)\"",
            "python -c 'print(1)'",
            "python3 -u -c 'print(1024*1024)'",
            "node -p 1+1",
            "node -p '3 * (4 + 5)'",
            "node -e 'console.log(1+1)'",
            "node -pe 1+1",
        ],
    );
    check(
        Ask,
        &[
            "python3 -c 'print(x)'",
            "python3 -c 'print(9**9**9)'",
            "python3 -c 'print(1<<99999999)'",
            "python3 -c 'print(\"a\")'",
            "python3 -c 'import os'",
            "python3 -c \"print($x)\"",
            "python3 -i -c 'print(1)'",
            "python3 -c 'print(1)' a.py; python3 a.py",
            "node -p process.version",
            "node -r ./x.js -p 1+1",
            "node -p \"$x\"",
            "Rscript -e 'print(1)'",
            "octave --eval 'print(1)'",
            "ruby -e 'print(1)'",
            "echo 'print(1)' | python3",
        ],
    );
    assert_eq!(decision_beside(&["traceback.py"], "python3 -c 'print(1/0)'"), Ask);
    check(Deny, &["python3 -c 'import os; os.system(\"rm -rf ~\")'", "node -p process.env.GITHUB_TOKEN"]);
}

#[test]
fn the_names_in_the_root_of_the_system_may_be_listed() {
    check(Allow, &["ls /", "ls -la /", "ls -1 / | head", "lsof -nP -i :3000"]);
    check(Ask, &["ls -R /", "ls -lR /", "ls / ~", "ls /home", "tree /", "find / -name x"]);
    for command in ["ls / | xargs rm -rf", "ls / | sed s,^,/, | xargs rm -rf", "for f in $(ls /); do rm -rf /$f; done"]
    {
        assert_ne!(decision(command), Allow, "{command}");
    }
}

#[test]
fn a_database_that_is_opened_to_be_read_is_still_asked_about() {
    check(Ask, &["sqlite3 -readonly x.db .tables", "sqlite3 -readonly x.db 'SELECT 1'"]);
}
