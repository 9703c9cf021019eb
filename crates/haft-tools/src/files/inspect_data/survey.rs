//! Surveys a file: detects its format by its content, and reads as much of it as the time allows.

use haft_contract::doors::door::FileBytes;
use haft_contract::prelude::*;
use haft_contract::text::encoding::{NoText, PieceDecoder, TextForm, Whole};
use haft_contract::text::grouped::GroupedNumber;

use super::archive::ArchiveListing;
use super::documents::{self, MOST_OF_CONFIG, MOST_OF_XML, TextTruncation};
use super::format::{Format, of_content, of_text};
use super::json_scan::{JsonScan, PerLine};
use super::shape::ShapeSummary;
use super::source::{ByteSource, Deadline, FilePart, Gunzip, STEP};
use super::sqlite::{self, Database};
use super::table_scan::TableScan;
use super::text_lines::TextLines;
use super::{tar_list, zip_list};

/// Files up to this size are read from the beginning to the end.
const READ_WHOLE: u64 = 64 << 20;
/// How much is read of the beginning of larger ones.
const BEGINNING: u64 = 16 << 20;
/// How many other parts of larger ones are read, where they have lines.
const PARTS: u64 = 64;
/// How far one part is from the one that was read before it; odd, so that each comes once.
const SPREAD: u64 = 39;

/// What was found in a file.
pub(super) struct Survey {
    pub(super) format: Format,
    pub(super) size: u64,
    /// Whether it was unpacked from gzip.
    pub(super) is_packed: bool,
    pub(super) form: Option<TextForm>,
    pub(super) read: SurveyCoverage,
    pub(super) content: SurveyContent,
    /// What is wrong or else worth knowing.
    pub(super) notes: Vec<String>,
}

/// How much of a file was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SurveyCoverage {
    pub(super) bytes: u64,
    pub(super) is_whole: bool,
    /// How many parts behind the beginning.
    pub(super) parts: u64,
}

/// The content of a surveyed file.
pub(super) enum SurveyContent {
    Values(Box<JsonScan>),
    Document(ShapeSummary, u64),
    Table(Box<TableScan>),
    Lines(TextLines),
    Archive(ArchiveListing),
    Database(Database),
    Nothing,
}

/// Looks into a file of this name.
pub(super) fn look(file: Box<dyn FileBytes>, name: &str, wanted: Option<Format>) -> Result<Survey, ToolError> {
    let mut file = FilePart::whole(file);
    let deadline = Deadline::from_now();
    let head = file.bytes_at(0, haft_contract::text::encoding::LOOKED_AT)?;
    let size = file.size();
    let found = wanted.or_else(|| of_content(&head));
    match found {
        Some(Format::Gzip) => {
            let inner = name.to_lowercase();
            let inner = inner.strip_suffix(".gz").or_else(|| inner.strip_suffix("tgz")).map(str::to_owned);
            look_into_packed(Gunzip::new(file), &inner.unwrap_or_default(), deadline)
        }
        Some(format @ Format::Zip) => of_zip(format, &mut file, deadline),
        Some(format @ Format::Tar) => {
            let listed = tar_list::list(&mut file, deadline)?;
            Ok(Survey::of(format, size, SurveyContent::Archive(listed)))
        }
        Some(format @ Format::Sqlite) => {
            let database = sqlite::read(&mut file, deadline)?;
            Ok(Survey::of(format, size, SurveyContent::Database(database)))
        }
        None if head.is_empty() => Ok(Survey::of(Format::Empty, size, SurveyContent::Nothing)),
        Some(_) | None => TextSurveyor { deadline, head, name }.text(TextSource::Plain(file), wanted),
    }
}

fn of_zip(format: Format, file: &mut FilePart, deadline: Deadline) -> Result<Survey, ToolError> {
    let size = file.size();
    Ok(match zip_list::list(file, deadline)? {
        Some(listed) => Survey::of(format, size, SurveyContent::Archive(listed)),
        None => {
            let note = "it begins like a zip archive, but has no directory at its end: it is cut off or damaged";
            Survey::of(format, size, SurveyContent::Nothing).noting(note)
        }
    })
}

