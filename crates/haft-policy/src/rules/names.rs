//! Names with `*` in them, compared with words that may have gaps.

use super::fit::Fit;

/// How a gap in a word is shown: something that is known only when the command runs.
pub const GAP: char = '…';

/// A name in which `*` stands for any letters, `?` for one, and `[…]` for one of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern {
    text: String,
    tokens: Vec<PatternToken>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternToken {
    Letter(char),
    One,
    OneOf { ranges: Vec<(char, char)>, is_negated: bool },
    Any,
}

/// What a gap in a word is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gaps {
    /// There is none; the sign is a letter like others.
    AreLetters,
    /// Whatever it is, it has to fit.
    MustFit,
    /// It is what fits.
    MayFit,
}

impl NamePattern {
    /// Reads a pattern in which only `*` is special.
    pub fn with_stars(text: &str) -> Self {
        let token = |letter| if letter == '*' { PatternToken::Any } else { PatternToken::Letter(letter) };
        Self { text: text.to_owned(), tokens: text.chars().map(token).collect() }
    }

    /// Reads a pattern as ignore files have them, for one part of a path.
    pub fn of_path_part(text: &str) -> Self {
        let letters: Vec<char> = text.chars().collect();
        let (mut tokens, mut at) = (Vec::new(), 0);
        while let Some(&letter) = letters.get(at) {
            at += 1;
            tokens.push(match letter {
                '*' => PatternToken::Any,
                '?' => PatternToken::One,
                '[' => match class(&letters[at..]) {
                    Some((token, length)) => {
                        at += length;
                        token
                    }
                    None => PatternToken::Letter('['),
                },
                '\\' => {
                    at += 1;
                    PatternToken::Letter(letters.get(at - 1).copied().unwrap_or('\\'))
                }
                letter => PatternToken::Letter(letter),
            });
        }
        Self { text: text.to_owned(), tokens }
    }

    /// Returns the pattern as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether it stands for more than one name.
    pub fn is_open(&self) -> bool {
        self.tokens.iter().any(|token| !matches!(token, PatternToken::Letter(_)))
    }

    /// Returns whether it stands for no name at all.
    pub fn takes_nothing(&self) -> bool {
        let is_empty = |token: &PatternToken| matches!(token, PatternToken::OneOf { ranges, is_negated: false } if ranges.iter().all(|(first, last)| first > last));
        self.tokens.iter().any(is_empty)
    }

    /// Compares it with a word; a gap in the word may be anything.
    pub fn fit(&self, word: &str) -> Fit {
        match () {
            () if self.reads(word, Gaps::MustFit) => Fit::Exactly,
            () if word.contains(GAP) && self.reads(word, Gaps::MayFit) => Fit::Perhaps,
            () => Fit::Not,
        }
    }

    /// Compares it with text that has no gaps, whatever letters are in it.
    pub fn is(&self, text: &str) -> bool {
        self.reads(text, Gaps::AreLetters)
    }

    /// Goes through the word letter by letter and keeps which parts of the pattern may end there.
    fn reads(&self, word: &str, gaps: Gaps) -> bool {
        let count = self.tokens.len();
        let mut reached = vec![false; count + 1];
        reached[0] = true;
        self.pass_stars(&mut reached);
        for letter in word.chars() {
            let is_gap = letter == GAP && gaps != Gaps::AreLetters;
            if is_gap && gaps == Gaps::MayFit {
                // Everything behind the first place that was reached can be reached.
                let first = reached.iter().position(|is_reached| *is_reached).unwrap_or(count + 1);
                reached.iter_mut().skip(first).for_each(|place| *place = true);
                continue;
            }
            let mut next = vec![false; count + 1];
            for (place, token) in self.tokens.iter().enumerate().filter(|(place, _)| reached[*place]) {
                match token {
                    PatternToken::Any => next[place] = true,
                    token if !is_gap && token.takes(letter) => next[place + 1] = true,
                    _ => {}
                }
            }
            self.pass_stars(&mut next);
            if !next.contains(&true) {
                return false;
            }
            reached = next;
        }
        reached[count]
    }

    fn pass_stars(&self, reached: &mut [bool]) {
        for (place, token) in self.tokens.iter().enumerate() {
            if reached[place] && *token == PatternToken::Any {
                reached[place + 1] = true;
            }
        }
    }
}

impl PatternToken {
    fn takes(&self, letter: char) -> bool {
        match self {
            PatternToken::Letter(own) => *own == letter,
            PatternToken::One | PatternToken::Any => true,
            PatternToken::OneOf { ranges, is_negated } => {
                ranges.iter().any(|(first, last)| (*first..=*last).contains(&letter)) != *is_negated
            }
        }
    }
}

/// Reads `abc]`, `a-z]` or `!a]`; returns how many letters it took.
fn class(letters: &[char]) -> Option<(PatternToken, usize)> {
    let is_negated = matches!(letters.first(), Some('!' | '^'));
    let start = usize::from(is_negated);
    // A bracket in the first place is one of the letters.
    let end = start + 1 + letters.get(start + 1..)?.iter().position(|letter| *letter == ']')?;
    let (mut ranges, mut at) = (Vec::new(), start);
    while at < end {
        if at + 2 < end && letters[at + 1] == '-' {
            ranges.push((letters[at], letters[at + 2]));
            at += 3;
        } else {
            ranges.push((letters[at], letters[at]));
            at += 1;
        }
    }
    Some((PatternToken::OneOf { ranges, is_negated }, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_letters_and_nothing_else_is_special() {
        let fit = |pattern: &str, word: &str| NamePattern::with_stars(pattern).fit(word);
        assert_eq!(fit("git", "git"), Fit::Exactly);
        assert_eq!(fit("git", "gitk"), Fit::Not);
        assert_eq!(fit("pip*", "pip3.11"), Fit::Exactly);
        assert_eq!(fit("*.example.com", "a.b.example.com"), Fit::Exactly);
        assert_eq!(fit("*.example.com", "example.com"), Fit::Not);
        assert_eq!(fit("[a]", "a"), Fit::Not);
        assert_eq!(fit("*", ""), Fit::Exactly);
    }

    #[test]
    fn a_gap_in_a_word_may_be_anything() {
        let fit = |pattern: &str, word: &str| NamePattern::with_stars(pattern).fit(word);
        assert_eq!(fit("git", "…"), Fit::Perhaps);
        assert_eq!(fit("git", "g…"), Fit::Perhaps);
        assert_eq!(fit("git", "…t"), Fit::Perhaps);
        assert_eq!(fit("git", "h…"), Fit::Not);
        assert_eq!(fit("git", "git…x"), Fit::Not);
        assert_eq!(fit("*", "…"), Fit::Exactly);
        assert_eq!(fit("a*b", "a…b"), Fit::Exactly);
        assert_eq!(NamePattern::of_path_part("?").fit("…"), Fit::Perhaps);
    }

    #[test]
    fn parts_of_paths_have_classes_and_escapes() {
        let is = |pattern: &str, text: &str| NamePattern::of_path_part(pattern).is(text);
        assert!(is("*.[ch]", "a.c") && is("[!a-c]x", "dx") && is("a?c", "abc") && is(r"\*", "*"));
        assert!(!is("*.[ch]", "a.o") && !is("[!a-c]x", "bx") && !is("a?c", "ac") && !is(r"\*", "a"));
        assert!(is("[]]", "]") && is("[", "[") && is("a[", "a["));
    }
}
