//! What follows from a word that has a role.
//!
//! Not here: which role it has (`reading`), addresses (`address`), settings of git (`git_config`).

use std::collections::HashSet;

use haft_contract::effect::{Danger, Host};

use super::super::act::{Act, Deed, Flow, Inner, Language, LocalCode, Reading};
use super::super::languages;
use super::super::value::{Piece, Value};
use super::address;
use super::console;
use super::filter;
use super::git_config;
use super::reading::{assignment, joined};
use super::revision;
use super::role::Role;

/// How many folders the words of one program may name.
const MOST_FOLDERS: usize = 8;
/// Beside how many files settings are looked for.
const MOST_PLACES: usize = 256;

/// A reading while it is made.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// What is known so far.
    pub(crate) reading: Reading,
    /// Its acts again, so that none is added twice.
    acts: HashSet<Act>,
    /// Those that are not meant from the folder that the program works in.
    fixed: HashSet<Act>,
    folder: Option<Value>,
    /// The folders that its words name, each for itself.
    entered: Vec<Value>,
    host_is_here: bool,
}

impl Draft {
    /// Adds something that the program does, once.
    pub(crate) fn act(&mut self, act: Act) {
        if self.acts.insert(act.clone()) {
            self.reading.acts.push(act);
        }
    }

    /// Adds the reading of a part; the part tells what is printed.
    pub(crate) fn add(&mut self, part: Reading) {
        part.acts.into_iter().for_each(|act| self.act(act));
        self.reading.inner.extend(part.inner);
        self.reading.suspected.extend(part.suspected);
        self.reading.output = part.output;
    }

    /// Returns whether it has found nothing that is run so far.
    pub(crate) fn runs_nothing(&self) -> bool {
        let runs = |act: &Act| matches!(act, Act::Path(Deed::Run, _));
        self.reading.inner.is_empty() && !self.reading.acts.iter().any(runs)
    }

    /// Returns whether all that it has found so far is that something is looked at or newly made.
    pub(crate) fn only_looks(&self) -> bool {
        let looks = |act: &Act| match act {
            Act::Path(deed, _) => matches!(deed, Deed::Read | Deed::List | Deed::Key | Deed::Create),
            act => matches!(act, Act::LocalCode(..) | Act::Fetch(_)),
        };
        self.reading.acts.iter().all(looks)
    }

    /// Adds what follows from a word; `rest` are the words from this one on, where there are more.
    pub(crate) fn word(&mut self, role: Role, word: &Value, rest: &[Value]) {
        match role {
            Role::Text => {}
            Role::Path(Deed::Run) if is_input(word) => {
                self.reading.inner.push(Inner::Input(Language::General, Vec::new()));
            }
            Role::Path(deed) => self.path(deed, word),
            Role::Url => self.address(address::of_url(word)),
            Role::Host => {
                self.host_is_here = address::is_here(word);
                self.address(address::of_host(word));
            }
            Role::Remote(deed) => self.remote(deed, word),
            Role::Assignments => {
                let variable = assignment(word).map(|(name, value)| Inner::Variable(name, value));
                self.reading.inner.extend(variable);
            }
            Role::GitConfig => self.add_inside(git_config::for_one_command(word)),
            Role::Repository => {
                self.path(Deed::List, word);
                self.act(Act::LocalCode(LocalCode::Repository, word.clone()));
            }
            Role::PythonModule => self.act(python_module(word)),
            Role::Mode => self.mode(word),
            Role::Process => self.act(process(word)),
            Role::SshOption => self.ssh_option(word),
            Role::TarAction => self.tar_action(word),
            Role::Volume => self.volume(word),
            Role::Folder => self.enter(word),
            Role::Upload => self.upload(word),
            Role::Console => self.add_inside(console::read(word)),
            Role::Revision(deed) => revision::paths(word).iter().for_each(|path| self.path(deed, path)),
            Role::Names => self.names(word),
            Role::Download => {
                self.address(address::of_url(word));
                self.act(Act::Path(Deed::Create, address::file_name(word)));
            }
            Role::Clone => self.copy_of_repository(word),
            Role::Local => self.local(word),
            Role::Packed => self.packed(word),
            Role::Prefix => {
                let mut files = word.clone();
                files.push(Piece::Glob);
                self.path(Deed::Create, &files);
            }
            Role::Filter => self.add_inside(filter::read(word)),
            Role::Program(_) if !is_input(word) => self.path(Deed::Run, word),
            Role::Settings(program) => self.settings(Language::Settings(program), word),
            Role::Anything => self.reading.suspected.push(word.clone()),
            // Python may still look for modules, to tell of a mistake.
            Role::PlainCode if languages::only_prints_numbers(word) => {
                self.act(Act::LocalCode(LocalCode::PythonModules(None), Value::text(".")));
            }
            Role::PlainExpression if languages::only_computes(word) => {}
            Role::Sockets => self.add_inside(address::of_sockets(word)),
            Role::Socat => self.add_inside(address::of_socat(word)),
            Role::Package => self.package(word, rest),
            role => self.reading.inner.extend(self.run_by(role, word, rest)),
        }
    }

