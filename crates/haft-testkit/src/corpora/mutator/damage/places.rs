//! Damage to the place: blocks that occur several times, and calls with several edits.

use std::ops::Range;

use super::super::block::{BlockEdit, TextTail, sent};
use super::super::corpus::SourceFile;
use super::super::dice::Dice;
use super::super::{Case, Class, SentReplacement, Truth};
use super::case;

/// Puts a copy of the block somewhere else in the file.
pub fn repeated(dice: &mut Dice, mut block: BlockEdit) -> Option<Case> {
    let copy = block.old().to_vec();
    let tail = block.tail(dice);
    let edit = SentReplacement { old: sent(&copy, tail), new: sent(&block.new, tail) };
    put_elsewhere(dice, &mut block, copy);
    Some(case(Class::Repeated, &block, vec![edit], Truth::Refused))
}

/// Makes two places that both fit once something may differ, and none that fits as it is.
pub fn two_places(dice: &mut Dice, mut block: BlockEdit) -> Option<Case> {
    let true_old = block.old().to_vec();
    if true_old.len() < 2 {
        return None;
    }
    let shifted = |prefix: &str| -> Vec<String> {
        let shift = |line: &String| if line.trim().is_empty() { line.clone() } else { format!("{prefix}{line}") };
        true_old.iter().map(shift).collect()
    };
    let ended = |blanks: &str| -> Vec<String> { true_old.iter().map(|line| format!("{line}{blanks}")).collect() };
    let quoted = |quotes: [&str; 2]| -> Vec<String> {
        true_old.iter().map(|line| line.replace('"', quotes[0]).replace('\'', quotes[1])).collect()
    };
    let [here, there] = match dice.below(4) {
        0 => [shifted("    "), shifted("        ")],
        1 => [ended(" "), ended("\t")],
        2 => [ended("  "), shifted("\t")],
        _ => [quoted(["“", "‘"]), quoted(["”", "’"])],
    };
    let edit = SentReplacement { old: sent(&true_old, TextTail::Closed), new: sent(&block.new, TextTail::Closed) };
    if here == true_old || there == true_old {
        return None;
    }
    block.lines.splice(block.range.clone(), here);
    put_elsewhere(dice, &mut block, there);
    let is_gone = !block.before().contains(&edit.old);
    is_gone.then(|| case(Class::TwoPlaces, &block, vec![edit], Truth::Refused))
}

fn put_elsewhere(dice: &mut Dice, block: &mut BlockEdit, copy: Vec<String>) {
    let outside = block.lines.len() - block.range.len();
    let at = dice.below(outside + 1);
    let at = if at <= block.range.start { at } else { at + block.range.len() };
    if at <= block.range.start {
        block.range = block.range.start + copy.len()..block.range.end + copy.len();
    }
    block.lines.splice(at..at, copy);
}

/// Sends several edits of one file, of which one may be damaged, or two share lines.
pub fn multi(dice: &mut Dice, file: &SourceFile, first: BlockEdit) -> Option<Case> {
    let mut blocks = vec![first];
    let wanted = 2 + dice.below(3);
    for _ in 0..40 {
        if let Some(block) = BlockEdit::pick(dice, file, 6).filter(|_| blocks.len() < wanted) {
            blocks.push(block);
        }
    }
    let before = blocks[0].before();
    let are_plain = blocks.iter().all(|block| block.is_alone() && !block.new.is_empty());
    if blocks.len() < 2 || !are_plain {
        return None;
    }
    let mut edits: Vec<SentReplacement> = blocks
        .iter()
        .map(|block| SentReplacement { old: sent(block.old(), TextTail::Open), new: sent(&block.new, TextTail::Open) })
        .collect();
    // The same edit twice is one edit, which is nothing to refuse.
    let has_twins = (1..edits.len()).any(|index| edits[..index].contains(&edits[index]));
    if has_twins || edits.iter().any(|edit| before.matches(&edit.old).count() != 1) {
        return None;
    }
    let mut order: Vec<&BlockEdit> = blocks.iter().collect();
    order.sort_by_key(|block| block.range.start);
    if order.windows(2).any(|pair| share_lines(&pair[0].range, &pair[1].range)) {
        let truth = apart(&order).map_or(Truth::Refused, |lines| Truth::RefusedOr(sent(&lines, TextTail::Closed)));
        return Some(case(Class::Multi, &blocks[0], edits, truth));
    }
    let mut lines = blocks[0].lines.clone();
    for block in order.iter().rev() {
        lines.splice(block.range.clone(), block.new.clone());
    }
    if dice.once_in(3) {
        edits[0].old.push_str("  ");
    }
    if dice.once_in(5) {
        edits[1].old.push_str(" and what is nowhere");
        return Some(case(Class::Multi, &blocks[0], edits, Truth::Refused));
    }
    Some(case(Class::Multi, &blocks[0], edits, Truth::Becomes(sent(&lines, TextTail::Closed))))
}

/// Returns the file after edits that quote the same lines; nothing where the lines that they change are not apart.
fn apart(blocks: &[&BlockEdit]) -> Option<Vec<String>> {
    let mut changes: Vec<(Range<usize>, &[String])> = Vec::new();
    for block in blocks {
        let (old, new) = (block.old(), &block.new[..]);
        let first = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let rest = (old.len() - first).min(new.len() - first);
        let last = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
        let range = block.range.start + first..block.range.end - last;
        changes.push((range, &new[first..new.len() - last]));
    }
    changes.sort_by_key(|(range, _)| (range.start, range.end));
    if changes.windows(2).any(|pair| pair[0].0.end >= pair[1].0.start) {
        return None;
    }
    let mut lines = blocks[0].lines.clone();
    for (range, new) in changes.into_iter().rev() {
        lines.splice(range, new.iter().cloned());
    }
    Some(lines)
}

fn share_lines(first: &Range<usize>, second: &Range<usize>) -> bool {
    first.end > second.start && second.end > first.start
}
