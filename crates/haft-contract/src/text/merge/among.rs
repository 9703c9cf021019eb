//! Merges two versions of a text when several bases are possible.

use super::{NotMerged, merge};

/// Returns their version with our changes. Ours was made from one of the bases, and it is not known from which.
///
/// Where ours begins with theirs, it was made from theirs. Where both only add lines at the end of a base, both additions
/// are kept. Otherwise the changes are merged, and only if every base that fits leads to the same text.
///
/// # Errors
///
/// Fails where the changes overlap, or where two bases lead to different texts.
pub fn merge_among(bases: &[&[u8]], ours: &[u8], theirs: &[u8]) -> Result<Vec<u8>, NotMerged> {
    if !theirs.is_empty() && ours.starts_with(theirs) {
        return Ok(ours.to_vec());
    }
    let is_added_to = |base: &&&[u8]| {
        let is_whole = base.is_empty() || base.ends_with(b"\n");
        is_whole && ours.starts_with(base) && theirs.starts_with(base)
    };
    let is_text = |text: &[u8]| memchr::memchr(0, text).is_none() && text.ends_with(b"\n");
    if let Some(base) = bases.iter().filter(is_added_to).max_by_key(|base| base.len())
        && is_text(theirs)
        && is_text(ours)
    {
        return Ok([theirs, &ours[base.len()..]].concat());
    }
    let mut merged = None;
    let mut failure = NotMerged::Touching;
    for base in bases {
        match merge(base, ours, theirs) {
            Ok(text) if merged.as_ref().is_none_or(|known| *known == text) => merged = Some(text),
            Ok(_) => return Err(NotMerged::Touching),
            Err(error) => failure = error,
        }
    }
    merged.ok_or(failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bases: &[&str], (ours, theirs): (&str, &str), expected: Option<&str>) {
        let bases: Vec<&[u8]> = bases.iter().map(|base| base.as_bytes()).collect();
        let merged = merge_among(&bases, ours.as_bytes(), theirs.as_bytes());
        let merged = merged.ok().map(|text| String::from_utf8(text).expect("it is text"));
        assert_eq!(merged.as_deref(), expected, "{bases:?} {ours:?} {theirs:?}");
    }

    #[test]
    fn additions_at_the_end_are_all_kept_whatever_they_were_added_to() {
        check(&["a\n"], ("a\nours\n", "a\ntheirs\n"), Some("a\ntheirs\nours\n"));
        check(&[""], ("ours\n", "theirs\n"), Some("theirs\nours\n"));
        check(&["a\n", "a\n1\n"], ("a\n1\nours\n", "a\n1\n2\n"), Some("a\n1\n2\nours\n"));
        check(&["a\n", "a\n1\n"], ("a\n1\nours\n", "a\n1\n"), Some("a\n1\nours\n"));
        // A line without an end would be continued by the other's.
        check(&["a"], ("a1\n", "a2\n"), None);
        check(&["a\n"], ("a\nours\n", "a\ntheirs"), None);
    }

    #[test]
    fn changes_in_different_lines_are_kept_and_others_are_a_conflict() {
        let base = "1\n2\n3\n4\n5\n6\n";
        check(&[base], ("1\n2\n3\n4\n5\nsix\n", "one\n2\n3\n4\n5\n6\n"), Some("one\n2\n3\n4\n5\nsix\n"));
        check(&[base], ("one\n2\n3\n4\n5\n6\n", "eins\n2\n3\n4\n5\n6\n"), None);
        check(&[], ("a\n", "b\n"), None);
    }

    #[test]
    fn two_bases_that_lead_to_different_texts_are_a_conflict() {
        // Either the command removed the line again that the other added, or it never saw it.
        check(&["1\n2\n3\n", "1\n2\n3\nx\n"], ("1\n2\n3\n", "0\n1\n2\n3\nx\n"), None);
        check(&["1\n2\n3\n", "one\n2\n3\n"], ("one\n2\n3\nthree\n", "one\ntwo\n3\n"), Some("one\ntwo\n3\nthree\n"));
    }
}
