//! Shows a notebook as its cells, with their outputs and images, instead of the JSON that holds them.
//!
//! A call that asks for lines gets the JSON, because edits are made there.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use haft_contract::description::page_style::ContinuationArguments;
use haft_contract::outcome::output::{Content, Image};
use haft_contract::prelude::*;
use haft_contract::text::grouped::GroupedNumber;
use haft_contract::text::plain_text::PlainText;
use serde_json::{Map, Value, json};

use crate::files::picture::picture;

/// Largest notebook that is shown as cells, in bytes.
const LARGEST: u64 = 32 << 20;
/// Most characters of the outputs of one cell.
const LONGEST_OUTPUT: usize = 2_000;
/// Most images, and most bytes of all of them.
const MOST_IMAGES: usize = 8;
const MOST_IMAGE_BYTES: usize = 8 << 20;

/// A notebook, as far as it is shown.
#[derive(Deserialize)]
struct Notebook {
    cells: Vec<NotebookCell>,
    #[serde(default)]
    metadata: Value,
    nbformat: u64,
}

#[derive(Deserialize)]
struct NotebookCell {
    cell_type: String,
    #[serde(default)]
    source: CellText,
    #[serde(default)]
    execution_count: Option<u64>,
    #[serde(default)]
    outputs: Vec<CellOutput>,
}

#[derive(Deserialize)]
struct CellOutput {
    #[serde(default)]
    text: CellText,
    #[serde(default)]
    data: Map<String, Value>,
    #[serde(default)]
    traceback: Vec<String>,
}

/// A text of a cell or of its output, whole or as lines.
#[derive(Default, Deserialize)]
#[serde(untagged)]
enum CellText {
    Whole(String),
    Lines(Vec<String>),
    #[default]
    None,
}

impl CellText {
    fn joined(&self) -> String {
        match self {
            CellText::Whole(text) => text.clone(),
            CellText::Lines(lines) => lines.concat(),
            CellText::None => String::new(),
        }
    }
}

/// Returns whether a file may be a notebook, where nothing says that its JSON is wanted.
pub(super) fn is_named_so(target: &Target, cx: &RunContext<'_>) -> bool {
    let is_own = cx.limits().page_style.arguments == ContinuationArguments::Own;
    is_own && target.place().path().extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ipynb"))
}

/// Returns the cells of a notebook; nothing where the file is none, or too large.
pub(super) async fn cells(target: &Target, cx: &RunContext<'_>) -> Result<Option<ToolOutput>, ToolError> {
    let mut file = cx.open(target).await?;
    let Some(size) = usize::try_from(file.size()).ok().filter(|_| file.size() <= LARGEST) else { return Ok(None) };
    let reading = tokio::task::spawn_blocking(move || {
        let mut bytes = vec![0; size];
        let read = file.read_at(0, &mut bytes)?;
        let notebook = serde_json::from_slice::<Notebook>(&bytes[..read]).ok();
        Ok::<_, ToolError>(notebook.filter(|notebook| notebook.nbformat >= 4))
    });
    let broke = |error| ToolError::of(ErrorKind::Bug, format!("Reading the notebook failed: {error}"));
    let Some(notebook) = reading.await.map_err(broke)?? else { return Ok(None) };
    Ok(Some(NotebookRenderer { cx, text: String::new(), images: Vec::new(), left_out: 0 }.notebook(&notebook)))
}

/// Renders a notebook as text and images.
struct NotebookRenderer<'a> {
    cx: &'a RunContext<'a>,
    text: String,
    images: Vec<Image>,
    /// How many images are not shown.
    left_out: usize,
}

