//! Derives the effects of a word from its role.
//!
//! Not here: which role it has (`reading`), addresses (`address`), settings of git (`git_config`).

use std::collections::HashSet;

use haft_contract::effect::{Danger, Host};

use crate::act::{CodeLanguage, LocalCode, NestedRun, PathEffect, ProgramReading, RawEffect, StreamContent};
use crate::languages;
use crate::programs::git::{config, revision};
use crate::programs::reading::{assignment, joined};
use crate::programs::table::role::WordRole;
use crate::programs::{address, console, filter};
use crate::value::{ShellValue, ValuePiece};

/// How many folders the words of one program may name.
const MOST_FOLDERS: usize = 8;
/// Beside how many files settings are looked for.
const MOST_PLACES: usize = 256;

/// A reading while it is made.
#[derive(Debug, Default)]
pub(crate) struct ReadingDraft {
    /// What is known so far.
    pub(crate) reading: ProgramReading,
    /// Its acts again, so that none is added twice.
    acts: HashSet<RawEffect>,
    /// Those that are not meant from the folder that the program works in.
    fixed: HashSet<RawEffect>,
    folder: Option<ShellValue>,
    /// The folders that its words name, each for itself.
    entered: Vec<ShellValue>,
    host_is_here: bool,
}

impl ReadingDraft {
    /// Adds something that the program does, once.
    pub(crate) fn act(&mut self, act: RawEffect) {
        if self.acts.insert(act.clone()) {
            self.reading.acts.push(act);
        }
    }

    /// Adds the reading of a part; the part tells what is printed.
    pub(crate) fn add(&mut self, part: ProgramReading) {
        part.acts.into_iter().for_each(|act| self.act(act));
        self.reading.inner.extend(part.inner);
        self.reading.suspected.extend(part.suspected);
        self.reading.unnamed.extend(part.unnamed);
        self.reading.output = part.output;
    }

    /// Returns whether it has found nothing that is run so far.
    pub(crate) fn runs_nothing(&self) -> bool {
        let runs = |act: &RawEffect| matches!(act, RawEffect::Path(PathEffect::Run, _));
        self.reading.inner.is_empty() && !self.reading.acts.iter().any(runs)
    }

    /// Returns whether all that it has found so far is that something is looked at or newly made.
    pub(crate) fn only_looks(&self) -> bool {
        let looks = |act: &RawEffect| match act {
            RawEffect::Path(deed, _) => {
                matches!(deed, PathEffect::Read | PathEffect::List | PathEffect::Key | PathEffect::Create)
            }
            act => matches!(act, RawEffect::LocalCode(..) | RawEffect::Fetch(_)),
        };
        self.reading.acts.iter().all(looks)
    }

