//! A small bad tree for each rule, to show that the rule sees it, and a good one beside it.

use super::*;

fn tree(files: &[(&str, &str)]) -> Vec<Source> {
    files.iter().map(|(path, text)| Source::new(path, text)).collect()
}

/// Compares the places and sentences of offences, one per line and without the fixes.
fn check(offences: &[Offence], expected: &[&str]) {
    let told: Vec<String> = offences.iter().map(Offence::to_string).collect();
    let without_fix: Vec<&str> = told.iter().filter_map(|told| told.lines().next()).map(str::trim).collect();
    assert_eq!(without_fix, expected);
    assert!(told.iter().all(|told| told.contains("\n    fix: ")));
}

#[test]
fn the_501st_line_is_seen_and_lines_of_tests_are_not_counted() {
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "// a\n".repeat(600));
    let (full, over) = ("// a\n".repeat(500), "// a\n".repeat(501));
    check(&long_files(&tree(&[("crates/haft/src/a.rs", &format!("{full}{tests}"))])), &[]);
    check(&long_files(&tree(&[("crates/haft/src/a/tests.rs", &over)])), &[]);
    let offences = long_files(&tree(&[("crates/haft/src/a.rs", &format!("{over}{tests}"))]));
    check(&offences, &["crates/haft/src/a.rs:501: 501 lines without tests, at most 500 are allowed"]);
}

#[test]
fn a_function_of_61_lines_is_seen_wherever_it_is() {
    let body = "// a\n".repeat(59);
    let text =
        format!("fn a() {{\n{body}}}\nimpl A {{\nfn b() {{\n{body}}}\n}}\ntrait B {{\nfn c() {{\n{body}}}\n}}\n");
    let offences = long_functions(&tree(&[("crates/haft/src/a.rs", &text)]));
    let told = |line, name| format!("crates/haft/src/a.rs:{line}: `fn {name}` has 61 lines, at most 60 are allowed");
    check(&offences, &[&told(1, "a"), &told(63, "b"), &told(126, "c")]);
    let in_tests = format!("#[cfg(test)]\nmod tests {{\n{text}\n}}\n");
    check(&long_functions(&tree(&[("crates/haft/src/a.rs", &in_tests)])), &[]);
}

#[test]
fn a_fifth_parameter_is_seen_and_self_is_not_counted() {
    let text = "fn a(b: u8, c: u8, d: u8, e: u8) {}\nimpl A {\n    fn f(&self, b: u8, c: u8, d: u8, e: u8) {}\n}\n";
    check(&wide_functions(&tree(&[("crates/haft/src/a.rs", text)])), &[]);
    let offences = wide_functions(&tree(&[("crates/haft/src/a.rs", "fn a(b: u8, c: u8, d: u8, e: u8, f: u8) {}\n")]));
    check(&offences, &["crates/haft/src/a.rs:1: `fn a` has 5 parameters, at most 4 and `self` are allowed"]);
}

#[test]
fn a_drive_that_logs_or_is_long_or_gone_is_seen() {
    let logging = "impl A {\n    async fn drive() {\n        tracing::info!(\"a\");\n    }\n}\nfn log() {}\n";
    let told = |line, what: &str| format!("crates/haft-runtime/src/runtime.rs:{line}: {what}");
    let expected = [told(3, "`fn drive` says `tracing`"), told(3, "`fn drive` says `info`")];
    check(&faults_of_drive(&tree(&[(DRIVE, logging)])), &expected.each_ref().map(String::as_str));
    let long = format!("fn drive() {{\n{}}}\n", "// a\n".repeat(39));
    let expected = told(1, "`fn drive` has 41 lines, at most 40 are allowed");
    check(&faults_of_drive(&tree(&[(DRIVE, &long)])), &[&expected]);
    check(&faults_of_drive(&tree(&[(DRIVE, "fn drives() {}")])), &[&told(1, "there is no `fn drive`")]);
    check(&faults_of_drive(&[]), &[&told(1, "the file is gone")]);
}

#[test]
fn a_module_without_a_sentence_is_seen() {
    for bad in ["", "use a::b;\n", "//! Deals with gates.\n", "//! Keeps calls apart while they\n//! run.\n"] {
        let offences = modules_without_sentence(&tree(&[("crates/haft/src/a.rs", bad)]));
        check(&offences, &["crates/haft/src/a.rs:1: does not begin with a sentence of module docs"]);
    }
    let good = "//! Keeps conflicting calls apart.\n";
    check(&modules_without_sentence(&tree(&[("crates/haft/src/a.rs", good), ("crates/haft/tests/b.rs", "")])), &[]);
}

