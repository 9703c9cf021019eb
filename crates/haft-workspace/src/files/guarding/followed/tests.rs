//! Tests every way from a protected name to another place, and how haft treats that place.

use std::os::unix::fs::symlink;

use haft_contract::files::path::{Extent, FileLocation};

use super::git::settings;
use super::*;

/// A workspace in a folder in which other things can lie.
struct FollowedPlacesFixture {
    above: tempfile::TempDir,
}

impl FollowedPlacesFixture {
    fn new() -> Self {
        let above = tempfile::tempdir().expect("a folder can be made");
        std::fs::create_dir(above.path().join("ws")).expect("a folder can be made");
        Self { above }
    }

    /// Writes a file: from the workspace on.
    fn file(&self, path: &str, text: &str) {
        let path = self.above.path().join("ws").join(path);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }

    fn link(&self, path: &str, to: &str) {
        self.file(&format!("{path}-x"), "");
        symlink(to, self.above.path().join("ws").join(path)).expect("a link can be made");
    }

    fn followed(&self) -> FollowedPlaces {
        let mut root = WorkspaceRoot::open(&self.above.path().join("ws")).expect("it is there");
        root.at_home(Some(self.above.path().join("home")));
        FollowedPlaces::look(&root)
    }

    /// Returns whether tools ask about a change, and whether a command cannot make it.
    fn judged(&self, path: &str) -> (bool, bool) {
        let followed = self.followed();
        let target = Target::Inside(FileLocation::new(path, Extent::Entry));
        let asked = [Change::Create, Change::Replace, Change::Remove]
            .map(|change| followed.question((&target, change)).is_some());
        assert!(asked.iter().all(|is_asked| *is_asked == asked[0]), "{path}: {asked:?}");
        (asked[0], followed.refuses(Path::new(path), FileKind::File))
    }

    fn is_followed(&self, path: &str) -> bool {
        let (is_asked, is_refused) = self.judged(path);
        assert_eq!(is_asked, is_refused, "{path}: both doors agree");
        is_asked
    }
}

/// Settings, and a place that git runs or follows because of each.
const SETTINGS: &[(&str, &str)] = &[
    ("[core]\n\thooksPath = tools/hooks", "tools/hooks/pre-commit"),
    ("[core]\n\thooksPath = tools/hooks/", "tools/hooks/deep/er"),
    ("[CORE] HOOKSPATH=\"tools/hooks\" ; why", "tools/hooks/pre-commit"),
    ("[core]\n\thooksPath = tools/\\\nhooks # x", "tools/hooks/pre-commit"),
    ("[core]\n\thooksPath = ./a/../tools/hooks", "tools/hooks/pre-commit"),
    ("[core]\n\thooksPath = @WS@/tools", "tools/pre-commit"),
    ("[core]\n\thooksPath = .", "pre-commit"),
    ("[init]\n\ttemplateDir = template", "template/hooks/post-checkout"),
    ("[include]\n\tpath = ../shared.inc", "shared.inc"),
    ("[includeIf \"gitdir:~/a\\\"]b/\"]\n\tpath = ../shared.inc", "shared.inc"),
    ("[includeif.onbranch:main]\n\tpath = ../shared.inc", "shared.inc"),
    ("[core]\n\tattributesFile = git/attributes", "git/attributes"),
    ("[core]\n\tfsmonitor = scripts/run.sh", "scripts/run.sh"),
    ("[core]\n\tfsmonitor = \"./scripts/run.sh --x\"", "scripts/run.sh"),
    ("[core]\n\tpager = sh -e run.sh", "run.sh"),
    ("[core]\n\teditor = env A=1 scripts/run.sh", "scripts/run.sh"),
    ("[core]\n\tsshCommand = @WS@/scripts/run.sh -v", "scripts/run.sh"),
    ("[sequence]\n\teditor = python3 scripts/run.py", "scripts/run.py"),
    ("[filter \"x\"]\n\tclean = scripts/run.sh %f", "scripts/run.sh"),
    ("[filter \"x\"]\n\tsmudge = cat | scripts/run.sh", "scripts/run.sh"),
    ("[filter \"x\"]\n\tprocess = \"node 'scripts/run.js'\"", "scripts/run.js"),
    ("[diff \"x\"]\n\ttextconv = scripts/run.sh", "scripts/run.sh"),
    ("[diff]\n\texternal = scripts/run.sh", "scripts/run.sh"),
    ("[merge \"x\"]\n\tdriver = scripts/run.sh %O %A %B", "scripts/run.sh"),
    ("[mergetool \"x\"]\n\tcmd = scripts/run.sh", "scripts/run.sh"),
    ("[credential]\n\thelper = \"!f() { ./scripts/run.sh; }; f\"", "scripts/run.sh"),
    ("[credential \"https://a.b\"]\n\thelper = @WS@/scripts/run.sh", "scripts/run.sh"),
    ("[gpg]\n\tprogram = scripts/run.sh", "scripts/run.sh"),
    ("[alias]\n\tx = !scripts/run.sh", "scripts/run.sh"),
    ("[alias]\n\tx = \"!sh -c './scripts/run.sh'\"", "scripts/run.sh"),
    ("[alias]\n\tx = \"!\\\"$(git rev-parse --show-toplevel)\\\"/there.sh\"", "there.sh"),
    ("[alias]\n\tx = !timeout 5 executable", "executable"),
    ("[submodule \"x\"]\n\tupdate = !scripts/run.sh", "scripts/run.sh"),
    ("[remote \"x\"]\n\tuploadpack = scripts/run.sh", "scripts/run.sh"),
    ("[hook \"x\"]\n\tcommand = scripts/run.sh", "scripts/run.sh"),
    ("[gc]\n\trecentObjectsHook = scripts/run.sh", "scripts/run.sh"),
    ("[help]\n\tbrowser = scripts/run.sh", "scripts/run.sh"),
    ("[sendemail \"x\"]\n\tccCmd = scripts/run.sh", "scripts/run.sh"),
    ("[sendemail]\n\tsmtpServer = @WS@/scripts/run.sh", "scripts/run.sh"),
    ("[lfs \"extension.x\"]\n\tclean = scripts/run.sh", "scripts/run.sh"),
    ("[remote \"x\"]\n\tannex-start-command = scripts/run.sh", "scripts/run.sh"),
];

