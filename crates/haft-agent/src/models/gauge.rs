//! Estimates the tokens of a text, and corrects the estimate by the provider's last count.

use haft_model::conversation::Usage;

/// Bytes of a token, until a provider has counted some: between prose and code.
const BYTES: f64 = 3.5;
/// What no tokenizer leaves: what a provider counts beyond that is not about this text.
const LEAST: f64 = 1.0;
const MOST: f64 = 8.0;

/// Turns bytes into tokens and back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauge {
    bytes_per_token: f64,
}

impl Default for Gauge {
    fn default() -> Self {
        Self { bytes_per_token: BYTES }
    }
}

impl Gauge {
    /// Returns about how many tokens so many bytes are.
    pub(crate) fn tokens(self, bytes: usize) -> u64 {
        (bytes as f64 / self.bytes_per_token).ceil() as u64
    }

    /// Returns about how many bytes so many tokens are.
    pub(crate) fn bytes(self, tokens: u64) -> usize {
        (tokens as f64 * self.bytes_per_token) as usize
    }

    /// Learns from what a request of so many bytes has cost.
    pub(crate) fn learn(&mut self, bytes: usize, usage: &Usage) {
        if usage.input > 0 {
            self.bytes_per_token = (bytes as f64 / usage.input as f64).clamp(LEAST, MOST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_provider_counted_is_believed_within_reason() {
        let mut gauge = Gauge::default();
        assert_eq!((gauge.tokens(3_500), gauge.bytes(1_000)), (1_000, 3_500));
        gauge.learn(4_000, &Usage { input: 1_600, ..Usage::default() });
        assert_eq!((gauge.tokens(2_500), gauge.bytes(1_000)), (1_000, 2_500));
        gauge.learn(4_000, &Usage::default());
        assert_eq!(gauge.tokens(2_500), 1_000, "nothing was counted");
        gauge.learn(4_000, &Usage { input: 1, ..Usage::default() });
        assert_eq!(gauge.tokens(8_000), 1_000);
    }
}
