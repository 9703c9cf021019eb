//! What a word means to the program that gets it.

use super::super::act::{Deed, Language, Program};
use super::super::value::Value;
use super::revision;

/// The meaning of an operand, or of the value of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Text that nothing follows from.
    Text,
    /// A path.
    Path(Deed),
    /// An address to connect to.
    Url,
    /// A host to connect to.
    Host,
    /// `host:path`, or else a path; what is done with it there.
    Remote(Deed),
    /// A program, with all words after it.
    Command,
    /// Like `Command`, for a program that is fetched unless it is installed in the folder.
    Package,
    /// Shell text, of this word and all after it with blanks between.
    Joined,
    /// Like `Joined`, on the host that was named before.
    RemoteCommand,
    /// Shell text.
    Script,
    /// Text in a language.
    Language(Language),
    /// Code whose value is printed.
    Expression,
    /// Like code, and nothing where it only prints what it computes from numbers.
    PlainCode,
    /// Like `Expression`, and nothing where it only computes with numbers.
    PlainExpression,
    /// `A=b` words, as many as there are.
    Assignments,
    /// `key=value` for git.
    GitConfig,
    /// A repository of git, whose settings git follows.
    Repository,
    /// A module that Python runs.
    PythonModule,
    /// The mode of a file, in which there may be a set-id bit.
    Mode,
    /// A process, by number, name or pattern.
    Process,
    /// `Option=value` for ssh.
    SshOption,
    /// An action of tar, such as `exec=…`.
    TarAction,
    /// `host-path:inner-path` or `type=bind,source=host-path`.
    Volume,
    /// The folder that the program works in.
    Folder,
    /// Text in which `@FILE` or `name=@FILE` names a file that is read.
    Upload,
    /// Text for an editor or a console, which has a way to run something: `:!ls`, `.shell ls`.
    Console,
    /// A revision or an object of git, such as `HEAD:path`, or else a path.
    Revision(Deed),
    /// A file with the names of files, which are read as well.
    Names,
    /// An address of which a copy is made here, under the last name in it.
    Download,
    /// The same, or a path that is copied.
    Clone,
    /// A path that is read; where it is not there, the program fetches what has this name.
    Local,
    /// A path that is read, beside which a packed copy is made.
    Packed,
    /// How the names of files begin that are written.
    Prefix,
    /// A filter of jq or yq.
    Filter,
    /// A file with a program in a language, or the standard input.
    Program(Language),
    /// A file with settings of a program, or the standard input.
    Settings(Program),
    /// Shell text, each word for itself.
    Scripts,
    /// A program with its words, or shell text, which the input gives more words.
    Fed,
    /// Code in which strings may be shell text.
    Quoted,
    /// Shell text, or code of another language that looks like it.
    ShellLike,
    /// Something of which nobody knows whether it is a command, text for a shell or a file.
    Anything,
    /// An address of socat, such as `TCP:host:80` or `EXEC:program`.
    Socat,
    /// Words of a filter for connections, such as `sport = :80` or `dst 10.0.0.1`.
    Sockets,
}

impl Role {
    /// Returns the role of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "text" => Role::Text,
            "read" => Role::Path(Deed::Read),
            "list" => Role::Path(Deed::List),
            "key" => Role::Path(Deed::Key),
            "create" => Role::Path(Deed::Create),
            "replace" => Role::Path(Deed::Replace),
            "remove" => Role::Path(Deed::Remove),
            "run" => Role::Path(Deed::Run),
            "url" => Role::Url,
            "host" => Role::Host,
            "remote" => Role::Remote(Deed::Read),
            "remote>" => Role::Remote(Deed::Replace),
            "command" => Role::Command,
            "package" => Role::Package,
            "joined" => Role::Joined,
            "remote-command" => Role::RemoteCommand,
            "script" => Role::Script,
            "expression" => Role::Expression,
            "plain-code" => Role::PlainCode,
            "plain-expression" => Role::PlainExpression,
            "assignments" => Role::Assignments,
            "git-config" => Role::GitConfig,
            "repository" => Role::Repository,
            "python-module" => Role::PythonModule,
            "mode" => Role::Mode,
            "process" => Role::Process,
            "ssh-option" => Role::SshOption,
            "tar-action" => Role::TarAction,
            "volume" => Role::Volume,
            "folder" => Role::Folder,
            "upload" => Role::Upload,
            "console" => Role::Console,
            "socat" => Role::Socat,
            "sockets" => Role::Sockets,
            "remote+" => Role::Remote(Deed::Create),
            "revision" => Role::Revision(Deed::Read),
            "revision-list" => Role::Revision(Deed::List),
            "names" => Role::Names,
            "download" => Role::Download,
            "clone" => Role::Clone,
            "local" => Role::Local,
            "packed" => Role::Packed,
            "prefix" => Role::Prefix,
            "filter" => Role::Filter,
            "awk-file" => Role::Program(Language::Awk),
            "sed-file" => Role::Program(Language::Sed),
            "makefile" => Role::Program(Language::Makefile),
            "scripts" => Role::Scripts,
            "fed" => Role::Fed,
            "quoted" => Role::Quoted,
            "shell-like" => Role::ShellLike,
            "anything" => Role::Anything,
            "curl-file" => Role::Settings(Program::Curl),
            "ssh-file" => Role::Settings(Program::Ssh),
            name => return language(name).map(Role::Language),
        })
    }

    /// Returns whether all words from here on belong to it.
    pub(crate) fn takes_the_rest(self) -> bool {
        matches!(self, Role::Command | Role::Package | Role::Joined | Role::RemoteCommand | Role::Fed)
    }

    /// Returns whether a word of this role says where something is done.
    pub(crate) fn says_where(self, word: &Value) -> bool {
        match self {
            Role::Path(_) | Role::Remote(_) | Role::Packed | Role::Prefix | Role::Program(_) | Role::Folder => true,
            Role::Revision(_) => !revision::paths(word).is_empty(),
            _ => false,
        }
    }

    /// Returns whether nothing is done with the word but reading what it names.
    pub(crate) fn only_reads(self) -> bool {
        matches!(self, Role::Text | Role::Path(Deed::Read | Deed::List | Deed::Key) | Role::Revision(_))
    }
}

/// Returns the language of a role that is text in one.
fn language(name: &str) -> Option<Language> {
    Some(match name {
        "code" => Language::General,
        "awk" => Language::Awk,
        "sed" => Language::Sed,
        "patch" => Language::Patch,
        "powershell" => Language::PowerShell,
        "wget-setting" => Language::Settings(Program::Wget),
        _ => return None,
    })
}
