//! The prices of models from `config.toml`; haft has no prices built in.
//!
//! Each price belongs to the name of one model, so haft never uses it for another model. haft keeps amounts as whole
//! billionths, so decimal digits stay exact.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

/// Digits behind the point that are kept.
const DIGITS: usize = 9;
const ONE: u64 = 1_000_000_000;
/// The largest amount, in whole ones.
const MOST: u64 = 1_000_000_000;
/// The longest name of a currency, in characters.
const LONGEST_CURRENCY: usize = 20;

/// The prices of models, by the names that they have at their providers.
pub type Prices = BTreeMap<String, PriceSection>;

/// What a model costs, for a million tokens: `[prices."NAME"]` in `config.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceSection {
    /// Of requests.
    pub input: Amount,
    /// Of replies, with what was thought.
    pub output: Amount,
    /// Of requests, for what was read from the provider's cache; as `input` if left out.
    pub cache_read: Option<Amount>,
    /// Of requests, for what was written to it; as `input` if left out.
    pub cache_written: Option<Amount>,
    /// In what it is paid; USD if left out.
    #[serde(default)]
    pub currency: Currency,
}

/// An amount of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount {
    /// In billionths of the currency.
    pub billionths: u64,
}

impl FromStr for Amount {
    type Err = BadAmount;

    fn from_str(text: &str) -> Result<Self, BadAmount> {
        let (whole, rest) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        if !is_number(whole) || !is_number(rest) {
            return Err(BadAmount::NoAmount(text.to_owned()));
        }
        let rest = rest.trim_end_matches('0');
        if rest.len() > DIGITS {
            return Err(BadAmount::TooFine);
        }
        let rest: u64 = format!("{rest:0<DIGITS$}").parse().map_err(|_| BadAmount::TooFine)?;
        let whole: u64 = whole.parse().map_err(|_| BadAmount::TooMuch)?;
        if whole > MOST || (whole == MOST && rest > 0) {
            return Err(BadAmount::TooMuch);
        }
        Ok(Self { billionths: whole * ONE + rest })
    }
}

/// Why a text is no amount of money.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAmount {
    /// It is no number, or less than nothing.
    #[error("{0:?} is not an amount; use a number such as 3 or 0.25")]
    NoAmount(String),
    /// It has more digits than are counted.
    #[error("an amount has at most {DIGITS} digits after the point")]
    TooFine,
    /// It is higher than any real price.
    #[error("an amount is at most {MOST}")]
    TooMuch,
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

/// Reads a number by its digits. The shortest digits that stand for a floating number are those that were written.
struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Amount;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number such as 3 or 0.25")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Amount, E> {
        number.to_string().parse().map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Amount, E> {
        number.to_string().parse().map_err(E::custom)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Amount, E> {
        number.to_string().parse().map_err(E::custom)
    }
}

/// The name of a currency, as the user likes to read it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Currency(pub String);

impl Default for Currency {
    fn default() -> Self {
        Self("USD".to_owned())
    }
}

impl TryFrom<String> for Currency {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let name = name.trim();
        let is_name =
            !name.is_empty() && name.chars().count() <= LONGEST_CURRENCY && !name.chars().any(char::is_control);
        is_name
            .then(|| Self(name.to_owned()))
            .ok_or_else(|| format!("must be a name of 1 to {LONGEST_CURRENCY} characters"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{check_config, parse};

    fn told(price: &str) -> String {
        let (line, problem, fix) = check_config(&format!("[prices.\"m\"]\n{price}\n")).expect_err("there is a mistake");
        format!("{line}: {problem}; {fix}")
    }

    #[test]
    fn amounts_are_what_was_written_digit_by_digit() {
        let cases = [
            ("3", 3_000_000_000),
            ("0.1", 100_000_000),
            ("0.075", 75_000_000),
            ("0.000000001", 1),
            ("15.00", 15_000_000_000),
            ("0", 0),
            ("1000000000", 1_000_000_000_000_000_000),
        ];
        for (written, billionths) in cases {
            assert_eq!(written.parse(), Ok(Amount { billionths }), "{written}");
            let file = parse(&format!("[prices.m]\ninput = {written}\noutput = 0\n")).expect("it is in order");
            assert_eq!(file.prices["m"].input, Amount { billionths }, "{written} in the file");
        }
        for wrong in ["", "-1", "+1", "1e3", "1,5", ".5", "1.", "1.2.3", "x", "0x1", "NaN"] {
            assert_eq!(wrong.parse::<Amount>(), Err(BadAmount::NoAmount(wrong.to_owned())), "{wrong:?}");
        }
        assert_eq!("0.0000000001".parse::<Amount>(), Err(BadAmount::TooFine));
        assert_eq!("1000000000.1".parse::<Amount>(), Err(BadAmount::TooMuch));
        assert_eq!("99999999999999999999999".parse::<Amount>(), Err(BadAmount::TooMuch));
    }

    #[test]
    fn mistakes_in_a_price_have_their_line() {
        assert_eq!(
            told("input = -3\noutput = 1"),
            "2: \"-3\" is not an amount; use a number such as 3 or 0.25; fix or remove this line"
        );
        assert_eq!(
            told("input = \"3\"\noutput = 1"),
            "2: this value has the wrong type: string \"3\"; use a number such as 3 or 0.25"
        );
        assert!(told("input = nan\noutput = 1").starts_with("2: \"NaN\" is not an amount"));
        assert!(told("input = 1e30\noutput = 1").starts_with("2: an amount is at most"));
        assert!(told("input = 3").contains("`output` is missing"));
        assert_eq!(told("inptu = 3\noutput = 1"), "2: unknown field `inptu`; did you mean `input`?");
        let currency = |name: &str| told(&format!("input = 1\noutput = 1\ncurrency = {name:?}"));
        for name in [" ", "a\tb", "a currency with a long name"] {
            assert!(currency(name).starts_with("4: must be a name of 1 to 20 characters"), "{}", currency(name));
        }
    }

    #[test]
    fn a_price_belongs_to_a_model_and_is_in_dollars_if_nobody_says_otherwise() {
        let text = "[prices.\"claude-opus-5\"]\ninput = 5\noutput = 25\ncache_read = 0.5\n[prices.local]\ninput = 0\noutput = 0\ncurrency = \"€\"\n";
        let prices = parse(text).expect("it is in order").prices;
        let price = &prices["claude-opus-5"];
        assert_eq!((price.currency.0.as_str(), price.cache_written), ("USD", None));
        assert_eq!(price.cache_read, Some(Amount { billionths: 500_000_000 }));
        assert_eq!(prices["local"].currency.0, "€");
    }

    #[test]
    fn what_the_guide_shows_is_in_order() {
        let guide = include_str!("../../../../docs/guide/run.md");
        let blocks: Vec<&str> = guide.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(blocks.len() >= 3, "{blocks:?}");
        for block in blocks {
            assert_eq!(check_config(block), Ok(()), "{block}");
        }
    }
}
