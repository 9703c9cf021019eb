//! Keeps the beginning and the end of a text that arrives in pieces and may never stop.
//!
//! How much of each is shown is known only at the end, when the size of everything else in the result is
//! known. So it keeps more of the beginning than is usually shown. Memory is bounded.
//!
//! Not here: keeping the whole text (`door::Spilling`).

/// Keeps the first and the last characters of a text, and counts the others.
#[derive(Debug)]
pub struct HeadAndTail {
    head: CountedText,
    tail: CountedText,
    most_head: usize,
    most_tail: usize,
    /// Characters that are neither in the head nor in the tail.
    dropped: u64,
}

/// The beginning and the end of a text whose middle may have been left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TruncatedText {
    /// The beginning; everything when nothing was left out.
    pub head: String,
    /// How many characters were left out.
    pub left_out: u64,
    /// The end.
    pub tail: String,
}

#[derive(Debug, Default)]
struct CountedText {
    text: String,
    characters: usize,
}

impl HeadAndTail {
    /// Keeps at most so many characters of the beginning and of the end.
    pub fn new(most_head: usize, most_tail: usize) -> Self {
        Self { head: CountedText::default(), tail: CountedText::default(), most_head, most_tail, dropped: 0 }
    }

    /// Takes the next piece.
    pub fn push(&mut self, piece: &str) {
        let room = self.most_head - self.head.characters;
        let behind = match room {
            0 => piece,
            room => {
                let (first, behind) = split_at_character(piece, room);
                self.head.push(first);
                behind
            }
        };
        if behind.is_empty() {
            return;
        }
        self.tail.push(behind);
        // Cut only now and then: each cut moves the whole tail.
        if self.tail.characters > 2 * self.most_tail + 1024 {
            self.dropped += self.tail.keep_last(self.most_tail);
        }
    }

    /// Leaves out so many characters that were not looked at, and what the end was so far with them.
    pub fn skip(&mut self, characters: u64) {
        self.dropped += characters + self.tail.keep_last(0);
    }

    /// Returns how many characters there were.
    pub fn characters(&self) -> u64 {
        self.dropped + (self.head.characters + self.tail.characters) as u64
    }

    /// Returns the beginning as far as it is kept: everything, until more came than fits.
    pub fn head(&self) -> &str {
        &self.head.text
    }

    /// Returns the text if it has at most so many characters; else whole lines of its beginning and its end, of at most
    /// `head` and `tail` characters.
    pub fn cut(&self, whole: usize, head: usize, tail: usize) -> TruncatedText {
        if self.dropped == 0 && self.characters() <= whole as u64 {
            return TruncatedText { head: format!("{}{}", self.head.text, self.tail.text), ..TruncatedText::default() };
        }
        let (first, _) = split_at_character(&self.head.text, head);
        // Where nothing was dropped, the end of a short text may lie in the kept beginning.
        let end = match self.tail.characters >= tail || self.dropped > 0 {
            true => self.tail.text.clone(),
            false => format!("{}{}", self.head.text, self.tail.text),
        };
        let first_length = first.chars().count() as u64;
        let most_last = usize::try_from(self.characters() - first_length).unwrap_or(usize::MAX).min(tail);
        let last = last_characters(&end, most_last);
        let (first, last) = (whole_lines_before(first), whole_lines_after(last));
        let shown = (first.chars().count() + last.chars().count()) as u64;
        TruncatedText { head: first.to_owned(), left_out: self.characters() - shown, tail: last.to_owned() }
    }
}

impl CountedText {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.characters += text.chars().count();
    }

    /// Keeps the last characters; returns how many others there were.
    fn keep_last(&mut self, most: usize) -> u64 {
        let dropped = self.characters - most;
        self.text = last_characters(&self.text, most).to_owned();
        self.characters = most;
        dropped as u64
    }
}

fn split_at_character(text: &str, most: usize) -> (&str, &str) {
    // Bytes are never fewer than characters, so most texts need no counting.
    if text.len() <= most {
        return (text, "");
    }
    text.split_at(text.char_indices().nth(most).map_or(text.len(), |(at, _)| at))
}

fn last_characters(text: &str, most: usize) -> &str {
    match most {
        0 => "",
        most => &text[text.char_indices().rev().nth(most - 1).map_or(0, |(at, _)| at)..],
    }
}

/// Returns the text up to its last line end: a cut in the middle of a line would show half of something; unless the
/// line is all there is.
pub fn whole_lines_before(head: &str) -> &str {
    match head.rfind('\n') {
        Some(end) if end > head.len() / 2 => &head[..end],
        _ => head,
    }
}

/// Returns the text behind its first line end, unless that would be little of it.
pub fn whole_lines_after(tail: &str) -> &str {
    match tail.find('\n') {
        Some(end) if end < tail.len() / 2 => &tail[end + 1..],
        _ => tail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(pieces: &[&str], (head, tail): (usize, usize)) -> TruncatedText {
        let mut kept = HeadAndTail::new(40, 20);
        pieces.iter().for_each(|piece| kept.push(piece));
        kept.cut(40, head, tail)
    }

    #[test]
    fn what_fits_is_shown_whole() {
        assert_eq!(
            cut(&["abc", "", "def"], (2, 2)),
            TruncatedText { head: "abcdef".into(), ..TruncatedText::default() }
        );
        assert_eq!(cut(&[&"ä".repeat(40)], (2, 2)).left_out, 0);
    }

    #[test]
    fn of_what_is_too_long_the_beginning_and_the_end_are_shown() {
        let letters = "abcdefghij".repeat(5_000);
        let expected = TruncatedText { head: "abcdefghijabcde".into(), left_out: 49_980, tail: "fghij".into() };
        assert_eq!(cut(&[&letters], (15, 5)), expected);
        let pieces: Vec<&str> =
            letters.as_bytes().chunks(7).filter_map(|piece| std::str::from_utf8(piece).ok()).collect();
        assert_eq!(cut(&pieces, (15, 5)), expected);
    }

    #[test]
    fn the_cut_is_between_lines_where_that_loses_little() {
        let lines: String = (0..100).map(|number| format!("line {number}\n")).collect();
        let cut = cut(&[&lines], (20, 20));
        assert_eq!((cut.head.as_str(), cut.tail.as_str()), ("line 0\nline 1", "line 98\nline 99\n"));
        assert_eq!(cut.left_out, lines.len() as u64 - 13 - 16);
    }

    #[test]
    fn a_text_little_longer_than_the_room_shows_nothing_twice() {
        let text = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrs";
        let cut = cut(&[text], (30, 20));
        assert_eq!(format!("{}{}", cut.head, cut.tail), text);
        assert_eq!(cut.left_out, 0);
    }

    #[test]
    fn what_was_skipped_is_a_gap_before_the_end() {
        let mut kept = HeadAndTail::new(5, 5);
        ["0123456789", "abc"].iter().for_each(|piece| kept.push(piece));
        kept.skip(1000);
        kept.push("end");
        assert_eq!(kept.cut(5, 5, 5), TruncatedText { head: "01234".into(), left_out: 1008, tail: "end".into() });
    }

    #[test]
    fn memory_is_bounded() {
        let mut kept = HeadAndTail::new(100, 100);
        (0..10_000).for_each(|_| kept.push("0123456789"));
        assert_eq!(kept.characters(), 100_000);
        assert!(kept.tail.text.capacity() < 10_000 && kept.head.text.capacity() < 1_000);
    }
}
