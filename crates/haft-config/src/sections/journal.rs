//! The section `[journal]`: how much haft keeps for undo, and for how long.

use std::time::Duration;

use haft_workspace::state::JournalLimits;
use serde::Deserialize;

/// The smallest and the largest journal, in bytes: 1 MiB and 1 TiB.
const SIZES: std::ops::RangeInclusive<u64> = (1 << 20)..=(1 << 40);
/// The shortest and the longest age, in hours: an hour and a hundred years.
const AGES: std::ops::RangeInclusive<u64> = 1..=100 * 365 * 24;

/// What is kept for undo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalSection {
    /// How much room the journal of a workspace has.
    pub size: Option<ByteSize>,
    /// From which age on change sets are dropped without a question when room is needed.
    pub age: Option<Age>,
}

impl JournalSection {
    /// Returns the limits that it sets.
    pub fn limits(self) -> JournalLimits {
        let default = JournalLimits::default();
        let room = self.size.map_or(default.room, |ByteSize(bytes)| bytes);
        let age = self.age.map_or(default.age, |Age(age)| age);
        JournalLimits { room, age, ..default }
    }
}

/// A number of bytes, such as "2 GiB".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct ByteSize(u64);

impl TryFrom<String> for ByteSize {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let bytes = |unit: &str| match unit {
            "MiB" => Some(1 << 20),
            "GiB" => Some(1 << 30),
            "TiB" => Some(1 << 40),
            "MB" => Some(1_000_000),
            "GB" => Some(1_000_000_000),
            "TB" => Some(1_000_000_000_000),
            _ => None,
        };
        let size = amount(&text, bytes).filter(|size| SIZES.contains(size));
        size.map(Self).ok_or("must be a size between \"1 MiB\" and \"1 TiB\", such as \"2 GiB\"")
    }
}

/// An age, such as "90 days".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Age(Duration);

impl TryFrom<String> for Age {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let hours = |unit: &str| match unit {
            "hour" | "hours" | "h" => Some(1),
            "day" | "days" | "d" => Some(24),
            "week" | "weeks" | "w" => Some(7 * 24),
            "year" | "years" => Some(365 * 24),
            _ => None,
        };
        let hours = amount(&text, hours).filter(|hours| AGES.contains(hours));
        let age = hours.map(|hours| Self(Duration::from_secs(hours * 3_600)));
        age.ok_or("must be an age between \"1 hour\" and \"100 years\", such as \"90 days\"")
    }
}

/// Reads a whole number with a unit behind it.
fn amount(text: &str, unit: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (count, name) = text.split_at(digits);
    count.parse::<u64>().ok()?.checked_mul(unit(name.trim())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(text: &str) -> Option<u64> {
        ByteSize::try_from(text.to_owned()).ok().map(|ByteSize(bytes)| bytes)
    }

    fn hours(text: &str) -> Option<u64> {
        Age::try_from(text.to_owned()).ok().map(|Age(age)| age.as_secs() / 3_600)
    }

    #[test]
    fn sizes_and_ages_are_numbers_with_a_unit_within_bounds() {
        assert_eq!([size("2 GiB"), size("500MB"), size(" 1 TiB ")], [Some(2 << 30), Some(500_000_000), Some(1 << 40)]);
        for wrong in ["", "2", "GiB", "-1 GiB", "1.5 GiB", "2 gib", "0 GiB", "2 TiB", "99999999999999999999 GiB"] {
            assert_eq!(size(wrong), None, "{wrong}");
        }
        assert_eq!([hours("90 days"), hours("2 weeks"), hours("1h")], [Some(2_160), Some(336), Some(1)]);
        for wrong in ["", "90", "days", "0 days", "200 years", "1 month", "90 days ago"] {
            assert_eq!(hours(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_not_set_stays_as_it_is() {
        let limits = JournalSection { size: Some(ByteSize(5 << 20)), age: None }.limits();
        assert_eq!((limits.room, limits.age), (5 << 20, JournalLimits::default().age));
    }
}
