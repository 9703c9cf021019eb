//! Computes what a model costs from a price that the user names: haft itself knows no prices.
//!
//! It counts money in whole numbers. Prices are in billionths of the currency for a million tokens, so a token costs a
//! whole number of quadrillionths, and no sum is ever rounded.

use std::fmt;

use haft_model::conversation::Usage;

/// Parts of one of the currency in which a cost is counted.
const PARTS: u128 = 1_000_000_000_000_000;
/// What a price is given in, in those parts.
const PARTS_OF_BILLIONTH: u128 = 1_000_000;

/// The price of a model: billionths of the currency for a million tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    /// Of requests.
    pub input: u64,
    /// Of replies, with what was thought.
    pub output: u64,
    /// Of requests, for what was read from the provider's cache.
    pub cache_read: u64,
    /// Of requests, for what was written to it.
    pub cache_written: u64,
    /// In what it is paid.
    pub currency: String,
}

impl Price {
    /// Returns what so many tokens cost. Those of the cache are part of the request, and cost their own price.
    pub fn of(&self, usage: &Usage) -> Cost {
        let fresh = usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_written);
        let counted = [
            (fresh, self.input),
            (usage.cache_read, self.cache_read),
            (usage.cache_written, self.cache_written),
            (usage.output, self.output),
        ];
        let parts = counted.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price));
        // No provider counts so much; one that makes numbers up must not end us.
        let parts = parts.fold(0_u128, u128::saturating_add);
        Cost { parts, currency: self.currency.clone() }
    }

    /// Returns so many billionths of the currency.
    pub fn amount(&self, billionths: u64) -> Cost {
        Cost { parts: u128::from(billionths) * PARTS_OF_BILLIONTH, currency: self.currency.clone() }
    }
}

/// What something costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// In quadrillionths of the currency.
    parts: u128,
    currency: String,
}

impl Cost {
    /// Returns the exact number, without the currency: `0.03125`.
    pub fn exact(&self) -> String {
        let (whole, rest) = (self.parts / PARTS, self.parts % PARTS);
        let digits = format!("{whole}.{rest:015}");
        digits.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    /// Returns in what it is paid.
    pub fn currency(&self) -> &str {
        &self.currency
    }

    /// Returns whether a limit of the same currency is reached.
    pub fn reaches(&self, limit: &Cost) -> bool {
        self.parts >= limit.parts
    }
}

impl fmt::Display for Cost {
    /// Writes it for people: rounded to what they care about.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = if self.parts >= PARTS { 2 } else { 4 };
        let unit = PARTS / 10_u128.pow(digits);
        match (self.parts, self.parts.saturating_add(unit / 2) / unit) {
            (0, _) => write!(f, "0 {}", self.currency),
            (_, 0) => write!(f, "less than 0.0001 {}", self.currency),
            (_, rounded) => {
                let (whole, rest) = (rounded / 10_u128.pow(digits), rounded % 10_u128.pow(digits));
                write!(f, "{whole}.{rest:0width$} {}", self.currency, width = digits as usize)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price() -> Price {
        // 3, 15, 0.3 and 3.75 for a million tokens.
        Price {
            input: 3_000_000_000,
            output: 15_000_000_000,
            cache_read: 300_000_000,
            cache_written: 3_750_000_000,
            currency: "USD".to_owned(),
        }
    }

    #[test]
    fn what_came_from_the_cache_costs_its_own_price_and_nothing_twice() {
        let usage = Usage { input: 10_000, output: 200, cache_read: 6_000, cache_written: 1_000 };
        // 3,000 × 3 + 6,000 × 0.3 + 1,000 × 3.75 + 200 × 15, for a million.
        assert_eq!(price().of(&usage).exact(), "0.01755");
        let odd = Usage { input: 10, output: 0, cache_read: 20, cache_written: 0 };
        assert_eq!(price().of(&odd).exact(), "0.000006", "a server that counts wrongly makes nothing negative");
    }

    #[test]
    fn many_small_costs_are_exactly_one_large_one() {
        let price = Price { input: 100_000_000, ..price() };
        let one = price.of(&Usage { input: 1, ..Usage::default() });
        assert_eq!(one.exact(), "0.0000001");
        let all: u128 = (0..1_000_000).map(|_| one.parts).sum();
        assert_eq!(all, price.of(&Usage { input: 1_000_000, ..Usage::default() }).parts);
        assert_eq!(price.of(&Usage { input: 1_000_000, ..Usage::default() }), price.amount(100_000_000));
        let most = Usage { input: u64::MAX, output: u64::MAX, cache_read: 0, cache_written: 0 };
        let cost = Price { input: u64::MAX, output: u64::MAX, ..price }.of(&most);
        assert!(cost.exact().len() > 20 && cost.to_string().len() > 20, "nothing overflows: {cost}");
    }

    #[test]
    fn people_read_what_they_care_about() {
        let shown = [0, 1, 49_999, 50_000, 31_250_000, 999_960_000, 1_000_000_000, 12_345_000_000]
            .map(|billionths| price().amount(billionths).to_string());
        let expected = [
            "0 USD",
            "less than 0.0001 USD",
            "less than 0.0001 USD",
            "0.0001 USD",
            "0.0313 USD",
            "1.0000 USD",
            "1.00 USD",
            "12.35 USD",
        ];
        assert_eq!(shown, expected);
    }
}
