use std::io::{Seek, Write};

use haft_contract::doors::door::PageLine;
use haft_contract::text::lines::LineEnds;

use super::*;

fn read(text: impl Read, first_line: u64, lines: usize) -> PagedContent {
    let request = PageRequest { first_line, lines, column: 1, line_length: 10 };
    page_in(Steps::new(text, &|| false, u64::MAX), request).expect("memory can be read")
}

fn page(text: &[u8], first_line: u64, lines: usize) -> Page {
    match read(text, first_line, lines) {
        PagedContent::Page(page) => page,
        PagedContent::Binary { .. } | PagedContent::Foreign { .. } | PagedContent::Stopped => panic!("it is text"),
    }
}

fn texts(page: &Page) -> Vec<&str> {
    page.lines.iter().map(|line| line.text.as_str()).collect()
}

#[test]
fn a_page_has_the_lines_asked_for_and_says_whether_there_are_more() {
    let whole = page(b"a\nb\r\nc", 1, 9);
    assert_eq!((texts(&whole), whole.more, whole.total_lines), (vec!["a", "b", "c"], false, Some(3)));
    let middle = page(b"a\nb\nc\n", 2, 1);
    assert_eq!((texts(&middle), middle.more, middle.total_lines), (vec!["b"], true, None));
    let last = page(b"a\nb\nc\n", 3, 1);
    assert_eq!((texts(&last), last.more, last.total_lines), (vec!["c"], false, Some(3)));
    let unended = page(b"a\nb\nc", 3, 1);
    assert_eq!((texts(&unended), unended.more, unended.total_lines), (vec!["c"], false, Some(3)));
    let behind = page(b"a\n", 5, 1);
    assert_eq!((texts(&behind), behind.more, behind.total_lines), (vec![], false, Some(1)));
    let behind_unended = page(b"a\nb", 5, 1);
    assert_eq!((texts(&behind_unended), behind_unended.total_lines), (vec![], Some(2)));
    assert_eq!(page(b"", 1, 1).total_lines, Some(0));
}

#[test]
fn a_long_line_is_cut_and_its_rest_counted_in_characters() {
    let text = format!("{}\nshort\n{}\r\n", "ö".repeat(200_000), "y".repeat(300_000));
    let page = page(text.as_bytes(), 1, 9);
    assert_eq!((page.lines[0].text.as_str(), page.lines[0].cut), ("öööööööööö", 199_990));
    assert_eq!(page.lines[1], PageLine { text: "short".into(), before: 0, cut: 0 });
    assert_eq!((page.lines[2].text.as_str(), page.lines[2].cut), ("yyyyyyyyyy", 299_990));
    assert!(!page.lossy);
}

#[test]
fn a_nul_near_the_beginning_means_binary_and_says_what() {
    assert!(matches!(read(&b"ab\0c"[..], 1, 1), PagedContent::Binary { kind: "unknown binary data" }));
    assert!(matches!(read(&b"\x89PNG\r\n\x1a\n\0\0"[..], 1, 1), PagedContent::Binary { kind: "PNG image" }));
}

#[test]
fn other_encodings_are_shown_as_text_and_named() {
    let wide: Vec<u8> = "\u{feff}größe\r\nzwei\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let shown = page(&wide, 1, 9);
    assert_eq!((texts(&shown), shown.form.name()), (vec!["größe", "zwei"], "UTF-16LE"));
    assert_eq!((shown.line_ends, shown.total_lines), (LineEnds::ReturnNewline, Some(2)));
    assert_eq!(texts(&page(&wide, 2, 9)), ["zwei"]);
    let latin = page(b"Das ist sch\xf6n\nund gut.\n", 1, 9);
    assert_eq!((latin.lines[0].cut, latin.form.name(), latin.lossy), (3, "windows-1252", false));
    assert!(matches!(read(&b"\xff\xfe\0\0a\0\0\0"[..], 1, 1), PagedContent::Foreign { encoding: "UTF-32LE" }));
}

#[test]
fn units_that_look_like_line_ends_across_their_border_are_none() {
    // U+0A0A has the byte of a newline twice, U+0A00 once; neither is one.
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let shown = page(&wide("\u{feff}a\u{a0a}\u{a05}b\nc"), 1, 9);
    assert_eq!(texts(&shown), ["a\u{a0a}\u{a05}b", "c"]);
}

#[test]
fn steps_do_not_show_in_the_lines() {
    for unit in [1, 2] {
        let text: String = (0..90_000).map(|number| format!("line {number}\n")).collect();
        let bytes: Vec<u8> = match unit {
            1 => text.into_bytes(),
            _ => format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_be_bytes).collect(),
        };
        for first in [1, 24_000, 47_001, 89_999] {
            let shown = page(&bytes, first, 2);
            assert_eq!(texts(&shown)[0], format!("line {}", first - 1).chars().take(10).collect::<String>());
        }
        assert_eq!(page(&bytes, 89_990, 100).total_lines, Some(90_000));
        assert_eq!(page(&bytes, 99_999, 100).total_lines, Some(90_000));
    }
}

