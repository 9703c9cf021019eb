//! Tests the explanations of lines that programs really print.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_contract::doors::door::Permit;
use haft_contract::doors::process::{CommitReport, Disposition, GroundRoot, OverlayDirs};
use haft_contract::outcome::error::ToolError;

use super::*;

struct FixedGround(Vec<GroundRoot>);

impl Staging for FixedGround {
    fn roots(&self) -> &[GroundRoot] {
        &self.0
    }

    fn hidden(&self) -> &[PathBuf] {
        static STATE: LazyLock<Vec<PathBuf>> = LazyLock::new(|| vec!["/users/ann/.local/state/haft".into()]);
        &STATE
    }

    fn uncovered(&self) -> Option<&str> {
        None
    }

    fn keep_only(&mut self, _targets: std::sync::Arc<[haft_contract::files::path::Target]>) {}

    fn settle<'a>(
        self: Box<Self>,
        _permit: &'a Permit,
        _how: Disposition,
    ) -> BoxFuture<'a, Result<CommitReport, ToolError>> {
        Box::pin(async { Ok(CommitReport::default()) })
    }
}

fn settings() -> SandboxSettings {
    SandboxSettings {
        required: crate::settings::Requirement::Set(ConfinementLevel::Full),
        network: Network::Off,
        environment: Vec::new(),
        job_environment: Vec::new(),
        readable: vec!["/usr".into(), "/etc".into(), "/users/ann/.cargo".into()],
        home: "/users/ann".into(),
        hidden: vec!["/users/ann/.cargo/credentials.toml".into()],
        home_files: Vec::new(),
        processes: 512,
        caches: Vec::new(),
        cache_room: 0,
        memory: None,
        disk: None,
    }
}

fn explained(level: ConfinementLevel, how: HowEnded, out: &str, err: &str) -> Vec<String> {
    explained_on(Network::Off, level, how, (out, err))
}

fn explained_on(network: Network, level: ConfinementLevel, how: HowEnded, (out, err): (&str, &str)) -> Vec<String> {
    let file = || tempfile::tempfile().unwrap().into();
    let root = GroundRoot {
        path: "/srv/space".into(),
        folder: file(),
        layer: Some(OverlayDirs { upper: file(), work: file() }),
        images: None,
        own: Vec::new(),
        read_only: vec![".git/config".into(), ".git/hooks".into()],
        shown: None,
    };
    let command = CommandSpec::new(vec!["bash".into()], "x", "/srv/space".into(), Duration::from_secs(1));
    let (settings, ground) = (settings(), FixedGround(vec![root]));
    let around = Around { level, network, home: WhoseHome::Session };
    let scene =
        ExplanationContext { settings: &settings, command: &command, ground: &ground, around, ports: &[53, 80, 443] };
    explain_printed(&scene, &FinalOutput { how, out: out.into(), err: err.into() })
}

#[track_caller]
fn check(line: &str, expected: &str) {
    let told = explained(ConfinementLevel::Full, HowEnded::Exited(1), "", line);
    assert!(told.len() == 1 && told[0].contains(expected), "{line:?}: {told:?}");
}

#[test]
fn a_place_outside_that_was_to_be_written_is_named_with_the_grant() {
    for line in [
        "touch: cannot touch '/opt/tool/x': Read-only file system",
        "mkdir: cannot create directory ‘/opt/tool/x’: Permission denied",
        "bash: line 1: /opt/tool/x: Read-only file system",
        "PermissionError: [Errno 13] Permission denied: '/opt/tool/x'",
        "Error: EROFS: read-only file system, open '/opt/tool/x'",
        "error: failed to write `/opt/tool/x`: Read-only file system (os error 30)",
        "cp: cannot create regular file '../../opt/tool/x': Permission denied",
        "mv: cannot move 'src/x' to '/opt/tool/x': Permission denied",
        "/bin/bash: line 1: /opt/tool/x: Permission denied",
    ] {
        check(line, "/opt/tool/x is outside the workspace");
        check(line, "--add-dir /opt/tool");
    }
}

