//! Refuses text that is not UTF-8, if the profile reads only UTF-8.
//!
//! Not here: detecting the encoding (`haft_contract::text::encoding`), showing a text in other encodings (`shown_page`).

use haft_contract::files::path::one_line;
use haft_contract::limits::{Encodings, Limits};
use haft_contract::outcome::error::FailedOperation;
use haft_contract::prelude::*;
use haft_contract::text::encoding::TextForm;

/// Returns a page, unless it is to be UTF-8 and is not.
pub(crate) fn checked(page: Page, path: &str, limits: &Limits) -> Result<Page, ToolError> {
    check(page.form, path, limits)?;
    if limits.encodings == Encodings::Any || !page.lossy {
        return Ok(page);
    }
    let damaged = (page.first_line..).zip(&page.lines).find(|(_, line)| line.text.contains('\u{fffd}'));
    let line = damaged.map_or(page.first_line, |(number, _)| number);
    Err(refused(path, &format!("line {line} has bytes that belong to no character")))
}

/// Fails where text is to be UTF-8 and has another form.
pub(crate) fn check(form: TextForm, path: &str, limits: &Limits) -> Result<(), ToolError> {
    let is_utf8 = form.name() == TextForm::utf8().name();
    match limits.encodings {
        Encodings::Utf8 if !is_utf8 => Err(refused(path, &format!("it looks like {}", form.name()))),
        Encodings::Utf8 | Encodings::Any => Ok(()),
    }
}

fn refused(path: &str, why: &str) -> ToolError {
    let what = format!("{} is not text in UTF-8: {why}. This profile reads nothing else.", one_line(path));
    let next = "ask the user to convert it to UTF-8, or to set encodings = \"any\" below [limits] in config.toml";
    ToolError::new(ErrorKind::BadEncoding, what, Next::AskUser(next.into())).about_file(path, FailedOperation::Decode)
}
