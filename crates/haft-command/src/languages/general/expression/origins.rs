//! Finds the origin of a name in a program: a module, or a function that the program defines.

use crate::languages::general::expression::TokenizedProgram;
use crate::languages::strings::StringToken;

/// Words before a name that is defined there.
const DEFINING: &[&str] = &["def", "function", "sub", "fn", "func"];
/// Functions that return the module that their first string names.
const IMPORTING: &[&str] = &["require", "__import__", "import_module"];
/// Words with which a program may reach a module under a name that is made when it runs.
const REACHING: &[&str] = &["__import__", "import_module", "getattr", "globals", "eval"];

impl TokenizedProgram {
    /// Learns what the word at a place says about where names come from.
    pub(crate) fn learn_origin(&mut self, at: usize, name: &str) {
        let before = at.checked_sub(1).and_then(|before| self.word(before)).map(str::to_owned);
        match (name, before, self.tokens.get(at + 1)) {
            ("as", Some(module), Some(StringToken::Word(new))) => {
                self.modules.insert(new.clone(), module);
            }
            ("from", Some(new), Some(StringToken::Text(module))) => {
                self.modules.insert(new, module.clone());
            }
            (name, Some(word), _) if DEFINING.contains(&word.as_str()) => {
                self.defined.insert(name.to_owned());
            }
            (name, _, Some(StringToken::Sign('='))) => {
                if let Some(module) = self.imported(at + 2) {
                    self.modules.insert(name.to_owned(), module);
                }
            }
            _ => {}
        }
    }

    /// Returns the module that the call at a place imports: `require("fs")`.
    fn imported(&self, at: usize) -> Option<String> {
        let end = (at..at + 6).find(|at| self.is_sign(*at, '('))?;
        let is_import = self.word(end.checked_sub(1)?).is_some_and(|word| IMPORTING.contains(&word));
        match self.tokens.get(end + 1) {
            Some(StringToken::Text(module)) if is_import => Some(module.clone()),
            _ => None,
        }
    }

    /// Returns what stands before the last part of a name, as the module that it stands for where that is known;
    /// nothing where the name has one part.
    pub(in crate::languages::general) fn module_of<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        let (before, _) = name.rsplit_once('.')?;
        let first = before.split('.').next().unwrap_or_default();
        Some(self.modules.get(first).map_or(before, String::as_str))
    }

    /// Returns whether the program has a function of this name.
    pub(in crate::languages::general) fn defines(&self, name: &str) -> bool {
        self.defined.contains(name)
    }

    /// Returns whether the program may call things by names that it makes when it runs.
    pub(in crate::languages::general) fn reaches_by_name(&self) -> bool {
        self.tokens.iter().any(|token| matches!(token, StringToken::Word(word) if REACHING.contains(&word.as_str())))
    }
}
