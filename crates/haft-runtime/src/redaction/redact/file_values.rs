//! Finds the secret texts in a file whose name marks it as secret.
//!
//! It reads files of many kinds in one way: a line is a name and a value, or it is a value as a whole, as in a key. It
//! also finds values that continue in the next lines. Misreading a line as the beginning of one costs nothing.
//! It skips a value that is plainly no secret (a number, `true`, `localhost`). It hides a possible ordinary word only
//! together with its name; otherwise no output would be readable.
//!
//! It reads comments as a separate file: a value in a comment is a value like any other. A comment that only mentions
//! a name (`# password: ask Ann`) is prose, in which it hides only text that looks random.
//!
//! Not here: finding the files (`haft-workspace`), tokens that are known by their shape (`shapes`).

mod comments;
mod expansions;
mod harmless;
mod judged;
mod lines;
mod markup;
mod parts;
mod readings;
mod source;
#[cfg(test)]
mod tests;

pub(super) use judged::may_be_ordinary;

use std::collections::{HashMap, HashSet};

use haft_contract::doors::door::SecretFile;
use haft_contract::files::guarded::{SecretKind, is_secret_variable};
use serde_json::Value;

use super::SHORTEST;
use super::known::Secret;
use comments::comments;
use expansions::Expansion;
use harmless::is_public_name;
use judged::{is_common, is_default, is_harmless_place, is_plain, is_word, names_secret};
use lines::{bare_name, indent_of, is_block, split};
use readings::{readings, unescaped};

/// Shortest secret whose name says that it is one, where it is no plain word.
const SHORTEST_NAMED: usize = 6;
/// Longest text that is hidden in one piece, in bytes, and how long the pieces of a longer one are.
const LONGEST: usize = 256;
const PIECE: usize = 128;
/// What stands between a name and its value, in the ways in which programs write them.
const BETWEEN: &[&str] = &[
    "=",
    "=\"",
    "='",
    ": ",
    ": \"",
    ": '",
    ":\"",
    " = ",
    " = \"",
    " = '",
    "\":\"",
    "\": \"",
    "': '",
    "\\\":\\\"",
    ">",
];
/// What stands between them besides, where the name says that it is a secret: other names are words.
const BETWEEN_TELLING: &[&str] = &[
    " ", "  ", "\t", ",", ", ", "\",\"", "\", \"", "', '", "','", ";", "; ", "|", " | ", "/", "==", " == ", ":", " : ",
    ":=", " := ", "->", " -> ", "=>", " => ", "\" => \"", "' => '", " is ", " is: ", ": `", "=`", " `",
];
/// Most comments within comments.
const DEEPEST_COMMENT: usize = 4;
/// Most values of one file, and most that are hidden only with their names.
const MOST: usize = 20_000;
const MOST_NAMED: usize = 5_000;

/// Returns what is secret in a file, and whether that is all.
pub(super) fn secrets_in(file: &SecretFile) -> (Vec<Secret>, bool) {
    let text = file.text.as_str();
    let mut found = SecretCollector::default();
    let is_table = [".csv", ".tsv"].iter().any(|ending| file.path.to_ascii_lowercase().ends_with(ending));
    match serde_json::from_str::<Value>(text) {
        _ if file.kind == SecretKind::Source => {
            found.is_source = true;
            found.in_source_file(&file.path, text);
            found.in_comments(text);
        }
        Ok(value @ (Value::Object(_) | Value::Array(_))) => {
            found.in_json("", &value);
            found.as_written_in_json(text);
        }
        _ => {
            if is_table {
                found.in_table(text);
            }
            found.in_text(text);
            found.in_comments(text);
        }
    }
    found.secrets.sort_unstable();
    found.secrets.dedup();
    // A value is worth more than a word with its name.
    let (mut values, mut named): (Vec<Secret>, Vec<Secret>) =
        found.secrets.into_iter().partition(|secret| secret.kept == 0);
    // Hidden by itself, it needs no name.
    let alone: HashSet<&str> = values.iter().map(|secret| secret.text.as_str()).collect();
    named.retain(|secret| !alone.contains(&secret.text[secret.kept..]));
    let is_all = values.len() <= MOST && named.len() <= MOST_NAMED;
    values.truncate(MOST);
    named.truncate(MOST_NAMED);
    values.append(&mut named);
    (values, is_all)
}

