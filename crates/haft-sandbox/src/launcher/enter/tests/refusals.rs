//! Tests that the launcher reports what is missing and runs nothing.

use std::os::unix::fs::PermissionsExt;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change};
use rustix::thread::UnshareFlags;

use super::everyone;
use super::scene::{FixtureUser, SandboxFixture};
use crate::require::Need;

/// Lets a test change mounts for one process. Only root can.
#[allow(unsafe_code)]
pub(super) fn with_own_mounts() {
    // SAFETY: only the mounts are unshared.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }.unwrap();
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).unwrap();
}

#[track_caller]
pub(super) fn as_root(before: fn(&SandboxFixture)) -> Vec<SandboxFixture> {
    // Only root can change mounts and owners.
    if !Need::Users.met(rustix::process::geteuid().is_root()) {
        return Vec::new();
    }
    FixtureUser::all().into_iter().map(|who| SandboxFixture::new(who).before(before)).collect()
}

#[test]
fn a_mount_below_the_workspace_is_named() {
    let scenes = as_root(|scene| {
        with_own_mounts();
        mount("none", scene.at("w/sub"), "tmpfs", MountFlags::empty(), None).unwrap();
    });
    for scene in scenes {
        let seen = scene.run("echo ran");
        let sub = scene.at("w/sub");
        let expected =
            format!("no layer: another file system is mounted in the workspace, at {:?}\n", sub.display().to_string());
        assert_eq!((seen.text.as_str(), seen.report), ("", expected));
    }
}

#[test]
fn an_upper_folder_of_somebody_else_is_no_layer() {
    for scene in as_root(|scene| {
        for name in ["layer/upper", "layer/work"] {
            std::os::unix::fs::chown(scene.at(name), Some(1), Some(1)).unwrap();
            std::fs::set_permissions(scene.at(name), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }) {
        let seen = scene.run("echo ran");
        assert_eq!(seen.text, "");
        assert!(seen.report.starts_with("no layer: the folder for the changes belongs to another user"), "{seen:?}");
    }
}

#[test]
fn a_layer_without_room_is_refused_for_now_and_not_left_out() {
    for scene in as_root(|scene| {
        use std::os::unix::fs::MetadataExt;
        with_own_mounts();
        let owner = std::fs::metadata(scene.at("w")).unwrap();
        // Room for the folder itself and these two.
        mount("none", scene.at("layer"), "tmpfs", MountFlags::empty(), Some(c"nr_inodes=3,mode=755")).unwrap();
        for name in ["layer/upper", "layer/work"] {
            std::fs::create_dir(scene.at(name)).unwrap();
            std::os::unix::fs::chown(scene.at(name), Some(owner.uid()), Some(owner.gid())).unwrap();
        }
    }) {
        let seen = scene.run("echo ran");
        assert_eq!(seen.text, "");
        assert!(seen.report.starts_with("not now: "), "{seen:?}");
    }
}

#[test]
fn without_user_namespaces_nothing_runs_fully_confined() {
    let scenes = as_root(|scene| {
        with_own_mounts();
        // A process that has changed its root may not enter a user namespace.
        mount_bind_recursive("/", scene.at("private")).unwrap();
        rustix::process::chroot(scene.at("private")).unwrap();
    });
    for scene in scenes {
        let seen = scene.run("echo ran");
        assert_eq!(seen.text, "");
        assert!(seen.report.starts_with("missing: A user namespace"), "{seen:?}");
    }
}

#[test]
fn without_a_fresh_proc_nothing_runs_fully_confined() {
    let scenes = as_root(|_| {
        with_own_mounts();
        mount("none", "/proc/sys", "tmpfs", MountFlags::empty(), None).unwrap();
    });
    for scene in scenes {
        let seen = scene.run("echo ran");
        assert_eq!(seen.text, "");
        assert!(seen.report.starts_with("missing: A fresh /proc"), "{seen:?}");
    }
}

#[test]
fn partly_confined_nothing_runs_where_the_workspace_holds_what_is_hidden() {
    for scene in everyone() {
        let scene = scene.partly();
        scene.file("state", "canary");
        scene.visible.borrow_mut().hidden.push(scene.at("w/state"));
        let seen = scene.run("cat state");
        assert!(!seen.text.contains("canary") && seen.report.contains("can only be hidden"), "{seen:?}");
    }
}
