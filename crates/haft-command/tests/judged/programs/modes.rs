//! Modes of files that look like flags.

use haft_policy::decision::Decision::{self, Ask, Deny};
use haft_policy::examples::decision;

/// Modes that begin with a dash.
const MODES: &[&str] = &[
    "-0", "-1", "-2", "-3", "-4", "-5", "-6", "-7", "-31", "-077", "-777", "-x", "-w", "-r", "-rw", "-rwx", "-X", "-s",
    "-t", "-u", "-g", "-o", "-a", "-w,o+r", "-=r", "-+x", "-x+w",
];

/// Flags that may stand before or behind a mode.
const FLAGS: &[&str] = &["", "-R ", "-v ", "-c ", "-f ", "-Rv ", "--recursive ", "--verb ", "-h "];

fn check(wanted: Decision, command: &str) {
    assert_eq!(decision(command), wanted, "{command}");
}

#[test]
fn a_mode_that_begins_with_a_dash_is_no_flag() {
    for mode in MODES {
        for flags in FLAGS {
            check(Ask, &format!("chmod {flags}{mode} a.txt"));
            check(Ask, &format!("chmod {mode} {flags}a.txt"));
            check(Ask, &format!("chmod {mode} a.txt {flags}"));
            check(Ask, &format!("chmod {flags}-- {mode} a.txt"));
            check(Deny, &format!("chmod {flags}{mode} /etc/hosts"));
            check(Deny, &format!("chmod {flags}{mode} a.txt ~/b"));
        }
        check(Ask, &format!("chmod -R{} src", &mode[1..]));
        check(Deny, &format!("chmod -R{} ~/src", &mode[1..]));
    }
}

#[test]
fn a_mode_that_sets_an_id_is_refused_wherever_it_stands() {
    for mode in ["u+s", "-x,u+s", "-,u+s", "-x,g+s", "a-x+s", "=s", "4755", "-w,+s", "-R,u+s", "-x+s"] {
        check(Deny, &format!("chmod {mode} a.txt"));
        check(Deny, &format!("chmod -- {mode} a.txt"));
    }
}

#[test]
fn other_programs_that_change_owners_ask_about_flags_that_they_do_not_have() {
    for command in
        ["chown -5 a.txt", "chown -1 a.txt", "chgrp -5 a.txt", "chown --from=a b a.txt", "chmod --ref=a.txt b"]
    {
        check(Ask, command);
    }
    for command in ["chmod --reference=a.txt ~/b", "chmod --reference a.txt ~/b", "chown -R me ~/b"] {
        check(Deny, command);
    }
}
