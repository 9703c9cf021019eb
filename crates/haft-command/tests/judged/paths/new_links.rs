//! Links that a command makes and writes through: the file behind them changes.

use haft_policy::decision::Decision::{self, Allow, Ask, Deny};
use haft_policy::examples::decision;

/// Commands that make `zz` another name of FILE.
const NAMES: &[&str] = &[
    "link FILE zz",
    "ln FILE zz",
    "ln -f FILE zz",
    "ln -T FILE zz",
    "ln -v -- FILE zz",
    "ln --no-target-directory FILE zz",
    "ln -L FILE zz",
    "cp -l FILE zz",
    "cp --link FILE zz",
    "cp -lT FILE zz",
    "gln FILE zz",
    "gcp -l FILE zz",
    "ln -S .old FILE zz",
    "ln --suffix .old FILE zz",
    "ln --suffix=.old FILE zz",
];

/// Commands that make a link to FILE in the new folder `zz`.
const IN_FOLDER: &[&str] = &[
    "ln -t zz FILE",
    "ln -tzz FILE",
    "ln -vt zz FILE",
    "ln --target-directory=zz FILE",
    "ln --target-directory zz FILE",
    "ln --target=zz FILE",
    "ln --t zz FILE",
    "ln FILE zz",
    "ln FILE zz/",
    "ln -- FILE zz",
    "ln FILE notes.txt zz",
    "ln -S .old -t zz FILE",
    "cp -l FILE zz",
    "cp -lt zz FILE",
    "cp -tzz -l FILE",
    "cp --link --target-directory=zz FILE",
    "cp -l --target-directory zz FILE",
    "link FILE zz/a.txt",
    "ln FILE zz/a.txt",
];

/// Programs that start those of the lists.
const STARTERS: &[&str] = &["", "command ", "env ", "nice ", "/bin/", "busybox "];

/// Commands that write to LINK.
const WRITERS: &[&str] = &[
    "echo x > LINK",
    "echo x >> LINK",
    "tee LINK < notes.txt",
    "cp notes.txt LINK",
    "python3 -m json.tool notes.txt LINK",
    "truncate -s 0 LINK",
];

fn check(wanted: Decision, command: &str) {
    assert_eq!(decision(command), wanted, "{command}");
}

#[test]
fn who_writes_to_a_new_name_of_a_file_writes_to_the_file() {
    for writer in WRITERS {
        for starter in STARTERS {
            for name in NAMES {
                let (name, writer) = (format!("{starter}{name}"), writer.replace("LINK", "zz"));
                check(Ask, &format!("{}; {writer}", name.replace("FILE", "a.txt")));
                check(Ask, &format!("cd src && {} && {writer}", name.replace("FILE", "../a.txt")));
            }
            for name in IN_FOLDER {
                let (name, writer) = (format!("mkdir zz; {starter}{name}"), writer.replace("LINK", "zz/a.txt"));
                check(Ask, &format!("{}; {writer}", name.replace("FILE", "a.txt")));
            }
        }
    }
}

#[test]
fn a_link_to_files_that_a_pattern_finds_leads_to_one_of_them() {
    for command in [
        "for f in *; do ln $f zz; done; echo x > zz",
        "ln a.tx? zz; echo x > zz",
        "ln *.txt zz; echo x > zz",
        "mkdir zz; ln *.txt zz; echo x > zz/a.txt",
        "mkdir zz; ln -t zz *.txt; echo x > zz/a.txt",
        "mkdir zz; cp -lt zz *; echo x > zz/a.txt",
        "find . -name a.txt -exec ln {} zz \\; ; echo x > zz",
        "find . -name a.txt | xargs -I{} ln {} zz; echo x > zz",
    ] {
        check(Ask, command);
    }
}

#[test]
fn what_may_not_be_written_or_read_may_not_be_so_by_another_name() {
    for name in NAMES {
        check(Deny, &format!("{}; echo x > zz", name.replace("FILE", "~/.bashrc")));
        check(Deny, &format!("{}; cat zz", name.replace("FILE", ".env")));
    }
    for name in IN_FOLDER.iter().filter(|name| !name.contains("a.txt")) {
        check(Deny, &format!("mkdir zz; {}; echo x > zz/.bashrc", name.replace("FILE", "~/.bashrc")));
        check(Deny, &format!("mkdir zz; {}; cat zz/.env", name.replace("FILE", ".env")));
    }
}

#[test]
fn links_themselves_and_copies_are_allowed() {
    for command in [
        "link a.txt zz",
        "ln -s a.txt zz; cat zz",
        "cp a.txt zz; echo x > zz",
        "mkdir zz; cp -t zz a.txt; echo x > zz/b.txt",
        "mkdir zz; ln -t zz a.txt; cat zz/a.txt",
        "mkdir zz; ln -t zz a.txt; echo x > zz/new.txt",
        "link a.txt zz; echo x > other.txt",
    ] {
        check(Allow, command);
    }
}
