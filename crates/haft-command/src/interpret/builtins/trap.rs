//! `trap`: the text that the shell runs at signals, and when it runs.

use crate::interpret::Interpreter;
use crate::value::ShellValue;

impl Interpreter<'_> {
    pub(crate) fn trap(&mut self, words: &[ShellValue]) {
        let operands: Vec<&ShellValue> =
            words.iter().filter(|word| !matches!(word.known(), Some("--" | "-p" | "-l"))).collect();
        let [action, signals @ ..] = operands.as_slice() else { return };
        if signals.is_empty() || action.is_empty() || action.known() == Some("-") {
            return;
        }
        let signals: Vec<String> = signals.iter().map(|signal| signal.shown().to_uppercase()).collect();
        self.perhaps(|interpreter| interpreter.apart(|interpreter| interpreter.run_text(action, None)));
        let trap = ((*action).clone(), signals);
        if !self.shell.traps.contains(&trap) {
            self.shell.traps.push(trap);
        }
    }

    /// Walks through what may run before any command: it is walked in the shell itself.
    pub(crate) fn interrupted(&mut self) {
        if !self.shell.traps.is_empty() {
            self.run_traps(|signal| !matches!(signal, "EXIT" | "0" | "SIGEXIT"));
        }
    }

    pub(crate) fn run_traps(&mut self, is_due: impl Fn(&str) -> bool) {
        if std::mem::replace(&mut self.control.is_in_trap, true) {
            return;
        }
        for (action, signals) in self.shell.traps.clone() {
            if signals.iter().any(|signal| is_due(signal)) {
                self.perhaps(|interpreter| interpreter.run_text(&action, None));
            }
        }
        self.control.is_in_trap = false;
    }
}
