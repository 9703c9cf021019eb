//! Tools write to their caches, the user's own stay as they are, and the next session finds what was downloaded.

use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};

use haft_testkit::require::Need;

use crate::ground::{Ground, ORDINARY, assert_same, for_everybody, tree_of};
use crate::session::{Session, places, text};

/// What the user has before haft runs.
const OF_THE_USER: &str = "
    mkdir -p ~/.cargo/bin ~/.cargo/registry/cache/index ~/.cargo/registry/src ~/.cache/pip/http
    echo mine > ~/.cargo/registry/cache/index/mine.crate
    echo program > ~/.cargo/bin/program
    echo token > ~/.cargo/credentials.toml
    echo lock > ~/.cargo/.package-cache
    chmod 600 ~/.cargo/credentials.toml
";

fn home(ground: &Ground) -> PathBuf {
    ground.place.root().join("home")
}

/// Returns what haft keeps of a tool.
fn kept(ground: &Ground, tool: &str) -> Option<PathBuf> {
    let workspaces = std::fs::read_dir(ground.place.root().join("state/haft/workspaces")).expect("haft has run");
    let folders = workspaces.flatten().map(|workspace| workspace.path().join("tool-caches").join(tool));
    folders.filter(|folder| folder.is_dir()).max()
}

fn names(folder: Option<PathBuf>) -> Vec<String> {
    let mut names: Vec<String> = folder.iter().flat_map(|folder| tree_of(folder).into_keys()).map(shown).collect();
    names.sort();
    names
}

fn shown(path: PathBuf) -> String {
    path.display().to_string()
}

fn set(ground: &Ground, settings: &str) {
    let folder = ground.place.root().join("config/haft");
    ground.lay_out(&format!("mkdir -p {0}; printf '[sandbox]\\n{settings}\\n' > {0}/config.toml", folder.display()));
}

/// Runs one script in a session of its own, and returns what it printed.
fn alone(ground: &Ground, script: &str) -> String {
    let mut session = Session::of(ground);
    let record = session.run(ground, script);
    session.end();
    text(&record).to_owned()
}

