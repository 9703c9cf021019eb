//! haft's tools under the names and arguments that a prompt of another system uses.
//!
//! `cargo run -p haft --example custom_dialect -- FOLDER`; the folder needs a file `notes.txt`.

use haft::Toolbox;
use haft::dialect::check;
use serde_json::json;

/// The dialect: `view(file, from)` is `read_file(path, offset)`, counted from 0.
const DIALECT: &str = r#"
[[tools]]
name = "view"
tool = "read_file"
words = "Shows a file."
required = ["file"]
example = { file = "README.md" }
arguments = [
    { name = "file", to = "path", says = "The file." },
    { name = "from", to = "offset from-zero", says = "First line, from 0." },
]
"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let checked = check("mine", DIALECT);
    let Some(dialect) = checked.dialect else {
        return Err(checked.problems.iter().map(|problem| problem.what.as_str()).collect::<Vec<_>>().join("; ").into());
    };
    let toolbox = Toolbox::builder().folder(folder).dialect(dialect).build()?;
    for tool in toolbox.tools() {
        println!("{}: {}", tool.name, tool.manual.words);
    }
    println!("{}", toolbox.call("view", json!({ "file": "notes.txt", "from": 1 })).await.text());
    Ok(())
}
