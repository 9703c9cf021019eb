//! What becomes of true edits after the damage that models do.

use haft_testkit::corpora::mutator;
use haft_testkit::corpora::mutator::corpus::Corpus;
use haft_testkit::corpora::mutator::dice::Dice;
use haft_testkit::corpora::mutator::report::{MutationCounts, MutationReport};
use haft_testkit::corpora::mutator::{Case, Class};
use haft_tools::files::edit::{Count, Edit, fit};

const SEED: u64 = 20_261_115;

/// Returns the files and the number of cases: those of this machine and 3,000, or what `tests/mutations/run` asks for.
fn asked_for() -> (Corpus, usize) {
    let cases = std::env::var("HAFT_TEST_MUTATIONS").ok().and_then(|cases| cases.parse().ok()).unwrap_or(3_000);
    match std::env::var_os("HAFT_TEST_SOURCES") {
        Some(folder) => (Corpus::of_folders([(String::new(), folder.into())]), cases),
        None => (Corpus::of_this_machine().clone(), cases),
    }
}

#[test]
fn edits_are_tried_on_real_files_of_many_languages() {
    let corpus = Corpus::of_this_machine();
    let languages = corpus.languages();
    let wanted = [
        "c", "css", "fish", "go", "gradle", "html", "java", "js", "json", "kt", "Makefile", "md", "py", "rb", "rs",
        "sh", "sql", "swift", "toml", "ts", "txt", "yaml",
    ];
    let missing: Vec<&str> = wanted.into_iter().filter(|wanted| !languages.contains(wanted)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(corpus.files().count() >= 100, "{} files", corpus.files().count());
}

#[test]
#[expect(clippy::print_stdout, reason = "`--nocapture` shows what became of each class")]
fn a_damaged_edit_is_applied_at_its_one_place_or_refused() {
    let (corpus, cases) = asked_for();
    let report = mutator::report(&corpus, SEED, cases);
    println!("{report}");
    let told = || format!("{report}\n{}", report.examples.join("\n\n"));
    assert_eq!(report.total().wrong, 0, "{}", told());
    let judged: Vec<(&Class, f64)> =
        report.rows.iter().filter_map(|(class, row)| Some((class, row.percent()?))).collect();
    for (class, percent) in &judged {
        assert!(*percent >= 97.0, "{}: {}", class.name(), told());
    }
    // Where there is no sensible place at all, only a wrong one can be seen.
    assert_eq!((judged.len(), report.total().sensible > cases / 3), (7, true), "{}", told());
}

#[test]
fn a_near_miss_is_told_with_the_lines_that_were_meant() {
    let mut dice = Dice::new(SEED);
    // Some blocks have a twin that differs in a word, and a brace on both sides of a gap may be anywhere.
    for (class, least) in [(Class::NearMiss, 140), (Class::Elided, 125)] {
        let cases = (0..150).map(|_| mutator::case(Corpus::of_this_machine(), &mut dice, class));
        let found = cases.filter(|case| {
            let edits = [Edit { old: &case.edits[0].old, new: &case.edits[0].new, count: Count::Unique }];
            let near = fit(&case.before, &edits, &case.file).expect_err("nothing fits").near;
            near.is_some_and(|near| near.first_line <= case.lines.end && near.last_line > case.lines.start)
        });
        let found = found.count();
        assert!(found >= least, "{found} of 150 {}", class.name());
    }
}

// What the mutator proves is worth as much as what it catches.
#[test]
fn an_engine_that_guesses_is_caught() {
    let report = mutator::report_on(Corpus::of_this_machine(), (SEED, 600), |case| Ok(guessed(case)));
    for class in [Class::Stale, Class::Repeated, Class::NearMiss, Class::TwoPlaces, Class::Elided, Class::Multi] {
        assert!(row(&report, class).wrong > 0, "{}: {report}", class.name());
    }
}

#[test]
fn an_engine_that_forgives_nothing_is_seen_to_refuse() {
    // Few of the cases with several edits share text, so there are many of all.
    let report = mutator::report_on(Corpus::of_this_machine(), (SEED, 3_000), exact_only);
    for class in [Class::TrailingBlanks, Class::Indentation, Class::Typography, Class::LineNumbers, Class::LineEnds] {
        assert!(row(&report, class).percent().is_some_and(|percent| percent < 50.0), "{}: {report}", class.name());
    }
    // It also makes one edit after the other, and so does not see that two share text.
    assert!(row(&report, Class::Multi).wrong > 0, "{report}");
}

#[test]
fn the_same_seed_makes_the_same_cases() {
    let corpus = Corpus::of_this_machine();
    let told = |seed| mutator::report_on(corpus, (seed, 120), |case| Err(case.before.clone())).examples;
    assert_eq!(told(7), told(7));
    assert_ne!(told(7), told(8));
}

fn row(report: &MutationReport, class: Class) -> &MutationCounts {
    &report.rows[&class]
}

/// Replaces the lines that begin like the old text, wherever they come first.
fn guessed(case: &Case) -> String {
    let mut text = case.before.clone();
    for sent in &case.edits {
        let first = sent.old.lines().next().unwrap_or_default().trim();
        let start = text.find(first).unwrap_or(0);
        let height = sent.old.lines().count();
        let end = text[start..].split_inclusive('\n').take(height).map(str::len).sum::<usize>() + start;
        text.replace_range(start..end, &sent.new);
    }
    text
}

fn exact_only(case: &Case) -> Result<String, String> {
    let mut text = case.before.clone();
    for sent in &case.edits {
        let places = text.matches(&sent.old).count();
        if places != 1 || case.before.matches(&sent.old).count() != 1 {
            return Err(format!("{places} places"));
        }
        text = text.replacen(&sent.old, &sent.new, 1);
    }
    Ok(text)
}
