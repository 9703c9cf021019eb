//! Tests which files of a layer haft keeps, and which it never keeps.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;
use crate::require::Need;

struct House {
    folder: tempfile::TempDir,
    cache: ToolCache,
}

impl House {
    fn new(carried: &[&str], left_out: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["new", "users"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let cache = ToolCache {
            name: "tool".into(),
            folder: folder.path().join("users"),
            moved_by: None,
            carried: list(carried),
            left_out: list(left_out),
        };
        Self { folder, cache }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn put(&self, path: &str, content: &str) -> PathBuf {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    fn carry(&self) -> bool {
        Carrying { cache: &self.cache, owner: None }.carry(&self.at("new"), &self.at("own")).unwrap()
    }

    fn kept(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.at("own").join(path)).ok()
    }
}

#[test]
fn patterns_mean_paths_and_all_that_is_in_them() {
    for (pattern, path, expected) in [
        ("a/b", "a/b", true),
        ("a/b", "a/b/c/d", true),
        ("a/b", "a/bc", false),
        ("a/b", "x/a/b", false),
        ("*/tmp", "v6/tmp/x", true),
        ("*/tmp", "tmp", false),
        ("**/*.lock", "x.lock", true),
        ("**/*.lock", "a/b/x.lock", true),
        ("**/*.lock", "a/b/x.locks", false),
        ("git/**/*.lock", "git/db/r/HEAD.lock", true),
        ("git/**/*.lock", "registry/src/c/Cargo.lock", false),
        ("builds-v*", "builds-v0/x", true),
        ("**/.lock", "a/.lock", true),
        ("**/*.db*", "v3/index.db-wal", true),
    ] {
        let words: Vec<&[u8]> = path.split('/').map(str::as_bytes).collect();
        assert_eq!(fits(&pattern.split('/').collect::<Vec<_>>(), &words), expected, "{pattern} {path}");
    }
}

#[test]
fn a_link_is_kept_only_if_it_leads_to_something_in_the_cache() {
    for (path, target, expected) in [
        ("a/link", "b", true),
        ("a/link", "../c/d", true),
        ("a/b/link", "../../c", true),
        ("link", "./x", true),
        ("a/link", "../../c", false),
        ("link", "..", false),
        ("link", "/etc/passwd", false),
        ("a/b/link", "c/../../d", false),
    ] {
        assert_eq!(leads_inside(Path::new(target), Path::new(path)), expected, "{path} -> {target}");
    }
}

#[test]
fn new_files_of_the_parts_move_and_the_first_version_stays() {
    let house = House::new(&["cache", "deep/src"], &["cache/skip", "**/*.part"]);
    house.put("new/cache/a", "new a");
    house.put("new/cache/of-user", "changed");
    house.put("users/cache/of-user", "user's");
    house.put("new/deep/src/crate/Cargo.lock", "locked");
    for left in ["bin/tool", "config.toml", "cache/skip/x", "cache/b.part"] {
        house.put(&format!("new/{left}"), "x");
    }
    house.put("new/cache/x.lock", "");

    assert!(house.carry());

    assert_eq!(house.kept("cache/a").as_deref(), Some("new a"));
    assert_eq!(house.kept("deep/src/crate/Cargo.lock").as_deref(), Some("locked"));
    for left in ["bin/tool", "config.toml", "cache/skip/x", "cache/b.part", "cache/of-user", "cache/x.lock"] {
        assert_eq!(house.kept(left), None, "{left}");
    }
    assert_eq!(std::fs::read_to_string(house.at("users/cache/of-user")).unwrap(), "user's");
    house.put("new/cache/a", "second");
    assert!(!house.carry());
    assert_eq!(house.kept("cache/a").as_deref(), Some("new a"));
}

#[test]
fn nothing_is_made_for_what_nobody_wrote() {
    let house = House::new(&["."], &[]);
    assert!(!house.carry() && !house.at("own").exists());
    std::fs::remove_dir(house.at("new")).unwrap();
    assert!(!house.carry() && !house.at("own").exists());
}

#[test]
fn rights_attributes_links_and_pipes_of_a_layer_are_left_behind() {
    let house = House::new(&["."], &[]);
    let mode = |path: &Path, mode: u32| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    mode(&house.put("new/program", "x"), 0o6755);
    mode(&house.put("new/unreadable", "x"), 0o000);
    house.put("new/closed/file", "x");
    mode(&house.at("new/closed"), 0o555);
    symlink("program", house.at("new/inside")).unwrap();
    symlink("/etc/passwd", house.at("new/outside")).unwrap();
    rustix::fs::mknodat(CWD, house.at("new/pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    let marked = house.put("new/marked", "x");
    let _ = rustix::fs::setxattr(&marked, "user.overlay.origin", b"x", rustix::fs::XattrFlags::empty());
    let _ = rustix::fs::setxattr(&marked, "user.mine", b"x", rustix::fs::XattrFlags::empty());
    let own_survives = rustix::fs::getxattr(&marked, "user.mine", &mut [0_u8; 8]).is_ok();

    assert!(house.carry());

    assert_eq!(house.at("own/program").metadata().unwrap().mode() & 0o7777, 0o755);
    assert_eq!(house.at("own/unreadable").metadata().unwrap().mode() & 0o7777, 0o400);
    assert!(house.at("own/closed/file").exists());
    assert!(house.at("own/inside").is_symlink() && !house.at("own/outside").is_symlink());
    assert!(house.at("own/pipe").symlink_metadata().is_err());
    let marked = house.at("own/marked");
    assert!(rustix::fs::getxattr(&marked, "user.overlay.origin", &mut [0_u8; 8]).is_err());
    assert_eq!(rustix::fs::getxattr(&marked, "user.mine", &mut [0_u8; 8]).is_ok(), own_survives);
}

#[test]
fn a_folder_that_was_replaced_as_a_whole_is_not_mixed_with_the_earlier_one() {
    let house = House::new(&["."], &[]);
    house.put("new/crate/half", "hal");
    assert!(house.carry());
    house.put("new/crate/half", "half");
    house.put("new/crate/.ok", "");
    let marked = rustix::fs::setxattr(house.at("new/crate"), OPAQUE, b"y", rustix::fs::XattrFlags::empty());
    if !Need::Attributes.met(marked.is_ok()) {
        return;
    }

    assert!(!house.carry());

    assert_eq!((house.kept("crate/half").as_deref(), house.kept("crate/.ok")), (Some("hal"), None));
}

#[test]
fn a_link_in_the_place_of_a_folder_is_never_followed() {
    let house = House::new(&["part"], &[]);
    house.put("elsewhere/secret", "x");
    symlink(house.at("elsewhere"), house.at("new/part")).unwrap();
    assert!(!house.carry());
    std::fs::remove_file(house.at("new/part")).unwrap();
    house.put("new/part/a", "x");
    std::fs::create_dir(house.at("own")).unwrap();
    symlink(house.at("elsewhere"), house.at("own/part")).unwrap();
    assert!(Carrying { cache: &house.cache, owner: None }.carry(&house.at("new"), &house.at("own")).is_err());
    assert!(!house.at("elsewhere/a").exists());
}
