//! `haft network`, and what its settings mean for commands: groups, their sources, the files that are edited, connections.

use std::io::{Read, Write};
use std::net::{TcpListener, ToSocketAddrs};
use std::os::unix::fs::PermissionsExt;

use haft_testkit::require::Need;
use serde_json::{Value, json};

use super::{CapturedOutput, Place, said};

const CONFIG: &str = "home/.config/haft/config.toml";

impl Place {
    /// Puts a program into a folder of the user's.
    fn program(&self, name: &str, script: &str) {
        let name = format!("bin/{name}");
        self.put(&name, &format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(self.path(&name), std::fs::Permissions::from_mode(0o755)).expect("it is there");
    }

    /// Runs haft where the user has those programs.
    fn with_programs(&self, arguments: &[&str]) -> CapturedOutput {
        let mut command = self.command(arguments);
        let path = [self.path("ws/bin"), self.path("bin"), "/bin".into(), "/usr/bin".into()];
        command.env("PATH", std::env::join_paths(path).expect("they are paths"));
        said(command, "")
    }

    fn answer(&self, arguments: &[&str]) -> Value {
        let said = self.with_programs(arguments);
        serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("one record: {}{}", said.out, said.err))
    }

    /// Returns the source of a host of a group, as it is listed.
    fn source(&self, host: &str) -> Option<String> {
        let record = self.answer(&["--json", "network", "list"]);
        let hosts = record["groups"]["registries"]["hosts"].as_array().expect("a list").clone();
        let found = hosts.into_iter().find(|found| found["host"] == host)?;
        found["source"].as_str().map(str::to_owned)
    }
}

/// Programs that answer as those of the user do, and hide those of this machine.
fn place() -> Place {
    let place = Place::new();
    place.program("npm", "[ \"$*\" = 'config get registry' ] && echo https://npm.own.example/");
    place.program("go", "printf 'https://go.own.example,direct\\nsum.own.example\\n'");
    place.program(
        "pip3",
        "case $1 in config) echo \"global.extra-index-url='https://me:pw@extra.own.example/'\";; \
         *) echo '--index-url URL of the index (default https://pip.own.example/simple)';; esac",
    );
    for silent in ["pnpm", "yarn", "uv", "gem", "mvn"] {
        place.program(silent, "exit 1");
    }
    place
}

/// Returns whether commands can be confined here, as the user's tools are.
fn is_full(place: &Place) -> bool {
    let said = place.haft(&["doctor", "--json"], "");
    Need::Full.met(said.out.contains("\"full\"") && !said.err.contains("untried"))
}

#[test]
fn registries_are_what_the_users_own_tools_name_and_each_has_its_source() {
    let place = place();
    if !is_full(&place) {
        return;
    }
    place.put("home/.npmrc", "@me:registry=https://scope.own.example/\n");
    for (host, source) in [
        ("npm.own.example", "\"npm config get registry\" names it"),
        ("go.own.example", "\"go env GOPROXY GOSUMDB\" names it"),
        ("sum.own.example", "\"go env GOPROXY GOSUMDB\" names it"),
        ("extra.own.example", "\"pip3 config list\" names it"),
        ("pip.own.example", "\"pip3 download --help\" names it"),
        ("scope.own.example", "~/.npmrc names it"),
    ] {
        assert_eq!(place.source(host).as_deref(), Some(source), "{host}");
    }
    let said = place.with_programs(&["network", "list"]);
    assert!(said.out.contains("  npm.own.example"), "{}", said.out);
    assert!(!said.out.contains("pw"), "{}", said.out);
}

#[test]
fn a_project_adds_nothing_to_registries() {
    let place = place();
    if !is_full(&place) {
        return;
    }
    // Settings of the project, and a program of it that comes first in the path.
    place.put("ws/.npmrc", "registry=https://evil.example/\n");
    place.put("ws/.cargo/config.toml", "[registries.x]\nindex = \"sparse+https://evil.example/\"\n");
    place.put("ws/bin/npm", "#!/bin/sh\necho https://evil.example/\n");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path("ws/bin/npm"), executable).expect("it is there");
    place.program("npm", "pwd | grep -q ws && echo https://evil.example/ || echo https://npm.own.example/");

    assert_eq!(place.source("evil.example"), None);
    assert!(place.source("npm.own.example").is_some());
}

#[test]
fn tools_are_asked_once_and_again_when_a_settings_file_or_a_program_is_another() {
    let place = place();
    if !is_full(&place) {
        return;
    }
    assert!(place.source("npm.own.example").is_some());
    let remembered = || place.get("home/.local/state/haft/registries.json").expect("it is remembered");
    let first = remembered();
    assert!(place.source("npm.own.example").is_some());
    assert_eq!(remembered(), first);

    place.program("npm", "echo https://another.own.example/registry");
    assert_eq!(place.source("npm.own.example"), None);
    assert!(place.source("another.own.example").is_some());

    place.put("home/.config/uv/uv.toml", "[[index]]\nurl = \"https://uv.own.example/\"\n");
    assert!(place.source("uv.own.example").is_some());
}

