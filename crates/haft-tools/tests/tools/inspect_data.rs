//! What is said of data files, and that every odd one has a bounded answer.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use haft_contract::outcome::result::Status;
use haft_testkit::require::Need;
use haft_testkit::scene::Scene;
use haft_testkit::snapshot;
use serde_json::json;

async fn told(name: &str, content: impl AsRef<[u8]>) -> String {
    Scene::new().file(name, content).told("inspect_data", json!({ "path": name })).await
}

#[tokio::test]
async fn a_table_has_columns_with_types_ranges_and_examples() {
    let csv =
        "id,name,born,score,active\n1,Ada,1815-12-10,9.5,true\n2,\"Lovelace, A.\",1815-12-11,,false\n3,Bob,,7,true\n";
    snapshot!(told("people.csv", csv).await, @r#"
    ok: people.csv: CSV, 101 bytes
    3 rows, 5 columns between "," (the first line names them)
    1 id: integer 1 to 3, all different
    2 name: text: "Ada", "Lovelace, A.", "Bob", all different
    3 born: date 1815-12-10 to 1815-12-11, 2 different, 1 missing
    4 score: number 7 to 9.5, 2 different, 1 missing
    5 active: boolean, 2 different
    first rows:
      1 | Ada | 1815-12-10 | 9.5 | true
      2 | Lovelace, A. | 1815-12-11 |  | false
      3 | Bob |  | 7 | true
    did: nothing
    "#);
}

#[tokio::test]
async fn json_lines_have_one_shape_and_broken_lines_are_counted() {
    let lines = "{\"id\": 1, \"tags\": [\"a\", \"b\"], \"to\": {\"city\": \"Bonn\"}}\n{\"id\": 2.5, \"tags\": []}\n{\"id\": 3, \"t\n{\"id\": null}\n";
    snapshot!(told("log.jsonl", lines).await, @r#"
    ok: log.jsonl: JSON Lines, 104 bytes
    3 values
    [1 line is not JSON; haft counts what is before the error]
    [line 3: a text is not closed]
    object with 3 fields
      id: number 1 to 3 or null in 1 of 4
      tags: array of 0 to 2 × (text: "a", "b") (in 2 of 4)
      to: object with 1 field (in 1 of 4)
        city: text: "Bonn"
    did: nothing
    "#);
}

#[tokio::test]
async fn json_has_an_outline() {
    let text = json!({ "items": [{ "a": 1, "b": "x" }, { "a": 7 }], "count": 2, "deep": [[1, 2], [3]] }).to_string();
    snapshot!(told("data.json", text).await, @r#"
    ok: data.json: JSON, 64 bytes
    object with 3 fields
      items: array of 2 × (object with 2 fields)
        a: integer 1 to 7
        b: text: "x" (in 1 of 2)
      count: integer 2
      deep: array of 2 × (array of 1 to 2 × (integer 1 to 3))
    did: nothing
    "#);
}

#[tokio::test]
async fn a_text_of_xml_is_one_value_whatever_stands_for_its_letters() {
    let whole = "aB3$dE5&fG7*hJ9";
    for text in [
        "aB3$dE5&amp;fG7*hJ9",
        "aB3$dE5&#38;fG7*hJ9",
        "aB3$dE5&#x26;fG7<!-- c -->*hJ9",
        "aB3$dE5<![CDATA[&fG7]]>*hJ9",
        "<![CDATA[aB3$dE5&]]><![CDATA[fG7*hJ9]]>",
    ] {
        let shown = told("a.xml", &format!("<a><pw>{text}</pw></a>")).await;
        assert!(shown.contains(whole), "{text}: {shown}");
    }
    assert!(told("a.xml", "<a>x &own; y</a>").await.contains("x &own; y"));
}

#[tokio::test]
async fn yaml_toml_and_xml_have_an_outline() {
    snapshot!(told("a.yaml", "name: x\nports: [1, 2]\n---\nname: y\n").await, @r#"
    ok: a.yaml: YAML, 34 bytes
    2 documents
    object with 2 fields
      name: text: "x", "y"
      ports: array of 2 × (integer 1 to 2) (in 1 of 2)
    did: nothing
    "#);
    snapshot!(told("a.toml", "title = \"t\"\n[[bin]]\nname = \"b\"\nday = 2024-01-02\n").await, @r#"
    ok: a.toml: TOML, 48 bytes
    object with 2 fields
      bin: array of 1 × (object with 2 fields)
        day: text: "2024-01-02"
        name: text: "b"
      title: text: "t"
    did: nothing
    "#);
    snapshot!(told("a.xml", "<?xml version=\"1.0\"?><list><item id=\"1\">one</item><item id=\"2\"/></list>").await, @r#"
    ok: a.xml: XML, 71 bytes
    object with 1 field
      list: object with 1 field
        item: object with 2 fields
          @id: text: "1", "2"
          text: text: "one" (in 1 of 2)
    did: nothing
    "#);
}

#[tokio::test]
async fn content_decides_where_a_name_says_something_else() {
    assert!(told("a.csv", "{\"a\": 1}").await.contains("[it is named .csv, but its content is JSON]"));
    assert!(told("a.json", "a,b\n1,2\n3,4\n").await.contains("[it is named .json, but its content is CSV]"));
    assert!(told("a.json", "{\"a\": 1}\n{\"a\": 2}\n").await.contains("JSON Lines"));
    assert!(told("a.toml", "<?xml version=\"1.0\"?><a/>").await.contains("content is XML"));
    assert!(told("data", "x;y\n1;2\n1;3\n").await.contains("2 columns between \";\""));
}

#[tokio::test]
async fn marks_line_ends_and_other_encodings_change_nothing() {
    let csv = "a,b\r\n1,\u{e4}\r\n2,\u{f6}\r\n";
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(csv.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let marked = format!("\u{feff}{csv}");
    for (content, said) in
        [(utf16, "UTF-16LE with a byte order mark"), (marked.into_bytes(), "UTF-8 with a byte order mark")]
    {
        let told = told("a.csv", content).await;
        assert!(told.contains(said) && told.contains("2 rows, 2 columns"), "{told}");
        assert!(told.contains("1 a: integer 1 to 2") && told.contains("2 b: text: \"\u{e4}\", \"\u{f6}\""), "{told}");
    }
}

#[tokio::test]
async fn damaged_files_have_an_answer_that_says_what_is_wrong() {
    for (name, content, said) in [
        ("a.json", &b"{\"a\": [1, 2"[..], "it ends in the middle of a value"),
        ("b.json", b"{\"a\": 1,, }", "line 1: \",\" is not expected here"),
        ("c.csv", b"a,b\n1,\"2\n3,4\n", "a quoted field is not closed"),
        ("d.csv", b"a,b\n1,2\n1,2,3\n", "line 3: 3 fields instead of 2"),
        ("e.yaml", b"a: [1\nb: }", "line 2"),
        ("f.toml", b"a = \nb = 1", "line 1"),
        ("g.xml", b"<a><b></a>", "line 1"),
        ("h.zip", b"PK\x03\x04 and nothing else", "cut off or damaged"),
        ("i.db", b"SQLite format 3\0 and nothing else", "the header is damaged"),
        ("j.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\0garbage here", "packed data"),
        ("k.bin", b"\0\x01\x02\x03\0\0\0\0", "binary data"),
        ("l.csv", b"", "empty file"),
    ] {
        let told = told(name, content).await;
        assert!(told.starts_with("ok:") && told.contains(said), "{name}: {told}");
    }
}

#[tokio::test]
async fn deep_nesting_has_a_bounded_answer() {
    for (name, content, said) in [
        ("a.json", "[".repeat(2_000_000), "nested deeper than 10,000 levels"),
        ("b.xml", "<a>".repeat(1_000_000), "nested deeper than 10,000 levels"),
        ("c.yaml", "[".repeat(100_000), "["),
        ("d.toml", format!("a = {}", "[".repeat(100_000)), "line 1"),
    ] {
        let told = told(name, content).await;
        assert!(told.starts_with("ok:") && told.contains(said) && told.len() < 4_000, "{name}: {told}");
    }
}

#[tokio::test]
async fn an_alias_bomb_of_yaml_is_not_expanded() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let above = format!("*a{}", level - 1);
        bomb += &format!("a{level}: &a{level} [{}]\n", [above.as_str(); 9].join(", "));
    }
    let before = Instant::now();
    let told = told("bomb.yaml", bomb).await;
    assert!(told.starts_with("ok:") && told.len() < 2_000 && before.elapsed() < Duration::from_secs(5), "{told}");
}

#[tokio::test]
async fn a_huge_line_and_many_fields_have_a_bounded_answer() {
    let huge = format!("{{\"a\": \"{}\"}}\n", "x".repeat(3_000_000));
    let told_huge = told("huge.jsonl", huge.repeat(2)).await;
    assert!(told_huge.contains("text of 3000000 characters") && told_huge.len() < 3_000, "{told_huge}");
    let fields: Vec<String> = (0..20_000).map(|field| format!("\"key {field}\": {field}")).collect();
    let told_fields = told("wide.json", format!("{{{}}}", fields.join(","))).await;
    assert!(told_fields.contains("any other field: integer 150 to 19999"), "{told_fields}");
    assert!(told_fields.len() < 6_500);
    let wide = vec!["c"; 10_000].join(",") + "\n";
    let told_wide = told("wide.csv", wide.repeat(3)).await;
    assert!(told_wide.contains("10,000 columns") && told_wide.len() < 6_500, "{told_wide}");
}

#[tokio::test]
async fn an_answer_keeps_to_its_budget() {
    let columns: Vec<String> = (0..80).map(|column| format!("a rather long name of column {column}")).collect();
    let values: Vec<String> = (0..80).map(|value| format!("a value of some length {value}")).collect();
    let csv = format!("{}\n{}\n{}\n", columns.join(","), values.join(","), values.join(","));
    let scene = Scene::new().file("wide.csv", csv);
    let mut lengths = Vec::new();
    for tokens in [100, 500, 2_000] {
        let result = scene.call("inspect_data", json!({ "path": "wide.csv", "tokens": tokens })).await;
        let length = result.text().chars().count();
        assert!(length <= tokens * 4 + 20, "{tokens}: {length}");
        lengths.push(length);
    }
    assert!(lengths.is_sorted() && lengths[0] < lengths[2], "{lengths:?}");
}

#[tokio::test]
async fn of_a_large_table_parts_are_read_and_the_answer_says_so() {
    let scene = Scene::new().file("large.csv", "id,name\n");
    let mut file = File::options().append(true).open(scene.root().join("large.csv")).expect("it is there");
    let row: String = (0..40_000).map(|row| format!("{row},\"a name, {row}\"\n")).collect();
    for _ in 0..80 {
        file.write_all(row.as_bytes()).expect("there is room");
    }
    let before = Instant::now();
    let result = scene.call("inspect_data", json!({ "path": "large.csv" })).await;
    let took = before.elapsed();
    assert_eq!(result.status, Status::Ok);
    let (text, data) = (result.text(), result.data.expect("there is data"));
    assert!(text.contains("all numbers are \"at least\"") && text.contains("2 columns"), "{text}");
    assert!(text.contains("1 id: integer 0 to ") && text.contains("rows of later parts"), "{text}");
    assert!(!text.contains("another number of fields") && text.contains("rows in all, judged by"), "{text}");
    assert_eq!(data["complete"], json!(false));
    assert!(took < Duration::from_secs(3), "{took:?}");
}

#[tokio::test]
async fn a_hole_of_a_terabyte_has_an_answer() {
    let scene = Scene::new().file("sparse.jsonl", "{\"a\": 1}\n");
    let mut file = File::options().append(true).open(scene.root().join("sparse.jsonl")).expect("it is there");
    file.write_all("{\"a\": 2}\n".repeat(10_000).as_bytes()).expect("there is room");
    file.set_len(1 << 40).expect("holes take no room");
    let told = scene.told("inspect_data", json!({ "path": "sparse.jsonl" })).await;
    assert!(told.starts_with("ok:") && told.contains("10,001 values"), "{told}");
}

/// One entry of a tar archive.
fn tar_entry(name: &str, content: &[u8]) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
    header[156] = b'0';
    header[257..263].copy_from_slice(b"ustar\0");
    header[148..156].fill(b' ');
    let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header.extend_from_slice(content);
    header.resize(header.len().next_multiple_of(512), 0);
    header
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut packed = b"\x1f\x8b\x08\0\0\0\0\0\0\x03".to_vec();
    packed.extend(miniz_oxide::deflate::compress_to_vec(content, 6));
    packed.extend([0; 8]);
    packed
}

#[tokio::test]
async fn tar_archives_are_listed_packed_or_not() {
    let mut tar = [tar_entry("src/a.rs", b"fn a() {}"), tar_entry("../evil", &[b'x'; 600])].concat();
    tar.resize(tar.len() + 1024, 0);
    snapshot!(told("a.tar", &tar).await, @r#"
    ok: a.tar: tar archive, 3,584 bytes
    2 entries, 2 files, 609 bytes when unpacked (as declared)
    [1 name would leave the folder that it is unpacked into (".." or an absolute path)]
    src/a.rs  9
    ../evil  600
    did: nothing
    "#);
    let told_packed = told("a.tar.gz", gzip(&tar)).await;
    assert!(
        told_packed.contains("tar archive, packed with gzip") && told_packed.contains("2 entries"),
        "{told_packed}"
    );
}

#[tokio::test]
async fn packed_data_is_read_and_a_bomb_is_stopped() {
    let told_csv = told("a.csv.gz", gzip(b"a,b\n1,2\n3,4\n")).await;
    assert!(told_csv.contains("CSV, packed with gzip") && told_csv.contains("2 rows"), "{told_csv}");
    let bomb = gzip(&vec![b'a'; 64 << 20]);
    let bomb: Vec<u8> = std::iter::repeat_n(bomb, 40).flatten().collect();
    let before = Instant::now();
    let told_bomb = told("bomb.gz", bomb).await;
    assert!(told_bomb.starts_with("ok:") && told_bomb.contains("at least"), "{told_bomb}");
    assert!(before.elapsed() < Duration::from_secs(6));
}

/// A zip archive of one stored entry, whose directory declares these sizes.
fn zip(name: &str, (packed, size): (u32, u32)) -> Vec<u8> {
    let length = u16::try_from(name.len()).expect("names are short").to_le_bytes();
    let mut entry = b"PK\x01\x02\x14\0\x14\0\0\0\x08\0\0\0\0\0\0\0\0\0".to_vec();
    entry.extend(packed.to_le_bytes());
    entry.extend(size.to_le_bytes());
    entry.extend(length);
    entry.extend([0; 16]);
    entry.extend(name.as_bytes());
    let mut zip = b"PK\x03\x04 the content".to_vec();
    let place = u32::try_from(zip.len()).expect("it is small");
    zip.extend(&entry);
    zip.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    zip.extend(u32::try_from(entry.len()).expect("it is small").to_le_bytes());
    zip.extend(place.to_le_bytes());
    zip.extend([0, 0]);
    zip
}

#[tokio::test]
async fn a_zip_archive_is_listed_and_a_bomb_is_named() {
    snapshot!(told("a.zip", zip("docs/a.txt", (10, 25))).await, @"
    ok: a.zip: zip archive, 94 bytes
    1 entry, 1 file, 25 bytes when unpacked (as declared)
    docs/a.txt  25
    did: nothing
    ");
    let told_bomb = told("bomb.zip", zip("../0.bin", (1_000, 4_000_000_000))).await;
    assert!(told_bomb.contains("it may be a zip bomb") && told_bomb.contains("1 name would leave"), "{told_bomb}");
}

#[tokio::test]
async fn secrets_in_examples_are_hidden_also_where_they_are_cut() {
    let secret = "hunter2-".repeat(30);
    let scene = Scene::new().file("a.csv", format!("user,word\nada,{secret}\n")).secret(&secret);
    let told = scene.told("inspect_data", json!({ "path": "a.csv", "tokens": 100 })).await;
    assert!(!told.contains("hunter2"), "{told}");
}

#[tokio::test]
async fn a_folder_and_a_missing_file_lead_to_the_next_step() {
    let scene = Scene::new().file("data/a.csv", "a\n");
    let folder = scene.told("inspect_data", json!({ "path": "data" })).await;
    assert!(folder.contains("data is a folder") && folder.contains("list_dir"), "{folder}");
    let missing = scene.told("inspect_data", json!({ "path": "data/b.csv" })).await;
    assert!(missing.contains("a.csv"), "{missing}");
}

#[tokio::test]
async fn garbage_of_any_sort_never_breaks_a_look() {
    // A generator of fixed numbers: each run sees the same garbage.
    let mut state = 0x2545_f491_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let begins: [&[u8]; 7] = [
        b"PK\x03\x04",
        b"\x1f\x8b\x08\0\0\0\0\0\0\0",
        b"SQLite format 3\0\x02\0",
        b"{\"a\":",
        b"a,b\n\"",
        b"<a b=",
        b"- &a",
    ];
    for round in 0..140 {
        let mut content = begins[round % begins.len()].to_vec();
        let is_text = round % 2 == 0;
        content
            .extend((0..2_000).map(|_| (next() % if is_text { 96 } else { 256 }) as u8 + if is_text { 32 } else { 0 }));
        let name = ["a.json", "a.csv", "a.yaml", "a.xml", "a.toml", "a.zip", "a.db", "a"][round % 8];
        let told = told(name, content).await;
        assert!(told.starts_with("ok:") && told.len() < 7_000, "{name}: {told}");
    }
}

#[tokio::test]
async fn a_database_of_the_real_program_is_read() {
    if !Need::Python.met(std::process::Command::new("python3").arg("--version").output().is_ok()) {
        return;
    }
    let scene = Scene::new().file("empty", "");
    let path = scene.root().join("a.db");
    let script = "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1])\nc.execute('create table people (id integer primary key, name text, note blob)')\nc.executemany('insert into people (name, note) values (?, ?)', [('Ada ' + 'x' * (i % 7 * 900), b'1234') for i in range(3000)])\nc.execute('create table pairs (a text primary key, b) without rowid')\nc.execute('create index by_name on people (name)')\nc.commit()\n";
    let made = std::process::Command::new("python3").args(["-c", script]).arg(&path).status().expect("python runs");
    assert!(made.success());
    let told = scene.told("inspect_data", json!({ "path": "a.db" })).await;
    assert!(told.contains("2 tables") && told.contains("people: 3,000 rows"), "{told}");
    assert!(told.contains("1 | Ada") && told.contains("blob of 4 bytes") && told.contains("index by_name"), "{told}");
    assert!(told.contains("pairs: WITHOUT ROWID"), "{told}");
    let file = File::options().write(true).open(&path).expect("it is there");
    file.set_len(9_000).expect("it can be cut");
    (&file).seek(SeekFrom::Start(4_096)).expect("it can be sought");
    let cut = scene.told("inspect_data", json!({ "path": "a.db" })).await;
    assert!(cut.starts_with("ok:") && cut.contains("is missing"), "{cut}");
}
