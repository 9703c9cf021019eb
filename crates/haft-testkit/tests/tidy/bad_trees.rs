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
fn the_7001st_line_of_the_command_line_is_seen() {
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "// a\n".repeat(600));
    let half = format!("{}{tests}", "// a\n".repeat(3_500));
    let [a, b, c] = ["a", "b", "b/tests"].map(|name| format!("crates/haft-cli/src/{name}.rs"));
    let other = "crates/haft-host/src/a.rs";
    let full = tree(&[(&a, &half), (&b, &half), (&c, &half), (other, &half)]);
    check(&long_command_line(&full), &[]);
    let over = tree(&[(&a, &half), (&b, &format!("// a\n{half}"))]);
    check(&long_command_line(&over), &["crates/haft-cli/src/:1: 7001 lines without tests, at most 7000 are allowed"]);
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
fn elements_of_a_tuple_are_counted_as_parameters() {
    let four = "fn a((b, c): (u8, u8), (d, e): (&u8, &u8)) {}\nfn f(_: (), g: fn(u8, u8), h: Option<(u8, u8)>) {}\n";
    check(&wide_functions(&tree(&[("crates/haft/src/a.rs", four)])), &[]);
    let five = "fn a((b, c): (u8, u8), (d, (e, f)): &(u8, (u8, u8))) {}\n";
    let offences = wide_functions(&tree(&[("crates/haft/src/a.rs", five)]));
    check(&offences, &["crates/haft/src/a.rs:1: `fn a` has 5 parameters, at most 4 and `self` are allowed"]);
}

