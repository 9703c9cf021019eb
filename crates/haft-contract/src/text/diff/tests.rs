use proptest::prelude::*;

use super::*;

fn between(before: &str, after: &str) -> String {
    Diff::between(before, after, 1).render(100)
}

/// Returns the lines of a hunk with their numbers in the old and in the new text.
fn numbered(hunk: &DiffHunk) -> Vec<(Option<usize>, Option<usize>, &DiffLine)> {
    let (mut old, mut new) = (hunk.old_line, hunk.new_line);
    let mut numbered = Vec::new();
    for line in &hunk.lines {
        let in_old = !matches!(line, DiffLine::Insert(_));
        let in_new = !matches!(line, DiffLine::Delete(_));
        numbered.push((in_old.then_some(old), in_new.then_some(new), line));
        old += usize::from(in_old);
        new += usize::from(in_new);
    }
    numbered
}

#[test]
fn a_replaced_part_shows_all_deletions_and_then_all_insertions() {
    insta::assert_snapshot!(between("a\nb\nc\nd\n", "a\nB\nC\nd\n"), @"
    @@ line 1 @@
      a
    - b
    - c
    + B
    + C
      d
    ");
}

#[test]
fn distant_changes_are_hunks_of_their_own_that_say_where_they_are() {
    let before: String = (1..=20).map(|number| format!("{number}\n")).collect();
    let after = before.replace("3\n4\n", "3\nnew\n4\n").replace("18\n", "");
    let diff = Diff::between(&before, &after, 1);
    assert_eq!((diff.added, diff.removed, diff.coarse), (1, 1, false));
    insta::assert_snapshot!(diff.render(100), @"
    @@ line 3 @@
      3
    + new
      4
    @@ line 17, now 18 @@
      17
    - 18
      19
    ");
    let numbers: Vec<_> = numbered(&diff.hunks[0]).into_iter().map(|(old, new, _)| (old, new)).collect();
    assert_eq!(numbers, [(Some(3), Some(3)), (None, Some(4)), (Some(4), Some(5))]);
}

#[test]
fn the_same_text_has_no_difference() {
    assert!(Diff::between("a\n", "a\n", 3).is_empty());
    assert!(Diff::between("", "", 3).is_empty());
    assert_eq!(between("a\n", "a\n"), "");
}

#[test]
fn a_line_that_differs_only_in_its_end_shows_the_difference() {
    insta::assert_snapshot!(between("a\r\nb\r\n", "a\nb\r\n"), @"
    @@ line 1 @@
    - a␍
    + a
      b
    ");
    insta::assert_snapshot!(between("a\r\nb\r\n", "a\r\nc\r\n"), @"
    @@ line 1 @@
      a
    - b
    + c
    ");
    insta::assert_snapshot!(between("a\nb", "a\nb\n"), @"
    @@ line 1 @@
      a
    - b [no line end]
    + b
    ");
}

#[test]
fn the_lines_of_an_old_mac_are_lines_until_they_change_their_ends() {
    insta::assert_snapshot!(between("a\rb\r", "a\rc\r"), @"
    @@ line 1 @@
      a
    - b
    + c
    ");
    insta::assert_snapshot!(between("a\rb\r", "a\nb\n"), @"
    @@ line 1 @@
    - a␍b␍
    + a
    + b
    ");
}

#[test]
fn what_is_left_out_is_counted() {
    let diff = Diff::between("", "a\nb\nc\n", 3);
    assert_eq!(diff.render(2), "@@ line 1 @@\n+ a\n+ b\n[1 more line]\n");
    assert_eq!(diff.render(0), "[3 more lines]\n");
    assert_eq!(diff.render(3), "@@ line 1 @@\n+ a\n+ b\n+ c\n");
    let long = Diff::between("", &"x".repeat(600), 3).render(9);
    assert!(long.ends_with("x [… 114 more characters in this line]\n"), "{long}");
}

#[test]
fn replacements_give_the_diff_that_a_comparison_gives() {
    let before = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
    let edits: [(Range<usize>, &str); 3] = [(0..3, "ONE"), (8..14, ""), (before.len()..before.len(), "nine\n")];
    assert_eq!(Diff::of_replacements(before, &edits, 1), Diff::between(before, &replaced(before, &edits), 1));
    insta::assert_snapshot!(Diff::of_replacements(before, &edits, 1).render(100), @"
    @@ line 1 @@
    - one
    + ONE
      two
    - three
      four
    @@ line 8, now 7 @@
      eight
    + nine
    ");
    assert!(Diff::of_replacements(before, &[(0..3, "one")], 1).is_empty());
    assert!(Diff::of_replacements(before, &[], 1).is_empty());
}

#[test]
fn all_lines_of_an_edit_are_returned_with_their_prefixes() {
    let told = |target: &str, patch: &str| {
        render_file_diff(target, patch).iter().map(|line| format!("{line}\n")).collect::<String>()
    };
    assert_eq!(told("a\nb\nc", "a\nB\nc\nd"), "  a\n- b\n+ B\n  c\n+ d\n");
    assert_eq!(told("", "a"), "+ a\n");
    assert_eq!(told("a\n", ""), "- a\n");
}

#[test]
fn a_comparison_without_end_is_ended_and_says_so() {
    // Two shuffles of the same lines: nearly nothing is in order, so the search is as hard as can be.
    let shuffled = |factor: usize| -> String {
        (0..200_000_usize).map(|number| format!("{}\n", number * factor % 199_999 % 50_000)).collect()
    };
    let started = Instant::now();
    let diff = Diff::between(&shuffled(7_919), &shuffled(104_729), 3);
    assert!(!diff.is_empty());
    // Far above the bound, because tests share a machine; without the bound it takes minutes.
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

/// Takes the diff back to the two texts it came from.
fn both_texts(diff: &Diff) -> (String, String) {
    let lines = || diff.hunks.iter().flat_map(|hunk| &hunk.lines);
    let join = |lines: Vec<&DiffLine>| lines.iter().map(|line| format!("{}\n", line.text())).collect();
    (
        join(lines().filter(|line| !matches!(line, DiffLine::Insert(_))).collect()),
        join(lines().filter(|line| !matches!(line, DiffLine::Delete(_))).collect()),
    )
}

proptest! {
    #[test]
    fn with_enough_context_a_diff_holds_both_texts(
        before in prop::collection::vec("[abc]{0,2}", 0..30),
        after in prop::collection::vec("[abc]{0,2}", 0..30),
    ) {
        let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let (before, after) = (text(&before), text(&after));
        prop_assume!(before != after);
        prop_assert_eq!(both_texts(&Diff::between(&before, &after, 100)), (before, after));
    }

    #[test]
    fn the_counts_of_replacements_are_those_of_the_whole_texts(
        before in "[ab\r\n]{0,60}",
        bounds in prop::collection::vec(0_usize..=60, 6),
        new in prop::collection::vec("[ab\r\n]{0,6}", 3),
        context in 0_usize..3,
    ) {
        let mut bounds: Vec<usize> = bounds.iter().map(|bound| (*bound).min(before.len())).collect();
        bounds.sort_unstable();
        let edits: Vec<(Range<usize>, &str)> =
            bounds.chunks_exact(2).zip(&new).map(|(range, new)| (range[0]..range[1], new.as_str())).collect();
        let after = replaced(&before, &edits);
        let diff = Diff::of_replacements(&before, &edits, context);
        prop_assert_eq!(diff.is_empty(), before == after);
        // Every hunk stands where it says: its lines are found there in both texts.
        let line_break = LineBreak::of(&[before.as_bytes(), after.as_bytes()]);
        let (old, new) = (lines(line_break, &before), lines(line_break, &after));
        if line_break == LineBreak::Newline && !before.contains('\r') && !after.contains('\r') {
            for (in_old, in_new, line) in diff.hunks.iter().flat_map(numbered) {
                if let Some(number) = in_old {
                    prop_assert_eq!(line.text(), shown(old[number - 1], None));
                }
                if let Some(number) = in_new {
                    prop_assert_eq!(line.text(), shown(new[number - 1], None));
                }
            }
        }
        prop_assert_eq!(
            new.len() as i64 - old.len() as i64,
            diff.added as i64 - diff.removed as i64
        );
    }
}

#[test]
fn a_million_replacements_in_one_line_take_one_look() {
    let before = format!("first\n{}\nlast\n", "x".repeat(1_000_000));
    let edits: Vec<(Range<usize>, &str)> = (6..1_000_006).map(|at| (at..at + 1, "y")).collect();
    let begun = Instant::now();
    let diff = Diff::of_replacements(&before, &edits, 3);
    assert_eq!((diff.added, diff.removed), (1, 1));
    // For each of them it would take minutes.
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn what_a_cut_diff_shows_is_known_and_the_rest_stays_as_it_was() {
    let known = |before: &str, after: &str, most| Diff::between(before, after, 1).known_from(before, after, most);
    let (before, after) = ("1\n2\n3\n4\n5\n6\n7\n8\n", "1\nII\n3\n4\n5\n6\nVII\n8\nIX\n");
    assert_eq!(known(before, after, 100), after);
    assert_eq!(known(before, after, 4), "1\nII\n3\n4\n5\n6\n7\n8\n");
    assert_eq!(known(before, after, 0), before);
    // A line whose replacement is not shown may still be the right one.
    assert_eq!(known(before, after, 2), before);
    assert_eq!(known("a\nb\n", "A\nB\n", 3), "a\nb\nA\n");
    let long = format!("{}\n", "x".repeat(600));
    assert_eq!(known("a\nb\n", &format!("{long}b\nc\n"), 100), "a\nb\nc\n");
    assert_eq!(known("", "a\n", 100), "a\n");
    assert_eq!(known("a\n", "", 100), "");
}