    /// Adds what follows from a word; `rest` are the words from this one on, where there are more.
    pub(crate) fn word(&mut self, role: WordRole, word: &ShellValue, rest: &[ShellValue]) {
        match role {
            WordRole::Text => {}
            WordRole::Path(PathEffect::Run) if is_input(word) => {
                self.reading.inner.push(NestedRun::Input(CodeLanguage::General, Vec::new()));
            }
            WordRole::Path(deed) => self.path(deed, word),
            WordRole::Url => self.address(address::of_url(word)),
            WordRole::Host => {
                self.host_is_here = address::is_here(word);
                self.address(address::of_host(word));
            }
            WordRole::Remote(deed) => self.remote(deed, word),
            WordRole::Assignments => {
                let variable = assignment(word).map(|(name, value)| NestedRun::Variable(name, value));
                self.reading.inner.extend(variable);
            }
            WordRole::GitConfig => self.add_inside(config::for_one_command(word)),
            WordRole::Repository => {
                self.path(PathEffect::List, word);
                self.act(RawEffect::LocalCode(LocalCode::Repository, word.clone()));
            }
            WordRole::PythonModule => self.act(python_module(word)),
            WordRole::Mode => self.mode(word),
            WordRole::Process => self.act(process(word)),
            WordRole::SshOption => self.ssh_option(word),
            WordRole::TarAction => self.tar_action(word),
            WordRole::Volume => self.volume(word),
            WordRole::Folder => self.enter(word),
            WordRole::Upload => self.upload(word),
            WordRole::Console | WordRole::ConsoleCode => self.add_inside(console::read_in(role, word)),
            WordRole::Revision(deed) => revision::paths(word).iter().for_each(|path| self.path(deed, path)),
            WordRole::Names => self.names(word),
            WordRole::Download => {
                self.address(address::of_url(word));
                self.act(RawEffect::Path(PathEffect::Create, address::file_name(word)));
            }
            WordRole::Clone => self.copy_of_repository(word),
            WordRole::Local => self.local(word),
            WordRole::Packed => self.packed(word),
            WordRole::Prefix => {
                let mut files = word.clone();
                files.push(ValuePiece::Glob);
                self.path(PathEffect::Create, &files);
            }
            WordRole::Filter => self.add_inside(filter::read(word)),
            WordRole::Program(_) if !is_input(word) => self.path(PathEffect::Run, word),
            WordRole::Settings(program) => self.settings(CodeLanguage::Settings(program), word),
            WordRole::Anything => self.reading.suspected.push(word.clone()),
            // Python may still look for modules, to tell of a mistake.
            WordRole::PlainCode if languages::only_prints_numbers(word) => {
                self.act(RawEffect::LocalCode(LocalCode::PythonModules(None), ShellValue::text(".")));
            }
            WordRole::PlainExpression if languages::only_computes(word) => {}
            WordRole::Sockets => self.add_inside(address::of_sockets(word)),
            WordRole::Socat => self.add_inside(address::of_socat(word)),
            WordRole::Package => self.package(word, rest),
            role => self.reading.inner.extend(self.run_by(role, word, rest)),
        }
    }

    /// A program of a package: `yarn@1` is yarn.
    fn package(&mut self, word: &ShellValue, rest: &[ShellValue]) {
        self.act(package(word));
        let mut words = rest.to_vec();
        if let Some(first) = words.first_mut()
            && let Some(name) = first.known().and_then(|name| name.get(1..)?.find('@').map(|at| name[..=at].to_owned()))
        {
            *first = ShellValue::text(name);
        }
        self.word(WordRole::Command, word, &words);
    }

    fn copy_of_repository(&mut self, word: &ShellValue) {
        self.remote(PathEffect::Read, word);
        // A repository with an unknown name becomes a folder with an unknown name.
        let name = word.known().map(address::last_name).filter(|name| !name.is_empty() && !name.starts_with('.'));
        self.act(RawEffect::Path(PathEffect::Create, name.map_or_else(ShellValue::unknown, ShellValue::text)));
    }

    /// Returns what is run by a word that is a command, or text in a language.
    fn run_by(&self, role: WordRole, word: &ShellValue, rest: &[ShellValue]) -> Vec<NestedRun> {
        let after = || rest.get(1..).unwrap_or_default().to_vec();
        match role {
            WordRole::Command if !rest.is_empty() => vec![NestedRun::Words(rest.to_vec())],
            WordRole::Command | WordRole::Scripts => vec![NestedRun::Script(word.clone(), Vec::new())],
            WordRole::RemoteCommand if !self.host_is_here => Vec::new(),
            WordRole::Joined | WordRole::RemoteCommand => vec![NestedRun::Script(joined(rest), Vec::new())],
            WordRole::Script => vec![NestedRun::Script(word.clone(), after())],
            WordRole::Language(language) => vec![NestedRun::Text(language, word.clone())],
            WordRole::PlainCode => vec![NestedRun::Text(CodeLanguage::General, word.clone())],
            WordRole::Expression | WordRole::PlainExpression => vec![printed(word)],
            WordRole::Program(language) => vec![NestedRun::Input(language, Vec::new())],
            WordRole::Fed => console::fed(rest).into_iter().collect(),
            WordRole::Quoted => console::quoted(word).into_iter().collect(),
            WordRole::ShellLike => {
                vec![NestedRun::Script(word.clone(), after()), NestedRun::Text(CodeLanguage::General, word.clone())]
            }
            _ => Vec::new(),
        }
    }

