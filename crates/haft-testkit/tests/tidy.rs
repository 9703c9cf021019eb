//! The rules about the tree itself that a machine can check: one test each, which names every offender.
//!
//! A rule takes the files it judges as values: the repository (`tree`), and a small bad tree for each
//! rule (`bad_trees`), because a rule that cannot be shown to fail protects nothing.
//!
//! Not here: what clippy can say (`clippy.toml`), and formatting (`rustfmt.toml`).

#[path = "tidy/architecture.rs"]
mod architecture;
#[path = "tidy/bad_trees.rs"]
mod bad_trees;
#[path = "tidy/coverage.rs"]
mod coverage;
#[path = "tidy/rooms.rs"]
mod rooms;
#[path = "tidy/skips.rs"]
mod skips;
#[path = "tidy/tree.rs"]
mod tree;
#[path = "tidy/wording.rs"]
mod wording;

use std::collections::BTreeSet;

use tree::{Function, Offence, REPOSITORY, Source, functions, manifests, product};

const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 60;
/// The command line renders; what needs no screen grows elsewhere. The interactive terminal is counted by itself.
const COMMAND_LINE: (&str, usize) = ("crates/haft-cli/src/", 7_000);
const TERMINAL: (&str, usize) = ("crates/haft-cli/src/terminal", 12_000);
const PARAMETERS: usize = 4;
const DRIVE_LINES: usize = 40;
const DRIVE: &str = "crates/haft-runtime/src/runtime.rs";

const DRAWERS: [&str; 10] =
    ["common", "core", "helper", "helpers", "manager", "managers", "misc", "types", "util", "utils"];

const CRATES: [&str; 17] = [
    "haft",
    "haft-agent",
    "haft-cli",
    "haft-command",
    "haft-config",
    "haft-contract",
    "haft-host",
    "haft-macros",
    "haft-mcp",
    "haft-model",
    "haft-net",
    "haft-policy",
    "haft-runtime",
    "haft-sandbox",
    "haft-testkit",
    "haft-tools",
    "haft-workspace",
];

/// Crates of others that only some of ours may use in what is built for users.
const KEPT_IN: [(&str, &[&str]); 9] = [
    ("anstream", &["haft-cli"]),
    ("clap", &["haft-cli"]),
    ("grep-searcher", &["haft-workspace"]),
    ("hyper", &["haft-net"]),
    ("ignore", &["haft-workspace"]),
    ("opentelemetry-http", &["haft-net"]),
    ("opentelemetry_sdk", &["haft-host"]),
    ("reqwest", &["haft-net"]),
    ("rmcp", &["haft-mcp"]),
];

/// The HTTP client, and who depends on it: `haft-net`, and the trait through which the exporter of spans receives a client
/// from `haft-net`. A crate of others that brings the client along, as by a feature, would be a way past `haft-net`.
const HTTP_CLIENT: (&str, &[&str]) = ("reqwest", &["haft-net", "opentelemetry-http"]);
const LOCK_FILE: &str = "Cargo.lock";

/// The type without which no permit is issued, and the files that may name it; tests may too.
const PERMIT_ISSUER: &str = "PermitIssuer";
const ISSUING: [&str; 3] = [
    "crates/haft-contract/src/doors/door.rs",
    "crates/haft-contract/src/doors/door/permit.rs",
    "crates/haft-runtime/src/confining/permits.rs",
];

/// Crates with a `clippy.toml` of their own, and how the reasons begin that do not hold for them.
const DOORS: [(&str, &[&str]); 6] = [
    // Re-exports alone; its examples are programs of users.
    ("haft", &["environment", "files", "processes", "terminal"]),
    ("haft-cli", &["terminal"]),
    ("haft-config", &["environment"]),
    // It opens what it mounts, and reads in /proc what runs.
    ("haft-sandbox", &["processes", "files"]),
    ("haft-testkit", &["files"]),
    ("haft-workspace", &["files"]),
];

// In two halves each, so that this file is not an offender.
const LEFTOVERS: [&str; 6] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
    concat!("#[", "ignore"),
    concat!("dbg", "!("),
];
const SLEEP: &str = concat!("sle", "ep");

#[test]
fn a_file_holds_at_most_500_lines_and_its_tests() {
    assert_tidy(&long_files(&REPOSITORY));
}

#[test]
fn the_command_line_holds_at_most_7000_lines_and_its_tests() {
    assert_tidy(&long_command_line(&REPOSITORY));
}

#[test]
fn a_function_fits_a_screen() {
    assert_tidy(&long_functions(&REPOSITORY));
}

