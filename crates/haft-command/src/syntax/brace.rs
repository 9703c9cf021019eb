//! Expands braces: `{a,b}`, `{1..9}`, nested, with the text before and after them.
//!
//! The shell expands them before everything else, on the text. Quoted braces and those of `${…}` do not expand.

use crate::syntax::{Quoting, WordPart};

/// More words than this are not made.
const MOST_WORDS: usize = 1_000;
/// More than this is not put into them, in characters and parts.
const MOST_ATOMS: usize = 100 * MOST_WORDS;
const DEEPEST: usize = 20;
/// Why a word is opaque that would become more.
pub(crate) const TOO_MANY: &str = "its braces make more than 1,000 words";
/// How many numbers are told of a sequence that is too long.
const FIRST_NUMBERS: u64 = 100;

/// One thing in a word: a bare character, which may be a brace, or a part that has none.
#[derive(Clone, Debug)]
enum Atom {
    Bare(char),
    Part(WordPart),
}

/// A pair of braces.
#[derive(Clone, Debug, Default)]
struct BracePair {
    close: Option<usize>,
    commas: Vec<usize>,
}

struct TooMany;

/// Returns the words that a word becomes. Words without anything in them are none.
pub(crate) fn expand(parts: Vec<WordPart>) -> Vec<Vec<WordPart>> {
    let has_braces = |part: &WordPart| matches!(part, WordPart::Text(text, Quoting::Bare) if text.contains('{'));
    if !parts.iter().any(has_braces) {
        return vec![parts];
    }
    let atoms: Vec<Atom> = parts.into_iter().flat_map(atoms_of).collect();
    match expand_atoms(&atoms, 0) {
        Ok(words) => words.into_iter().filter(|word| !word.is_empty()).map(parts_of).collect(),
        Err(TooMany) => vec![vec![WordPart::Opaque(TOO_MANY.to_owned())]],
    }
}

fn atoms_of(part: WordPart) -> Vec<Atom> {
    match part {
        WordPart::Text(text, Quoting::Bare) => text.chars().map(Atom::Bare).collect(),
        part => vec![Atom::Part(part)],
    }
}

fn parts_of(atoms: Vec<Atom>) -> Vec<WordPart> {
    let mut parts = Vec::new();
    for atom in atoms {
        match (parts.last_mut(), atom) {
            (Some(WordPart::Text(text, Quoting::Bare)), Atom::Bare(next)) => text.push(next),
            (_, Atom::Bare(next)) => parts.push(WordPart::Text(next.to_string(), Quoting::Bare)),
            (_, Atom::Part(part)) => parts.push(part),
        }
    }
    parts
}

fn expand_atoms(atoms: &[Atom], depth: usize) -> Result<Vec<Vec<Atom>>, TooMany> {
    if depth > DEEPEST {
        return Err(TooMany);
    }
    let pairs = pairs_of(atoms);
    let mut words = vec![Vec::new()];
    let mut at = 0;
    while let Some(atom) = atoms.get(at) {
        let choices = match (atom, pairs.get(at)) {
            (Atom::Bare('{'), Some(BracePair { close: Some(close), commas })) => {
                choices(atoms, at..*close, commas, depth)?
            }
            _ => None,
        };
        match (choices, pairs.get(at).and_then(|pair| pair.close)) {
            (Some(choices), Some(close)) => {
                words = combine(&words, &choices)?;
                at = close + 1;
            }
            _ => {
                words.iter_mut().for_each(|word| word.push(atom.clone()));
                at += 1;
            }
        }
    }
    Ok(words)
}

/// Returns what a pair of braces stands for; nothing where it is plain text.
fn choices(
    atoms: &[Atom],
    pair: std::ops::Range<usize>,
    commas: &[usize],
    depth: usize,
) -> Result<Option<Vec<Vec<Atom>>>, TooMany> {
    if commas.is_empty() {
        return sequence(atoms.get(pair.start + 1..pair.end).unwrap_or_default());
    }
    let mut choices = Vec::new();
    let mut start = pair.start + 1;
    for end in commas.iter().copied().chain([pair.end]) {
        choices.extend(expand_atoms(atoms.get(start..end).unwrap_or_default(), depth + 1)?);
        if choices.len() > MOST_WORDS {
            return Err(TooMany);
        }
        start = end + 1;
    }
    Ok(Some(choices))
}

