//! Matches globs against names and paths, with the syntax of `.gitignore`.
//!
//! A glob without `/` matches names in any folder; one with `/` matches paths below the folder where the walk began; one
//! that ends with `/` matches folders. All become automata of bounded size that need linear time: no glob is too slow.
//!
//! Not here: the rules of ignore files (`rules`), which can also include again what they ignored.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use globset::{Candidate, Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;

/// Longest glob, in bytes.
const LONGEST: usize = 1_000;
/// Most globs in one list.
const MOST: usize = 100;

/// A list of globs that a path may fit.
#[derive(Clone, Debug)]
pub(in crate::files) struct NameGlobs {
    set: GlobSet,
    count: usize,
}

/// Whether capital letters in a glob matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::files) enum Letters {
    /// They do.
    Exact,
    /// They do not.
    AnyCase,
}

impl NameGlobs {
    /// Compiles globs; `argument` is what the model calls them.
    pub(in crate::files) fn new(globs: &[String], (argument, letters): (&str, Letters)) -> Result<Self, ToolError> {
        if globs.len() > MOST {
            let what = format!("\"{argument}\" has {} globs; at most {MOST} are allowed.", globs.len());
            return Err(bad(what, "join them with braces, such as \"*.{c,h}\""));
        }
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            set.add(compiled(glob, letters)?);
        }
        let built = set.build().map_err(|error| {
            bad(format!("The globs of \"{argument}\" are too large together: {error}."), "use fewer or simpler globs")
        })?;
        Ok(Self { set: built, count: globs.len() })
    }

    /// Compiles globs that are known to fit, and leaves out what is too large.
    pub(in crate::files) fn of_known(globs: &[String], letters: Letters) -> Self {
        let known: Vec<Glob> = globs.iter().filter_map(|glob| compiled(glob, letters).ok()).collect();
        let mut set = GlobSetBuilder::new();
        for glob in &known {
            set.add(glob.clone());
        }
        Self { set: set.build().unwrap_or_default(), count: known.len() }
    }

    /// Returns whether there is no glob at all.
    pub(in crate::files) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns whether the path fits one of the globs.
    pub(in crate::files) fn fit(&self, path: &[u8]) -> bool {
        self.count > 0 && self.set.is_match_candidate(&Candidate::new(Path::new(OsStr::from_bytes(path))))
    }
}

fn compiled(glob: &str, letters: Letters) -> Result<Glob, ToolError> {
    if glob.len() > LONGEST {
        let what = format!("A glob is {} bytes long; at most {LONGEST} are allowed.", glob.len());
        return Err(bad(what, "write a shorter glob, such as \"src/**/*.rs\""));
    }
    let plain = glob.strip_prefix("./").unwrap_or(glob);
    let plain = plain.strip_suffix('/').unwrap_or(plain);
    // A name in any folder: "**/" also fits no folder at all.
    let anchored = if plain.contains('/') { plain.to_owned() } else { format!("**/{plain}") };
    let built =
        GlobBuilder::new(&anchored).literal_separator(true).case_insensitive(letters == Letters::AnyCase).build();
    built.map_err(|error| {
        bad(format!("\"{glob}\" is not a glob: {}.", error.kind()), "write a glob such as \"*.log\" or \"src/**/*.rs\"")
    })
}

fn bad(what: String, next: &str) -> ToolError {
    ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(glob: &str, fits: &[&str], misses: &[&str]) {
        let globs = NameGlobs::new(&[glob.to_owned()], ("pattern", Letters::Exact)).expect("it is a glob");
        for path in fits {
            assert!(globs.fit(path.as_bytes()), "{glob} fits {path}");
        }
        for path in misses {
            assert!(!globs.fit(path.as_bytes()), "{glob} does not fit {path}");
        }
    }

    #[test]
    fn a_glob_without_a_slash_is_for_names_in_any_folder() {
        check("*.rs", &["a.rs", "src/a.rs", "a/b/c.rs", ".rs"], &["a.rsx", "rs"]);
        check("*.{c,h}", &["a.c", "x/b.h"], &["a.cc"]);
    }

    #[test]
    fn a_glob_with_a_slash_is_for_paths_below_the_folder() {
        check("src/*.rs", &["src/a.rs"], &["a.rs", "src/b/a.rs", "x/src/a.rs"]);
        check("src/**/*.rs", &["src/a.rs", "src/b/c/a.rs"], &["a.rs"]);
        check("./src/*.rs", &["src/a.rs"], &[]);
        check("{a,b}/*.{c,h}", &["a/x.c", "b/x.h"], &["c/x.c", "a/x.rs"]);
        check("**/**/**/**", &["a", "a/b/c"], &[]);
    }

    #[test]
    fn a_glob_that_cannot_be_used_says_why() {
        let error = |glob: String| {
            NameGlobs::new(&[glob], ("pattern", Letters::Exact)).expect_err("it is no glob").what.clone()
        };
        assert_eq!(error("a[".into()), "\"a[\" is not a glob: unclosed character class; missing ']'.");
        assert_eq!(error("x".repeat(1_001)), "A glob is 1001 bytes long; at most 1000 are allowed.");
    }
}
