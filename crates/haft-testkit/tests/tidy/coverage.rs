//! What `docs/coverage.md` claims: the tests and files that it names, and the sums of its rows.
//!
//! A renamed or moved test leaves its old name in the page, and readers of the page cannot find that test.

use super::tree::{Offence, Source};

const PAGE: &str = "docs/coverage.md";

/// How many rows of a section there are, by what they say.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Sum {
    shown: usize,
    partly: usize,
    not_yet: usize,
}

/// Finds names in the page behind which there is no test or no file.
pub fn broken_claims(files: &[Source]) -> Vec<Offence> {
    let Some(page) = files.iter().find(|source| source.path == PAGE) else {
        return vec![Offence::new(PAGE, 1, "the file is gone", "say in this test where the rows are now")];
    };
    let mut offences = Vec::new();
    for (number, line) in page.numbered_lines().filter(|(_, line)| line.starts_with('|')) {
        for quoted in line.split('`').skip(1).step_by(2) {
            if let Some(what) = fault(quoted, files) {
                offences.push(page.offence(number, what, "name what shows it today, or say that nothing does"));
            }
        }
    }
    offences
}

/// Returns what is wrong with a quoted name; nothing when it is neither a test nor a file of a crate.
fn fault(quoted: &str, files: &[Source]) -> Option<String> {
    let (path, test) = match quoted.split_once(".rs::") {
        Some((path, test)) => (format!("{path}.rs"), Some(test)),
        None => (quoted.to_owned(), None),
    };
    let is_of_a_crate = path.starts_with("haft") && path.contains('/') && !path.contains(' ');
    if !is_of_a_crate && test.is_none() {
        return None;
    }
    let Some(source) = files.iter().find(|source| source.path == format!("crates/{path}")) else {
        return Some(format!("there is no file {path}"));
    };
    test.filter(|test| !has_test(source, test)).map(|test| format!("{path} has no test {test}"))
}

/// A test is a function with an attribute that ends in `test`, among those right above it.
fn has_test(source: &Source, name: &str) -> bool {
    let head = format!("fn {name}(");
    let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
    let is_attribute = |line: &&&str| line.starts_with("#[") || line.starts_with("//");
    let mut heads = lines.iter().enumerate().filter(|(_, line)| line.contains(&head));
    heads.any(|(number, _)| {
        let mut above = lines[..number].iter().rev().take_while(is_attribute);
        above.any(|line| line.contains("test]") || line.contains("test("))
    })
}

/// Finds sections whose first line does not count their rows right.
pub fn wrong_sums(files: &[Source]) -> Vec<Offence> {
    let page = files.iter().filter(|source| source.path == PAGE);
    page.flat_map(|page| {
        sections(page).into_iter().filter_map(|(number, said, sum)| {
            let Sum { shown, partly, not_yet } = sum;
            let rows = shown + partly + not_yet;
            let counted = format!("{rows} rows: {shown} shown / {partly} partly / {not_yet} not yet.");
            let what = format!("it says \"{said}\", there are {counted}");
            (said != counted).then(|| page.offence(number, what, "write what was counted, also at the top of the page"))
        })
    })
    .collect()
}

/// Returns the line that counts the rows of each section, and what there is to count.
fn sections(page: &Source) -> Vec<(usize, &str, Sum)> {
    let mut sections: Vec<(usize, &str, Sum)> = Vec::new();
    for (number, line) in page.numbered_lines() {
        if line.contains(" rows: ") && line.ends_with(" not yet.") {
            sections.push((number, line, Sum::default()));
        }
        let row = line.strip_prefix("| ").filter(|row| row.starts_with(|c: char| c.is_ascii_uppercase()));
        let claim = row.and_then(|row| row.trim_end_matches(" |").rsplit(" | ").next());
        if let (Some((_, _, sum)), Some(claim)) = (sections.last_mut(), claim) {
            match claim {
                claim if claim.starts_with("not yet") => sum.not_yet += 1,
                claim if claim.starts_with("partly") => sum.partly += 1,
                _ => sum.shown += 1,
            }
        }
    }
    sections
}
