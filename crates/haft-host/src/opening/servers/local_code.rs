//! Finds what a server's command line takes from the folder in which the server starts.
//!
//! `npx -y server` runs the package of a project rather than the one of the registry, if the project has one of that name,
//! and `python3 srv.py` runs a file that a model can change. The user agreed to a command line; so the consent covers
//! what it meant then, and haft asks again when that is something else.
//!
//! What haft cannot know is told with the consent: code on the command line loads any file.
//!
//! Not here: packages that a program fetches, and files that programs load in turn; the words of a command line
//! (`haft-workspace`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use haft_workspace::project::CommandLineCode;
use haft_workspace::state::{list_config_folder, read_project_file, real_path_of, stamps_of};

use super::{ServerSpec, ServerTransport};

/// Programs that look for a package of the project first.
const RUNNERS: &[&str] =
    &["npx", "npm", "bunx", "bun", "pnpx", "pnpm", "yarn", "deno", "uvx", "uv", "pipx", "poetry", "hatch", "pdm"];
/// Files of a folder that tell such programs where packages come from, and what runs.
const SETTINGS: &[&str] = &[
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    "pnpm-workspace.yaml",
    "bunfig.toml",
    "package.json",
    "deno.json",
    "deno.jsonc",
    "uv.toml",
    "pyproject.toml",
    "pip.conf",
    ".python-version",
    "poetry.toml",
];
/// Most files of a package that are looked at, and how deep they lie.
const MOST_FILES: usize = 2_000;
const DEEPEST: usize = 8;

/// The files, each with its content or what tells one version from another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalCode {
    files: BTreeMap<PathBuf, String>,
    /// What may run and is not among the files, in words.
    not_covered: BTreeSet<String>,
}

impl LocalCode {
    /// Looks for the files of a command line, in a workspace.
    #[must_use]
    pub fn of(spec: &ServerSpec, workspace: &Path) -> Self {
        let ServerTransport::Command { words, folder } = &spec.reach else { return Self::default() };
        let folder = folder.as_ref().map_or_else(|| workspace.to_owned(), |folder| real_path_of(folder));
        let mut found = Self::default();
        let roots = [real_path_of(workspace), folder.clone()];
        let is_near = |path: &Path| roots.iter().any(|root| real_path_of(path).starts_with(root));
        let program = words.first().map(|word| base_name(word)).unwrap_or_default();
        for word in words {
            let path = folder.join(word);
            if word.contains(['/', '.']) && is_near(&path) {
                found.add(&path, runs_folders(program));
            }
        }
        if RUNNERS.contains(&program) {
            SETTINGS.iter().for_each(|name| found.add(&folder.join(name), FolderInclusion::LeftOut));
            for name in packages(&words[1..]) {
                for above in folder.ancestors() {
                    found.add(&above.join("node_modules").join(&name), FolderInclusion::Walked);
                    found.add(&above.join("node_modules/.bin").join(base_name(&name)), FolderInclusion::LeftOut);
                }
                found.add(&folder.join(".venv/bin").join(&name), FolderInclusion::LeftOut);
            }
        }
        for module in module_of(words).filter(|_| program.starts_with("python")) {
            found.add(&folder.join(format!("{module}.py")), FolderInclusion::LeftOut);
            found.add(&folder.join(module), FolderInclusion::Walked);
        }
        let places = if roots[0] == roots[1] { &roots[1..] } else { &roots[..] };
        for place in places {
            let code = CommandLineCode::of(place, words, &spec.written_environment);
            let files = code.files.into_iter().map(|(name, hash)| (place.join(name), hash));
            files.for_each(|(path, hash)| _ = found.files.entry(path).or_insert(hash));
            found.not_covered.extend(code.not_covered);
        }
        found
    }

    /// Returns what may run and is not among the files, in words.
    #[must_use]
    pub fn not_covered(&self) -> &BTreeSet<String> {
        &self.not_covered
    }

    /// Returns the files, relative to a folder where they are in it, each with what tells its version.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.files.iter().map(|(path, sign)| (path.as_path(), sign.as_str()))
    }

    /// Returns the files and the packages for a person, seen from a workspace.
    #[must_use]
    pub fn names(&self, workspace: &Path) -> BTreeSet<String> {
        let name = |path: &Path| {
            let path = path.strip_prefix(workspace).unwrap_or(path);
            // A package is named as a whole.
            let parts: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            let begin = parts.iter().position(|part| part == "node_modules").map_or(parts.len(), |at| {
                let is_scoped = parts.get(at + 1).is_some_and(|name| name.starts_with('@'));
                at + if is_scoped { 3 } else { 2 }
            });
            parts[..begin.min(parts.len())].join("/")
        };
        self.files.keys().map(|path| name(path)).collect()
    }

    fn add(&mut self, path: &Path, folders: FolderInclusion) {
        let mut waiting = vec![(path.to_owned(), 0)];
        while let Some((path, depth)) = waiting.pop().filter(|_| self.files.len() < MOST_FILES) {
            match list_config_folder(&path) {
                Ok(Some(inside)) if folders == FolderInclusion::Walked && depth < DEEPEST => {
                    waiting.extend(inside.into_iter().map(|path| (path, depth + 1)));
                }
                Ok(None) => {
                    if let Some(sign) = sign_of(&path, folders) {
                        self.files.insert(path, sign);
                    }
                }
                Ok(Some(_)) | Err(_) => {}
            }
        }
    }
}