    /// A program of a package: `yarn@1` is yarn.
    fn package(&mut self, word: &Value, rest: &[Value]) {
        self.act(package(word));
        let mut words = rest.to_vec();
        if let Some(first) = words.first_mut()
            && let Some(name) = first.known().and_then(|name| name.get(1..)?.find('@').map(|at| name[..=at].to_owned()))
        {
            *first = Value::text(name);
        }
        self.word(Role::Command, word, &words);
    }

    fn copy_of_repository(&mut self, word: &Value) {
        self.remote(Deed::Read, word);
        // A repository of which nobody knows the name becomes a folder of which nobody knows it either.
        let name = word.known().map(address::last_name).filter(|name| !name.is_empty() && !name.starts_with('.'));
        self.act(Act::Path(Deed::Create, name.map_or_else(Value::unknown, Value::text)));
    }

    /// Returns what is run by a word that is a command, or text in a language.
    fn run_by(&self, role: Role, word: &Value, rest: &[Value]) -> Vec<Inner> {
        let after = || rest.get(1..).unwrap_or_default().to_vec();
        match role {
            Role::Command if !rest.is_empty() => vec![Inner::Words(rest.to_vec())],
            Role::Command | Role::Scripts => vec![Inner::Script(word.clone(), Vec::new())],
            Role::RemoteCommand if !self.host_is_here => Vec::new(),
            Role::Joined | Role::RemoteCommand => vec![Inner::Script(joined(rest), Vec::new())],
            Role::Script => vec![Inner::Script(word.clone(), after())],
            Role::Language(language) => vec![Inner::Text(language, word.clone())],
            Role::PlainCode => vec![Inner::Text(Language::General, word.clone())],
            Role::Expression | Role::PlainExpression => vec![printed(word)],
            Role::Program(language) => vec![Inner::Input(language, Vec::new())],
            Role::Fed => console::fed(rest).into_iter().collect(),
            Role::Quoted => console::quoted(word).into_iter().collect(),
            Role::ShellLike => {
                vec![Inner::Script(word.clone(), after()), Inner::Text(Language::General, word.clone())]
            }
            _ => Vec::new(),
        }
    }

    /// Returns the reading, with its paths in the folder that the program works in.
    pub(crate) fn finish(mut self) -> Reading {
        let acts = &mut self.reading.acts;
        if acts.iter().any(|act| matches!(act, Act::Connect(Some(_)) | Act::ConnectElsewhere)) {
            acts.retain(|act| *act != Act::Connect(None));
        }
        let mut hosts = acts.iter().filter(|act| act.connects()).peekable();
        let is_here = |act: &Act| matches!(act, Act::Connect(Some(host)) if Host(host.clone()).is_here());
        if hosts.peek().is_some() && hosts.all(is_here) {
            let sent = |act: &&mut Act| matches!(act, Act::Publish(_));
            acts.iter_mut().filter(sent).for_each(|act| *act = Act::SendHere(address::SENT_HERE.to_owned()));
        }
        add_settings_beside(acts);
        let Some(folder) = self.folder else { return self.reading };
        // Of several folders one program takes the last, another the first, and a third goes from one to the next.
        let alone = if self.entered.len() > 1 { self.entered.as_slice() } else { &[] };
        let followed = |act: &Act, folder: &Value| match act {
            Act::LocalCode(code, path) => Some(Act::LocalCode(code.clone(), below(folder, path))),
            _ => None,
        };
        let in_each: Vec<Act> =
            acts.iter().flat_map(|act| alone.iter().filter_map(move |folder| followed(act, folder))).collect();
        for act in acts.iter_mut().filter(|act| !self.fixed.contains(act)) {
            if let Act::Path(_, path) | Act::Fetch(path) | Act::LocalCode(_, path) = act {
                *path = below(&folder, path);
            }
        }
        acts.extend(in_each);
        if let Flow::Paths(paths) = &mut self.reading.output {
            paths.iter_mut().for_each(|path| *path = below(&folder, path));
        }
        if !self.reading.inner.is_empty() {
            self.reading.inner.insert(0, Inner::Folder(folder));
        }
        self.reading
    }

    fn add_inside(&mut self, part: Reading) {
        part.acts.into_iter().for_each(|act| self.act(act));
        self.reading.inner.extend(part.inner);
        self.reading.suspected.extend(part.suspected);
    }

