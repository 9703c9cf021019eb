//! Names with one meaning, folders that one can survey, and comments in plain words.

use std::collections::BTreeMap;

use super::*;

/// Most types of one name that need no reason.
const SAME_NAME: usize = 2;

/// Names that more types may have, and why.
const SHARED: [(&str, &str); 2] = [
    ("Args", "each tool has its arguments, and its file names the tool"),
    ("Draft", "each tool has what its planning found, as `Tool::Draft` says"),
];

/// Names from an early vocabulary, each with the name of today.
const FORMER: [(&str, &str); 13] = [
    ("Ground", "Staging"),
    ("Desk", "OrderQueue"),
    ("Settled", "CommitReport"),
    ("Errand", "Provenance"),
    ("Bench", "a name that says what is measured or tried"),
    ("Zone", "PathClass"),
    ("Deed", "FileOp"),
    ("Lift", "InverseLowering"),
    ("Held", "TrustCheck"),
    ("Brought", "ProjectFile"),
    ("Tongue", "DialectSpec"),
    ("Told", "a noun"),
    ("Teller", "Printer"),
];

const SIBLINGS: usize = 15;

/// Names every type whose name too many types have, or that has a former name.
pub fn shared_names(files: &[Source]) -> Vec<Offence> {
    let mut types: BTreeMap<&str, Vec<(&Source, usize)>> = BTreeMap::new();
    for source in product(files) {
        for (line, name) in source.numbered_lines().filter_map(|(line, text)| Some((line, type_name(text)?))) {
            types.entry(name).or_default().push((source, line));
        }
    }
    let mut offences = Vec::new();
    for (name, places) in types {
        let former = FORMER.iter().find(|(former, _)| *former == name);
        let is_shared = places.len() > SAME_NAME && SHARED.iter().all(|(shared, _)| *shared != name);
        for (source, line) in places.iter().filter(|_| is_shared || former.is_some()) {
            let what = match former {
                Some((_, today)) => format!("`{name}` is called {today}"),
                None => format!("{} types are called `{name}`", places.len()),
            };
            offences.push(source.offence(*line, what, "name it by a noun that is understood without its module"));
        }
    }
    offences
}

/// Returns the name of the type that a line begins to define.
fn type_name(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let is_outermost = text.len() == line.len();
    let text = match text.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.trim_start(),
        None => text,
    };
    // A type inside a trait or its implementation has the name that the trait gives it.
    let kinds = ["struct ", "enum ", "trait ", "union "];
    let kind = kinds.iter().copied().chain(is_outermost.then_some("type "));
    let rest = kind.into_iter().find_map(|kind| text.strip_prefix(kind))?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| !name.is_empty())
}

/// Names every folder that has more modules than one can survey.
pub fn crowded_folders(files: &[Source]) -> Vec<Offence> {
    let mut folders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in product(files) {
        let parts: Vec<&str> = source.path.trim_end_matches(".rs").split('/').collect();
        for at in 3..parts.len() {
            let modules = folders.entry(parts[..at].join("/")).or_default();
            modules.extend(Some(parts[at].to_owned()).filter(|name| !matches!(name.as_str(), "lib" | "main")));
        }
    }
    let crowded = folders.into_iter().filter(|(_, modules)| modules.len() > SIBLINGS);
    let offence = |(folder, modules): (String, BTreeSet<String>)| {
        let what = format!("{} modules, at most {SIBLINGS} are allowed", modules.len());
        Offence::new(&format!("{folder}/"), 1, what, "put those that belong together into a folder")
    };
    crowded.map(offence).collect()
}

/// Names every comment of the product that has an odd word.
pub fn odd_comments(files: &[Source]) -> Vec<Offence> {
    let mut offences = Vec::new();
    for source in product(files) {
        for (line, text) in source.numbered_lines() {
            let comment = text.trim_start().strip_prefix("//").unwrap_or_default();
            offences.extend(wording::odd_in(comment).map(|(odd, better)| {
                source.offence(
                    line,
                    format!("a comment says \"{odd}\": {better}"),
                    "name the actor, and use the usual verb",
                )
            }));
        }
    }
    offences
}
