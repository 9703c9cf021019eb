//! `export`, `declare` and their kin: words like `name=value`.

use crate::act::RawEffect;
use crate::interpret::builtins::assigning::AssignmentMode;
use crate::interpret::run_program::input_words::split_at_blanks;
use crate::interpret::shell::variable::{AssignmentValue, VariableKind};
use crate::interpret::words::arrays::ArrayIndex;
use crate::interpret::{Interpreter, environment};
use crate::syntax::{Quoting, Word, WordPart};
use crate::value::{ShellValue, ValuePiece};

/// Built-ins that declare variables.
pub(crate) const DECLARING: [&str; 5] = ["export", "declare", "typeset", "local", "readonly"];

/// Returns whether these words are a command whose words like `name=value` are assignments, which are not split. bash
/// takes them so only where the built-in is named plainly: `\export A=$x` and `command export A=$x` are split.
pub(crate) fn declares(words: &[Word]) -> bool {
    let name = words.first().map(|word| word.parts.as_slice());
    matches!(name, Some([WordPart::Text(name, Quoting::Bare)]) if DECLARING.contains(&name.as_str()))
}

/// Returns whether a word has the form of an assignment: a name and an equals sign that are not quoted.
pub(crate) fn is_assignment(word: &Word) -> bool {
    let Some(WordPart::Text(text, Quoting::Bare)) = word.parts.first() else { return false };
    let name = text.split_once('=').map(|(name, _)| name.strip_suffix('+').unwrap_or(name));
    let name = name.map(|name| name.split_once('[').filter(|_| name.ends_with(']')).map_or(name, |(name, _)| name));
    name.is_some_and(is_name)
}

