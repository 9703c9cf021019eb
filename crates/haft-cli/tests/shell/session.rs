//! A session is a place: commands of one session share a home and temporary folders, and nothing of them stays behind.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::ground::{Ground, for_everybody};
use crate::jobs::has_python;

/// One `haft call -`, whose calls are sent one after the other.
pub(crate) struct Session {
    pub(crate) haft: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Session {
    pub(crate) fn of(ground: &Ground) -> Self {
        Self::started(ground.calling())
    }

    /// Begins one with another variable.
    pub(crate) fn with(ground: &Ground, variable: &str, value: &std::ffi::OsStr) -> Self {
        let mut haft = ground.calling();
        haft.env(variable, value);
        Self::started(haft)
    }

    fn started(mut haft: Command) -> Self {
        let haft = haft.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut haft = haft.spawn().expect("haft is there");
        let lines = BufReader::new(haft.stdout.take().expect("it is piped")).lines();
        Self { haft, lines }
    }

    /// Runs a script, which no rule reads.
    pub(crate) fn run(&mut self, ground: &Ground, script: &str) -> Value {
        ground.lay_out(&format!("cat > script.sh <<'EOF'\n{script}\nEOF"));
        let record = self.call("bash", &json!({ "command": "sh script.sh" }));
        assert_eq!(record["sandbox"], crate::ground::level(), "{record:#}");
        record
    }

    /// Makes one call.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let call = json!({ "name": tool, "arguments": arguments });
        let input = self.haft.stdin.as_mut().expect("it is piped");
        writeln!(input, "{call}\n").expect("haft listens");
        let line = self.lines.next().expect("haft answers").expect("it can be read");
        serde_json::from_str(&line).expect("it is a record")
    }

    /// Makes several calls in one turn.
    pub(crate) fn turn(&mut self, calls: &[(&str, Value)]) -> Vec<Value> {
        let lines: Vec<String> =
            calls.iter().map(|(tool, arguments)| json!({ "name": tool, "arguments": arguments }).to_string()).collect();
        let input = self.haft.stdin.as_mut().expect("it is piped");
        writeln!(input, "{}\n", lines.join("\n")).expect("haft listens");
        let answer = |_| self.lines.next().expect("haft answers").expect("it can be read");
        let answers: Vec<String> = (0..calls.len()).map(answer).collect();
        answers.iter().map(|line| serde_json::from_str(line).expect("it is a record")).collect()
    }

    /// Runs a command as it is.
    fn bash(&mut self, command: &str) -> Value {
        self.call("bash", &json!({ "command": command }))
    }

    pub(crate) fn end(mut self) {
        drop(self.haft.stdin.take());
        assert!(self.haft.wait().expect("it ends").success());
    }

    pub(crate) fn kill(mut self) {
        self.haft.kill().expect("it runs");
        self.haft.wait().expect("it ends");
    }
}

pub(crate) fn text(record: &Value) -> &str {
    record["content"].as_str().unwrap_or_default()
}

/// Returns what sessions have left in haft's state.
pub(crate) fn places(ground: &Ground) -> Vec<std::path::PathBuf> {
    let workspaces = std::fs::read_dir(ground.place.root().join("state/haft/workspaces")).expect("haft has run");
    let places = workspaces.flatten().map(|workspace| workspace.path().join("places"));
    places.filter_map(|place| std::fs::read_dir(place).ok()).flatten().flatten().map(|entry| entry.path()).collect()
}

#[test]
fn commands_of_a_session_share_home_and_temporary_folders_and_another_session_sees_nothing_of_them() {
    for_everybody(&|ground| {
        let look = "for at in /tmp /var/tmp /dev/shm ~; do cat $at/canary; done";
        let mut session = Session::of(ground);
        let leave = "for at in /tmp /var/tmp /dev/shm ~; do echo kept > $at/canary; done; stat -c %a /tmp";
        let left = session.run(ground, leave);
        let told = "1777\n[It left ~/canary in the home folder of this session, which ends with it.]\n";
        assert_eq!(text(&left), told);
        assert_eq!(left["home"], 1, "{left:#}");
        let mut other = Session::of(ground);
        assert!(!text(&other.run(ground, look)).contains("kept"));
        assert_eq!(text(&session.run(ground, look)), "kept\nkept\nkept\nkept\n");
        assert_eq!(places(ground).len(), 2);
        session.end();
        other.end();
        assert!(places(ground).is_empty(), "{:?}", places(ground));
    });
}

