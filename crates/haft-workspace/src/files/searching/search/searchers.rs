//! Searches content as the text that `read_file` shows: UTF-8 as it is, everything else decoded on the way.
//!
//! The beginning of a file tells its encoding. Decoding works in steps, so it needs no memory for the whole file. Nearly all
//! files need no decoding: they are ASCII, or cannot match in any encoding.
//!
//! Not here: what encodings there are (`haft_contract::text::encoding`), reading and what is kept of a match (`file`).

use std::cell::OnceCell;
use std::io::{self, Read};

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Encoding, Searcher, SearcherBuilder};
use haft_contract::files::search::{SearchOutputMode, SearchRequest, Span};
use haft_contract::text::encoding::{LOOKED_AT, NoText, TextForm, Whole};

use super::file::{LONGEST, MatchSink};
use super::possible::possible;

/// The searchers of one thread, for every way in which bytes are text.
pub(super) struct Searchers<'a> {
    request: &'a SearchRequest,
    /// For content that is known to be text.
    plain: Searcher,
    /// For content that comes in steps, and may turn out to be no text.
    careful: Searcher,
    /// For content that is not UTF-8; made for the form that was met last, as neighbours are often alike.
    decoding: Option<(TextForm, Searcher)>,
    /// Fits wherever the pattern may, whatever the encoding.
    possible: OnceCell<Option<RegexMatcher>>,
}

impl<'a> Searchers<'a> {
    pub(super) fn new(request: &'a SearchRequest) -> Self {
        let plain = builder(request, BinaryDetection::none()).build();
        let careful = builder(request, BinaryDetection::quit(0)).build();
        Self { request, plain, careful, decoding: None, possible: OnceCell::new() }
    }

    /// Searches content that is there as a whole.
    pub(super) fn search_whole(&mut self, content: &[u8], taken: &mut MatchSink<'_>) -> io::Result<()> {
        let has_nul = memchr::memchr(0, content).is_some();
        let is_plain = !has_nul && content[..content.len().min(LOOKED_AT)].is_ascii();
        if !is_plain && !has_nul && !has_mark(content) && !self.is_possible_in(content) {
            return Ok(());
        }
        let reading = if is_plain { TextDecoding::AsItIs } else { TextDecoding::of(content, Whole::Yes) };
        match reading {
            TextDecoding::Decoded(form) => self.decoding(form).search_slice(taken.matcher, content, taken),
            TextDecoding::AsItIs if !has_nul => self.plain.search_slice(taken.matcher, content, taken),
            TextDecoding::AsItIs | TextDecoding::NoText => {
                taken.binary = true;
                Ok(())
            }
        }
    }

    /// Searches content that is too large to be kept; its beginning has been read.
    pub(super) fn search_in_steps(
        &mut self,
        start: &[u8],
        rest: impl Read,
        taken: &mut MatchSink<'_>,
    ) -> io::Result<()> {
        let searcher = match TextDecoding::of(start, Whole::No) {
            TextDecoding::AsItIs => &mut self.careful,
            TextDecoding::Decoded(form) => self.decoding(form),
            TextDecoding::NoText => {
                taken.binary = true;
                return Ok(());
            }
        };
        searcher.search_reader(taken.matcher, start.chain(rest), taken)
    }

    /// Tells whether there may be a match, in some encoding.
    fn is_possible_in(&self, content: &[u8]) -> bool {
        let possible = self.possible.get_or_init(|| possible(self.request));
        possible.as_ref().is_none_or(|possible| possible.is_match(content).unwrap_or(true))
    }

    /// Returns the searcher that decodes this form while it reads.
    fn decoding(&mut self, form: TextForm) -> &mut Searcher {
        let decoding = self.decoding.take().filter(|(known, _)| *known == form).unwrap_or_else(|| {
            // Every name of an encoding is a label of it, so there is one.
            let encoding = Encoding::new(form.name()).ok();
            (form, builder(self.request, BinaryDetection::quit(0)).encoding(encoding).build())
        });
        &mut self.decoding.insert(decoding).1
    }
}

/// Tells whether the content begins with a mark of UTF-16.
fn has_mark(content: &[u8]) -> bool {
    content.starts_with(b"\xff\xfe") || content.starts_with(b"\xfe\xff")
}

fn builder(request: &SearchRequest, binary: BinaryDetection) -> SearcherBuilder {
    let mut builder = SearcherBuilder::new();
    let (before, after) =
        if request.wanted == SearchOutputMode::Lines { (request.before, request.after) } else { (0, 0) };
    builder
        .line_number(request.wanted == SearchOutputMode::Lines)
        .before_context(before)
        .after_context(after)
        .heap_limit(Some(LONGEST))
        .binary_detection(binary);
    match request.span {
        Span::Line => builder.line_terminator(LineTerminator::crlf()),
        Span::Lines => builder.multi_line(true),
    };
    builder
}

/// The way in which a content is read as text.
enum TextDecoding {
    /// As UTF-8, perhaps with some bytes that are no text.
    AsItIs,
    /// In another form.
    Decoded(TextForm),
    /// In none that can be read.
    NoText,
}

impl TextDecoding {
    /// Decides from the beginning of the content, as `read_file` does.
    fn of(start: &[u8], whole: Whole) -> Self {
        match TextForm::detect(start, whole) {
            Ok(form) if form.name() == TextForm::utf8().name() => TextDecoding::AsItIs,
            Ok(form) => TextDecoding::Decoded(form),
            Err(NoText::Binary | NoText::BadEncoding { looks_like: Some(_), .. }) => TextDecoding::NoText,
            Err(NoText::BadEncoding { looks_like: None, .. }) => TextDecoding::AsItIs,
        }
    }
}
