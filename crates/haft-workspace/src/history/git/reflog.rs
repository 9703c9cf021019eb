//! Removes the entries of a change set from a reflog to which git has added since.

use super::{is_null, is_oid};

/// Returns a reflog without what a change set added, and with what it removed; entries since then stay.
pub(in crate::history) fn taken_out(before: &[u8], after: &[u8], now: &[u8]) -> Vec<u8> {
    let (before, after) = (lines(before), lines(after));
    let mut result = lines(now);
    for added in without(&after, &before) {
        if let Some(place) = result.iter().rposition(|line| *line == added) {
            result.remove(place);
        }
    }
    for removed in without(&before, &after) {
        let place = before.iter().position(|line| *line == removed).unwrap_or_default();
        let above = before[..place].iter().rev().find_map(|line| result.iter().position(|known| known == line));
        if !result.contains(&removed) {
            result.insert(above.map_or(0, |above| above + 1), removed);
        }
    }
    result.concat()
}

/// Returns the entries that one version has and another has not.
pub(in crate::history) fn added<'t>(before: &[u8], after: &'t [u8]) -> Vec<&'t [u8]> {
    without(&lines(after), &lines(before))
}

/// Returns a reflog with those entries only whose objects all exist.
pub(in crate::history) fn sound(log: &[u8], exists: &mut dyn FnMut(&str) -> bool) -> Vec<u8> {
    lines(log).into_iter().filter(|line| oids(line).all(&mut *exists)).collect::<Vec<_>>().concat()
}

/// Returns the objects that an entry names: where the reference was, and where it went.
pub(in crate::history) fn oids(line: &[u8]) -> impl Iterator<Item = &str> {
    let words = line.split(|byte| *byte == b' ').take(2).filter_map(|word| std::str::from_utf8(word).ok());
    words.filter(|oid| is_oid(oid) && !is_null(oid))
}

/// Splits a log into its entries, each with its line end.
pub(in crate::history) fn lines(log: &[u8]) -> Vec<&[u8]> {
    log.split_inclusive(|byte| *byte == b'\n').collect()
}

fn without<'t>(all: &[&'t [u8]], others: &[&[u8]]) -> Vec<&'t [u8]> {
    let shared = all.iter().zip(others).take_while(|(one, other)| one == other).count();
    let mut others = others[shared..].to_vec();
    let mut rest = all[shared..].to_vec();
    rest.retain(|line| match others.iter().position(|other| other == line) {
        Some(place) => {
            others.remove(place);
            false
        }
        None => true,
    });
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_since_stay_and_removed_entries_return_to_their_place() {
        assert_eq!(taken_out(b"1\n", b"1\n2\n", b"1\n2\n3\n"), b"1\n3\n");
        assert_eq!(taken_out(b"", b"1\n", b""), b"");
        assert_eq!(taken_out(b"1\n2\n", b"1\n", b"1\n3\n"), b"1\n2\n3\n");
        assert_eq!(taken_out(b"1\n2\n", b"2\n", b"2\n3\n"), b"1\n2\n3\n");
    }
}
