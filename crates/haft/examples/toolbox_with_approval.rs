//! haft's own tools in a program: a closure answers the questions, and undo takes the last change back.
//!
//! `cargo run -p haft --example toolbox_with_approval -- FOLDER`; the folder must exist.

use haft::{ApprovalRequest, Toolbox, Verdict};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    haft::sandbox_launcher();
    run()
}

#[tokio::main]
async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("name a folder to work in")?;
    let toolbox = Toolbox::builder()
        .folder(folder)
        .approve(|request: &ApprovalRequest| {
            println!("asked: {} would {}", request.tool, request.effects[0].words);
            let is_text = request.arguments["path"].as_str().is_some_and(|path| path.ends_with(".txt"));
            match is_text {
                true => Verdict::AllowOnce,
                // The model reads the note.
                false => Verdict::Refuse { note: Some("only text files may be written here".to_owned()) },
            }
        })
        .build()?;

    let written = toolbox.call("write_file", json!({ "path": "hello.txt", "content": "hello\n" })).await;
    println!("{}", written.text());
    let refused = toolbox.call("write_file", json!({ "path": ".env", "content": "TOKEN=1\n" })).await;
    println!("{}", refused.text());

    let undone = toolbox.undo()?;
    println!("undid change set {:?}", undone.sets);
    Ok(())
}
