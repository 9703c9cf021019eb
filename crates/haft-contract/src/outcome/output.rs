//! The output of a tool that worked.

use std::fmt;

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use super::error::{Next, ToolError};
use super::kinds::ErrorKind;
use crate::files::change_summary::KindCounts;
use crate::text::grouped::GroupedNumber;

/// One piece of a tool's output for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(String),
    /// An image, for models that see.
    Image(Image),
}

impl Content {
    /// Returns the text of the piece.
    pub fn text(&self) -> Option<&str> {
        match self {
            Content::Text(text) => Some(text),
            Content::Image(_) => None,
        }
    }

    /// Returns how many bytes it holds.
    pub fn size(&self) -> usize {
        match self {
            Content::Text(text) => text.len(),
            Content::Image(image) => image.bytes.len(),
        }
    }
}

/// An image as it lies in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its kind, such as `image/png`: one that models take.
    pub media_type: &'static str,
    /// How many pixels a row has.
    pub width: u32,
    /// How many rows there are.
    pub height: u32,
    /// The bytes of the file.
    pub bytes: Bytes,
}

/// What a tool returns when it worked: words for the model, perhaps others for the person.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// What the model reads.
    pub for_model: Vec<Content>,
    /// What the person sees instead, where that is shorter or clearer.
    pub for_human: Option<String>,
    /// The same as data, for programs.
    pub data: Option<Value>,
    /// Names the whole output, where the tool has kept it itself.
    pub spilled: Option<String>,
    /// A limit that was reduced, where the call asked for more than the profile allows.
    pub limited: Option<ReducedLimit>,
    /// How many files of each kind a command changed.
    pub changes: Option<KindCounts>,
    /// What haft says behind the output of a command, a line each, but for its exit code. It is a part of what the model
    /// reads, and here for dialects, which put the output and the exit code in words of their own.
    pub said: Option<String>,
}

/// A limit of a call that was reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReducedLimit {
    /// What the call asked for.
    pub asked: u64,
    /// What was used.
    pub used: u64,
}

impl ReducedLimit {
    /// Returns what is used of a limit that a call may ask for, and whether that is less.
    pub fn of(asked: Option<usize>, most: usize) -> (usize, Option<Self>) {
        let used = asked.unwrap_or(most).min(most);
        let reduced = |asked: &usize| *asked > used;
        (used, asked.filter(reduced).map(|asked| Self { asked: asked as u64, used: used as u64 }))
    }
}

impl fmt::Display for ReducedLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "limit reduced to {}", GroupedNumber(self.used))
    }
}

impl ToolOutput {
    /// Returns text to the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self { for_model: vec![Content::Text(text.into())], ..Self::default() }
    }

    /// Adds an image behind the text.
    pub fn with_image(mut self, image: Image) -> Self {
        self.for_model.push(Content::Image(image));
        self
    }

    /// Adds the result as data.
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// Adds that a limit was reduced.
    pub fn with_limited(mut self, limited: Option<ReducedLimit>) -> Self {
        self.limited = limited;
        self
    }

    /// Adds other words for the person.
    pub fn with_display(mut self, words: impl Into<String>) -> Self {
        self.for_human = Some(words.into());
        self
    }
}

/// What a `#[haft_contract::tool]` function may return.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "cannot be shown to a model",
    note = "return text, a number, a `bool`, nothing, a `ToolOutput`, or a `Result` of one of these; \
            for any other type that implements `serde::Serialize`, return `haft_contract::output::Json(value)`"
)]
pub trait IntoOutput {
    /// Turns the value into an output, or says why it cannot be shown.
    fn into_output(self) -> Result<ToolOutput, ToolError>;
}

/// Returns any serialisable value to the model as JSON, and as data.
pub struct Json<T>(pub T);

impl<T: Serialize> IntoOutput for Json<T> {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        let data = serde_json::to_value(self.0).map_err(|error| {
            ToolError::new(
                ErrorKind::Bug,
                format!("the tool's result cannot be written as JSON: {error}"),
                Next::DoNotRetry("tell the user that this tool has a defect".into()),
            )
        })?;
        Ok(ToolOutput::text(data.to_string()).with_data(data))
    }
}

/// An error that becomes a [`ToolError`] is the error of the call.
impl<T: IntoOutput, E: Into<ToolError>> IntoOutput for Result<T, E> {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        self.map_err(Into::into)?.into_output()
    }
}

impl IntoOutput for ToolOutput {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

impl IntoOutput for Value {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        Json(self).into_output()
    }
}

impl IntoOutput for String {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(self))
    }
}

impl IntoOutput for &str {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(self))
    }
}

impl IntoOutput for () {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("Done."))
    }
}

macro_rules! plain_values_are_text_and_data {
    ($($kind:ty),*) => {$(
        impl IntoOutput for $kind {
            fn into_output(self) -> Result<ToolOutput, ToolError> {
                Ok(ToolOutput::text(self.to_string()).with_data(Value::from(self)))
            }
        }
    )*};
}

plain_values_are_text_and_data!(bool, i32, i64, u32, u64, usize, f64);