fn combine(words: &[Vec<Atom>], choices: &[Vec<Atom>]) -> Result<Vec<Vec<Atom>>, TooMany> {
    let size = |words: &[Vec<Atom>]| words.iter().map(|word| word.len() + 1).sum::<usize>();
    let count = words.len().saturating_mul(choices.len());
    let atoms = size(words).saturating_mul(choices.len()).saturating_add(size(choices).saturating_mul(words.len()));
    if count > MOST_WORDS || atoms > MOST_ATOMS {
        return Err(TooMany);
    }
    let joined = |word: &Vec<Atom>, choice: &Vec<Atom>| word.iter().chain(choice).cloned().collect();
    Ok(words.iter().flat_map(|word| choices.iter().map(move |choice| joined(word, choice))).collect())
}

/// Returns the pair that each opening brace begins, by its place.
fn pairs_of(atoms: &[Atom]) -> Vec<BracePair> {
    let mut pairs = vec![BracePair::default(); atoms.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, atom) in atoms.iter().enumerate() {
        match (atom, open.last().copied()) {
            (Atom::Bare('{'), _) => open.push(at),
            (Atom::Bare(','), Some(start)) => pairs[start].commas.push(at),
            (Atom::Bare('}'), Some(start)) => {
                pairs[start].close = Some(at);
                open.pop();
            }
            _ => {}
        }
    }
    pairs
}

/// Reads `1..9`, `a..e` and `1..9..2`.
fn sequence(atoms: &[Atom]) -> Result<Option<Vec<Vec<Atom>>>, TooMany> {
    let bare = |atom: &Atom| match atom {
        Atom::Bare(next) => Some(*next),
        Atom::Part(_) => None,
    };
    let Some(text) = atoms.iter().map(bare).collect::<Option<String>>() else { return Ok(None) };
    let pieces: Vec<&str> = text.split("..").collect();
    let (from, to, step) = match pieces.as_slice() {
        [from, to] => (*from, *to, Some(1)),
        [from, to, step] => (*from, *to, step.parse::<i64>().ok()),
        _ => return Ok(None),
    };
    let Some(step) = step.map(|step| step.unsigned_abs().max(1)) else { return Ok(None) };
    if let (Ok(first), Ok(last)) = (from.parse::<i64>(), to.parse::<i64>()) {
        let width = if is_padded(from) || is_padded(to) { from.len().max(to.len()) } else { 0 };
        return numbers(&steps(first, last, step)?, width).map(Some);
    }
    let (Some(first), Some(last)) = (letter(from), letter(to)) else { return Ok(None) };
    let letters = steps(i64::from(first), i64::from(last), step)?.first;
    let word = |code: i64| {
        let letter = u8::try_from(code).map(char::from).unwrap_or_default();
        vec![Atom::Part(WordPart::Text(letter.to_string(), Quoting::Quoted))]
    };
    Ok(Some(letters.into_iter().map(word).collect()))
}

fn bare_word(text: &str) -> Vec<Atom> {
    text.chars().map(Atom::Bare).collect()
}

fn is_padded(text: &str) -> bool {
    let digits = text.trim_start_matches(['-', '+']);
    digits.len() > 1 && digits.starts_with('0')
}

fn letter(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(*letter),
        _ => None,
    }
}

/// The numbers of a sequence.
struct Steps {
    /// All of them, or the first ones and the last.
    first: Vec<i64>,
    /// Whether there are more.
    are_all: bool,
}

fn steps(first: i64, last: i64, step: u64) -> Result<Steps, TooMany> {
    let count = first.abs_diff(last) / step;
    let step = i64::try_from(step).map_err(|_| TooMany)?;
    let signed = if first <= last { step } else { -step };
    let number = |index: u64| first.wrapping_add(signed.wrapping_mul(index as i64));
    let are_all = count < MOST_WORDS as u64;
    let indexes = if are_all { 0..=count } else { 0..=FIRST_NUMBERS - 1 };
    let end = (!are_all).then_some(count);
    Ok(Steps { first: indexes.chain(end).map(number).collect(), are_all })
}

/// Returns the words of a sequence of numbers. Of a long one some are left out, which are numbers all the same.
fn numbers(steps: &Steps, width: usize) -> Result<Vec<Vec<Atom>>, TooMany> {
    if steps.first.len().saturating_mul(width) > MOST_ATOMS {
        return Err(TooMany);
    }
    let more = (!steps.are_all).then(|| vec![Atom::Part(WordPart::Arithmetic(Vec::new()))]);
    Ok(steps.first.iter().map(|number| bare_word(&format!("{number:0width$}"))).chain(more).collect())
}
