//! Detects where haft runs, as far as possible, and says how to get the layers that are missing there.
//!
//! A person in a container needs the option of that container, not a lesson about namespaces. So haft looks at files
//! that container engines leave, variables that services set, and the kernel's description of itself.
//!
//! Not here: which layers are missing (`examination`).

use std::path::Path;

use super::layer_cost::SandboxLayer;

/// An environment that decides what the kernel permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// A container of Docker, or of another engine with its settings.
    Docker,
    /// A container of Podman.
    Podman,
    /// A pod.
    Kubernetes,
    /// A runner of GitHub Actions.
    GitHubActions,
    /// GitHub Codespaces.
    Codespaces,
    /// A development container of an editor.
    DevContainer,
    /// The Windows Subsystem for Linux, version 2.
    Wsl2,
}

/// Options for Docker, and for services that take Docker's options.
const DOCKER_OPTIONS: &str =
    "--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined";

impl Platform {
    /// All known platforms.
    pub const ALL: [Platform; 7] = [
        Platform::Docker,
        Platform::Podman,
        Platform::Kubernetes,
        Platform::GitHubActions,
        Platform::Codespaces,
        Platform::DevContainer,
        Platform::Wsl2,
    ];

    /// Detects where haft runs: `root` is the root folder, `variable` the environment. Several platforms may apply.
    pub fn detect(root: &Path, variable: impl Fn(&str) -> Option<String>) -> Vec<Self> {
        let is_there = |path: &str| root.join(path).exists();
        let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty() && value != "false");
        let contains = |path: &str, word: &str| {
            std::fs::read_to_string(root.join(path)).is_ok_and(|text| text.to_ascii_lowercase().contains(word))
        };
        let is = |platform: &Platform| match platform {
            Platform::Docker => is_there(".dockerenv") || contains("proc/1/cgroup", "/docker"),
            Platform::Podman => is_there("run/.containerenv") || variable("container").is_some_and(|by| by == "podman"),
            Platform::Kubernetes => {
                is_set("KUBERNETES_SERVICE_HOST")
                    || is_there("var/run/secrets/kubernetes.io")
                    || contains("proc/1/cgroup", "kubepods")
            }
            Platform::GitHubActions => is_set("GITHUB_ACTIONS"),
            Platform::Codespaces => is_set("CODESPACES"),
            Platform::DevContainer => is_set("REMOTE_CONTAINERS") && !is_set("CODESPACES"),
            Platform::Wsl2 => contains("proc/version", "microsoft"),
        };
        Self::ALL.into_iter().filter(is).collect()
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Platform::Docker => "Docker",
            Platform::Podman => "Podman",
            Platform::Kubernetes => "Kubernetes",
            Platform::GitHubActions => "GitHub Actions",
            Platform::Codespaces => "Codespaces",
            Platform::DevContainer => "a dev container",
            Platform::Wsl2 => "WSL2",
        }
    }

    /// Says how to get namespaces and mounts there.
    pub fn permits_namespaces(self) -> String {
        match self {
            Platform::Docker => format!("docker run {DOCKER_OPTIONS}"),
            Platform::Podman => "podman run --security-opt seccomp=unconfined --security-opt unmask=ALL \
                                 --security-opt label=disable"
                .into(),
            Platform::Kubernetes => {
                "in the pod's securityContext: seccompProfile: {type: Unconfined}, appArmorProfile: \
                                     {type: Unconfined}, procMount: Unmasked (which needs hostUsers: false)"
                    .into()
            }
            Platform::GitHubActions => format!(
                "a step before: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0; for a job in a container: \
                 container: options: {DOCKER_OPTIONS}"
            ),
            Platform::Codespaces | Platform::DevContainer => {
                let options: Vec<String> = DOCKER_OPTIONS.split(' ').map(|word| format!("\"{word}\"")).collect();
                format!("in devcontainer.json: \"runArgs\": [{}], then rebuild the container", options.join(", "))
            }
            Platform::Wsl2 => "wsl --update in Windows, then wsl --shutdown".into(),
        }
    }

    /// Says how to get a fresh `/proc` there, where everything else is permitted: the engine covers parts of `/proc`.
    fn permits_fresh_proc(self) -> String {
        match self {
            Platform::Docker => "docker run --security-opt systempaths=unconfined".into(),
            // Podman's own profile permits namespaces and mounts.
            Platform::Podman => "podman run --security-opt unmask=ALL".into(),
            other => other.permits_namespaces(),
        }
    }

    fn is_container(self) -> bool {
        matches!(
            self,
            Platform::Docker | Platform::Podman | Platform::Kubernetes | Platform::Codespaces | Platform::DevContainer
        )
    }
}

