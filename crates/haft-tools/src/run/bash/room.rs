//! Divides the room of one result between two streams.

use haft_contract::limits::Limits;
use haft_contract::text::head_and_tail::{HeadAndTail, TruncatedText};

/// Room that the words about a cut need, in characters.
const CUT_WORDS: usize = 320;

/// Splits the room between two streams of these lengths: a short one has what it needs, the other one the rest.
pub(super) fn shares(lengths: (u64, u64), room: usize) -> (usize, usize) {
    let half = room / 2;
    let fits = |length: u64| usize::try_from(length).ok().filter(|length| *length <= half);
    match (fits(lengths.0), fits(lengths.1)) {
        (Some(first), _) => (first.max(room.saturating_sub(usize::try_from(lengths.1).unwrap_or(room))), room - first),
        (None, Some(second)) => (room - second, second),
        (None, None) => (half, room - half),
    }
}

/// Cuts a stream to its share, with the beginning and the end in the proportion of the limits.
pub(super) fn cut(text: &HeadAndTail, share: usize, limits: &Limits) -> TruncatedText {
    let wanted = limits.result_head + limits.result_tail;
    let room = wanted.min(share.saturating_sub(CUT_WORDS));
    let head = (room * limits.result_head).checked_div(wanted).unwrap_or(0);
    text.cut(share, head, room - head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_stream_has_what_it_needs_and_the_other_one_the_rest() {
        assert_eq!(shares((10, 90), 60), (10, 50));
        assert_eq!(shares((90, 10), 60), (50, 10));
        assert_eq!(shares((90, 80), 60), (30, 30));
        let (first, second) = shares((10, 20), 60);
        assert!(first >= 10 && second >= 20 && first <= 60 && second <= 60);
    }

    #[test]
    fn beginning_and_end_have_the_proportion_of_the_limits() {
        let limits = Limits { result_whole: 5_000, result_head: 2_500, result_tail: 1_000, ..Limits::default() };
        let mut text = HeadAndTail::new(5_000, 1_000);
        text.push(&"a".repeat(6_000));
        let wide = cut(&text, 4_900, &limits);
        assert_eq!((wide.head.len(), wide.left_out, wide.tail.len()), (2_500, 2_500, 1_000));
        let narrow = cut(&text, 670, &limits);
        assert_eq!((narrow.head.len(), narrow.tail.len()), (250, 100));
        assert_eq!(cut(&text, 0, &limits).left_out, 6_000);
    }
}