#[test]
fn broken_bytes_are_shown_and_told() {
    let shown = page("größer\nschöner\nwär\n".as_bytes(), 1, 9);
    assert!(!shown.lossy);
    let damaged = page(&["größer\nschöner\n".as_bytes(), b"w\xffr\n"].concat(), 1, 9);
    assert_eq!((damaged.lines[2].text.as_str(), damaged.lossy), ("w\u{fffd}r", true));
    assert_eq!(damaged.form, TextForm::utf8());
}

#[test]
fn a_return_ends_a_line_only_where_there_is_no_newline() {
    let mac = page(b"a\rb\rc", 2, 9);
    assert_eq!((texts(&mac), mac.line_ends, mac.total_lines), (vec!["b", "c"], LineEnds::Return, Some(3)));
    let mixed = page(b"a\rb\nc\r\n", 1, 9);
    assert_eq!((texts(&mixed), mixed.line_ends), (vec!["a\rb", "c"], LineEnds::Mixed));
    let cut = [b"x".repeat(LOOKED_AT - 1), b"\r\nnext\r\n".to_vec()].concat();
    assert_eq!(page(&cut, 2, 9).line_ends, LineEnds::ReturnNewline);
}

#[test]
fn what_haft_wrote_is_text_whatever_is_in_it() {
    let request = PageRequest { first_line: 1, lines: 9, column: 1, line_length: 10 };
    let mut file = tempfile::tempfile().expect("a file can be made");
    file.write_all(b"a\0b\rc\nd\n").and_then(|()| file.rewind()).expect("it can be written");
    let own = page_of_own(file, request).expect("it can be read");
    let PagedContent::Page(own) = own else { panic!("it is text") };
    assert_eq!(texts(&own), ["a\0b\rc", "d"]);
}

#[test]
fn an_endless_source_is_read_no_further_than_the_page_and_stops_when_told() {
    let endless = || io::repeat(b'\n');
    let PagedContent::Page(first) = read(endless(), 3, 2) else { panic!("it is text") };
    assert_eq!((first.lines.len(), first.more), (2, true));
    let asked = std::cell::Cell::new(0);
    let stopped = || {
        asked.set(asked.get() + 1);
        asked.get() > 100
    };
    let request = PageRequest { first_line: u64::MAX, lines: 1, column: 1, line_length: 10 };
    assert!(matches!(page_in(Steps::new(endless(), &stopped, u64::MAX), request), Ok(PagedContent::Stopped)));
}

#[test]
fn the_lines_of_a_small_text_are_counted_behind_the_page() {
    let total = |text: &[u8], size: u64| {
        let request = PageRequest { first_line: 2, lines: 1, column: 1, line_length: 10 };
        match page_in(Steps::new(text, &|| false, size), request).expect("memory can be read") {
            PagedContent::Page(page) => (page.more, page.total_lines),
            PagedContent::Binary { .. } | PagedContent::Foreign { .. } | PagedContent::Stopped => panic!("it is text"),
        }
    };
    for (text, lines) in [("a\nb\nc\n", 3), ("a\nb\nc", 3), ("a\nb\nc\n\n", 4), ("a\nb\r\n\r\n", 3)] {
        assert_eq!(total(text.as_bytes(), text.len() as u64), (true, Some(lines)), "{text:?}");
        assert_eq!(total(text.as_bytes(), COUNTED + 1), (true, None), "{text:?}");
    }
    let many = "line\n".repeat(200_000);
    assert_eq!(total(many.as_bytes(), many.len() as u64), (true, Some(200_000)));
    let wide: Vec<u8> = many.encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert_eq!(total(&[b"\xfe\xff", &wide[..]].concat(), 1), (true, Some(200_000)));
}

#[test]
fn a_line_can_be_read_from_any_of_its_characters_on() {
    let line: String = ('\u{4e00}'..'\u{9f00}').cycle().take(300_000).collect();
    let wide: Vec<u8> = format!("\u{feff}a\n{line}\r\nb").encode_utf16().flat_map(u16::to_le_bytes).collect();
    for text in [format!("a\n{line}\r\nb").into_bytes(), wide] {
        for column in [2_usize, 11, 100_000, 299_985, 299_995, 300_000, 300_001, 300_500] {
            let request = PageRequest { first_line: 2, lines: 9, column: column as u64, line_length: 10 };
            let Ok(PagedContent::Page(page)) = page_in(Steps::new(&text[..], &|| false, 1), request) else {
                panic!("it is text")
            };
            let wanted: String = line.chars().skip(column - 1).take(10).collect();
            let (before, cut) = ((column - 1).min(300_000), 300_000_usize.saturating_sub(column + 9));
            assert_eq!(page.lines[0], PageLine { text: wanted, before, cut }, "{column}");
            assert_eq!(page.lines[1], PageLine { text: "b".into(), before: 0, cut: 0 });
        }
    }
}