#[derive(Default)]
struct SecretCollector {
    secrets: Vec<Secret>,
    /// Whether the file is code, of which only what telling names say is secret.
    is_source: bool,
    /// Whether comments are read.
    in_comment: bool,
    /// Whether what is read is prose: a telling name in it is a word like any other.
    is_prose: bool,
    /// The variables that the lines read so far set.
    variables: HashMap<String, String>,
}

impl SecretCollector {
    fn in_text(&mut self, text: &str) {
        if text.trim_start().starts_with('<') {
            markup::values(text).iter().for_each(|(name, value)| self.lines_of(name, value));
        }
        self.in_lines(text);
    }

    fn in_comments(&mut self, text: &str) {
        let mut text = comments(text);
        (self.in_comment, self.is_prose) = (true, true);
        for _ in 0..DEEPEST_COMMENT {
            if text.is_empty() {
                break;
            }
            self.in_text(&text);
            text = comments(&text);
        }
        (self.in_comment, self.is_prose) = (false, false);
    }

    fn in_json(&mut self, name: &str, value: &Value) {
        match value {
            Value::String(text) => self.lines_of(name, text),
            Value::Array(items) => items.iter().for_each(|item| self.in_json(name, item)),
            Value::Object(fields) => {
                fields.iter().for_each(|(name, field)| self.in_json(name, field));
                // A list of variables has a name and a value in each entry.
                if let (Some(Value::String(name)), Some(value)) = (fields.get("name"), fields.get("value")) {
                    self.in_json(name, value);
                }
            }
            Value::Number(number) if is_secret_variable(name) => self.value(name, &number.to_string()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Hides the texts as the file itself has them, where it writes letters otherwise.
    fn as_written_in_json(&mut self, text: &str) {
        let hidden: HashSet<String> =
            self.secrets.iter().filter(|secret| secret.kept == 0).map(|secret| secret.text.clone()).collect();
        let mut is_escape = false;
        let mut quotes = text.char_indices().filter(|(_, letter)| {
            let is_quote = *letter == '"' && !is_escape;
            is_escape = *letter == '\\' && !is_escape;
            is_quote
        });
        while let (Some((start, _)), Some((end, _))) = (quotes.next(), quotes.next()) {
            let written = &text[start + 1..end];
            let is_hidden = |text: &str| text.lines().any(|line| hidden.contains(line.trim()));
            if written.contains('\\') && is_hidden(&unescaped(written)) {
                self.hide(written);
            }
        }
    }

    /// Takes a file that holds secrets among other things: code, or settings.
    fn in_source_file(&mut self, path: &str, text: &str) {
        const CODE: &[&str] =
            &["js", "mjs", "cjs", "ts", "py", "rb", "php", "h", "hpp", "swift", "kt", "dart", "lua", "sh"];
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        if name.split(|letter: char| !letter.is_alphanumeric()).any(|part| CODE.contains(&part)) {
            self.in_source(text);
            return;
        }
        match serde_json::from_str::<Value>(text) {
            Ok(value) => {
                self.in_json("", &value);
                self.as_written_in_json(text);
            }
            Err(_) => self.in_text(text),
        }
    }

    /// Takes the texts of source code that are assigned to telling names. A word among them is hidden with its name.
    fn in_source(&mut self, text: &str) {
        for (name, value) in source::values(text) {
            for line in value.lines().map(str::trim).filter(|line| line.len() >= SHORTEST && !is_plain(line)) {
                if may_be_ordinary(line) || is_default(line) {
                    self.with_name(&name, line);
                } else {
                    self.hide(line);
                }
            }
        }
    }

    /// Takes a table: the first line names the columns, or each line is a name and a value.
    fn in_table(&mut self, text: &str) {
        let mut rows = text.lines().map(|line| line.split([',', '\t']).map(|field| field.trim().trim_matches('"')));
        let names: Vec<&str> = rows.next().map(Iterator::collect).unwrap_or_default();
        for row in rows {
            let fields: Vec<&str> = row.collect();
            for (field, name) in fields.iter().zip(&names) {
                let name = name.replace(' ', "_");
                let beside = fields.first().filter(|first| fields.len() == 2 && *first != field).copied();
                let name = beside.filter(|beside| is_secret_variable(beside)).map_or(name, str::to_owned);
                self.value(&name, field);
            }
        }
    }

    fn in_lines(&mut self, text: &str) {
        // Some old files end their lines otherwise.
        let lines: Vec<&str> = text.split(['\n', '\r']).filter(|line| !line.trim().is_empty()).collect();
        let is_token = lines.len() == 1 && !self.in_comment && !self.is_source;
        let (mut is_in_key, mut is_public) = (false, false);
        // The name above, which lines below it that are further in have no other of.
        let mut above: Option<(usize, String)> = None;
        for (index, raw) in lines.iter().enumerate() {
            let (line, next) = (raw.trim(), &lines[index + 1..]);
            if line.starts_with("-----") {
                is_in_key = line.starts_with("-----BEGIN");
                is_public = is_in_key && ["PUBLIC KEY", "CERTIFICATE"].iter().any(|kind| line.contains(kind));
                continue;
            }
            if is_in_key && is_public {
                continue;
            }
            let is_whole = is_in_key || is_token && !line.contains([':', ' ']) && split(line).is_none();
            if is_whole && line.len() >= SHORTEST {
                self.hide(line);
                continue;
            }
            // `in_comments` reads these.
            if line.starts_with(['#', ';']) {
                continue;
            }
            let indent = indent_of(raw);
            let name_above = above.as_ref().filter(|(above, _)| indent > *above || line.starts_with("- "));
            let name_above = name_above.map(|(_, name)| name.clone()).unwrap_or_default();
            match self.in_line(line, (indent, &name_above), next) {
                Some(name) => above = Some((indent, name)),
                None if name_above.is_empty() => above = None,
                None => {}
            }
            self.is_prose = self.in_comment;
        }
    }

    /// Takes a line; returns the name in it.
    fn in_line(&mut self, line: &str, (indent, name_above): (usize, &str), next: &[&str]) -> Option<String> {
        let words: Vec<&str> =
            line.split_whitespace().chain(next.first().and_then(|next| next.split_whitespace().next())).collect();
        self.is_prose = self.in_comment && !matches!(words[..], ["machine" | "default" | "login", ..]);
        for pair in words.windows(2) {
            if matches!(pair[0], "password" | "account" | "passwd") {
                self.readings("password", pair[1], &[]);
            }
        }
        self.is_prose = self.in_comment;
        if let [name, value] = *line.split_whitespace().collect::<Vec<_>>()
            && is_secret_variable(name)
            && split(line).is_none()
        {
            self.readings(name, value, &[]);
        }
        if let Some(name) = line.strip_suffix(':').filter(|name| !name.contains(char::is_whitespace)) {
            return Some(bare_name(name).to_owned());
        }
        let item = line.strip_prefix("- ").unwrap_or(line).trim_start();
        let Some((name, value)) = split(item) else {
            // Not a name and a value: a line of a key, or a token by itself. Fields may still be separated.
            self.readings(name_above, item, next);
            if item.len() < line.len() && item.contains(|letter: char| letter.is_ascii_digit()) && !self.is_prose {
                self.as_written(("", "- "), item);
            }
            if let Some((name, last)) = item.rsplit_once(':').filter(|_| !item.contains(char::is_whitespace)) {
                let name = if is_secret_variable(name) { bare_name(name) } else { "password" };
                self.readings(name, last, next);
                // A password may have colons of its own, or write them with backslashes.
                if let Some(last) = item.splitn(5, ':').nth(4) {
                    self.is_prose = self.in_comment && self.is_source;
                    self.readings("password", last, &[]);
                }
            }
            return None;
        };
        let short = bare_name(name);
        let is_assigned = item[name.len()..].trim_start().starts_with('=') || value.starts_with(['"', '\'', '`']);
        self.is_prose = self.in_comment && (self.is_source || !is_assigned);
        if is_block(value) {
            let block: Vec<&str> = next.iter().copied().take_while(|line| indent_of(line) > indent).collect();
            let block: Vec<&str> = block.iter().map(|line| line.trim()).collect();
            self.lines_of(short, &block.join("\n"));
            return Some(short.to_owned());
        }
        self.readings(short, value, next);
        if let Some(("value", of_next)) = next.first().and_then(|next| split(next.trim())).filter(|_| short == "name") {
            self.readings(value.trim_matches(['"', '\'']), of_next, &[]);
        }
        if !self.is_prose {
            self.as_written((short, &item[..item.len() - value.len()]), value);
        }
        Some(short.to_owned())
    }

    /// Takes a value as it is written, in all readings.
    fn readings(&mut self, name: &str, value: &str, next: &[&str]) {
        let readings = readings(value, next);
        for reading in &readings {
            self.lines_of(name, reading);
            // Nothing is a variable in single quotes.
            if let Some(expansion) = Expansion::of(reading).filter(|_| !value.starts_with('\'')) {
                expansion.values(&self.variables).iter().for_each(|value| self.lines_of(name, value));
                if names_secret(name) {
                    expansion.texts.iter().for_each(|text| self.lines_of(name, text));
                }
            }
        }
        if let Some(first) = readings.into_iter().next().filter(|_| !name.is_empty()) {
            self.variables.insert(name.to_owned(), first);
        }
    }

    /// Takes a value that may have several lines: each of them, and the whole as programs put it together.
    fn lines_of(&mut self, name: &str, value: &str) {
        let lines: Vec<&str> = value.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        for line in &lines {
            if !line.starts_with("-----") {
                self.value(name, line);
            }
        }
        if lines.len() > 1 && value.len() <= LONGEST {
            let backslashes: String = lines.iter().map(|line| line.trim_end_matches('\\')).collect();
            for joined in [lines.join(" "), lines.join("\n"), lines.concat(), backslashes] {
                self.value(name, &joined);
            }
        }
    }

    /// Takes a value with its name.
    fn value(&mut self, name: &str, value: &str) {
        let value = value.trim();
        if let Some(default) = parts::default_of_variable(value) {
            self.value(name, default);
        }
        if let Some(token) = parts::behind_scheme(value) {
            self.value("token", token);
        }
        if names_secret(name) {
            parts::of(value).into_iter().for_each(|part| self.value(name, part));
        }
        let is_map = value.starts_with(['[', '{']) && value.contains(['=', ':']);
        if is_plain(value) && !is_map {
            return;
        }
        let is_telling = names_secret(name);
        self.password_in_address(value);
        self.named_parts(value);
        if is_plain(value) {
            return;
        }
        if !is_telling && (self.is_source || is_public_name(name)) {
            return;
        }
        self.parts_that_look_random(value);
        let is_named = is_telling && !self.is_prose && !is_harmless_place(value);
        let is_long = value.len() >= SHORTEST || is_named && value.len() >= SHORTEST_NAMED && !is_word(value);
        let is_secret = if is_named && !self.is_source { !is_default(value) } else { !may_be_ordinary(value) };
        if is_long && is_secret {
            self.hide(value);
        } else if is_telling && !(self.is_source && self.is_prose) || !self.is_prose && !is_common(value) {
            self.with_name(name, value);
        }
    }

    /// Takes the names and values inside of a value, and in prose: `Server=db;Password=…`, `the old password: …`.
    fn named_parts(&mut self, text: &str) {
        let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
        for (at, sign) in text.match_indices(['=', ':']) {
            let before = text[..at].trim_end().trim_end_matches(['"', '\'']);
            let name = &before[before.trim_end_matches(is_of_name).len()..];
            let after = text[at + sign.len()..].trim_start();
            if !names_secret(name) || after.starts_with("//") {
                continue;
            }
            let quote = after.chars().next().filter(|first| matches!(first, '"' | '\'' | '`'));
            let part = match quote {
                Some(quote) => after[1..].split(quote).next(),
                None => after.split(|letter: char| letter.is_whitespace() || ";,&|\"'<>)}]".contains(letter)).next(),
            };
            // Prose has blanks around its signs.
            let is_assigned = quote.is_some() || sign == "=" && !text[..at].ends_with(char::is_whitespace);
            let was_prose = self.is_prose;
            // In a map every sign is one of assignment.
            let is_prose = was_prose || sign == ":" && !text.starts_with('{');
            self.is_prose = self.is_source || !is_assigned && is_prose;
            self.value(name, part.unwrap_or_default());
            self.is_prose = was_prose;
        }
    }

    /// Hides a value together with its name, however that is written.
    fn with_name(&mut self, name: &str, value: &str) {
        if !name.is_empty() && name.len() + value.len() >= SHORTEST && value.len() <= LONGEST {
            let is_word = self.is_prose || !names_secret(name);
            for between in BETWEEN.iter().chain(BETWEEN_TELLING.iter().filter(|_| !is_word)) {
                let kept = name.len() + between.len();
                self.secrets.push(Secret { text: format!("{name}{between}{value}"), kept });
            }
        }
    }

    /// Hides a line as it is written.
    fn as_written(&mut self, (name, before): (&str, &str), written: &str) {
        let is_telling = names_secret(name);
        let is_ordinary = |reading: &String| is_plain(reading) || !is_telling && is_common(reading);
        let is_open = !is_telling && (self.is_source || is_public_name(name));
        let is_secret = !is_open && !readings(written, &[]).iter().all(is_ordinary);
        if is_secret && (SHORTEST..=LONGEST).contains(&(before.len() + written.len())) {
            self.secrets.push(Secret { text: format!("{before}{written}"), kept: before.len() });
        }
    }

    /// Hides a text wherever it is. A very long one is hidden piece by piece.
    fn hide(&mut self, text: &str) {
        let mut rest = text;
        while rest.len() > LONGEST {
            let end = (PIECE..rest.len()).find(|end| rest.is_char_boundary(*end)).unwrap_or(rest.len());
            self.secrets.push(Secret::whole(&rest[..end]));
            rest = &rest[end..];
        }
        if rest.len() >= SHORTEST_NAMED {
            self.secrets.push(Secret::whole(rest));
        }
    }

    /// Hides what looks random in a value that has parts: a list, a connection string, JSON.
    fn parts_that_look_random(&mut self, value: &str) {
        let is_between = |c: char| c.is_whitespace() || "\"'`,;{}[]()<>=:&|@/!*\\".contains(c);
        let parts: Vec<&str> = value.split(is_between).filter(|part| part.len() < value.len()).collect();
        for part in parts.into_iter().filter(|part| part.len() >= SHORTEST && !may_be_ordinary(part)) {
            self.hide(part);
        }
    }

    fn password_in_address(&mut self, value: &str) {
        let user_info = value.split_once("://").and_then(|(_, rest)| rest.split(['/', '?']).next()?.rsplit_once('@'));
        let Some((user_info, _)) = user_info else { return };
        let (user, password) = user_info.split_once(':').unwrap_or((user_info, ""));
        // A token may stand in the place of the user.
        if user.len() >= SHORTEST && !may_be_ordinary(user) {
            self.secrets.push(Secret::whole(user));
        }
        let is_example = password == user || is_plain(password) || is_default(password) || is_common(password);
        if password.len() >= SHORTEST_NAMED && !is_example {
            self.secrets.push(Secret::whole(password));
            self.secrets.push(Secret::whole(parts::without_percents(password)));
        }
    }
}
