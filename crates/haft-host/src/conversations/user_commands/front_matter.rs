//! Reads the lines between `---` at the beginning of a Markdown file: keys with texts.
//!
//! They look like YAML, but many files in use are not: `argument-hint: [number] [priority]` is none. So each key has the
//! text of its line, without quotes; a list of several lines counts as one text with commas.

use std::collections::BTreeMap;

/// The keys of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FrontMatter(BTreeMap<String, String>);

impl FrontMatter {
    /// Splits a file into its keys and the text below them.
    pub(super) fn split(text: &str) -> Result<(Self, &str), String> {
        let text = text.trim_start_matches('\u{feff}');
        let Some(rest) = text.strip_prefix("---").filter(|rest| rest.starts_with(['\n', '\r'])) else {
            return Ok((Self::default(), text));
        };
        let mut front = Self::default();
        let mut key = String::new();
        let mut read = 0;
        for line in rest.split_inclusive('\n') {
            read += line.len();
            if line.trim_end() == "---" {
                return Ok((front, &rest[read..]));
            }
            front.note(line.trim_end(), &mut key);
        }
        Err("its frontmatter has no end; add a line `---`".to_owned())
    }

    fn note(&mut self, line: &str, key: &mut String) {
        let text = line.trim();
        let is_inside = line.starts_with([' ', '\t']) || text.starts_with("- ");
        if text.is_empty() || text.starts_with('#') {
            return;
        }
        if is_inside && let Some(value) = self.0.get_mut(key) {
            let (gap, more) = match text.strip_prefix("- ") {
                Some(item) => (", ", item),
                None => (" ", text),
            };
            // The marks of a text of several lines.
            let before = if matches!(value.as_str(), "|" | ">" | "|-" | ">-") { "" } else { value.as_str() };
            *value = if before.is_empty() { unquoted(more) } else { format!("{before}{gap}{}", unquoted(more)) };
            return;
        }
        if let Some((name, value)) = text.split_once(':') {
            key.clear();
            key.push_str(&name.trim().to_lowercase().replace('_', "-"));
            self.0.insert(key.clone(), unquoted(value.trim()));
        }
    }

    /// Returns the text of a key on one line.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.0.get(key).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// Returns the names of the tools that the model may use, without what stands in parentheses behind them.
    pub(super) fn tools(&self) -> Option<Vec<String>> {
        let text = self.text("allowed-tools").or_else(|| self.text("tools"))?;
        let text = text.trim_start_matches('[').trim_end_matches(']');
        let mut names = Vec::new();
        let (mut name, mut depth) = (String::new(), 0_usize);
        for c in text.chars().chain([',']) {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => names.push(unquoted(std::mem::take(&mut name).trim())),
                c if depth == 0 => name.push(c),
                _ => {}
            }
        }
        names.retain(|name| !name.is_empty());
        Some(names)
    }
}

fn unquoted(text: &str) -> String {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_people_write_them() {
        let text = "---\r\ndescription: \"Fixes: it\"\nargument-hint: [a] [b]\n# a comment\nlong: >\n  one\n  two\nallowed_tools:\n  - Bash(git add:*, git diff)\n  - 'Read'\n---\nThe prompt\n---\nwith a line.\n";
        let (front, prompt) = FrontMatter::split(text).expect("it ends");
        assert_eq!(front.text("description").as_deref(), Some("Fixes: it"));
        assert_eq!(front.text("argument-hint").as_deref(), Some("[a] [b]"));
        assert_eq!(front.text("long").as_deref(), Some("one two"));
        assert_eq!(front.tools(), Some(vec!["Bash".to_owned(), "Read".to_owned()]));
        assert_eq!(prompt, "The prompt\n---\nwith a line.\n");
    }

    #[test]
    fn a_file_without_keys_is_its_prompt() {
        for text in ["Just words.", "--- not keys\n---\n", ""] {
            assert_eq!(FrontMatter::split(text), Ok((FrontMatter::default(), text)));
        }
        let (front, _) = FrontMatter::split("---\nallowed-tools: [Read, \"grep\"]\n---\nx").expect("it ends");
        assert_eq!(front.tools(), Some(vec!["Read".to_owned(), "grep".to_owned()]));
        assert_eq!(front.text("model"), None);
    }
}
