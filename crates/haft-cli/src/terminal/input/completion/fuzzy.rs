//! Fuzzy search: finds the items that contain all typed letters in their order.

/// Returns the items that fit, the best first. Letters that follow each other, begin a word or stand in the last part of
/// a path count more; of two that fit as well the shorter one comes first.
pub(in crate::terminal) fn ranked<T>(typed: &str, items: Vec<T>, text: impl Fn(&T) -> &str) -> Vec<T> {
    if typed.is_empty() {
        return items;
    }
    let wanted: Vec<char> = typed.chars().filter(|c| !matches!(c, '\'' | '"')).flat_map(char::to_lowercase).collect();
    let scored = items.into_iter().filter_map(|item| {
        let score = score(&wanted, text(&item))?;
        let length = text(&item).len();
        Some((score, length, item))
    });
    let mut scored: Vec<_> = scored.collect();
    scored.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    scored.into_iter().map(|(.., item)| item).collect()
}

/// Returns how well a text fits; nothing where it does not. The letters are found from the end, so that the name of a file
/// counts before its folders.
fn score(wanted: &[char], text: &str) -> Option<i32> {
    let letters: Vec<char> = text.chars().collect();
    let name = letters.iter().rposition(|c| *c == '/').map_or(0, |slash| slash + 1);
    let mut place = letters.len();
    let mut score = 0;
    let mut last = None;
    for c in wanted.iter().rev() {
        place = letters[..place].iter().rposition(|letter| letter.to_lowercase().eq([*c]))?;
        let begins = place == 0 || !letters[place - 1].is_alphanumeric();
        score += 1 + i32::from(place >= name) + 3 * i32::from(last == Some(place + 1)) + 3 * i32::from(begins);
        last = Some(place);
    }
    let is_start = letters[name..].iter().zip(wanted).all(|(letter, c)| letter.to_lowercase().eq([*c]));
    Some(score + if is_start { 10 } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_before_folders_and_whole_words_before_scattered_letters() {
        let best = |typed: &str, texts: &[&str]| {
            let texts = texts.iter().map(|text| (*text).to_owned()).collect();
            ranked(typed, texts, |text: &String| text).first().cloned()
        };
        assert_eq!(best("main", &["main/other.rs", "src/main.rs"]).as_deref(), Some("src/main.rs"));
        assert_eq!(best("un", &["/run", "/undo"]).as_deref(), Some("/undo"));
        assert_eq!(best("clr", &["crates/haft/src/lib.rs", "color.rs"]).as_deref(), Some("color.rs"));
        assert_eq!(best("CARGO", &["a/Cargo.toml", "Cargo.lock"]).as_deref(), Some("Cargo.lock"));
        assert_eq!(best("xyz", &["abc"]), None);
    }
}
