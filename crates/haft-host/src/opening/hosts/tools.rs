//! Asks the user's own tools which registries they use: outside any project, without network, with a short time limit.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use haft_sandbox::{Inquirer, InquirySettings, Launcher};
use haft_workspace::state::{list_config_folder, real_path_of};

use super::answers::{self, AddressReader};

/// How long a tool may take.
const TIME: Duration = Duration::from_secs(5);

/// A question to a tool about the registries that it uses.
struct RegistryQuery {
    /// Its names; the first that there is is asked.
    names: &'static [&'static str],
    arguments: &'static [&'static str],
    read: AddressReader,
}

const QUESTIONS: &[RegistryQuery] = &[
    RegistryQuery { names: &["npm"], arguments: &["config", "get", "registry"], read: answers::addresses },
    RegistryQuery { names: &["pnpm"], arguments: &["config", "get", "registry"], read: answers::addresses },
    RegistryQuery { names: &["yarn"], arguments: &["config", "get", "registry"], read: answers::addresses },
    RegistryQuery { names: &["yarn"], arguments: &["config", "get", "npmRegistryServer"], read: answers::addresses },
    RegistryQuery { names: &["go"], arguments: &["env", "GOPROXY", "GOSUMDB"], read: answers::go_environment },
    RegistryQuery { names: &["pip3", "pip"], arguments: &["config", "list"], read: answers::index_lines },
    RegistryQuery { names: &["pip3", "pip"], arguments: &["download", "--help"], read: answers::default_index },
    RegistryQuery { names: &["uv"], arguments: &["pip", "install", "--help"], read: answers::default_index },
    RegistryQuery { names: &["gem"], arguments: &["sources", "--list"], read: answers::addresses },
];

/// What Maven's own model says of the repository that it uses by itself.
const MAVEN_MODEL: &str = "org/apache/maven/model/pom-4.0.0.xml";

/// What tools answered.
#[derive(Default)]
pub(super) struct Answers {
    /// Addresses, each with the question.
    pub(super) addresses: Vec<(String, String)>,
    /// Questions that were not answered.
    pub(super) silent: Vec<String>,
}

/// The tools that can be asked which registries they use.
pub(super) struct RegistryTools {
    inquirer: Inquirer,
}

impl RegistryTools {
    pub(super) fn of(home: &Path, workspace: &Path, variables: &[(OsString, OsString)]) -> Self {
        let mut environment = variables.to_vec();
        // Words that are not broken, in one language, without colours.
        for (name, value) in [("COLUMNS", "1000"), ("LC_ALL", "C.UTF-8"), ("NO_COLOR", "1"), ("TERM", "dumb")] {
            environment.retain(|(given, _)| given != name);
            environment.push((name.into(), value.into()));
        }
        let is_folder = |name: &OsString| name.to_string_lossy().ends_with("_HOME") || name == "PYENV_ROOT";
        let folders = variables.iter().filter(|(name, _)| is_folder(name)).map(|(_, value)| PathBuf::from(value));
        let settings = InquirySettings {
            home: home.to_owned(),
            readable: folders.filter(|folder| folder.is_absolute()).collect(),
            environment,
            left_out: project_folders(workspace, home),
            time: TIME,
        };
        Self { inquirer: Inquirer::new(Launcher::own(), settings) }
    }

    /// Returns the programs that would be asked, where they really are.
    pub(super) fn programs(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = QUESTIONS.iter().filter_map(|question| self.program(question.names)).collect();
        found.extend(self.program(&["mvn"]));
        let real: Vec<PathBuf> = found.iter().map(|path| real_path_of(path)).collect();
        found.extend(real);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Asks all of them at the same time.
    pub(super) fn ask(&self) -> Answers {
        let mut answers = Answers::default();
        std::thread::scope(|scope| {
            let asked: Vec<_> = QUESTIONS.iter().map(|question| scope.spawn(|| self.answer(question))).collect();
            let maven = scope.spawn(|| self.maven());
            let asked = asked.into_iter().chain([maven]).filter_map(|answer| answer.join().ok().flatten());
            for (asked, addresses) in asked {
                match addresses {
                    Some(addresses) => {
                        let source = format!("\"{asked}\" names it");
                        answers.addresses.extend(addresses.into_iter().map(|address| (address, source.clone())));
                    }
                    None => answers.silent.push(asked),
                }
            }
        });
        answers
    }

    fn program(&self, names: &[&str]) -> Option<PathBuf> {
        names.iter().find_map(|name| self.inquirer.find(name))
    }

    /// Asks a tool that there is; without an answer, only the question is returned.
    fn answer(&self, question: &RegistryQuery) -> Option<(String, Option<Vec<String>>)> {
        let program = self.program(question.names)?;
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let arguments: Vec<&OsStr> = question.arguments.iter().map(OsStr::new).collect();
        let printed = self.inquirer.ask(&program, &arguments);
        Some((format!("{name} {}", question.arguments.join(" ")), printed.map(|text| (question.read)(&text))))
    }

    /// Maven prints its defaults only with the network; they are in its own library.
    fn maven(&self) -> Option<(String, Option<Vec<String>>)> {
        let program = real_path_of(&self.program(&["mvn"])?);
        let library = program.parent()?.parent()?.join("lib");
        let is_model = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("maven-model-builder-") && name.ends_with(".jar")
        };
        let archive = list_config_folder(&library).ok().flatten()?.into_iter().find(is_model)?;
        let unzip = self.program(&["unzip"])?;
        let arguments = [OsStr::new("-p"), archive.as_os_str(), OsStr::new(MAVEN_MODEL)];
        let printed = self.inquirer.ask(&unzip, &arguments);
        Some(("mvn".to_owned(), printed.map(|text| answers::xml_addresses(&text))))
    }
}

/// Programs of the workspace are not asked. Where the whole home is the workspace, its tools are the user's.
fn project_folders(workspace: &Path, home: &Path) -> Vec<PathBuf> {
    let workspace = real_path_of(workspace);
    if real_path_of(home).starts_with(&workspace) { Vec::new() } else { vec![workspace] }
}