/// Returns whether a word of a declaration may be the text of an array: `declare -a x="$y"` expands the text again, and
/// `declare -a x=($y)` does not.
pub(crate) fn has_array_text(words: &[Word]) -> bool {
    let is_literal = |word: &&Word| match word.parts.as_slice() {
        [WordPart::Text(_, Quoting::Bare), WordPart::Text(text, Quoting::Bare), ..] => text == "(",
        [WordPart::Text(text, Quoting::Bare)] => !text.contains('='),
        _ => false,
    };
    !declares(words) || !words.iter().all(|word| is_literal(&word))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// One word of a declaration.
struct Declaration {
    name: String,
    how: AssignmentMode,
    value: Option<ShellValue>,
}

impl Declaration {
    /// Takes a word apart; nothing where its name is not known.
    fn of(word: &ShellValue) -> Option<Self> {
        let name = match word.prefix().split_once('=') {
            Some((name, _)) => name,
            None => word.known()?,
        };
        let value = word.strip_prefix(name).and_then(|rest| rest.strip_prefix("="));
        let (bare, index) = name.trim_end_matches('+').split_once('[').unzip();
        let how = match index {
            Some(index) => AssignmentMode::At(ArrayIndex::of(index.trim_end_matches(']'))),
            None if value.is_some() && name.ends_with('+') => AssignmentMode::Add,
            None => AssignmentMode::Set,
        };
        let bare = bare.unwrap_or_else(|| name.trim_end_matches('+'));
        Some(Self { name: bare.to_owned(), how, value })
    }
}

impl Interpreter<'_> {
    /// Declares variables, or does not, where bash refuses the words.
    pub(crate) fn declare(&mut self, builtin: &str, words: &[ShellValue]) {
        let is_refused = builtin == "local" && !self.shell.is_in_function() || !has_usual_flags(builtin, words);
        match is_refused {
            true => self.perhaps(|interpreter| interpreter.declare_all(builtin, words)),
            false => self.declare_all(builtin, words),
        }
    }

    fn declare_all(&mut self, builtin: &str, words: &[ShellValue]) {
        let has_flag = |letter: char| {
            words.iter().any(|word| word.prefix().strip_prefix('-').is_some_and(|flag| flag.contains(letter)))
        };
        let exports = (builtin == "export" && !has_flag('n')) || has_flag('x');
        let is_local = matches!(builtin, "local" | "declare" | "typeset") && !has_flag('g');
        let refers = has_flag('n') && builtin != "export";
        let declared_kind = kind_of(has_flag);
        let (mut exported, mut is_plain) = (Vec::new(), !has_flag('f'));
        for word in whole_arrays(words).iter().filter(|word| !word.prefix().starts_with(['-', '+'])) {
            let Some(Declaration { name, how, value }) = Declaration::of(word) else {
                self.emit(RawEffect::Unknown("which variable it sets is known only when it runs".to_owned()));
                continue;
            };
            is_plain &= environment::is_plain(&name, value.as_ref());
            let is_hidden = is_local && self.hide(&name, how);
            let before = self.shell.values(&name);
            // An array whose values have numbers stays one.
            let is_associative = has_flag('A') && before.is_none();
            self.declare_kind(&name, VariableKind { is_associative, ..declared_kind });
            if let Some(value) = &value {
                self.look_at_array_text(&name, value, has_flag);
            }
            match (value, refers) {
                (Some(value), true) => self.refer(&name, &value),
                (None, true) => self.refer_to_value(&name),
                // Of two variables of this name it sets the one that is not seen.
                (Some(value), false) if has_flag('g') && self.shell.reveal(&name) => {
                    self.perhaps(|interpreter| interpreter.assign(&name, declared(&value), how));
                }
                (Some(value), false) => self.assign(&name, declared(&value), how),
                // In a function the new one is not set.
                (None, false) if is_hidden && environment::matters(&name) => {
                    self.emit(RawEffect::ShellState(format!(
                        "remove {name} from the environment of the programs that follow"
                    )));
                }
                // `export -n PATH`, `readonly PATH`.
                (None, _) if !exports && !is_local && environment::matters(&name) => {
                    self.emit(RawEffect::ShellState(format!("change how {name} may be used from now on")));
                }
                (None, _) if has_flag('A') && !self.shell.is_array(&name) => {
                    let lists = before.unwrap_or_else(|| vec![Vec::new()]);
                    self.put(&name, AssignmentValue::any_list(lists).into_map());
                }
                (None, _) => {}
            }
            self.keep_readonly(&name, builtin, has_flag);
            if exports && has_flag('f') {
                self.shell.export_function(&name);
            } else if exports {
                self.shell.export(&name);
            }
            exported.push(name);
        }
        if exports && !exported.is_empty() && !is_plain {
            self.emit(RawEffect::ShellState(format!("set {} for the programs that follow", exported.join(", "))));
        }
    }

    fn declare_kind(&mut self, name: &str, declared: VariableKind) {
        if declared != VariableKind::default() {
            self.shell.declare(name, |kind| {
                kind.is_integer |= declared.is_integer;
                kind.is_associative |= declared.is_associative;
                kind.changes_letters |= declared.changes_letters;
            });
        }
    }

    fn keep_readonly(&mut self, name: &str, builtin: &str, has_flag: impl Fn(char) -> bool) {
        if builtin == "readonly" || has_flag('r') {
            self.shell.declare(name, |kind| kind.is_readonly = true);
        }
    }

    /// Looks at the text of an array: bash expands a text in parentheses that comes out of quotes or a variable, and
    /// computes with the indexes in it.
    fn look_at_array_text(&mut self, name: &str, value: &ShellValue, has_flag: impl Fn(char) -> bool) {
        let is_array = has_flag('a') || has_flag('A') || self.shell.is_array(name);
        let begins_array = value.prefix().starts_with('(');
        if begins_array && !self.shell.is_associative(name) {
            keys_in(value).iter().for_each(|key| self.compute(key));
        }
        let may_be_text = begins_array || (is_array && value.prefix().is_empty() && value.known().is_none());
        if !may_be_text || !is_array || !self.spelling.has_array_text {
            return;
        }
        if value.known().is_none() || value.shown().contains(['$', '`']) {
            self.expand_again(value);
            self.emit(RawEffect::Unknown("a part of an array is expanded again".to_owned()));
        }
    }

    /// Makes a variable local to a function, and returns whether one runs.
    fn hide(&mut self, name: &str, how: AssignmentMode) -> bool {
        let is_hidden = self.shell.hide(name);
        if is_hidden && how == AssignmentMode::Set && !self.shell.is_readonly(name) {
            self.shell.restore(name, None);
        }
        is_hidden
    }

    fn refer(&mut self, name: &str, target: &ShellValue) {
        // A variable that programs follow has the value of another one from now on.
        self.look_at_assigned(name, &[ShellValue::unknown()]);
        match target.known() {
            Some(target) => self.shell.refer(name, target.split('[').next().unwrap_or_default()),
            None => self.emit(RawEffect::Unknown(format!("which variable {name} stands for is known only then"))),
        }
    }

    /// `declare -n x`: it stands for what its value names, or for what is assigned next.
    fn refer_to_value(&mut self, name: &str) {
        let names = self.shell.values(name).unwrap_or_else(|| vec![vec![ShellValue::unknown()]]);
        names.iter().flatten().for_each(|target| self.refer_also(name, target));
    }

    /// Lets a name stand for one more variable.
    pub(crate) fn refer_also(&mut self, name: &str, target: &ShellValue) {
        let others = self.shell.referred(name);
        self.refer(name, target);
        self.shell.refer_to_any(name, &others);
    }
}

