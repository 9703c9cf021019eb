//! Guarded names: changing such a file runs code elsewhere, reading one reveals a secret.
//!
//! The list is data. haft compares it without regard to case, at any depth, and whether or not the
//! file exists yet. It follows links earlier, when it locates a path. So `.Git/hooks/pre-push`,
//! `sub/.git/config` and a link to either are the same to it.
//!
//! Not here: what follows from a guarded name (`haft-policy`, and the walkers of `haft-workspace`).

mod commands;
mod copies;
mod folding;
mod git_settings;
mod names;
mod variables;

pub use commands::{refused_from_commands, well_known_to_commands};
pub use folding::folded_name;
pub use git_settings::{GitSetting, is_secret_address, is_secret_git_setting};
pub use names::{ProtectedName, SecretName, protected_names, secret_names};
pub use variables::{is_secret_variable, is_service_address};

use folding::folded;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::LazyLock;

/// Names that look secret and are not: patterns to be filled in, the public half of a key, and what is encrypted.
const NOT_SECRET: &[&str] = &[
    ".env.example",
    ".env_example",
    ".env-example",
    ".env_sample",
    ".env-sample",
    ".env_template",
    ".env-template",
    ".env.sample",
    ".env.template",
    ".env.dist",
    ".env.defaults",
    "example.tfvars",
    "*.example.tfvars",
    "sample.tfvars",
    "example.env",
    "sample.env",
    "*.pub.pem",
    ".secrets.baseline",
    ".secrets.example",
    ".dev.vars.example",
    "*.example.yaml",
    "*.example.yml",
    "*.example.json",
    "*.example.toml",
    "*.sample.json",
    "*.template.json",
    "*.schema.json",
    "secrets.enc.yaml",
    "secrets.enc.yml",
    "secrets.enc.json",
    ".env.vault",
    ".env.schema",
    "external-secret.yaml",
    "external-secrets.yaml",
    "*-external-secret.yaml",
    "*-external-secrets.yaml",
    "sealed-secret.yaml",
    "sealed-secrets.yaml",
    "*-sealed-secret.yaml",
    "*-sealed-secrets.yaml",
    "*-sealedsecret.yaml",
    "id_*.pub",
    "id_*.c",
    "id_*.go",
    "id_*.js",
    "id_*.md",
    "id_*.py",
    "id_*.rs",
    "id_*.ts",
    "ssh_host_*.pub",
    ".public_key",
    ".*_public_key",
    "kustomization.yaml",
    "kustomization.yml",
];

/// Folders whose files are tests, samples or words: an ambiguous name means nothing in them.
const OF_SAMPLES: &[&str] = &[
    "__fixtures__",
    "__mocks__",
    "__tests__",
    "doc",
    "docs",
    "example",
    "examples",
    "fixture",
    "fixtures",
    "i18n",
    "l10n",
    "lang",
    "langs",
    "locale",
    "locales",
    "messages",
    "mock",
    "mocks",
    "sample",
    "samples",
    "schema",
    "schemas",
    "snapshots",
    "spec",
    "specs",
    "test",
    "testdata",
    "tests",
    "translations",
    "vendor",
];

/// The lists, taken apart once, each when it is first asked: many commands ask one of them alone.
static PROTECTED: LazyLock<ProtectedPatterns> = LazyLock::new(|| {
    let names: Vec<_> = protected_names().map(|name| (name.why, Pattern::of(name.pattern))).collect();
    ProtectedPatterns { quick: Quick::of(names.iter().map(|(_, pattern)| pattern)), names }
});
static SECRETS: LazyLock<Secrets> = LazyLock::new(|| {
    let mut secrets =
        Secrets { not_secret: NOT_SECRET.iter().map(|name| Pattern::of(name)).collect(), ..Secrets::default() };
    for name in secret_names() {
        let pattern = Pattern::of(name.pattern);
        secrets.quick.add(&pattern);
        match name {
            SecretName { is_ambiguous: true, .. } => secrets.ambiguous.push(pattern),
            SecretName { kind: SecretKind::Data, .. } => secrets.data.push(pattern),
            SecretName { kind: SecretKind::Source, .. } => secrets.source.push(pattern),
        }
    }
    secrets
});
/// The folders that give names their meaning.
static HOLDERS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let secret = secret_names().filter(|name| !name.is_ambiguous).map(|name| name.pattern);
    protected_names().map(|name| name.pattern).chain(secret).flat_map(holders).collect()
});

