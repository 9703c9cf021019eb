//! Declares what a test needs of the machine, and reports each skipped test.
//!
//! A test that returns early without Python or a sandbox passes, and its reader believes that it tested something. So
//! the test asks here: a skip is one line on the terminal, past the capture of the test harness, and
//! `HAFT_TEST_REQUIRE` turns it into a failure.
//!
//! Not here: how a test finds out whether something exists.

use std::io::Write;
use std::panic::Location;

/// The variable with the names of what must not be missing, separated by commas.
pub const REQUIRE: &str = "HAFT_TEST_REQUIRE";

/// How the line of a skip begins.
pub const SKIPPED: &str = "SKIPPED";

/// What a test needs beyond a Rust toolchain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The strongest sandbox level.
    Full,
    /// The sandbox level without namespaces.
    Partial,
    /// A Python interpreter.
    Python,
    /// Git.
    Git,
    /// A tracer of system calls that may trace.
    Strace,
    /// Any other program.
    Programs,
    /// Processes and files of another user.
    Users,
    /// Mounts in a namespace, as an ordinary user may have them.
    Mounts,
    /// A file system in memory.
    Memory,
    /// A file system that records when a folder was made.
    Births,
    /// A file system that keeps extended attributes.
    Attributes,
    /// A host name that leads to this machine.
    HostName,
    /// The sources of our dependencies, where cargo keeps them.
    Sources,
}

impl Need {
    /// All that can be required.
    pub const ALL: [Need; 13] = [
        Need::Full,
        Need::Partial,
        Need::Python,
        Need::Git,
        Need::Strace,
        Need::Programs,
        Need::Users,
        Need::Mounts,
        Need::Memory,
        Need::Births,
        Need::Attributes,
        Need::HostName,
        Need::Sources,
    ];

    /// Returns the name in the variable.
    pub fn name(self) -> &'static str {
        match self {
            Need::Full => "full",
            Need::Partial => "partial",
            Need::Python => "python",
            Need::Git => "git",
            Need::Strace => "strace",
            Need::Programs => "programs",
            Need::Users => "users",
            Need::Mounts => "mounts",
            Need::Memory => "memory",
            Need::Births => "births",
            Need::Attributes => "attributes",
            Need::HostName => "hostname",
            Need::Sources => "sources",
        }
    }

    /// Returns what a program belongs to.
    pub fn of_program(program: &str) -> Self {
        match program {
            "python3" => Need::Python,
            "git" => Need::Git,
            "strace" => Need::Strace,
            _ => Need::Programs,
        }
    }

    /// Returns whether a test can go on; where it cannot, reports the skip, or fails when the need is required.
    #[track_caller]
    #[must_use = "a test that goes on without what it needs shows nothing"]
    pub fn met(self, is_there: bool) -> bool {
        self.found(is_there.then_some(())).is_some()
    }

    /// Returns what was found; where it is nothing, reports the skip, or fails when the need is required.
    #[track_caller]
    #[must_use = "a test that goes on without what it needs shows nothing"]
    pub fn found<T>(self, thing: Option<T>) -> Option<T> {
        if thing.is_none() {
            self.skip(Location::caller());
        }
        thing
    }

    #[expect(clippy::disallowed_methods, reason = "the person who runs the tests sets the variable and reads the line")]
    fn skip(self, place: &Location<'_>) {
        let thread = std::thread::current();
        let test = thread.name().unwrap_or("a test");
        let line = format!("{SKIPPED} {test}: needs {} ({}:{})", self.name(), place.file(), place.line());
        let required = std::env::var(REQUIRE).unwrap_or_default();
        assert!(!self.is_among(&required), "{line}, and {REQUIRE}={required} says that it must not be missing");
        // The macros that print are captured. One write, because tests run at the same time.
        let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
    }

    fn is_among(self, required: &str) -> bool {
        let names: Vec<&str> = required.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        let all = Need::ALL.map(Need::name);
        let unknown: Vec<&&str> = names.iter().filter(|name| !all.contains(name)).collect();
        assert!(unknown.is_empty(), "{REQUIRE} names {unknown:?}; it can name {all:?}");
        names.contains(&self.name())
    }
}