#[test]
fn a_drawer_is_seen_as_crate_folder_file_and_module() {
    let files = [
        ("crates/haft-core/Cargo.toml", ""),
        ("crates/haft/src/common/a.rs", ""),
        ("crates/haft/tests/helpers.rs", ""),
        ("crates/haft/src/tool_manager.rs", ""),
        ("crates/haft/src/a.rs", "\nmod utils {}\n"),
        ("crates/haft/src/type_name.rs", "mod encore {}"),
    ];
    let expected = [
        "crates/haft-core/Cargo.toml:1: `haft-core` says nothing about what is in it",
        "crates/haft/src/common/a.rs:1: `common` says nothing about what is in it",
        "crates/haft/tests/helpers.rs:1: `helpers` says nothing about what is in it",
        "crates/haft/src/tool_manager.rs:1: `tool_manager` says nothing about what is in it",
        "crates/haft/src/a.rs:2: `mod utils` says nothing about what is in it",
    ];
    check(&drawers(&tree(&files)), &expected);
}

#[test]
fn an_arrow_that_is_not_in_the_table_is_seen() {
    let files = [
        (
            "crates/haft-contract/Cargo.toml",
            "[dependencies]\nhaft-macros.workspace = true\nhaft-policy.workspace = true\n",
        ),
        (
            "crates/haft-tools/Cargo.toml",
            "[dev-dependencies]\nhaft-testkit.workspace = true\nhaft-cli.workspace = true\n",
        ),
        ("crates/haft-model/Cargo.toml", "[target.'cfg(unix)'.dependencies]\na = { package = \"haft-policy\" }\n"),
        ("crates/haft-testkit/Cargo.toml", "[dependencies]\nhaft-runtime.workspace = true\nhaft-cli = \"1\"\n"),
        ("crates/haft-web/Cargo.toml", ""),
    ];
    let expected = [
        "crates/haft-contract/Cargo.toml:3: haft-contract → haft-policy is no arrow of the design",
        "crates/haft-tools/Cargo.toml:3: haft-tools → haft-cli is no arrow of the design",
        "crates/haft-model/Cargo.toml:2: haft-model → haft-policy is no arrow of the design",
        "crates/haft-testkit/Cargo.toml:3: haft-testkit → haft-cli is no arrow of the design",
        "crates/haft-web/Cargo.toml:1: the crate haft-web is not in the table of arrows",
    ];
    check(&wrong_arrows(&tree(&files)), &expected);
}

#[test]
fn a_strayed_dependency_is_seen_unless_only_tests_use_it() {
    let files = [
        ("crates/haft-runtime/Cargo.toml", "[dependencies]\nclap.workspace = true\n"),
        ("crates/haft-policy/Cargo.toml", "[dev-dependencies]\nreqwest.workspace = true\n"),
        ("crates/haft-cli/Cargo.toml", "[dependencies]\nclap.workspace = true\nrmcp = { version = \"1\" }\n"),
    ];
    let expected = [
        "crates/haft-runtime/Cargo.toml:2: clap belongs into haft-cli only",
        "crates/haft-cli/Cargo.toml:3: rmcp belongs into haft-mcp only",
    ];
    check(&strayed_dependencies(&tree(&files)), &expected);
}

#[test]
fn a_second_home_of_the_http_client_is_seen() {
    let of_ours = "[dependencies]\nhaft-net.workspace = true\nreqwest = { version = \"1\", features = [] }\n";
    let files = tree(&[("crates/haft-model/Cargo.toml", of_ours), ("crates/haft-mcp/Cargo.toml", of_ours)]);
    let expected = [
        "crates/haft-model/Cargo.toml:3: reqwest belongs into haft-net only",
        "crates/haft-mcp/Cargo.toml:3: reqwest belongs into haft-net only",
    ];
    check(&strayed_dependencies(&files), &expected);
    let package = |name: &str, uses: &str| format!("[[package]]\nname = \"{name}\"\ndependencies = [\"{uses}\"]\n");
    let lock = [("haft-net", "reqwest"), ("rmcp", "reqwest 1.0.0"), ("a", "reqwest-like")].map(|(a, b)| package(a, b));
    let offences = hidden_clients(&tree(&[("Cargo.lock", &lock.concat())]));
    check(&offences, &["Cargo.lock:5: rmcp brings reqwest along"]);
    check(&hidden_clients(&[]), &["Cargo.lock:1: the file is gone"]);
}