fn look_into_packed(mut packed: Gunzip, name: &str, deadline: Deadline) -> Result<Survey, ToolError> {
    let size = packed.packed_size();
    let mut head = vec![0; haft_contract::text::encoding::LOOKED_AT];
    let read = packed.read(&mut head)?;
    head.truncate(read);
    let mut source = Ahead { head: head.clone(), at: 0, source: packed };
    let mut survey = match of_content(&head) {
        Some(Format::Tar) => {
            let listed = tar_list::list(&mut source, deadline)?;
            let mut survey = Survey::of(Format::Tar, size, SurveyContent::Archive(listed));
            survey.notes.extend(source.problem());
            survey
        }
        _ if head.is_empty() => {
            let mut survey = Survey::of(Format::Gzip, size, SurveyContent::Nothing);
            survey.notes.extend(source.problem());
            survey
        }
        _ => TextSurveyor { deadline, head, name }.text(TextSource::Unpacked(Box::new(source)), None)?,
    };
    (survey.size, survey.is_packed) = (size, true);
    Ok(survey)
}

impl Survey {
    fn of(format: Format, size: u64, content: SurveyContent) -> Self {
        let read = SurveyCoverage { bytes: size, is_whole: true, parts: 0 };
        Self { format, size, is_packed: false, form: None, read, content, notes: Vec::new() }
    }

    fn noting(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

/// Unpacked bytes of which the first ones were looked at.
struct Ahead {
    head: Vec<u8>,
    at: usize,
    source: Gunzip,
}

impl ByteSource for Ahead {
    fn read(&mut self, into: &mut [u8]) -> Result<usize, ToolError> {
        let ahead = &self.head[self.at..];
        let taken = ahead.len().min(into.len());
        into[..taken].copy_from_slice(&ahead[..taken]);
        self.at += taken;
        Ok(taken + self.source.read(&mut into[taken..])?)
    }

    fn skip(&mut self, bytes: u64) -> Result<u64, ToolError> {
        let ahead = (self.head.len() - self.at).min(usize::try_from(bytes).unwrap_or(usize::MAX));
        self.at += ahead;
        Ok(ahead as u64 + self.source.skip(bytes - ahead as u64)?)
    }

    fn problem(&self) -> Option<String> {
        self.source.problem()
    }
}

/// The source of a text: a part of a file as it is, or unpacked.
enum TextSource {
    Plain(FilePart),
    Unpacked(Box<Ahead>),
}

impl TextSource {
    fn source(&mut self) -> &mut dyn ByteSource {
        match self {
            TextSource::Plain(file) => file,
            TextSource::Unpacked(source) => &mut **source,
        }
    }
}

/// Takes text as it comes.
pub(super) trait TextSink {
    /// Takes the next bytes, which are UTF-8 but for what is broken.
    fn take(&mut self, bytes: &[u8]);

    /// Returns whether nothing more is of use.
    fn has_ended(&self) -> bool {
        false
    }
}

/// Surveys a text until a deadline.
struct TextSurveyor<'a> {
    deadline: Deadline,
    head: Vec<u8>,
    name: &'a str,
}

impl TextSurveyor<'_> {
    fn text(self, mut bytes: TextSource, wanted: Option<Format>) -> Result<Survey, ToolError> {
        let size = if let TextSource::Plain(file) = &bytes { file.size() } else { 0 };
        let whole = if self.head.len() < haft_contract::text::encoding::LOOKED_AT { Whole::Yes } else { Whole::No };
        let (form, lossy) = match TextForm::detect(&self.head, whole) {
            Ok(form) => (form, None),
            Err(NoText::Binary) => return Ok(Survey::of(Format::Binary, size, SurveyContent::Nothing)),
            Err(NoText::BadEncoding { at, .. }) => {
                let note = format!("byte {at} fits no encoding; bytes that are not text are shown as U+FFFD");
                (TextForm::utf8(), Some(note))
            }
        };
        let shown = form.show(self.head.strip_prefix(form.mark()).unwrap_or(&self.head), whole).text;
        let (format, mismatch) = wanted.map_or_else(|| of_text(&shown, self.name), |wanted| (wanted, None));
        let mut text = TextFeed { bytes: &mut bytes, form, deadline: self.deadline, read: SurveyCoverage::default() };
        let content = content(format, &mut text, &shown)?;
        let read = text.read;
        let estimate = estimate(&content.0, read, size);
        let mut survey = Survey { form: Some(form), read, ..Survey::of(format, size, content.0) };
        survey.notes.extend(estimate);
        survey.notes.extend(mismatch.into_iter().chain(lossy).chain(content.1).chain(bytes.source().problem()));
        Ok(survey)
    }
}