    fn path(&mut self, deed: Deed, word: &Value) {
        // The standard streams, and a flag whose value is empty.
        if !matches!(word.known(), Some("-" | "")) {
            self.act(Act::Path(deed, word.clone()));
        }
    }

    fn settings(&mut self, language: Language, word: &Value) {
        let is_input = is_input(word);
        if !is_input {
            self.path(Deed::Read, word);
        }
        let input = || Inner::Input(language, Vec::new());
        self.reading.inner.push(if is_input { input() } else { Inner::File(language, word.clone()) });
    }

    fn local(&mut self, word: &Value) {
        self.path(Deed::Read, word);
        self.act(Act::Fetch(word.clone()));
    }

    fn names(&mut self, word: &Value) {
        self.path(Deed::Read, word);
        self.act(Act::Path(Deed::Read, Value::unknown()));
    }

    fn packed(&mut self, word: &Value) {
        let mut copy = word.clone();
        copy.push(Piece::Text(".gz".to_owned()));
        self.path(Deed::Read, word);
        self.path(Deed::Create, &copy);
    }

    fn address(&mut self, found: Reading) {
        self.add_inside(found);
    }

    fn remote(&mut self, deed: Deed, word: &Value) {
        match address::of_remote(word) {
            Some(found) => {
                self.add_inside(found);
                if deed != Deed::Read {
                    self.act(Act::Publish("send files to another machine".to_owned()));
                }
            }
            // An archive is opened before tar changes to the folder of its members.
            None => {
                self.fixed.insert(Act::Path(deed, word.clone()));
                self.path(deed, word);
            }
        }
    }

    fn mode(&mut self, word: &Value) {
        let Some(mode) = word.known() else {
            return self.act(Act::Unknown("the mode is known only when it runs".to_owned()));
        };
        let is_number = !mode.is_empty() && mode.chars().all(|digit| digit.is_digit(8));
        let bits = u32::from_str_radix(mode, 8).unwrap_or_default();
        let sets_id = if is_number { bits & 0o6000 != 0 } else { symbolic_mode_sets_id(mode) };
        if sets_id {
            self.act(Act::Danger(Danger::Rights, "make a program run with the rights of its owner".to_owned()));
        }
    }

    fn ssh_option(&mut self, word: &Value) {
        let start = word.prefix();
        let name: String = start.chars().take_while(char::is_ascii_alphanumeric).collect();
        let rest = word.strip_prefix(&name).unwrap_or_default();
        let trimmed = rest.prefix().len() - rest.prefix().trim_start_matches([' ', '=', '\t']).len();
        let value = rest.strip_prefix(&rest.prefix()[..trimmed]).unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            _ if value.known() == Some("none") => {}
            "proxycommand" => {
                self.act(Act::ConnectElsewhere);
                self.reading.inner.push(Inner::Script(value, Vec::new()));
            }
            "localcommand" | "knownhostscommand" | "pkcs11provider" | "securitykeyprovider" => {
                self.reading.inner.push(Inner::Script(value, Vec::new()));
            }
            "hostname" | "proxyjump" | "include" | "canonicaldomains" => self.act(Act::ConnectElsewhere),
            "" => self.act(Act::Unknown("an option of ssh is known only when it runs".to_owned())),
            _ => {}
        }
    }

    fn tar_action(&mut self, word: &Value) {
        match word.strip_prefix("exec=") {
            Some(script) => self.reading.inner.push(Inner::Script(script, Vec::new())),
            None if word.known().is_none() => {
                self.act(Act::Unknown("an action is known only when it runs".to_owned()));
            }
            None => {}
        }
    }

    fn volume(&mut self, word: &Value) {
        let start = word.prefix();
        let source = ["source=", "src="].iter().find_map(|key| {
            let at = start.find(key)?;
            word.strip_prefix(&start[..at + key.len()])
        });
        let (value, end) = match source {
            Some(value) => (value, ','),
            None => (word.clone(), ':'),
        };
        let host = match value.prefix().split_once(end) {
            Some((host, _)) => Value::text(host),
            None => value,
        };
        // A word without a slash is the name of a volume.
        let is_path = host.known().is_none_or(|path| path.contains('/') || path.starts_with(['.', '~']));
        if is_path {
            self.act(Act::Path(Deed::Replace, host));
        }
    }

    fn enter(&mut self, word: &Value) {
        if self.entered.len() >= MOST_FOLDERS {
            self.folder = Some(Value::unknown());
            return self.act(Act::Unknown("it names more folders to work in than are followed".to_owned()));
        }
        self.entered.push(word.clone());
        self.folder = Some(match &self.folder {
            Some(folder) => below(folder, word),
            None => word.clone(),
        });
        self.act(Act::Path(Deed::Read, Value::text(".")));
    }

    fn upload(&mut self, word: &Value) {
        let start = word.prefix();
        let marks = ["=@", "=<", "@"];
        let at = if start.starts_with('@') {
            Some(1)
        } else {
            marks[..2].iter().filter_map(|mark| Some(start.find(mark)? + mark.len())).min()
        };
        if at.is_some() || word.known().is_none() {
            self.act(Act::Publish("send data to another machine".to_owned()));
        }
        let Some(at) = at else {
            if start.is_empty() && word.known().is_none() {
                self.act(Act::Unknown("a word that may name a file".to_owned()));
            }
            return;
        };
        let file = word.strip_prefix(&start[..at]).unwrap_or_default();
        match file.prefix().split_once(';') {
            Some((name, _)) => self.path(Deed::Read, &Value::text(name)),
            None => self.path(Deed::Read, &file),
        }
    }
}

