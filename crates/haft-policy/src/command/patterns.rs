//! Patterns of the shell, as far as they are `*`, `?` and letters.

/// Returns whether a pattern of `*`, `?` and letters fits the whole text.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut in_text, mut star) = (0, 0, None);
    while in_text < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_text));
                at += 1;
            }
            Some(letter) if *letter == '?' || *letter == text[in_text] => {
                at += 1;
                in_text += 1;
            }
            _ => {
                let Some((star_at, taken)) = star else { return false };
                star = Some((star_at, taken + 1));
                at = star_at + 1;
                in_text = taken + 1;
            }
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}