/// Says how many rows or values a file has in all, by those that were read.
fn estimate(content: &SurveyContent, read: SurveyCoverage, size: u64) -> Option<String> {
    let (count, noun) = match content {
        SurveyContent::Table(scan) => (scan.rows, "row"),
        SurveyContent::Values(scan) if scan.values > 1 => (scan.values, "value"),
        _ => return None,
    };
    if read.is_whole || size <= read.bytes || read.bytes == 0 {
        return None;
    }
    let all = u128::from(count) * u128::from(size) / u128::from(read.bytes);
    // Two digits say how rough it is.
    let rough = 10_u128.pow(all.checked_ilog10().unwrap_or(0).saturating_sub(1));
    let all = GroupedNumber(u64::try_from(all / rough * rough).unwrap_or(u64::MAX)).of(noun);
    Some(format!("about {all} in all, judged by what was read"))
}

/// A text that can be read once.
struct TextFeed<'b> {
    bytes: &'b mut TextSource,
    form: TextForm,
    deadline: Deadline,
    read: SurveyCoverage,
}

/// Reads what is in a text of this format, and says what is wrong with it.
fn content(format: Format, text: &mut TextFeed<'_>, head: &str) -> Result<(SurveyContent, Option<String>), ToolError> {
    let document = |document: documents::DocumentScan| {
        (SurveyContent::Document(document.shape, document.documents), document.problem)
    };
    Ok(match format {
        Format::Json | Format::JsonLines => {
            let per_line = if format == Format::JsonLines { PerLine::Yes } else { PerLine::No };
            let mut scan = JsonScan::new(per_line);
            text.feed(&mut scan)?;
            if per_line == PerLine::Yes {
                text.feed_parts(&mut scan, JsonScan::skip_to_next_line)?;
            }
            if text.read.is_whole {
                scan.end();
            }
            (SurveyContent::Values(Box::new(scan)), None)
        }
        Format::Table(delimiter) => {
            let mut scan = TableScan::new(delimiter);
            text.feed(&mut scan)?;
            text.feed_parts(&mut scan, TableScan::skip_to_next_line)?;
            if text.read.is_whole {
                scan.end()
            } else {
                scan.stop()
            }
            (SurveyContent::Table(Box::new(scan)), None)
        }
        Format::Yaml => {
            let (read, cut) = text.collect(MOST_OF_CONFIG)?;
            document(documents::yaml(&read, cut))
        }
        Format::Toml => {
            let (read, cut) = text.collect(MOST_OF_CONFIG)?;
            document(documents::toml(&read, cut))
        }
        Format::Xml => {
            let (read, cut) = text.collect(MOST_OF_XML)?;
            document(documents::xml(&read, cut))
        }
        _ => {
            let mut lines = TextLines::of(head);
            text.feed(&mut lines)?;
            (SurveyContent::Lines(lines), None)
        }
    })
}

