//! Where a change really goes: through links that the command makes, and to folders that hold everything.

use super::{allowed, asked, denied};
use crate::command::examples::decision;
use crate::command::{Locate, Located, Scene, steps};
use crate::decision::Decision;
use crate::policy::{Policy, Situation};
use haft_contract::path::{Extent, Place, Target};

#[test]
fn what_is_written_to_a_link_is_written_where_it_leads() {
    denied(&[
        "ln -s ~/.bashrc docs/rc && echo evil >> docs/rc",
        "ln -s ~/.bashrc x; cp notes.txt x",
        "ln -s ~/.bashrc x; echo evil | tee x",
        "ln -s ~/.bashrc x; ln -s x y; echo evil > y",
        "ln -s ~/.bashrc; echo evil >> .bashrc",
        "ln -s ~/.profile docs; echo evil >> docs/.profile",
        "ln -st docs ~/.profile; echo evil >> docs/.profile",
        "ln -s ../../.bashrc docs/rc; echo evil >> docs/rc",
        "ln ~/.bashrc x; echo evil >> x",
        "cp -s ~/.bashrc x; echo evil >> x",
        "ln -s $HOME/Documents d; find -L d -type f -delete",
        "ln -s /etc/passwd p; sed -i --follow-symlinks s/a/b/ p",
        "ln -s ~/.ssh/id_rsa k; cat k",
    ]);
    asked(&[
        "ln -s docs d; find -L d -type f -delete",
        "ln -s /etc/hosts h; rm h",
        "ln -s /etc/hosts h; mv notes.txt h",
    ]);
    allowed(&["ln -s README.md x; cat x"]);
}

#[test]
fn a_folder_for_temporary_files_is_not_emptied() {
    denied(&[
        "rm -rf /tmp",
        "rm -rf /tmp/",
        "rm -rf /tmp/*",
        "find /tmp -delete",
        "rm -rf /var/tmp",
        "rm -rf \"$TMPDIR\"",
    ]);
    asked(&[
        "rm -rf /tmp/scratch",
        "rm -rf /tmp/x/*",
        "rm -rf /tmp/*.log",
        "find /tmp -name '*.o' -delete",
        "f(){ rm -rf \"/tmp/$1\"; }; f x",
    ]);
    allowed(&["ls /tmp", "ls /tmp/*"]);
}

/// A workspace and a home that lie in a folder for temporary files.
struct AllOutside;

impl Locate for AllOutside {
    fn locate(&self, path: &str) -> Located {
        Located { target: Target::Outside(Place::new(path, Extent::Entry)), kind: None }
    }
}

fn decision_in_scratch(command: &str) -> Decision {
    let text = str::to_owned;
    let workspace = text("/tmp/s/ws");
    let scene = Scene { home: text("/tmp/h/me"), user: text("me"), folder: workspace.clone(), workspace };
    Policy::default().judge("bash", &steps(command, &scene, &AllOutside), Situation::default()).decision
}

#[test]
fn what_holds_the_workspace_or_the_home_is_no_temporary_file() {
    for command in ["rm -rf /tmp/s", "rm -rf /tmp/s*", "rm -rf /tmp/?", "rm -rf /tmp/h", "d=$PWD/../..; rm -rf \"$d\""]
    {
        assert_eq!(decision_in_scratch(command), Decision::Deny, "{command}");
    }
    for command in ["rm -rf /tmp/other", "rm -rf /tmp/o*"] {
        assert_eq!(decision_in_scratch(command), Decision::Ask, "{command}");
    }
    assert_eq!(decision("d=$PWD/../..; rm -rf \"$d\""), Decision::Deny);
}
