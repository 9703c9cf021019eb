//! Draws the screen of a terminal as SVG: each row is one text, so that readers can search and copy it.

use std::fmt::Write;
use std::num::NonZeroU16;

use unicode_width::UnicodeWidthStr;
use vt100::{Cell, Color};

const ROWS: u16 = 60;
/// The size of a cell, and the border around all of them.
const CELL: (f32, f32) = (8.4, 18.0);
const BORDER: f32 = 14.0;
const BACKGROUND: &str = "#1d2127";
const FOREGROUND: &str = "#d5d9de";
const FAINT: &str = "#868e98";
/// The sixteen colours of a terminal.
const PALETTE: [&str; 16] = [
    "#3a4048", "#e5646e", "#7fc379", "#e0b565", "#6aa6ee", "#c28ae0", "#5bbcc4", "#c6cbd2", "#6b737d", "#f08a92",
    "#9ad694", "#f0cd88", "#8fbdf5", "#d5a8ec", "#82d3da", "#f2f4f7",
];

/// How a part of a row looks.
#[derive(Clone, PartialEq, Eq)]
struct Look {
    fill: String,
    behind: Option<String>,
    bold: bool,
    italic: bool,
    underline: bool,
}

/// Returns the picture of a terminal to which these bytes were written.
pub(super) fn picture(raw: &str, columns: u16, title: &str) -> String {
    let number = |number| NonZeroU16::new(number).expect("a terminal has a size");
    let mut parser = vt100::Parser::new(number(ROWS), number(columns), 0);
    parser.process(raw.as_bytes());
    let screen = parser.screen();
    let used = screen.rows(0, columns).collect::<Vec<_>>();
    let rows = used.iter().rposition(|row| !row.trim().is_empty()).map_or(1, |last| last + 1);
    let cursor = screen.cursor_position();
    let width = f32::from(columns) * CELL.0 + 2.0 * BORDER;
    let height = rows.max(usize::from(cursor.0) + 1) as f32 * CELL.1 + 2.0 * BORDER;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" role=\"img\">\n\
         <title>haft: {}</title>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n\
         <g font-family=\"ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"14\" fill=\"{FOREGROUND}\" \
         xml:space=\"preserve\">\n",
        title.replace('-', " ")
    );
    let (x, y) = (BORDER + f32::from(cursor.1) * CELL.0, BORDER + f32::from(cursor.0) * CELL.1);
    let _ =
        writeln!(svg, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"2\" height=\"{}\" fill=\"{}\"/>", CELL.1, PALETTE[4]);
    for row in 0..ROWS {
        svg.push_str(&drawn_row(screen, row, columns));
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

fn drawn_row(screen: &vt100::Screen, row: u16, columns: u16) -> String {
    let mut parts: Vec<(u16, Look, String)> = Vec::new();
    for (column, cell) in (0..columns).filter_map(|column| Some((column, screen.cell(row, column)?))) {
        if cell.is_wide_continuation() {
            continue;
        }
        let text = if cell.has_contents() { cell.contents() } else { " " };
        let look = look(cell);
        match parts.last_mut() {
            Some((_, last, words)) if *last == look => words.push_str(text),
            _ => parts.push((column, look, text.to_owned())),
        }
    }
    let end = parts.iter().rposition(|(_, look, text)| look.behind.is_some() || !text.trim().is_empty());
    parts.truncate(end.map_or(0, |end| end + 1));
    if parts.is_empty() {
        return String::new();
    }
    let top = BORDER + f32::from(row) * CELL.1;
    let (mut behind, mut text) = (String::new(), String::new());
    let last = parts.len() - 1;
    for (index, (column, look, words)) in parts.iter().enumerate() {
        let x = BORDER + f32::from(*column) * CELL.0;
        let words = if index == last && look.behind.is_none() { words.trim_end() } else { words };
        // Fonts have letters of other widths: the length keeps the columns below each other.
        let width = words.width() as f32 * CELL.0;
        if let Some(colour) = &look.behind {
            let place = format!("x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{}\"", CELL.1);
            let _ = write!(behind, "<rect {place} fill=\"{colour}\"/>");
        }
        let place = format!("x=\"{x:.1}\" textLength=\"{width:.1}\"");
        let _ = write!(text, "<tspan {place}{}>{}</tspan>", attributes(look), escaped(words));
    }
    format!("{behind}<text y=\"{:.1}\">{text}</text>\n", top + 13.5)
}

fn look(cell: &Cell) -> Look {
    let (mut fill, mut behind) = (colour(cell.fgcolor()), colour(cell.bgcolor()));
    if cell.inverse() {
        (fill, behind) = (Some(behind.unwrap_or(BACKGROUND.to_owned())), Some(fill.unwrap_or(FOREGROUND.to_owned())));
    }
    let fill = match fill {
        Some(fill) => fill,
        None if cell.dim() => FAINT.to_owned(),
        None => FOREGROUND.to_owned(),
    };
    Look { fill, behind, bold: cell.bold(), italic: cell.italic(), underline: cell.underline() }
}

fn attributes(look: &Look) -> String {
    let mut all = String::new();
    if look.fill != FOREGROUND {
        let _ = write!(all, " fill=\"{}\"", look.fill);
    }
    for (is_so, attribute) in [
        (look.bold, " font-weight=\"bold\""),
        (look.italic, " font-style=\"italic\""),
        (look.underline, " text-decoration=\"underline\""),
    ] {
        all.push_str(if is_so { attribute } else { "" });
    }
    all
}

fn colour(colour: Color) -> Option<String> {
    match colour {
        Color::Default => None,
        Color::Idx(index @ 0..16) => Some(PALETTE[usize::from(index)].to_owned()),
        Color::Idx(index @ 16..232) => {
            let level = |part: u8| if part == 0 { 0 } else { 55 + 40 * part };
            let cube = index - 16;
            Some(format!("#{:02x}{:02x}{:02x}", level(cube / 36), level(cube / 6 % 6), level(cube % 6)))
        }
        Color::Idx(index) => {
            let grey = 8 + 10 * (index - 232);
            Some(format!("#{grey:02x}{grey:02x}{grey:02x}"))
        }
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