#[test]
fn a_function_takes_at_most_four_parameters() {
    assert_tidy(&wide_functions(&REPOSITORY));
}

#[test]
fn a_parameter_says_more_than_true_or_false() {
    assert_tidy(&flag_parameters(&REPOSITORY));
}

#[test]
fn the_path_of_a_call_fits_a_small_screen_and_logs_nothing() {
    assert_tidy(&faults_of_drive(&REPOSITORY));
}

#[test]
fn a_module_begins_with_a_sentence_about_itself() {
    assert_tidy(&modules_without_sentence(&REPOSITORY));
}

#[test]
fn no_crate_module_or_file_is_a_drawer() {
    assert_tidy(&drawers(&REPOSITORY));
}

#[test]
fn crates_use_each_other_only_along_the_arrows() {
    assert_tidy(&wrong_arrows(&REPOSITORY));
}

#[test]
fn crates_of_others_stay_where_they_belong() {
    assert_tidy(&strayed_dependencies(&REPOSITORY));
}

#[test]
fn one_crate_has_the_http_client() {
    assert_tidy(&hidden_clients(&REPOSITORY));
}

#[test]
fn one_file_issues_permits() {
    assert_tidy(&strayed_permits(&REPOSITORY));
}

#[test]
fn a_door_refuses_what_all_refuse_but_for_its_own_matter() {
    assert_tidy(&drifted_doors(&REPOSITORY));
}

#[test]
fn nothing_is_left_for_later() {
    assert_tidy(&leftovers(&REPOSITORY));
}

#[test]
fn no_test_waits_for_the_clock() {
    assert_tidy(&waits(&REPOSITORY));
}

#[test]
fn a_test_that_is_skipped_says_so() {
    assert_tidy(&skips::silent_skips(&REPOSITORY));
}

#[test]
fn every_file_of_cases_is_run() {
    assert_tidy(&unused_cases(&REPOSITORY));
}

#[test]
fn every_tool_has_its_words_beside_it() {
    assert_tidy(&tools_without_words(&REPOSITORY));
}

#[test]
fn texts_are_in_the_words_of_a_manual_page() {
    assert_tidy(&wording::odd_words(&REPOSITORY));
}

#[test]
fn a_name_of_a_type_has_one_meaning() {
    assert_tidy(&rooms::shared_names(&REPOSITORY));
}

#[test]
fn a_folder_holds_at_most_15_modules() {
    assert_tidy(&rooms::crowded_folders(&REPOSITORY));
}

#[test]
fn comments_are_in_plain_words() {
    assert_tidy(&rooms::odd_comments(&REPOSITORY));
}

#[test]
fn the_tests_and_files_that_the_coverage_names_exist() {
    assert_tidy(&coverage::broken_claims(&REPOSITORY));
}

#[test]
fn the_paths_that_the_architecture_names_exist() {
    assert_tidy(&architecture::broken_paths(&REPOSITORY));
}

#[test]
fn the_architecture_draws_the_arrows_that_are_checked() {
    assert_tidy(&architecture::wrong_arrows(&REPOSITORY));
}

#[test]
fn the_coverage_counts_its_rows_right() {
    assert_tidy(&coverage::wrong_sums(&REPOSITORY));
}

fn assert_tidy(offences: &[Offence]) {
    let told: Vec<String> = offences.iter().map(Offence::to_string).collect();
    assert!(told.is_empty(), "offenders ({}):\n{}", told.len(), told.join("\n"));
}

fn long_files(files: &[Source]) -> Vec<Offence> {
    let long =
        product(files).map(|source| (source, lines_without_tests(source))).filter(|(_, lines)| *lines > FILE_LINES);
    long.map(|(source, lines)| {
        let what = format!("{lines} lines without tests, at most {FILE_LINES} are allowed");
        source.offence(FILE_LINES + 1, what, "find the second idea in it and give it a file")
    })
    .collect()
}

fn long_command_line(files: &[Source]) -> Vec<Offence> {
    let is_terminal = |source: &&Source| source.path.starts_with(TERMINAL.0);
    let sources = product(files).filter(|source| source.path.starts_with(COMMAND_LINE.0));
    let (terminal, others): (Vec<&Source>, Vec<&Source>) = sources.partition(is_terminal);
    let offence = |((folder, most), sources): ((&str, usize), Vec<&Source>)| {
        let lines: usize = sources.into_iter().map(lines_without_tests).sum();
        let what = format!("{lines} lines without tests, at most {most} are allowed");
        (lines > most).then(|| Offence::new(folder, 1, what, "move what needs no screen to haft-host"))
    };
    [(COMMAND_LINE, others), (TERMINAL, terminal)].into_iter().filter_map(offence).collect()
}

