//! Patterns of paths as ignore files have them.
//!
//! A name without a slash is meant at any depth, with one it begins at the root of the workspace (or, for what lies
//! outside, at `/`), and what lies in a folder that fits does too.
//!
//! Not here: exclamation marks. A rule says what it is about; another rule says the rest.

use std::path::{Component, Path};

use haft::path::{Extent, Target};

use super::fit::Fit;
use super::names::NamePattern;

/// A pattern of paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    text: String,
    parts: Vec<Part>,
    reach: Reach,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Name(NamePattern),
    /// `**`: any folders.
    Deep,
}

/// Which paths a pattern speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Those in the workspace.
    Workspace,
    /// Those that begin at `/`, or at the root of the workspace.
    Everywhere,
    /// Those that begin at `/`.
    Elsewhere,
}

impl PathPattern {
    /// Reads a pattern; `~/` is the home. Returns what is wrong with it, and how to mend it.
    pub fn new(text: &str, home: &Path) -> Result<Self, (String, String)> {
        let wrong = |problem: &str, fix: &str| Err((problem.to_owned(), fix.to_owned()));
        if text.trim().is_empty() {
            return wrong("the path is empty", "name a file, a folder or a pattern such as \"secrets/**\"");
        }
        if text.starts_with('!') {
            return wrong(
                "a path cannot begin with \"!\"",
                "say what the rule is about; write \"\\\\!\" for a name that begins so",
            );
        }
        let (rest, reach) = match text.strip_prefix("~/") {
            Some(rest) => (format!("{}/{rest}", home.display()), Reach::Elsewhere),
            None if text.starts_with('/') || !text.trim_end_matches('/').contains('/') => {
                (text.to_owned(), Reach::Everywhere)
            }
            None => (text.to_owned(), Reach::Workspace),
        };
        let rest = rest.trim_end_matches('/');
        let mut parts: Vec<Part> = Vec::new();
        if !rest.contains('/') {
            parts.push(Part::Deep);
        }
        for part in rest.split('/').filter(|part| !part.is_empty() && *part != ".") {
            match part {
                ".." => return wrong("a path with \"..\" can never match", "write where it leads"),
                "**" => parts.push(Part::Deep),
                name => parts.push(Part::Name(NamePattern::of_path_part(name))),
            }
        }
        if rest != "**" && parts.iter().all(|part| *part == Part::Deep) {
            return wrong("the path names nothing", "write \"**\" for everything");
        }
        Ok(Self { text: text.to_owned(), parts, reach })
    }

    /// Returns the pattern as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Compares it with where a path leads. A tree that may hold something that fits perhaps fits.
    pub fn fit(&self, target: &Target) -> Fit {
        let path = target.place().path();
        let is_spoken_of = match self.reach {
            Reach::Everywhere => true,
            Reach::Workspace => path.is_relative(),
            Reach::Elsewhere => path.is_absolute(),
        };
        if !is_spoken_of {
            return Fit::Not;
        }
        let names: Vec<String> = path
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
                _ => None,
            })
            .collect();
        match self.follow(&names) {
            Followed::ToTheEnd => Fit::Exactly,
            Followed::SoFar if target.place().extent() == Extent::Tree => Fit::Perhaps,
            Followed::SoFar | Followed::Away => Fit::Not,
        }
    }

    /// Goes down the names and keeps which parts of the pattern may come next.
    fn follow(&self, names: &[String]) -> Followed {
        let count = self.parts.len();
        let mut reached = vec![false; count + 1];
        reached[0] = true;
        self.pass_deep(&mut reached);
        for name in names {
            let mut next = vec![false; count + 1];
            for (place, part) in self.parts.iter().enumerate().filter(|(place, _)| reached[*place]) {
                match part {
                    Part::Deep => next[place] = true,
                    Part::Name(pattern) if pattern.is(name) => next[place + 1] = true,
                    Part::Name(_) => {}
                }
            }
            self.pass_deep(&mut next);
            // `a/**` is everything in the folder, and not the folder itself.
            let has_fitted = match self.parts.last() {
                Some(Part::Deep) => reached[count - 1],
                Some(Part::Name(_)) | None => next[count],
            };
            if has_fitted {
                return Followed::ToTheEnd;
            }
            if !next.contains(&true) {
                return Followed::Away;
            }
            reached = next;
        }
        Followed::SoFar
    }

    fn pass_deep(&self, reached: &mut [bool]) {
        for (place, part) in self.parts.iter().enumerate() {
            if reached[place] && *part == Part::Deep {
                reached[place + 1] = true;
            }
        }
    }
}