/// Command lines that run or load `S`, or take it from `D`, behind options and wrappers.
const LINES: &[&str] = &[
    "{S}",
    "perl -I x {S}",
    "perl -I{D} x",
    "perl -I {D} x",
    "python3 -W ignore {S}",
    "python3 -u {S}",
    "ruby -r {S}",
    "ruby -r{S}",
    "node --require {S}",
    "node --require={S}",
    "timeout 5 {S}",
    "timeout -k 5 10 sh {S}",
    "env -u X {S}",
    "env -i A=1 sh {S}",
    "env -S 'sh {S}'",
    "nice -n 5 {S}",
    "sudo -u x {S}",
    "xargs sh {S}",
    "stdbuf -o0 {S}",
    "awk -f {S}",
    "awk -f{S}",
    "gawk -i {S} 1",
    "sed -f {S}",
    "sed -nf {S}",
    "make -f {S}",
    "make -C {D}",
    "just -f {S} x",
    "ssh -F {S}",
    "ssh -F{S}",
    "ssh -o ProxyCommand={S}",
    "ssh -o 'ProxyCommand sh {S}'",
    "vim -u {S}",
    "vim -S {S}",
    "emacs -l {S}",
    "sh -c '. {S}'",
    "sh -c 'source {S}'",
    "bash --rcfile {S} -i",
    "bash -c 'sh < {S}'",
    "sh -c \"cd {D} && {S}\"",
    "gdb -x {S}",
    "java -cp {S} X",
    "java -jar {S}",
    "docker-compose -f {S} up",
    "unknown-wrapper {S}",
    "unknown-wrapper --load {S}",
    "unknown-wrapper --load={S}",
    "LD_PRELOAD={S} cat",
    "PATH={D}:/usr/bin cat",
    "PERL5LIB={D} perl x",
    "\"$GIT_DIR\"/../{S}",
    "$PWD/{S}",
    "${PWD}/{S}",
    "\"$(git rev-parse --show-toplevel)/{S}\"",
    "\"$(git rev-parse --show-toplevel)\"/{S} --x",
    "test -f x && {S}",
    "if true; then sh {S}; fi",
];

/// Files that settings stand in, from the workspace on, and what must stand there for git to read them.
const FILES: &[(&str, &[(&str, &str)])] = &[
    (".git/config", &[]),
    (".git/config.worktree", &[]),
    (".git/modules/sub/config", &[(".git/config", ""), ("../ws/.git/x", "")]),
    ("../home/.gitconfig", &[(".git/HEAD", "")]),
    ("../home/.config/git/config", &[(".git/HEAD", "")]),
    (".git/one.inc", &[(".git/config", "[include]\n\tpath = one.inc")]),
    (".git/b", &[(".git/config", "[include]\n\tpath = a"), (".git/a", "[include]\n\tpath = b")]),
    (
        "../main/.git/config",
        &[(".git", "gitdir: ../main/.git/worktrees/ws\n"), ("../main/.git/worktrees/ws/commondir", "../..\n")],
    ),
    ("../.git/config", &[]),
];