#[test]
fn a_file_that_could_issue_a_permit_is_seen() {
    let issuing = "use a::PermitIssuer;\nfn b() {\n    Permit::issue(&PermitIssuer::of_the_runtime());\n}\n";
    let renamed = "use haft_contract::door::{Permit, PermitIssuer as Right};\n";
    let files = [
        ("crates/haft-runtime/src/permits.rs", issuing),
        ("crates/haft-runtime/src/hooks.rs", issuing),
        ("crates/haft-tools/src/describe.rs", renamed),
        ("crates/haft-cli/src/doctor.rs", "/// Needs no `PermitIssuer`.\nfn a() {}\n"),
        ("crates/haft-workspace/src/history/tests.rs", issuing),
        ("crates/haft-workspace/tests/torture.rs", issuing),
        ("crates/haft-testkit/src/permits.rs", issuing),
    ];
    let expected = [
        "crates/haft-runtime/src/hooks.rs:1: names `PermitIssuer`: only the runtime issues permits",
        "crates/haft-tools/src/describe.rs:1: names `PermitIssuer`: only the runtime issues permits",
    ];
    check(&strayed_permits(&tree(&files)), &expected);
}

#[test]
fn a_door_that_forgets_or_adds_something_is_seen() {
    let files = "{ path = \"std::fs::read\", reason = \"files are ours\" }";
    let environment = "{ path = \"std::env::var\", reason = \"environment is ours\" }";
    let root = format!("too-many-lines-threshold = 60\ndisallowed-methods = [{files}, {environment}]\n");
    let tree_with = |path, text: &str| tree(&[("clippy.toml", &root), (path, text)]);
    let good = format!("too-many-lines-threshold = 60\ndisallowed-methods = [{environment}]\n");
    check(&drifted_doors(&tree_with("crates/haft-workspace/clippy.toml", &good)), &[]);
    let neither = "too-many-lines-threshold = 60\n";
    let of_sandbox = drifted_doors(&tree_with("crates/haft-sandbox/clippy.toml", neither));
    check(
        &of_sandbox,
        &["crates/haft-sandbox/clippy.toml:1: `std::env::var` of the root clippy.toml is missing or differs"],
    );
    check(&drifted_doors(&tree_with("crates/haft-sandbox/clippy.toml", &good)), &[]);
    let bad = format!("too-many-lines-threshold = 90\ndisallowed-methods = [\n{files}]\n");
    let expected = [
        "crates/haft-workspace/clippy.toml:1: `std::env::var` of the root clippy.toml is missing or differs",
        "crates/haft-workspace/clippy.toml:1: `too-many-lines-threshold` of the root clippy.toml is missing or differs",
        "crates/haft-workspace/clippy.toml:3: `std::fs::read` is not in the root clippy.toml for this crate",
        "crates/haft-workspace/clippy.toml:1: `too-many-lines-threshold` is not in the root clippy.toml for this crate",
    ];
    check(&drifted_doors(&tree_with("crates/haft-workspace/clippy.toml", &bad)), &expected);
    let offences = drifted_doors(&tree_with("crates/haft-tools/clippy.toml", &root));
    check(&offences, &["crates/haft-tools/clippy.toml:1: this crate is no door"]);
    check(&drifted_doors(&[]), &["clippy.toml:1: the file is gone"]);
}

#[test]
fn every_word_for_later_is_seen() {
    for word in LEFTOVERS {
        let offences = leftovers(&tree(&[("crates/haft/tests/a.rs", &format!("\n    {word}\n"))]));
        check(&offences, &[&format!("crates/haft/tests/a.rs:2: `{word}`")]);
    }
    check(&leftovers(&tree(&[("crates/haft/src/a.rs", "/// ```ignore\nlet todo = 1;\n")])), &[]);
}

#[test]
fn waiting_is_seen_in_every_kind_of_test_and_nowhere_else() {
    let in_module =
        format!("std::thread::{SLEEP}(a);\n#[cfg(test)]\nmod tests {{\n    tokio::time::{SLEEP}(a).await;\n}}\n");
    let imported = format!("use tokio::time::{{Instant, {SLEEP}}};\n");
    let files = [
        ("crates/haft/src/a.rs", in_module.as_str()),
        ("crates/haft/src/a/tests.rs", &imported),
        ("crates/haft/tests/a/b.rs", &imported),
        ("crates/haft/src/b.rs", &imported),
        ("crates/haft-testkit/src/a.rs", &imported),
    ];
    let expected = [
        "crates/haft/src/a.rs:4: waits for the clock",
        "crates/haft/src/a/tests.rs:1: waits for the clock",
        "crates/haft/tests/a/b.rs:1: waits for the clock",
        "crates/haft-testkit/src/a.rs:1: waits for the clock",
    ];
    check(&waits(&tree(&files)), &expected);
}

#[test]
fn a_file_of_cases_that_nobody_names_is_seen() {
    let files = [
        ("tests/cases/used.jsonl", ""),
        ("tests/cases/forgotten.jsonl", ""),
        ("crates/haft/src/a/tests.rs", "include_str!(\"../cases/used.jsonl\")"),
        ("crates/haft/README.md", "forgotten.jsonl"),
    ];
    check(&unused_cases(&tree(&files)), &["tests/cases/forgotten.jsonl:1: no test names this file"]);
}