/// Returns what the flags of a declaration say of its variables, whatever they are so far.
fn kind_of(has_flag: impl Fn(char) -> bool) -> VariableKind {
    let changes_letters = ['l', 'u', 'c'].into_iter().any(&has_flag);
    VariableKind { is_integer: has_flag('i'), changes_letters, ..VariableKind::default() }
}

/// Returns whether a declaration has only flags with which it sets what it names: `declare -p x=ls` sets nothing.
fn has_usual_flags(builtin: &str, words: &[ShellValue]) -> bool {
    let usual = match builtin {
        "export" => "n",
        "readonly" => "aA",
        _ => "aAgilnrtuxcI",
    };
    let mut flags =
        words.iter().map(ShellValue::prefix).take_while(|word| word.starts_with(['-', '+']) && *word != "--");
    flags.all(|flag| flag.len() > 1 && flag[1..].chars().all(|letter| usual.contains(letter)))
}

/// Puts together what is one array: `a=(x`, `y)` where a variable in it was split.
fn whole_arrays(words: &[ShellValue]) -> Vec<ShellValue> {
    let mut whole: Vec<ShellValue> = Vec::new();
    let mut is_open = false;
    for word in words {
        let begins = word.prefix().split_once('=').is_some_and(|(_, value)| value.starts_with('('));
        match whole.last_mut().filter(|_| is_open) {
            Some(open) => {
                open.push(ValuePiece::Text(" ".to_owned()));
                open.append(word);
            }
            None => whole.push(word.clone()),
        }
        is_open = (is_open || begins) && !word.shown().ends_with(')');
    }
    whole
}

/// Returns what `declare` sets: text in parentheses is an array.
fn declared(value: &ShellValue) -> AssignmentValue {
    let shown = value.shown();
    let Some(inner) = value.strip_prefix("(").filter(|_| shown.ends_with(')')) else {
        return AssignmentValue::one(value.clone());
    };
    let mut words = split_at_blanks(&inner);
    if let Some(last) = words.last_mut() {
        *last = without_end(last);
    }
    words.retain(|word| !word.is_empty());
    // Each value of a map has its key, so what has none was in quotes with the one before.
    if words.first().is_some_and(|word| word.prefix().starts_with('[')) {
        words = words.into_iter().fold(Vec::new(), with_keyless);
    }
    // They come out in the order of their numbers.
    if words.iter().all(|word| key_number(word).is_some()) {
        words.sort_by_key(key_number);
    }
    let values: Vec<ShellValue> = words.iter().map(without_key).collect();
    let is_map = values != words;
    let array = AssignmentValue::list(values);
    if is_map { array.into_map() } else { array }
}

fn with_keyless(mut words: Vec<ShellValue>, word: ShellValue) -> Vec<ShellValue> {
    match words.last_mut().filter(|_| !word.prefix().starts_with('[')) {
        Some(before) => {
            before.push(ValuePiece::Text(" ".to_owned()));
            before.append(&word);
        }
        None => words.push(word),
    }
    words
}

fn without_end(value: &ShellValue) -> ShellValue {
    let mut result = ShellValue::default();
    let count = value.pieces().len();
    for (index, piece) in value.pieces().iter().enumerate() {
        match piece {
            ValuePiece::Text(text) if index + 1 == count => {
                result.push(ValuePiece::Text(text.strip_suffix(')').unwrap_or(text).to_owned()));
            }
            piece => result.push(piece.clone()),
        }
    }
    result
}

/// Returns the indexes in `([index]=value …)`.
fn keys_in(value: &ShellValue) -> Vec<ShellValue> {
    let inner = value.strip_prefix("(").unwrap_or_default();
    let words = split_at_blanks(&inner).into_iter().filter(|word| word.prefix().starts_with('['));
    let key = |word: ShellValue| {
        let mut key = ShellValue::default();
        for piece in word.pieces() {
            match piece {
                ValuePiece::Text(text) => {
                    let (before, behind) = text.split_once("]=").map_or((text.as_str(), None), |(a, b)| (a, Some(b)));
                    key.push(ValuePiece::Text(before.trim_start_matches('[').to_owned()));
                    if behind.is_some() {
                        break;
                    }
                }
                piece => key.push(piece.clone()),
            }
        }
        key
    };
    words.map(key).collect()
}

fn key(value: &ShellValue) -> Option<&str> {
    value.prefix().split_once("]=").map(|(key, _)| key).filter(|key| key.starts_with('['))
}

fn key_number(value: &ShellValue) -> Option<i64> {
    key(value)?.strip_prefix('[')?.parse().ok()
}

/// `[key]=value` is the value.
fn without_key(value: &ShellValue) -> ShellValue {
    let behind = key(value).and_then(|key| value.strip_prefix(key)).and_then(|rest| rest.strip_prefix("]="));
    behind.unwrap_or_else(|| value.clone())
}
