//! The system prompt: haft's coding prompt or the program's own, the user's files, and the mode.
//!
//! Not here: which files there are and whether they are trusted. The caller passes them as values.

use haft_contract::text::grouped::GroupedNumber;

/// haft's coding prompt.
const OWN: &str = include_str!("instructions.md");
/// Longest text of one file that is passed on, in bytes.
const LONGEST_WORDS: usize = 32 * 1024;

/// What a model is told before everything else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// How it begins.
    pub base: BasePrompt,
    /// The workspace, as it is shown.
    pub workspace: Option<String>,
    /// What people wrote for agents, the most general first.
    pub words: Vec<Words>,
    /// How the session runs.
    pub manner: Manner,
}

/// How the system prompt begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BasePrompt {
    /// With haft's coding prompt.
    #[default]
    Coding,
    /// With this text instead; it may be empty.
    Own(String),
}

impl BasePrompt {
    fn text(&self) -> &str {
        match self {
            BasePrompt::Coding => OWN.trim_end(),
            BasePrompt::Own(text) => text.trim_end(),
        }
    }
}

/// What people wrote for agents in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The file, as it is shown.
    pub from: String,
    /// What it says.
    pub text: String,
}

/// How a session runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// By the rules, with or without a person to ask.
    #[default]
    Normal,
    /// Nothing is changed.
    Plan,
    /// haft shows what commands change, and discards it.
    Try,
    /// Ordinary questions about what undo can take back are answered with yes.
    YesToUndoable,
    /// Ordinary questions are answered with yes.
    Yolo,
}

impl Manner {
    fn words(self) -> Option<&'static str> {
        match self {
            Manner::Normal => None,
            Manner::Plan => Some(
                "The user wants a plan, not changes. You cannot change files, and haft discards what commands change. Look \
                 around, then say what you would do: which files, what in them, how you would check it.",
            ),
            Manner::Try => {
                Some("haft shows you what a command changes and then discards it, so the next command does not see it.")
            }
            Manner::YesToUndoable => Some(
                "The user has already said yes to changes and commands that can be undone, so do not wait for an answer; \
                 haft refuses hosts that are not allowed, publishing, and dangerous commands.",
            ),
            Manner::Yolo => Some(
                "The user has already said yes to ordinary changes and commands, so do not wait for an answer; haft still \
                 refuses dangerous ones.",
            ),
        }
    }
}

impl Instructions {
    /// Returns all of it as one text.
    pub fn text(&self) -> String {
        let workspace = self.workspace.as_ref().map(|workspace| format!("The workspace is {workspace}."));
        let files = self.words.iter().filter(|words| !words.text.trim().is_empty());
        let files = files.map(|words| format!("# From {}\n\n{}", words.from, bounded(words)));
        let parts = [Some(self.base.text().to_owned()), workspace, self.manner.words().map(str::to_owned)];
        let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
        parts.chain(files).collect::<Vec<_>>().join("\n\n")
    }
}

fn bounded(words: &Words) -> String {
    let text = words.text.trim();
    if text.len() <= LONGEST_WORDS {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(LONGEST_WORDS);
    let left_out = GroupedNumber((text.len() - end) as u64).of("byte");
    format!("{}\n[… {left_out} left out; read {} for the rest …]", &text[..end], words.from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_words_come_first_then_the_mode_then_what_people_wrote() {
        let words = |from: &str, text: &str| Words { from: from.into(), text: text.into() };
        let instructions = Instructions {
            workspace: Some("/home/u/project".into()),
            words: vec![
                words("~/.config/haft/AGENTS.md", "Be brief.\n"),
                words("AGENTS.md", "\n"),
                words("b", "Use tabs."),
            ],
            manner: Manner::Plan,
            ..Instructions::default()
        };
        let text = instructions.text();
        let behind = text.strip_prefix(OWN.trim_end()).unwrap();
        assert!(behind.starts_with("\n\nThe workspace is /home/u/project.\n\nThe user wants a plan"), "{behind}");
        assert!(
            behind.ends_with("\n\n# From ~/.config/haft/AGENTS.md\n\nBe brief.\n\n# From b\n\nUse tabs."),
            "{behind}"
        );
    }

    #[test]
    fn a_prompt_of_the_program_replaces_haft_s_own() {
        let base = BasePrompt::Own("You tell the weather.\n".into());
        assert_eq!(Instructions { base, ..Instructions::default() }.text(), "You tell the weather.");
        let base = BasePrompt::Own(String::new());
        let workspace = Some("/w".to_owned());
        assert_eq!(Instructions { base, workspace, ..Instructions::default() }.text(), "The workspace is /w.");
    }

    #[test]
    fn own_words_are_few() {
        assert!(OWN.lines().count() <= 40 && OWN.len() <= 2_200, "{} bytes", OWN.len());
    }

    #[test]
    fn what_is_too_long_is_cut_and_says_so() {
        let words = Words { from: "AGENTS.md".into(), text: "é".repeat(40_000) };
        let text = Instructions { words: vec![words], ..Instructions::default() }.text();
        assert!(text.ends_with("é\n[… 47,232 bytes left out; read AGENTS.md for the rest …]"));
        assert!(text.len() < LONGEST_WORDS + OWN.len() + 200);
    }
}
