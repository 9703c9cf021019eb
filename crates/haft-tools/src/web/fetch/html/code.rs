//! Writes blocks of code, also those that a page shows as a table with line numbers.

use super::inline::longest_run;
use super::page::HtmlPage;
use super::tree::Id;

/// Beginnings of classes that name a language.
const PREFIXES: &[&str] =
    &["language-", "lang-", "highlight-source-", "highlight-text-", "highlight-", "brush:", "sourceCode "];
/// Names behind such a beginning that are no language.
const NO_LANGUAGE: &[&str] =
    &["none", "text", "plaintext", "plain", "nohighlight", "default", "source", "wrapper", "notranslate"];

/// Writes code between fences that it does not contain.
pub(super) fn code_of_text(text: &str, language: Option<&str>) -> String {
    let text = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text).trim_end();
    if text.trim().is_empty() {
        return String::new();
    }
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    format!("{fence}{}\n{}\n{fence}", language.unwrap_or_default(), lines.join("\n"))
}

/// Returns the language of a block of code, as the block, its code or what is around it says.
pub(super) fn language(page: &HtmlPage<'_>, id: Id) -> Option<String> {
    let inside = page.tree.below(id).filter(|below| page.tree.tag(*below) == "code").take(1);
    let is_box = |around: &Id| matches!(page.tree.tag(*around), "div" | "figure" | "td");
    let around = page.tree.around(id).take_while(is_box).take(3);
    inside.chain([id]).chain(around).find_map(|id| language_of(page, id))
}

fn language_of(page: &HtmlPage<'_>, id: Id) -> Option<String> {
    let is_name = |name: &str| {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "+#-_.".contains(letter);
        !name.is_empty() && name.len() <= 20 && name.chars().all(is_plain) && !NO_LANGUAGE.contains(&name)
    };
    let told = ["data-lang", "data-language", "lang"].iter().find_map(|name| page.tree.attribute(id, name));
    if let Some(told) = told.filter(|told| is_name(told) && page.tree.tag(id) != "td") {
        return Some(told.to_ascii_lowercase());
    }
    let classes = page.tree.attribute(id, "class")?.to_ascii_lowercase();
    let of_class = |class: &str| {
        let name = PREFIXES.iter().find_map(|prefix| class.strip_prefix(prefix))?;
        is_name(name).then(|| name.to_owned())
    };
    classes.split_whitespace().find_map(of_class)
}

/// Writes a table whose rows are lines of code with their numbers; nothing for any other table.
pub(super) fn code_of_rows(page: &HtmlPage<'_>, id: Id) -> Option<String> {
    let tree = page.tree;
    let rows: Vec<Id> = tree.below(id).filter(|below| tree.tag(*below) == "tr").collect();
    let cells = |row: Id| -> Vec<Id> {
        tree.children(row).iter().copied().filter(|cell| matches!(tree.tag(*cell), "td" | "th")).collect()
    };
    let is_number =
        |cell: Id| tree.text(cell).split_whitespace().all(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    let has_name = |cell: Id, names: &[&str]| {
        let class = tree.attribute(cell, "class").unwrap_or_default().to_ascii_lowercase();
        names.iter().any(|name| class.contains(name))
    };
    // All lines in one cell, all numbers in another.
    if let [row] = rows.as_slice() {
        let cells = cells(*row);
        let code = cells.last().and_then(|cell| tree.first(*cell, &["pre"]).map(|pre| (*cell, pre)));
        return match (cells.as_slice(), code) {
            ([numbers, _], Some((_, pre))) if is_number(*numbers) => {
                Some(code_of_text(&tree.text(pre), language(page, pre).as_deref()))
            }
            _ => None,
        };
    }
    let line = |row: &Id| match cells(*row).as_slice() {
        [number, code] if is_number(*number) && has_name(*code, &["code", "line", "content"]) => Some(tree.text(*code)),
        _ => None,
    };
    let lines: Vec<Option<String>> = rows.iter().map(line).collect();
    let is_code = !rows.is_empty() && lines.iter().flatten().count() * 10 >= rows.len() * 9;
    let text = lines.into_iter().flatten().map(|line| line.trim_matches('\n').to_owned());
    is_code.then(|| code_of_text(&text.collect::<Vec<_>>().join("\n"), language_of(page, id).as_deref()))
}
