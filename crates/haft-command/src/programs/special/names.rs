//! Names that `find` and `fd` search for: every result has such a name.

use crate::patterns;
use crate::programs::special::find::something_below;
use crate::value::{ShellValue, ValuePiece};

/// The names that a `find` or `fd` expression looks for, and whether it may find others.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FindNames {
    pub(crate) asked: Vec<ShellValue>,
    pub(crate) may_be_others: bool,
}

/// Returns the names that an expression of `find` looks for. Names that it turns down or leaves out are none of them.
pub(crate) fn names(expression: &[ShellValue]) -> FindNames {
    let mut names = FindNames::default();
    let is_choice = |word: &ShellValue| matches!(word.known(), Some("-o" | "-or" | ","));
    for alternative in expression.split(is_choice) {
        let is_left_out = alternative.iter().any(|word| word.known() == Some("-prune"));
        if !is_left_out {
            names.asked.extend(asked_in(alternative));
        }
    }
    names.may_be_others = expression.iter().any(is_choice);
    // Negated parentheses may hold choices, so that it is unknown here which names they exclude.
    let turns_down_several = expression.windows(2).any(
        |pair| matches!(pair, [not, open] if matches!(not.known(), Some("!" | "-not")) && open.known() == Some("(")),
    );
    if turns_down_several { FindNames::default() } else { names }
}

fn asked_in(alternative: &[ShellValue]) -> Vec<ShellValue> {
    let mut asked = Vec::new();
    for (at, pair) in alternative.windows(2).enumerate() {
        let [part, pattern] = pair else { continue };
        let is_turned = at > 0 && matches!(alternative[at - 1].known(), Some("!" | "-not"));
        let ignores_case = match part.known() {
            Some("-name" | "-path" | "-wholename") if !is_turned => false,
            Some("-iname" | "-ipath" | "-iwholename") if !is_turned => true,
            _ => continue,
        };
        let Some(text) = pattern.known() else {
            asked.extend(Some(pattern.clone()).filter(|pattern| !pattern.shown().contains('/')));
            continue;
        };
        let whole = text.rsplit('/').next().unwrap_or_default();
        // In the pattern of a path a star stands for slashes too, so that only what follows it is of the name.
        let is_of_path = !matches!(part.known(), Some("-name" | "-iname"));
        let of_star = whole.rfind(['*', '?', ']']).filter(|_| is_of_path).map(|at| format!("*{}", &whole[at + 1..]));
        let name = of_star.as_deref().unwrap_or(whole);
        if name.trim_matches('*').is_empty() {
            continue;
        }
        asked.push(patterns::as_value(name));
        if ignores_case && name.to_lowercase() != name {
            asked.push(patterns::as_value(&name.to_lowercase()));
        }
    }
    asked
}

/// Returns the paths below some starts that have such names; nothing where no name is asked for.
pub(crate) fn found_below(starts: &[ShellValue], names: &FindNames) -> Vec<ShellValue> {
    if names.asked.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for start in starts {
        for name in &names.asked {
            found.push(in_folder(start, name));
            found.push(in_folder(&something_below(start), name));
        }
        let is_start = |name: &ShellValue| patterns::fits(&name.shown(), last_part(start));
        found.extend(Some(start.clone()).filter(|_| names.asked.iter().any(is_start)));
        found.extend(names.may_be_others.then(|| something_below(start)));
    }
    found
}

fn in_folder(folder: &ShellValue, name: &ShellValue) -> ShellValue {
    let mut path = folder.clone();
    if !matches!(folder.pieces().last(), Some(ValuePiece::Text(text)) if text.ends_with('/')) {
        path.push(ValuePiece::Text("/".to_owned()));
    }
    path.append(name);
    path
}

fn last_part(start: &ShellValue) -> &str {
    start.known().unwrap_or_default().trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// Returns the name that a regular expression stands for, where it is no more than letters.
pub(crate) fn plain_name(expression: &str) -> Option<String> {
    let inside = expression.strip_prefix('^').unwrap_or(expression);
    let inside = inside.strip_suffix('$').unwrap_or(inside);
    let mut name = String::new();
    let mut letters = inside.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => name.push(letters.next().filter(|letter| !letter.is_alphanumeric())?),
            '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '^' | '$' | '/' => return None,
            letter => name.push(letter),
        }
    }
    (!name.trim_matches('.').is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(start: &str, expression: &str) -> String {
        let words: Vec<ShellValue> = expression.split(' ').map(ShellValue::text).collect();
        let found = found_below(&[ShellValue::text(start)], &names(&words));
        found.iter().map(ShellValue::shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_found_has_the_name_that_was_asked_for() {
        assert_eq!(found(".", "-type f -name *.o -delete"), "./*.o ./*…/*.o");
        assert_eq!(found("/", "-iname .ENV"), "/.ENV /*…/.ENV /.env /*…/.env");
        assert_eq!(found("a/.git", "-name .git"), "a/.git/.git a/.git/*…/.git a/.git");
        assert_eq!(found(".", "-path */.env"), "./.env ./*…/.env");
        assert_eq!(found(".", "-name a -o -size 1"), "./a ./*…/a ./*…");
    }

    #[test]
    fn names_that_are_turned_down_or_left_out_are_not_found() {
        assert_eq!(found(".", "! -name .env"), "");
        assert_eq!(found(".", "-not ( -name .git -o -name x ) -type f"), "");
        assert_eq!(found(".", "-name .git -prune -o -name a -print"), "./a ./*…/a ./*…");
        assert_eq!(found(".", "-name *"), "");
    }

    #[test]
    fn a_regular_expression_of_letters_is_a_name() {
        assert_eq!(plain_name(r"^\.env$").as_deref(), Some(".env"));
        assert_eq!(plain_name(".env").as_deref(), Some(".env"));
        assert_eq!(plain_name(r"\.rs$").as_deref(), Some(".rs"));
        assert_eq!(plain_name("a|b"), None);
        assert_eq!(plain_name(r"\d"), None);
        assert_eq!(plain_name("."), None);
    }
}
