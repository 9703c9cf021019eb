//! Which files usually hold secrets, by their names.
//!
//! A search over a tree must not bring a key along by chance; whoever wants such a file names it, and
//! that is judged. The names say what a file is usually for, nothing about what is in this one.
//!
//! Not here: deciding (`haft-policy`), hiding secret values in results (`haft-runtime`).

use std::path::Path;

const KEY_NAMES: [&str; 9] =
    ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd"];
const KEY_ENDINGS: [&str; 4] = [".pem", ".key", ".p12", ".pfx"];
const KEY_FOLDERS: [&str; 3] = [".ssh", ".gnupg", ".aws"];
const SAMPLE_ENDINGS: [&str; 4] = [".example", ".sample", ".template", ".dist"];

/// Returns whether a file of this name usually holds secrets. Case does not matter.
pub fn is_secret(path: &Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    is_secret_name(name.as_encoded_bytes())
        || path
            .parent()
            .is_some_and(|folders| folders.iter().any(|folder| is_any_of(folder.as_encoded_bytes(), &KEY_FOLDERS)))
}

fn is_secret_name(name: &[u8]) -> bool {
    if is_any_of(name, &KEY_NAMES) || ends_with_any_of(name, &KEY_ENDINGS) {
        return true;
    }
    let environment = name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b".env"));
    environment && matches!(name.get(4), None | Some(b'.')) && !ends_with_any_of(name, &SAMPLE_ENDINGS)
}

fn is_any_of(name: &[u8], names: &[&str]) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

fn ends_with_any_of(name: &[u8], endings: &[&str]) -> bool {
    let ends_with = |ending: &&str| {
        name.len().checked_sub(ending.len()).is_some_and(|start| name[start..].eq_ignore_ascii_case(ending.as_bytes()))
    };
    endings.iter().any(ends_with)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_usually_hold_secrets_are_known_by_name_in_any_case() {
        for path in
            [".env", "a/.ENV.local", "id_rsa", "x/server.PEM", "tls.key", ".npmrc", "home/.ssh/config", ".AWS/a/b"]
        {
            assert!(is_secret(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn names_that_only_look_alike_and_samples_are_not_secret() {
        for path in
            [".env.example", ".env.local.SAMPLE", ".envrc", "keys.rs", "monkey", "id_rsa.pub", "ssh/config", "", ".ssh"]
        {
            assert!(!is_secret(Path::new(path)), "{path}");
        }
    }
}
