//! Tests what a command sees of the file system, and what it can change in it.

use super::everyone;
use super::scene::{FixtureUser, SandboxFixture};

#[test]
fn what_is_readable_stands_in_the_place_of_a_file_of_the_private_home() {
    for scene in everyone() {
        let file = scene.at("home/.greeting");
        std::fs::write(&file, "own words\n").unwrap();
        scene.visible.borrow_mut().readable.push(file);
        let config = scene.at("home/.config");
        std::fs::create_dir(&config).unwrap();
        scene.visible.borrow_mut().readable.push(config);
        scene.visible.borrow_mut().home_files.push((".config/new/file".into(), "x".into()));
        let seen = scene.run("cat ~/.greeting; ls -A ~ ~/.config");
        assert_eq!((seen.text.contains("own words\n"), seen.status), (true, Some(0)), "{seen:?}");
        assert!(!seen.text.contains("new"), "{seen:?}");
    }
}

#[test]
fn a_home_that_is_listed_as_readable_stays_private_and_that_is_said() {
    for scene in everyone() {
        let home = scene.at("home");
        scene.visible.borrow_mut().readable.push(home);
        let seen = scene.run("cat ~/secret; ls -A ~");
        assert!(!seen.text.contains("canary") && seen.report.contains("which has no effect"), "{seen:?}");
    }
}

#[test]
fn odd_names_of_the_workspace_do_no_harm() {
    for who in FixtureUser::all() {
        let scene = SandboxFixture::oddly_named(who);
        let seen = scene.file("a", "old").run("echo new > a; cat a; test \"$PWD\" -ef . && echo here");
        assert_eq!(seen.text, "new\nhere\n", "{seen:?}");
        assert_eq!((scene.content("a"), scene.in_upper("a")), ("old".into(), "new\n".into()));
    }
}

#[test]
fn what_is_hidden_in_the_workspace_is_covered() {
    for scene in everyone() {
        std::fs::create_dir(scene.at("w/.state")).unwrap();
        scene.file(".state/key", "canary").file("config", "canary");
        scene.visible.borrow_mut().hidden.extend([scene.at("w/.state"), scene.at("w/config")]);
        let seen =
            scene.run("cat .state/key config; ls .state; rm -rf .state config; chmod 777 config; mv .state x; ls -A");
        assert!(!seen.text.contains("canary"), "{seen:?}");
        assert!(seen.text.ends_with(".state\nconfig\nsub\n"), "{seen:?}");
        assert_eq!(scene.content("config"), "canary");
    }
}

#[test]
fn a_workspace_inside_something_hidden_is_visible_alone() {
    for scene in everyone() {
        scene.secret("beside");
        let all = scene.at("w").parent().unwrap().to_owned();
        scene.visible.borrow_mut().readable.push(all.clone());
        scene.visible.borrow_mut().hidden.push(all);
        let seen = scene.run("cat ../beside; ls");
        assert!(!seen.text.contains("canary") && seen.text.ends_with("sub\n"), "{seen:?}");
    }
}

#[test]
fn protected_names_cannot_be_changed_and_missing_ones_can_be_made() {
    for scene in everyone() {
        std::fs::create_dir(scene.at("w/hooks")).unwrap();
        scene.file("locked", "old").read_only("locked").read_only("hooks").read_only("missing");
        let seen = scene.run("echo new > locked; rm -f locked; echo x > hooks/x; echo y > missing; cat locked missing");
        assert!(seen.text.ends_with("oldy\n"), "{seen:?}");
        assert_eq!(scene.names_in_upper(), ["missing"]);
    }
}

#[test]
fn toolchains_in_the_home_are_readable_through_links_too() {
    for scene in everyone() {
        for folder in ["home/.tools/bin", "elsewhere/real"] {
            std::fs::create_dir_all(scene.at(folder)).unwrap();
        }
        std::fs::write(scene.at("home/.tools/bin/tool"), "tool\n").unwrap();
        std::fs::write(scene.at("elsewhere/real/other"), "other\n").unwrap();
        std::os::unix::fs::symlink("../elsewhere/real", scene.at("home/.linked")).unwrap();
        let readable = [scene.at("home/.tools"), scene.at("home/.linked"), scene.at("home/.missing")];
        scene.visible.borrow_mut().readable.extend(readable);
        let seen =
            scene.run("cat ~/.tools/bin/tool ~/.linked/other; ls -A ~; echo x > ~/.tools/x; echo x > ~/own; cat ~/own");
        assert!(seen.text.starts_with("tool\nother\n.greeting\n.linked\n.tools\n"), "{seen:?}");
        assert!(seen.text.contains("Read-only file system") && seen.text.ends_with("x\n"), "{seen:?}");
        assert!(!scene.at("home/own").exists());
    }
}

#[test]
fn the_home_itself_can_be_the_workspace() {
    for scene in everyone() {
        scene.visible.borrow_mut().home = scene.at("w");
        let seen = scene.run("cat sub/file; echo x > new; ls");
        assert_eq!(seen.text, "xnew\nsub\n", "{seen:?}");
        assert_eq!(scene.names_in_upper(), ["new"]);
    }
}

#[test]
fn what_is_private_is_gone_with_the_command() {
    for scene in everyone() {
        let script =
            "for d in /tmp /var/tmp /dev/shm ~; do test -e $d/haft-x && echo old; echo x > $d/haft-x; done; echo end";
        assert_eq!(scene.run(script).text, "end\n");
        assert!(!std::path::Path::new("/tmp/haft-x").exists());
    }
}

#[test]
fn the_whole_system_can_be_the_workspace_but_for_what_is_hidden_and_what_the_kernel_shows() {
    for who in FixtureUser::all() {
        let scene = SandboxFixture::new(who).whole_system();
        scene.secret("state/key");
        let seen = scene.run(
            "cat $STATE/key; ls /tmp; test -x /usr/bin/env && echo all; echo 1 > /proc/sys/vm/swappiness; \
             echo $$ > /sys/haft-test; ls /dev/mem; set -- /proc/[0-9]*; echo $#",
        );
        assert!(!seen.text.contains("canary") && seen.text.contains("/dev/mem': No such file"), "{seen:?}");
        assert!(seen.text.contains("all\n") && seen.text.ends_with("\n2\n"), "{seen:?}");
    }
}
