//! Settings of git for one command: haft asks about every one that it does not know to be harmless.

use haft_policy::decision::Decision::Allow;
use haft_policy::examples::decision;

/// Settings that connect, write, run, or lead git somewhere else; some of them are known to no list of bad ones.
const SETTINGS: &[&str] = &[
    "remote.http://127.0.0.1:1/leak.promisor=true",
    "remote.https://x.example/data.promisor=true",
    "remote.user@host:x.promisor=true",
    "remote.file:///tmp/x.promisor=true",
    "remote.../pr.promisor=true",
    "remote.origin.promisor=true",
    "remote.origin.promisor",
    "Remote.x.Promisor=1",
    "remote.x.partialclonefilter=blob:none",
    "remote.x.url=http://x.example",
    "remote.x.fetch=+refs/*:refs/*",
    "remote.x.mirror=true",
    "remote.x.skipfetchall=false",
    "remote.pushdefault=x",
    "branch.main.remote=http://x.example/",
    "branch.main.pushremote=x",
    "extensions.partialclone=http://x.example/",
    "extensions.worktreeconfig=true",
    "extensions.refstorage=reftable",
    "core.repositoryformatversion=1",
    "core.bare=true",
    "core.worktree=/tmp",
    "core.sparsecheckout=true",
    "core.sharedrepository=world",
    "core.createobject=link",
    "core.virtualfilesystem=./x",
    "core.usebuiltinfsmonitor=true",
    "log.showsignature=true",
    "submodule.recurse=true",
    "submodule.x.url=http://x.example",
    "bundle.heuristic=creationToken",
    "fetch.bundleuri=http://x.example/",
    "fetch.writecommitgraph=true",
    "promisor.quiet=true",
    "promisor.acceptfromserver=all",
    "lfs.url=http://x.example",
    "lfs.customtransfer.x.path=./x",
    "lfs.extension.x.clean=./x",
    "http.proxy=http://x.example",
    "http.cookiefile=x",
    "http.savecookies=true",
    "trace2.eventtarget=/tmp/x",
    "trace2.normaltarget=x",
    "trace2.perftarget=x",
    "uploadpack.allowfilter=true",
    "uploadarchive.allowunreachable=true",
    "sendpack.sideband=x",
    "difftool.prompt=false",
    "diff.tool=x",
    "diff.x.cachetextconv=true",
    "merge.tool=x",
    "rebase.instructionformat=x",
    "credential.usehttppath=true",
    "credential.username=x",
    "url.http://x.example/.insteadof=/",
    "safe.directory=*",
    "safe.barerepository=all",
    "init.templatedir=./x",
    "maintenance.strategy=incremental",
    "clean.requireforce=false",
    "worktree.x=1",
    "frob.nicate=1",
    "x",
];

/// Subcommands that look.
const LOOKS: &[&str] = &[
    "cat-file -p 1111111111111111111111111111111111111111",
    "show",
    "log -p",
    "status",
    "diff",
    "ls-files",
    "rev-parse HEAD",
];

/// Settings of everyday commands.
const HARMLESS: &[&str] = &[
    "color.ui=never",
    "color.ui=always",
    "color.diff=false",
    "core.quotepath=off",
    "core.quotePath=false",
    "core.abbrev=40",
    "core.pager=cat",
    "core.pager=",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.autocrlf=false",
    "core.whitespace=-trailing-space",
    "core.preloadindex=true",
    "diff.renames=copies",
    "diff.renameLimit=5000",
    "diff.noprefix=true",
    "diff.algorithm=histogram",
    "diff.context=10",
    "diff.submodule=log",
    "diff.colorMoved=zebra",
    "diff.external=",
    "log.showRoot=false",
    "log.date=iso",
    "log.decorate=short",
    "merge.conflictStyle=diff3",
    "status.relativePaths=false",
    "status.showUntrackedFiles=no",
    "column.ui=never",
    "advice.detachedHead=false",
    "advice.statusHints=false",
    "pager.log=false",
    "user.name=me",
    "user.email=me@example.org",
    "init.defaultBranch=main",
    "grep.lineNumber=true",
    "blame.showEmail=true",
    "tag.sort=-version:refname",
    "versionsort.suffix=-rc",
    "i18n.logOutputEncoding=utf-8",
    "format.pretty=oneline",
    "protocol.version=2",
    "gc.auto=0",
    "commit.gpgsign=false",
];

#[test]
fn a_setting_that_is_not_known_to_be_harmless_is_never_allowed() {
    let mut allowed = Vec::new();
    for (setting, look) in SETTINGS.iter().flat_map(|setting| LOOKS.iter().map(move |look| (setting, look))) {
        let (key, value) = setting.split_once('=').unwrap_or((setting, "true"));
        for command in [
            format!("git -c '{setting}' {look}"),
            format!("git --no-pager -c color.ui=never -c '{setting}' {look}"),
            format!("git --config-env='{key}=X' {look}"),
            format!("git --config-env '{key}=X' {look}"),
            format!("GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0='{key}' GIT_CONFIG_VALUE_0='{value}' git {look}"),
            format!("export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0='{key}' GIT_CONFIG_VALUE_0='{value}'; git {look}"),
            format!("GIT_CONFIG_PARAMETERS=\"'{setting}'\" git {look}"),
            format!("env GIT_CONFIG_PARAMETERS=\"'{key}'='{value}'\" git {look}"),
        ] {
            allowed.extend(Some(command).filter(|command| decision(command) == Allow));
        }
    }
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[test]
fn settings_of_everyday_commands_are_allowed() {
    for setting in HARMLESS {
        for look in ["log -3", "diff", "status"] {
            let command = format!("git -c {setting} {look}");
            assert_eq!(decision(&command), Allow, "{command}");
        }
    }
}

#[test]
fn a_value_that_is_in_a_variable_is_asked_about() {
    for command in ["git --config-env=core.pager=cat log", "git --config-env=color.ui=X log", "git -c \"$X\" log"] {
        assert_ne!(decision(command), Allow, "{command}");
    }
}

#[test]
fn subcommands_that_write_objects_are_asked_about() {
    for command in [
        "git mktree",
        "git mktree </dev/null",
        "git mktree --batch",
        "git write-tree",
        "git write-tree --prefix=src/",
        "git hash-object -w a.txt",
        "git hash-object --stdin -w",
        "git commit-tree HEAD^{tree}",
        "git mktag",
        "git unpack-file HEAD:a.txt",
        "git merge-tree --write-tree a b",
        "git merge-tree a b",
        "git stash create",
        "git replay --onto a b..c",
        "git pack-objects x",
    ] {
        assert_ne!(decision(command), Allow, "{command}");
    }
}