/// Says how to get the missing layers, one sentence each, the most useful first.
///
/// `root` is the root folder, which has the settings of the kernel.
pub fn how_to_get(missing: &[SandboxLayer], platforms: &[Platform], root: &Path) -> Vec<String> {
    let mut told = Vec::new();
    let is_in_container = platforms.iter().any(|platform| platform.is_container());
    // A layer that needs another one, or a newer kernel, is not a matter of permissions.
    let are_namespaces_missing =
        missing.contains(&SandboxLayer::UserNamespace) || missing.contains(&SandboxLayer::Mounts);
    if are_namespaces_missing || missing.contains(&SandboxLayer::FreshProc) {
        let remedy = if are_namespaces_missing { Platform::permits_namespaces } else { Platform::permits_fresh_proc };
        told.extend(platforms.iter().map(|platform| format!("{}: {}", platform.name(), remedy(*platform))));
        told.extend(settings_of_kernel(root));
        if told.is_empty() {
            told.push(
                "Permit user namespaces and mounts to ordinary users: the log of the kernel says who refused.".into(),
            );
        }
    }
    let whose = if is_in_container { "the kernel of the host" } else { "a kernel" };
    if missing.contains(&SandboxLayer::Landlock) {
        told.push(format!(
            "Landlock: {whose} of 5.13 or newer, with \"landlock\" in the list of its start parameter lsm= \
             (now: {}); WSL2: kernelCommandLine = lsm=landlock in .wslconfig",
            text(root, "sys/kernel/security/lsm").unwrap_or_else(|| "unknown".into())
        ));
    }
    let is_permitted =
        |layer: &&SandboxLayer| !layer.is_by_permission() || !missing.contains(&SandboxLayer::UserNamespace);
    for layer in missing.iter().filter(|layer| **layer != SandboxLayer::Landlock).filter(is_permitted) {
        if let Some(since) = layer.since() {
            told.push(format!("{}: {whose} of {since} or newer, and no filter that refuses it", layer.name()));
        }
    }
    told
}