fn lines_without_tests(source: &Source) -> usize {
    source.text.lines().count() - source.rust().lines_of_test_modules
}

fn long_functions(files: &[Source]) -> Vec<Offence> {
    let long = functions(files).filter(|(_, function)| function.lines > FUNCTION_LINES);
    long.map(|(source, Function { name, first_line, lines, .. })| {
        let what = format!("`fn {name}` has {lines} lines, at most {FUNCTION_LINES} are allowed");
        source.offence(*first_line, what, "split it by what it decides, and name the parts")
    })
    .collect()
}

fn wide_functions(files: &[Source]) -> Vec<Offence> {
    let wide = functions(files).filter(|(_, function)| function.parameters > PARAMETERS);
    wide.map(|(source, Function { name, first_line, parameters, .. })| {
        let what = format!("`fn {name}` has {parameters} parameters, at most {PARAMETERS} and `self` are allowed");
        source.offence(*first_line, what, "find the noun that some of them share, and make it a type")
    })
    .collect()
}

/// Names every function whose call has a `true` or `false` that says nothing.
fn flag_parameters(files: &[Source]) -> Vec<Offence> {
    let product = functions(files).filter(|(source, _)| !source.is_for_tests());
    let flags = product.flat_map(|(source, function)| function.flags.iter().map(move |flag| (source, function, flag)));
    flags
        .map(|(source, Function { name, first_line, .. }, flag)| {
            let fix = "make it an enum of two, or two functions, or let the caller decide with `if`";
            source.offence(*first_line, format!("the parameter `{flag}` of `fn {name}` is a bare `bool`"), fix)
        })
        .collect()
}

fn faults_of_drive(files: &[Source]) -> Vec<Offence> {
    const LOGGING: [&str; 10] =
        ["dbg", "debug", "eprintln", "event", "info", "log", "println", "trace", "tracing", "warn"];
    let Some(source) = files.iter().find(|source| source.path == DRIVE) else {
        return vec![Offence::new(DRIVE, 1, "the file is gone", "say in this test where the path of a call is now")];
    };
    let Some(drive) = source.rust().functions.iter().find(|function| function.name == "drive") else {
        return vec![source.offence(1, "there is no `fn drive`", "say in this test where the path of a call is now")];
    };
    let mut offences = Vec::new();
    if drive.lines > DRIVE_LINES {
        let what = format!("`fn drive` has {} lines, at most {DRIVE_LINES} are allowed", drive.lines);
        offences.push(source.offence(drive.first_line, what, "move the work into a stage; only the order stays"));
    }
    let inside = drive.first_line..drive.first_line + drive.lines;
    let words = source.words().into_iter().filter(|(_, line)| inside.contains(line));
    for (word, line) in words.filter(|(word, _)| LOGGING.contains(&word.as_str())) {
        let what = format!("`fn drive` says `{word}`");
        offences.push(source.offence(line, what, "observe in `CallContext::at`, where all stages are seen"));
    }
    offences
}

fn modules_without_sentence(files: &[Source]) -> Vec<Offence> {
    let is_sentence = |line: &str| {
        let Some(text) = line.strip_prefix("//! ") else { return false };
        text.ends_with(['.', ':']) && text.split_whitespace().count() >= 4
    };
    let silent = product(files).filter(|source| !is_sentence(source.text.lines().next().unwrap_or_default()));
    silent
        .map(|source| {
            let fix = "begin with `//! ` and one sentence of four words or more on one line: what is this?";
            source.offence(1, "does not begin with a sentence of module docs", fix)
        })
        .collect()
}

fn drawers(files: &[Source]) -> Vec<Offence> {
    let is_drawer = |name: &str| name.rsplit(['-', '_']).next().is_some_and(|word| DRAWERS.contains(&word));
    let fix = "name it after what is in it; what has no home belongs to the type it speaks about";
    let named = |path: &str| {
        let mut names = path.split('/').map(|name| name.split('.').next().unwrap_or(name));
        names.find(|name| is_drawer(name)).map(str::to_owned)
    };
    let by_path = files.iter().filter(|source| source.path.starts_with("crates/")).filter_map(|source| {
        named(&source.path).map(|name| source.offence(1, format!("`{name}` says nothing about what is in it"), fix))
    });
    let by_module = product(files).flat_map(|source| {
        let modules = source.rust().inline_modules.iter().filter(|(name, _)| is_drawer(name));
        modules.map(|(name, line)| source.offence(*line, format!("`mod {name}` says nothing about what is in it"), fix))
    });
    by_path.chain(by_module).collect()
}

