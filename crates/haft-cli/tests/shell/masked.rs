//! `[sandbox] secrets = "mask"`: commands see blank files, and the real ones stay as they are whatever a command does.

use haft_testkit::require::Need;

use crate::ground::for_everybody;

const LAY_OUT: &str = "
git init -q . && mkdir -p conf/deep out && echo out/ > .gitignore
echo 'A=canary-1234' > .env; echo 'B=canary-5678' > conf/deep/x.env; echo 'C=canary-9012' > out/c.env; echo hi > conf/a.txt
touch -d '1 hour ago' .env conf/deep/x.env out/c.env && git add -A && git commit -qm one
";

/// Commands, and what they print and change beside the secrets.
const COMMANDS: &[(&str, Option<&str>)] = &[
    ("grep -r canary . ; git status --short", None),
    ("git add -A && git diff --cached --name-only", None),
    ("git stash -q; git stash pop -q; true", None),
    ("rm -rf conf", Some("conf/a.txt")),
    ("rm -rf out", None),
    ("rm -f .e*v", None),
    ("mv .e*v gone", None),
    (": > $(echo .env); echo X=1 > conf/deep/x.env", None),
    ("mv conf conf2", Some("conf/a.txt")),
    ("find . -name '*.env' -delete", None),
    ("chmod 600 .e*v", None),
    ("cp -r conf copy && mv copy/deep/x.env conf/deep/x.env", None),
    ("sed -i s/1/2/ $(find . -name '*.env')", None),
    ("ln -sf a.txt conf/deep/x.env", None),
];

#[test]
fn a_masked_secret_is_neither_seen_nor_changed_nor_removed() {
    if !Need::Full.met(crate::ground::level() == "full") {
        return;
    }
    for_everybody(&|ground| {
        std::fs::create_dir_all(ground.place.root().join("config/haft")).expect("there is room");
        let settings = ground.place.root().join("config/haft/config.toml");
        std::fs::write(settings, "[sandbox]\nsecrets = \"mask\"\n").expect("there is room");
        if !ground.has_git() {
            return;
        }
        for (command, removes) in COMMANDS {
            let ground_of_one = ground;
            ground_of_one.lay_out("find . -mindepth 1 -delete");
            ground_of_one.lay_out(LAY_OUT);
            let record = ground_of_one.bash_unread(command, 20.0);
            assert_eq!(record["sandbox"], "full", "{command}: {record:#}");
            assert!(!record.to_string().contains("canary"), "{command}: {record:#}");
            for (file, text) in
                [(".env", "A=canary-1234\n"), ("conf/deep/x.env", "B=canary-5678\n"), ("out/c.env", "C=canary-9012\n")]
            {
                let found = std::fs::read_to_string(ground_of_one.place.path(file));
                assert_eq!(found.ok().as_deref(), Some(text), "{command}: {file}: {record:#}");
            }
            if let Some(removed) = removes {
                assert!(!ground_of_one.place.path(removed).exists(), "{command}: {record:#}");
            }
            let staged = "test -z \"$(git diff --cached --name-only -- .env conf/deep/x.env)\"";
            ground_of_one.lay_out(staged);
        }
    });
}

#[test]
fn what_git_took_for_a_change_is_said() {
    let ground = crate::ground::Ground::own();
    std::fs::create_dir_all(ground.place.root().join("config/haft")).expect("there is room");
    let settings = ground.place.root().join("config/haft/config.toml");
    std::fs::write(settings, "[sandbox]\nsecrets = \"mask\"\n").expect("there is room");
    if !ground.has_git() {
        return;
    }
    ground.lay_out("git init -q . && echo 'A=canary-1234' > .env && git add -A && git commit -qm one");
    // Git does not trust times of the moment in which it wrote its index.
    let record =
        ground.bash_unread("git add -A && git -c user.name=a -c user.email=a@b commit -qm two --allow-empty", 20.0);
    let is_changed = ground.bash_unread("git log --oneline -- .env | wc -l", 20.0)["content"].to_string().contains('2');
    assert_eq!(record["content"].to_string().contains("Git treated the blank file"), is_changed, "{record:#}");
}