#[test]
fn folders_that_nobody_may_write_are_removed_with_the_session_and_those_of_a_killed_one_by_the_next() {
    for_everybody(&|ground| {
        let script = "mkdir -p ~/a/b; touch ~/a/b/c; chmod 555 ~/a/b; chmod 0 ~/a";
        let mut session = Session::of(ground);
        session.run(ground, script);
        session.end();
        assert!(places(ground).is_empty(), "{:?}", places(ground));
        let mut session = Session::of(ground);
        session.run(ground, script);
        session.kill();
        assert_eq!(places(ground).len(), 1);
        let mut session = Session::of(ground);
        session.run(ground, "true");
        session.end();
        assert!(places(ground).is_empty(), "{:?}", places(ground));
    });
}

#[test]
fn what_commands_see_is_what_there_is_when_they_run() {
    for_everybody(&|ground| {
        let tools = ground.place.root().join("tools");
        let put = |text: &str| {
            let script = format!("rm -rf {0}; mkdir {0}; echo {text} > {0}/version", tools.display());
            ground.lay_out(&script);
        };
        put("one");
        let folder = ground.place.root().join("config/haft");
        std::fs::create_dir_all(&folder).expect("there is room");
        let readable = format!("[sandbox]\nreadable = [{:?}]\n", tools.to_string_lossy());
        std::fs::write(folder.join("config.toml"), readable).expect("there is room");
        let look = format!("cat {}/version", tools.display());
        let mut session = Session::of(ground);
        assert_eq!(text(&session.run(ground, &look)), "one\n");
        put("two");
        assert_eq!(text(&session.run(ground, &look)), "two\n");
        session.end();
    });
}

/// What an earlier command leaves for later ones: settings of git, and programs that would be found first.
const PLANT: &str = r"
printf '#!/bin/sh\necho planted; touch canary; exit 1\n' > /tmp/evil
chmod +x /tmp/evil
mkdir -p ~/.local/bin ~/.config/git
printf '[core]\n\tfsmonitor = /tmp/evil\n' | tee ~/.gitconfig > ~/.config/git/config
for name in ls git grep sh cat; do cp /tmp/evil ~/.local/bin/$name; done
";

#[test]
fn what_a_command_leaves_in_the_home_changes_no_command_that_runs_unasked() {
    for_everybody(&|ground| {
        if !ground.has_git() {
            return;
        }
        ground.lay_out("git init -q .; mkdir src; echo x > src/a");
        let mut session = Session::of(ground);
        session.run(ground, PLANT);
        for look in
            ["git status --short", "ls src", "grep -rn x src", "cat src/a", "cat ~/.gitconfig; ls ~", "ls ~ src"]
        {
            let record = session.bash(look);
            assert_eq!(record["sandbox"], "full", "{look}: {record:#}");
            assert!(!text(&record).contains("planted"), "{look}: {record:#}");
            assert!(!ground.place.path("canary").exists(), "{look}: {record:#}");
        }
        let withheld = session.bash("git --version; ls ~");
        assert!(text(&withheld).contains("was empty and not that of the session"), "{withheld:#}");
        // A command that the user approves gets the home unchanged.
        let path = "PATH=/usr/bin:/bin; cat ~/.gitconfig";
        assert!(text(&session.run(ground, path)).contains("fsmonitor"));
        session.end();
    });
}

#[test]
fn commands_that_run_unasked_write_to_the_home_of_the_session() {
    for_everybody(&|ground| {
        let mut session = Session::of(ground);
        for write in
            ["id > ~/a", "ls --version; echo x >> ~/b", "git --version; touch ~/a; ls ~", "date >> ~/b; cat ~/b"]
        {
            let record = session.bash(write);
            assert_eq!((&record["sandbox"], &record["exit_code"]), (&json!("full"), &json!(0)), "{write}: {record:#}");
        }
        assert_eq!(text(&session.bash("ls ~")), "a\nb\n");
        session.end();
    });
}

