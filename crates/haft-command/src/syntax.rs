//! The tree of a command, as the shell parses it, with only braces expanded.
//!
//! Text that haft cannot read becomes [`CommandNode::Opaque`], and haft asks about it. The parser resolves quotes and
//! escapes, so `r"m"`, `\rm` and `$'\x72m'` are the same word.
//!
//! haft has its own parser, which goes character by character as bash does. The grammars of editors see other commands
//! than bash runs: one of them sees an argument of `time` where `time { rm x; }` removes a file.

mod ansi;
mod arithmetic;
mod brace;
mod compound;
mod here;
mod list;
mod parameter;
mod reader;
mod simple;
#[cfg(test)]
mod tests;
mod tilde;
mod word;

use std::ops::Range;

/// A list of commands, in the order of their text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandList {
    /// The commands.
    pub items: Vec<CommandPipeline>,
}

/// One pipeline of a list of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandPipeline {
    /// When it runs.
    pub link: Link,
    /// The programs of a pipe; mostly one.
    pub stages: Vec<CommandStage>,
    /// Whether it counts as failed where it worked (`!`).
    pub is_negated: bool,
    /// Whether the shell does not wait for it (`&`).
    pub in_background: bool,
}

/// When a command of a list runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Always: it is the first, or stands behind `;`, `&` or a new line.
    Always,
    /// When the one before worked (`&&`).
    And,
    /// When the one before failed (`||`).
    Or,
}

/// One program of a pipe, or a compound command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandStage {
    /// What it is.
    pub node: CommandNode,
    /// Where its input comes from and its output goes.
    pub redirects: Vec<Redirect>,
    /// Which bytes of the text it is, redirections included.
    pub span: Range<usize>,
}

/// A simple command, a compound command, or a text that is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandNode {
    /// Assigns variables and runs a program; either list may be empty.
    Simple(Vec<Assignment>, Vec<Word>),
    /// `{ …; }`.
    Group(CommandList),
    /// `( … )`.
    Subshell(CommandList),
    /// `if`, with all conditions and bodies in the order of the text.
    If(Vec<CommandList>),
    /// `while` and `until`: condition and body.
    While(CommandList, CommandList),
    /// `for name in words` and `select`; without words it goes through the parameters.
    For(String, Option<Vec<Word>>, CommandList),
    /// `for ((…; …; …))`: its expressions, as words for the substitutions in them, and its body.
    CountingFor(Vec<Word>, CommandList),
    /// `case word in pattern) … esac`.
    Case(Word, Vec<(Vec<Word>, CommandList)>),
    /// `name() { … }`.
    Function(String, Box<CommandStage>),
    /// `[[ … ]]`: the words in it.
    Test(Vec<Word>),
    /// `(( … ))`: its expression, as words for the substitutions in it.
    Arithmetic(Vec<Word>),
    /// Something that is not understood; why.
    Opaque(String),
}

/// `name=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// Which field of an array it sets (`a[1]=`), brackets included.
    pub index: Option<Word>,
    /// Whether it is added to what is there (`+=`).
    pub is_added: bool,
    /// Whether it is an array (`=(…)`).
    pub is_array: bool,
    /// The values: one, or those of an array.
    pub values: Vec<Word>,
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The number of the descriptor, where it is written.
    pub descriptor: Option<u32>,
    /// The variable that gets the number of a new one (`{x}<`).
    pub variable: Option<String>,
    /// What happens.
    pub kind: RedirectKind,
    /// The file, the descriptor, or the text.
    pub target: Word,
}

/// What a redirection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`.
    Read,
    /// `>` and `>|`.
    Write,
    /// `>>`.
    Append,
    /// `<>`.
    ReadWrite,
    /// `&>` and `>&file`.
    WriteBoth,
    /// `&>>`.
    AppendBoth,
    /// `<&` and `>&` with a number or `-`.
    Duplicate,
    /// `<<`: the target is the text, with substitutions unless its end was quoted.
    HereDocument,
    /// `<<<`.
    HereString,
}

/// A word before expansion. Braces are expanded already: `{a,b}` has become two words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Its parts, in order.
    pub parts: Vec<WordPart>,
    /// Which bytes of the text it is.
    pub span: Range<usize>,
}

