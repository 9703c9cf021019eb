//! Scenes of `write_file`.

use haft_contract::call::{CallOrigin, RawArguments, ToolCall};
use haft_runtime::asking::approval::Verdict;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use haft_testkit::snapshot;
use haft_testkit::snapshot::told;
use serde_json::json;

fn scene() -> Scene {
    Scene::new().approver(ScriptedApprover::of(std::iter::repeat_n(Verdict::AllowOnce, 64)))
}

#[tokio::test]
async fn a_new_file_is_written_with_the_folders_above_it() {
    let scene = scene();
    let result = scene.call("write_file", json!({ "path": "a/b/c.txt", "content": "one\ntwo\n" })).await;
    snapshot!(told(&result), @"
    ok: Created a/b/c.txt (8 bytes; +2 −0 lines).
    did: changed a/b/c.txt
    ");
    assert_eq!(scene.read("a/b/c.txt"), "one\ntwo\n");
    let data = result.data.expect("it has data");
    assert_eq!((&data["created"], &data["bytes"]), (&json!(true), &json!(8)));
}

#[tokio::test]
async fn a_file_that_was_not_read_is_not_overwritten() {
    let scene = scene().file("a.txt", "mine\n");
    snapshot!(scene.told("write_file", json!({ "path": "a.txt", "content": "x" })).await, @r#"
    failed at line_up (not_read): a.txt was not read in this session.
    next: call "read_file" to look at a.txt (what a command printed does not count), then send this call again
    did: nothing
    "#);
    scene.assert_untouched();
    scene.call("read_file", json!({ "path": "a.txt" })).await;
    snapshot!(scene.told("write_file", json!({ "path": "a.txt", "content": "yours\n" })).await, @"
    ok: Replaced a.txt (6 bytes; +1 −1 lines).
    @@ line 1 @@
    - mine
    + yours
    did: changed a.txt
    ");
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_read_is_stale_with_the_difference() {
    let scene = scene().file("a.txt", "one\ntwo\nthree\n");
    scene.call("read_file", json!({ "path": "a.txt" })).await;
    let scene = scene.file("a.txt", "one\n2\nthree\n");
    snapshot!(scene.told("write_file", json!({ "path": "a.txt", "content": "x\n" })).await, @r#"
    failed at execute (stale): a.txt changed since it was read, in the text that this call would replace:
    @@ line 1 @@
      one
    - two
    + 2
      three
    next: call "read_file" to look at a.txt and base the change on that
    did: nothing
    "#);
    assert_eq!(scene.read("a.txt"), "one\n2\nthree\n");
}

#[tokio::test]
async fn a_mere_touch_is_no_change() {
    let scene = scene().file("a.txt", "one\n");
    scene.call("read_file", json!({ "path": "a.txt" })).await;
    let scene = scene.file("a.txt", "one\n");
    snapshot!(scene.told("write_file", json!({ "path": "a.txt", "content": "two\n" })).await, @"
    ok: Replaced a.txt (4 bytes; +1 −1 lines).
    @@ line 1 @@
    - one
    + two
    did: changed a.txt
    ");
}

#[tokio::test]
async fn write_mode_says_what_happens_to_a_file_that_exists() {
    let scene = scene().file("a.txt", "one\n");
    let mode = |mode: &str| json!({ "path": "a.txt", "content": "two\n", "write_mode": mode });
    snapshot!(scene.told("write_file", mode("create")).await, @r#"
    failed at line_up (already_exists): a.txt exists already. It was not touched.
    next: call "edit_file" to change it, or give "write_mode": "overwrite" to replace it
    did: nothing
    "#);
    snapshot!(scene.told("write_file", mode("overwrite-if-read")).await, @r#"
    failed at line_up (not_read): a.txt was not read in this session.
    next: call "read_file" to look at a.txt (what a command printed does not count), then send this call again
    did: nothing
    "#);
    snapshot!(scene.told("write_file", mode("overwrite")).await, @"
    ok: Replaced a.txt (4 bytes; +1 −1 lines).
    @@ line 1 @@
    - one
    + two
    did: changed a.txt
    ");
}

#[tokio::test]
async fn a_person_who_saw_the_difference_may_overwrite_anything() {
    let scene = scene().file("a.txt", "one\n");
    let arguments = RawArguments::from(json!({ "path": "a.txt", "content": "two\n" }));
    let result = scene.send(ToolCall::new("write_file", arguments).by(CallOrigin::Person)).await;
    snapshot!(told(&result), @"
    ok: Replaced a.txt (4 bytes; +1 −1 lines).
    @@ line 1 @@
    - one
    + two
    did: changed a.txt
    ");
}

#[tokio::test]
async fn line_ends_mark_and_encoding_of_the_file_are_kept() {
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("a\r\nb\r\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let scene = scene()
        .file("crlf.txt", "\u{feff}one\r\ntwo\r\n")
        .file("wide.txt", utf16)
        .file("latin.txt", b"caf\xe9 na\xefve d\xe9j\xe0 vu\n");
    for path in ["crlf.txt", "wide.txt", "latin.txt"] {
        scene.call("read_file", json!({ "path": path })).await;
    }
    scene.call("write_file", json!({ "path": "crlf.txt", "content": "one\n2\n" })).await;
    assert_eq!(scene.read("crlf.txt"), "\u{feff}one\r\n2\r\n");
    scene.call("write_file", json!({ "path": "wide.txt", "content": "é\n" })).await;
    assert_eq!(std::fs::read(scene.root().join("wide.txt")).expect("it is there"), b"\xff\xfe\xe9\0\r\0\n\0");
    scene.call("write_file", json!({ "path": "latin.txt", "content": "thé\n" })).await;
    assert_eq!(std::fs::read(scene.root().join("latin.txt")).expect("it is there"), b"th\xe9\n");
    snapshot!(scene.told("write_file", json!({ "path": "latin.txt", "content": "漢\n" })).await, @"
    failed at execute (bad_encoding): latin.txt: the file's encoding, windows-1252, has no character '漢' (U+6F22).
    next: write without that character, or ask the user to convert the file to UTF-8
    did: nothing
    ");
}

#[tokio::test]
async fn the_same_content_changes_nothing_and_asks_nobody() {
    let scene = Scene::new().file("a.txt", "one\n");
    scene.call("read_file", json!({ "path": "a.txt" })).await;
    snapshot!(scene.told("write_file", json!({ "path": "a.txt", "content": "one\n" })).await, @"
    ok: a.txt has exactly this content already. Nothing was changed.
    did: nothing
    ");
    scene.assert_untouched();
}

#[tokio::test]
async fn nothing_in_the_place_of_what_is_no_text_is_a_change() {
    let scene = scene().file("bin", b"a\0b");
    let overwrite = |content: &str| json!({ "path": "bin", "content": content, "write_mode": "overwrite" });
    snapshot!(scene.told("write_file", overwrite("a\0b")).await, @"
    ok: bin has exactly this content already. Nothing was changed.
    did: nothing
    ");
    snapshot!(scene.told("write_file", overwrite("")).await, @"
    ok: Replaced bin (0 bytes; +0 −0 lines). The file that it replaces is not text (3 bytes).
    did: changed bin
    ");
    assert_eq!(scene.read("bin"), "");
}

#[tokio::test]
async fn what_was_not_looked_at_is_never_the_same() {
    let scene = scene().file("large", "");
    let file = std::fs::File::options().write(true).open(scene.root().join("large")).expect("it is there");
    file.set_len((64 << 20) + 1).expect("it may be sparse");
    let arguments = |mode: &str| json!({ "path": "large", "content": "", "write_mode": mode });
    snapshot!(scene.told("write_file", arguments("overwrite-if-read")).await, @r#"
    failed at line_up (not_read): large was not read in this session.
    next: call "read_file" to look at large (what a command printed does not count), then send this call again, or give "write_mode": "overwrite"
    did: nothing
    "#);
    snapshot!(scene.told("write_file", arguments("overwrite")).await, @"
    ok: Replaced large (0 bytes; +0 −0 lines). It is too large to be compared.
    did: changed large
    ");
    assert_eq!(scene.read("large"), "");
}

#[tokio::test]
async fn what_can_never_be_read_is_told_with_the_way_to_replace_it() {
    let scene = scene().file("bin", b"a\0b").file("utf32", b"\xff\xfe\0\0a\0\0\0");
    snapshot!(scene.told("write_file", json!({ "path": "bin", "content": "x" })).await, @r#"
    failed at execute (binary): bin is not text and cannot be read first (3 bytes). It was not touched.
    next: give "write_mode": "overwrite" to replace it anyway, or write to another path
    did: nothing
    "#);
    snapshot!(scene.told("write_file", json!({ "path": "utf32", "content": "x" })).await, @r#"
    failed at execute (binary): utf32 is not text and cannot be read first (8 bytes). It was not touched.
    next: give "write_mode": "overwrite" to replace it anyway, or write to another path
    did: nothing
    "#);
    scene.assert_untouched();
}

#[tokio::test]
async fn a_script_is_told_how_to_replace_a_file_that_it_has_not_read() {
    let scene = scene().file("a.txt", "one\n");
    let arguments = RawArguments::from(json!({ "path": "a.txt", "content": "two\n" }));
    snapshot!(told(&scene.send(ToolCall::new("write_file", arguments).by(CallOrigin::Script)).await), @r#"
    failed at line_up (not_read): a.txt was not read in this session.
    next: add write_mode=overwrite to replace the file without reading it
    did: nothing
    "#);
}

#[tokio::test]
async fn places_that_cannot_be_written_are_told() {
    let scene = scene().file("dir/a.txt", "x").outside_file("out.txt", "keep\n");
    snapshot!(scene.told("write_file", json!({ "path": "dir", "content": "x" })).await, @"
    failed at line_up (is_folder): dir is a folder.
    next: name a file in it
    did: nothing
    ");
    snapshot!(scene.told("write_file", json!({ "path": "dir/a.txt/b", "content": "x" })).await, @"
    failed at execute (not_a_folder): dir/a.txt/b cannot be there: a part of that path is a file, not a folder.
    next: name a folder
    did: nothing
    ");
    snapshot!(scene.told("write_file", json!({ "path": ".", "content": "x" })).await, @"
    failed at line_up (is_folder): . is a folder.
    next: name a file in it
    note: This tool has now failed 3 times in a row.
    did: nothing
    ");
    snapshot!(scene.told("write_file", json!({ "path": "../out.txt", "content": "x" })).await, @r#"
    refused at authorize (denied): The rule "changes outside" refuses this call. It would create ../out.txt, which is outside the workspace.
    next: ask the user to add that folder, or to copy the file into the workspace
    did: nothing
    "#);
    snapshot!(scene.told("write_file", json!({ "path": ".git/hooks/pre-push", "content": "x", "write_mode": "overwrite" })).await, @"
    ok: Created .git/hooks/pre-push (1 byte; +1 −0 lines).
    did: changed .git/hooks/pre-push
    ");
    assert_eq!(std::fs::read_to_string(scene.root().join("../out.txt")).expect("it is there"), "keep\n");
}

#[tokio::test]
async fn a_protected_name_is_asked_about_even_after_a_grant_for_all_changes() {
    let scene = Scene::new();
    scene.session().grant(haft_policy::grant::GrantScope::ChangesInside);
    snapshot!(scene.told("write_file", json!({ "path": "a.txt", "content": "x" })).await, @"
    ok: Created a.txt (1 byte; +1 −0 lines).
    did: changed a.txt
    ");
    snapshot!(scene.told("write_file", json!({ "path": "sub/.Git/config", "content": "x" })).await, @r#"
    refused at authorize (needs_approval): The rule "protected names" asks first, and there is no one to ask. It would create sub/.Git/config (it belongs to version control, where hooks and settings run programs).
    next: do without it, or ask the user, who can answer at a terminal
    did: nothing
    "#);
}

#[tokio::test]
async fn a_profile_may_only_create_and_the_data_has_bytes_and_the_difference() {
    use haft_contract::limits::WriteMode;
    let scene = scene().file("a.txt", "one\n").limits(|limits| limits.write_mode = WriteMode::Create);
    let result = scene.call("write_file", json!({ "path": "a.txt", "content": "two\n" })).await;
    assert_eq!(result.error.expect("it exists").kind.code(), "already_exists");
    let overwrite = json!({ "path": "a.txt", "content": "two\n", "write_mode": "overwrite" });
    let data = scene.call("write_file", overwrite).await.data.expect("it has data");
    assert_eq!((&data["bytes"], &data["created"]), (&json!(4), &json!(false)));
    assert_eq!(data["diff"], "@@ line 1 @@\n- one\n+ two\n");
}

#[tokio::test]
async fn line_ends_of_a_file_that_is_replaced_stay_with_their_lines() {
    let scene = scene().file("mac.txt", "a\rb\r").file("mixed.txt", "a\r\nb\nc\r\n").file("dos.txt", "a\r\nb\r\n");
    let all = json!({ "paths": ["mac.txt", "mixed.txt", "dos.txt"] });
    scene.call("read_file", all).await;
    snapshot!(scene.told("write_file", json!({ "path": "mixed.txt", "content": "a\nb\nX\nc\n" })).await, @"
    ok: Replaced mixed.txt (10 bytes; +1 −0 lines). Its mixed line ends were kept line by line.
    @@ line 1 @@
      a
      b
    + X
      c
    did: changed mixed.txt
    ");
    snapshot!(scene.told("write_file", json!({ "path": "mac.txt", "content": "a\nc\n" })).await, @"
    ok: Replaced mac.txt (4 bytes; +1 −1 lines). Its CR line ends were kept.
    @@ line 1 @@
      a
    - b
    + c
    did: changed mac.txt
    ");
    snapshot!(scene.told("write_file", json!({ "path": "dos.txt", "content": "a\nb\n" })).await, @"
    ok: dos.txt has exactly this content already. Nothing was changed.
    did: nothing
    ");
    assert_eq!(scene.read("mac.txt"), "a\rc\r");
    assert_eq!(scene.read("mixed.txt"), "a\r\nb\nX\nc\r\n");
}

#[tokio::test]
async fn a_url_or_a_drive_letter_is_no_path_unless_there_is_such_a_name() {
    let scene = scene().file("c:\\old.txt", "odd\n").file("x:/in.txt", "odd\n");
    let write = |path: &str| json!({ "path": path, "content": "x" });
    snapshot!(scene.told("write_file", write("file:///x/a.txt")).await, @r#"
    failed at line_up (bad_path): "file:///x/a.txt" is a URL, not a path.
    next: name the path without the scheme: "/x/a.txt"
    did: nothing
    "#);
    snapshot!(scene.told("write_file", write("https://example.org/a.txt")).await, @r#"
    failed at line_up (bad_path): "https://example.org/a.txt" is a URL, not a path.
    next: name a file of the workspace by its path, such as "src/main.rs"
    did: nothing
    "#);
    snapshot!(scene.told("write_file", write("C:\\temp\\a.txt")).await, @r#"
    failed at line_up (bad_path): "C:\temp\a.txt" has a drive letter, and paths have none here.
    next: name a path relative to the workspace, with "/", such as "temp/a.txt"
    note: This tool has now failed 3 times in a row.
    did: nothing
    "#);
    scene.assert_untouched();
    for path in ["c:\\old.txt", "x:/in.txt"] {
        let told = scene.told("read_file", json!({ "path": path })).await;
        assert!(told.starts_with("ok:"), "{told}");
    }
    for path in ["x:/new.txt", "./file:/a.txt", "a:b.txt", "c++:notes"] {
        let told = scene.told("write_file", write(path)).await;
        assert!(told.starts_with("ok:"), "{told}");
    }
}
