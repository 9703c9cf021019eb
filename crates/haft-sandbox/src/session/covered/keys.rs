//! Finds tokens and keys in the folder of a toolchain.
//!
//! Package managers keep tokens beside their programs, and people put keys where they find room. For tokens the name is
//! enough. A file that may also be public (`*.pem` of a certificate) counts if it contains a private key.
//!
//! Not here: files that packages contain. They are public, and builds read them, including keys for tests.

use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::walk::WalkRecord;

/// How deep a folder is looked through, and how many entries of it.
const DEPTH: usize = 4;
const MOST: usize = 4_000;
/// How much of a file is read to find a private key.
const HEAD: u64 = 4_096;

/// Folders with what packages bring along, and with programs.
const PUBLIC: &[&str] = &[
    "registry",
    "checkouts",
    "db",
    "node_modules",
    "site-packages",
    "dist-packages",
    "lib",
    "lib64",
    "libexec",
    "include",
    "share",
    "bin",
    "src",
    "pkg",
    "pkgs",
    "mod",
    "gems",
    "repository",
    "packages",
    "_cacache",
    ".git",
    "test",
    "tests",
];
/// Names of files that hold tokens.
const TOKENS: &[&str] = &[
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".env",
    "auth.json",
    "auth.toml",
    "pip.conf",
    "nuget.config",
    "settings-security.xml",
    ".dockercfg",
    ".vault-token",
];

/// Returns the files below these folders that hold a token or a key, from this memory where it still holds. Links are not
/// followed.
pub(super) fn keys_below(folders: &[PathBuf], memory: Option<&Path>) -> Vec<PathBuf> {
    WalkRecord::remembered(folders, memory, |walk, folders| folders.iter().for_each(|folder| look(walk, folder)))
}

fn look(walk: &mut WalkRecord, folder: &Path) {
    let mut looked = 0;
    let mut folders = VecDeque::from([(folder.to_owned(), 0)]);
    while let Some((folder, depth)) = folders.pop_front() {
        walk.look_at(&folder);
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            looked += 1;
            let name = entry.file_name().to_string_lossy().to_lowercase();
            let Ok(kind) = entry.file_type() else { continue };
            let is_searched = kind.is_dir() && depth + 1 < DEPTH && looked < MOST && !PUBLIC.contains(&name.as_str());
            if is_searched {
                folders.push_back((entry.path(), depth + 1));
            } else if kind.is_file() && (is_named_like_token(&name) || holds_key(walk, &entry.path(), &name)) {
                walk.found(entry.path());
            }
        }
    }
}

fn is_named_like_token(name: &str) -> bool {
    let is_token = TOKENS.contains(&name) || name == "credentials" || name.starts_with("credentials.");
    is_token || [".p12", ".pfx", ".kdbx"].iter().any(|end| name.ends_with(end))
}

/// Returns whether a file whose name may be that of a key holds one. The content decides, so the walk notes the file.
fn holds_key(walk: &mut WalkRecord, path: &Path, name: &str) -> bool {
    let may_be_key = name.starts_with("id_") && !name.ends_with(".pub");
    let may_be_key = may_be_key || [".pem", ".key", ".ppk", ".asc"].iter().any(|end| name.ends_with(end));
    if may_be_key {
        walk.look_at(path);
    }
    may_be_key && has_private_key(path)
}

/// Returns whether a file contains a private key; true if it cannot be read, because its content is then unknown.
fn has_private_key(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let text = String::from_utf8_lossy(&head);
    read.is_err() || text.contains("PRIVATE KEY") || text.starts_with("PuTTY-User-Key-File")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n";
    const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\nMIIE\n";

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (name, content) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("it can be made");
            std::fs::write(path, content).expect("it can be written");
        }
        let shown = |path: PathBuf| path.strip_prefix(folder.path()).map(|path| path.display().to_string());
        let mut found: Vec<String> =
            keys_below(&[folder.path().to_owned()], None).into_iter().flat_map(shown).collect();
        found.sort();
        found
    }

    #[test]
    fn tokens_and_private_keys_are_found_at_any_place_of_a_toolchain() {
        for name in [
            "credentials",
            "credentials.toml",
            "credentials.json",
            "credentials.bak",
            ".npmrc",
            "versions/node/.npmrc",
            ".yarnrc.yml",
            ".pypirc",
            ".netrc",
            "auth.json",
            "etc/pip.conf",
            ".env",
            ".git-credentials",
        ] {
            assert_eq!(found(&[(name, "x")]), [name], "{name}");
        }
        for name in
            ["id_rsa", "id_ed25519", "id_work", "server.pem", "versions/3.12/etc/a.key", "keys/KEY.PEM", "a.asc"]
        {
            assert_eq!(found(&[(name, KEY)]), [name], "{name}");
        }
    }

    #[test]
    fn what_is_public_stays_readable() {
        let public = [
            ("cacert.pem", CERTIFICATE),
            ("versions/3.12/etc/cert.pem", CERTIFICATE),
            ("id_rsa.pub", "ssh-ed25519 AAAA"),
            ("id_map.py", "x = 1"),
            ("versions/3.12/lib/python3.12/site-packages/certifi/cacert.pem", CERTIFICATE),
            ("registry/src/index/openssl-0.10/test/key.pem", KEY),
            ("versions/node/lib/node_modules/npm/.npmrc", "x"),
            ("config.toml", "x"),
        ];
        assert!(found(&public).is_empty(), "{:?}", found(&public));
    }
}