/// Whether a folder that is named counts with all of its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FolderInclusion {
    Walked,
    LeftOut,
}

fn runs_folders(program: &str) -> FolderInclusion {
    let is_interpreter = ["node", "bun", "deno", "python", "ruby"].iter().any(|name| program.starts_with(name));
    if is_interpreter { FolderInclusion::Walked } else { FolderInclusion::LeftOut }
}

/// Returns what tells versions of a file apart: its text where it stands alone, else its size and time.
fn sign_of(path: &Path, folders: FolderInclusion) -> Option<String> {
    if folders == FolderInclusion::LeftOut
        && let Ok(Some(text)) = read_project_file(path)
    {
        return Some(text);
    }
    let stamp = stamps_of(std::slice::from_ref(&path.to_owned())).remove(path).flatten()?;
    Some(format!("{} bytes of {}", stamp.size, stamp.modified_ns))
}

/// Returns the names of packages among words, without their versions.
fn packages(words: &[String]) -> Vec<String> {
    let is_name = |word: &&String| {
        let is_safe = |letter: char| letter.is_alphanumeric() || "@/._-~^".contains(letter);
        !word.starts_with(['-', '.', '/']) && !word.split('/').any(|part| part == "..") && word.chars().all(is_safe)
    };
    let plain = |word: &String| match word.rfind('@') {
        Some(at @ 1..) => word[..at].to_owned(),
        _ => word.clone(),
    };
    words.iter().filter(is_name).map(plain).filter(|name| !name.is_empty()).collect()
}

fn module_of(words: &[String]) -> impl Iterator<Item = &str> {
    let named = words.iter().position(|word| word == "-m").and_then(|at| words.get(at + 1));
    named.into_iter().filter_map(|name| name.split('.').next()).filter(|name| !name.contains('/'))
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "a test lays out the files of a project")]
    fn put(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
        std::fs::write(path, text).expect("a file can be written");
    }

    fn found(folder: &Path, line: &str) -> LocalCode {
        LocalCode::of(&ServerSpec::of_words(line.split(' ').map(str::to_owned).collect()), folder)
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes its folder")]
    fn what_a_command_line_takes_from_the_folder_is_found_and_its_changes_too() {
        let scratch = tempfile::tempdir().expect("a temporary folder can be made");
        let folder = real_path_of(scratch.path());
        for (line, file, name) in [
            ("npx -y @mcp/server-x", "node_modules/@mcp/server-x/index.js", "node_modules/@mcp/server-x"),
            ("npx -y @mcp/server-x@1.2.0", "node_modules/.bin/server-x", "node_modules/.bin"),
            ("npx server-y", ".npmrc", ".npmrc"),
            ("bunx server-y", "bunfig.toml", "bunfig.toml"),
            ("pnpm dlx server-y", "package.json", "package.json"),
            ("uvx server-z", "uv.toml", "uv.toml"),
            ("uv run server-z", ".venv/bin/server-z", ".venv/bin/server-z"),
            ("python3 srv.py ok", "srv.py", "srv.py"),
            ("python3 -m mysrv", "mysrv.py", "mysrv.py"),
            ("python3 -m mysrv.main", "mysrv/main.py", "mysrv/main.py"),
            ("node ./server", "server/index.js", "server/index.js"),
            ("./run.sh", "run.sh", "run.sh"),
        ] {
            assert_eq!(found(&folder, line).files().count(), 0, "{line}");
            put(&folder, file, "one");
            let first = found(&folder, line);
            assert!(
                first.names(&folder).iter().any(|found| found.starts_with(name)),
                "{line}: {:?}",
                first.names(&folder)
            );
            put(&folder, file, "another one");
            assert_ne!(found(&folder, line), first, "{line}");
            std::fs::remove_file(folder.join(file)).expect("it is there");
        }
    }

    #[test]
    fn words_that_name_nothing_here_are_no_code() {
        let scratch = tempfile::tempdir().expect("a temporary folder can be made");
        let folder = real_path_of(scratch.path());
        put(&folder, "package.json", "{}");
        for line in ["/usr/bin/env x", "server --root .", "python3 -m json.tool", "docker run -i image"] {
            assert_eq!(found(&folder, line), LocalCode::default(), "{line}");
        }
    }
}
