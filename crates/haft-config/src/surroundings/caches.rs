//! Where tools keep their downloads, and which of them haft keeps from one session to the next.
//!
//! The rows are in `lists`. The user's variable decides where a folder is, as it does for the tool.
//!
//! Not here: mounting and keeping (`haft-sandbox`).

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A folder in which a tool keeps what it downloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCache {
    /// The name of the row.
    pub name: String,
    /// Where it is, for the user and for commands.
    pub folder: PathBuf,
    /// The variable that leads the tool to another folder where it cannot write to this one.
    pub moved_by: Option<String>,
    /// The parts of it whose new files are kept.
    pub carried: Vec<String>,
    /// What in those is not, as patterns of paths in the folder.
    pub left_out: Vec<String>,
}

/// One row of the table of caches.
#[derive(Clone, Copy, Debug)]
pub(super) struct CacheRow {
    pub(super) name: &'static str,
    pub(super) folder: Option<&'static str>,
    pub(super) named_by: &'static [CacheVariable],
    pub(super) movable: bool,
    pub(super) carried: &'static [&'static str],
    pub(super) left_out: &'static [&'static str],
}

/// A variable that names the folder of a cache, or one around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CacheVariable {
    name: &'static str,
    /// Where the cache is in the named folder.
    inner: Option<&'static str>,
}

impl CacheVariable {
    pub(super) const fn itself(name: &'static str) -> Self {
        Self { name, inner: None }
    }

    pub(super) const fn around(name: &'static str, inner: &'static str) -> Self {
        Self { name, inner: Some(inner) }
    }
}

impl CacheRow {
    /// Returns a row with nothing but a name.
    pub(super) const fn named(name: &'static str) -> Self {
        Self { name, folder: None, named_by: &[], movable: false, carried: &[], left_out: &[] }
    }

    /// Returns the variables that name it.
    pub(super) fn variables(&self) -> impl Iterator<Item = &'static str> {
        self.named_by.iter().map(|variable| variable.name)
    }

    /// Returns the secrets of the usual folder, in the one where the cache is.
    pub(super) fn secrets(&self, all: &[&str], caches: &[ToolCache]) -> Vec<PathBuf> {
        let cache = caches.iter().find(|cache| cache.name == self.name).zip(self.folder);
        let Some((cache, usual)) = cache else { return Vec::new() };
        let inner = all.iter().filter_map(|secret| secret.strip_prefix(usual)?.strip_prefix('/'));
        inner.map(|inner| cache.folder.join(inner)).collect()
    }

    /// Finds out where it is: `value` knows folders that variables name, `at_home` the usual ones.
    pub(super) fn resolved(
        &self,
        value: &dyn Fn(&str) -> Option<PathBuf>,
        at_home: &dyn Fn(&str) -> PathBuf,
    ) -> Option<ToolCache> {
        let named = |variable: &CacheVariable| {
            let around = value(variable.name)?;
            Some(variable.inner.map_or(around.clone(), |inner| around.join(inner)))
        };
        let folder = self.named_by.iter().find_map(named).or_else(|| self.folder.map(at_home))?;
        let moved_by = self.variables().next().filter(|_| self.movable).map(str::to_owned);
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let (carried, left_out) = (words(self.carried), words(self.left_out));
        Some(ToolCache { name: self.name.to_owned(), folder, moved_by, carried, left_out })
    }
}

