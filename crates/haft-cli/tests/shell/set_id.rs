//! Set-user-ID and set-group-ID bits belong to the content that had them.

use std::os::unix::fs::MetadataExt;

use serde_json::json;

use crate::ground::{Ground, assert_same, for_everybody};

fn mode(ground: &Ground, path: &str) -> u32 {
    ground.place.path(path).metadata().expect("it is there").mode() & 0o7777
}

fn undone(ground: &Ground, number: &serde_json::Value) -> String {
    let undone = ground.haft(&["undo", &number.to_string()]);
    let text = format!("{}{}", String::from_utf8_lossy(&undone.stdout), String::from_utf8_lossy(&undone.stderr));
    assert!(undone.status.success(), "{text}");
    text
}

#[test]
fn undo_of_a_mode_gives_set_id_bits_only_to_the_content_that_had_them() {
    for_everybody(&|ground| {
        for bits in [0o4755, 0o2755, 0o6755] {
            let ground = ground.another();
            ground.lay_out(&format!("echo mine > priv; chmod {bits:o} priv"));
            let before = ground.tree();
            let narrowed = ground.bash("chmod 755 priv", 20.0);
            let replaced = ground.bash("echo other > priv", 20.0);
            let text = undone(&ground, &narrowed["change_set"]);
            assert_eq!(mode(&ground, "priv"), 0o755, "{bits:o}: {text}");
            assert!(text.contains("set-user-ID"), "{bits:o}: {text}");

            let ground = ground.another();
            ground.lay_out(&format!("echo mine > priv; chmod {bits:o} priv"));
            let narrowed = ground.bash("chmod 755 priv", 20.0);
            let replaced_too = ground.bash("echo other > priv", 20.0);
            undone(&ground, &replaced_too["change_set"]);
            undone(&ground, &narrowed["change_set"]);
            assert_same(&format!("{bits:o}: {replaced:#}"), &before, &ground.tree());
        }
    });
}

#[test]
fn new_content_from_a_file_tool_gets_no_set_id_bits_and_undo_restores_both() {
    let write = json!({ "name": "write_file", "arguments": { "path": "priv", "content": "other\n" } });
    let edit = json!({ "name": "edit_file", "arguments": { "path": "priv", "old_text": "mine", "new_text": "other" } });
    let read = json!({ "name": "read_file", "arguments": { "path": "priv" } });
    for_everybody(&|ground| {
        for (call, bits) in [(&write, 0o4755), (&edit, 0o4755), (&write, 0o2755), (&edit, 0o6755)] {
            let ground = ground.another();
            ground.lay_out(&format!("echo mine > priv; chmod {bits:o} priv"));
            let before = ground.tree();
            let records = ground.place.call(&ground.around, &[read.clone(), call.clone()]);
            assert_eq!(records[1]["status"], "ok", "{records:#?}");
            assert_eq!(mode(&ground, "priv"), 0o755, "{records:#?}");
            assert!(records[1].to_string().contains("set-user-ID"), "{records:#?}");
            let undone = ground.haft(&["undo"]);
            assert!(undone.status.success(), "{}", String::from_utf8_lossy(&undone.stderr));
            assert_same("set-id bits", &before, &ground.tree());
        }
    });
}
