//! A tool that declares its effects reads what it declares, and no other file of the workspace.

use serde_json::{Value, json};

use crate::workshop::Workshop;

/// Tries to read a file in the ways that code has, and says what came of it.
const READERS: &str = "\
import os, subprocess, glob
def attempt(path, way='open'):
    try:
        if way == 'open': return open(path).read()
        if way == 'absolute': return open(os.path.join(os.getcwd(), path)).read()
        if way == 'child': return subprocess.run(['cat', path], capture_output=True, text=True).stdout or 'nothing'
        if way == 'link': os.symlink(os.path.abspath(path), '/tmp/l%d' % os.getpid()); return open('/tmp/l%d' % os.getpid()).read()
        if way == 'hard link': os.link(path, 'other-name'); return open('other-name').read()
        if way == 'rename': os.rename(path, 'moved'); return open('moved').read()
        if way == 'remove': os.remove(path); return 'removed'
        if way == 'folder': return open(glob.glob(os.path.dirname(path) + '/*')[0]).read()
    except (OSError, IndexError) as error: return 'refused: %s' % error
def read_one(path, other=None, way='open'):
    return attempt(path) + '|' + (attempt(other, way) if other else '')
def compute(other, way='open'): return attempt(other, way)
def compute_in(other): return attempt(other)
def compute_free(other): return attempt(other)
def fails_to_read(path): return open('b.txt').read()
def add(path):
    old = open(path).read()
    open(path, 'w').write(old + '!')
    return old
";

const WAYS: [&str; 8] = ["open", "absolute", "child", "link", "hard link", "rename", "remove", "folder"];

/// A tool with one argument that its effects name.
fn tool(name: &str, effects: &str) -> String {
    let schema = "{properties: {path: {type: string, description: The file.}}, additionalProperties: true}";
    format!(
        "name: {name}\ndescription: Is tried.\nbinding: functions:{name}\neffects: {effects}\ninput_schema: {schema}\n"
    )
}

fn shop() -> Option<Workshop> {
    let shop = Workshop::with_python(READERS)?
        .file("ws/a.txt", "A")
        .file("ws/b.txt", "SECRET")
        .file("ws/deep/er/c.txt", "SECRET")
        .file("ws/deep/d.txt", "D")
        .tool(&tool("read_one", "[{read: \"{path}\"}]"))
        .tool(&tool("compute", "[]"))
        .tool(&tool("compute_in", "[{read: deep}]"))
        .function("compute_free", "")
        .tool(&tool("fails_to_read", "[{read: \"{path}\"}]"))
        .tool(&tool("add", "[{change: \"{path}\"}]"));
    Some(shop)
}

#[tokio::test]
async fn a_worker_reads_the_file_that_its_call_declares_and_no_other() {
    let Some(shop) = shop() else { return };
    for way in WAYS {
        for other in ["b.txt", "deep/er/c.txt"] {
            let said = shop.works("read_one", json!({ "path": "a.txt", "other": other, "way": way })).await;
            assert!(said.starts_with("A|") && !said.contains("SECRET"), "{way} {other}: {said}");
        }
    }
    // The next call of the same worker declares another file.
    assert_eq!(shop.works("read_one", json!({ "path": "b.txt" })).await, "SECRET|");
    let said = shop.works("read_one", json!({ "path": "deep/d.txt", "other": "a.txt" })).await;
    assert!(said.starts_with("D|refused"), "{said}");
    let said = shop.works("read_one", json!({ "path": "a.txt", "other": "b.txt" })).await;
    assert!(said.starts_with("A|refused"), "{said}");
}

#[tokio::test]
async fn a_worker_that_only_computes_reads_no_file_of_the_workspace() {
    let Some(shop) = shop() else { return };
    for way in WAYS {
        let said = shop.works("compute", json!({ "other": "b.txt", "way": way })).await;
        assert!(!said.contains("SECRET"), "{way}: {said}");
    }
}

#[tokio::test]
async fn a_function_that_fails_for_it_is_told_what_to_do() {
    let Some(shop) = shop() else { return };
    let result = shop.call("fails_to_read", json!({ "path": "a.txt" })).await;
    let next = result.error.expect("it fails").next.to_string();
    assert!(next.contains("reads only the files that its \"effects\" name"), "{next}");
}

#[tokio::test]
async fn a_folder_that_is_declared_is_read_with_everything_in_it() {
    let Some(shop) = shop() else { return };
    assert_eq!(shop.works("compute_in", json!({ "other": "deep/er/c.txt" })).await, "SECRET");
}

#[tokio::test]
async fn a_program_reads_the_file_that_its_call_declares_and_no_other() {
    let shop = Workshop::new()
        .file("ws/a.txt", "A")
        .file("ws/b.txt", "SECRET")
        .file("tools/show.sh", "#!/bin/sh\ncat > /dev/null; cat a.txt; cat b.txt 2>&1; true\n")
        .tool("name: show\ndescription: Shows.\nbinding: {command: [./show.sh]}\neffects: [{read: a.txt}]\ninput_schema: {}\n");
    let said = shop.works("show", Value::Object(Default::default())).await;
    assert!(said.starts_with('A') && said.contains("Permission denied") && !said.contains("SECRET"), "{said}");
}

#[tokio::test]
async fn a_file_that_is_declared_as_changed_is_read_and_changed() {
    let Some(shop) = shop() else { return };
    assert_eq!(shop.works("add", json!({ "path": "a.txt" })).await.lines().next(), Some("A"));
    assert_eq!(std::fs::read_to_string(shop.path("ws/a.txt")).expect("it is there"), "A!");
}

#[tokio::test]
async fn a_tool_without_effects_reads_the_whole_workspace() {
    let Some(shop) = shop() else { return };
    assert_eq!(shop.works("compute_free", json!({ "other": "b.txt" })).await, "SECRET");
}
