//! Colours for code: comments, texts, numbers and words of the language, by a small reader that knows no grammar.
//!
//! It is wrong in rare cases and never slow: it reads each line once, loads nothing, and takes time in proportion to the
//! text. It never changes the text itself.

use anstyle::{AnsiColor, Style};

use crate::screen::safe;
use crate::terminal::drawing::painted::painted;

/// The syntax of a language, as far as colours need it.
struct LanguageSyntax {
    names: &'static [&'static str],
    /// The signs that begin a comment up to the end of the line.
    comments: &'static [&'static str],
    /// The signs that begin and end a longer comment.
    blocks: Option<(&'static str, &'static str)>,
    quotes: &'static [char],
    keywords: &'static str,
}

const LANGUAGES: &[LanguageSyntax] = &[
    LanguageSyntax {
        names: &["rust", "rs"],
        comments: &["//"],
        blocks: Some(("/*", "*/")),
        quotes: &['"'],
        keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
    },
    LanguageSyntax {
        names: &["python", "py"],
        comments: &["#"],
        blocks: Some(("\"\"\"", "\"\"\"")),
        quotes: &['"', '\''],
        keywords: "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield match case self",
    },
    LanguageSyntax {
        names: &["javascript", "js", "jsx", "typescript", "ts", "tsx", "mjs", "json", "jsonc"],
        comments: &["//"],
        blocks: Some(("/*", "*/")),
        quotes: &['"', '\'', '`'],
        keywords: "abstract any as async await boolean break case catch class const continue declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface keyof let new null number of private protected public readonly return set static string super switch this throw true try type typeof undefined var void while yield",
    },
    LanguageSyntax {
        names: &[
            "c", "cpp", "c++", "h", "hpp", "java", "cs", "csharp", "kotlin", "kt", "swift", "scala", "php", "go",
            "dart", "zig",
        ],
        comments: &["//"],
        blocks: Some(("/*", "*/")),
        quotes: &['"', '\'', '`'],
        keywords: "abstract alignas auto bool boolean break byte case catch chan char class const constexpr continue default defer delete do double else enum explicit extends extern false final finally float for foreach fun func function go goto guard if implements import in inline int interface internal let long map namespace new nil null nullptr object operator override package private protected pub public range return select short signed sizeof static string struct super switch template this throw throws true try type typedef typename union unsigned using val var virtual void volatile when where while",
    },
    LanguageSyntax {
        names: &["bash", "sh", "shell", "zsh", "console", "fish", "dockerfile", "makefile", "make"],
        comments: &["#"],
        blocks: None,
        quotes: &['"', '\''],
        keywords: "case do done elif else esac exit export fi for function if in local read return select set shift then until while FROM RUN COPY CMD ENTRYPOINT ENV WORKDIR ARG EXPOSE ADD",
    },
    LanguageSyntax {
        names: &["toml", "yaml", "yml", "ini", "conf", "properties", "nix"],
        comments: &["#", ";"],
        blocks: None,
        quotes: &['"', '\''],
        keywords: "true false null yes no on off",
    },
    LanguageSyntax {
        names: &["sql"],
        comments: &["--"],
        blocks: Some(("/*", "*/")),
        quotes: &['\'', '"'],
        keywords: "select from where and or not insert into values update set delete create table index view drop alter join left right inner outer on group by order limit as distinct having union all null is in exists primary key references default SELECT FROM WHERE AND OR NOT INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE INDEX VIEW DROP ALTER JOIN LEFT RIGHT INNER OUTER ON GROUP BY ORDER LIMIT AS DISTINCT HAVING UNION ALL NULL IS IN EXISTS PRIMARY KEY REFERENCES DEFAULT",
    },
    LanguageSyntax {
        names: &["ruby", "rb", "elixir", "ex", "exs", "lua", "perl", "pl", "r"],
        comments: &["#", "--"],
        blocks: None,
        quotes: &['"', '\''],
        keywords: "alias and begin break case class def defmodule do else elsif end ensure false fn for function if in local module my next nil not or redo repeat require rescue retry return self sub super then true unless until use when while yield",
    },
    LanguageSyntax {
        names: &["haskell", "hs", "elm", "ml", "ocaml"],
        comments: &["--"],
        blocks: Some(("{-", "-}")),
        quotes: &['"'],
        keywords: "as case class data deriving do else fun function if import in infix instance let match module newtype of open rec then type val where with",
    },
    LanguageSyntax {
        names: &["css", "scss", "less"],
        comments: &["//"],
        blocks: Some(("/*", "*/")),
        quotes: &['"', '\''],
        keywords: "important inherit initial none auto",
    },
];

