//! A workspace with one file, and the command in it, with or without facilities of the kernel.

use haft_testkit::scratch_home::{CapturedOutput, ScratchHome, said};
use haft_testkit::seccomp_filter::CallFilter;

/// What a file of the workspace contains before a command changes it.
pub(super) const BEFORE: &str = "one\n";

/// The command that changes one file and makes another.
pub(super) const CHANGE: &str = "echo two > a.txt; echo new > made.txt; mkdir deep; mv b.txt deep/b.txt";

pub(super) struct Workplace {
    pub(super) home: ScratchHome,
    filter: CallFilter,
}

impl Workplace {
    pub(super) fn new(filter: CallFilter) -> Self {
        let home = ScratchHome::new(env!("CARGO_BIN_EXE_haft")).with_own_folders();
        home.put("ws/a.txt", BEFORE);
        home.put("ws/b.txt", "moved\n");
        Self { home, filter }
    }

    /// Returns the same home and workspace in other surroundings.
    pub(super) fn behind(&self, filter: CallFilter) -> Self {
        Self { home: self.home.clone(), filter }
    }

    /// Accepts any level of the sandbox.
    pub(super) fn requiring_nothing(self) -> Self {
        self.home.put("config/haft/config.toml", "[sandbox]\nrequired = \"none\"\n");
        self
    }

    pub(super) fn haft(&self, arguments: &[&str]) -> CapturedOutput {
        let said = self.filter.within(|| said(self.home.command(arguments), ""));
        let text = format!("{}{}", said.out, said.err);
        assert!(!text.contains("panicked") && said.code < 128, "{arguments:?} ended with {}: {text}", said.code);
        said
    }

    /// Returns what the doctor says of something.
    pub(super) fn doctor(&self, fact: &str) -> String {
        let said = self.haft(&["doctor"]);
        let found = said.out.lines().find_map(|line| line.strip_prefix(fact));
        found.unwrap_or_else(|| panic!("the doctor says nothing of {fact}: {}{}", said.out, said.err)).trim().to_owned()
    }

    /// Returns the names and contents of the workspace, in order.
    pub(super) fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = ["a.txt", "b.txt", "made.txt", "deep/b.txt"]
            .iter()
            .filter_map(|name| Some(format!("{name}: {}", self.home.get(&format!("ws/{name}"))?.trim_end())))
            .collect();
        files.sort();
        files
    }
}