impl NotebookRenderer<'_> {
    fn notebook(mut self, notebook: &Notebook) -> ToolOutput {
        let language = notebook.metadata["kernelspec"]["language"].as_str();
        let language = language.or(notebook.metadata["language_info"]["name"].as_str()).unwrap_or("no language");
        let all = notebook.cells.len();
        self.text =
            format!("[notebook with {} ({language}); its JSON: offset=1]\n", GroupedNumber(all as u64).of("cell"));
        let room = self.cx.limits().result_whole.saturating_sub(200);
        for (index, cell) in notebook.cells.iter().enumerate() {
            let (before, images) = (self.text.len(), self.images.len());
            self.cell(index + 1, cell);
            if self.text.chars().count() > room {
                self.text.truncate(before);
                self.images.truncate(images);
                let rest =
                    if index + 1 == all { format!("cell {all}") } else { format!("cells {} to {all}", index + 1) };
                self.text += &format!("[{rest} did not fit; read the JSON for them, with \"offset\" and \"limit\"]\n");
                break;
            }
        }
        if self.left_out > 0 {
            let images = GroupedNumber(self.left_out as u64).of("image");
            self.text += &format!("[{images} not shown: at most {MOST_IMAGES}, PNG or JPEG, 8 MiB in all]\n");
        }
        let data = json!({ "cells": all, "images": self.images.len() });
        let mut output = ToolOutput::text(self.text).with_data(data);
        output.for_model.extend(self.images.into_iter().map(Content::Image));
        output
    }

    fn cell(&mut self, number: usize, cell: &NotebookCell) {
        let count = cell.execution_count.map(|count| format!(" [{count}]")).unwrap_or_default();
        let kind = haft_contract::files::path::one_line(&cell.cell_type).into_owned();
        self.text += &format!("--- cell {number}: {kind}{count} ---\n");
        self.lines(&cell.source.joined());
        if cell.outputs.is_empty() {
            return;
        }
        self.text += &format!("--- output of cell {number} ---\n");
        let mut printed = String::new();
        for output in &cell.outputs {
            printed += &self.output(output);
        }
        let hidden = self.cx.hide(&printed);
        let shown = match hidden.char_indices().nth(LONGEST_OUTPUT) {
            None => hidden.into_owned(),
            Some((end, _)) => {
                let left_out = GroupedNumber(hidden[end..].chars().count() as u64);
                format!("{}\n[… {left_out} characters of the output left out]", &hidden[..end])
            }
        };
        self.lines(&shown);
    }

    /// Returns what an output says, and takes its image.
    fn output(&mut self, output: &CellOutput) -> String {
        if !output.traceback.is_empty() {
            return plain(&output.traceback.join("\n"));
        }
        let data =
            |kind: &str| output.data.get(kind).map(|value| CellText::deserialize(value).unwrap_or_default().joined());
        let encoded = data("image/png").or_else(|| data("image/jpeg"));
        if let Some(encoded) = encoded {
            let packed: String = encoded.split_whitespace().collect();
            let image = STANDARD.decode(packed).ok().and_then(|bytes| picture(Bytes::from(bytes)));
            let shown: usize = self.images.iter().map(|image| image.bytes.len()).sum();
            let fits = |image: &Image| self.images.len() < MOST_IMAGES && shown + image.bytes.len() <= MOST_IMAGE_BYTES;
            match image.filter(fits) {
                Some(image) => {
                    let Image { media_type, width, height, .. } = &image;
                    let words = format!("[image {}: {media_type}, {width} × {height} pixels]\n", self.images.len() + 1);
                    self.images.push(image);
                    return words;
                }
                None => self.left_out += 1,
            }
        }
        let text = data("text/plain").unwrap_or_else(|| output.text.joined());
        plain(&text)
    }

    fn lines(&mut self, text: &str) {
        self.text += text;
        if !text.is_empty() && !text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}

/// Returns what a terminal would show in the end, which ends with its line.
fn plain(text: &str) -> String {
    let mut plain = PlainText::line_by_line();
    let mut shown = plain.take(text.as_bytes());
    shown += &plain.rest();
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push('\n');
    }
    shown
}