/// Returns why a name is protected from being changed, if it is.
pub fn protected(path: &Path) -> Option<&'static str> {
    let parts = folded(path);
    if !PROTECTED.quick.may_match(&parts) {
        return None;
    }
    PROTECTED.names.iter().find(|(_, name)| name.matches(&parts)).map(|(why, _)| *why)
}

/// How a file holds secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKind {
    /// It is nothing else: no model reads it.
    Data,
    /// It is code that has secrets in it: it is read, and they are hidden.
    Source,
}

/// Returns whether the content of a file of this name is a secret.
pub fn is_secret(path: &Path) -> bool {
    secret_kind(path) == Some(SecretKind::Data)
}

/// Returns how a file of this name holds secrets, if it does. A copy counts as what it is a copy of.
pub fn secret_kind(path: &Path) -> Option<SecretKind> {
    let mut parts = folded(path);
    let originals = parts.last().map(|name| copies::originals(name)).unwrap_or_default();
    let mut kind = kind_of(&parts);
    for original in originals {
        if let Some(last) = parts.last_mut() {
            *last = original;
        }
        // A copy of a pattern to be filled in is one too, whatever its own name.
        if any_matches(&SECRETS.not_secret, &parts) {
            return None;
        }
        kind = kind.or_else(|| kind_of(&parts));
    }
    kind
}

fn kind_of(parts: &[String]) -> Option<SecretKind> {
    if !SECRETS.quick.may_match(parts) {
        return None;
    }
    let is_among_samples = || parts.iter().rev().skip(1).any(|part| OF_SAMPLES.contains(&part.as_str()));
    let is_secret = any_matches(&SECRETS.data, parts) || any_matches(&SECRETS.ambiguous, parts) && !is_among_samples();
    if is_secret && !any_matches(&SECRETS.not_secret, parts) {
        return Some(SecretKind::Data);
    }
    any_matches(&SECRETS.source, parts).then_some(SecretKind::Source)
}

/// Returns whether a file of this name may hold secrets, wherever it lies; a quick look before a whole one.
///
/// Files in a folder that is secret as a whole, as `.ssh` is, have any names.
pub fn may_hold_secrets(name: &OsStr) -> bool {
    let parts = folded(Path::new(name));
    let Some(part) = parts.last() else { return false };
    let ends = |part: &str| SECRETS.quick.may_end(part);
    ends(part) || copies::originals(part).iter().any(|original| ends(original))
}

/// Returns whether a folder of this name makes some names in it protected or secret, as `.cargo` does.
///
/// Renaming a folder to or from such a name changes what its files mean.
pub fn may_hold_guarded(path: &Path) -> bool {
    any_matches(&HOLDERS, &folded(path))
}

/// Returns whether a folder of this name gives the names in it their meaning: it is protected itself, or a hidden folder that
/// holds protected or secret names.
pub fn gives_meaning_to_names(folder: &Path) -> bool {
    let is_hidden = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    protected(folder).is_some()
        || is_hidden && (may_hold_guarded(folder) || any_matches(&SECRETS.data, &folded(folder)))
}

struct ProtectedPatterns {
    /// Why, and what.
    names: Vec<(&'static str, Pattern)>,
    /// All of them, for a quick look.
    quick: Quick,
}

#[derive(Default)]
struct Secrets {
    data: Vec<Pattern>,
    ambiguous: Vec<Pattern>,
    source: Vec<Pattern>,
    not_secret: Vec<Pattern>,
    /// All secret names, for a quick look.
    quick: Quick,
}

/// The last parts of patterns: a path that has none of them fits none, and most paths have none.
#[derive(Default)]
struct Quick {
    names: HashSet<&'static str>,
    parts: Vec<(&'static str, &'static str)>,
    trees: HashSet<&'static str>,
    tree_parts: Vec<(&'static str, &'static str)>,
}

impl Quick {
    fn of<'p>(patterns: impl Iterator<Item = &'p Pattern>) -> Self {
        let mut quick = Self::default();
        patterns.for_each(|pattern| quick.add(pattern));
        quick
    }

    fn add(&mut self, pattern: &Pattern) {
        match pattern.parts.last() {
            Some(PartPattern::Exact(name)) if pattern.is_tree => drop(self.trees.insert(name)),
            Some(PartPattern::Exact(name)) => drop(self.names.insert(name)),
            Some(PartPattern::Between(begin, end)) if pattern.is_tree => self.tree_parts.push((begin, end)),
            Some(PartPattern::Between(begin, end)) => self.parts.push((begin, end)),
            None => {}
        }
    }

