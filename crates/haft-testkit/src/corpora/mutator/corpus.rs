//! The files for true edits: our own tree, and the sources of our dependencies on this machine.
//!
//! A test finds them when it runs, so the tree holds no foreign files. `tests/samples` has the languages that both
//! lack. The same tree and the same `Cargo.lock` give the same files in the same order.
//!
//! Not here: packages of registries, which `tests/mutations/run` installs and names as a folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use super::dice::Dice;
use crate::require::Need;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// How many files of one language are taken from one source.
const MOST_FILES: usize = 12;
/// Shorter ones have too few blocks, and longer ones make every case slow.
const LINES: std::ops::RangeInclusive<usize> = 20..=500;
/// A longer line is no text that anybody edits.
const LONGEST_LINE: usize = 300;

const LANGUAGES: [&str; 29] = [
    "c", "cc", "cmake", "cpp", "css", "fish", "go", "gradle", "h", "html", "java", "js", "json", "kt", "Makefile",
    "md", "php", "pl", "py", "rb", "rs", "sh", "sql", "swift", "toml", "ts", "txt", "yaml", "yml",
];

static OF_THIS_MACHINE: LazyLock<Corpus> = LazyLock::new(|| {
    let own = Corpus::of_folders([(String::new(), PathBuf::from(REPOSITORY))]);
    match Need::Sources.found(dependencies()) {
        Some(folders) => own.with(Corpus::of_folders(folders)),
        None => own,
    }
});

/// Files by language.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    languages: BTreeMap<&'static str, Vec<SourceFile>>,
}

/// A file of the corpus. All have `\n` line ends.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its path in the folder that it was found in, behind the name of the package.
    pub name: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
}

impl Corpus {
    /// Returns the files of this tree and of its dependencies.
    pub fn of_this_machine() -> &'static Self {
        &OF_THIS_MACHINE
    }

    /// Takes files out of folders, each with a name for it: a few of every language, spread over all there are.
    pub fn of_folders(folders: impl IntoIterator<Item = (String, PathBuf)>) -> Self {
        let mut found: BTreeMap<&'static str, Vec<(String, PathBuf)>> = BTreeMap::new();
        for (name, folder) in folders {
            walk(&folder, &name, &mut found);
        }
        let languages = found.into_iter().map(|(language, files)| (language, chosen(files)));
        Self { languages: languages.filter(|(_, files)| !files.is_empty()).collect() }
    }

    /// Adds the files of another corpus.
    pub fn with(mut self, other: Self) -> Self {
        for (language, files) in other.languages {
            self.languages.entry(language).or_default().extend(files);
        }
        self
    }

    /// Returns the languages, in the order of their names.
    pub fn languages(&self) -> Vec<&'static str> {
        self.languages.keys().copied().collect()
    }

    /// Returns every file.
    pub fn files(&self) -> impl Iterator<Item = &SourceFile> {
        self.languages.values().flatten()
    }

    /// Picks a language, and a file of it.
    pub fn pick(&self, dice: &mut Dice) -> Option<&SourceFile> {
        let languages: Vec<&Vec<SourceFile>> = self.languages.values().collect();
        dice.pick(&languages).and_then(|files| dice.pick(files))
    }
}

/// Notes every file below a folder that is of a known language.
fn walk(folder: &Path, name: &str, found: &mut BTreeMap<&'static str, Vec<(String, PathBuf)>>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let file_name = entry.file_name().to_string_lossy().into_owned();
        let Ok(kind) = entry.file_type() else { continue };
        if file_name.starts_with('.') || file_name == "target" {
            continue;
        }
        let path = entry.path();
        let name = if name.is_empty() { file_name.clone() } else { format!("{name}/{file_name}") };
        if kind.is_dir() {
            walk(&path, &name, found);
        } else if let Some(language) = language_of(&file_name).filter(|_| kind.is_file()) {
            found.entry(language).or_default().push((name, path));
        }
    }
}

fn language_of(file_name: &str) -> Option<&'static str> {
    let ending = file_name.rsplit_once('.').map_or(file_name, |(_, ending)| ending);
    // The commands below `tests` are called "run".
    let ending = if ending == "run" { "sh" } else { ending };
    LANGUAGES.into_iter().find(|language| *language == ending)
}

/// Reads some of the files.
fn chosen(mut files: Vec<(String, PathBuf)>) -> Vec<SourceFile> {
    files.sort();
    let read = |(name, path): &(String, PathBuf)| {
        let text = std::fs::read_to_string(path).ok().filter(|text| is_suitable(text))?;
        Some(SourceFile { name: name.as_str().into(), text: text.into() })
    };
    let suitable: Vec<SourceFile> = spread(&files, 4 * MOST_FILES).filter_map(read).collect();
    spread(&suitable, MOST_FILES).cloned().collect()
}

/// Returns at most so many things, at equal distances, because neighbours resemble each other.
fn spread<T>(things: &[T], most: usize) -> impl Iterator<Item = &T> {
    let most = most.min(things.len());
    (0..most).map(move |index| &things[index * things.len() / most])
}

fn is_suitable(text: &str) -> bool {
    LINES.contains(&text.lines().count())
        && !text.contains(['\r', '\u{c}', '\0'])
        && text.ends_with('\n')
        && text.lines().all(|line| line.len() <= LONGEST_LINE)
}

/// Asks cargo where the sources of our dependencies are; nothing when it cannot say.
#[expect(clippy::disallowed_types, reason = "cargo alone knows where it keeps sources")]
fn dependencies() -> Option<Vec<(String, PathBuf)>> {
    let cargo = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO")).args(arguments).current_dir(REPOSITORY).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let version = cargo(&["-vV"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "))?;
    // Packages of other systems are in the lock file too, and cargo has not fetched them.
    let said = cargo(&["metadata", "--offline", "--locked", "--format-version=1", "--filter-platform", host])?;
    let metadata: serde_json::Value = serde_json::from_str(&said).ok()?;
    let packages = metadata["packages"].as_array()?.iter().filter(|package| package["source"].is_string());
    let folder = |package: &serde_json::Value| {
        let name = format!("{}-{}", package["name"].as_str()?, package["version"].as_str()?);
        Some((name, Path::new(package["manifest_path"].as_str()?).parent()?.to_owned()))
    };
    Some(packages.filter_map(folder).collect())
}