#[test]
fn a_protected_name_is_named() {
    check("bash: line 1: .git/hooks/pre-commit: Read-only file system", ".git/hooks/pre-commit is protected");
    check("error: could not lock config file .git/config: Read-only file system", ".git/config is protected");
    check("mv: cannot move 'a' to '/srv/space/.git/config': Device or resource busy", ".git/config is protected");
}

#[test]
fn a_link_to_a_protected_name_and_the_system_are_named_as_what_they_are() {
    check("bash: line 1: l/pre-commit: Read-only file system", "leads to something that is protected");
    check("touch: cannot touch '/etc/x': Read-only file system", "/etc/x belongs to the system");
}

#[test]
fn what_is_not_visible_is_named_with_the_setting_and_nobody_looks_whether_it_exists() {
    let outside = tempfile::Builder::new().prefix("explain-").tempfile_in("/tmp").unwrap();
    let path = outside.path().display().to_string();
    for path in [path.clone(), format!("{path}-missing")] {
        let line = format!("cat: {path}: No such file or directory");
        check(
            &line,
            &format!(
                "If {path} exists outside, it is not visible to commands: they have their own private /tmp, which lasts for the session"
            ),
        );
        check(&line, &format!("readable = [\"{path}\"] under [sandbox] in config.toml."));
        assert!(!explained(ConfinementLevel::Full, HowEnded::Exited(1), "", &line)[0].contains("--add-dir"));
    }
    let in_root = "cat: /srv/space/x: No such file or directory";
    assert!(explained(ConfinementLevel::Full, HowEnded::Exited(1), "", in_root).is_empty());
}

#[test]
fn nothing_is_proposed_for_what_no_setting_permits() {
    for (path, expected) in [
        ("/users/ann/.local/state/haft/x/journal", "belongs to haft itself"),
        ("/users/ann/.cargo/credentials.toml", "holds secrets and is covered"),
    ] {
        for line in [
            format!("cat: {path}: No such file or directory"),
            format!("cat: {path}: Permission denied"),
            format!("touch: cannot touch '{path}': Read-only file system"),
        ] {
            check(&line, &format!("{path} {expected}"));
            let told = explained(ConfinementLevel::Full, HowEnded::Exited(1), "", &line);
            assert!(!told[0].contains("readable = ") && !told[0].contains("--add-dir"), "{told:?}");
        }
    }
}

#[test]
fn nobody_is_told_to_open_the_whole_home() {
    check("ls: cannot access '/users/ann': No such file or directory", "The user can put a copy into the workspace.");
    check("cat: /users/ann/notes: No such file or directory", "readable = [\"/users/ann/notes\"]");
    let written = "touch: cannot touch '/users/ann/x': Permission denied";
    for level in [ConfinementLevel::Full, ConfinementLevel::Partial] {
        let told = explained(level, HowEnded::Exited(1), "", written);
        assert!(told[0].contains("the user can put a copy there") && !told[0].contains("--add-dir"), "{told:?}");
    }
}

#[test]
fn what_is_covered_is_said_to_hold_secrets() {
    for path in ["/etc/shadow", "/etc/ssh/ssh_host_rsa_key", "/etc/sudoers.d/x"] {
        check(&format!("cat: {path}: Permission denied"), "holds secrets and is covered");
    }
    check("touch: cannot touch '/etc/shadows': Permission denied", "belongs to the system");
}

#[test]
fn a_missing_network_is_named_with_the_setting_that_gives_it() {
    for line in [
        "curl: (6) Could not resolve host: example.com",
        "bash: connect: Network is unreachable",
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        "npm error network request failed, reason: getaddrinfo EAI_AGAIN registry.example",
        "ping: socket: Operation not permitted",
    ] {
        check(line, "network = true under [sandbox]");
        check(line, "Name the connection in the command itself");
    }
}