#[test]
fn a_tool_without_words_is_seen() {
    let tool = "pub struct A;\nimpl Tool for A {}\n";
    let files = [
        ("crates/haft-tools/src/a.rs", tool),
        ("crates/haft-tools/src/b.rs", tool),
        ("crates/haft-tools/src/b.md", ""),
        ("crates/haft-tools/src/lib.rs", ""),
    ];
    let expected = "crates/haft-tools/src/a.rs:2: the tool has no words: crates/haft-tools/src/a.md is missing";
    check(&tools_without_words(&tree(&files)), &[expected]);
}

#[test]
fn an_odd_word_is_seen_in_texts_and_not_in_comments_names_or_tests() {
    let texts = concat!(
        "//! Whoever reads this.\n",
        "#[error(\"the file was changed \\\n by somebody else\")]\nstruct Nobody;\n",
        "fn a() { b(format!(\"Nobody is there, {c}\"), \"nobody\", \"a mended sock\", \"recommended now\") }\n",
        "#[expect(d, reason = \"nobody calls it\")]\nconst E: &str = \"at\\u{20}once\";\n",
        "#[cfg(test)]\nmod tests { const F: &str = \"nobody is here\"; }\n",
        "#[cfg(test)]\nuse g;\nconst H: &str = \"it is there again\";\n",
    );
    let table = "# Nobody reads this.\ngit\n  does danger rights ask nobody\n";
    let offences = odd_words::odd_words(&tree(&[
        ("crates/haft-tools/src/a.rs", texts),
        ("crates/haft-tools/src/a.md", "# A\n\nReads several at once.\n"),
        ("crates/haft-policy/src/b.txt", table),
        ("crates/haft-tools/src/a/tests.rs", "const A: &str = \"nobody is here\";"),
    ]));
    let told = |place: &str, word: &str| format!("crates/{place}: \"{word}\" in a text that users read");
    let expected = [
        told("haft-tools/src/a.rs:2", "somebody"),
        told("haft-tools/src/a.rs:5", "nobody"),
        told("haft-tools/src/a.rs:5", "mended"),
        told("haft-tools/src/a.rs:7", "at once"),
        told("haft-tools/src/a.rs:12", "there again"),
        told("haft-tools/src/a.md:3", "at once"),
        told("haft-policy/src/b.txt:3", "nobody"),
    ];
    check(&offences, &expected.each_ref().map(String::as_str));
}

#[test]
fn a_name_in_the_coverage_behind_which_there_is_nothing_is_seen() {
    let code = "#[test]\nfn it_holds() {}\nfn it_helps() {}\n#[tokio::test]\n// Why.\nasync fn it_waits() {}\n";
    let row = |name: &str| format!("| X1 | a | `haft/src/a.rs` | `haft/src/a.rs::{name}` and `limit`, `--a/b` |\n");
    let check_page = |page: &str, expected: &[&str]| {
        check(&coverage::broken_claims(&tree(&[("crates/haft/src/a.rs", code), ("docs/coverage.md", page)])), expected);
    };
    check_page(&(row("it_holds") + &row("it_waits")), &[]);
    check_page(&row("it_held"), &["docs/coverage.md:1: haft/src/a.rs has no test it_held"]);
    check_page(&row("it_helps"), &["docs/coverage.md:1: haft/src/a.rs has no test it_helps"]);
    check_page("| X1 | a | `haft/src/b.rs` | not yet |", &["docs/coverage.md:1: there is no file haft/src/b.rs"]);
    check_page("| X1 | a | — | `b.rs::it_holds` |", &["docs/coverage.md:1: there is no file b.rs"]);
    check(&coverage::broken_claims(&[]), &["docs/coverage.md:1: the file is gone"]);
}

#[test]
fn a_sum_of_the_coverage_that_is_not_that_of_its_rows_is_seen() {
    let rows =
        "| id | demand |\n|---|---|\n| X1 | a | — | not yet: b |\n| X2 | a | b | partly: c |\n| X3 | a | b | c |\n";
    let sums = |said: &str| coverage::wrong_sums(&tree(&[("docs/coverage.md", &format!("{said}\n{rows}"))]));
    check(&sums("3 rows: 1 shown / 1 partly / 1 not yet."), &[]);
    let expected = "docs/coverage.md:1: it says \"3 rows: 2 shown / 0 partly / 1 not yet.\", there are \
                    3 rows: 1 shown / 1 partly / 1 not yet.";
    check(&sums("3 rows: 2 shown / 0 partly / 1 not yet."), &[expected]);
}
