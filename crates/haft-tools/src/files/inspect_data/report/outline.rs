//! Writes the shape of nested values as an indented outline.

use haft_contract::text::grouped::GroupedNumber;

use super::super::json_scan::JsonScan;
use super::super::shape::{Numbers, PlaceId, ShapePlace, ShapeSummary, Texts};
use super::Writer;

impl Writer<'_> {
    pub(super) fn values(&self, scan: &JsonScan) -> String {
        let mut body = String::new();
        if scan.values != 1 {
            body += &format!("{}\n", GroupedNumber(scan.values).of("value"));
        }
        if scan.broken_lines > 0 {
            body += &format!("[{} not JSON; haft counts what is before the error]\n", lines_are(scan.broken_lines));
        }
        body.extend(scan.problems.iter().map(|problem| format!("[{}]\n", (self.hide)(problem))));
        body + &self.outline(&scan.shape)
    }

    pub(super) fn document(&self, shape: &ShapeSummary, documents: u64) -> String {
        let head = match documents {
            0 | 1 => String::new(),
            many => format!("{}\n", GroupedNumber(many).of("document")),
        };
        head + &self.outline(shape)
    }

    fn outline(&self, shape: &ShapeSummary) -> String {
        let top = shape.place(ShapeSummary::TOP);
        if top.count == 0 {
            return String::new();
        }
        let mut outline = Outline { writer: self, shape, lines: Vec::new() };
        outline.add("", ShapeSummary::TOP, (0, top.count));
        if shape.deepest > self.detail.levels {
            outline.lines.push(format!("[nested up to {} levels]", GroupedNumber(shape.deepest as u64)));
        }
        outline.lines.into_iter().map(|line| line + "\n").collect()
    }

    fn numbers(&self, numbers: &Numbers) -> String {
        let kind = match numbers.fractions {
            0 => "integer",
            _ => "number",
        };
        match &numbers.range {
            Some(range) if range.least.0 < range.most.0 => {
                format!("{kind} {} to {}", self.cut(&range.least.1), self.cut(&range.most.1))
            }
            Some(range) => format!("{kind} {}", self.cut(&range.least.1)),
            None => kind.to_owned(),
        }
    }

    pub(super) fn texts(&self, texts: &Texts) -> String {
        let samples: Vec<String> =
            texts.samples.iter().take(self.detail.samples).map(|sample| self.quoted(sample)).collect();
        let more = texts.has_others || texts.samples.len() > self.detail.samples;
        let lengths = match texts.lengths {
            Some((least, most)) if most > 40 && least < most => format!(" of {least} to {most} characters"),
            Some((_, most)) if most > 40 => format!(" of {most} characters"),
            _ => String::new(),
        };
        let ending = if more { ", …" } else { "" };
        match samples.is_empty() {
            true => format!("text{lengths}"),
            false => format!("text{lengths}: {}{ending}", samples.join(", ")),
        }
    }
}

fn lines_are(count: u64) -> String {
    let are = if count == 1 { "is" } else { "are" };
    format!("{} {are}", GroupedNumber(count).of("line"))
}

struct Outline<'o> {
    writer: &'o Writer<'o>,
    shape: &'o ShapeSummary,
    lines: Vec<String>,
}

impl Outline<'_> {
    /// Adds a line for a place, and lines for what is below it. The values are of so many holders.
    fn add(&mut self, label: &str, at: PlaceId, (level, holders): (usize, u64)) {
        let place = self.shape.place(at);
        let indent = "  ".repeat(level);
        let label = if label.is_empty() { String::new() } else { format!("{label}: ") };
        let rare = match place.count < holders {
            true => format!(" (in {} of {})", GroupedNumber(place.count), GroupedNumber(holders)),
            false => String::new(),
        };
        self.lines.push(format!("{indent}{label}{}{rare}", self.kinds(place)));
        // Items of arrays are described on the same line; what they hold comes below.
        let mut holder = place;
        while holder.objects == 0
            && let Some(item) = holder.item
        {
            holder = self.shape.place(item);
        }
        if level >= self.writer.detail.levels {
            return;
        }
        let most = self.writer.detail.items;
        let fields: Vec<(String, PlaceId)> = holder.fields.iter().take(most).cloned().collect();
        for (name, field) in fields {
            let name = self.writer.cut(&name);
            self.add(&name, field, (level + 1, holder.objects));
        }
        let more = holder.fields.len().saturating_sub(most);
        let below = "  ".repeat(level + 1);
        if more > 0 {
            self.lines.push(format!("{below}[{} more]", GroupedNumber(more as u64).of("field")));
        }
        if let Some(other) = holder.other_fields {
            self.add("any other field", other, (level + 1, 0));
        }
        if holder.has_more_below {
            self.lines.push(format!("{below}[deeper levels are not distinguished]"));
        }
    }

    /// Describes the values of a place, each type once.
    fn kinds(&self, place: &ShapePlace) -> String {
        let mut kinds = Vec::new();
        if place.objects > 0 {
            let fields = place.fields.len() as u64;
            let ending = if place.other_fields.is_some() { " or more" } else { "" };
            kinds.push(format!("object with {}{ending}", GroupedNumber(fields).of("field")));
        }
        if place.arrays > 0 {
            kinds.push(self.array(place));
        }
        if place.texts.count > 0 {
            kinds.push(self.writer.texts(&place.texts));
        }
        if place.numbers.count > 0 {
            kinds.push(self.writer.numbers(&place.numbers));
        }
        if place.bools > 0 {
            kinds.push("boolean".to_owned());
        }
        if place.nulls > 0 {
            kinds.push(if kinds.is_empty() {
                "null".to_owned()
            } else {
                format!("null in {} of {}", GroupedNumber(place.nulls), GroupedNumber(place.count))
            });
        }
        kinds.join(" or ")
    }

    fn array(&self, place: &ShapePlace) -> String {
        let length = match place.items {
            None => String::new(),
            Some((least, most)) if least == most => format!(" of {}", GroupedNumber(most)),
            Some((least, most)) => format!(" of {} to {}", GroupedNumber(least), GroupedNumber(most)),
        };
        match place.item {
            Some(item) => format!("array{length} × ({})", self.kinds(self.shape.place(item))),
            None => format!("array{length}"),
        }
    }
}