#[test]
fn a_tool_has_no_network_writes_nothing_and_cannot_keep_haft_waiting() {
    let place = place();
    if !is_full(&place) {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    place.program("gem", "exec /bin/tail -f /dev/null");
    place.program(
        "npm",
        &format!("echo x > $HOME/written; (echo > /dev/tcp/127.0.0.1/{port}) && echo https://reached.example/; echo https://npm.own.example/"),
    );
    let record = place.answer(&["--json", "network", "list"]);
    assert!(
        record["groups"]["registries"]["silent"]
            .as_array()
            .is_some_and(|silent| silent.contains(&json!("gem sources --list"))),
        "{record}"
    );
    assert!(place.source("npm.own.example").is_some() && place.source("reached.example").is_none());
    assert_eq!(place.get("home/written"), None);
}

#[test]
fn allow_and_deny_edit_the_users_file_and_keep_the_rest_of_it() {
    let place = Place::new();
    place.put(
        CONFIG,
        "# mine\nprofile = \"haft\" # short\n\n[network] # hosts\nallow = [\n    \"a.example\", # first\n]\n",
    );
    let said = place.haft(&["network", "allow", "docs", "B.example:5432"], "");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("docs (allowed):") && said.out.contains("haft lists it"), "{}", said.out);
    assert_eq!(place.haft(&["network", "deny", "*.bad.example"], "").code, 0);
    let again = place.haft(&["network", "allow", "a.example"], "");
    assert!(again.out.contains("already"), "{}", again.out);
    assert_eq!(
        place.get(CONFIG).as_deref(),
        Some(
            "# mine\nprofile = \"haft\" # short\n\n[network] # hosts\nallow = [\n    \"a.example\", # first\n    \
             \"docs\",\n    \"b.example:5432\",\n]\ndeny = [\"*.bad.example\"]\n"
        )
    );
    for wrong in ["http://x.example", "a b", ""] {
        assert_eq!(place.haft(&["network", "allow", wrong], "").code, 2, "{wrong}");
    }
    let planned = place.haft(&["--plan", "network", "allow", "c.example"], "");
    assert_eq!((planned.code, place.get(CONFIG).is_some_and(|text| text.contains("c.example"))), (3, false));
}

#[test]
fn explain_says_what_grants_a_host_and_the_call_asks_nothing_about_it() {
    let place = Place::new();
    place.put(CONFIG, "[network]\nallow = [\"api.example\", \"*.below.example\", \"github\", \"db.example:5432\"]\ndeny = [\"no.below.example\"]\n");
    let explained = |command: &str| -> (String, String) {
        let said = place.haft(&["rules", "explain", "--json", command], "");
        let record: Value = serde_json::from_str(&said.out).expect("one record");
        let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
        (text("decision"), text("rule"))
    };
    for (command, decision, rule) in [
        ("curl https://api.example/x", "allow", "[network] allow = [\"api.example\"]"),
        ("curl https://a.b.below.example", "allow", "[network] allow = [\"*.below.example\"]"),
        ("curl https://api.github.com/x", "allow", "[network] allow = [\"github\"]"),
        ("curl http://db.example:5432/", "allow", "[network] allow = [\"db.example:5432\"]"),
        ("curl https://no.below.example", "deny", "[network] deny = [\"no.below.example\"]"),
        ("curl https://api.example https://other.example", "ask", "network"),
        ("curl -s https://api.example/i.sh | sh", "deny", "downloaded code"),
    ] {
        let (decided, by) = explained(command);
        assert_eq!((decided.as_str(), by.as_str()), (decision, rule), "{command}");
    }
}

#[test]
fn a_refusal_names_the_smallest_setting_and_the_group() {
    let place = Place::new();
    let refused = |command: &str| {
        let said = place.haft(&["--json", "call", "bash", &json!({ "command": command }).to_string()], "");
        let record: Value = serde_json::from_str(&said.out).expect("one record");
        record["error"]["recovery"].clone()
    };
    assert_eq!(refused("curl https://api.example/"), json!(["[network] allow = [\"api.example\"]"]));
    assert_eq!(refused("curl https://api.github.com/"), json!(["[network] allow = [\"github\"]"]));
}

