//! Names that people, editors and package managers give to copies of a file: haft treats a copy like its original.
//!
//! One function removes the decoration (`id_rsa.1`, `secrets (1).yml`, `#.env#`, `Copy of x`). The tables of names then
//! judge the rest. Names are in lower case here.

/// Words at the end of a name, or before its ending, that say that it is a copy.
const WORDS: &[&str] = &[
    "backup",
    "bak",
    "before",
    "copy",
    "crdownload",
    "dec",
    "disabled",
    "dpkg",
    "last",
    "new",
    "off",
    "old",
    "orig",
    "original",
    "pacnew",
    "pacorig",
    "pacsave",
    "part",
    "prev",
    "previous",
    "rej",
    "rpmnew",
    "rpmorig",
    "rpmsave",
    "save",
    "saved",
    "temp",
    "tmp",
    "ucf",
];
/// What haft itself writes at the end of a name.
const KEPT: &str = "kept-by-haft";
/// Words before a name that say that it is a copy.
const BEFORE: &[&str] = &["copy of ", "backup of ", "old ", "copy_of_", "copy-of-"];
/// What Vim calls a file while it is open.
const OPEN_IN_VIM: &[&str] = &[".swp", ".swo", ".swn", ".swx"];
/// What may stand between a name and such a word or number.
const BETWEEN: &[char] = &[' ', '-', '_', '.'];
/// Most decorations of one name: a copy of a copy.
const MOST: usize = 4;

/// Returns the names that a file of this name may be a copy of, the nearest first.
pub(super) fn originals(name: &str) -> Vec<String> {
    let mut found = undecorated(name);
    let (mut first, mut depth) = (0, 1);
    while first < found.len() && depth < MOST {
        let last = found.len();
        for index in first..last {
            for shorter in undecorated(&found[index]) {
                if !found.contains(&shorter) {
                    found.push(shorter);
                }
            }
        }
        (first, depth) = (last, depth + 1);
    }
    found
}

/// Takes one decoration off, in each way in which there is one.
fn undecorated(name: &str) -> Vec<String> {
    let mut found: Vec<String> = around(name).into_iter().flatten().map(str::to_owned).collect();
    found.extend(at_end(name).map(str::to_owned));
    // Before the ending: `secrets (1).yml`.
    if let Some((stem, ending)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) {
        found.extend(at_end(stem).map(|stem| format!("{stem}.{ending}")));
    }
    found.retain(|found| !found.is_empty());
    found
}

/// Takes off what stands around a name, or before it.
fn around(name: &str) -> [Option<&str>; 4] {
    let in_emacs = name.strip_prefix('#').and_then(|name| name.strip_suffix('#'));
    let locked = name.strip_prefix(".#").or_else(|| name.strip_prefix("._"));
    let in_vim = OPEN_IN_VIM.iter().find_map(|ending| name.strip_suffix(ending));
    let in_vim = in_vim.map(|name| name.strip_prefix('.').unwrap_or(name));
    let said = BEFORE.iter().find_map(|words| name.strip_prefix(words)).or_else(|| {
        // `Copy (2) of x`
        let (number, name) = name.strip_prefix("copy (")?.split_once(") of ")?;
        is_number(number).then_some(name)
    });
    [in_emacs, locked, in_vim, said]
}

/// Takes off a sign, a number or a word at the end.
fn at_end(name: &str) -> impl Iterator<Item = &str> {
    let sign = name.strip_suffix('~').map(|name| match name.rsplit_once(".~") {
        Some((name, number)) if is_number(number) => name,
        _ => name,
    });
    let in_brackets = name.strip_suffix(')').and_then(|name| name.rsplit_once('('));
    let in_brackets = in_brackets.filter(|(_, number)| is_number(number)).map(|(name, _)| name);
    // One comparison of the last word is much cheaper than one for each word at the end of the name.
    let last = name.rsplit_once(BETWEEN).filter(|(_, last)| is_number(last) || WORDS.contains(last));
    let kept = name.strip_suffix(KEPT).and_then(|name| name.strip_suffix(BETWEEN));
    let all = [sign, in_brackets, last.map(|(name, _)| name), kept].into_iter().flatten();
    all.map(|name| name.trim_end_matches([' ', '-'])).filter(|name| !name.is_empty())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_decoration_is_taken_off_alone_and_after_another() {
        let decorated = |name: &str| -> Vec<String> {
            let (stem, ending) = name.rsplit_once('.').expect("it has an ending");
            let mut all: Vec<String> = WORDS.iter().map(|word| format!("{name}.{word}")).collect();
            all.extend(WORDS.iter().map(|word| format!("{name}-{word}")));
            all.extend(WORDS.iter().map(|word| format!("{stem}_{word}.{ending}")));
            all.extend(BEFORE.iter().map(|words| format!("{words}{name}")));
            all.extend(OPEN_IN_VIM.iter().map(|mark| format!(".{name}{mark}")));
            for (before, after) in [
                ("", "~"),
                ("", ".~3~"),
                ("", ".1"),
                ("", ".20240131"),
                ("", "-2"),
                ("", " (1)"),
                ("", "(1)"),
                ("", " - copy"),
                ("", " - copy (2)"),
                ("", " copy 2"),
                ("", ".before-12"),
                ("", ".dpkg-old"),
                ("", ".ucf-old"),
                ("", ".kept-by-haft"),
                ("", ".kept-by-haft-2"),
                ("#", "#"),
                (".#", ""),
                ("._", ""),
                ("copy (3) of ", ""),
            ] {
                all.push(format!("{before}{name}{after}"));
            }
            all.extend([
                format!("{stem} (1).{ending}"),
                format!("{stem} - copy.{ending}"),
                format!("{stem}.3.{ending}"),
            ]);
            all
        };
        for once in decorated("secrets.yml") {
            assert!(originals(&once).contains(&"secrets.yml".to_owned()), "{once}: {:?}", originals(&once));
            for twice in [format!("{once}.bak"), format!("{once}~"), format!("{once}.1")] {
                assert!(originals(&twice).contains(&"secrets.yml".to_owned()), "{twice}");
            }
        }
    }

    #[test]
    fn a_name_without_a_decoration_is_a_copy_of_nothing() {
        for name in ["main.rs", "copy.rs", "old", "new.txt", "readme", "~", ".bak", "#", "threshold.c", "(1)", "a(b)"] {
            assert_eq!(originals(name), Vec::<String>::new(), "{name}");
        }
    }
}
