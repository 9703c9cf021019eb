//! Damage by copied line numbers, also in files whose lines begin with their own numbers.

use super::super::block::{BlockEdit, sent};
use super::super::dice::Dice;
use super::super::{Case, Class, SentReplacement, Truth};
use super::{case, truth};

/// No file of the corpus has so many lines, so a number from here on is no line number.
const BEYOND: usize = 10_000;

/// Numbers the old text as a read result does, and the new one with it or not.
pub fn copied(dice: &mut Dice, mut block: BlockEdit) -> Option<Case> {
    let style = dice.below(7);
    let own = Own::pick(dice);
    own.put_into(dice, &mut block);
    // Numbers of an older state of the file are still line numbers, when there are several in a row.
    let shift = if block.old().len() > 2 && dice.once_in(4) { dice.below(9) } else { 0 };
    let first = block.range.start + 1 + shift;
    let old = numbered(block.old(), first, style);
    let new = if dice.once_in(2) { block.new.clone() } else { numbered(&block.new, first, style) };
    let tail = block.tail(dice);
    let edit = SentReplacement { old: sent(&old, tail), new: sent(&new, tail) };
    let truth = match own {
        Own::None | Own::Large(_) => truth(&block),
        Own::Small(_) => Truth::RefusedOrLike(block.after()),
    };
    Some(case(Class::LineNumbers, &block, vec![edit], truth))
}

fn numbered(lines: &[String], first: usize, style: usize) -> Vec<String> {
    let prefix = |number: usize| match style {
        0 => format!("{number:>6}\t"),
        1 => format!("{number}: "),
        2 => format!("{number}| "),
        3 => format!("{number:>5}→"),
        4 => format!("{number:05}| "),
        5 => format!("{number}:"),
        _ => format!("{number}\t"),
    };
    lines.iter().zip(first..).map(|(line, number)| format!("{}{line}", prefix(number))).collect()
}

/// The numbers that the lines of a block itself begin with, and what stands behind each.
enum Own {
    None,
    /// Too large to be line numbers.
    Large(&'static str),
    /// They may be line numbers as well.
    Small(&'static str),
}

impl Own {
    fn pick(dice: &mut Dice) -> Self {
        let sign = ["\t", ": ", ":", "| "][dice.below(4)];
        match dice.below(4) {
            0 => Own::Large(sign),
            1 => Own::Small(sign),
            _ => Own::None,
        }
    }

    /// Lets the lines of a block and of what shall stand there begin with such numbers.
    fn put_into(&self, dice: &mut Dice, block: &mut BlockEdit) {
        let near = block.range.start;
        let mut number = |line: &mut String| {
            let (number, sign) = match self {
                Own::None => return,
                Own::Large(sign) => (BEYOND + dice.below(BEYOND), sign),
                Own::Small(sign) => (near + dice.below(6), sign),
            };
            if !line.trim().is_empty() {
                *line = format!("{number}{sign}{line}");
            }
        };
        block.lines[block.range.clone()].iter_mut().for_each(&mut number);
        block.new.iter_mut().for_each(&mut number);
    }
}
