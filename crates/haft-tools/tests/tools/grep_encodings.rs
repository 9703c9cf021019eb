//! Scenes of `grep` in files that are not UTF-8: it finds what `read_file` shows.

use haft_testkit::scene::Scene;
use haft_testkit::snapshot;
use serde_json::json;

const WINDOWS_1252: &[u8] = b"un caf\xE9 noir\nl'\xE9t\xE9 \x96 dix \x80\n";
const WINDOWS_1251: &[u8] =
    b"\xCF\xF0\xE8\xE2\xE5\xF2, \xEC\xE8\xF0. \xDD\xF2\xEE \xEF\xF0\xEE\xF1\xF2\xEE\xE9 \xF2\xE5\xEA\xF1\xF2.\n";
const SHIFT_JIS: &[u8] = b"\x93\xFA\x96{\x8C\xEA\x82\xCC\x83e\x83L\x83X\x83g\x82\xC5\x82\xB7\x81B\n\x95\\\x8E\xA6\n";

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

/// A text so long that it is searched in steps.
fn long(line: &[u8], last: &[u8]) -> Vec<u8> {
    [&line.repeat(400_000 / line.len()), last].concat()
}

#[tokio::test]
async fn a_file_in_an_older_encoding_is_searched_as_it_is_read() {
    let scene = Scene::new()
        .file("french.txt", WINDOWS_1252)
        .file("russian.txt", WINDOWS_1251)
        .file("japanese.txt", SHIFT_JIS)
        .file("utf8.txt", "un café noir\n");
    for (path, pattern) in [("french.txt", "café"), ("russian.txt", "Привет, мир"), ("japanese.txt", "日本語")]
    {
        let read = scene.call("read_file", json!({ "path": path })).await.text();
        assert!(read.contains(pattern), "{read}");
    }
    snapshot!(scene.told("grep", json!({ "pattern": "CAFÉ|ПРИВЕТ|日本", "case": "insensitive" })).await, @"
    ok: french.txt
    1:un café noir

    japanese.txt
    1:日本語のテキストです。

    russian.txt
    1:Привет, мир. Это простой текст.

    utf8.txt
    1:un café noir
    [4 matches in 4 files; 4 files searched]
    did: nothing
    ");
    snapshot!(scene.told("grep", json!({ "pattern": "– dix €$", "context": 1 })).await, @"
    ok: french.txt
    1-un café noir
    2:l'été – dix €
    [1 match in 1 file; 4 files searched]
    did: nothing
    ");
    snapshot!(scene.told("grep", json!({ "pattern": "noir\\nl'été", "multiline": true })).await, @"
    ok: french.txt
    1:un café noir
    2:l'été – dix €
    [1 match in 1 file; 4 files searched]
    did: nothing
    ");
    // The second byte of a character is no letter of its own.
    snapshot!(scene.told("grep", json!({ "pattern": "\\", "literal": true })).await, @"
    ok: [no match; 4 files searched]
    did: nothing
    ");
    snapshot!(scene.told("grep", json!({ "pattern": "表示", "mode": "files" })).await, @"
    ok: japanese.txt
    [1 file with matches; 4 files searched]
    did: nothing
    ");
}

#[tokio::test]
async fn utf16_is_searched_with_a_mark_and_without() {
    let text = "first line of text\ngrüße to all\n";
    let marked = format!("\u{feff}{text}");
    let scene = Scene::new()
        .file("be.txt", utf16(text, u16::to_be_bytes))
        .file("be-marked.txt", utf16(&marked, u16::to_be_bytes))
        .file("le.txt", utf16(text, u16::to_le_bytes))
        .file("le-marked.txt", utf16(&marked, u16::to_le_bytes))
        .file("utf32.txt", marked.chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect::<Vec<_>>())
        .file("data.bin", b"gr\0\0\x01\x02\xFF\xFEall");
    snapshot!(scene.told("grep", json!({ "pattern": "^grüße" })).await, @"
    ok: be-marked.txt
    2:grüße to all

    be.txt
    2:grüße to all

    le-marked.txt
    2:grüße to all

    le.txt
    2:grüße to all
    [4 matches in 4 files; 4 files searched; left out: 2 binary: data.bin, utf32.txt]
    did: nothing
    ");
    snapshot!(scene.told("grep", json!({ "pattern": "(?s)^first.*all$", "multiline": true, "mode": "count" })).await, @"
    ok: be-marked.txt: 1
    be.txt: 1
    le-marked.txt: 1
    le.txt: 1
    [4 matches in 4 files; 4 files searched; left out: 2 binary: data.bin, utf32.txt]
    did: nothing
    ");
}

#[tokio::test]
async fn a_large_file_is_decoded_in_steps() {
    let scene = Scene::new()
        .file("french.txt", long(WINDOWS_1252, b"le dernier caf\xE9\n"))
        .file("utf16.txt", utf16(&"some words\n".repeat(40_000), u16::to_le_bytes))
        .file("utf8.txt", long("ein schöner Tag\n".as_bytes(), "das letzte café\n".as_bytes()));
    snapshot!(scene.told("grep", json!({ "pattern": "derni?er café$|letzte café$" })).await, @"
    ok: french.txt
    29629:le dernier café

    utf8.txt
    23530:das letzte café
    [2 matches in 2 files; 3 files searched]
    did: nothing
    ");
    snapshot!(scene.told("grep", json!({ "pattern": "words$", "mode": "count" })).await, @"
    ok: utf16.txt: 40000
    [40,000 matches in 1 file; 3 files searched]
    did: nothing
    ");
    snapshot!(scene.told("grep", json!({ "pattern": "été", "limit": 1, "path": "french.txt" })).await, @r#"
    ok: french.txt
    2:l'été – dix €
    [1 of 14,814 matches in 1 file; go on with offset=1; 1 file searched]
    did: nothing
    "#);
}

#[tokio::test]
async fn bytes_that_are_no_text_do_not_hide_the_rest_of_a_file() {
    let damaged = [&b"gr\xC3\xBC\xC3\x9Fe, \xC3\xA4\xC3\xB6 \xFF needle\n"[..], b"needle\n"].concat();
    let late = [&b"plain text\n".repeat(7_000)[..], b"caf\xE9 needle\n"].concat();
    let scene = Scene::new().file("damaged.txt", damaged).file("late.txt", late);
    snapshot!(scene.told("grep", json!({ "pattern": "needle" })).await, @"
    ok: damaged.txt
    1:grüße, äö � needle
    2:needle

    late.txt
    7001:caf� needle
    [3 matches in 2 files; 2 files searched]
    did: nothing
    ");
}
