//! Reads the answer of an interpreter to a snippet, beside the printed output.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use haft_contract::outcome::output::Content;
use haft_contract::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use crate::files::picture::picture;

/// Most images of one snippet, and most bytes of one.
const MOST_IMAGES: usize = 8;
const LARGEST_IMAGE: usize = 3_750_000;
/// Most tables of one snippet, and most bytes of one as JSON.
const MOST_TABLES: usize = 8;
const LARGEST_TABLE: usize = 64 * 1024;

/// The answer of an interpreter to one snippet.
#[derive(Debug, Deserialize)]
pub(super) struct SnippetAnswer {
    call: u64,
    /// 0, or another number where the snippet failed.
    #[serde(default)]
    pub(super) status: i32,
    /// Whether the interpreter had run no snippet before.
    #[serde(default, rename = "first")]
    pub(super) is_first: bool,
    #[serde(default)]
    images: Vec<String>,
    #[serde(default)]
    tables: Vec<Value>,
}

impl SnippetAnswer {
    /// Reads the answer to the snippet of this number; nothing where it is none.
    pub(super) fn read(line: &[u8], number: u64) -> Option<Self> {
        serde_json::from_slice(line).ok().filter(|answer: &SnippetAnswer| answer.call == number)
    }

    /// Adds images and tables to an output.
    pub(super) fn shown(self, mut output: ToolOutput) -> ToolOutput {
        let mut left_out = self.images.len().saturating_sub(MOST_IMAGES);
        for image in self.images.iter().take(MOST_IMAGES) {
            let bytes = STANDARD.decode(image).ok().filter(|bytes| bytes.len() <= LARGEST_IMAGE);
            match bytes.and_then(|bytes| picture(Bytes::from(bytes))) {
                Some(image) => output.for_model.push(Content::Image(image)),
                None => left_out += 1,
            }
        }
        if left_out > 0 {
            let note =
                format!("[{left_out} images are not shown: at most {MOST_IMAGES}, PNG or JPEG, up to 3.75 MB]\n");
            output.for_model.push(Content::Text(note));
        }
        let fits = |table: &Value| table.to_string().len() <= LARGEST_TABLE;
        let tables: Vec<Value> = self.tables.into_iter().filter(fits).take(MOST_TABLES).collect();
        if let (Some(Value::Object(data)), false) = (&mut output.data, tables.is_empty()) {
            data.insert("tables".to_owned(), tables.into());
        }
        output
    }
}
