//! Formats numbers as people read them: in groups of thousands.

use std::fmt;

/// A number that is shown with a comma between its thousands: `12,034`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupedNumber(pub u64);

impl fmt::Display for GroupedNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

impl GroupedNumber {
    /// Returns the number with its noun: `1 match`, `12,000 matches`, `2 processes`.
    pub fn of(self, noun: &str) -> String {
        let ending = match (self.0, noun.ends_with("ch") || noun.ends_with('s')) {
            (1, _) => "",
            (_, true) => "es",
            (_, false) => "s",
        };
        format!("{self} {noun}{ending}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_apart() {
        let shown = [0, 999, 1_000, 12_034, u64::MAX].map(|number| GroupedNumber(number).to_string());
        assert_eq!(shown, ["0", "999", "1,000", "12,034", "18,446,744,073,709,551,615"]);
    }

    #[test]
    fn a_noun_follows_its_number() {
        let counted =
            [(1, "match"), (0, "match"), (1_234_567, "file")].map(|(count, noun)| GroupedNumber(count).of(noun));
        assert_eq!(counted, ["1 match", "0 matches", "1,234,567 files"]);
    }
}