#[test]
fn a_bare_bool_is_seen_unless_it_is_the_name_of_the_function_or_a_trait_wants_it() {
    let good = "impl A {\n    fn set_raw(&mut self, is_raw: bool) {}\n    fn with_colour(self, colour: bool) {}\n    \
                fn exactly_if(holds: bool) {}\n    fn seen(&self, all: &[bool], one: Option<bool>) {}\n}\n\
                impl B for A {\n    fn c(&self, d: bool) {}\n}\n";
    let trees = |path: &str, text: &str| flag_parameters(&tree(&[(path, text)]));
    check(&trees("crates/haft/src/a.rs", good), &[]);
    let bad = "fn raw(a: u8, is_raw: bool) {}\ntrait B {\n    fn c(&self, (d, _): (bool, u8));\n}\n";
    check(&trees("crates/haft-testkit/src/a.rs", bad), &[]);
    let told = |line, what: &str| format!("crates/haft/src/a.rs:{line}: the parameter {what} is a bare `bool`");
    let expected = [told(1, "`is_raw` of `fn raw`"), told(3, "`d` of `fn c`")];
    check(&trees("crates/haft/src/a.rs", bad), &expected.each_ref().map(String::as_str));
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
        ("crates/haft-runtime/src/confining/permits.rs", issuing),
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
fn a_test_that_returns_early_without_a_word_is_seen_however_it_does() {
    let silent = [
        "if !Path::new(\"/usr/bin/git\").exists() {\n        return;\n    }",
        "let Some(git) = found() else { return };",
        "if missing() {\n        println!(\"not tried\");\n        return;\n    }",
        "if missing() {\n        return println!(\"not tried\");\n    }",
        "for a in b {\n        let Ok(git) = a else { return };\n    }",
        "for_all(&|a| {\n        if !a.has_room() {\n            return;\n        }\n    });",
    ];
    for (attribute, place) in [("#[test]\nfn", "src/a/tests.rs"), ("#[tokio::test]\nasync fn", "tests/a.rs")] {
        let path = format!("crates/haft/{place}");
        for body in silent {
            let text = format!("{attribute} a_rule_holds() {{\n    {body}\n    assert!(true);\n}}\n");
            let told = skips::silent_skips(&tree(&[(&path, &text)]));
            assert!(told.len() == 1 && told[0].to_string().contains("a test returns early"), "{text}");
        }
    }
}

#[test]
fn a_test_that_asks_before_it_returns_is_in_order() {
    let helper = "fn has_git() -> bool {\n    Need::Git.met(true)\n}\nfn ready() -> bool {\n    has_git()\n}\n";
    let bodies = [
        "if !Need::Git.met(is_there) {\n        return;\n    }",
        "let Some(git) = Need::Git.found(git()) else { return };",
        "if !place.has_git() {\n        return;\n    }",
        "if !ready() {\n        return;\n    }",
        "let Ok(orders) = std::env::var(\"ORDERS\") else { return };",
        "let a = || {\n        return 1;\n    };",
        "let mut a = |b| {\n        if b {\n            done += 1;\n            return;\n        }\n    };",
    ];
    for body in bodies {
        let text = format!(
            "{helper}#[test]\nfn a_rule_holds() {{\n    {body}\n}}\nfn other() {{\n    if a {{\n        return;\n    }}\n}}\n"
        );
        check(&skips::silent_skips(&tree(&[("crates/haft/tests/a.rs", &text)])), &[]);
    }
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
fn a_path_in_the_architecture_behind_which_there_is_nothing_is_seen() {
    let told = |page: &str| {
        architecture::broken_paths(&tree(&[("crates/haft-net/src/a/b.rs", ""), ("ARCHITECTURE.md", page)]))
    };
    for right in
        ["`b.rs`", "`a/b`", "`a/b.rs`", "`src/a/`", "`haft-net/src/a`", "`crates/haft-net/src/a/b.rs`", "`NAME.rs`"]
    {
        check(&told(right), &[]);
    }
    for wrong in ["c.rs", "a/c", "b/a.rs", "haft-net/a", "haft-ne/src/a"] {
        let expected = format!("ARCHITECTURE.md:2: there is no file or folder {wrong}");
        check(&told(&format!("in `a/b`\nand `{wrong}`")), &[&expected]);
    }
    check(&architecture::broken_paths(&[]), &["ARCHITECTURE.md:1: the file is gone"]);
}

#[test]
fn an_arrow_of_the_architecture_that_is_not_the_one_that_is_checked_is_seen() {
    let page = include_str!("../../../../ARCHITECTURE.md");
    let wrong = |from: &str, to: &str| {
        assert_eq!(page.matches(from).count(), 1, "{from}");
        architecture::wrong_arrows(&tree(&[("ARCHITECTURE.md", &page.replace(from, to))]))
    };
    let line = page.lines().position(|line| line.starts_with("Arrows: ")).expect("it draws them") + 1;
    let of = |name: &str| format!("ARCHITECTURE.md:{line}: the arrows of {name} are not those that are checked");
    check(&wrong("mcp → contract, host, net, runtime", "mcp → contract, net, runtime"), &[&of("haft-mcp")]);
    check(&wrong("haft → all but cli, testkit", "haft → all but cli"), &[&of("haft")]);
    check(&wrong("; cli → all;", ";"), &[&of("haft-cli")]);
    check(&wrong("contract → macros;", "contract → macros; macros → net;"), &[&of("haft-macros")]);
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

#[test]
fn an_odd_word_is_seen_in_texts_and_nowhere_else() {
    let code = concat!(
        "//! Nobody mends this.\n/// Somebody.\nfn nobody() {\n    // at once\n    talk(&format!(\"{a}: there Again\"));\n}\n",
        "const A: &str = r#\"Mended, and told.\"#;\nconst B: &str = \"Recommended; nobody_is_there\";\n",
        "#[cfg(test)]\nmod tests {\n    const C: &str = \"somebody\";\n}\n#[cfg(test)]\nuse a::nobody;\nconst D: &str = \"at \\\n  once\";\n",
    );
    let files = [
        ("crates/haft-cli/src/a.rs", code),
        ("crates/haft-agent/src/b.md", "# Fine\n\nSend them at once.\n"),
        ("crates/haft-cli/src/a/tests.rs", "const A: &str = \"nobody\";\n"),
        ("crates/haft-cli/tests/c.rs", "const A: &str = \"nobody\";\n"),
    ];
    let expected = [
        "crates/haft-cli/src/a.rs:5: a text says \"there again\": restored",
        "crates/haft-cli/src/a.rs:7: a text says \"mended\": fixed or repaired",
        "crates/haft-cli/src/a.rs:15: a text says \"at once\": immediately, or together",
        "crates/haft-agent/src/b.md:3: a text says \"at once\": immediately, or together",
    ];
    check(&wording::odd_words(&tree(&files)), &expected);
}

#[test]
fn a_third_type_of_one_name_is_seen_and_so_is_a_former_name() {
    let kept = "pub struct Kept;\n";
    let two = [("crates/haft/src/a.rs", kept), ("crates/haft/src/b.rs", kept), ("crates/haft/src/b/tests.rs", kept)];
    check(&rooms::shared_names(&tree(&two)), &[]);
    let three = [
        two[0],
        two[1],
        ("crates/haft/src/c.rs", "impl A for B {\n    type Kept = u8;\n}\npub(crate) enum Kept<T> {}\n"),
    ];
    let expected = [
        "crates/haft/src/a.rs:1: 3 types are called `Kept`",
        "crates/haft/src/b.rs:1: 3 types are called `Kept`",
        "crates/haft/src/c.rs:4: 3 types are called `Kept`",
    ];
    check(&rooms::shared_names(&tree(&three)), &expected);
    let former = tree(&[("crates/haft/src/a.rs", "trait Ground {}\n")]);
    check(&rooms::shared_names(&former), &["crates/haft/src/a.rs:1: `Ground` is called Staging"]);
}

#[test]
fn the_16th_module_of_a_folder_is_seen() {
    let files = |count: usize| (0..count).map(|number| Source::new(&format!("crates/haft/src/a/m{number}.rs"), ""));
    let beside =
        ["crates/haft/src/lib.rs", "crates/haft/src/a.rs", "crates/haft/src/a/m1/b.rs", "crates/haft/src/a/m1.md"];
    let tree = |count| files(count).chain(beside.map(|path| Source::new(path, ""))).collect::<Vec<_>>();
    check(&rooms::crowded_folders(&tree(15)), &[]);
    check(&rooms::crowded_folders(&tree(16)), &["crates/haft/src/a/:1: 16 modules, at most 15 are allowed"]);
}

#[test]
fn an_odd_word_in_a_comment_is_seen() {
    let code = "//! Whoever reads.\nlet nobody = 1; // nobody\n/// Restores it.\n    // It is there again.\n";
    let expected = [
        "crates/haft/src/a.rs:1: a comment says \"whoever\": name the actor",
        "crates/haft/src/a.rs:4: a comment says \"there again\": restored",
    ];
    check(&rooms::odd_comments(&tree(&[("crates/haft/src/a.rs", code)])), &expected);
}