    /// Returns the reading, with its paths in the folder that the program works in.
    pub(crate) fn finish(mut self) -> ProgramReading {
        let acts = &mut self.reading.acts;
        if acts.iter().any(|act| matches!(act, RawEffect::Connect(Some(_)) | RawEffect::ConnectElsewhere)) {
            acts.retain(|act| *act != RawEffect::Connect(None));
        }
        let mut hosts = acts.iter().filter(|act| act.connects()).peekable();
        let is_here = |act: &RawEffect| matches!(act, RawEffect::Connect(Some(host)) if Host(host.clone()).is_here());
        if hosts.peek().is_some() && hosts.all(is_here) {
            let sent = |act: &&mut RawEffect| matches!(act, RawEffect::Publish(_));
            acts.iter_mut().filter(sent).for_each(|act| *act = RawEffect::SendHere(address::SENT_HERE.to_owned()));
        }
        add_settings_beside(acts);
        let Some(folder) = self.folder else { return self.reading };
        // Of several folders one program takes the last, another the first, and a third goes from one to the next.
        let alone = if self.entered.len() > 1 { self.entered.as_slice() } else { &[] };
        let followed = |act: &RawEffect, folder: &ShellValue| match act {
            RawEffect::LocalCode(code, path) => Some(RawEffect::LocalCode(code.clone(), below(folder, path))),
            _ => None,
        };
        let in_each: Vec<RawEffect> =
            acts.iter().flat_map(|act| alone.iter().filter_map(move |folder| followed(act, folder))).collect();
        for act in acts.iter_mut().filter(|act| !self.fixed.contains(act)) {
            if let RawEffect::Path(_, path) | RawEffect::Fetch(path) | RawEffect::LocalCode(_, path) = act {
                *path = below(&folder, path);
            }
        }
        acts.extend(in_each);
        if let StreamContent::Paths(paths) = &mut self.reading.output {
            paths.iter_mut().for_each(|path| *path = below(&folder, path));
        }
        if !self.reading.inner.is_empty() {
            self.reading.inner.insert(0, NestedRun::Folder(folder));
        }
        self.reading
    }

    fn add_inside(&mut self, part: ProgramReading) {
        part.acts.into_iter().for_each(|act| self.act(act));
        self.reading.inner.extend(part.inner);
        self.reading.suspected.extend(part.suspected);
        self.reading.unnamed.extend(part.unnamed);
    }

    fn path(&mut self, deed: PathEffect, word: &ShellValue) {
        // Many programs that read files fetch an address of that form.
        let address = word.strip_prefix("jar:").unwrap_or_else(|| word.clone());
        if deed == PathEffect::Read && address::is_of_web(&address) {
            return self.address(address::of_url(&address));
        }
        // The standard streams, and a flag whose value is empty.
        if !matches!(word.known(), Some("-" | "")) {
            self.act(RawEffect::Path(deed, word.clone()));
        }
    }

    fn settings(&mut self, language: CodeLanguage, word: &ShellValue) {
        let is_input = is_input(word);
        if !is_input {
            self.path(PathEffect::Read, word);
        }
        let input = || NestedRun::Input(language, Vec::new());
        self.reading.inner.push(if is_input { input() } else { NestedRun::File(language, word.clone()) });
    }

    fn local(&mut self, word: &ShellValue) {
        self.path(PathEffect::Read, word);
        self.act(RawEffect::Fetch(word.clone()));
    }

    fn names(&mut self, word: &ShellValue) {
        self.path(PathEffect::Read, word);
        self.act(RawEffect::Path(PathEffect::Read, ShellValue::unknown()));
    }

    fn packed(&mut self, word: &ShellValue) {
        let mut copy = word.clone();
        copy.push(ValuePiece::Text(".gz".to_owned()));
        self.path(PathEffect::Read, word);
        self.path(PathEffect::Create, &copy);
    }