/// Adds that settings are followed in the folders of the files that the program looks at as well: `hg log sub/x` takes
/// the repository of the file, and linters take the settings beside each one.
fn add_settings_beside(acts: &mut Vec<Act>) {
    let here = Value::text(".");
    let followed = acts.iter().filter_map(|act| match act {
        Act::LocalCode(code @ LocalCode::Files(_), place) if *place == here => Some(code.clone()),
        _ => None,
    });
    let followed: Vec<LocalCode> = followed.collect();
    if followed.is_empty() {
        return;
    }
    let looked_at = acts.iter().filter_map(|act| match act {
        Act::Path(Deed::Read | Deed::List, path) => Some(path.clone()),
        _ => None,
    });
    let mut seen = HashSet::from([here.clone()]);
    let places: Vec<Value> = looked_at.filter(|place| seen.insert(place.clone())).collect();
    if places.len() > MOST_PLACES {
        return acts.push(Act::Unknown("it may follow settings beside more files than are looked at".to_owned()));
    }
    for place in &places {
        acts.extend(followed.iter().map(|code| Act::LocalCode(code.clone(), place.clone())));
    }
}

/// Python looks for a module, and for all that it imports, in the folder first.
fn python_module(word: &Value) -> Act {
    let first = word.known().map(|name| name.split('.').next().unwrap_or(name).to_owned());
    Act::LocalCode(LocalCode::PythonModules(first), Value::text("."))
}

/// Returns whether a word names the standard input where a script is expected.
fn is_input(word: &Value) -> bool {
    matches!(word.known(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
}

/// Code that prints the value of some other.
fn printed(code: &Value) -> Inner {
    let mut text = Value::text("console.log(");
    text.append(code);
    text.push(Piece::Text(")".to_owned()));
    Inner::Text(Language::General, text)
}

/// Returns a path as seen from outside of the folder that it is relative to.
pub(crate) fn below(folder: &Value, path: &Value) -> Value {
    if path.prefix().starts_with('/') || path.begins_with_gap() {
        return path.clone();
    }
    if path.known() == Some(".") {
        return folder.clone();
    }
    let mut whole = folder.clone();
    whole.push(Piece::Text("/".to_owned()));
    whole.append(path);
    whole
}

/// A program of a package is where the package manager of the folder puts it, or it is fetched.
fn package(word: &Value) -> Act {
    match word.known() {
        Some(name) if !name.contains('/') => Act::Fetch(Value::text(format!("node_modules/.bin/{name}"))),
        _ => Act::Connect(None),
    }
}

fn symbolic_mode_sets_id(mode: &str) -> bool {
    mode.split(',').any(|clause| {
        let Some(at) = clause.find(['+', '=', '-']) else { return false };
        let (who, what) = clause.split_at(at);
        // Several operators may follow each other: `u-x+s`.
        let adds = what.split_inclusive(['+', '=', '-']).scan('-', |before, part| {
            let operator = *before;
            *before = part.chars().last().unwrap_or('-');
            Some(operator != '-' && part.contains('s'))
        });
        !who.contains(|letter| !"ugoa".contains(letter)) && adds.into_iter().any(|sets| sets)
    })
}

/// Says what acting on a process means, which is told by number, name or pattern.
pub(crate) fn process(word: &Value) -> Act {
    let everything = ["", ".", ".*", "*", "^", "$", "-1", "0", "1", "init", "systemd", ".+", "[a-z]*"];
    match word.known() {
        Some(name) if everything.contains(&name) => {
            Act::Danger(Danger::System, "stop all processes, or the first one".to_owned())
        }
        // What started the shell is haft.
        Some(name) if name.to_lowercase().contains("haft") || name == "$PPID" => {
            Act::Danger(Danger::Haft, "act on the processes of haft".to_owned())
        }
        _ => Act::Process("act on other processes".to_owned()),
    }
}