#[test]
fn what_any_setting_of_any_file_of_git_names_is_followed() {
    for (file, besides) in FILES.iter().filter(|(file, _)| !file.contains("modules")) {
        for (text, place) in SETTINGS {
            let scene = FollowedPlacesFixture::new();
            besides.iter().for_each(|(path, text)| scene.file(path, text));
            for (path, text) in [("there.sh", ""), ("executable", ""), ("ordinary.txt", "")] {
                scene.file(path, text);
            }
            let executable = scene.above.path().join("ws/executable");
            std::fs::set_permissions(executable, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("ours");
            let ws = scene.above.path().join("ws").canonicalize().expect("it is there");
            let mut text = text.replace("@WS@", &ws.display().to_string());
            // What is included is named from the folder of the file, all else from the top of the work.
            if *file == "../.git/config" && !text.contains("nclude") && !text.contains(&*ws.to_string_lossy()) {
                text = text.replace("tools/", "ws/tools/").replace("scripts/", "ws/scripts/");
            }
            text = text.replace("../shared.inc", &ws.join("shared.inc").display().to_string());
            scene.file(file, &text);
            let is_named_from_above =
                *file == "../.git/config" && !text.contains("ws/") && !text.contains(&*ws.to_string_lossy());
            assert_eq!(scene.is_followed(place), !is_named_from_above, "{file}: {text}");
            for other in ["ordinary.txt", "src/main.rs", "tool", "scripts/other.sh"] {
                let is_in_the_root = text.contains("hooksPath = .\0") || text.ends_with("hooksPath = .");
                assert!(is_in_the_root || !scene.is_followed(other), "{file}: {text}: {other}");
            }
        }
    }
}

#[test]
fn a_setting_of_any_file_of_git_that_prints_patches_is_seen() {
    for (file, besides) in FILES.iter().filter(|(file, _)| !file.contains("modules")) {
        for (text, prints) in [
            ("[stash]\n\tshowPatch = true", true),
            ("[Stash]\n\tSHOWPATCH", true),
            ("[commit]\n\tverbose = 2", true),
            ("[stash]\n\tshowPatch = False", false),
            ("[commit]\n\tverbose = 0", false),
            ("[stash]\n\tshowStat = true", false),
        ] {
            let scene = FollowedPlacesFixture::new();
            besides.iter().for_each(|(path, text)| scene.file(path, text));
            scene.file(file, text);
            assert_eq!(scene.followed().git_prints_patches(), prints, "{file}: {text}");
        }
    }
}

#[test]
fn every_word_of_a_program_that_names_a_path_is_followed_also_where_nothing_is_there_yet() {
    let mut missed = Vec::new();
    for line in LINES {
        for (script, folder) in [("./tools/run", "./lib"), ("tools/run", "lib"), ("@WS@/tools/run", "@WS@/lib")] {
            // What stands behind a gap or in another folder is named from there.
            if line.contains("/{S}") && script != "tools/run" || line.contains("cd {D}") && script.contains('@') {
                continue;
            }
            let scene = FollowedPlacesFixture::new();
            let ws = scene.above.path().join("ws").canonicalize().expect("it is there");
            let line = line.replace("{S}", script).replace("{D}", folder);
            let line = line.replace("@WS@", &ws.display().to_string());
            let quoted = line.replace('\\', "\\\\").replace('"', "\\\"");
            for key in ["[core]\n\tfsmonitor = \"@\"", "[alias]\n\tx = \"!@\""] {
                scene.file(".git/config", &key.replace('@', &quoted));
                let place = if line.contains("lib") && !line.contains("tools/run") { "lib/a" } else { "tools/run" };
                let is_found = scene.is_followed(place) || line.contains("cd ") && scene.is_followed("lib/tools/run");
                if !is_found {
                    missed.push(line.clone());
                }
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_submodule_and_a_nested_repository_lead_from_their_own_folders() {
    let scene = FollowedPlacesFixture::new();
    scene.file("sub/.git", "gitdir: ../.git/modules/sub\n");
    scene.file(".git/modules/sub/config", "[core]\n\thooksPath = hooks\n");
    scene.file("deep/er/.git/config", "[core]\n\thooksPath = ../../shared\n");
    scene.file("out/.git", "gitdir: ../store\n");
    scene.file("store/config", "");
    for (path, is_followed) in
        [("sub/hooks/a", true), ("hooks/a", false), ("shared/a", true), ("store/hooks/a", true), ("store/config", true)]
    {
        assert_eq!(scene.is_followed(path), is_followed, "{path}");
    }
    assert_eq!(scene.judged("store/objects/a"), (true, false), "data of git, as in .git");
}

/// Links at protected places, and a place to which each leads.
const LINKS: &[(&str, &str, &str)] = &[
    (".vscode", "cfg", "cfg/tasks.json"),
    (".vscode/tasks.json", "../cfg/t.json", "cfg/t.json"),
    (".envrc", "env/rc", "env/rc"),
    ("deep/.claude", "../shared/agent", "shared/agent/settings.json"),
    (".git/hooks", "../tools", "tools/pre-commit"),
    (".git/hooks/pre-commit", "../../scripts/x", "scripts/x"),
    (".git/config", "../git.cfg", "git.cfg"),
    (".git/info", "../i", "i/attributes"),
    (".cargo", "c", "c/config.toml"),
    (".config", "conf", "conf/nvim/init.lua"),
    (".yarn", "y", "y/releases/yarn.cjs"),
    (".VSCode", "cfg", "cfg/tasks.json"),
    (".bashrc", "missing/deep/rc", "missing/deep/rc"),
];

#[test]
fn what_a_link_at_a_protected_place_leads_to_is_followed() {
    for (link, to, place) in LINKS {
        let scene = FollowedPlacesFixture::new();
        scene.file(".git/HEAD", "");
        scene.link(link, to);
        assert!(scene.is_followed(place), "{link} -> {to}: {place}");
        for other in ["src/main.rs", "cfg.txt", "scripts/y"] {
            assert!(!scene.is_followed(other), "{link} -> {to}: {other}");
        }
    }
}

#[test]
fn each_link_on_the_way_is_followed_and_what_takes_the_place_of_a_folder() {
    let scene = FollowedPlacesFixture::new();
    scene.link(".vscode", "a");
    scene.link("a", "b/c");
    scene.link("b", "d");
    for path in ["a", "b", "d/c", "d/c/tasks.json"] {
        assert!(scene.followed().refuses(Path::new(path), FileKind::Link), "{path}");
    }
    assert!(scene.followed().refuses(Path::new("d"), FileKind::Link), "a link in the place of the folder");
    assert!(!scene.followed().refuses(Path::new("d"), FileKind::Folder));
    let folder = Target::Inside(FileLocation::new("d", Extent::Tree));
    assert!(scene.followed().question((&folder, Change::Remove)).is_some());
    assert!(scene.followed().question((&folder, Change::Replace)).is_none());
}

#[test]
fn what_leads_out_of_the_workspace_or_is_harmless_protects_nothing() {
    for text in [
        "[core]\n\thooksPath = /usr/share/hooks",
        "[core]\n\thooksPath = ../elsewhere",
        "[core]\n\tpager = less -R",
        "[core]\n\tfsmonitor = true",
        "[alias]\n\tco = checkout src/main.rs",
        "[alias]\n\tx = !cat src/main.rs",
        "[alias]\n\tx = !cargo fmt -- src",
        "[alias]\n\tx = !git checkout main && git diff -- src",
        "[credential]\n\thelper = !gh auth git-credential",
        "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f",
        "[core]\n\tpager = diff-so-fancy | less --tabs=4 -RFX",
        "[sendemail]\n\tsmtpServer = src",
        "[user]\n\tname = src/main.rs",
        "[core]\n\texcludesFile = src/main.rs",
        "# [core]\n# hooksPath = src",
        "[core]\n\tautocrlf = \"# hooksPath = src\"",
    ] {
        let scene = FollowedPlacesFixture::new();
        scene.file("src/main.rs", "");
        scene.file(".git/config", text);
        for path in ["src/main.rs", "src", "true", "less", "auth", "main", "clean", "4", "FX"] {
            assert!(!scene.is_followed(path), "{text}: {path}");
        }
    }
}

#[test]
fn files_that_include_each_other_come_to_an_end() {
    let scene = FollowedPlacesFixture::new();
    scene.file(".git/config", "[include]\n\tpath = a\n[include]\n\tpath = config\n");
    scene.file(".git/a", "[include]\n\tpath = config\n\tpath = a\n");
    assert!(!scene.is_followed("src/main.rs"));
}

#[test]
fn settings_are_read_as_git_reads_them() {
    let read = |text: &str| settings(text).into_iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>();
    assert_eq!(read("[a]b=c\n"), ["a.b=c"]);
    assert_eq!(read("[A \"B c\"]\n  d  =  e  f  # g\n"), ["a.b c.d=e  f"]);
    assert_eq!(read("[a]\nb\nc = \" x \" \n"), ["a.b=true", "a.c= x "]);
    assert_eq!(read("[a]\nb = one\\\n two\n"), ["a.b=one two"]);
    assert_eq!(read("\u{feff}[a.b]\r\nc = d\r\n;e=f\n"), ["a.b.c=d"]);
    assert_eq!(read("[a \"x\\\"]y\"]\nb=\"c;d\"\n"), ["a.x\"]y.b=c;d"]);
    assert_eq!(read("[a\nb = c\n["), ["a.b=c"]);
}
