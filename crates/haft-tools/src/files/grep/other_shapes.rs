//! Reads the other shapes in which models search: options of grep and ripgrep, and arguments of other agents.

use haft_contract::description::shape::{ArgumentLookup, ArgumentShape, Meaning, MeantArguments, whole};
use serde_json::{Value, json};

use crate::catalogue::shapes::{DESCRIPTION, EXPLANATION, NOT_BELOW, RECURSIVE, only_path};

const YES: &str = "true";
const NO: &str = "false";
const INSENSITIVE: &str = "\"insensitive\"";
const SENSITIVE: &str = "\"sensitive\"";
/// How other agents call what is returned.
const MODES: &[(&str, &str)] = &[
    ("\"files_with_matches\"", "\"files\""),
    ("\"files_only\"", "\"files\""),
    ("\"files\"", "\"files\""),
    ("\"content\"", "\"content\""),
    ("\"lines\"", "\"content\""),
    ("\"count\"", "\"count\""),
    ("\"json\"", "\"json\""),
];

/// What models write instead of the arguments of `grep`.
pub(super) const SHAPES: &[ArgumentShape] = &[
    ArgumentShape::new("path", Meaning::Code(only_path)),
    ArgumentShape::new("path", Meaning::Glob(included)),
    ArgumentShape::new("-A", Meaning::Code(|value, _| lines("after", value))),
    ArgumentShape::new("-B", Meaning::Code(|value, _| lines("before", value))),
    ArgumentShape::new("-C", Meaning::Code(|value, _| lines("context", value))),
    ArgumentShape::new("-i", Meaning::Words("case", &[(YES, INSENSITIVE), (NO, SENSITIVE)])),
    ArgumentShape::new("ignore_case", Meaning::Words("case", &[(YES, INSENSITIVE), (NO, SENSITIVE)])),
    ArgumentShape::new("case_insensitive", Meaning::Words("case", &[(YES, INSENSITIVE), (NO, SENSITIVE)])),
    ArgumentShape::new("case_sensitive", Meaning::Words("case", &[(YES, SENSITIVE), (NO, INSENSITIVE)])),
    ArgumentShape::new("-F", Meaning::Words("literal", &[(YES, YES), (NO, NO)])),
    ArgumentShape::new("is_regex", Meaning::Words("literal", &[(YES, NO), (NO, YES)])),
    ArgumentShape::new("is_regexp", Meaning::Words("literal", &[(YES, NO), (NO, YES)])),
    ArgumentShape::new("use_regex", Meaning::Words("literal", &[(YES, NO), (NO, YES)])),
    ArgumentShape::new("-l", Meaning::Words("mode", &[(YES, "\"files\"")])),
    ArgumentShape::new("-c", Meaning::Words("mode", &[(YES, "\"count\"")])),
    ArgumentShape::new("output_mode", Meaning::Words("mode", MODES)),
    ArgumentShape::new("mode", Meaning::Words("mode", MODES)),
    ArgumentShape::new("head_limit", Meaning::Anyway(&["0"])),
    // Numbers are shown, folders below are searched, and the pattern is an extended one, whatever is asked.
    ArgumentShape::new("-n", Meaning::Anyway(&[])),
    ArgumentShape::new("-r", Meaning::Anyway(&[YES])),
    ArgumentShape::new("-R", Meaning::Anyway(&[YES])),
    ArgumentShape::new("-E", Meaning::Anyway(&[YES])),
    ArgumentShape::new("-w", Meaning::Instead("write the border of a word into the pattern: \\bname\\b")),
    ArgumentShape::new("-v", Meaning::Instead("lines without a match are not searched for; run grep -v with bash")),
    ArgumentShape::new("type", Meaning::Code(of_type)),
    ArgumentShape::new("type", Meaning::Instead("give globs of the files as \"include\", such as [\"*.rs\"]")),
    ArgumentShape::new("glob", Meaning::Code(globs)),
    ArgumentShape::new("include", Meaning::Code(globs)),
    RECURSIVE,
    NOT_BELOW,
    DESCRIPTION,
    EXPLANATION,
];

/// Files of the types that models name, after ripgrep's names for them.
const TYPES: &[(&[&str], &[&str])] = &[
    (&["rust", "rs"], &["*.rs"]),
    (&["py", "python"], &["*.py", "*.pyi"]),
    (&["js", "javascript"], &["*.js", "*.jsx", "*.mjs", "*.cjs"]),
    (&["ts", "typescript"], &["*.ts", "*.tsx", "*.mts", "*.cts"]),
    (&["tsx"], &["*.tsx"]),
    (&["jsx"], &["*.jsx"]),
    (&["go"], &["*.go"]),
    (&["java"], &["*.java"]),
    (&["kotlin", "kt"], &["*.kt", "*.kts"]),
    (&["c"], &["*.c", "*.h"]),
    (&["cpp", "c++"], &["*.cpp", "*.cc", "*.cxx", "*.hpp", "*.hh", "*.hxx", "*.h"]),
    (&["cs", "csharp"], &["*.cs"]),
    (&["ruby", "rb"], &["*.rb"]),
    (&["php"], &["*.php"]),
    (&["swift"], &["*.swift"]),
    (&["sh", "bash"], &["*.sh", "*.bash"]),
    (&["html"], &["*.html", "*.htm"]),
    (&["css"], &["*.css"]),
    (&["json"], &["*.json"]),
    (&["yaml", "yml"], &["*.yaml", "*.yml"]),
    (&["toml"], &["*.toml"]),
    (&["md", "markdown"], &["*.md", "*.markdown"]),
    (&["sql"], &["*.sql"]),
    (&["xml"], &["*.xml"]),
    (&["txt"], &["*.txt"]),
];

/// Reads an option of grep that has a number of lines.
fn lines(argument: &'static str, value: &Value) -> Option<MeantArguments> {
    Some(vec![(argument, json!(whole(value)?))])
}

fn of_type(value: &Value, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    let name = value.as_str()?.to_lowercase();
    let (_, globs) = TYPES.iter().find(|(names, _)| names.contains(&name.trim_start_matches('.')))?;
    let has_globs = ["include", "glob", "include_pattern"].iter().any(|name| given.get(name).is_some());
    (!has_globs).then(|| vec![("include", json!(globs))])
}

/// Reads `*.rs,*.md` as two globs, and `!*.md` as one to leave out.
fn globs(value: &Value, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    let text = value.as_str()?.trim();
    if let Some(left_out) = text.strip_prefix('!').filter(|rest| !rest.contains(',')) {
        return given.get("exclude").is_none().then(|| vec![("exclude", json!([left_out]))]);
    }
    let parts: Vec<&str> = text.split([',', ';']).map(str::trim).collect();
    let is_glob = |part: &&str| part.contains(['*', '?']) && !part.contains(['{', '}', '[', ']', '!', '\'', '"']);
    let is_list = parts.len() > 1 && parts.iter().all(is_glob);
    is_list.then(|| vec![("include", json!(parts))])
}

/// Reads a glob that came as the folder to search.
fn included(value: &Value, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    if value.is_array() {
        return only_path(value, given);
    }
    (value.is_string() && given.get("include").is_none())
        .then(|| vec![("include", json!([value])), ("path", Value::Null)])
}
