//! Acts: what a program does with its words, before haft has located any path.

use haft_contract::effect::Danger;

use crate::value::ShellValue;

/// One thing that a program does. Paths are words as the program gets them, relative to the folder it runs in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RawEffect {
    /// Does something with a path, or with everything below it.
    Path(PathEffect, ShellValue),
    /// Opens a connection; to which host, where it is known.
    Connect(Option<String>),
    /// Opens a connection to an unknown host, whatever hosts it names: through another one, or to more.
    ConnectElsewhere,
    /// Opens a connection to fetch a program, unless this path is there.
    Fetch(ShellValue),
    /// See `haft_contract::effect::StepEffect` for these.
    Publish(String),
    /// Listens at a port.
    Serve(String),
    /// Sends something to a server on this machine.
    SendHere(String),
    /// Runs code of the workspace.
    Code(String),
    /// Runs code of the workspace where a folder holds what makes it do so.
    LocalCode(LocalCode, ShellValue),
    /// Runs a program that is not in the table.
    Program(String),
    /// Cannot be understood before it runs.
    Unknown(String),
    /// Changes settings.
    Settings(String),
    /// Changes the state of the shell.
    ShellState(String),
    /// Adds to the history or moves in it.
    History(String),
    /// Acts on other processes.
    Process(String),
    /// Is refused.
    Danger(Danger, String),
}

impl RawEffect {
    /// A program is started by another name than its own. Many do something else by it: `xzcat` as `unxz` removes files.
    pub(crate) fn other_name() -> Self {
        RawEffect::Unknown("the program gets another name, and may do something else by it".to_owned())
    }

    /// Returns whether it opens a connection.
    pub(crate) fn connects(&self) -> bool {
        matches!(self, RawEffect::Connect(_) | RawEffect::ConnectElsewhere)
    }
}

/// What makes a harmless program run code of the workspace, by lying in its folder.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LocalCode {
    /// One of these files, also in a folder above.
    Files(Vec<&'static str>),
    /// A module that Python imports in the place of its own; the name is that of the module that is run.
    PythonModules(Option<String>),
    /// A repository without a working tree, which git takes for the one it works on.
    BareRepository,
    /// A repository that the command names; the path is that of the repository.
    Repository,
}

/// What is done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathEffect {
    /// Its content is read.
    Read,
    /// Its name and facts are read.
    List,
    /// Its content is used as a key, and not shown.
    Key,
    /// It is made, and was not there; over something that is there it is `Replace`.
    Create,
    /// It is made or changed.
    Replace,
    /// It is removed.
    Remove,
    /// It is run, as a program or a script.
    Run,
}

/// What the table says of a program with its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramReading {
    /// What it does itself.
    pub acts: Vec<RawEffect>,
    /// What it runs.
    pub inner: Vec<NestedRun>,
    /// Words that may be a command, text for a shell or a file.
    pub suspected: Vec<ShellValue>,
    /// Values of flags that the table does not name. If one names a file, the program may show what is in it.
    pub unnamed: Vec<ShellValue>,
    /// Whether it may run what it reads: `awk '{ system($0) }'`.
    pub runs_input: bool,
    /// What it prints, as far as that matters to the next program of a pipe.
    pub output: StreamContent,
}

/// Something that a program runs in its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NestedRun {
    /// A program with its words: `env A=1 rm x` runs `rm x`.
    Words(Vec<ShellValue>),
    /// Like `Words`, in a folder of its own: `find -execdir` runs a command in that of each file.
    WordsIn(ShellValue, Vec<ShellValue>),
    /// Like `Words`, with more words behind that come from the input, as `xargs` adds them.
    WordsAndInput(Vec<ShellValue>),
    /// Like `Words`, with the input in the place of a mark, as `xargs -I MARK` puts it.
    WordsAroundInput(Vec<ShellValue>, String),
    /// Text for a shell, with the parameters `$0`, `$1`, … that it gets: `sh -c 'rm "$1"' x y`.
    Script(ShellValue, Vec<ShellValue>),
    /// The standard input as text in a language, with the parameters `$1`, … that it gets: `sh -s x`, `python3 -`.
    Input(CodeLanguage, Vec<ShellValue>),
    /// Text in a language: `python3 -c '…'`.
    Text(CodeLanguage, ShellValue),
    /// A file with text in a language, where this command has filled it: `ssh -F <(…)`.
    File(CodeLanguage, ShellValue),
    /// Assigns an environment variable for what is run: `env A=1 …`.
    Variable(String, ShellValue),
    /// What follows in the list is run by a shell that prints what it runs: `bash -x …`.
    Tracing,
    /// What follows in the list is run in that folder: `env -C …`.
    Folder(ShellValue),
}

/// A language that programs take as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeLanguage {
    /// bash, sh, zsh and their kin.
    Shell,
    /// awk.
    Awk,
    /// sed.
    Sed,
    /// Text for an editor or a console, which has a way to run something: `!ls`, `.shell ls`.
    Console,
    /// Python, Perl, Ruby, JavaScript, PHP, Lua, …: read for the strings in it.
    General,
    /// Rules of make, which hold commands as lines.
    Makefile,
    /// A patch, which names the files that it changes.
    Patch,
    /// Settings of a program, an option a line.
    Settings(SettingsProgram),
}

/// A program whose settings are its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SettingsProgram {
    /// curl.
    Curl,
    /// wget.
    Wget,
    /// ssh and its kin.
    Ssh,
}

/// What goes from one program of a pipe to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StreamContent {
    /// Unknown.
    #[default]
    Unknown,
    /// Exactly this text.
    Text(ShellValue),
    /// One of these texts.
    OneOf(Vec<ShellValue>),
    /// Paths, one a line or as words.
    Paths(Vec<ShellValue>),
    /// Content of files of the workspace.
    Content,
    /// Text from the network.
    Downloaded,
    /// Text that was decoded from another form.
    Decoded,
    /// What came in, perhaps cut or put in another order.
    Passed,
}