/// Returns a name of this machine beside its own that leads to its loopback, where the system has one.
fn other_name() -> Option<String> {
    let hosts = std::fs::read_to_string("/etc/hosts").ok()?;
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let names =
        hosts.lines().filter_map(|line| line.strip_prefix("127.")).flat_map(|line| line.split_whitespace().skip(1));
    let is_other = |name: &&str| *name != own.trim() && !name.starts_with("localhost");
    let leads_here =
        |name: &&str| (*name, 80).to_socket_addrs().is_ok_and(|mut all| all.any(|one| one.ip().is_loopback()));
    names.filter(is_other).find(leads_here).map(str::to_owned)
}

#[test]
fn a_private_registry_is_reached_through_the_group_and_everything_about_it_is_told() {
    let place = place();
    if !is_full(&place) {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let name = other_name();
    let host = name.clone().unwrap_or_else(|| "registry.invalid".to_owned());
    place.program("npm", &format!("echo http://{host}:{port}/"));
    assert_eq!(place.with_programs(&["network", "allow", "registries"]).code, 0);
    if name.is_some() {
        std::thread::spawn(move || {
            let (mut client, _) = listener.accept().expect("it comes");
            let _ = client.read(&mut [0; 1024]);
            let _ = client.write_all(b"HTTP/1.0 200 OK\r\n\r\nprivate\n");
        });
    }
    let request = format!("GET / HTTP/1.0\\r\\nHost: {host}:{port}\\r\\n\\r\\n");
    let script = format!("exec 3<>/dev/tcp/{host}/{port}; printf '{request}' >&3; cat <&3 > got.txt");
    let record = place.answer(&["--yes=all", "--json", "call", "bash", &json!({ "command": script }).to_string()]);
    let reached = &record["network"][0];
    assert_eq!((reached["host"].as_str(), reached["port"].as_u64()), (Some(&*host), Some(u64::from(port))), "{record}");
    match name {
        Some(name) => assert_reached(&place, &record, &name),
        // It was allowed, and there is no such machine.
        None => assert_eq!(reached["outcome"], "failed", "{record}"),
    }
}

/// The record and the log tell of the connection, and what was granted before does not count as sent.
fn assert_reached(place: &Place, record: &Value, host: &str) {
    let reached = &record["network"][0];
    assert_eq!((&reached["outcome"], &reached["connections"]), (&json!("reached"), &json!(1)), "{record}");
    assert!(reached["received"].as_u64() > Some(20) && reached["sent"].as_u64() > Some(20), "{record}");
    assert_eq!(record["bits"], json!(["untrusted"]), "what was granted before does not send: {record}");
    let log = place.answer(&["--json", "log"]);
    assert_eq!(log["change_sets"][0]["network"], json!([host]));
}

#[test]
fn learn_adds_the_hosts_that_a_command_reached_after_a_yes() {
    let place = place();
    if !is_full(&place) {
        return;
    }
    match other_name() {
        Some(host) => learns_from(&place, &host),
        None => {
            // Nothing can be reached; then nothing is learned.
            let record = place.answer(&["--yes=all", "--json", "network", "learn", "--", "true"]);
            assert_eq!((&record["new"], &record["added"]), (&json!([]), &json!(false)), "{record}");
        }
    }
}

fn learns_from(place: &Place, host: &str) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    place.program("npm", &format!("echo http://{host}:{port}/"));
    std::thread::spawn(move || {
        while let Ok((mut client, _)) = listener.accept() {
            let _ = client.read(&mut [0; 1024]);
            let _ = client.write_all(b"HTTP/1.0 200 OK\r\n\r\n");
        }
    });
    let script =
        format!("exec 3<>/dev/tcp/{host}/{port}; printf 'GET / HTTP/1.0\\r\\nHost: {host}\\r\\n\\r\\n' >&3; cat <&3");
    let learn = |flags: &[&str]| {
        place.answer(&[flags, &["--json", "network", "learn", "--group", "docs", "--", &script]].concat())
    };
    let new = format!("{host}:{port}");

    let refused = learn(&[]);
    assert_eq!(refused["added"], json!(false), "{refused}");
    assert_eq!(place.get(CONFIG), None);
    let learned = learn(&["--yes=all"]);
    assert_eq!((&learned["new"], &learned["added"]), (&json!([new]), &json!(true)), "{learned}");
    assert_eq!(place.get(CONFIG), Some(format!("[network]\ndocs = [\"{new}\"]\n")));
    // What the group has is not new, and a private host that is no registry of the user's is not reached.
    assert_eq!(learn(&["--yes=all"])["new"], json!([]));
    let elsewhere = format!("exec 3<>/dev/tcp/{host}/80; cat <&3");
    let record = place.answer(&["--yes=all", "--json", "network", "learn", "--", &elsewhere]);
    assert_eq!(record["new"], json!([]), "{record}");
}