    fn address(&mut self, found: ProgramReading) {
        self.add_inside(found);
    }

    fn remote(&mut self, deed: PathEffect, word: &ShellValue) {
        match address::of_remote(word) {
            Some(found) => {
                self.add_inside(found);
                if deed != PathEffect::Read {
                    self.act(RawEffect::Publish("send files to another machine".to_owned()));
                }
            }
            // An archive is opened before tar changes to the folder of its members.
            None => {
                self.fixed.insert(RawEffect::Path(deed, word.clone()));
                self.path(deed, word);
            }
        }
    }

    fn mode(&mut self, word: &ShellValue) {
        let Some(mode) = word.known() else {
            return self.act(RawEffect::Unknown("the mode is known only when it runs".to_owned()));
        };
        let is_number = !mode.is_empty() && mode.chars().all(|digit| digit.is_digit(8));
        let bits = u32::from_str_radix(mode, 8).unwrap_or_default();
        let sets_id = if is_number { bits & 0o6000 != 0 } else { symbolic_mode_sets_id(mode) };
        if sets_id {
            self.act(RawEffect::Danger(Danger::Rights, "make a program run with the rights of its owner".to_owned()));
        }
    }

    fn ssh_option(&mut self, word: &ShellValue) {
        let start = word.prefix();
        let name: String = start.chars().take_while(char::is_ascii_alphanumeric).collect();
        let rest = word.strip_prefix(&name).unwrap_or_default();
        let trimmed = rest.prefix().len() - rest.prefix().trim_start_matches([' ', '=', '\t']).len();
        let value = rest.strip_prefix(&rest.prefix()[..trimmed]).unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            _ if value.known() == Some("none") => {}
            "proxycommand" => {
                self.act(RawEffect::ConnectElsewhere);
                self.reading.inner.push(NestedRun::Script(value, Vec::new()));
            }
            "localcommand" | "knownhostscommand" | "pkcs11provider" | "securitykeyprovider" => {
                self.reading.inner.push(NestedRun::Script(value, Vec::new()));
            }
            "hostname" | "proxyjump" | "include" | "canonicaldomains" => self.act(RawEffect::ConnectElsewhere),
            "" => self.act(RawEffect::Unknown("an option of ssh is known only when it runs".to_owned())),
            _ => {}
        }
    }

    fn tar_action(&mut self, word: &ShellValue) {
        match word.strip_prefix("exec=") {
            Some(script) => self.reading.inner.push(NestedRun::Script(script, Vec::new())),
            None if word.known().is_none() => {
                self.act(RawEffect::Unknown("an action is known only when it runs".to_owned()));
            }
            None => {}
        }
    }

    fn volume(&mut self, word: &ShellValue) {
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
            Some((host, _)) => ShellValue::text(host),
            None => value,
        };
        // A word without a slash is the name of a volume.
        let is_path = host.known().is_none_or(|path| path.contains('/') || path.starts_with(['.', '~']));
        if is_path {
            self.act(RawEffect::Path(PathEffect::Replace, host));
        }
    }

    fn enter(&mut self, word: &ShellValue) {
        if self.entered.len() >= MOST_FOLDERS {
            self.folder = Some(ShellValue::unknown());
            return self.act(RawEffect::Unknown("it names more folders to work in than are followed".to_owned()));
        }
        self.entered.push(word.clone());
        self.folder = Some(match &self.folder {
            Some(folder) => below(folder, word),
            None => word.clone(),
        });
        self.act(RawEffect::Path(PathEffect::Read, ShellValue::text(".")));
    }

    fn upload(&mut self, word: &ShellValue) {
        let start = word.prefix();
        let marks = ["=@", "=<", "@"];
        let at = if start.starts_with('@') {
            Some(1)
        } else {
            marks[..2].iter().filter_map(|mark| Some(start.find(mark)? + mark.len())).min()
        };
        if at.is_some() || word.known().is_none() {
            self.act(RawEffect::Publish("send data to another machine".to_owned()));
        }
        let Some(at) = at else {
            if start.is_empty() && word.known().is_none() {
                self.act(RawEffect::Unknown("a word that may name a file".to_owned()));
            }
            return;
        };
        let file = word.strip_prefix(&start[..at]).unwrap_or_default();
        match file.prefix().split_once(';') {
            Some((name, _)) => self.path(PathEffect::Read, &ShellValue::text(name)),
            None => self.path(PathEffect::Read, &file),
        }
    }
}

