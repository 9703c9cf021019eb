//! Classifies a path that a command names: a file of the workspace, of the system, a device, a secret.
//!
//! File tools reach nothing outside the workspace. Commands also see the system's folders, read-only, and private empty
//! folders instead of the others. So haft judges an outside path by what it is.

use std::path::{Component, Path, PathBuf};

use haft_contract::files::guarded::{folded_name, is_secret, protected};
use haft_contract::files::path::Target;

/// What lies at a path, as commands meet it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathClass {
    /// The workspace itself, as a whole.
    Root,
    /// A file of the workspace.
    Inside,
    /// A name of the workspace that makes programs run, or belongs to version control.
    Protected,
    /// A device into which one can write what one likes, such as `/dev/null`.
    Sink,
    /// A folder for passing things, private to each session.
    Temporary,
    /// Folders of the system that commands see, read-only.
    System,
    /// A device, or the memory of the machine.
    Device,
    /// A secret by its name, wherever it lies.
    Secret,
    /// haft's own settings and state.
    Haft,
    /// Something outside that a shell, a login or a timer runs.
    Start,
    /// Anything else outside: the home, other homes, other folders.
    Elsewhere,
}

/// Devices that take everything and hold nothing, and the streams of the command itself.
const SINKS: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"];
const SINK_FOLDERS: &[&str] = &["/dev/fd", "/proc/self/fd"];
const READABLE_DEVICES: &[&str] = &["/dev/urandom", "/dev/random"];
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];
const SYSTEM: &[&str] = &[
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/proc", "/sys",
    "/var/lib", "/var/log", "/snap",
];
/// Folders of the system that anybody may publish, whatever the names in them.
const PUBLIC: &[&str] = &["/usr/share", "/usr/lib", "/usr/include", "/usr/bin", "/etc/ssl/certs"];
/// Entries of `/proc/ID/` that lead to somewhere else.
const PROCESS_LINKS: &[&str] = &["cwd", "root", "map_files", "exe"];
pub(crate) const SYSTEM_SECRETS: &[&str] = &[
    "/etc/NetworkManager/system-connections",
    "/etc/wireguard",
    "/etc/kubernetes",
    "/var/lib/kubelet",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
    "/etc/security/opasswd",
    "/proc/kcore",
    "/proc/kallsyms",
    "/var/lib/private",
    "/run/secrets",
    "/var/run/secrets",
];
/// Parts of `/proc/ID/` that show the memory or the environment of a process.
const PROCESS_SECRETS: &[&str] = &["environ", "mem", "maps", "auxv"];

impl PathClass {
    /// Says what lies at a target.
    pub fn of(target: &Target) -> Self {
        match target {
            Target::Inside(place) => inside(place.path()),
            Target::Outside(place) => outside(place.path()),
        }
    }

    /// Returns whether it lies in the workspace.
    pub fn is_inside(self) -> bool {
        matches!(self, PathClass::Root | PathClass::Inside | PathClass::Protected)
    }
}

fn inside(path: &Path) -> PathClass {
    if path.components().all(|part| part == Component::CurDir) {
        return PathClass::Root;
    }
    match path {
        path if is_secret(path) => PathClass::Secret,
        path if protected(path).is_some() => PathClass::Protected,
        _ => PathClass::Inside,
    }
}

fn outside(path: &Path) -> PathClass {
    let path: PathBuf = path.components().collect();
    let is_any = |list: &[&str]| list.iter().any(|name| path == Path::new(name));
    let below_any = |list: &[&str]| list.iter().any(|name| path.starts_with(name));
    match () {
        () if is_any(SINKS) || below_any(SINK_FOLDERS) => PathClass::Sink,
        () if is_of_haft(&path) || has_part(&path, "/.haft") => PathClass::Haft,
        () if below_any(SYSTEM_SECRETS) || process_part(&path, PROCESS_SECRETS) || is_host_key(&path) => {
            PathClass::Secret
        }
        () if below_any(PUBLIC) => PathClass::System,
        () if is_secret(&path) => PathClass::Secret,
        () if is_temporary(&path) => PathClass::Temporary,
        () if is_any(READABLE_DEVICES) => PathClass::System,
        () if path.starts_with("/dev") => PathClass::Device,
        () if process_part(&path, PROCESS_LINKS) => PathClass::Elsewhere,
        () if below_any(SYSTEM) => PathClass::System,
        () if protected(&path).is_some() => PathClass::Start,
        () => PathClass::Elsewhere,
    }
}

