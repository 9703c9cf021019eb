//! What becomes of true edits after the damage that models do.

use haft_testkit::mutator;

#[test]
fn a_damaged_edit_is_applied_at_its_one_place_or_refused() {
    let report = mutator::report(20_261_115, 6_000);
    let total = report.total();
    assert_eq!(total.wrong, 0, "{report}\n{}", report.examples.join("\n\n"));
    assert!(total.percent() >= 97.0, "{report}\n{}", report.examples.join("\n\n"));
    let lowest = report.rows.values().map(|row| row.percent()).fold(100.0, f64::min);
    assert!(lowest >= 97.0, "{report}\n{}", report.examples.join("\n\n"));
}
