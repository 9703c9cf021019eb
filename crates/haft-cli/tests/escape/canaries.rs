//! A cage with canaries around it: files that must stay as they are and unread, listeners that must hear nothing.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;

use haft_testkit::require::Need;
use serde_json::{Value, json};

use crate::place::Place;

/// What no command may get to see.
pub(crate) const SECRET: &str = "canary-4c1b7e20-secret";
/// What a file outside holds, and goes on holding.
const SONG: &str = "canary-4c1b7e20-song\n";
const ORDINARY: u32 = 65_534;

/// A workspace, and everything around it that must stay untouched.
pub(crate) struct Cage {
    place: Place,
    around: Vec<&'static str>,
    tcp: TcpListener,
    tcp6: Option<TcpListener>,
    udp: UdpSocket,
    unix: UnixListener,
    unix_in_workspace: UnixListener,
    abstract_name: String,
    hidden: UnixListener,
}

impl Cage {
    pub(crate) fn for_whoever_runs_this() -> Self {
        Self::new(Vec::new())
    }

    /// Lays out a cage for an ordinary user, where we are root and can become one.
    pub(crate) fn for_an_ordinary_user() -> Option<Self> {
        let cage = Self::new(vec!["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]);
        let given = cage.files().iter().try_for_each(|path| chown(path, Some(ORDINARY), Some(ORDINARY)));
        // Last: giving a file to another owner removes such bits.
        let set_id = cage.place.path("set-id-prober");
        let given = given.and_then(|()| chown(&set_id, Some(0), Some(0)));
        let given = given.and_then(|()| std::fs::set_permissions(&set_id, PermissionsExt::from_mode(0o4755)));
        let can_run = given.is_ok() && cage.place.run_around(&cage.around, &["--version"], "").status.success();
        Need::Users.found(can_run.then_some(cage))
    }

    fn new(around: Vec<&'static str>) -> Self {
        let place = Place::new();
        let root = place.root().to_owned();
        std::fs::set_permissions(&root, PermissionsExt::from_mode(0o755)).expect("it is ours");
        std::fs::create_dir_all(root.join("state/haft")).expect("it can be made");
        std::fs::create_dir_all(root.join("config/haft")).expect("it can be made");
        std::fs::create_dir(root.join("outside")).expect("it is new");
        for file in ["home/secret", "state/haft/secret", "config/haft/secret", "outside/secret"] {
            std::fs::write(root.join(file), format!("{SECRET}\n")).expect("it can be written");
        }
        std::fs::write(root.join("outside/song"), SONG).expect("it can be written");
        std::fs::set_permissions(root.join("outside/song"), PermissionsExt::from_mode(0o644)).expect("it is ours");
        place.put("inside.txt", "inside\n");
        place.put(".ignore", "target\n");
        place.put("target/kept", "kept\n");
        std::os::unix::fs::symlink(root.join("outside/song"), place.path("link")).expect("it is new");
        std::os::unix::fs::symlink(root.join("outside"), place.path("folder-link")).expect("it is new");
        std::fs::copy(std::env::current_exe().expect("it is known"), place.path("prober")).expect("it can be copied");
        std::fs::copy(place.path("prober"), place.path("set-id-prober")).expect("it can be copied");
        let abstract_name = format!("haft-canary-{}", root.file_name().expect("it has a name").to_string_lossy());
        let name = SocketAddr::from_abstract_name(&abstract_name).expect("it is short");
        let cage = Self {
            tcp: TcpListener::bind("127.0.0.1:0").expect("there is a loopback"),
            tcp6: TcpListener::bind("[::1]:0").ok(),
            udp: UdpSocket::bind("127.0.0.1:0").expect("there is a loopback"),
            unix: UnixListener::bind(root.join("outside/socket")).expect("it is new"),
            unix_in_workspace: UnixListener::bind(place.path("socket")).expect("it is new"),
            hidden: UnixListener::bind_addr(&name).expect("it is new"),
            abstract_name,
            place,
            around,
        };
        cage.tcp.set_nonblocking(true).expect("it can be asked for");
        cage.tcp6.iter().for_each(|tcp| tcp.set_nonblocking(true).expect("it can be asked for"));
        cage.udp.set_nonblocking(true).expect("it can be asked for");
        for listener in [&cage.unix, &cage.unix_in_workspace, &cage.hidden] {
            listener.set_nonblocking(true).expect("it can be asked for");
        }
        cage
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files = vec![self.place.root().to_owned()];
        let mut folders = files.clone();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("it is a folder").flatten() {
                let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
                if entry.path().is_dir() && !is_link {
                    folders.push(entry.path());
                }
                if !is_link {
                    files.push(entry.path());
                }
            }
        }
        files
    }

    /// Runs a command in the cage that no rule can read, and returns its record.
    pub(crate) fn bash(&self, command: &str) -> Value {
        self.bash_for(command, 20)
    }

    pub(crate) fn bash_for(&self, command: &str, seconds: u64) -> Value {
        let environment = format!("CANARY_API_KEY={SECRET}");
        let around: Vec<&str> = [&self.around[..], &["env", &environment]].concat();
        self.place.call_unread(&around, command, &json!({ "timeout": seconds }))
    }

    /// Runs a command as it is written, where the rules let it through, and returns its record.
    pub(crate) fn bash_as_written(&self, command: &str) -> Value {
        let call = json!({ "name": "bash", "arguments": { "command": command, "timeout": 20 } });
        let environment = format!("CANARY_API_KEY={SECRET}");
        self.place.call(&[&self.around[..], &["env", &environment]].concat(), &[call]).remove(0)
    }

    /// Returns what the rules say of a command.
    pub(crate) fn explained(&self, command: &str) -> Value {
        let said = self.place.run(&["--json", "rules", "explain", "--", command]);
        serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&said.stderr)))
    }

    /// Sets something for the commands that follow.
    pub(crate) fn settings(&self, text: &str) {
        std::fs::write(self.place.root().join("config/haft/config.toml"), text).expect("it can be written");
    }

    /// Returns the absolute path of something around the workspace.
    pub(crate) fn around(&self, name: &str) -> String {
        self.place.root().join(name).display().to_string()
    }

    pub(crate) fn tcp_port(&self) -> u16 {
        self.tcp.local_addr().expect("it is bound").port()
    }

    pub(crate) fn tcp6_port(&self) -> u16 {
        self.tcp6.as_ref().map_or(1, |tcp| tcp.local_addr().expect("it is bound").port())
    }

    pub(crate) fn udp_port(&self) -> u16 {
        self.udp.local_addr().expect("it is bound").port()
    }

    pub(crate) fn abstract_name(&self) -> &str {
        &self.abstract_name
    }

    /// Fails when a canary was touched or a listener heard something.
    pub(crate) fn assert_quiet(&self, attempt: &str) {
        let song = std::fs::read_to_string(self.place.root().join("outside/song"));
        assert_eq!(song.ok().as_deref(), Some(SONG), "{attempt}");
        let facts = std::fs::metadata(self.place.root().join("outside/song")).expect("it is there");
        assert_eq!(facts.permissions().mode() & 0o7777, 0o644, "{attempt}");
        for file in ["home/secret", "state/haft/secret", "config/haft/secret", "outside/secret"] {
            let secret = std::fs::read_to_string(self.place.root().join(file)).unwrap_or_default();
            assert_eq!(secret, format!("{SECRET}\n"), "{attempt}: {file}");
        }
        let mut outside: Vec<String> = std::fs::read_dir(self.place.root().join("outside"))
            .expect("it is there")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        outside.sort();
        assert_eq!(outside, ["secret", "socket", "song"], "{attempt}");
        assert!(std::fs::read_dir(self.place.root().join("home")).expect("it is there").count() == 1, "{attempt}");
        assert!(self.tcp.accept().is_err(), "{attempt}: somebody connected by TCP");
        assert!(self.tcp6.iter().all(|tcp| tcp.accept().is_err()), "{attempt}: somebody connected by TCP");
        assert!(self.udp.recv(&mut [0; 64]).is_err(), "{attempt}: somebody sent by UDP");
        assert!(self.unix.accept().is_err(), "{attempt}: somebody connected to a socket outside");
        assert!(self.unix_in_workspace.accept().is_err(), "{attempt}: somebody connected to a socket of outside");
        assert!(self.hidden.accept().is_err(), "{attempt}: somebody connected to an abstract socket");
    }
}
