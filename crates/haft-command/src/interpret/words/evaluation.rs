//! Text that bash reads again: as a name, with an index or without, or as arithmetic.
//!
//! Quotes do not protect the text in `printf -v 'a[$(x)]'`, `test -v`, `let`, `$((y))` with `y='a[$(x)]'` and their kin:
//! bash expands the index once more and runs the command in it. Ordinary values have no such text, so haft treats it as a
//! command wherever it finds it.

use crate::act::RawEffect;
use crate::interpret::Interpreter;
use crate::interpret::control::changed_in;
use crate::syntax::ParameterExpansion;
use crate::value::{ShellValue, ValuePiece};

/// Built-ins that take names or numbers, which are read again.
const EVALUATING: &[&str] = &[
    "let",
    "read",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "unset",
    "mapfile",
    "readarray",
    "getopts",
    "wait",
    "shift",
    "exit",
    "return",
    "break",
    "continue",
    "test",
    "[",
    "printf",
    "ulimit",
    "umask",
    "set",
];

/// Ends a text that is read as a document.
const END: &str = "_haft_end";

impl Interpreter<'_> {
    /// Runs what stands in names and numbers that a built-in takes.
    pub(crate) fn evaluate_operands(&mut self, builtin: &str, operands: &[ShellValue]) {
        self.compute_operands(builtin, operands);
        if !EVALUATING.contains(&builtin) {
            return;
        }
        for operand in operands {
            self.evaluate(operand);
            let index = operand.known().and_then(|text| text.split_once('[')).map(|(_, index)| ShellValue::text(index));
            index.iter().for_each(|index| self.evaluate_assignments(index));
        }
    }

    /// Runs the substitutions in the index of something like `a[$(x)]`.
    pub(crate) fn evaluate(&mut self, value: &ShellValue) {
        let text = value.shown();
        let has_index = text.split_once('[').is_some_and(|(_, index)| index.contains("$(") || index.contains('`'));
        if has_index {
            self.expand_again(value);
        }
    }

    /// Tells the variables that a value assigns where arithmetic takes it for an expression: `x='PATH=1'; ((x))`.
    pub(crate) fn evaluate_assignments(&mut self, value: &ShellValue) {
        let has_text = !value.has_unknown() && !value.may_be_several();
        let Some(text) = has_text.then(|| value.shown().replace('…', "1")) else { return };
        let text = text.as_str();
        let is_of_expression =
            |letter: char| letter.is_ascii_alphanumeric() || "_ +-*/%=()[]<>&|^!~?:,".contains(letter);
        // A path is no expression.
        if !text.contains('=') || text.contains("=/") || !text.chars().all(is_of_expression) {
            return;
        }
        for name in changed_in(text) {
            let behind = text.split_once(&format!("{name}=")).map_or("", |(_, behind)| behind);
            let is_name = behind.starts_with(|first: char| first.is_ascii_alphabetic());
            self.look_at_assigned(&name, &[if is_name { ShellValue::text(behind) } else { ShellValue::number() }]);
        }
    }

    /// Runs the substitutions in a text that is expanded once more: as a document, in which quotes are letters.
    pub(crate) fn expand_again(&mut self, value: &ShellValue) {
        let mut script = ShellValue::text(format!(": <<{END}\n"));
        script.append(value);
        script.push(ValuePiece::Text(format!("\n{END}\n")));
        self.perhaps(|interpreter| interpreter.apart(|interpreter| interpreter.run_text(&script, None)));
    }

    /// Returns what `${x@P}` becomes, which runs what stands in the value.
    pub(crate) fn prompt(&mut self, values: Option<Vec<Vec<ShellValue>>>) -> Vec<Vec<ShellValue>> {
        let values = values.unwrap_or_else(|| self.unset());
        values.iter().flatten().for_each(|value| self.expand_again(value));
        vec![vec![ShellValue::unknown()]]
    }

    /// Returns the values of the variables that some values name.
    pub(crate) fn indirect(&mut self, names: Option<Vec<Vec<ShellValue>>>) -> Vec<Vec<ShellValue>> {
        let names: Vec<ShellValue> =
            names.unwrap_or_else(|| self.unset()).iter().filter_map(|list| list.first().cloned()).collect();
        let mut all = Vec::new();
        for name in names {
            match name.known() {
                Some("") => all.push(vec![ShellValue::default()]),
                Some(name) if is_name(name) => {
                    let parameter = ParameterExpansion::plain(name);
                    all.extend(self.parameter(&parameter));
                }
                _ => {
                    self.emit(RawEffect::Unknown("which variable is meant is known only when it runs".to_owned()));
                    all.push(vec![ShellValue::unknown()]);
                }
            }
        }
        all
    }
}

/// Returns whether it is the name of a variable or the number of a parameter, without an index.
fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') || matches!(text, "@" | "*")
}