/// Returns whether a path outside lies in the folders of haft's own settings and state, which cannot be added to the workspace.
pub fn is_of_haft(path: &Path) -> bool {
    ["/.config/haft", "/.local/state/haft"].iter().any(|name| has_part(path, name))
}

/// Returns whether a path has these parts; it may be written from the workspace on.
fn has_part(path: &Path, name: &str) -> bool {
    let parts: Vec<String> = path.iter().map(folded_name).collect();
    let text = format!("/{}", parts.join("/"));
    text.contains(&format!("{name}/")) || text.ends_with(name)
}

/// The private keys of the machine, which lie beside its public settings.
fn is_host_key(path: &Path) -> bool {
    path.starts_with("/etc/ssh") && path.to_string_lossy().ends_with("_key")
}

/// Returns whether a path outside is a folder for temporary files, or in one.
pub(crate) fn is_temporary(path: &Path) -> bool {
    TEMPORARY.iter().any(|folder| path.starts_with(folder))
}

/// Returns the folder for temporary files that a path is in.
pub fn temporary_folder_of(path: &Path) -> Option<&'static str> {
    TEMPORARY.iter().copied().find(|folder| path.starts_with(folder))
}

/// Returns whether a path is a folder for temporary files itself.
pub fn is_temporary_folder(path: &Path) -> bool {
    TEMPORARY.iter().any(|folder| path == Path::new(folder))
}

/// Returns whether a path in `/proc` has one of these parts.
fn process_part(path: &Path, wanted: &[&str]) -> bool {
    let mut parts = path.components().skip(1).map(|part| part.as_os_str().to_string_lossy().into_owned());
    parts.next().as_deref() == Some("proc") && parts.any(|part| wanted.contains(&part.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::files::path::{Extent, FileLocation};

    fn zone_outside(path: &str) -> PathClass {
        PathClass::of(&Target::Outside(FileLocation::new(path, Extent::Entry)))
    }

    #[test]
    fn what_lies_outside_is_told_apart() {
        let cases = [
            ("/dev/null", PathClass::Sink),
            ("/dev/fd/63", PathClass::Sink),
            ("/dev/sda", PathClass::Device),
            ("/dev/urandom", PathClass::System),
            ("/tmp/x", PathClass::Temporary),
            ("/usr/bin/ls", PathClass::System),
            ("/etc/os-release", PathClass::System),
            ("/etc/shadow", PathClass::Secret),
            ("/etc/ssh/ssh_host_rsa_key", PathClass::Secret),
            ("/etc/ssh/sshd_config", PathClass::System),
            ("/proc/cpuinfo", PathClass::System),
            ("/proc/1/environ", PathClass::Secret),
            ("/proc/self/cwd/.env", PathClass::Secret),
            ("/proc/self/cwd/a", PathClass::Elsewhere),
            ("/opt/app/.env", PathClass::Secret),
            ("/usr/share/doc/example.pem", PathClass::System),
            ("/home/a/.ssh/id_rsa", PathClass::Secret),
            ("/home/a/.bashrc", PathClass::Start),
            ("/home/a/.config/haft/rules.toml", PathClass::Haft),
            ("/home/a/.local/state/haft", PathClass::Haft),
            (".config/haft/rules.toml", PathClass::Haft),
            ("/home/a/notes", PathClass::Elsewhere),
            ("/", PathClass::Elsewhere),
        ];
        for (path, zone) in cases {
            assert_eq!(zone_outside(path), zone, "{path}");
        }
    }

    #[test]
    fn what_lies_inside_is_told_apart() {
        let zone = |path: &str| PathClass::of(&Target::Inside(FileLocation::new(path, Extent::Entry)));
        assert_eq!(zone(""), PathClass::Root);
        assert_eq!(zone("src/main.rs"), PathClass::Inside);
        assert_eq!(zone(".git/hooks/pre-commit"), PathClass::Protected);
        assert_eq!(zone(".env"), PathClass::Secret);
    }
}
