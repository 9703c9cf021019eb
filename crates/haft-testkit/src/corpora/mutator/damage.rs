//! The ways an edit goes wrong between the file and the call, one function each.
//!
//! Each function takes a true edit and returns a case, or nothing if the edit is unsuitable: it has no quotes to
//! change, or its block already occurs twice. The caller then picks another.

mod numbers;
mod places;
mod whitespace;

use super::block::{BlockEdit, TextTail, plain, sent};
use super::corpus::{Corpus, SourceFile};
use super::dice::Dice;
use super::{Case, Class, SentReplacement, Truth};

const MOST_LINES: usize = 12;

/// Picks a true edit and damages it; nothing when the two do not suit each other.
pub fn damaged(corpus: &Corpus, dice: &mut Dice, class: Class) -> Option<Case> {
    let file: &SourceFile = corpus.pick(dice)?;
    let block = BlockEdit::pick(dice, file, MOST_LINES)?;
    match class {
        Class::Exact => exact(dice, &block),
        Class::TrailingBlanks => whitespace::trailing_blanks(dice, block),
        Class::Indentation => whitespace::indentation(dice, &block),
        Class::Nested => whitespace::nested(dice, block),
        Class::Typography => typography(dice, block),
        Class::LineNumbers => numbers::copied(dice, block),
        Class::LineEnds => whitespace::line_ends(dice, &block),
        Class::Stale => whitespace::stale(dice, block),
        Class::Repeated => places::repeated(dice, block),
        Class::NearMiss => near_miss(dice, &block),
        Class::TwoPlaces => places::two_places(dice, block),
        Class::Elided => elided(dice, &block),
        Class::Multi => places::multi(dice, file, block),
    }
}

/// Returns what is right for a damaged block: where the file has others like it, a refusal is right as well.
fn truth(block: &BlockEdit) -> Truth {
    if block.is_alone() { Truth::Becomes(block.after()) } else { Truth::RefusedOrLike(block.after()) }
}

fn case(class: Class, block: &BlockEdit, edits: Vec<SentReplacement>, truth: Truth) -> Case {
    Case { class, file: block.name.clone(), before: block.before(), lines: block.range.clone(), edits, truth }
}

fn exact(dice: &mut Dice, block: &BlockEdit) -> Option<Case> {
    let before = block.before();
    if dice.once_in(3) {
        let line = dice.pick(block.old())?;
        let letters: Vec<char> = line.chars().collect();
        let first = dice.below(letters.len());
        let old: String = letters.iter().skip(first).take(6 + dice.below(20)).collect();
        let new = "$1 \\n {}".to_owned();
        let after = before.replacen(&old, &new, 1);
        let edits = vec![SentReplacement { old: old.clone(), new }];
        return (before.matches(&old).count() == 1).then(|| case(Class::Exact, block, edits, Truth::Becomes(after)));
    }
    let tail = block.tail(dice);
    let edit = SentReplacement { old: sent(block.old(), tail), new: sent(&block.new, tail) };
    if before.matches(&edit.old).count() != 1 {
        return None;
    }
    // A block may also be a part of lines elsewhere, where it then is no block: the file itself says what is right.
    let after = before.replacen(&edit.old, &edit.new, 1);
    Some(case(Class::Exact, block, vec![edit], Truth::Becomes(after)))
}

fn typography(dice: &mut Dice, mut block: BlockEdit) -> Option<Case> {
    let dashes = ['–', '—', '−'];
    let dash = *dice.pick(&dashes)?;
    let with_blanks = dice.once_in(3);
    let fold = |line: &String| -> String {
        let mut opens = true;
        let changed = line.chars().map(|letter| match letter {
            '\'' => '’',
            '"' => {
                opens = !opens;
                if opens { '”' } else { '“' }
            }
            '-' => dash,
            ' ' if with_blanks && !line.starts_with(' ') => '\u{a0}',
            other => other,
        });
        changed.collect()
    };
    let typographic: Vec<String> = block.old().iter().map(fold).collect();
    if typographic == block.old() {
        return None;
    }
    let is_alone = block.is_alone();
    let tail = block.tail(dice);
    let new = sent(&block.new, tail);
    let old = if dice.once_in(2) {
        sent(&typographic, tail)
    } else {
        let old = sent(block.old(), tail);
        block.lines.splice(block.range.clone(), typographic);
        old
    };
    let after = block.after();
    let truth = if is_alone { Truth::Becomes(after) } else { Truth::RefusedOrLike(after) };
    let is_gone = !block.before().contains(&old);
    is_gone.then(|| case(Class::Typography, &block, vec![SentReplacement { old, new }], truth))
}

fn near_miss(dice: &mut Dice, block: &BlockEdit) -> Option<Case> {
    let mut old = block.old().to_vec();
    let at = dice.below(old.len());
    if old.len() > 2 && dice.once_in(4) {
        old.remove(1 + dice.below(old.len() - 2));
    } else {
        let mut letters: Vec<char> = old[at].chars().collect();
        let words: Vec<usize> = (0..letters.len()).filter(|index| letters[*index].is_alphanumeric()).collect();
        let letter = *dice.pick(&words)?;
        match dice.below(4) {
            0 => letters[letter] = if letters[letter] == 'x' { 'y' } else { 'x' },
            1 => letters.insert(letter, 'q'),
            2 => letters.insert(letter, ' '),
            _ => {
                letters.remove(letter);
            }
        }
        old[at] = letters.into_iter().collect();
    }
    let is_gone = !plain_lines(&block.lines).contains(&plain_lines(&old)) && block.places(&old) == 0;
    let tail = block.tail(dice);
    let edit = SentReplacement { old: sent(&old, tail), new: sent(&block.new, tail) };
    is_gone.then(|| case(Class::NearMiss, block, vec![edit], Truth::Refused))
}

fn elided(dice: &mut Dice, block: &BlockEdit) -> Option<Case> {
    let old = block.old();
    if old.len() < 4 {
        return None;
    }
    let gaps = ["...", "    ...", "// ...", "# ... existing code ...", "…", "/* ... */"];
    let gap = (*dice.pick(&gaps)?).to_owned();
    let keep = 1 + dice.below(2);
    let shorten = |lines: &[String]| -> Vec<String> {
        let last = lines.len().saturating_sub(keep).max(keep.min(lines.len()));
        [&lines[..keep.min(lines.len())], std::slice::from_ref(&gap), &lines[last..]].concat()
    };
    let (short_old, short_new) = (shorten(old), shorten(&block.new));
    let is_gone = block.places(&short_old) == 0 && short_old != short_new;
    let edit = SentReplacement { old: sent(&short_old, TextTail::Open), new: sent(&short_new, TextTail::Open) };
    is_gone.then(|| case(Class::Elided, block, vec![edit], Truth::Refused))
}

fn plain_lines(lines: &[String]) -> String {
    lines.iter().map(|line| plain(line)).collect::<Vec<_>>().join("\n")
}