impl Word {
    /// Returns its text, where it is nothing but text.
    pub(crate) fn plain(&self) -> Option<String> {
        word::plain_text(&self.parts)
    }
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordPart {
    /// Text. Where it is not quoted, `*`, `?` and `[…]` in it are patterns.
    Text(String, Quoting),
    /// `~` or `~user` at the beginning of a word: the user, empty for oneself.
    Home(String),
    /// `~1`, `~+1`, `~-0` at the beginning of a word: a place on the stack of folders.
    Stacked(String),
    /// `$name`, `${name}`, `${name…}`.
    Parameter(ParameterExpansion, Quoting),
    /// `$(…)` and `` `…` ``.
    Substitution(CommandList, Quoting),
    /// `<(…)` and `>(…)`.
    Process(CommandList, Direction),
    /// `$((…))`: the words in it, for the substitutions in them. Its value is a number.
    Arithmetic(Vec<Word>),
    /// Something that is not understood; why.
    Opaque(String),
}

/// Whether a part stands in quotes: then it is neither split nor a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quoting {
    /// It does not.
    Bare,
    /// It does.
    Quoted,
}

/// Which way a process substitution goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `<(…)`: its output is read.
    Out,
    /// `>(…)`: it reads what is written.
    In,
}

/// A parameter and the operation that is applied to its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterExpansion {
    /// Its name: a variable, a number, or one of `@*#?-$!0`.
    pub name: String,
    /// Which field of an array is meant, brackets included, where the operation does not say it.
    pub index: Option<Word>,
    /// What is done with the value.
    pub operation: ParameterOperation,
    /// Whether all values are one in quotes: `$*` and `${x[*]}`.
    pub is_joined: bool,
}

impl ParameterExpansion {
    /// `$name`.
    pub(crate) fn plain(name: &str) -> Self {
        Self { name: name.to_owned(), index: None, operation: ParameterOperation::Plain, is_joined: name == "*" }
    }
}

/// The operation that an expansion applies to the value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterOperation {
    /// Nothing.
    Plain,
    /// `${x:-word}`, `${x-word}`: the word where there is no value.
    Default(Word),
    /// `${x:=word}`, `${x=word}`: the same, and it is the value from then on.
    Assigned(Word),
    /// `${x:+word}`, `${x+word}`: the word where there is a value.
    Alternative(Word),
    /// `${x:?word}`: an error where there is no value.
    Required,
    /// `${x:from}`, `${x:from:length}`, where both are numbers.
    Slice(i64, Option<i64>),
    /// `${x#pattern}`, `${x/pattern/text}` and their kin: how, and the words in it.
    Edited(Edit, Vec<Word>),
    /// `${#x}`: a number.
    Length,
    /// `${x[@]}`: all values.
    Elements,
    /// `${x[0]}`: the value at the index, brackets included.
    Element(Word),
    /// `${!x[@]}`: the names or numbers of all values.
    Keys,
    /// `${!x}`: the value of the variable that the value names.
    Indirect,
    /// `${x@P}`: the value is expanded once more, as a prompt is.
    Prompt,
    /// `${!x*}`, `${x@A}` and whatever else: anything can come of it; the words in it.
    Strange(Vec<Word>),
}

/// How a value is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// `#` and `##`: a pattern is cut off at the beginning, as little or as much as fits.
    CutBeginning(MatchLength),
    /// `%` and `%%`: a pattern is cut off at the end.
    CutEnd(MatchLength),
    /// `/`: the first match is replaced; `//`: every one.
    Replace(MatchLength),
    /// `/#` and `/%`, `^`, `,` and whatever else.
    Other,
}

/// How far an edit goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchLength {
    /// The least, or the first.
    Least,
    /// The most, or all.
    Most,
}

/// The reasons for which something is opaque that lie in limits, and not in the text.
pub(crate) const LIMITS: [&str; 5] =
    [TOO_LONG, reader::TOO_DEEP.0, reader::TOO_MUCH.0, TOO_MANY_MISTAKES, brace::TOO_MANY];
const TOO_LONG: &str = "it is longer than 64 KiB";
/// Why the rest of a text is opaque that has more than a few parts that cannot be read.
pub(crate) const TOO_MANY_MISTAKES: &str = "it has too many parts that cannot be read";
/// Longer texts are not read.
const LONGEST: usize = 64 * 1024;

/// Reads a command. What is not understood is [`CommandNode::Opaque`] or [`WordPart::Opaque`] in the tree.
pub fn parse(text: &str) -> CommandList {
    match text {
        text if text.len() > LONGEST => opaque(text, TOO_LONG),
        text if text.contains('\0') => opaque(text, "it has a zero byte in it"),
        text => list::read(text),
    }
}

fn opaque(text: &str, why: &str) -> CommandList {
    let stage = CommandStage { node: CommandNode::Opaque(why.to_owned()), redirects: Vec::new(), span: 0..text.len() };
    CommandList {
        items: vec![CommandPipeline {
            link: Link::Always,
            stages: vec![stage],
            is_negated: false,
            in_background: false,
        }],
    }
}