#[test]
fn what_was_set_for_git_in_the_session_can_be_read_and_starts_nothing() {
    for_everybody(&|ground| {
        if !ground.has_git() {
            return;
        }
        ground.lay_out("git init -q .");
        let mut session = Session::of(ground);
        let traces = ground.place.path("traces");
        let set = "git config --global user.name Somebody; git config --global trace2.normalTarget";
        session.run(ground, &format!("{set} {}", traces.display()));
        ground.lay_out("rm -f traces");
        assert_eq!(text(&session.bash("git config --global user.name")), "Somebody\n");
        assert!(!traces.exists());
        // With settings there, a command of which git is more than a reader has a clean home, and says so.
        let record = session.bash("git --version; touch ~/a");
        assert!(text(&record).contains("is in the home of the session"), "{record:#}");
        session.end();
    });
}

#[test]
fn programs_listen_at_low_ports_and_a_port_of_hafts_is_named() {
    for_everybody(&|ground| {
        let listen = |port: u16| format!("exec python3 -c 'import socket; socket.create_server((\"\", {port}))'");
        let mut session = Session::of(ground);
        let record = session.run(ground, &listen(81));
        assert_eq!(record["exit_code"], 0, "{record:#}");
        let record = session.bash(&listen(80).replace("exec ", ""));
        assert!(text(&record).contains("In the network of the session port 80 is taken"), "{record:#}");
        session.end();
    });
}

#[test]
fn a_host_that_was_refused_has_no_name_any_more_in_the_same_command() {
    for_everybody(&|ground| {
        let request = r"GET / HTTP/1.0\r\nHost: api.invalid\r\n\r\n";
        let look = "getent ahostsv4 api.invalid > /dev/null && echo found || echo gone";
        let script =
            format!("{look}; bash -c \"exec 3<>/dev/tcp/api.invalid/80; printf '{request}' >&3; cat <&3\"; {look}");
        let mut session = Session::of(ground);
        for _ in 0..2 {
            let record = session.run(ground, &script);
            let lines: Vec<&str> = text(&record).lines().filter(|line| ["found", "gone"].contains(line)).collect();
            assert_eq!(lines, ["found", "gone"], "each command is decided about anew: {record:#}");
            assert_eq!(record["network"][0]["outcome"], "refused", "{record:#}");
            assert_eq!(record["network"].as_array().map(Vec::len), Some(1), "it is told once: {record:#}");
        }
        session.end();
    });
}

#[test]
fn what_a_command_leaves_behind_changes_no_hook() {
    for_everybody(&|ground| {
        let config = ground.place.root().join("config");
        std::fs::create_dir_all(config.join("haft/hooks")).expect("there is room");
        let script = "if grep -q forbidden; then echo never >&2; exit 2; fi\n";
        std::fs::write(config.join("haft/hooks/g.sh"), script).expect("there is room");
        let command = format!("sh {}/haft/hooks/g.sh", config.display());
        let hook = format!("[[hooks.PreToolUse]]\nmatcher = \"bash\"\ncommand = {command:?}\n");
        std::fs::write(config.join("haft/config.toml"), hook).expect("there is room");
        let mut session = Session::of(ground);
        let refused = |session: &mut Session| {
            let record = session.bash("echo forbidden");
            assert_eq!(record["status"], "refused", "{record:#}");
        };
        refused(&mut session);
        session.run(ground, PLANT);
        refused(&mut session);
        let replace = "PATH=/usr/bin:/bin; mv @ @-away; mkdir -p @/haft/hooks; echo exit 0 > @/haft/hooks/g.sh; true";
        session.run(ground, &replace.replace('@', &config.to_string_lossy()));
        refused(&mut session);
        session.end();
    });
}

#[test]
fn a_session_follows_the_hosts_that_the_settings_allow_meanwhile() {
    for_everybody(&|ground| {
        let folder = ground.place.root().join("config/haft");
        std::fs::create_dir_all(&folder).expect("there is room");
        let settings = folder.join("config.toml");
        let say = |text: &str| std::fs::write(&settings, text).expect("there is room");
        let mut session = Session::of(ground);
        // The name of a machine that never exists: the command fails, but it runs.
        let mut decided = || session.bash("curl -s -m 1 https://api.invalid/ || true")["status"].clone();
        assert_eq!(decided(), "refused");
        say("[network]\nallow = [\"api.invalid\"]\n");
        assert_eq!(decided(), "ok");
        say("[network]\nallow = nothing\n");
        assert_eq!(decided(), "ok");
        say("[network]\ndeny = [\"api.invalid\"]\n");
        assert_eq!(decided(), "refused");
        session.end();
    });
}

