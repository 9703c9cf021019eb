//! The files and variables in which tools keep the addresses of their registries.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use haft_workspace::state::{list_config_folder, read_project_file};

use super::answers::{self, AddressReader};

/// Files that are read. `~` is the home, and a variable has a usual place.
const FILES: &[(&str, AddressReader)] = &[
    ("~/.npmrc", answers::registry_lines),
    ("~/.yarnrc", answers::registry_lines),
    ("~/.yarnrc.yml", answers::registry_lines),
    ("$CONFIG/pnpm/rc", answers::registry_lines),
    ("$CARGO_HOME/config.toml", answers::registry_lines),
    ("$CARGO_HOME/config", answers::registry_lines),
    ("$CONFIG/pip/pip.conf", answers::index_lines),
    ("~/.pip/pip.conf", answers::index_lines),
    ("/etc/pip.conf", answers::index_lines),
    ("$CONFIG/uv/uv.toml", answers::index_lines),
    ("/etc/uv/uv.toml", answers::index_lines),
    ("~/.m2/settings.xml", answers::xml_addresses),
    ("~/.bundle/config", answers::mirror_lines),
    ("/etc/apt/sources.list", answers::apt_lines),
];
/// Folders of such files.
const FOLDERS: &[(&str, AddressReader)] = &[("/etc/apt/sources.list.d", answers::apt_lines)];
/// Files that only the tools themselves read.
const READ_BY_TOOLS: &[&str] = &["$CONFIG/go/env", "~/.gemrc", "/etc/npmrc", "/etc/gemrc"];
/// Where cargo keeps the indexes that it has used; the names of its folders are hosts.
const CARGO_INDEXES: &str = "$CARGO_HOME/registry/index";
/// Variables that hold addresses; `*` stands for anything.
const VARIABLES: &[&str] = &[
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "UV_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_INDEX",
    "CARGO_REGISTRIES_*_INDEX",
    "npm_config_registry",
    "NPM_CONFIG_REGISTRY",
    "YARN_NPM_REGISTRY_SERVER",
    "GOPROXY",
];

/// The folders in which tools keep their settings.
#[derive(Debug)]
pub(super) struct ToolSettingsFolders {
    home: PathBuf,
    config: PathBuf,
    pub(super) cargo_home: PathBuf,
}

impl ToolSettingsFolders {
    pub(super) fn of(home: &Path, variables: &[(OsString, OsString)]) -> Self {
        let folder = |name: &str| {
            let found = variables.iter().find(|(key, _)| key == name).map(|(_, value)| PathBuf::from(value));
            found.filter(|path| path.is_absolute())
        };
        let config = folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let cargo_home = folder("CARGO_HOME").unwrap_or_else(|| home.join(".cargo"));
        Self { home: home.to_owned(), config, cargo_home }
    }

    /// Returns all files and folders that decide what is found.
    pub(super) fn all(&self) -> Vec<PathBuf> {
        let read = FILES.iter().chain(FOLDERS).map(|(place, _)| *place);
        let all = read.chain(READ_BY_TOOLS.iter().copied()).chain([CARGO_INDEXES]);
        all.map(|place| self.path(place)).collect()
    }

    /// Returns the addresses in the files, each with where it stands.
    pub(super) fn addresses(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut look = |path: &Path, read: AddressReader| {
            let text = read_project_file(path).ok().flatten().unwrap_or_default();
            let source = format!("{} names it", self.shown(path));
            found.extend(read(&text).into_iter().map(|address| (address, source.clone())));
        };
        FILES.iter().for_each(|(place, read)| look(&self.path(place), *read));
        for (place, read) in FOLDERS {
            let files = list_config_folder(&self.path(place)).ok().flatten().unwrap_or_default();
            // apt passes over every other name.
            let is_read = |file: &&PathBuf| file.extension().is_some_and(|end| end == "list" || end == "sources");
            files.iter().filter(is_read).for_each(|file| look(file, *read));
        }
        let indexes = list_config_folder(&self.path(CARGO_INDEXES)).ok().flatten().unwrap_or_default();
        indexes.iter().for_each(|index| look(&index.join("config.json"), answers::cargo_index));
        let source = "cargo has used its index";
        found.extend(indexes.iter().filter_map(|index| Some((index_address(index)?, source.to_owned()))));
        found
    }

    fn path(&self, place: &str) -> PathBuf {
        let below = |begin: &str, folder: &Path| place.strip_prefix(begin).map(|rest| folder.join(rest));
        below("~/", &self.home)
            .or_else(|| below("$CONFIG/", &self.config))
            .or_else(|| below("$CARGO_HOME/", &self.cargo_home))
            .unwrap_or_else(|| place.into())
    }

    /// Writes a path as a person would.
    fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(&self.home) {
            Ok(below) => format!("~/{}", below.display()),
            Err(_) => path.display().to_string(),
        }
    }
}

/// The name of a folder of cargo's is the host of an index, and a hash.
fn index_address(folder: &Path) -> Option<String> {
    let (host, hash) = folder.file_name()?.to_str()?.rsplit_once('-')?;
    let is_hash = hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_hash && host.contains('.')).then(|| format!("https://{host}"))
}

/// Returns the addresses in variables, each with the variable.
pub(super) fn in_variables(variables: &[(OsString, OsString)]) -> Vec<(String, String)> {
    let listed = variables.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    let listed = listed.filter(|(name, _)| VARIABLES.iter().any(|pattern| is_named(pattern, name)));
    let found = listed.flat_map(|(name, value)| {
        answers::addresses(value).into_iter().map(move |address| (address, format!("${name} names it")))
    });
    found.collect()
}

fn is_named(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((begin, end)) => name.len() > begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_workspace::state::ScratchFolder;

    #[test]
    fn files_and_folders_of_the_user_name_hosts_with_their_places() {
        let parent = tempfile::tempdir().expect("a folder");
        let home = ScratchFolder::beneath(parent.path()).expect("a folder in it");
        let put = |path: &str, text: &str| home.put(path, text).expect("it is written");
        put(".cargo/config.toml", "[registries.own]\nindex = \"sparse+https://crates.example/index/\"\n");
        put(".cargo/registry/index/used.example-0123456789abcdef/config.json", "{\"dl\":\"https://dl.example/\"}");
        put(".cargo/registry/index/no-hash/x", "");
        put(".config/uv/uv.toml", "[[index]]\nurl = \"https://uv.example/simple\"\n");
        put(".npmrc", "@me:registry=https://npm.example/\n");
        let variables: [(OsString, OsString); 2] = [
            ("UV_INDEX".into(), "a=https://x.example/ https://y.example".into()),
            ("CARGO_REGISTRIES_MINE_INDEX".into(), "sparse+https://z.example/".into()),
        ];

        let places = ToolSettingsFolders::of(home.path(), &variables);
        let mut found = places.addresses();
        found.retain(|(_, source)| !source.starts_with("/etc"));
        found.extend(in_variables(&variables));

        let hosts: Vec<String> = found
            .iter()
            .map(|(address, source)| format!("{}: {source}", answers::host_of(address).expect("it has a host")))
            .collect();
        assert_eq!(
            hosts,
            [
                "npm.example: ~/.npmrc names it",
                "crates.example: ~/.cargo/config.toml names it",
                "uv.example: ~/.config/uv/uv.toml names it",
                "dl.example: ~/.cargo/registry/index/used.example-0123456789abcdef/config.json names it",
                "used.example: cargo has used its index",
                "x.example: $UV_INDEX names it",
                "y.example: $UV_INDEX names it",
                "z.example: $CARGO_REGISTRIES_MINE_INDEX names it",
            ]
        );
    }
}
