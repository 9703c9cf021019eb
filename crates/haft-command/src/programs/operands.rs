//! Finds the operands of a program, for rules about them.

use crate::programs::flags::tell_apart;
use crate::programs::table::ProgramTable;
use crate::value::ShellValue;

/// The operands of a program, as its row tells them from flags and their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenOperands {
    /// The operands; where there is a subcommand, with all words behind it.
    pub operands: Vec<String>,
    /// What the first one is.
    pub subcommand: Subcommand,
}

/// What the first operand of a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subcommand {
    /// A subcommand that the table has.
    Known,
    /// One that it does not have: perhaps another name for one, from a setting.
    Unknown,
    /// The program has none, and its operands are alike: files, or rules to follow.
    Absent,
    /// The program has none, and its first operand says what the others are.
    Leads,
}

/// Returns the operands of a program among its words, without its name; nothing when it has no row.
pub fn operands_of(program: &str, words: &[String]) -> Option<GivenOperands> {
    let table = ProgramTable::shipped();
    let row = table.row(program)?.ok()?;
    let words: Vec<ShellValue> = words.iter().map(ShellValue::text).collect();
    let operands: Vec<String> = tell_apart(row, &[], &words).operands.iter().map(ShellValue::shown).collect();
    let is_known = |parent: &str| {
        let deepest = operands.len().min(2);
        (1..=deepest).any(|count| table.has(&format!("{parent}+{}", operands[..count].join("+"))))
    };
    let subcommand = match () {
        () if !row.traits.subcommands && row.traits.stops => Subcommand::Leads,
        () if !row.traits.subcommands => Subcommand::Absent,
        () if operands.is_empty() || row.names.iter().any(|parent| is_known(parent)) => Subcommand::Known,
        () => Subcommand::Unknown,
    };
    Some(GivenOperands { operands, subcommand })
}