/// Adds that settings are followed in the folders of the files that the program looks at as well: `hg log sub/x` takes
/// the repository of the file, and linters take the settings beside each one.
fn add_settings_beside(acts: &mut Vec<RawEffect>) {
    let here = ShellValue::text(".");
    let followed = acts.iter().filter_map(|act| match act {
        RawEffect::LocalCode(code @ LocalCode::Files(_), place) if *place == here => Some(code.clone()),
        _ => None,
    });
    let followed: Vec<LocalCode> = followed.collect();
    if followed.is_empty() {
        return;
    }
    let looked_at = acts.iter().filter_map(|act| match act {
        RawEffect::Path(PathEffect::Read | PathEffect::List, path) => Some(path.clone()),
        _ => None,
    });
    let mut seen = HashSet::from([here.clone()]);
    let places: Vec<ShellValue> = looked_at.filter(|place| seen.insert(place.clone())).collect();
    if places.len() > MOST_PLACES {
        return acts.push(RawEffect::Unknown("it may follow settings beside more files than are looked at".to_owned()));
    }
    for place in &places {
        acts.extend(followed.iter().map(|code| RawEffect::LocalCode(code.clone(), place.clone())));
    }
}

/// Python looks for a module, and for all that it imports, in the folder first.
fn python_module(word: &ShellValue) -> RawEffect {
    let first = word.known().map(|name| name.split('.').next().unwrap_or(name).to_owned());
    RawEffect::LocalCode(LocalCode::PythonModules(first), ShellValue::text("."))
}

/// Returns whether a word names the standard input where a script is expected.
fn is_input(word: &ShellValue) -> bool {
    matches!(word.known(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
}

/// Code that prints the value of some other.
fn printed(code: &ShellValue) -> NestedRun {
    let mut text = ShellValue::text("console.log(");
    text.append(code);
    text.push(ValuePiece::Text(")".to_owned()));
    NestedRun::Text(CodeLanguage::General, text)
}

/// Returns a path as seen from outside of the folder that it is relative to.
pub(crate) fn below(folder: &ShellValue, path: &ShellValue) -> ShellValue {
    if path.prefix().starts_with('/') || path.begins_with_gap() {
        return path.clone();
    }
    if path.known() == Some(".") {
        return folder.clone();
    }
    let mut whole = folder.clone();
    whole.push(ValuePiece::Text("/".to_owned()));
    whole.append(path);
    whole
}

/// A program of a package is where the package manager of the folder puts it, or it is fetched.
fn package(word: &ShellValue) -> RawEffect {
    match word.known() {
        Some(name) if !name.contains('/') => RawEffect::Fetch(ShellValue::text(format!("node_modules/.bin/{name}"))),
        _ => RawEffect::Connect(None),
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
pub(crate) fn process(word: &ShellValue) -> RawEffect {
    let everything = ["", ".", ".*", "*", "^", "$", "-1", "0", "1", "init", "systemd", ".+", "[a-z]*"];
    match word.known() {
        Some(name) if everything.contains(&name) => {
            RawEffect::Danger(Danger::System, "stop all processes, or the first one".to_owned())
        }
        // What started the shell is haft.
        Some(name) if name.to_lowercase().contains("haft") || name == "$PPID" => {
            RawEffect::Danger(Danger::Haft, "act on the processes of haft".to_owned())
        }
        _ => RawEffect::Process("act on other processes".to_owned()),
    }
}