/// Returns the lines of some code, painted. A language that is not known has no colours.
pub(in crate::terminal) fn lines(code: &str, language: &str) -> Vec<String> {
    let name = language.to_ascii_lowercase();
    let language = LANGUAGES.iter().find(|language| language.names.contains(&name.as_str()));
    let mut in_block = false;
    let is_diff = name == "diff" || name == "patch";
    let painted_line = |line: &str| match language {
        _ if is_diff => diff_line(line),
        Some(language) => CodeHighlighter { language, rest: line, in_block: &mut in_block, out: String::new() }.read(),
        None => plain(line).into_owned(),
    };
    code.lines().map(painted_line).collect()
}

fn plain(text: &str) -> std::borrow::Cow<'_, str> {
    safe(text)
}

fn diff_line(line: &str) -> String {
    let style = match line.chars().next() {
        Some('+') => AnsiColor::Green.on_default(),
        Some('-') => AnsiColor::Red.on_default(),
        Some('@') => Style::new().dimmed(),
        _ => Style::new(),
    };
    painted(style, &plain(line))
}

/// Colours one line of code.
struct CodeHighlighter<'a> {
    language: &'static LanguageSyntax,
    rest: &'a str,
    in_block: &'a mut bool,
    out: String,
}

impl CodeHighlighter<'_> {
    fn read(mut self) -> String {
        while let Some(c) = self.rest.chars().next() {
            if *self.in_block || self.language.blocks.is_some_and(|(begin, _)| self.rest.starts_with(begin)) {
                self.block();
            } else if self.language.comments.iter().any(|begin| self.rest.starts_with(begin)) {
                self.take(self.rest.len(), Style::new().dimmed());
            } else if self.language.quotes.contains(&c) {
                self.take(quoted(self.rest, c), AnsiColor::Green.on_default());
            } else if c.is_ascii_digit() {
                let end = self.rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_')));
                self.take(end.unwrap_or(self.rest.len()), AnsiColor::Yellow.on_default());
            } else if c.is_alphabetic() || c == '_' {
                let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(self.rest.len());
                let is_keyword = self.language.keywords.split(' ').any(|word| word == &self.rest[..end]);
                self.take(end, if is_keyword { AnsiColor::Magenta.on_default() } else { Style::new() });
            } else {
                let ends = |c: char| {
                    c.is_alphanumeric() || c == '_' || self.language.quotes.contains(&c) || "/#-;{*\"".contains(c)
                };
                let end = self.rest[c.len_utf8()..].find(ends).map_or(self.rest.len(), |end| end + c.len_utf8());
                self.take(end, Style::new());
            }
        }
        self.out
    }

    fn block(&mut self) {
        let Some((begin, end)) = self.language.blocks else { return };
        let from = if *self.in_block { 0 } else { begin.len() };
        let found = self.rest[from..].find(end).map(|at| from + at + end.len());
        *self.in_block = found.is_none();
        self.take(found.unwrap_or(self.rest.len()), Style::new().dimmed());
    }

    fn take(&mut self, end: usize, style: Style) {
        let (text, rest) = self.rest.split_at(end);
        self.out.push_str(&painted(style, &plain(text)));
        self.rest = rest;
    }
}

/// Returns the end of a text in quotes, or of the line.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::drawing::painted::bare;

    #[test]
    fn words_of_the_language_have_colours_and_nothing_is_changed() {
        let code = "fn main() { // go\n    let x = \"a \\\" b\"; /* long\n    comment */ 0x1f + é\n}";
        let shown = lines(code, "rust");
        assert_eq!(shown.iter().map(|line| bare(line).into_owned()).collect::<Vec<_>>().join("\n"), code);
        assert!(shown[0].contains("\u{1b}[35mfn") && shown[1].contains("\u{1b}[32m\"a \\\" b\""), "{shown:?}");
        assert!(shown[2].starts_with("\u{1b}[2m    comment */"), "{shown:?}");
        assert_eq!(lines("x = 1", "brainfuck"), ["x = 1"]);
        assert!(lines("+ a", "diff")[0].starts_with("\u{1b}[32m"));
    }
}
