//! Removes details that differ each time without a difference in meaning: durations, and numbers of changes.

/// Leaves out of a line what differs each time that the same is done.
pub fn without_what_differs_each_time(line: &str) -> String {
    ["haft undo ", "change set "].iter().fold(without_times(line), |line, words| {
        // The same change made again, or made elsewhere, has another number.
        without_after(&line, words, |c| c.is_ascii_digit())
    })
}

/// Puts a mark in the place of what follows some words.
pub fn without_after(line: &str, words: &str, is_part: impl Fn(char) -> bool) -> String {
    let mut left = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(words) {
        let (before, behind) = rest.split_at(at + words.len());
        left.push_str(before);
        let end = behind.find(|c| !is_part(c)).unwrap_or(behind.len());
        if end > 0 {
            left.push('#');
        }
        rest = &behind[end..];
    }
    left + rest
}

/// Leaves out numbers that have a unit of time behind them.
fn without_times(line: &str) -> String {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut left = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let number = &rest[start..];
        let end = number.find(|c| !is_number(c)).unwrap_or(number.len());
        let behind = number[end..].trim_start_matches(' ');
        let unit = behind.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        let is_time = ["ns", "us", "µs", "ms", "s", "sec", "seconds", "m", "min"].contains(&unit);
        left.push_str(&rest[..start]);
        left.push_str(if is_time { "#" } else { &number[..end] });
        rest = &number[end..];
    }
    left + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_do_not_make_another_result() {
        let settled = without_what_differs_each_time;
        assert_eq!(settled("ok, 12 tests in 0.53s; 3 ms"), "ok, 12 tests in #s; # ms");
        assert_eq!(settled("é 1.5 seconds"), "é # seconds");
        assert_ne!(settled("12 failed"), settled("13 failed"));
    }

    #[test]
    fn the_number_of_a_change_does_not_make_another_result() {
        let line = |number: u32| {
            format!("1 file changed, to be taken back with \"haft undo {number}\" (undo: change set {number})")
        };
        let settled = without_what_differs_each_time;
        assert_eq!(settled(&line(7)), settled(&line(18)));
        assert_eq!(settled(&line(7)), line(0).replace('0', "#"));
        assert_eq!(settled("nothing of it"), "nothing of it");
        assert_eq!(settled("say \"haft undo \""), "say \"haft undo \"");
    }
}
