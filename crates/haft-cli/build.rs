//! Tells the command which commit it was built from: `haft --version` shows it. And fixes where the program lies.
//!
//! In a checkout git says so; in a package cargo has written it into `.cargo_vcs_info.json`. Where neither is there, the
//! version stands alone.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a build script asks git and reads its package"
)]

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = env!("CARGO_PKG_VERSION");
    let shown = match of_checkout().or_else(of_package) {
        Some(commit) => format!("{version} ({commit})"),
        None => version.to_owned(),
    };
    println!("cargo::rustc-env=HAFT_VERSION={shown}");
    fix_address();
}

/// Links the program for a fixed address where that is possible (decision 0034).
///
/// At an address that is drawn at each start, some fifty thousand pointers in the tables of the program have to be changed
/// before its first line runs, and again in the launcher.
fn fix_address() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

/// Returns commit and date of the checkout, where this is one of haft's own.
fn of_checkout() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
    };
    // The package may be inside a checkout of another project.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    let folder = git(&["rev-parse", "--git-dir"])?;
    println!("cargo::rerun-if-changed={folder}/HEAD");
    println!("cargo::rerun-if-changed={folder}/logs/HEAD");
    git(&["log", "-1", "--abbrev=9", "--format=%h %cs"])
}

/// Returns the commit that a package was made from.
fn of_package() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let hash = text.split("\"sha1\"").nth(1)?.split('"').nth(1)?;
    Some(hash.chars().take(9).collect()).filter(|hash: &String| !hash.is_empty())
}
