//! Settings of the project that harmless commands follow: beside such files they are asked about.

use haft_policy::decision::Decision;
use haft_policy::examples::{decision, decision_beside};

/// Files, and commands that follow them.
const FOLLOWED: &[(&str, &[&str])] = &[
    (
        ".npmrc",
        &[
            "npm ls",
            "npm run",
            "npm root",
            "npm prefix",
            "npm explain react",
            "npm help install",
            "npm --version",
            "cd src && npm ls",
        ],
    ),
    (
        ".cargo/config.toml",
        &[
            "cargo fmt --version",
            "cargo clippy --version",
            "cargo fmt --all --check",
            "cargo --version",
            "cargo pkgid",
            "cd src && cargo fmt --version",
        ],
    ),
    ("package.json", &["pnpm ls", "pnpm --version", "pnpm why react", "yarn --version", "yarn why react"]),
    (".mocharc.js", &["mocha --version", "mocha --help", "cd src && mocha --version"]),
    (".mocharc.cjs", &["mocha --version"]),
    ("ava.config.js", &["ava --version"]),
    ("ava.config.mjs", &["ava --help"]),
    ("nyc.config.js", &["nyc --version"]),
    (".taprc", &["tap --version"]),
    ("bunfig.toml", &["bun --version"]),
    (".cargo/config", &["cargo fmt --version", "cargo version"]),
];

#[test]
fn commands_beside_settings_of_the_project_that_they_follow_are_asked_about() {
    for (file, commands) in FOLLOWED {
        for command in *commands {
            assert_eq!(decision_beside(&[file], command), Decision::Ask, "{command} beside {file}");
            assert_eq!(decision(command), Decision::Allow, "{command} without {file}");
        }
    }
}