#[test]
fn refused_system_calls_owners_and_privileges_are_named() {
    check("bash: line 1: 123 Bad system call  ./program32", "another architecture");
    check("mount: /mnt: permission denied.", "refuses system calls that mount");
    check("unshare: unshare failed: Operation not permitted", "refuses system calls that mount");
    check("strace: ptrace(PTRACE_TRACEME): Operation not permitted", "refuses system calls that mount");
    check("sudo: The \"no new privileges\" flag is set, which prevents sudo from running as root.", "another user");
    check("tar: x: Cannot change ownership to uid 1000, gid 1000: Operation not permitted", "--no-same-owner");
    check("chmod: changing permissions of 'target/s': Operation not permitted", "no command can set it");
    check("tar: s: Cannot change mode to rwsr-xr-x: Operation not permitted", "no command can set it");
    check("chown: changing ownership of 'x': Operation not permitted", "another owner or group");
}

#[test]
fn limits_of_the_layer_are_named() {
    check("fatal: hardlink different from source at '/w/c/.git/objects/a'", "--no-hardlinks");
    check("touch: setting times of 'a': Value too large for defined data type", "another owner or group");
    check("OSError: [Errno 18] Invalid cross-device link: 'a' -> 'b'", "mv and cp do it by copying");
    for line in ["bash: fork: retry: Resource temporarily unavailable", "RuntimeError: can't start new thread"] {
        check(line, "at most 512 processes and threads: processes = 512 under [sandbox] in config.toml");
    }
}

#[test]
fn a_refused_system_call_that_ended_the_command_is_named() {
    let told = explained(ConfinementLevel::Full, HowEnded::Killed(libc::SIGSYS), "", "");
    assert!(told.len() == 1 && told[0].contains("another architecture"), "{told:?}");
}

#[test]
fn nothing_is_said_where_nothing_fits() {
    let silent = |level, how, out: &str, err: &str| {
        let told = explained(level, how, out, err);
        assert!(told.is_empty(), "{out:?} {err:?}: {told:?}");
    };
    let failed = HowEnded::Exited(1);
    silent(ConfinementLevel::Full, failed, "", "error: expected `;`");
    silent(ConfinementLevel::Full, failed, "", "/usr/bin/cat: src/notes.txt: Permission denied");
    silent(ConfinementLevel::Full, failed, "", "cat: notes.txt: Permission denied");
    silent(ConfinementLevel::Full, failed, "", "cat: /srv/space/a: Permission denied");
    silent(ConfinementLevel::Full, failed, "", "EAGAIN: Resource temporarily unavailable");
    silent(ConfinementLevel::None, failed, "", "touch: cannot touch '/opt/x': Read-only file system");
    silent(ConfinementLevel::Full, HowEnded::Exited(0), "a book about the error /opt/x: Read-only file system", "");
    silent(ConfinementLevel::Full, failed, "", "rm: cannot remove 'x/y': Device or resource busy");
}

#[test]
fn the_same_is_said_once_and_much_is_cut() {
    let same = "bash: /opt/x: Permission denied\n".repeat(50);
    assert_eq!(explained(ConfinementLevel::Full, HowEnded::Exited(1), "", &same).len(), 1);
    let many: String = (0..50).map(|number| format!("bash: /opt/{number}: Permission denied\n")).collect();
    assert_eq!(explained(ConfinementLevel::Full, HowEnded::Exited(1), "", &many).len(), MOST);
}

#[test]
fn a_name_with_a_line_end_stays_on_one_line() {
    let told = explained(
        ConfinementLevel::Full,
        HowEnded::Exited(1),
        "",
        "touch: cannot touch '/opt/a\tb': Read-only file system",
    );
    assert!(!told[0].contains(['\n', '\t']), "{told:?}");
}

