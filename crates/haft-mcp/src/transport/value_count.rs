//! Counts JSON values before parsing.
//!
//! A line is bounded, but a value of two bytes may take about seventy bytes in memory, and more to judge. A line of zeros
//! would take gigabytes and delay all clients. Text takes its own size, so haft counts only the separators of values.

/// Most values of one message.
pub(crate) const MOST_VALUES: usize = 1_000_000;

/// Says whether a message has too many values. It need not be JSON; then the parser says so.
pub(crate) fn is_too_heavy(message: &[u8]) -> bool {
    // Every value but the first has a separator before it.
    if message.len() <= MOST_VALUES {
        return false;
    }
    let mut values = 0;
    let mut in_text = false;
    let mut bytes = message.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_text = !in_text,
            // What follows belongs to it, a quotation mark too.
            b'\\' if in_text => {
                bytes.next();
            }
            b',' | b':' | b'[' | b'{' if !in_text => values += 1,
            _ => {}
        }
    }
    values > MOST_VALUES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_values_are_heavy_and_long_texts_are_not() {
        assert!(is_too_heavy(format!("[{}0]", "0,".repeat(MOST_VALUES)).as_bytes()));
        assert!(is_too_heavy("[".repeat(MOST_VALUES + 1).as_bytes()));
        assert!(!is_too_heavy(format!("[{}0]", "0,".repeat(MOST_VALUES - 2)).as_bytes()));
        let text = "a, b: [c] {d} \\\" ".repeat(MOST_VALUES);
        assert!(!is_too_heavy(format!("{{\"content\":\"{text}\"}}").as_bytes()));
        assert!(!is_too_heavy(b"{}"));
    }
}
