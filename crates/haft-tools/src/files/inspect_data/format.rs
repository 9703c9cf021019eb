//! Detects the format of a file. Its content decides; its name helps where the content fits more than one format.

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;

use super::json_scan::{JsonScan, PerLine};
use super::sqlite;
use super::table_scan::delimiter_of;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    JsonLines,
    /// A table with this delimiter.
    Table(u8),
    Yaml,
    Toml,
    Xml,
    Sqlite,
    Zip,
    Tar,
    Gzip,
    Text,
    Binary,
    Empty,
}

/// Formats that a caller may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum FormatArgument {
    Json,
    Jsonl,
    Csv,
    Tsv,
    Yaml,
    Toml,
    Xml,
    Text,
}

impl FormatArgument {
    pub(super) fn format(self) -> Format {
        match self {
            FormatArgument::Json => Format::Json,
            FormatArgument::Jsonl => Format::JsonLines,
            FormatArgument::Csv => Format::Table(b','),
            FormatArgument::Tsv => Format::Table(b'\t'),
            FormatArgument::Yaml => Format::Yaml,
            FormatArgument::Toml => Format::Toml,
            FormatArgument::Xml => Format::Xml,
            FormatArgument::Text => Format::Text,
        }
    }
}

impl Format {
    /// Returns what people call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Format::Json => "JSON",
            Format::JsonLines => "JSON Lines",
            Format::Table(b',') => "CSV",
            Format::Table(b'\t') => "TSV",
            Format::Table(_) => "table",
            Format::Yaml => "YAML",
            Format::Toml => "TOML",
            Format::Xml => "XML",
            Format::Sqlite => "SQLite database",
            Format::Zip => "zip archive",
            Format::Tar => "tar archive",
            Format::Gzip => "gzip",
            Format::Text => "text",
            Format::Binary => "binary data",
            Format::Empty => "empty file",
        }
    }
}

/// Finds a format by the first bytes, where they alone tell it.
pub(super) fn of_content(head: &[u8]) -> Option<Format> {
    match head {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Format::Zip),
        [0x1f, 0x8b, 8, ..] => Some(Format::Gzip),
        head if head.starts_with(sqlite::MAGIC) => Some(Format::Sqlite),
        head if head.get(257..262) == Some(b"ustar") => Some(Format::Tar),
        _ => None,
    }
}

/// Finds the format of a text, and says so where its name says something else.
pub(super) fn of_text(head: &str, name: &str) -> (Format, Option<String>) {
    let extension = Path::new(name).extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let extension = extension.unwrap_or_default();
    let found = of_content_of_text(head);
    let Some(named) = of_extension(&extension, head) else {
        return (found.unwrap_or(Format::Text), None);
    };
    let found = match (named, found) {
        // What begins like JSON or XML and is named otherwise is what it begins like.
        (Format::Table(_) | Format::Toml, Some(found @ (Format::Json | Format::JsonLines | Format::Xml))) => found,
        (Format::Yaml, Some(found @ Format::Xml)) => found,
        (Format::Json | Format::JsonLines, Some(found @ (Format::Xml | Format::Table(_)))) => found,
        (Format::Json, Some(Format::JsonLines)) => Format::JsonLines,
        (Format::JsonLines, Some(Format::Json)) if !is_per_line(head) => Format::Json,
        (Format::Xml, Some(found)) if found != Format::Xml => found,
        (Format::Table(_), None) => named,
        (named, _) => return (named, None),
    };
    let differs = std::mem::discriminant(&found) != std::mem::discriminant(&named);
    let note = format!("it is named .{extension}, but its content is {}", found.name());
    (found, differs.then_some(note))
}

fn of_extension(extension: &str, head: &str) -> Option<Format> {
    Some(match extension {
        "json" | "geojson" | "ipynb" | "webmanifest" | "har" => Format::Json,
        "jsonl" | "ndjson" => Format::JsonLines,
        "csv" => Format::Table(delimiter_of(head).unwrap_or(b',')),
        "tsv" | "tab" => Format::Table(b'\t'),
        "yaml" | "yml" => Format::Yaml,
        "toml" => Format::Toml,
        "xml" | "svg" | "rss" | "atom" | "plist" | "xsd" | "kml" | "gpx" => Format::Xml,
        _ => return None,
    })
}

fn of_content_of_text(head: &str) -> Option<Format> {
    let begin = head.trim_start();
    if begin.starts_with(['{', '[']) {
        let lines = scanned(head, PerLine::Yes);
        if lines.values > 1 && lines.broken_lines == 0 {
            return Some(Format::JsonLines);
        }
        return scanned(head, PerLine::No).problems.is_empty().then_some(Format::Json);
    }
    if begin.starts_with("<?xml") || begin.starts_with('<') && begin.contains('>') {
        return Some(Format::Xml);
    }
    delimiter_of(head).filter(|_| head.lines().count() > 1).map(Format::Table)
}

/// Returns whether the first line is a value of JSON.
fn is_per_line(head: &str) -> bool {
    let line = head.trim_start().lines().next().unwrap_or_default();
    let scan = scanned(line, PerLine::Yes);
    // The end of a very long line is not there.
    scan.broken_lines == 0 && (scan.values == 1 || line.len() + 1 >= head.len())
}

fn scanned(text: &str, per_line: PerLine) -> JsonScan {
    let mut scan = JsonScan::new(per_line);
    scan.take(text.as_bytes());
    scan
}
