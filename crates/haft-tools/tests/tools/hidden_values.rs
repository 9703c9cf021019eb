//! Changes of files in which values are hidden: haft's word for a value never takes the place of it.

use haft_runtime::asking::approval::Verdict;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use haft_testkit::snapshot;
use serde_json::{Value, json};

const FILE: &str = "version=1\nsigningPassword=k-9f8e7d6c5b\nnpmToken=k-5b4c3d2e1f\n";

async fn scene() -> Scene {
    let scene = Scene::new().approver(ScriptedApprover::of(std::iter::repeat_n(Verdict::AllowOnce, 64)));
    let scene = scene.file("gradle.properties", FILE);
    let read = scene.told("read_file", json!({ "path": "gradle.properties" })).await;
    assert!(read.contains("signingPassword=[secret]") && !read.contains("k-9f8e"), "{read}");
    scene
}

fn edit(old: &str, new: &str) -> (&'static str, Value) {
    ("edit_file", json!({ "path": "gradle.properties", "edits": [{ "old_text": old, "new_text": new }] }))
}

fn write(content: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": "gradle.properties", "content": content }))
}

#[tokio::test]
async fn what_a_model_sends_back_as_it_saw_it_keeps_the_values() {
    let second = "version=2\nsigningPassword=k-9f8e7d6c5b\nnpmToken=k-5b4c3d2e1f\n";
    for ((tool, arguments), after) in [
        (write("version=2\nsigningPassword=[secret]\nnpmToken=[secret]\n"), second),
        (edit("version=1\nsigningPassword=[secret]", "version=2\nsigningPassword=[secret]"), second),
        (edit("version=1", "version=2"), second),
        (
            edit("npmToken=[secret]", "# new\nnpmToken=[secret]"),
            "version=1\nsigningPassword=k-9f8e7d6c5b\n# new\nnpmToken=k-5b4c3d2e1f\n",
        ),
        (edit("npmToken=[secret]", "token=[secret]"), "version=1\nsigningPassword=k-9f8e7d6c5b\ntoken=k-5b4c3d2e1f\n"),
        (edit("     3\tnpmToken=[secret]", ""), "version=1\nsigningPassword=k-9f8e7d6c5b\n\n"),
        (
            edit("signingPassword=[secret]", "signingPassword=new"),
            "version=1\nsigningPassword=new\nnpmToken=k-5b4c3d2e1f\n",
        ),
    ] {
        let scene = scene().await;
        let told = scene.told(tool, arguments.clone()).await;
        assert_eq!(scene.read("gradle.properties"), after, "{arguments}: {told}");
        assert!(!told.contains("k-9f8e") && !told.contains("k-5b4c"), "{told}");
    }
}

#[tokio::test]
async fn a_placeholder_that_could_mean_several_values_is_refused_with_the_way_on() {
    let scene = scene().await;
    for (tool, arguments) in [
        write("[secret]\nversion=2\n"),
        write("other=[secret]\n"),
        edit("[secret]", "x"),
        edit("version=1", "v=[secret]"),
    ] {
        let told = scene.told(tool, arguments.clone()).await;
        assert!(told.contains("haft's word for a hidden value"), "{arguments}: {told}");
        assert!(told.contains("exactly as it was shown"), "{arguments}: {told}");
        scene.assert_untouched();
    }
}

#[tokio::test]
async fn the_word_may_be_written_where_nothing_is_hidden() {
    let scene = scene().await.file("README.md", "old\n");
    scene.call("read_file", json!({ "path": "README.md" })).await;
    snapshot!(scene.told("write_file", json!({ "path": "README.md", "content": "haft shows [secret]\n" })).await, @"
    ok: Replaced README.md (20 bytes; +1 −1 lines).
    @@ line 1 @@
    - old
    + haft shows [secret]
    did: changed README.md
    ");
}

/// What a repository puts into its `.env` so that a question hides it.
const PLANTED: &str = "A_TOKEN=src-x9q2zz7d1f88aa\nB_TOKEN=os.system_x9q2zz7d1f\n";

/// Returns everything that the question about a call shows.
async fn question(tool: &str, arguments: Value) -> String {
    let script = ScriptedApprover::of([Verdict::AllowOnce]);
    let scene = Scene::new().approver(script.clone()).file(".env", PLANTED).file("src-x9q2zz7d1f88aa/a", "1\n");
    let scene = scene.file("notes.md", "a\n");
    let told = scene.told(tool, arguments).await;
    assert!(!told.contains("x9q2zz7d1f"), "the result hides it: {told}");
    let asked = script.asked();
    let [asked] = asked.as_slice() else { panic!("one question: {asked:?}") };
    format!("{:?} {:?} {} {:?}", asked.effects, asked.preview, asked.arguments, asked.ruling.reason)
}

#[tokio::test]
async fn a_question_shows_paths_and_the_text_of_the_model_also_if_a_file_calls_them_secret() {
    let write = json!({ "path": "src-x9q2zz7d1f88aa/b.py", "content": "os.system_x9q2zz7d1f()\n" });
    let shown = question("write_file", write).await;
    assert!(shown.contains("src-x9q2zz7d1f88aa/b.py") && shown.contains("os.system_x9q2zz7d1f()"), "{shown}");
    assert!(!shown.contains("[secret]"), "{shown}");
    let edit = json!({ "path": "notes.md", "edits": [{ "old_text": "a", "new_text": "os.system_x9q2zz7d1f()" }] });
    let shown = question("edit_file", edit).await;
    assert!(shown.contains("os.system_x9q2zz7d1f()") && !shown.contains("[secret]"), "{shown}");
}

#[tokio::test]
async fn a_question_hides_values_that_haft_itself_puts_into_a_difference() {
    let script = ScriptedApprover::of(std::iter::repeat_n(Verdict::AllowOnce, 4));
    let scene = Scene::new().approver(script.clone()).file("gradle.properties", FILE);
    scene.told("read_file", json!({ "path": "gradle.properties" })).await;
    let content = "version=2\nsigningPassword=[secret]\nnpmToken=[secret]\n";
    scene.told("write_file", json!({ "path": "gradle.properties", "content": content })).await;
    assert!(scene.read("gradle.properties").contains("k-9f8e7d6c5b"));
    let shown = script.asked().iter().map(|asked| format!("{:?}", asked.preview)).collect::<String>();
    assert!(shown.contains("version=2") && !shown.contains("k-9f8e7d6c5b"), "{shown}");
}