/// Settings of the kernel that forbid namespaces, and how to change each.
fn settings_of_kernel(root: &Path) -> Vec<String> {
    let table = [
        (
            "proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for haft with \"userns,\"",
        ),
        ("proc/sys/kernel/unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
        ("proc/sys/user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=15000"),
        ("proc/sys/user/max_mnt_namespaces", "0", "sudo sysctl -w user.max_mnt_namespaces=15000"),
        ("proc/sys/user/max_net_namespaces", "0", "sudo sysctl -w user.max_net_namespaces=15000"),
    ];
    let forbids = |(path, value, _): &&(&str, &str, &str)| text(root, path).as_deref() == Some(*value);
    table.iter().filter(forbids).map(|(_, _, remedy)| (*remedy).to_owned()).collect()
}

fn text(root: &Path, path: &str) -> Option<String> {
    std::fs::read_to_string(root.join(path)).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        root
    }

    #[test]
    fn each_platform_is_known_by_what_it_leaves() {
        type Row =
            (&'static [(&'static str, &'static str)], &'static [(&'static str, &'static str)], &'static [Platform]);
        let table: [Row; 10] = [
            (&[("proc/version", "Linux version 6.1.0 (debian)")], &[("GITHUB_ACTIONS", "false")], &[]),
            (&[(".dockerenv", "")], &[], &[Platform::Docker]),
            (&[("proc/1/cgroup", "0::/docker/abc")], &[], &[Platform::Docker]),
            (&[("run/.containerenv", "")], &[("container", "podman")], &[Platform::Podman]),
            (&[], &[("KUBERNETES_SERVICE_HOST", "10.0.0.1")], &[Platform::Kubernetes]),
            (&[], &[("GITHUB_ACTIONS", "true")], &[Platform::GitHubActions]),
            (&[(".dockerenv", "")], &[("GITHUB_ACTIONS", "true")], &[Platform::Docker, Platform::GitHubActions]),
            (
                &[(".dockerenv", "")],
                &[("CODESPACES", "true"), ("REMOTE_CONTAINERS", "true")],
                &[Platform::Docker, Platform::Codespaces],
            ),
            (&[], &[("REMOTE_CONTAINERS", "true")], &[Platform::DevContainer]),
            (&[("proc/version", "Linux version 5.15.90.1-microsoft-standard-WSL2")], &[], &[Platform::Wsl2]),
        ];
        for (files, variables, expected) in table {
            let root = root(files);
            let variable =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(Platform::detect(root.path(), variable), expected, "{files:?} {variables:?}");
        }
    }

    #[test]
    fn a_missing_layer_has_the_remedy_of_its_place() {
        let every_namespace = [
            SandboxLayer::UserNamespace,
            SandboxLayer::Mounts,
            SandboxLayer::Overlay,
            SandboxLayer::FreshProc,
            SandboxLayer::NetworkNamespace,
        ];
        let plain = root(&[]);
        let ubuntu = root(&[("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n")]);
        let no_landlock = root(&[("sys/kernel/security/lsm", "capability,yama")]);
        let told = |missing: &[SandboxLayer], platforms: &[Platform], root: &tempfile::TempDir| {
            how_to_get(missing, platforms, root.path()).join("\n")
        };
        assert_eq!(told(&[], &Platform::ALL, &plain), "");
        for (platform, word) in [
            (Platform::Docker, "docker run --security-opt seccomp=unconfined"),
            (Platform::Podman, "podman run"),
            (Platform::Kubernetes, "seccompProfile"),
            (Platform::GitHubActions, "container: options:"),
            (Platform::Codespaces, "\"runArgs\": [\"--security-opt\", \"seccomp=unconfined\""),
            (Platform::DevContainer, "devcontainer.json"),
            (Platform::Wsl2, "wsl --update"),
        ] {
            let told = told(&every_namespace, &[platform], &plain);
            assert!(told.starts_with(platform.name()) && told.contains(word), "{told}");
            assert_eq!(told.lines().count(), 1, "{told}");
        }
        let only_proc = [SandboxLayer::FreshProc, SandboxLayer::ProcessLimit];
        let podman = told(&only_proc, &[Platform::Podman], &plain);
        assert_eq!(podman.lines().next(), Some("Podman: podman run --security-opt unmask=ALL"), "{podman}");
        assert!(told(&every_namespace, &[], &plain).contains("Permit user namespaces"));
        assert!(told(&every_namespace, &[], &ubuntu).starts_with("sudo sysctl -w kernel.apparmor"));
        let landlock = told(&[SandboxLayer::Landlock, SandboxLayer::LandlockPorts], &[Platform::Docker], &no_landlock);
        assert!(
            landlock.contains("kernel of the host of 5.13") && landlock.contains("now: capability,yama"),
            "{landlock}"
        );
        assert!(landlock.contains("of 6.7 or newer"), "{landlock}");
        assert!(told(&[SandboxLayer::Overlay], &[], &plain).contains("a kernel of 5.11"));
    }
}