    /// Returns whether a name may be the last part of a path that fits.
    fn may_end(&self, name: &str) -> bool {
        self.names.contains(name) || is_between(&self.parts, name)
    }

    fn may_match(&self, parts: &[String]) -> bool {
        parts.last().is_some_and(|name| self.may_end(name))
            || parts.iter().any(|part| self.trees.contains(part.as_str()) || is_between(&self.tree_parts, part))
    }
}

fn is_between(parts: &[(&str, &str)], name: &str) -> bool {
    let (first, last) = (name.as_bytes().first(), name.as_bytes().last());
    // Each file of a tree is asked about: one byte at each end decides most pairs.
    let may_fit = |begin: &str, end: &str| {
        (begin.is_empty() || begin.as_bytes().first() == first) && (end.is_empty() || end.as_bytes().last() == last)
    };
    parts.iter().any(|(begin, end)| may_fit(begin, end) && name.starts_with(begin) && name.ends_with(end))
}

/// One entry of a list, taken apart.
struct Pattern {
    parts: Vec<PartPattern>,
    /// Whether it means everything below as well.
    is_tree: bool,
}

enum PartPattern {
    Exact(&'static str),
    /// Any letters between these two.
    Between(&'static str, &'static str),
}

/// Returns the folder that a name lies in, and the one above.
fn holders(name: &'static str) -> impl Iterator<Item = Pattern> {
    let folder = name.trim_end_matches("/**").rsplit_once('/').map(|(folder, _)| folder);
    let above = folder.and_then(|folder| folder.rsplit_once('/')).map(|(above, _)| above);
    [folder, above].into_iter().flatten().map(Pattern::of)
}

fn any_matches(patterns: &[Pattern], parts: &[String]) -> bool {
    patterns.iter().any(|pattern| pattern.matches(parts))
}

impl Pattern {
    fn of(name: &'static str) -> Self {
        let (name, is_tree) = name.strip_suffix("/**").map_or((name, false), |name| (name, true));
        let part = |part: &'static str| match part.split_once('*') {
            None => PartPattern::Exact(part),
            Some((begin, end)) => PartPattern::Between(begin, end),
        };
        Self { parts: name.split('/').map(part).collect(), is_tree }
    }

    fn matches(&self, parts: &[String]) -> bool {
        let fits = |window: &[String]| window.iter().zip(&self.parts).all(|(part, wanted)| wanted.matches(part));
        let length = self.parts.len();
        match parts.len().checked_sub(length) {
            None => false,
            Some(_) if self.is_tree => parts.windows(length).any(fits),
            Some(first) => fits(&parts[first..]),
        }
    }
}