/// Adds the folders of caches that lie in none of these.
pub(super) fn with_caches(mut folders: Vec<PathBuf>, caches: &[ToolCache]) -> Vec<PathBuf> {
    let known: HashSet<&Path> = folders.iter().map(PathBuf::as_path).collect();
    let is_apart = |cache: &&ToolCache| !cache.folder.ancestors().any(|above| known.contains(above));
    let apart: Vec<PathBuf> = caches.iter().filter(is_apart).map(|cache| cache.folder.clone()).collect();
    folders.extend(apart);
    folders
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Component;

    use super::super::lists::CACHES;
    use super::super::{CommandSurroundings, SandboxSection};
    use super::*;

    fn caches(variables: &[(&str, &str)]) -> Vec<ToolCache> {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect::<Vec<_>>();
        CommandSurroundings::of(SandboxSection::default(), &variables, &[]).caches
    }

    #[test]
    fn rows_have_names_of_their_own_that_are_names_of_folders_and_folders_that_are_in_none_of_the_others() {
        let names: BTreeSet<&str> = CACHES.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), CACHES.len());
        assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')));
        for one in CACHES {
            for other in CACHES.iter().filter(|other| other.name != one.name) {
                let (Some(one), Some(other)) = (one.folder, other.folder) else { continue };
                assert!(!Path::new(one).starts_with(other), "{one} is in {other}");
            }
        }
    }

    #[test]
    fn no_program_setting_key_lock_database_or_log_is_carried() {
        const NEVER: [&str; 12] = [
            "bin",
            "config",
            "config.toml",
            "credentials",
            "credentials.toml",
            "_locks",
            "_logs",
            ".global-cache",
            ".package-cache",
            ".crates.toml",
            "env",
            "virtualenvs",
        ];
        for row in CACHES {
            for part in row.carried {
                let is_plain = Path::new(part).components().all(|part| matches!(part, Component::Normal(_)));
                assert!(*part == "." || is_plain, "{}: {part}", row.name);
                assert!(!NEVER.iter().any(|never| Path::new(part).iter().any(|name| name == *never)), "{}", row.name);
            }
            // A folder with programs or settings beside what was downloaded is never carried as a whole.
            let is_shared = ["~/.cargo", "~/.gem", "~/.stack", "~/.pub-cache", "~/go/pkg"]
                .iter()
                .any(|shared| row.folder == Some(*shared));
            assert!(!is_shared || !row.carried.contains(&"."), "{}", row.name);
        }
    }

    #[test]
    fn a_variable_moves_the_folder_and_is_passed_on_and_the_home_itself_is_never_a_cache() {
        let folder = |variables: &[(&str, &str)], name: &str| {
            let all = [&[("HOME", "/h/me")], variables].concat();
            caches(&all).into_iter().find(|cache| cache.name == name).map(|cache| cache.folder.display().to_string())
        };
        for (variable, value, name, expected) in [
            ("HOME", "/h/me", "cargo", Some("/h/me/.cargo")),
            ("CARGO_HOME", "/big/cargo", "cargo", Some("/big/cargo")),
            ("CARGO_HOME", "/h/me", "cargo", Some("/h/me/.cargo")),
            ("CARGO_HOME", "/", "cargo", Some("/h/me/.cargo")),
            ("CARGO_HOME", "relative", "cargo", Some("/h/me/.cargo")),
            ("npm_config_cache", "/big/npm", "npm", Some("/big/npm/_cacache")),
            ("GOPATH", "/x/go:/y/go", "go", Some("/x/go/pkg")),
            ("GOMODCACHE", "/x/mod", "go-modules", Some("/x/mod")),
            ("HOME", "/h/me", "go-modules", None),
            ("GRADLE_USER_HOME", "/x/gradle", "gradle-wrapper", Some("/x/gradle/wrapper")),
        ] {
            assert_eq!(folder(&[(variable, value)], name).as_deref(), expected, "{variable}={value}");
        }
        for row in CACHES {
            for variable in row.variables() {
                let value = "/big/folder";
                let all = CommandSurroundings::of(
                    SandboxSection::default(),
                    &[("HOME".into(), "/h/me".into()), (variable.into(), value.into())],
                    &[],
                );
                assert!(all.environment.contains(&(variable.into(), value.into())), "{variable}");
            }
        }
    }

    #[test]
    fn keys_are_looked_for_and_secrets_covered_in_every_cache() {
        let variables = [("HOME", "/h/me"), ("STACK_ROOT", "/x/stack"), ("PUB_CACHE", "/x/pub")];
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        let all = CommandSurroundings::of(SandboxSection::default(), &variables, &[]);
        for cache in &all.caches {
            let is_searched = |pattern: &PathBuf| {
                pattern.file_name().is_some_and(|name| name == "*")
                    && pattern.parent().is_some_and(|folder| cache.folder.starts_with(folder))
            };
            assert!(all.hidden.iter().any(is_searched), "{}", cache.name);
        }
        for covered in ["/x/stack/config.yaml", "/x/pub/credentials.json", "/h/me/.stack/config.yaml"] {
            assert!(all.hidden.contains(&covered.into()), "{covered}");
        }
    }

    #[test]
    fn the_room_is_ten_gibibytes_unless_the_user_sets_another() {
        let room = |section: &str| {
            let section = toml::from_str(section).expect("the section is in order");
            CommandSurroundings::of(section, &[("HOME".into(), "/h/me".into())], &[]).cache_room
        };
        assert_eq!((room(""), room("caches = 0"), room("caches = 3")), (10 << 30, 0, 3 << 20));
    }
}
