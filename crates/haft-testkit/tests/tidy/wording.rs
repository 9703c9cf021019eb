//! Words that texts for people and models do not have, and where they were found.

use super::*;

/// Crates whose texts are in the words of a manual page.
const WORDED: [&str; 13] = [
    "haft-agent",
    "haft-cli",
    "haft-config",
    "haft-contract",
    "haft-host",
    "haft-mcp",
    "haft-model",
    "haft-net",
    "haft-policy",
    "haft-runtime",
    "haft-sandbox",
    "haft-tools",
    "haft-workspace",
];

/// Words and phrases with a better one beside them.
const ODD: [(&str, &str); 24] = [
    ("whoever", "name the actor"),
    ("somebody", "name the actor: the user, a program, haft"),
    ("nobody", "name the actor: the user, a program, haft"),
    ("so-manieth", "nth"),
    ("mend", "fix or repair"),
    ("mends", "fixes or repairs"),
    ("mended", "fixed or repaired"),
    ("mending", "fixing or repairing"),
    ("there again", "restored"),
    ("gone again", "removed"),
    ("comes to lie", "is"),
    ("come to lie", "be"),
    ("takes up again", "resumes"),
    ("taken up again", "resumed"),
    ("of its own accord", "by itself"),
    ("what was so", "name it"),
    ("comes to something else", "differs"),
    ("no yes helps", "approval does not help"),
    ("as it was before", "restored or unchanged"),
    ("at once", "immediately, or together"),
    ("brings along", "has"),
    ("thrown away", "discarded"),
    ("anew", "again"),
    ("is as it was", "is unchanged"),
];

/// Names every text of the product that has an odd word: the literals of its code, and the files that models read.
pub fn odd_words(files: &[Source]) -> Vec<Offence> {
    let is_worded =
        |source: &&Source| WORDED.iter().any(|name| source.path.starts_with(&format!("crates/{name}/src/")));
    let mut offences = Vec::new();
    for source in files.iter().filter(is_worded).filter(|source| !source.is_for_tests()) {
        let texts = if source.is_rust() { source.literals() } else { texts_for_models(source) };
        // A literal without a space is a name or a path.
        for (text, line) in texts.into_iter().filter(|(text, _)| text.contains(' ')) {
            for (odd, better) in odd_in(&text) {
                let what = format!("a text says \"{odd}\": {better}");
                offences.push(source.offence(line, what, "write it as a manual page would"));
            }
        }
    }
    offences
}

/// Returns the odd words of a text, each with a better one.
pub fn odd_in(text: &str) -> impl Iterator<Item = &'static (&'static str, &'static str)> + use<> {
    let words = words_of(text);
    ODD.iter().filter(move |(odd, _)| words.contains(&format!(" {odd} ")))
}

fn texts_for_models(source: &Source) -> Vec<(String, usize)> {
    let lines = source.numbered_lines().filter(|_| source.path.ends_with(".md"));
    lines.map(|(number, line)| (line.to_owned(), number)).collect()
}

/// Returns a text in small letters, with one blank before and behind each word.
fn words_of(text: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let words = text.split(|c| !is_part(c)).filter(|word| !word.is_empty()).map(str::to_lowercase);
    format!(" {} ", words.collect::<Vec<_>>().join(" "))
}