/// How far a pattern goes along a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Followed {
    /// The path, or a folder that it lies in, fits.
    ToTheEnd,
    /// Something below it may fit.
    SoFar,
    /// Neither.
    Away,
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft::path::Place;

    fn fit(pattern: &str, path: &str, extent: Extent) -> Fit {
        let place = Place::new(path, extent);
        let target = if path.starts_with('/') { Target::Outside(place) } else { Target::Inside(place) };
        PathPattern::new(pattern, Path::new("/home/me")).expect("it is a pattern").fit(&target)
    }

    fn check(pattern: &str, fits: &[&str], others: &[&str]) {
        for path in fits {
            assert_eq!(fit(pattern, path, Extent::Entry), Fit::Exactly, "{pattern} and {path}");
        }
        for path in others {
            assert_eq!(fit(pattern, path, Extent::Entry), Fit::Not, "{pattern} and {path}");
        }
    }

    #[test]
    fn patterns_mean_what_they_mean_in_ignore_files() {
        check("*.pem", &["a.pem", "x/y/a.pem", "a.pem/b", "/etc/a.pem"], &["a.pem2", "pem"]);
        check("secrets/**", &["secrets/a", "secrets/b/c"], &["secrets", "x/secrets/a", "/secrets/a"]);
        check("secrets", &["secrets", "secrets/a", "x/secrets/a"], &["secrets2"]);
        check("secrets/", &["secrets", "secrets/a", "x/secrets/a"], &["my-secrets"]);
        check("/build", &["build", "build/x", "/build/x"], &["x/build"]);
        check("./docs/*.md", &["docs/a.md"], &["docs/x/a.md", "x/docs/a.md"]);
        check("**/gen/*.rs", &["gen/a.rs", "a/b/gen/c.rs"], &["gen/x/c.rs"]);
        check("a/**/z", &["a/z", "a/b/z", "a/b/c/z/x"], &["a/b", "z"]);
        check("**", &["a", "a/b", "/etc/passwd"], &[]);
        check("~/notes/**", &["/home/me/notes/a"], &["/home/you/notes/a", "home/me/notes/a"]);
    }

    #[test]
    fn a_tree_perhaps_fits_when_something_in_it_may() {
        assert_eq!(fit("secrets/**", "", Extent::Tree), Fit::Perhaps);
        assert_eq!(fit("secrets/**", "secrets", Extent::Tree), Fit::Perhaps);
        assert_eq!(fit("secrets/**", "src", Extent::Tree), Fit::Not);
        assert_eq!(fit("secrets/**", "secrets/a", Extent::Tree), Fit::Exactly);
        assert_eq!(fit("*.pem", "src", Extent::Tree), Fit::Perhaps);
        assert_eq!(fit("build", "build", Extent::Tree), Fit::Exactly);
    }

    #[test]
    fn a_pattern_that_can_never_match_is_told() {
        for (pattern, problem) in [
            ("", "the path is empty"),
            ("/", "the path names nothing"),
            (".", "the path names nothing"),
            ("!a", "a path cannot begin with \"!\""),
            ("../x", "a path with \"..\" can never match"),
        ] {
            let told = PathPattern::new(pattern, Path::new("/h")).expect_err("it is wrong").0;
            assert_eq!(told, problem);
        }
    }
}
