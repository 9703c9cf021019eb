//! Scenes of `read_file`.

use haft_contract::outcome::result::Status;
use haft_testkit::scene::Scene;
use haft_testkit::snapshot;
use serde_json::json;

#[tokio::test]
async fn lines_have_numbers_and_the_end_is_told() {
    let scene = Scene::sample();
    snapshot!(scene.told("read_file", json!({ "path": "src/main.rs" })).await, @r#"
    ok:      1	fn main() {
         2	    println!("hello");
         3	}
    [end of file: 3 lines]
    did: nothing
    "#);
}

#[tokio::test]
async fn a_page_says_how_to_go_on() {
    let scene = Scene::sample();
    snapshot!(scene.told("read_file", json!({ "path": "notes.txt", "offset": 2, "limit": 2 })).await, @"
    ok:      2	two
         3	three
    [lines 2–3 of 5; go on with offset=4]
    did: nothing
    ");
    snapshot!(scene.told("read_file", json!({ "path": "notes.txt", "offset": 9 })).await, @"
    ok: [there is no line 9; the file has 5 lines]
    did: nothing
    ");
}

#[tokio::test]
async fn several_files_are_read_and_one_that_is_missing_does_not_stop_the_others() {
    let scene = Scene::sample();
    snapshot!(scene.told("read_file", json!({ "paths": ["notes.txt", "gone.txt", "README.md"], "limit": 1 })).await, @r#"
    ok: === notes.txt ===
         1	one
    [line 1 of 5; go on with offset=2]

    === gone.txt ===
    Error: gone.txt does not exist. Near: notes.txt.
    Next: use one of these, or call "list_dir" on .

    === README.md ===
         1	# Sample
    [line 1 of 3; go on with offset=2]
    did: nothing
    "#);
}

#[tokio::test]
async fn a_file_outside_in_a_list_refuses_the_whole_call() {
    let scene = Scene::sample().outside_file("secret.txt", "x");
    let result = scene.call("read_file", json!({ "paths": ["notes.txt", "../secret.txt"] })).await;
    assert_eq!(result.status, Status::Refused);
}

#[tokio::test]
async fn when_none_of_several_files_can_be_read_the_call_failed() {
    let result = Scene::sample().call("read_file", json!({ "paths": ["gone", "away"] })).await;
    assert_eq!(
        result.error.as_ref().map(|error| error.kind),
        Some(haft_contract::outcome::kinds::ErrorKind::MissingFile)
    );
    assert!(result.text().contains("=== gone ===") && result.text().contains("=== away ==="), "{}", result.text());
}

#[tokio::test]
async fn a_hole_of_a_terabyte_behind_text_is_noticed_at_once() {
    let scene = Scene::sample();
    let text = "line\n".repeat(50_000);
    std::fs::write(scene.root().join("holey"), &text).expect("a file can be written");
    std::fs::File::options()
        .write(true)
        .open(scene.root().join("holey"))
        .and_then(|file| file.set_len(1 << 40))
        .expect("it can grow");
    let head = scene.call("read_file", json!({ "path": "holey", "limit": 2 })).await;
    assert_eq!(head.status, Status::Ok);
    let behind = scene.call("read_file", json!({ "path": "holey", "offset": 99_999 })).await;
    assert_eq!(behind.error.map(|error| error.kind), Some(haft_contract::outcome::kinds::ErrorKind::Binary));
}

#[tokio::test]
async fn a_link_that_leads_elsewhere_now_is_read_again() {
    let scene = Scene::new().file("v1/f", "one").file("v2/f", "two");
    let link = scene.root().join("current");
    std::os::unix::fs::symlink("v1", &link).expect("a link can be made");
    assert!(scene.call("read_file", json!({ "path": "current/f" })).await.text().contains("one"));
    std::fs::remove_file(&link).and_then(|()| std::os::unix::fs::symlink("v2", &link)).expect("a link can be changed");
    assert!(scene.call("read_file", json!({ "path": "current/f" })).await.text().contains("two"));
}

#[tokio::test]
async fn one_of_path_and_paths_is_needed() {
    let scene = Scene::sample();
    snapshot!(scene.told("read_file", json!({})).await, @r#"
    failed at line_up (bad_arguments): Neither "path" nor "paths" was given.
    next: give "path" for one file or "paths" for several, for example {"path": "src/main.rs"}
    did: nothing
    "#);
    snapshot!(scene.told("read_file", json!({ "path": "a", "paths": ["b"] })).await, @r#"
    failed at line_up (bad_arguments): Both "path" and "paths" were given.
    next: give "path" for one file or "paths" for several, for example {"path": "src/main.rs"}
    did: nothing
    "#);
}

#[tokio::test]
async fn other_names_of_its_arguments_are_understood_and_told() {
    let scene = Scene::sample();
    for alias in ["filepath", "file_path", "filePath", "Path"] {
        scene.session().begin_turn();
        let result = scene.call("read_file", json!({ alias: "notes.txt" })).await;
        assert_eq!(result.status, Status::Ok, "{alias}");
        assert_eq!(result.repairs, [format!("$.{alias}: read as \"path\"")]);
    }
    let both = scene.call("read_file", json!({ "filepath": "a", "path": "notes.txt" })).await;
    assert_eq!(both.error.map(|error| error.kind), Some(haft_contract::outcome::kinds::ErrorKind::BadArguments));
}

#[tokio::test]
async fn odd_files_answer_at_once() {
    let scene = Scene::sample().file("image.png", b"\x89PNG\0\0\0").file("empty", "").file("crlf.txt", "a\r\nb\r\n");
    let root = scene.root();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        root.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .expect("a pipe can be made");
    std::os::unix::net::UnixListener::bind(root.join("socket")).expect("a socket can be made");
    std::fs::File::create(root.join("sparse"))
        .and_then(|file| file.set_len(1 << 40))
        .expect("a sparse file can be made");
    std::os::unix::fs::symlink("loop", root.join("loop")).expect("a link can be made");
    let kind = async |path: &str| {
        let result = scene.call("read_file", json!({ "path": path })).await;
        result.error.map_or("ok", |error| error.kind.code())
    };
    assert_eq!(kind("image.png").await, "binary");
    assert_eq!(kind("sparse").await, "binary");
    assert_eq!(kind("pipe").await, "special_file");
    assert_eq!(kind("socket").await, "special_file");
    assert_eq!(kind("loop").await, "bad_path");
    assert_eq!(kind("src").await, "is_folder");
    assert_eq!(kind("notes.txt/x").await, "missing_file");
    assert_eq!(kind("x\0y").await, "bad_path");
    assert_eq!(kind(&"x/".repeat(3_000)).await, "bad_path");
    assert_eq!(kind("empty").await, "ok");
    snapshot!(scene.told("read_file", json!({ "path": "crlf.txt" })).await, @"
    ok:      1	a
         2	b
    [end of file: 2 lines; CRLF line ends]
    did: nothing
    ");
}

#[tokio::test]
async fn links_are_followed_inside_and_refused_to_the_outside() {
    let scene = Scene::sample().outside_file("secret.txt", "secret");
    let link = |to: &str, name: &str| {
        std::os::unix::fs::symlink(to, scene.root().join(name)).expect("a link can be made");
    };
    link("notes.txt", "inside");
    link("../secret.txt", "outside");
    link("../gone.txt", "dangling");
    let status = async |path: &str| scene.call("read_file", json!({ "path": path })).await.status;
    assert_eq!(status("inside").await, Status::Ok);
    assert_eq!(status("outside").await, Status::Refused);
    assert_eq!(status("dangling").await, Status::Refused);
    assert_eq!(status("src/../../secret.txt").await, Status::Refused);
    assert_eq!(status("~/x").await, Status::Refused);
}

#[tokio::test]
async fn the_last_line_names_what_is_unusual_about_a_text() {
    let wide: Vec<u8> = "\u{feff}größe\nzwei\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let scene = Scene::sample()
        .file("latin.txt", b"Das ist sch\xf6n,\r\nund gr\xfcn\r\nist es auch.\r\n")
        .file("wide.txt", wide)
        .file("mark.txt", "\u{feff}one\n")
        .file("mac.txt", "one\rtwo\r")
        .file("mixed.txt", "one\r\ntwo\n")
        .file("damaged.txt", b"gr\xc3\xb6\xc3\x9fer\nsch\xc3\xb6ner\xff\n");
    let paths = ["latin.txt", "wide.txt", "mark.txt", "mac.txt", "mixed.txt", "damaged.txt"];
    snapshot!(scene.told("read_file", json!({ "paths": paths })).await, @"
    ok: === latin.txt ===
         1	Das ist schön,
         2	und grün
         3	ist es auch.
    [windows-1252, CRLF line ends]

    === wide.txt ===
         1	größe
         2	zwei
    [UTF-16LE with BOM]

    === mark.txt ===
         1	one
    [UTF-8 with BOM]

    === mac.txt ===
         1	one
         2	two
    [CR line ends]

    === mixed.txt ===
         1	one
         2	two
    [mixed line ends]

    === damaged.txt ===
         1	größer
         2	schöner�
    [bytes that are not text are shown as U+FFFD]
    did: nothing
    ");
    snapshot!(scene.told("read_file", json!({ "path": "latin.txt", "limit": 2 })).await, @"
    ok:      1	Das ist schön,
         2	und grün
    [lines 1–2 of 3; windows-1252, CRLF line ends; go on with offset=3]
    did: nothing
    ");
}

#[tokio::test]
async fn what_is_not_text_is_named_with_its_size() {
    let mut image = b"\x89PNG\r\n\x1a\n".to_vec();
    image.resize(12_034, 0);
    let scene = Scene::sample().file("logo.png", image).file("wide.txt", b"\xff\xfe\0\0a\0\0\0");
    snapshot!(scene.told("read_file", json!({ "path": "logo.png" })).await, @"
    failed at execute (binary): logo.png is not text: PNG image, 12,034 bytes.
    next: use a program that understands this kind of file
    did: nothing
    ");
    snapshot!(scene.told("read_file", json!({ "path": "wide.txt" })).await, @"
    failed at execute (bad_encoding): wide.txt is text in UTF-32LE, which cannot be read here.
    next: convert the file to UTF-8 first
    did: nothing
    ");
}

#[tokio::test]
async fn a_profile_may_refuse_large_files_and_large_pages() {
    let scene = Scene::sample()
        .file("big.txt", "a line of this file\n".repeat(100))
        .limits(|limits| (limits.read_bytes, limits.read_tokens) = (Some(1_999), None));
    snapshot!(scene.told("read_file", json!({ "path": "big.txt", "limit": 1 })).await, @"
    failed at line_up (too_large): big.txt has 2,000 bytes; this profile reads files of at most 1,999.
    next: ask the user for another profile, or work with smaller files
    did: nothing
    ");
    let scene = Scene::sample()
        .file("big.txt", "a line of this file\n".repeat(100))
        .limits(|limits| limits.read_tokens = Some(300));
    snapshot!(scene.told("read_file", json!({ "path": "big.txt" })).await, @r#"
    failed at execute (too_large): The 100 lines of big.txt have about 675 tokens; this profile leaves 300 for them.
    next: read a part of it, for example {"path":"big.txt","offset":1,"limit":44}
    did: nothing
    "#);
    let fitting = scene.call("read_file", json!({ "path": "big.txt", "offset": 1, "limit": 43 })).await;
    assert_eq!(fitting.status, Status::Ok, "{}", fitting.text());
    let second = scene.call("read_file", json!({ "paths": ["notes.txt", "big.txt"], "limit": 43 })).await;
    assert!(second.text().contains("this profile leaves 285 for them"), "{}", second.text());
}
