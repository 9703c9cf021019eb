//! What haft says itself names files, and a name may be a secret: it is hidden in every line, record and stored result.

use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use haft_testkit::require::Need;
use serde_json::{Value, json};

use crate::ground::{Ground, for_everybody};

const VALUE: &str = "q8Zt3LmX0vRk7PwYbN2cDf6H";
/// What haft needs of a workspace to undo and to find secrets: it holds names as they are, and no call shows it.
const WITH_REAL_NAMES: [&str; 2] = ["journal", "secret-places"];

/// Scripts that put the value into names, each with what haft says of it.
const SCRIPTS: &[(&str, f64, &str)] = &[
    ("touch \"t-$V\"; sleep 9", 2.5, "Changed before it stopped: t-[secret]"),
    ("mkdir -p \"d-$V\" && touch \"d-$V/a\" \"d-$V/b\"", 20.0, "[secret]"),
    ("touch \"f-$V\"; exit 3", 20.0, "f-[secret]"),
    (
        "git init -q . 2>&1; H=$(echo 1 | git hash-object -w --stdin); git update-index --add --cacheinfo \"100644,$H,d-$V/.vscode/x.json\"",
        20.0,
        "protected names: d-[secret]/.vscode/x.json",
    ),
    ("mkdir -p \"p-$V/.vscode\"; echo {} > \"p-$V/.vscode/tasks.json\"", 20.0, "p-[secret]"),
    ("echo X=other-1234-canary > \"$V.env\"; cat \"$V.env\"", 20.0, "[secret]"),
    ("sleep 60 & touch \"b-$V\"", 20.0, "b-[secret]"),
];

fn lay_out(ground: &Ground, script: &str) {
    ground.lay_out(&format!(
        "printf 'API_KEY={VALUE}\\n' > .env; cat > a.sh <<'EOF'\nV=$(cut -d= -f2 .env)\n{script}\nEOF"
    ));
}

/// Fails where something that haft has stored holds the value.
fn assert_not_stored(ground: &Ground, what: &str) {
    let mut open: Vec<PathBuf> = vec![ground.place.root().join("state")];
    let mut looked_at = 0;
    while let Some(path) = open.pop() {
        let is_left_out = |name: &str| path.file_name().is_some_and(|last| last == name);
        if WITH_REAL_NAMES.iter().any(|name| is_left_out(name)) {
            continue;
        }
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
            continue;
        }
        looked_at += 1;
        let content = std::fs::read(&path).unwrap_or_default();
        let holds = content.windows(VALUE.len()).any(|part| part == VALUE.as_bytes());
        assert!(!holds, "{what}: {}", path.display());
    }
    assert!(looked_at > 0, "{what}: nothing is stored");
}

fn assert_hidden(ground: &Ground, what: &str, records: &[Value]) {
    for record in records {
        assert!(!record.to_string().contains(VALUE), "{what}: {record:#}");
    }
    assert_not_stored(ground, what);
}

#[test]
fn a_secret_in_a_name_is_hidden_in_what_haft_says_of_it() {
    for_everybody(&|ground| {
        if !ground.has_git() {
            return;
        }
        for (script, seconds, said) in SCRIPTS {
            let ground = ground.another();
            lay_out(&ground, script);
            let record = ground.bash("sh a.sh", *seconds);
            assert!(record.to_string().contains(said), "{script}: {record:#}");
            assert_hidden(&ground, script, &[record]);
        }
    });
}

#[test]
fn a_secret_in_a_name_is_hidden_in_conflicts() {
    if !Need::Full.met(crate::ground::level() == "full") {
        return;
    }
    for_everybody(&|ground| {
        lay_out(ground, "sleep 1; echo $1 > \"n-$V\"");
        let mut haft = ground.calling().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("haft is there");
        let mut input = haft.stdin.take().expect("it is piped");
        for word in ["one", "two"] {
            let call = json!({ "name": "bash", "arguments": { "command": format!("sh a.sh {word}") } });
            writeln!(input, "{call}").expect("haft listens");
        }
        drop(input);
        let output = haft.wait_with_output().expect("it ends");
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        let records: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
        let conflicts: Vec<&Value> =
            records.iter().flat_map(|record| record["conflicts"].as_array()).flatten().collect();
        assert_eq!(conflicts.len(), 1, "{lines}");
        assert_eq!(conflicts[0]["path"], "n-[secret]", "{lines}");
        assert_hidden(ground, "conflicts", &records);
    });
}
