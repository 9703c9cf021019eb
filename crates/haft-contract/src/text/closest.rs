//! Finds the name that a caller probably meant, for "did you mean" hints.
//!
//! A wrong hint costs a model a turn, so only near names count: the same letters in another spelling, or a few typing
//! slips for the length of the word.
//!
//! Not here: correcting a name. haft reports a near name, and never acts on it.

/// Longest word compared, in characters: hints are for names, and the comparison is quadratic.
const LONGEST_NAME: usize = 64;

/// Returns the candidate nearest to `word`, or nothing when none is near or two are equally near.
#[must_use]
pub fn closest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = short_letters(word)?;
    let mut best: Option<(usize, &'a str)> = None;
    let mut tied = false;
    for candidate in candidates {
        let letters = folded(candidate);
        if letters.len() > LONGEST_NAME {
            continue;
        }
        let Some(distance) = near(&wanted, &letters) else {
            continue;
        };
        match best {
            Some((least, name)) if distance == least => tied |= name != candidate,
            Some((least, _)) if distance > least => {}
            _ => {
                best = Some((distance, candidate));
                tied = false;
            }
        }
    }
    best.filter(|_| !tied).map(|(_, name)| name)
}

/// Returns up to `most` candidates near to `word`, the nearest first.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let Some(wanted) = short_letters(word) else { return Vec::new() };
    let mut ranked: Vec<(usize, &'a str)> = candidates
        .filter(|candidate| candidate.len() <= LONGEST_NAME)
        .filter_map(|candidate| near(&wanted, &folded(candidate)).map(|distance| (distance, candidate)))
        .collect();
    ranked.sort_unstable();
    ranked.into_iter().take(most).map(|(_, name)| name).collect()
}

/// The letters of a word that is short enough to be a name.
fn short_letters(word: &str) -> Option<Vec<char>> {
    // Bytes first: a word may be megabytes long.
    let letters = if word.len() <= 4 * LONGEST_NAME { folded(word) } else { Vec::new() };
    Some(letters).filter(|letters| !letters.is_empty() && letters.len() <= LONGEST_NAME)
}

/// Returns the letters of a name without case, `_`, `-` and blanks: `File-Path` and `file_path` are the same.
pub fn folded(name: &str) -> Vec<char> {
    name.chars().filter(|c| !matches!(c, '_' | '-') && !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// The distance of two names, when it is small for their length.
fn near(wanted: &[char], letters: &[char]) -> Option<usize> {
    let longer = wanted.len().max(letters.len());
    let shorter = wanted.len().min(letters.len());
    let distance = slips(wanted, letters);
    // One slip in three letters, so that "cat" suggests "bat" but "id" never suggests "cwd".
    if distance <= longer / 3 {
        return Some(distance);
    }
    // `timeout` for `timeout_ms`, `path` for `file_path`: one name holds the other almost whole.
    let (long, short) = if wanted.len() == longer { (wanted, letters) } else { (letters, wanted) };
    let held = shorter >= 4 && (long.starts_with(short) || long.ends_with(short));
    held.then_some(distance.max(longer / 3 + 1))
}

/// Counts the typing slips between two words: a letter missing, added, replaced, or two swapped.
fn slips(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; right.len() + 1];
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (i, &a) in left.iter().enumerate() {
        let mut row = vec![i + 1; right.len() + 1];
        for (j, &b) in right.iter().enumerate() {
            let replaced = above[j] + usize::from(a != b);
            let mut least = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a == right[j - 1] && left[i - 1] == b {
                least = least.min(before[j - 1] + 1);
            }
            row[j + 1] = least;
        }
        before = std::mem::replace(&mut above, row);
    }
    above[right.len()]
}

#[cfg(test)]
mod tests {
    use super::closest;

    fn check(word: &str, candidates: &[&str], expected: Option<&str>) {
        assert_eq!(closest(word, candidates.iter().copied()), expected, "{word}");
    }

    #[test]
    fn the_same_letters_in_another_spelling_are_nearest() {
        check("readfile", &["write_file", "read_file", "glob"], Some("read_file"));
        check("Read-File", &["read_file", "read_files"], Some("read_file"));
    }

    #[test]
    fn a_slip_or_a_swap_is_near() {
        check("pth", &["path", "limit"], Some("path"));
        check("grpe", &["grep", "glob"], Some("grep"));
        check("timeout", &["timeout_ms", "cwd"], Some("timeout_ms"));
    }

    #[test]
    fn a_word_that_is_far_from_all_names_has_no_hint() {
        check("filename", &["path", "limit", "offset"], None);
        check("x", &["y", "z"], None);
        check("", &["path"], None);
    }

    #[test]
    fn two_names_equally_near_are_no_hint() {
        check("bat", &["cat", "rat"], None);
    }
}