/// Returns what a crate may use in what is built for users; nothing when there is no such crate.
fn arrows(name: &str) -> Option<BTreeSet<&'static str>> {
    let allowed: &[&str] = match name {
        "haft-contract" => &["haft-macros"],
        "haft-macros" => &[],
        "haft-command" | "haft-workspace" | "haft-sandbox" | "haft-net" => &["haft-contract"],
        "haft-policy" => &["haft-command", "haft-contract"],
        "haft-model" => &["haft-contract", "haft-net"],
        "haft-runtime" => &["haft-contract", "haft-policy"],
        "haft-tools" => &["haft-command", "haft-contract", "haft-policy"],
        "haft-agent" => &["haft-contract", "haft-runtime", "haft-model"],
        "haft-mcp" => &["haft-contract", "haft-host", "haft-net", "haft-runtime"],
        "haft-host" => return Some(all_but(&["haft", "haft-cli", "haft-host", "haft-mcp", "haft-testkit"])),
        "haft" => return Some(all_but(&["haft", "haft-cli", "haft-testkit"])),
        "haft-config" => &["haft-contract", "haft-policy", "haft-workspace"],
        "haft-cli" => &CRATES,
        "haft-testkit" => return Some(all_but(&["haft-cli"])),
        _ => return None,
    };
    Some(allowed.iter().copied().collect())
}

fn all_but(above: &[&str]) -> BTreeSet<&'static str> {
    CRATES.into_iter().filter(|name| !above.contains(name)).collect()
}

fn wrong_arrows(files: &[Source]) -> Vec<Offence> {
    let mut offences = Vec::new();
    for (name, manifest) in manifests(files) {
        let Some(allowed) = arrows(name) else {
            let fix = "decide its arrows in docs/decisions/, then name it here and in the design";
            offences.push(manifest.offence(1, format!("the crate {name} is not in the table of arrows"), fix));
            continue;
        };
        let in_tests: BTreeSet<&str> = arrows("haft-testkit").into_iter().flatten().chain(["haft-testkit"]).collect();
        for dependency in manifest.dependencies().into_iter().filter(|dependency| is_ours(&dependency.name)) {
            let used = dependency.name.as_str();
            if allowed.contains(used) || (dependency.only_in_tests && in_tests.contains(used)) {
                continue;
            }
            let what = format!("{name} → {used} is no arrow of the design");
            let fix = "move the code to where the arrow exists, or pass the value in; a new arrow needs a decision";
            offences.push(manifest.offence(manifest.line_of(used), what, fix));
        }
    }
    offences
}

fn is_ours(name: &str) -> bool {
    name == "haft" || name.starts_with("haft-")
}

fn strayed_dependencies(files: &[Source]) -> Vec<Offence> {
    let mut offences = Vec::new();
    for (name, manifest) in manifests(files) {
        for dependency in manifest.dependencies().into_iter().filter(|dependency| !dependency.only_in_tests) {
            let kept_in = KEPT_IN.iter().find(|(kept, _)| *kept == dependency.name).map(|(_, homes)| *homes);
            if let Some(homes) = kept_in.filter(|homes| !homes.contains(&name)) {
                let what = format!("{} belongs into {} only", dependency.name, homes.join(", "));
                let line = manifest.line_of(&dependency.name);
                offences.push(manifest.offence(line, what, "ask for a method of that crate"));
            }
        }
    }
    offences
}

/// Names every package of the lock file that depends on the HTTP client and is not known to.
fn hidden_clients(files: &[Source]) -> Vec<Offence> {
    let (client, known) = HTTP_CLIENT;
    let Some(lock) = files.iter().find(|source| source.path == LOCK_FILE) else {
        return vec![Offence::new(LOCK_FILE, 1, "the file is gone", "restore it: it says what is built")];
    };
    let users = lock.packages_that_use(client).into_iter().filter(|name| !known.contains(&name.as_str()));
    let offence = |name: String| {
        let line = lock.line_with(&format!("name = \"{name}\""));
        let fix = "take the client of haft-net, and build the other crate without its own";
        lock.offence(line, format!("{name} brings {client} along"), fix)
    };
    users.map(offence).collect()
}