/// Asks the resolver for addresses of type 65 and for text, and greets a granted host in TLS by several names.
const GREETINGS: &str = r#"
import socket, ssl, struct

def asked(name, kind):
    question = b"".join(bytes([len(part)]) + part for part in name.encode().split(b".")) + b"\0"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.settimeout(5)
        udp.sendto(struct.pack(">6H", 7, 0x0100, 1, 0, 0, 0) + question + struct.pack(">2H", kind, 1), ("127.0.0.1", 53))
        answer = udp.recv(512)
    return struct.unpack(">6H", answer[:12])[1] & 15, struct.unpack(">6H", answer[:12])[3]

def greeted(name):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection(("granted.invalid", 443), 5) as plain:
            context.wrap_socket(plain, server_hostname=name).close()
    except OSError as error:
        return "refused" if "access denied" in str(error).lower() else "closed"
    return "reached"

print("address", asked("granted.invalid", 1)[1])
print("type 65", asked("granted.invalid", 65)[1])
print("text", asked("granted.invalid", 16))
print("another name", greeted("other.invalid"))
print("no name", greeted(None))
"#;

#[test]
fn a_granted_name_carries_no_other_name_and_no_other_kind_of_look_up() {
    if !has_python() {
        return;
    }
    for_everybody(&|ground| {
        let folder = ground.place.root().join("config/haft");
        std::fs::create_dir_all(&folder).expect("there is room");
        std::fs::write(folder.join("config.toml"), "[network]\nallow = [\"granted.invalid\"]\n")
            .expect("there is room");
        ground.lay_out(&format!("cat > greet.py <<'EOF'\n{GREETINGS}\nEOF"));
        let mut session = Session::of(ground);
        let record = session.bash("python3 greet.py");
        assert!(
            text(&record).starts_with("address 1\ntype 65 0\ntext (5, 0)\nanother name refused\nno name refused\n"),
            "{record:#}"
        );
        let reasons = record["network"].as_array().expect("connections are listed");
        assert!(
            reasons.iter().all(|one| one["outcome"] != "connected" && one["sent"].as_u64() == Some(0)),
            "{record:#}"
        );
        session.end();
    });
}

#[test]
fn a_sandbox_that_is_switched_off_confines_nothing_and_every_result_says_so() {
    let ground = Ground::own();
    let folder = ground.place.root().join("config/haft");
    std::fs::create_dir_all(&folder).expect("there is room");
    std::fs::write(folder.join("config.toml"), "[sandbox]\nuse = \"none\"\n").expect("there is room");
    let outside = ground.place.root().join("outside");
    ground.lay_out(&format!("echo 'touch {}' > script.sh", outside.display()));
    for round in 0..2 {
        let output = ground.haft(&["--yes=all", "--json", "call", "bash", "command=sh script.sh"]);
        let record: Value = serde_json::from_slice(&output.stdout).expect("a record");
        assert_eq!((&record["sandbox"], &record["did"]), (&json!("none"), &json!("unknown")), "{round}: {record:#}");
        assert!(text(&record).contains("your settings switch the sandbox off"), "{round}: {record:#}");
    }
    assert!(outside.exists());
}

#[test]
fn what_a_session_put_into_its_home_can_be_removed_and_what_the_user_has_cannot() {
    for_everybody(&|ground| {
        let mut session = Session::of(ground);
        assert_eq!(session.bash("mkdir -p ~/.config/tool && echo a > ~/.config/tool/x")["exit_code"], 0);
        let removed = session.bash("rm -r ~/.config/tool && ls ~/.config/tool");
        assert_eq!((&removed["status"], &removed["exit_code"]), (&json!("ok"), &json!(2)), "{removed:#}");
        ground.lay_out(&format!("mkdir -p {0}/mine", ground.place.root().join("home").display()));
        let refused = session.bash("rm -r ~/mine");
        assert_eq!(refused["status"], "refused", "{refused:#}");
        session.end();
    });
}
