//! Roles: what a word means to its program.

use crate::act::{CodeLanguage, PathEffect, SettingsProgram};
use crate::programs::git::revision;
use crate::value::ShellValue;

/// The meaning of an operand, or of the value of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordRole {
    /// Text that nothing follows from.
    Text,
    /// A path.
    Path(PathEffect),
    /// An address to connect to.
    Url,
    /// A host to connect to.
    Host,
    /// `host:path`, or else a path; what is done with it there.
    Remote(PathEffect),
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
    Language(CodeLanguage),
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
    /// The same, for a program that reaches no more than code does.
    ConsoleCode,
    /// A revision or an object of git, such as `HEAD:path`, or else a path.
    Revision(PathEffect),
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
    Program(CodeLanguage),
    /// A file with settings of a program, or the standard input.
    Settings(SettingsProgram),
    /// Shell text, each word for itself.
    Scripts,
    /// A program with its words, or shell text, which the input gives more words.
    Fed,
    /// Code in which strings may be shell text.
    Quoted,
    /// Shell text, or code of another language that looks like it.
    ShellLike,
    /// A word that may be a command, text for a shell or a file.
    Anything,
    /// An address of socat, such as `TCP:host:80` or `EXEC:program`.
    Socat,
    /// Words of a filter for connections, such as `sport = :80` or `dst 10.0.0.1`.
    Sockets,
}

impl WordRole {
    /// Returns the role of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "text" => WordRole::Text,
            "read" => WordRole::Path(PathEffect::Read),
            "list" => WordRole::Path(PathEffect::List),
            "key" => WordRole::Path(PathEffect::Key),
            "create" => WordRole::Path(PathEffect::Create),
            "replace" => WordRole::Path(PathEffect::Replace),
            "remove" => WordRole::Path(PathEffect::Remove),
            "run" => WordRole::Path(PathEffect::Run),
            "url" => WordRole::Url,
            "host" => WordRole::Host,
            "remote" => WordRole::Remote(PathEffect::Read),
            "remote>" => WordRole::Remote(PathEffect::Replace),
            "command" => WordRole::Command,
            "package" => WordRole::Package,
            "joined" => WordRole::Joined,
            "remote-command" => WordRole::RemoteCommand,
            "script" => WordRole::Script,
            "expression" => WordRole::Expression,
            "plain-code" => WordRole::PlainCode,
            "plain-expression" => WordRole::PlainExpression,
            "assignments" => WordRole::Assignments,
            "git-config" => WordRole::GitConfig,
            "repository" => WordRole::Repository,
            "python-module" => WordRole::PythonModule,
            "mode" => WordRole::Mode,
            "process" => WordRole::Process,
            "ssh-option" => WordRole::SshOption,
            "tar-action" => WordRole::TarAction,
            "volume" => WordRole::Volume,
            "folder" => WordRole::Folder,
            "upload" => WordRole::Upload,
            "console" => WordRole::Console,
            "console-code" => WordRole::ConsoleCode,
            "socat" => WordRole::Socat,
            "sockets" => WordRole::Sockets,
            "remote+" => WordRole::Remote(PathEffect::Create),
            "revision" => WordRole::Revision(PathEffect::Read),
            "revision-list" => WordRole::Revision(PathEffect::List),
            "names" => WordRole::Names,
            "download" => WordRole::Download,
            "clone" => WordRole::Clone,
            "local" => WordRole::Local,
            "packed" => WordRole::Packed,
            "prefix" => WordRole::Prefix,
            "filter" => WordRole::Filter,
            "awk-file" => WordRole::Program(CodeLanguage::Awk),
            "sed-file" => WordRole::Program(CodeLanguage::Sed),
            "makefile" => WordRole::Program(CodeLanguage::Makefile),
            "scripts" => WordRole::Scripts,
            "fed" => WordRole::Fed,
            "quoted" => WordRole::Quoted,
            "shell-like" => WordRole::ShellLike,
            "anything" => WordRole::Anything,
            "curl-file" => WordRole::Settings(SettingsProgram::Curl),
            "ssh-file" => WordRole::Settings(SettingsProgram::Ssh),
            name => return language(name).map(WordRole::Language),
        })
    }

    /// Returns whether all words from here on belong to it.
    pub(crate) fn takes_the_rest(self) -> bool {
        matches!(
            self,
            WordRole::Command | WordRole::Package | WordRole::Joined | WordRole::RemoteCommand | WordRole::Fed
        )
    }

    /// Returns whether a word of this role says where something is done.
    pub(crate) fn says_where(self, word: &ShellValue) -> bool {
        match self {
            WordRole::Path(_)
            | WordRole::Remote(_)
            | WordRole::Packed
            | WordRole::Prefix
            | WordRole::Program(_)
            | WordRole::Folder => true,
            WordRole::Revision(_) => !revision::paths(word).is_empty(),
            _ => false,
        }
    }

    /// Returns whether nothing is done with the word but reading what it names.
    pub(crate) fn only_reads(self) -> bool {
        matches!(
            self,
            WordRole::Text
                | WordRole::Path(PathEffect::Read | PathEffect::List | PathEffect::Key)
                | WordRole::Revision(_)
        )
    }
}

/// Returns the language of a role that is text in one.
fn language(name: &str) -> Option<CodeLanguage> {
    Some(match name {
        "code" => CodeLanguage::General,
        "awk" => CodeLanguage::Awk,
        "sed" => CodeLanguage::Sed,
        "patch" => CodeLanguage::Patch,
        "wget-setting" => CodeLanguage::Settings(SettingsProgram::Wget),
        _ => return None,
    })
}
