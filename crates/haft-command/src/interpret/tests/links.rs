//! Tests where a change leads: through links that the command makes, and to folders that hold everything.

use crate::interpret::tests::{allowed, asked, denied};
use crate::{CommandReader, CommandScene, Locate, PathLocation};
use haft_contract::files::path::{Extent, FileLocation, Target};
use haft_policy::decision::Decision;
use haft_policy::effect_kind::EffectKind;
use haft_policy::examples::decision;
use haft_policy::policy::{Policy, Situation};

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
    fn locate(&self, path: &str) -> PathLocation {
        PathLocation { target: Target::Outside(FileLocation::new(path, Extent::Entry)), kind: None }
    }
}

fn decision_in_scratch(command: &str) -> Decision {
    let text = str::to_owned;
    let workspace = text("/tmp/s/ws");
    let scene = CommandScene { home: text("/tmp/h/me"), user: text("me"), folder: workspace.clone(), workspace };
    let reader = CommandReader { scene: &scene, locate: &AllOutside, is_refused: EffectKind::refuses_step };
    Policy::default().judge("bash", &reader.steps(command), Situation::default()).decision
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

/// A workspace with links that lead out of it; a target names the link, not its destination.
struct LinkedWorkspace;

/// Where the links of the workspace lead.
const LINKS: [(&str, &str); 2] = [("/w/out", "/srv/data/deep"), ("/w/etc", "/etc/ssl")];

impl Locate for LinkedWorkspace {
    fn locate(&self, path: &str) -> PathLocation {
        let is_out = LINKS.iter().any(|(link, _)| std::path::Path::new(path).starts_with(link));
        let target = match path.strip_prefix("/w").filter(|rest| !is_out && (rest.is_empty() || rest.starts_with('/')))
        {
            Some(inside) => Target::Inside(FileLocation::new(inside.trim_start_matches('/'), Extent::Entry)),
            None => Target::Outside(FileLocation::new(path, Extent::Entry)),
        };
        PathLocation { target, kind: Some(haft_contract::doors::door::FileKind::Folder) }
    }

    fn real_path(&self, folder: &str) -> Option<String> {
        let real = |(link, to): &(&str, &str)| folder.strip_prefix(link).map(|rest| format!("{to}{rest}"));
        Some(LINKS.iter().find_map(real).unwrap_or_else(|| folder.to_owned()))
    }

    fn names_in(&self, _folder: &str) -> Vec<String> {
        ["out", "etc", "sub"].map(str::to_owned).to_vec()
    }
}

fn decision_beside_links(command: &str) -> Decision {
    let text = str::to_owned;
    let scene = CommandScene { home: text("/home/me"), user: text("me"), folder: text("/w"), workspace: text("/w") };
    let reader = CommandReader { scene: &scene, locate: &LinkedWorkspace, is_refused: EffectKind::refuses_step };
    Policy::default().judge("bash", &reader.steps(command), Situation::default()).decision
}

#[test]
fn a_step_up_behind_a_link_leads_out_of_the_workspace() {
    for command in [
        "cat etc/../shadow",
        "cat out/../k",
        "cat ./out/./../k",
        "cat sub/../out/../k",
        "cat out/sub/../../k",
        "cat < out/../k",
        "echo x > out/../k",
        "cat out/../*",
        "cat o*/../k",
        "cat */../k",
        "cat \"out/../$x\"",
        "cp out/../k k",
        "tar cf - -C out/.. k",
        "git -C out/.. status",
        "cd out; git -C .. status",
        "git -C out/../other log",
        "env -C out/.. cat k",
        "env -C out cat ../k",
        "env --chdir=out/.. git status",
        "cd out && cat ../k",
        "cd -P out && cd .. && cat k",
        "cd -P out/.. && cat k",
        "cd -LP out && cd .. && git status",
        "set -P; cd out; cd ..; cat k",
        "set -o physical; cd out/..; cat k",
        "set -eP; cd out/..; cat k",
        "find out/.. -name k -exec cat {} +",
        "make -C out/..",
    ] {
        assert_ne!(decision_beside_links(command), Decision::Allow, "{command}");
    }
    for command in
        ["cat sub/../k", "cd out/..; cat k", "cd sub; cat ../k", "env -C sub cat ../k", "git -C sub/.. status"]
    {
        assert_eq!(decision_beside_links(command), Decision::Allow, "{command}");
    }
}
