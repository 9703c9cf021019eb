//! Tests the real sandbox with a shell inside. Each scene builds its own folders.

#[expect(clippy::disallowed_types, reason = "somebody outside must listen to what a command tries to send")]
mod escapes;
#[expect(clippy::disallowed_types, reason = "a client of the namespace connects to a listener")]
mod network;
mod refusals;
mod renames;
mod scene;
mod set_ids;
mod sights;
pub(super) mod single_thread;

use self::scene::{FixtureUser, SandboxFixture, tried};

fn everyone() -> Vec<SandboxFixture> {
    FixtureUser::all().into_iter().map(SandboxFixture::new).collect()
}

#[test]
fn a_command_sees_its_files_and_changes_none_of_them() {
    for scene in everyone() {
        let seen = scene.file("a.txt", "old").run("cat a.txt; echo new > a.txt; rm -r sub; cat a.txt; ls");
        assert_eq!(seen.text, "oldnew\na.txt\n", "{seen:?}");
        assert_eq!(scene.content("a.txt"), "old");
        assert_eq!(scene.in_upper("a.txt"), "new\n");
    }
}

#[test]
fn without_a_layer_changes_happen_at_once() {
    for scene in everyone() {
        let scene = scene.without_layer();
        let seen = scene.file("a.txt", "old").run("echo new > a.txt; echo done");
        assert_eq!(seen.text, "done\n", "{seen:?}");
        assert_eq!(scene.content("a.txt"), "new\n");
    }
}

#[test]
fn nothing_of_the_trial_is_left_in_the_layer() {
    for scene in everyone() {
        let seen = scene.run("true");
        assert_eq!((seen.status, scene.names_in_upper()), (Some(0), Vec::<String>::new()), "{seen:?}");
    }
}

#[test]
fn no_name_in_the_workspace_keeps_the_layer_away() {
    for scene in everyone() {
        for number in 0..1000 {
            scene.file(&format!(".haft-{number}"), "");
        }
        let seen = scene.run("echo new > a.txt; ls -A | grep -c haft");
        assert_eq!((seen.text.as_str(), seen.status), ("1000\n", Some(0)), "{seen:?}");
        assert_eq!(scene.in_upper("a.txt"), "new\n");
    }
}

#[test]
fn homes_and_the_state_of_haft_are_not_visible() {
    for scene in everyone() {
        let seen = scene.secret("state/key").run("cat \"$STATE/key\"; ls -A ~ /home /root; cat ~/.greeting");
        assert!(!seen.text.contains("canary"), "{seen:?}");
        assert!(seen.text.contains("hello"), "{seen:?}");
    }
}

#[test]
fn nothing_outside_can_be_written() {
    for scene in everyone() {
        let seen = scene.run("for f in /x /etc/x /usr/x /dev/x /proc/sys/kernel/core_pattern /sys/x; do (echo y > $f) 2>/dev/null && echo wrote $f; done; echo end");
        assert_eq!(seen.text, "end\n", "{seen:?}");
    }
}

#[test]
fn secret_files_of_the_system_are_covered() {
    for scene in everyone() {
        let seen = scene.run("cat /etc/shadow && echo read; cat /etc/passwd > /dev/null && echo users");
        assert!(seen.text.ends_with("users\n") && !seen.text.contains("read\n"), "{seen:?}");
    }
}

#[test]
fn a_command_has_processes_network_and_terminals_of_its_own() {
    for scene in everyone() {
        let seen = scene.run(
            "echo $$; test $(ls -d /proc/[0-9]* | wc -l) -lt 8 && echo few; ls /sys/class/net 2>/dev/null; cat /proc/net/dev | grep -c :; \
             cat /proc/self/status | grep -E 'NoNewPrivs|CapEff|CapBnd|Seccomp:'; ulimit -c; test -c /dev/ptmx && echo pty",
        );
        let rights = "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n";
        assert_eq!(seen.text, format!("2\nfew\n1\n{rights}0\npty\n"), "{seen:?}");
    }
}

#[test]
fn tests_on_the_loopback_work() {
    for scene in tried(everyone(), "python3") {
        let seen = scene.run(
            "python3 -c 'import socket,threading\n\
             s=socket.create_server((\"127.0.0.1\",0))\n\
             c=socket.create_connection(s.getsockname())\n\
             s.accept()[0].send(b\"heard\"); print(c.recv(9).decode())'",
        );
        assert_eq!(seen.text, "heard\n", "{seen:?}");
    }
}
