//! Here-documents: their text follows the line that names them.
//!
//! haft reads a text with `<<` in two passes: a survey finds the documents, and the parser of the tree takes them from
//! there. The survey reads nothing twice, however deeply documents are nested.

use crate::syntax::reader::{Pass, SyntaxFault, SyntaxResult, TextPosition, TextReader};
use crate::syntax::word::LexerFrame;
use crate::syntax::{Quoting, Word, WordPart};

/// A here-document that was named in this line.
#[derive(Clone, Debug)]
pub(crate) struct PendingDocument {
    operator: usize,
    end_word: String,
    quoting: Quoting,
    tabs: Tabs,
}

/// What happens to tabs at the beginning of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tabs {
    /// They stay (`<<`).
    Kept,
    /// They go (`<<-`).
    Removed,
}

/// The text of a here-document, as it stands in the text.
#[derive(Clone, Debug)]
pub(crate) struct DocumentBody {
    text: String,
    start: usize,
    end: usize,
    quoting: Quoting,
    tabs: Tabs,
}

/// Finds the here-documents of a text and goes back to its beginning.
pub(crate) fn survey<T>(
    reader: &mut TextReader<'_>,
    read: impl FnOnce(&mut TextReader<'_>) -> SyntaxResult<T>,
) -> SyntaxResult<()> {
    if !reader.text.contains("<<") {
        return Ok(());
    }
    reader.pass = Pass::Survey;
    let result = read(reader);
    reader.pass = Pass::Tree;
    reader.at = 0;
    reader.waiting.clear();
    result.map(drop)
}

impl TextReader<'_> {
    /// Reads the word that ends a here-document, and returns the document's text.
    pub(crate) fn here_document(&mut self, operator: usize, tabs: Tabs) -> SyntaxResult<Word> {
        self.skip_blanks();
        let start = self.at;
        let parts = self.parts(&LexerFrame::WORD)?;
        let source = self.slice(start..self.at);
        if source.is_empty() {
            return Err(SyntaxFault("a here-document has no word that ends it"));
        }
        let quoting = if source.contains(['\'', '"', '\\']) { Quoting::Quoted } else { Quoting::Bare };
        let end_word = crate::syntax::word::plain_text(&parts).unwrap_or_else(|| source.to_owned());
        self.waiting.push(PendingDocument { operator, end_word, quoting, tabs });
        match self.bodies.get(&operator).cloned() {
            Some(body) => Ok(self.document_word(&body)),
            None => Ok(Word { parts: Vec::new(), span: self.span(start..self.at) }),
        }
    }

    /// Reads a document. The shell does it when it runs the command: a mistake in it keeps nothing else from running.
    fn document_word(&mut self, body: &DocumentBody) -> Word {
        let span = self.span(body.start..body.end);
        let place = match body.tabs {
            Tabs::Kept => TextPosition::At(span.start),
            Tabs::Removed => TextPosition::Within(span.clone()),
        };
        let read = |reader: &mut TextReader<'_>| {
            survey(reader, |reader| reader.parts(&LexerFrame::DOCUMENT))?;
            reader.parts(&LexerFrame::DOCUMENT)
        };
        let parts = match body.quoting {
            Quoting::Quoted => vec![WordPart::Text(body.text.clone(), Quoting::Quoted)],
            Quoting::Bare => self
                .other(&body.text, place, read)
                .unwrap_or_else(|SyntaxFault(why)| vec![WordPart::Opaque(why.to_owned())]),
        };
        Word { parts, span }
    }

    /// Goes behind the texts of the here-documents that wait for a line end.
    pub(crate) fn skip_here_documents(&mut self) -> SyntaxResult<()> {
        for waiting in std::mem::take(&mut self.waiting) {
            let start = self.at;
            let (text, end) = self.document_text(&waiting);
            self.work(self.at - start)?;
            if self.pass == Pass::Survey {
                let body = DocumentBody { text, start, end, quoting: waiting.quoting, tabs: waiting.tabs };
                self.bodies.insert(waiting.operator, body);
            }
        }
        Ok(())
    }

    /// Returns a document's text and where it ends, and goes behind the word that ends it. Without one it is the rest.
    fn document_text(&mut self, waiting: &PendingDocument) -> (String, usize) {
        let mut text = String::new();
        while self.at < self.end {
            let start = self.at;
            let mut line = String::new();
            loop {
                let rest = self.slice(self.at..self.end);
                let piece = rest.split_inclusive('\n').next().unwrap_or_default();
                self.at += piece.len();
                let piece = if waiting.tabs == Tabs::Removed { piece.trim_start_matches('\t') } else { piece };
                line.push_str(piece);
                let escapes = line.trim_end_matches('\n').chars().rev().take_while(|next| *next == '\\').count();
                if waiting.quoting == Quoting::Quoted || escapes % 2 == 0 || self.at >= self.end {
                    break;
                }
            }
            let joined = if waiting.quoting == Quoting::Bare { line.replace("\\\n", "") } else { line.clone() };
            if joined.trim_end_matches('\n') == waiting.end_word {
                return (text, start);
            }
            text.push_str(&line);
        }
        (text, self.end)
    }
}