#[test]
fn the_rest_of_a_sentence_is_no_part_of_a_path() {
    for line in [
        "error: /opt/tool/x, error: Permission denied (os error 13)",
        "error: /opt/tool/x is not writable: Permission denied",
        "warning: /opt/tool/x; skipping: Permission denied",
        "ld: /opt/tool/x (in group): Permission denied",
        "cp: /srv/space/a to /opt/tool/x: Permission denied",
    ] {
        check(line, "/opt/tool/x is outside the workspace");
        check(line, "--add-dir /opt/tool");
    }
    check("bash: line 1: /opt/my tool/x: Permission denied", "/opt/my tool/x is outside the workspace");
}

#[test]
fn a_cache_is_led_elsewhere_and_no_leaf_of_it_is_added() {
    for (path, variable) in [
        ("/users/ann/.cargo/registry/src/index-1/clap-4.5.0/x", "CARGO_HOME=/tmp/cache"),
        ("/users/ann/.cache/pip/http/a/b", "PIP_CACHE_DIR=/tmp/cache"),
        ("/users/ann/.cache/tool/a", "XDG_CACHE_HOME=/tmp/cache"),
        ("/users/ann/go/pkg/mod/cache/lock", "GOMODCACHE=/tmp/cache"),
    ] {
        let line = format!("error: failed to open `{path}`: Permission denied (os error 13)");
        for level in [ConfinementLevel::Full, ConfinementLevel::Partial] {
            let told = explained(level, HowEnded::Exited(1), "", &line);
            assert!(told.len() == 1 && told[0].contains(variable) && !told[0].contains("--add-dir"), "{told:?}");
        }
    }
    let told = explained(ConfinementLevel::Full, HowEnded::Exited(1), "", "x: '/opt/.store/a/b/c': Permission denied");
    assert!(!told[0].contains("--add-dir"), "{told:?}");
}

#[test]
fn nothing_is_said_of_the_network_when_the_command_succeeded() {
    let line = "warning: could not resolve host: example.com; using the cache";
    assert!(explained(ConfinementLevel::Full, HowEnded::Exited(0), "", line).is_empty());
    check(line, "This command had no network");
}

#[test]
fn where_connections_are_supervised_only_what_no_supervisor_sees_is_explained() {
    let told = |line: &str| explained_on(Network::Supervised, ConfinementLevel::Full, HowEnded::Exited(1), ("", line));
    for line in ["connect: Network is unreachable", "socket: Operation not permitted"] {
        let told = told(line);
        assert!(
            told.len() == 1 && told[0].starts_with("Over the network commands reach hosts only by name"),
            "{told:?}"
        );
    }
    assert!(told("curl: (6) Could not resolve host: x.example").is_empty(), "the supervisor tells of the host");
}

#[test]
fn a_port_at_which_haft_listens_is_named_and_others_are_not_explained() {
    let supervised = |line: &str| {
        explained_on(Network::Supervised, ConfinementLevel::Full, HowEnded::Exited(1), ("", line)).into_iter().next()
    };
    for (line, ports) in [
        ("Error: listen EADDRINUSE: address already in use :::443", "port 443 is taken"),
        ("OSError: [Errno 98] Address already in use", "ports 53, 80 and 443 are taken"),
        ("bind: Address already in use (os error 98)", "ports 53, 80 and 443 are taken"),
    ] {
        assert!(supervised(line).is_some_and(|told| told.contains(ports)), "{line}: {:?}", supervised(line));
    }
    assert_eq!(supervised("Error: listen EADDRINUSE: address already in use :::3000"), None);
    assert_eq!(supervised("Error: listen EADDRINUSE: address already in use :::3000\n  code: 'EADDRINUSE',"), None);
    assert_eq!(
        explained(ConfinementLevel::Full, HowEnded::Exited(1), "", "Address already in use"),
        Vec::<String>::new()
    );
}