impl PartPattern {
    fn matches(&self, part: &str) -> bool {
        match self {
            Self::Exact(wanted) => *wanted == part,
            Self::Between(begin, end) => {
                part.len() >= begin.len() + end.len() && part.starts_with(begin) && part.ends_with(end)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_look_misses_no_secret() {
        for name in secret_names().filter(|name| !name.pattern.ends_with("/**")) {
            let path = format!("a/{}", name.pattern.replace('*', "x"));
            let name = Path::new(&path).file_name().expect("it has one");
            assert!(secret_kind(Path::new(&path)).is_some() <= may_hold_secrets(name), "{path}");
        }
        assert!(!may_hold_secrets(OsStr::new("main.rs")));
    }

    #[test]
    fn every_protected_name_passes_the_quick_look_at_a_path() {
        for name in protected_names() {
            let path = format!("a/{}", name.pattern.replace("/**", "/some/file").replace('*', "x"));
            assert!(protected(Path::new(&path)).is_some(), "{path}");
        }
        assert!(!PROTECTED.quick.may_match(&folded(Path::new("src/main.rs"))));
    }

    #[test]
    fn every_secret_name_passes_the_quick_look_at_a_path() {
        for name in secret_names() {
            let path = format!("a/{}", name.pattern.replace("/**", "/some/file").replace('*', "x"));
            assert!(SECRETS.quick.may_match(&folded(Path::new(&path))), "{path}");
        }
        assert!(!SECRETS.quick.may_match(&folded(Path::new("src/main.rs"))));
    }

    #[test]
    fn protected_names_are_found_in_any_case_at_any_depth() {
        for name in [
            ".git/hooks/pre-push",
            ".GIT/config",
            "sub/dir/.git/HEAD",
            ".git",
            ".Cursor/mcp.json",
            ".haft/rules.toml",
            "x/.bashrc",
            ".vscode/tasks.json",
            ".MCP.json",
            ".zshrc ",
            ".git./config",
            ".g\u{200b}it/config",
            "GIT~1/config",
            ".xprofile",
            ".xsessionrc",
            ".pam_environment",
            ".envrc",
            "app/.direnvrc",
            ".vim/vimrc",
            ".vim/plugin/a.vim",
            ".config/nvim/init.lua",
            ".helix/config.toml",
            ".cursorrules",
            ".windsurfrules",
            ".clinerules",
            ".clinerules/a.md",
            ".screenrc",
            ".tmux.conf",
            ".irbrc",
            ".pryrc",
            ".Rprofile",
            ".pythonrc",
            ".gdbinit",
            ".lldbinit",
        ] {
            assert!(protected(Path::new(name)).is_some(), "{name}");
        }
        for name in [
            "git/hooks/a",
            "src/main.rs",
            ".gitignore",
            "a.git/x",
            "bashrc",
            "my.vscode",
            "docs/.gitkeep",
            "...",
            "vim/a.vim",
            "src/rprofile.rs",
            "helix/config.toml",
            "xprofile",
            "README.md",
        ] {
            assert!(protected(Path::new(name)).is_none(), "{name}");
        }
    }

    #[test]
    fn a_folder_that_gives_names_their_meaning_is_known() {
        for name in [".cargo", "a/.CONFIG", ".local", ".local/share", ".kube", ".docker", "bin", ".github"] {
            assert!(may_hold_guarded(Path::new(name)), "{name}");
        }
        for name in ["src", "cargo", ".cargo/registry", ".config/app", "share", "config", "secrets", "wireguard"] {
            assert!(!may_hold_guarded(Path::new(name)), "{name}");
        }
    }

    /// Names of secret files.
    const SECRET: &[&str] = &[
        ".env",
        ".ENV",
        "a/.env.local",
        "prod.env",
        "id_rsa",
        "keys/server.PEM",
        ".ssh/config",
        ".aws/credentials",
        ".npmrc",
        ".cargo/credentials.toml",
        ".CARGO/credentials",
        ".dockercfg",
        ".env~",
        ".env.bak",
        ".envrc",
        ".config/gh/hosts.yml",
        "deploy/secrets.yaml",
        "secrets.json",
        "terraform.tfstate",
        "terraform.tfstate.backup",
        "prod.tfvars",
        ".terraformrc",
        ".vault_pass",
        "kubeconfig",
        "wallet.dat",
        ".netrc.gpg",
        ".pgpass",
        ".my.cnf",
        ".htpasswd",
        "a.kdbx",
        "a.jks",
        "a.p12",
        "a.pfx",
        "service-account-prod.json",
        ".env.dpkg-old",
        "id_rsa.1",
        "id_rsa-old",
        "secrets (1).yml",
        "Copy of secrets.yml",
        "#secrets.yml#",
        ".secrets.yml.swo",
        "server.key.kept-by-haft",
        "id_ed25519.before-3",
        "credentials - Copy (2).json",
        "k8s-secret.yaml",
        "values.secret.yaml",
        "prod-secrets.yml",
        "prod_secrets.yml.bak",
        "app.secrets.json",
        "secret-db.yaml",
        "group_vars/all/vault.yml",
        "vault.prod.yaml",
        ".Renviron",
        ".Renviron.site",
        "deploy_key",
        "deploy-key.old",
        "github_deploy_key",
        "ci_rsa",
        "bot_ed25519",
        "ssh_key",
        "private-key",
        "signing_key",
        ".pypirc",
        ".curlrc",
        ".wgetrc",
        "auth.json",
        "app/auth.json",
        ".codex/auth.json",
        "office.ovpn",
        "secrets.txt",
        "secrets/db_password.txt",
        "db_password.txt",
        "credentials.txt",
        "credentials-prod.json",
        "terraform.tfstate.backup",
        "config/master.key",
        "id_ed25519_work",
        "id_rsa.bak",
        "server.key.old",
        "config/secrets.yml.orig",
        ".npmrc~",
        "secrets.yaml.dec",
        ".secrets.yml.swp",
        "wg0.conf",
        "ssh_host_ed25519_key",
        "clusters/prod-kubeconfig",
        "prod.agekey",
        "kaggle.json",
        "serviceAccountKey.json",
        ".token",
        "home/.github_token",
        ".npm-token",
        ".anthropic_key",
        ".openai_api_key",
        ".api-key",
        "accessKeys.csv",
        "ann_accessKeys.csv",
        "rootkey.csv",
        "secret.txt",
        "token.txt",
        "slack_token.txt",
        "github_token",
        "deploy/GITHUB_TOKEN",
        "openai_api_key",
        "secrets/db.yaml",
        "deploy/secrets/prod.yml",
    ];

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in SECRET {
            assert!(is_secret(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn source_code_with_secrets_in_it_is_known_and_is_no_secret_as_a_whole() {
        for name in [
            "secrets.py",
            "src/secrets.ts",
            "config/Secrets.rb",
            "wp-config.php",
            "arduino_secrets.h",
            "credentials",
            "gradle.properties",
            "secrets.py.bak",
            ".flaskenv",
            "config/database.yml",
            "Web.config",
            "Web.Release.config",
            ".mcp.json",
            ".cursor/mcp.json",
        ] {
            assert_eq!(secret_kind(Path::new(name)), Some(SecretKind::Source), "{name}");
            assert!(!is_secret(Path::new(name)), "{name}");
        }
        for name in ["src/secrets.rs", "secrets.go", "my_secrets.py", "secrets/main.py", "secrets.md", "config.php"] {
            assert_eq!(secret_kind(Path::new(name)), None, "{name}");
        }
    }

    /// Names that look like those of secret files.
    const ORDINARY: &[&str] = &[
        ".env.example",
        "docs/secrets.md",
        "id_rsa.pub",
        "environment.md",
        ".environment",
        "keys.rs",
        "src/env.rs",
        "monkey",
        "src/credentials.rs",
        "credentials",
        "credentials.toml",
        "secrets.py",
        "src/secrets.ts",
        "config/secrets.yaml.example",
        "cargo/credentials.toml",
        "hosts.yml",
        "src/kubeconfig.go",
        "variables.tf",
        "terraform.tfvars.example",
        "example.tfvars",
        "wallet.rs",
        "wallet.data",
        "src/service_account.rs",
        "settings.xml",
        "package.json",
        ".yarnrc.yml",
        ".secrets.baseline",
        "secrets.example.yaml",
        "secrets.enc.yaml",
        "secrets-guide.md",
        "key.properties.md",
        "locales/en/auth.json",
        "src/i18n/auth.json",
        "tests/fixtures/auth.json",
        "schemas/auth.json",
        "examples/secrets/a.txt",
        "templates/reset_password.txt",
        "tokens.txt",
        "tokenizer.json",
        "requirements.txt",
        "notes.txt.bak",
        "package.json.orig",
        "~",
        ".bak",
        "id_rsa_work.pub",
        "id_rsa_test.go",
        "ssh_host_rsa_key.pub",
        "wget.conf",
        "kubeconfig-gen.sh",
        "credentials.schema.json",
        "service-account.example.json",
        "backup.age",
        "config/credentials.yml.enc",
        ".env.vault",
        "auth.ts",
        "src/auth.json.ts",
        ".env.example.bak",
        "config/secrets.yml.dist",
        ".env.example~",
        "id_rsa_work.pub.old",
        "deploy_key.pub",
        "sealed-secret.yaml",
        "app-sealed-secret.yaml",
        "external-secrets.yaml",
        "my-secret.example.yaml",
        "docs/k8s-secret.yaml",
        "tests/keys/ci_rsa",
        "src/deploy_key.rs",
        "vault.rs",
        "gradle.properties",
        "tokens.json",
        "server.crt",
        "server.crt.bak",
        "server.key.pub",
        "token.rs",
        "src/token",
        "tokenizer.txt",
        "secret_sharing.md",
        "secret_sharing.txt",
        "secret_santa.py",
        "csrf_token.html",
        "refresh_token.rs",
        "tests/token.txt",
        "examples/secret.txt",
        "fixtures/github_token",
        "tests/secrets/db.yaml",
        "primary_key",
        "foreign_key.sql",
        ".public_key",
        ".ci_public_key",
        "secrets/kustomization.yaml",
        "secrets/README.md",
        "secrets/main.go",
        ".tokenrc",
        ".keep",
        "webpack.config.js",
        "web.config.js",
        "accesskeys.rs",
    ];

    #[test]
    fn patterns_for_secrets_and_source_files_about_them_are_no_secrets() {
        for name in ORDINARY {
            assert!(!is_secret(Path::new(name)), "{name}");
        }
    }
}