/// Names every file of the product that could issue a permit and is not meant to.
fn strayed_permits(files: &[Source]) -> Vec<Offence> {
    let others = product(files).filter(|source| !source.is_for_tests() && !ISSUING.contains(&source.path.as_str()));
    others
        .filter_map(|source| {
            let (_, line) = source.words().into_iter().find(|(word, _)| word == PERMIT_ISSUER)?;
            let fix = "make it a call, a hook or an inspection (`haft_contract::inspection`)";
            Some(source.offence(line, format!("names `{PERMIT_ISSUER}`: only the runtime issues permits"), fix))
        })
        .collect()
}

/// A crate's own `clippy.toml` replaces the root one, so what still holds has to be repeated.
fn drifted_doors(files: &[Source]) -> Vec<Offence> {
    let at = |path: &str| files.iter().find(|source| source.path == path);
    let Some(root) = at("clippy.toml").map(Source::settings) else {
        return vec![Offence::new("clippy.toml", 1, "the file is gone", "restore it: it has the bans of the doors")];
    };
    let mut offences = Vec::new();
    for source in
        files.iter().filter(|source| source.path.starts_with("crates/") && source.path.ends_with("/clippy.toml"))
    {
        let Some((_, matters)) = DOORS.iter().find(|(name, _)| source.path == format!("crates/{name}/clippy.toml"))
        else {
            let fix = "delete it; a new door is decided in docs/decisions/ and named in this test";
            offences.push(source.offence(1, "this crate is no door", fix));
            continue;
        };
        let own = source.settings();
        let wanted: BTreeSet<_> =
            root.iter().filter(|setting| !matters.iter().any(|matter| setting.is_about(matter))).collect();
        for setting in wanted.iter().filter(|setting| !own.contains(setting)) {
            let what = format!("`{}` of the root clippy.toml is missing or differs", setting.name);
            offences.push(source.offence(1, what, "repeat the line of the root file"));
        }
        for setting in own.iter().filter(|setting| !wanted.contains(setting)) {
            let what = format!("`{}` is not in the root clippy.toml for this crate", setting.name);
            offences.push(source.offence(
                source.line_with(&setting.name),
                what,
                "say it in the root file, or delete it",
            ));
        }
    }
    offences
}

fn leftovers(files: &[Source]) -> Vec<Offence> {
    let rust = files.iter().filter(|source| source.is_rust());
    rust.flat_map(|source| {
        let found = source.numbered_lines().flat_map(|(number, line)| {
            LEFTOVERS.iter().filter(move |word| line.contains(**word)).map(move |word| (number, word))
        });
        found.map(|(number, word)| {
            source.offence(number, format!("`{word}`"), "do it now, or file an issue and delete it")
        })
    })
    .collect()
}

fn waits(files: &[Source]) -> Vec<Offence> {
    let by_path = format!("::{SLEEP}");
    let waits = |line: &str| line.contains(&by_path) || (line.trim_start().starts_with("use ") && line.contains(SLEEP));
    let rust = files.iter().filter(|source| source.is_rust());
    rust.flat_map(|source| {
        let first = if source.is_for_tests() { 1 } else { source.line_with("#[cfg(test)]") };
        let found = source.numbered_lines().filter(move |(number, line)| *number >= first && waits(line));
        let fix = "wait for what is meant to happen: a message, a barrier, paused time that is advanced";
        found.map(|(number, _)| source.offence(number, "waits for the clock", fix))
    })
    .collect()
}

fn unused_cases(files: &[Source]) -> Vec<Offence> {
    let name = |source: &Source| source.path.strip_prefix("tests/cases/").map(str::to_owned);
    let is_used = |name: &str| files.iter().any(|source| source.is_rust() && source.text.contains(name));
    let cases = files.iter().filter(|source| source.path.ends_with(".jsonl"));
    let unused = cases.filter(|source| name(source).is_some_and(|name| !is_used(&name)));
    unused.map(|source| source.offence(1, "no test names this file", "run its cases in a test, or delete it")).collect()
}

fn tools_without_words(files: &[Source]) -> Vec<Offence> {
    let is_tool = |source: &&Source| source.path.starts_with("crates/haft-tools/src/") && source.is_rust();
    let tools = files.iter().filter(is_tool).filter(|source| source.text.contains("impl Tool for"));
    let words = |source: &Source| source.path.replace(".rs", ".md");
    let silent = tools.filter(|source| !files.iter().any(|other| other.path == words(source)));
    silent
        .map(|source| {
            let what = format!("the tool has no words: {} is missing", words(source));
            source.offence(source.line_with("impl Tool for"), what, "write what the model reads, with examples")
        })
        .collect()
}
