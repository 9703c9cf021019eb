//! Measures what haft adds to a call between a client and a server. It calls the bare server directly
//! and through `haft mcp serve --with`, in turns.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::server::{Server, in_home};
use crate::{FILES, ROUNDS, read_all, share};

/// What the gateway may add to a call.
const MOST_ADDED: Duration = Duration::from_micros(100);
const NAME: &str = "bare";

/// Measures it and says what came of it; the error says why it could not be measured, or that it is too much.
pub fn measure(haft: &str, bare: &[String], (workspace, home): (&Path, &Path)) -> Result<(), String> {
    let workspace_words = workspace.display().to_string();
    let mut add = in_home(Command::new(haft), home);
    add.args(["-C", &workspace_words, "mcp", "add", NAME, "--"]).args(bare);
    let added = add.output().map_err(|error| error.to_string())?;
    if !added.status.success() {
        return Err(format!("the bare server cannot be used: {}", String::from_utf8_lossy(&added.stderr)));
    }
    let words = [haft, "-C", &workspace_words, "--yes=all", "mcp", "serve", "--with", NAME].map(String::from);
    let mut contenders = [
        (Server::start(bare, home)?, "read_text_file".to_owned(), Vec::new()),
        (Server::start(&words, home)?, format!("{NAME}__read_text_file"), Vec::new()),
    ];
    for (server, _, _) in &mut contenders {
        server.shake_hands()?;
    }
    for round in 0..=ROUNDS {
        for (server, tool, times) in &mut contenders {
            let took = read_all(server, tool, workspace)?;
            if round > 0 {
                times.extend(took);
            }
        }
    }
    let [direct, through] = contenders.each_ref().map(|(_, _, times)| share(times, 0.5));
    let us = |time: Duration| format!("{:.0} µs", time.as_secs_f64() * 1e6);
    let more = through.saturating_sub(direct);
    println!("{} calls of a server, in turns: {} directly, {} through haft", ROUNDS * FILES, us(direct), us(through));
    println!("the gateway adds, p50            {:>10}   at most {}", us(more), us(MOST_ADDED));
    if more > MOST_ADDED { Err("the gateway adds too much to a call".to_owned()) } else { Ok(()) }
}