#[test]
fn tools_write_to_their_caches_and_the_next_session_finds_what_they_downloaded() {
    for_everybody(&|ground| {
        ground.lay_out(OF_THE_USER);
        let before = tree_of(&home(ground));
        let mut session = Session::of(ground);
        let download = "
            cd ~/.cargo
            cat registry/cache/index/mine.crate
            echo one > registry/cache/index/new.crate
            mkdir -p registry/src/index/new/src/bin git/db/new
            echo code > registry/src/index/new/src/bin/main.rs; echo locked > registry/src/index/new/Cargo.lock
            echo changed > registry/cache/index/mine.crate
            echo x > bin/installed; echo x > config.toml; echo x > .global-cache; echo x >> .package-cache
            : > registry/index.lock; : > git/db/new/HEAD.lock; echo x > git/db/new/refs.lock; echo x > git/db/new/HEAD
            mkdir -p ~/.cache/uv/wheels ~/.npm/_cacache/tmp ~/.npm/_cacache/content-v2
            echo x > ~/.cache/uv/wheels/w; : > ~/.cache/uv/.lock; echo x > ~/.npm/_cacache/content-v2/c
            echo x > ~/.npm/_cacache/tmp/t; rm -r ~/.cache/pip/http; echo done";
        assert_eq!(text(&session.run(ground, download)), "mine\ndone\n");
        let look = "cat ~/.cargo/registry/cache/index/*.crate; test -x ~/.cargo/bin; ls ~/.cargo/bin";
        assert_eq!(text(&session.run(ground, look)), "changed\none\ninstalled\nprogram\n");
        session.end();
        assert_same("the user's home", &before, &tree_of(&home(ground)));
        let files = |tool: &str| -> Vec<String> {
            let folder = kept(ground, tool);
            names(folder.clone())
                .into_iter()
                .filter(|name| folder.as_ref().is_some_and(|at| at.join(name).is_file()))
                .collect()
        };
        assert_eq!(
            files("cargo"),
            [
                "git/db/new/HEAD",
                "registry/cache/index/new.crate",
                "registry/src/index/new/Cargo.lock",
                "registry/src/index/new/src/bin/main.rs"
            ]
        );
        assert_eq!((files("uv"), files("npm")), (vec!["wheels/w".to_owned()], vec!["content-v2/c".to_owned()]));
        let again = "
            cat ~/.cargo/registry/cache/index/*.crate ~/.cache/uv/wheels/w; ls ~/.cargo/bin ~/.cargo ~/.cache/pip
            echo two > ~/.cargo/registry/cache/index/new.crate; rm ~/.cache/uv/wheels/w; echo y > ~/.cache/uv/wheels/w2";
        let told = alone(ground, again);
        assert!(told.starts_with("mine\none\nx\n"), "{told}");
        assert!(!told.contains("installed") && !told.contains("config.toml") && told.contains("http"), "{told}");
        let third =
            alone(ground, "cat ~/.cargo/registry/cache/index/new.crate ~/.cache/uv/wheels/w ~/.cache/uv/wheels/w2");
        assert_eq!(third, "one\nx\ny\n");
        assert_same("the user's home", &before, &tree_of(&home(ground)));
        assert!(places(ground).is_empty(), "{:?}", places(ground));
    });
}

#[test]
fn a_cache_that_does_not_exist_yet_can_be_made_also_in_a_folder_that_is_only_read() {
    for_everybody(&|ground| {
        for (settings, is_kept) in [("", true), ("caches = 0", false)] {
            let ground = ground.another();
            set(&ground, settings);
            ground.lay_out(
                "mkdir -p ~/go/bin ~/.yarn ~/.local/share/pnpm; echo tool > ~/go/bin/tool; echo x > ~/.yarn/release",
            );
            let before = tree_of(&home(&ground));
            let write = "mkdir -p ~/go/pkg/mod/m ~/.local/share/pnpm/store/v3; echo m > ~/go/pkg/mod/m/go.mod
                echo y > ~/.yarn/berry/cache/y.zip; cat ~/go/bin/tool ~/.yarn/release; echo no > ~/go/no || echo refused";
            let look = "cat ~/go/pkg/mod/m/go.mod ~/.yarn/berry/cache/y.zip";
            let mut session = Session::of(&ground);
            assert!(text(&session.run(&ground, write)).starts_with("tool\nx\nrefused\n"));
            assert_eq!(text(&session.run(&ground, look)), "m\ny\n");
            session.end();
            assert_eq!(alone(&ground, look).starts_with("m\ny\n"), is_kept);
            assert_same("the user's home", &before, &tree_of(&home(&ground)));
        }
    });
}

#[test]
fn what_the_user_downloads_later_is_seen_and_not_what_haft_has_kept() {
    for_everybody(&|ground| {
        ground.lay_out(OF_THE_USER);
        alone(ground, "echo kept > ~/.cargo/registry/cache/index/a.crate");
        ground.lay_out("echo newer > ~/.cargo/registry/cache/index/a.crate");
        assert_eq!(alone(ground, "cat ~/.cargo/registry/cache/index/a.crate"), "newer\n");
    });
}

#[test]
fn hidden_files_of_a_cache_stay_hidden_whatever_is_written_around_them() {
    for_everybody(&|ground| {
        ground.lay_out(OF_THE_USER);
        ground.lay_out("mkdir -p ~/.cargo/etc; echo token > ~/.cargo/etc/.npmrc; chmod 600 ~/.cargo/etc/.npmrc");
        let before = tree_of(&home(ground));
        let attack = "
            cd ~/.cargo
            for file in credentials.toml etc/.npmrc; do
                cat $file; cp $file registry/copy; mv $file registry/moved; ln $file registry/linked; rm -f $file
                echo mine > $file; chmod 644 $file; cat $file; tar cf - $file; dd if=$file
            done
            mv etc other; cp -r etc registry/etc; rm -rf etc; cat etc/.npmrc other/.npmrc registry/*; mv ~/.cargo ~/other
            cat ~/other/credentials.toml; umount ~/.cargo; true";
        let mut session = Session::of(ground);
        for _ in 0..2 {
            let record = session.run(ground, attack);
            assert!(!record.to_string().contains("token"), "{record:#}");
        }
        session.end();
        assert!(!alone(ground, "cat ~/.cargo/credentials.toml ~/.cargo/etc/.npmrc").contains("token"));
        assert_same("the user's home", &before, &tree_of(&home(ground)));
    });
}

#[test]
fn no_command_changes_which_programs_later_ones_find() {
    for_everybody(&|ground| {
        for before in [OF_THE_USER, "mkdir -p ~/.cargo/registry"] {
            let ground = ground.another();
            ground.lay_out(before);
            let bin = home(&ground).join(".cargo/bin");
            let path = std::env::join_paths([bin, "/usr/bin".into(), "/bin".into()]).expect("they are paths");
            let mut session = Session::with(&ground, "PATH", &path);
            let plant = "echo 'echo planted' > ~/.cargo/bin/planted; chmod +x ~/.cargo/bin/planted
                mv ~/.cargo/bin ~/.cargo/other; rm -rf ~/.cargo/bin; mkdir -p ~/.cargo/bin; echo x > ~/.cargo/x && echo ok";
            let record = session.run(&ground, plant);
            assert!(text(&record).starts_with("ok\n"), "{record:#}");
            let record = session.run(&ground, "planted; ls ~/.cargo/bin");
            assert!(!text(&record).contains("\nplanted") && !text(&record).starts_with("planted"), "{record:#}");
            session.end();
        }
    });
}

#[test]
fn all_roots_of_a_session_share_its_caches() {
    for_everybody(&|ground| {
        ground.lay_out(OF_THE_USER);
        let mut session = Session::of(ground);
        let mut order = String::new();
        // What commands see has changed each time, so each runs in a root that was built for it.
        for name in [".nvm", ".pyenv", ".rustup", ".bun", ".deno", ".volta"] {
            let add =
                format!("ls -d ~/{name}; echo {name} >> ~/.cargo/registry/src/order; cat ~/.cargo/registry/src/order");
            order = format!("{order}{name}\n");
            ground.lay_out(&format!("mkdir ~/{name}"));
            let told = format!("{}\n{order}", home(ground).join(name).display());
            assert_eq!(text(&session.run(ground, &add)), told);
        }
        session.end();
        assert_eq!(alone(ground, "cat ~/.cargo/registry/src/order"), order);
    });
}

#[test]
fn two_sessions_at_once_are_apart_and_both_are_kept() {
    for_everybody(&|ground| {
        ground.lay_out(OF_THE_USER);
        let (mut one, mut other) = (Session::of(ground), Session::of(ground));
        let write = |name: &str| format!("cd ~/.cargo/registry/src; echo {name} > both; echo {name} > {name}; ls");
        assert_eq!(text(&one.run(ground, &write("one"))), "both\none\n");
        assert_eq!(text(&other.run(ground, &write("other"))), "both\nother\n");
        other.end();
        assert_eq!(text(&one.run(ground, "cat ~/.cargo/registry/src/both")), "one\n");
        one.end();
        assert_eq!(alone(ground, "cd ~/.cargo/registry/src; ls; cat both"), "both\none\nother\nother\n");
    });
}

#[test]
fn nothing_is_kept_of_a_session_that_was_killed_and_the_next_one_sweeps() {
    for_everybody(&|ground| {
        ground.lay_out(OF_THE_USER);
        let before = tree_of(&home(ground));
        let mut session = Session::of(ground);
        session.run(ground, "echo x > ~/.cargo/registry/src/half");
        session.kill();
        assert!(kept(ground, "cargo").is_none() && places(ground).len() == 1);
        assert_eq!(alone(ground, "ls ~/.cargo/registry/src; echo y > ~/.cargo/registry/src/whole; echo -"), "-\n");
        assert!(places(ground).is_empty() && kept(ground, "cargo").is_some());
        assert_same("the user's home", &before, &tree_of(&home(ground)));
    });
}

#[test]
fn the_room_is_bounded_and_the_least_recently_used_tool_goes() {
    for_everybody(&|ground| {
        ground.lay_out(OF_THE_USER);
        set(ground, "caches = 1");
        let write = |path: &str| format!("mkdir -p ~/{path}; head -c 700000 /dev/zero > ~/{path}/large");
        alone(ground, &write(".cargo/registry/src"));
        alone(ground, &write(".cache/uv/archive"));
        assert!(kept(ground, "cargo").is_none() && kept(ground, "uv").is_some());
        set(ground, "caches = 0");
        assert_eq!(alone(ground, "echo x > ~/.cargo/registry/src/y; ls ~/.cargo/registry/src"), "y\n");
        assert!(kept(ground, "cargo").is_none());
    });
}

#[test]
fn gc_shows_and_frees_what_tools_downloaded() {
    let ground = Ground::own();
    alone(&ground, "mkdir -p ~/.cache/uv/archive; head -c 700000 /dev/zero > ~/.cache/uv/archive/large");
    let shown = String::from_utf8_lossy(&ground.haft(&["gc", "--json"]).stdout).into_owned();
    let record: serde_json::Value = serde_json::from_str(&shown).expect("it is a record");
    assert!(record["total"]["tools"].as_u64().is_some_and(|bytes| bytes >= 700_000), "{shown}");
    let freed = ground.haft(&["--yes", "gc", "--tool-caches"]);
    assert!(freed.status.success(), "{}", String::from_utf8_lossy(&freed.stderr));
    assert!(kept(&ground, "uv").is_none());
}

#[test]
fn in_the_workspace_of_another_owner_caches_are_kept_for_that_owner() {
    let ground = Ground::own();
    ground.lay_out("mkdir -p ~/.cache/pip/http ~/.cargo/registry; echo mine > ~/.cache/pip/http/mine");
    let given = chown(ground.place.path(""), Some(ORDINARY), Some(ORDINARY));
    if !Need::Users.met(given.is_ok()) {
        return;
    }
    let before = tree_of(&home(&ground));
    let mut session = Session::of(&ground);
    let first =
        session.run(&ground, "mkdir -p ~/.cache/uv/archive; echo x > ~/.cache/uv/archive/new; echo $PIP_CACHE_DIR");
    let told = text(&first).to_owned();
    let moved = home(&ground).join(".cache/haft/pip");
    assert!(told.starts_with(&format!("{}\n", moved.display())), "{told}");
    assert!(told.contains("can only be read here"), "{told}");
    let second = session.run(&ground, "mkdir -p $PIP_CACHE_DIR && echo y > $PIP_CACHE_DIR/y && id -u");
    assert_eq!(text(&second), format!("{ORDINARY}\n"));
    session.end();
    let folder = kept(&ground, "uv").expect("it was kept");
    let owner = |path: &Path| path.symlink_metadata().map(|facts| facts.uid()).expect("it is there");
    assert_eq!([owner(&folder), owner(&folder.join("archive")), owner(&folder.join("archive/new"))], [ORDINARY; 3]);
    let again = "cat ~/.cache/uv/archive/new; echo z > ~/.cache/uv/archive/more; cat ~/.cache/uv/archive/more";
    assert!(alone(&ground, again).starts_with("x\nz\n"));
    assert_same("the user's home", &before, &tree_of(&home(&ground)));
}

/// Serves one package to cargo, npm and pip.
const REGISTRY: &str = include_str!("registry.py");

/// Returns a session in which these programs are found, and what they need.
fn with_programs(ground: &Ground, folders: &[PathBuf]) -> Session {
    let path = folders.iter().cloned().chain(["/usr/local/bin".into(), "/usr/bin".into(), "/bin".into()]);
    Session::with(ground, "PATH", &std::env::join_paths(path).expect("they are paths"))
}

#[test]
fn cargo_builds_with_a_new_crate_and_in_the_next_session_without_a_registry() {
    let ground = Ground::own();
    let toolchain = option_env!("CARGO").map(Path::new).and_then(|cargo| cargo.parent()?.parent());
    let Some(toolchain) = toolchain.filter(|_| Need::Python.met(Path::new("/usr/bin/python3").exists())) else {
        return;
    };
    set(&ground, &format!("readable = [\"{}\"]", toolchain.display()));
    ground.lay_out(
        "mkdir -p ~/.cargo rs/src; cd rs
        printf '[registries.r]\\nindex = \"sparse+http://127.0.0.1:8901/index/\"\\n' > ~/.cargo/config.toml
        printf '[package]\\nname = \"x\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n[dependencies]\\n' > Cargo.toml
        echo 'tinydep = { version = \"0.1\", registry = \"r\" }' >> Cargo.toml
        echo 'fn main() { println!(\"{}\", tinydep::answer()) }' > src/main.rs",
    );
    ground.place.put("registry.py", REGISTRY);
    let before = tree_of(&home(&ground));
    let mut session = with_programs(&ground, &[toolchain.join("bin")]);
    let record = session.run(&ground, "cd rs; /usr/bin/python3 ../registry.py cargo run");
    assert!(text(&record).contains("42\n") && text(&record).contains("/dl/tinydep"), "{record:#}");
    session.end();
    let mut session = with_programs(&ground, &[toolchain.join("bin")]);
    let record = session.run(&ground, "cd rs; rm -rf target; cargo run --offline");
    assert!(text(&record).starts_with("42\n"), "{record:#}");
    session.end();
    assert_same("the user's home", &before, &tree_of(&home(&ground)));
}

#[test]
fn npm_installs_and_in_the_next_session_without_a_registry_and_npx_and_pip_work() {
    let ground = Ground::own();
    let is_there = |name: &str| Path::new("/usr/bin").join(name).exists();
    if !Need::Programs.met(["node", "npm", "python3"].into_iter().all(is_there)) {
        return;
    }
    ground.lay_out(
        "mkdir -p ~/.npm/_cacache ~/.cache/pip; echo '{\"name\": \"x\", \"version\": \"1.0.0\"}' > package.json",
    );
    ground.place.put("registry.py", REGISTRY);
    let before = tree_of(&home(&ground));
    let mut session = with_programs(&ground, &[]);
    let from = "--registry=http://127.0.0.1:8901/npm --no-update-notifier";
    let served = "/usr/bin/python3 registry.py";
    let record = session.run(&ground, &format!("{served} npm install {from} tinydep; {served} npx {from} -y tinydep"));
    assert!(text(&record).contains("added 1 package") && text(&record).contains("\n42\n"), "{record:#}");
    let install = format!("{served} /usr/bin/python3 -m pip install --no-input --target lib");
    let record = session.run(&ground, &format!("{install} --index-url http://127.0.0.1:8901/simple tinydep"));
    let has_pip = !text(&record).contains("No module named pip");
    assert!(!has_pip || text(&record).contains("Successfully installed tinydep-0.1.0"), "{record:#}");
    session.end();
    let mut session = with_programs(&ground, &[]);
    let record = session.run(&ground, &format!("rm -rf node_modules; npm install --offline {from}"));
    assert!(text(&record).contains("added 1 package"), "{record:#}");
    session.end();
    assert_same("the user's home", &before, &tree_of(&home(&ground)));
}
