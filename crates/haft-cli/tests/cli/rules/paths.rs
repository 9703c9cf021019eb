//! The cases of paths that are removed or moved, as `rm` and `mv` would do it.
//!
//! The file door answers the same cases with files (`haft-tools`). Here only the place is judged: a case that is allowed
//! there is an ordinary question here, and one that fails there may be anything but a crash.

use serde::Deserialize;

use super::verdict;
use crate::Place;

const CASES: [&str; 2] = [
    include_str!("../../../../../tests/cases/paths.jsonl"),
    include_str!("../../../../../tests/cases/more_paths.jsonl"),
];

#[derive(Clone, Debug, Deserialize)]
struct Case {
    id: String,
    op: String,
    path: String,
    accept: Vec<String>,
    why: String,
    #[serde(default)]
    setup: Vec<Step>,
}

#[derive(Clone, Debug, Deserialize)]
struct Step {
    #[serde(rename = "do")]
    what: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    target: String,
}

#[test]
fn the_cases_of_removed_and_moved_paths_hold() {
    let lines = CASES.iter().flat_map(|cases| cases.lines()).filter(|line| !line.trim().is_empty());
    let cases = lines.map(|line| serde_json::from_str::<Case>(line).expect("a case is JSON"));
    let wrong: Vec<String> = cases.filter_map(|case| judged(&case)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns what is wrong with the answer to a case.
fn judged(case: &Case) -> Option<String> {
    let place = Place::new();
    ["out", "home"].iter().for_each(|name| std::fs::create_dir_all(place.path(name)).expect("a folder can be made"));
    let command = command(case, &place)?;
    case.setup.iter().for_each(|step| step.lay_out(&place));
    let said = place.explained(std::iter::once(command.as_str())).remove(0);
    let accepted = |answer: &String| match answer.as_str() {
        // The ordinary question of a removal still comes.
        "allow" => vec!["safe", "ask"],
        "ask" => vec!["ask"],
        "deny" => vec!["dangerous"],
        _ => vec!["safe", "ask", "dangerous"],
    };
    let is_right = case.accept.iter().flat_map(accepted).any(|verdict_there| verdict_there == verdict(&said));
    let Case { id, accept, why, .. } = case;
    (!is_right).then(|| format!("{id}: {command} is {}, not {accept:?} ({why})", said["decision"]))
}

fn command(case: &Case, place: &Place) -> Option<String> {
    let quoted = |path: &str| format!("'{}'", expanded(path, place).replace('\'', "'\\''"));
    match case.op.as_str() {
        "delete" => Some(format!("rm -r -- {}", quoted(&case.path))),
        "move" => case.path.split_once(" -> ").map(|(from, to)| format!("mv -- {} {}", quoted(from), quoted(to))),
        _ => None,
    }
}

fn expanded(text: &str, place: &Place) -> String {
    ["WS", "OUT", "HOME"].iter().fold(text.to_owned(), |text, name| {
        let folder = place.path(&name.to_lowercase());
        text.replace(&format!("${{{name}}}"), folder.to_str().expect("temporary folders are text"))
    })
}

impl Step {
    fn lay_out(&self, place: &Place) {
        let path = place.path(&self.path);
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("folders can be made");
        match self.what.as_str() {
            "dir" => std::fs::create_dir_all(path).expect("a folder can be made"),
            "symlink" => {
                std::os::unix::fs::symlink(expanded(&self.target, place), path).expect("a link can be made");
            }
            // What is in a file, and what else it is, says nothing about its place.
            "file" | "hardlink" | "fifo" | "socket" | "sparse" => {
                std::fs::write(path, "x\n").expect("a file can be written")
            }
            "rawname" | "race-swap" => {}
            other => panic!("a step that is not known: {other}"),
        }
    }
}
