//! Splits the text of a shell into commands and words, as far as names in it can be bound to files.
//!
//! Not here: what a command does (`haft-command`), which this crate does not know.

/// Words in front of a command that are none.
const KEYWORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "time", "exec", "nohup", "sudo",
    "command", "builtin", "eval", "{", "}", "case", "esac", "in", "env",
];

/// A word without its quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShellWord {
    pub(super) text: String,
    /// Whether the shell replaces it by the names of files.
    pub(super) is_pattern: bool,
}

/// One command of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShellCommand {
    /// The assignments in front of it.
    pub(super) assignments: Vec<String>,
    /// Its name and its arguments.
    pub(super) words: Vec<ShellWord>,
    /// The files that it reads from.
    pub(super) inputs: Vec<ShellWord>,
}

impl ShellCommand {
    /// Returns the name of its program without the folder.
    pub(super) fn program(&self) -> &str {
        self.words.first().map_or("", |word| word.text.rsplit('/').next().unwrap_or_default())
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.inputs.is_empty() && self.assignments.is_empty()
    }
}

/// Where the next word goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordRole {
    Argument,
    Input,
    Output,
}

/// Splits a text into its commands.
pub(super) fn commands(text: &str) -> Vec<ShellCommand> {
    let mut splitter =
        Splitter { commands: Vec::new(), command: ShellCommand::default(), word: None, role: WordRole::Argument };
    splitter.read(text);
    splitter.end_command();
    splitter.commands
}

struct Splitter {
    commands: Vec<ShellCommand>,
    command: ShellCommand,
    word: Option<ShellWord>,
    role: WordRole,
}

impl Splitter {
    fn read(&mut self, text: &str) {
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '\'' => self.push_all(letters.by_ref().take_while(|letter| *letter != '\'')),
                '"' => self.read_quoted(&mut letters),
                '\\' => self.push_all(letters.next().into_iter().filter(|letter| *letter != '\n')),
                '#' if self.word.is_none() => while letters.next_if(|letter| *letter != '\n').is_some() {},
                '\n' | ';' | '&' | '|' | '(' | '`' => self.end_command(),
                ')' => {
                    self.end_command();
                    let goes_on = |letter: &char| !letter.is_whitespace() && !";&|()`<>".contains(*letter);
                    if letters.peek().is_some_and(goes_on) {
                        // What follows is the end of a word that the command in the brackets begins.
                        self.command.words.push(ShellWord { text: "$".to_owned(), is_pattern: false });
                    }
                }
                '<' | '>' => {
                    if self.word.as_ref().is_some_and(|word| word.text.chars().all(|c| c.is_ascii_digit())) {
                        self.word = None;
                    }
                    self.end_word();
                    while letters.next_if(|next| matches!(next, '<' | '>' | '&' | '|')).is_some() {}
                    self.role = if letter == '<' { WordRole::Input } else { WordRole::Output };
                }
                letter if letter.is_whitespace() => self.end_word(),
                letter => {
                    let word = self.word.get_or_insert_default();
                    word.is_pattern |= matches!(letter, '*' | '?' | '[');
                    word.text.push(letter);
                }
            }
        }
    }

    fn read_quoted(&mut self, letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
        self.push_all([].into_iter());
        while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
            let letter = if letter == '\\' { letters.next() } else { Some(letter) };
            self.push_all(letter.into_iter());
        }
    }

    fn push_all(&mut self, letters: impl Iterator<Item = char>) {
        self.word.get_or_insert_default().text.extend(letters);
    }

    fn end_word(&mut self) {
        let Some(mut word) = self.word.take() else { return };
        word.is_pattern &= !matches!(word.text.as_str(), "[" | "[[");
        match std::mem::replace(&mut self.role, WordRole::Argument) {
            WordRole::Input => self.command.inputs.push(word),
            WordRole::Output => {}
            WordRole::Argument if !self.command.words.is_empty() => self.command.words.push(word),
            WordRole::Argument if KEYWORDS.contains(&word.text.as_str()) => {}
            WordRole::Argument if is_assignment(&word.text) => self.command.assignments.push(word.text),
            WordRole::Argument => self.command.words.push(word),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.role = WordRole::Argument;
        let command = std::mem::take(&mut self.command);
        if !command.is_empty() {
            self.commands.push(command);
        }
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name.trim_end_matches('+'));
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_into_commands_words_and_inputs() {
        let table: &[(&str, &[&str])] = &[
            ("[ -f skip.flag ] && exit 0", &["[ -f skip.flag ]", "exit 0"]),
            ("if test -f .skip; then exit 0; fi; exit 2", &["test -f .skip", "exit 0", "exit 2"]),
            ("echo no >&2; X=1 sh 'h'.\"s\"h 2>/dev/null <in # end", &["echo no", "sh h.sh < in"]),
            ("cat hooks/*.sh | sh", &["cat hooks/*.sh*", "sh"]),
            ("grep -q 'a.*b' x[12]", &["grep -q a.*b x[12]*"]),
            ("sh $(pwd)/h.sh", &["sh $", "pwd", "$ /h.sh"]),
            ("[ -f \"$PWD/a b\" ]", &["[ -f $PWD/a b ]"]),
        ];
        for (text, expected) in table {
            let word = |word: &ShellWord| format!("{}{}", word.text, if word.is_pattern { "*" } else { "" });
            let line = |command: &ShellCommand| {
                let words: Vec<String> = command.words.iter().map(word).collect();
                let inputs: String = command.inputs.iter().map(|input| format!(" < {}", word(input))).collect();
                format!("{}{inputs}", words.join(" "))
            };
            let lines: Vec<String> = commands(text).iter().map(line).collect();
            let expected: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
            assert_eq!(lines, expected, "{text}");
        }
    }
}
