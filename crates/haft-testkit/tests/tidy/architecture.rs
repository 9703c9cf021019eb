//! Checks what `ARCHITECTURE.md` claims: the files and folders of crates that it names, and the arrows between crates.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Offence, Source};
use super::{CRATES, arrows};

const PAGE: &str = "ARCHITECTURE.md";

/// Finds paths in the page behind which there is no file and no folder of a crate.
pub fn broken_paths(files: &[Source]) -> Vec<Offence> {
    let Some(page) = page(files) else { return vec![missing()] };
    let mut offences = Vec::new();
    for (number, line) in page.numbered_lines() {
        let quoted = line.split('`').skip(1).step_by(2);
        for path in quoted.filter(|quoted| is_path(quoted) && !files.iter().any(|source| is_at(source, quoted))) {
            let what = format!("there is no file or folder {path}");
            offences.push(page.offence(number, what, "name the place where it is today"));
        }
    }
    offences
}

/// Finds crates whose arrows in the page are not those that the tidy test checks.
pub fn wrong_arrows(files: &[Source]) -> Vec<Offence> {
    let Some(page) = page(files) else { return vec![missing()] };
    let drawn = drawn_arrows(&page.text);
    let differs = |name: &&str| {
        let allowed = arrows(name).unwrap_or_default();
        drawn.get(*name).unwrap_or(&BTreeSet::new()).iter().ne(allowed.iter().filter(|used| *used != name))
    };
    let fix = "write the arrows that the tidy test has";
    let offence = |name| {
        page.offence(page.line_with("Arrows: "), format!("the arrows of {name} are not those that are checked"), fix)
    };
    CRATES.into_iter().filter(differs).map(offence).collect()
}

fn page(files: &[Source]) -> Option<&Source> {
    files.iter().find(|source| source.path == PAGE)
}

fn missing() -> Offence {
    Offence::new(PAGE, 1, "the file is gone", "restore it")
}

/// Paths are written from the crate's folder, from its `src`, or from a module on. The other folders have their own tests.
fn is_path(quoted: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-./".contains(c);
    let is_of_a_crate = !quoted.starts_with("docs/") && !quoted.starts_with("tests/");
    quoted.chars().all(is_plain) && is_of_a_crate && (quoted.contains('/') || quoted.ends_with(".rs"))
}

fn is_at(source: &Source, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let whole = format!("/{}", source.path);
    whole.ends_with(&format!("/{path}"))
        || whole.contains(&format!("/{path}/"))
        || whole.ends_with(&format!("/{path}.rs"))
}

/// Reads the sentence "Arrows: a, b → c; d → all but e.": for each crate the others that it may use.
fn drawn_arrows(page: &str) -> BTreeMap<String, BTreeSet<&'static str>> {
    let sentence = page.split_once("Arrows: ").and_then(|(_, rest)| rest.split_once('.')).map_or("", |(said, _)| said);
    let mut drawn = BTreeMap::new();
    for (users, used) in sentence.split(';').filter_map(|arrow| arrow.split_once('→')) {
        let used: Vec<&str> = match used.trim().strip_prefix("all") {
            Some(others) => {
                let others: Vec<String> = names(others.trim().trim_start_matches("but ")).collect();
                CRATES.into_iter().filter(|name| !others.iter().any(|other| other == name)).collect()
            }
            None => {
                let named: Vec<String> = names(used).collect();
                CRATES.into_iter().filter(|name| named.iter().any(|other| other == name)).collect()
            }
        };
        for user in names(users) {
            let others = used.iter().copied().filter(|name| *name != user).collect();
            drawn.insert(user, others);
        }
    }
    drawn
}

/// Returns the whole names of crates: `haft` stands for itself, `cli` for `haft-cli`.
fn names(list: &str) -> impl Iterator<Item = String> + '_ {
    list.split(',').map(str::trim).map(|name| if name == "haft" { name.to_owned() } else { format!("haft-{name}") })
}