impl TextFeed<'_> {
    /// Reads from the beginning, to the end of a file that is not too large.
    fn feed(&mut self, sink: &mut dyn TextSink) -> Result<(), ToolError> {
        match &self.bytes {
            // The other half of the time is for other parts.
            TextSource::Plain(file) if file.size() > READ_WHOLE => {
                self.feed_up_to((BEGINNING, self.deadline.half()), sink)
            }
            _ => self.feed_up_to((u64::MAX, self.deadline), sink),
        }
    }

    fn feed_up_to(&mut self, (limit, deadline): (u64, Deadline), sink: &mut dyn TextSink) -> Result<(), ToolError> {
        let mut decoder = decoder_of(self.form);
        let mut buffer = vec![0; STEP];
        let mut mark = self.form.mark().len();
        loop {
            let read = self.bytes.source().read(&mut buffer)?;
            self.read.bytes += read as u64;
            let is_end = read < buffer.len();
            let is_last = is_end || self.read.bytes >= limit || deadline.is_over();
            let piece = &buffer[mark.min(read)..read];
            // A value that is cut would be counted as one that is short.
            let piece = if is_last && !is_end { whole_lines(piece) } else { piece };
            mark = 0;
            match &mut decoder {
                None => sink.take(piece),
                Some(decoder) => {
                    let whole = if is_end { Whole::Yes } else { Whole::No };
                    sink.take(decoder.take(piece, whole).text.as_bytes());
                }
            }
            if is_end {
                self.read.is_whole = self.bytes.source().problem().is_none();
                return Ok(());
            }
            if sink.has_ended() || is_last {
                return Ok(());
            }
        }
    }

    /// Reads parts of the rest of a large file, evenly spread; the sink goes on at a line end of each.
    fn feed_parts<S: TextSink>(&mut self, sink: &mut S, skip_to_next_line: fn(&mut S)) -> Result<(), ToolError> {
        let TextSource::Plain(file) = &mut *self.bytes else { return Ok(()) };
        if self.read.is_whole || self.form.has_wide_units() || sink.has_ended() {
            return Ok(());
        }
        let (from, size) = (file.place(), file.size());
        let distance = size.saturating_sub(from) / PARTS;
        if distance <= STEP as u64 {
            return Ok(());
        }
        let mut buffer = vec![0; STEP];
        for step in 0..PARTS {
            if self.deadline.is_over() {
                break;
            }
            // In an order that covers the whole file early, for the case that there is no time for all of them.
            let part = (step * SPREAD) % PARTS + 1;
            file.go_to((from + part * distance).saturating_sub(STEP as u64), STEP as u64);
            let read = file.read(&mut buffer)?;
            let piece = whole_lines(&buffer[..read]);
            skip_to_next_line(sink);
            match &mut decoder_of(self.form) {
                None => sink.take(piece),
                Some(decoder) => sink.take(decoder.take(piece, Whole::No).text.as_bytes()),
            }
            self.read.bytes += read as u64;
            self.read.parts += 1;
        }
        Ok(())
    }

    /// Reads the text up to so many bytes.
    fn collect(&mut self, most: usize) -> Result<(String, TextTruncation), ToolError> {
        struct Collected(Vec<u8>, usize);
        impl TextSink for Collected {
            fn take(&mut self, bytes: &[u8]) {
                self.0.extend_from_slice(bytes);
            }

            fn has_ended(&self) -> bool {
                self.0.len() > self.1
            }
        }
        let mut collected = Collected(Vec::new(), most);
        self.feed_up_to((u64::MAX, self.deadline), &mut collected)?;
        let mut text = String::from_utf8_lossy(&collected.0).into_owned();
        if text.len() > most || !self.read.is_whole {
            text.truncate(text.floor_char_boundary(most));
            self.read = SurveyCoverage { bytes: text.len() as u64, is_whole: false, parts: 0 };
            return Ok((text, TextTruncation::Yes));
        }
        Ok((text, TextTruncation::No))
    }
}

/// Returns a piece up to its last line end; all of it where it has none.
fn whole_lines(piece: &[u8]) -> &[u8] {
    memchr::memrchr(b'\n', piece).map_or(piece, |end| &piece[..=end])
}

/// Returns what decodes this form; UTF-8 is taken as it is.
fn decoder_of(form: TextForm) -> Option<PieceDecoder> {
    (form.name() != "UTF-8").then(|| form.in_pieces())
}
