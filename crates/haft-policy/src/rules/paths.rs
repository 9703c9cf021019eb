//! Patterns of paths, as in ignore files.
//!
//! A name without a slash matches at any depth. A name with a slash begins at the root of the workspace (or, for paths
//! outside, at `/`). If a folder matches, everything in it matches too.
//!
//! Not here: exclamation marks. One rule names its subject; another rule covers the rest.

use std::path::{Component, Path, PathBuf};

use haft_contract::files::path::{Extent, Target};

use super::fit::Fit;
use super::names::{GAP, NamePattern};

/// A pattern of paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    text: String,
    parts: Vec<PathPart>,
    reach: PathScope,
    roots: Roots,
}

/// Where paths are seen from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// The home.
    pub home: PathBuf,
    /// The workspace, where one is open.
    pub workspace: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathPart {
    Name(NamePattern),
    /// `**`: any folders.
    Deep,
}

/// Which paths a pattern speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathScope {
    /// Those in the workspace, seen from its root.
    Workspace,
    /// All, as far as their names tell; in the workspace only the names below its root count.
    AnyDepth,
    /// Those that begin at `/`, or at the root of the workspace.
    EitherRoot,
    /// Those that begin at `/`.
    Absolute,
}

impl PathPattern {
    /// Reads a pattern; `~/` is the home. On failure, returns the problem and how to fix it.
    pub fn new(text: &str, roots: &Roots) -> Result<Self, (String, String)> {
        check_text(text)?;
        let wrong = |problem: &str, fix: &str| Err((problem.to_owned(), fix.to_owned()));
        let (rest, reach) = match (text == "~").then_some("").or_else(|| text.strip_prefix("~/")) {
            Some(rest) => (format!("{}/{rest}", roots.home.display()), PathScope::Absolute),
            None if text.starts_with('/') => (text.to_owned(), PathScope::EitherRoot),
            None if !text.trim_end_matches('/').contains('/') => (text.to_owned(), PathScope::AnyDepth),
            None => (text.to_owned(), PathScope::Workspace),
        };
        let rest = rest.trim_end_matches('/');
        let mut parts: Vec<PathPart> = Vec::new();
        if !rest.contains('/') {
            parts.push(PathPart::Deep);
        }
        for part in rest.split('/').filter(|part| !part.is_empty() && *part != ".") {
            match part {
                ".." => return wrong("a path with \"..\" can never match", "write where it leads"),
                "**" => parts.push(PathPart::Deep),
                name => parts.push(PathPart::Name(NamePattern::of_path_part(name))),
            }
        }
        if rest != "**" && parts.iter().all(|part| *part == PathPart::Deep) {
            return wrong("the path names nothing", "write \"**\" for everything");
        }
        if parts.iter().any(|part| matches!(part, PathPart::Name(name) if name.takes_nothing())) {
            return wrong(
                "letters in brackets that can never match",
                "write the first letter of a range before the last",
            );
        }
        Ok(Self { text: text.to_owned(), parts, reach, roots: roots.clone() })
    }

    /// Returns the pattern as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Compares it with where a path leads, which is touched in some way. What may be or hold something that fits
    /// perhaps fits.
    pub fn fit(&self, target: &Target, touch: Touch) -> Fit {
        let inside = target.place().path().is_relative() && target.is_inside();
        let own = inside.then(|| target.place().path().to_owned());
        let whole = || self.roots.whole(target);
        let (below_root, from_slash) = match self.reach {
            PathScope::Workspace => (own, None),
            PathScope::AnyDepth if inside => (own, None),
            PathScope::AnyDepth | PathScope::Absolute => (None, whole()),
            PathScope::EitherRoot => (own, whole()),
        };
        let extent = target.place().extent();
        let fits = below_root.iter().chain(&from_slash).map(|path| self.fit_of(path, extent, touch));
        // A name at any depth is meant in the workspace: a permission does not reach beyond it.
        let is_beyond = self.reach == PathScope::AnyDepth && !target.is_inside();
        let most = if is_beyond { Fit::Loosely } else { Fit::Exactly };
        fits.max().unwrap_or(Fit::Not).min(most)
    }

    fn fit_of(&self, path: &Path, extent: Extent, touch: Touch) -> Fit {
        let names = names_of(path, touch);
        let is_deep = extent == Extent::Tree;
        let (surely, perhaps) = match touch {
            Touch::Named => (self.follow(&names, Stars::AreLetters), self.follow(&names, Stars::AreLetters)),
            Touch::Whole | Touch::Made | Touch::Listed => {
                (self.follow(&names, Stars::MustFit), self.follow(&names, Stars::MayFit))
            }
        };
        match (surely, perhaps) {
            // A folder that a pattern finds may be a link to another one.
            (PatternProgress::ToTheEnd, _) if touch != Touch::Named && is_found_by_pattern(&names) => Fit::Loosely,
            (PatternProgress::ToTheEnd, _) => Fit::Exactly,
            (_, PatternProgress::ToTheEnd) if touch != Touch::Listed => Fit::Perhaps,
            (_, PatternProgress::SoFar) if is_deep && self.is_anchored() => Fit::Perhaps,
            (_, PatternProgress::SoFar) if touch == Touch::Whole && self.begins_below(names.len()) => Fit::Perhaps,
            (_, PatternProgress::ToTheEnd | PatternProgress::SoFar | PatternProgress::Away) => Fit::Not,
        }
    }

    /// Returns whether it says where it begins, or is about everything. That something lies at any depth says nothing
    /// about a folder: each one would perhaps hold it.
    fn is_anchored(&self) -> bool {
        let is_everything = self.parts.iter().all(|part| *part == PathPart::Deep);
        is_everything || matches!(self.parts.first(), Some(PathPart::Name(name)) if !name.is_open())
    }

    /// Returns whether a folder of this depth on the way lies at or above the names that it begins with.
    fn begins_below(&self, depth: usize) -> bool {
        let is_literal = |part: &&PathPart| matches!(part, PathPart::Name(name) if !name.is_open());
        self.is_anchored() && depth <= self.parts.iter().take_while(is_literal).count()
    }

    /// Goes down the names and keeps which parts of the pattern may come next.
    fn follow(&self, names: &[String], stars: Stars) -> PatternProgress {
        let count = self.parts.len();
        let mut reached = vec![false; count + 1];
        reached[0] = true;
        self.pass_deep(&mut reached);
        for (at, name) in names.iter().enumerate() {
            let stars = if at + 1 < names.len() { stars.of_a_folder() } else { stars };
            let mut next = vec![false; count + 1];
            for (place, part) in self.parts.iter().enumerate().filter(|(place, _)| reached[*place]) {
                match part {
                    PathPart::Deep => next[place] = true,
                    PathPart::Name(pattern) if self.takes(pattern, name, stars) => next[place + 1] = true,
                    PathPart::Name(_) => {}
                }
            }
            self.pass_deep(&mut next);
            // `a/**` is everything in the folder, and not the folder itself.
            let has_fitted = match self.parts.last() {
                Some(PathPart::Deep) => reached[count - 1],
                Some(PathPart::Name(_)) | None => next[count],
            };
            if has_fitted {
                return PatternProgress::ToTheEnd;
            }
            if !next.contains(&true) {
                return PatternProgress::Away;
            }
            reached = next;
        }
        PatternProgress::SoFar
    }

    fn takes(&self, pattern: &NamePattern, name: &str, stars: Stars) -> bool {
        match (pattern.fit(name), stars) {
            (_, Stars::AreLetters) => pattern.is(name),
            (Fit::Not, _) | (Fit::Perhaps, Stars::MustFit) => false,
            // `src/*/mod.rs` is no search for a folder that is called `*.pem`.
            (Fit::Perhaps, Stars::MayFitInTheMiddle) => self.is_anchored() || !pattern.is_open(),
            (Fit::Perhaps | Fit::Loosely | Fit::Exactly, _) => true,
        }
    }

    fn pass_deep(&self, reached: &mut [bool]) {
        for (place, part) in self.parts.iter().enumerate() {
            if reached[place] && *part == PathPart::Deep {
                reached[place + 1] = true;
            }
        }
    }
}

impl Roots {
    /// Returns where a target is, from `/`. What lies beside the workspace or in the home may be named from there.
    fn whole(&self, target: &Target) -> Option<PathBuf> {
        let path = target.place().path();
        match (path.strip_prefix("~"), target) {
            (Ok(below), Target::Outside(_)) => Some(self.home.join(below)),
            _ if path.is_absolute() => Some(path.to_owned()),
            _ => self.workspace.as_ref().map(|workspace| without_steps_up(&workspace.join(path))),
        }
    }
}

fn without_steps_up(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut so_far, part| {
        match part {
            Component::ParentDir => _ = so_far.pop(),
            part => so_far.push(part),
        }
        so_far
    })
}

/// Finds what looks like something else than it is: such a rule would silently never match.
fn check_text(text: &str) -> Result<(), (String, String)> {
    let wrong = |problem: &str, fix: &str| Err((problem.to_owned(), fix.to_owned()));
    match text {
        text if text.trim().is_empty() => {
            wrong("the path is empty", "name a file, a folder or a pattern such as \"secrets/**\"")
        }
        text if text.trim() != text => wrong("the path begins or ends with a blank", "remove it"),
        text if text.starts_with('!') => wrong(
            "a path cannot begin with \"!\"",
            "say what the rule is about; write \"\\\\!\" for a name that begins so",
        ),
        text if text.starts_with('~') && text != "~" && !text.starts_with("~/") => {
            wrong("the home of another user is not known", "write its path")
        }
        text if text.starts_with('$') => {
            wrong("variables are not read in rules", "write the path; \"~/\" is your home")
        }
        text if text.contains('{') && text.contains(',') && text.contains('}') => {
            wrong("braces are plain characters in a path", "make one rule of each, or use \"*\"")
        }
        _ => Ok(()),
    }
}

/// How something is touched, as far as it matters what its name stands for and what lies below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// By a tool: its name is what it is, and its extent says whether it is touched with all below it.
    Named,
    /// By a command, perhaps with all below it. `*` in the name stands for what is known only when it runs.
    Whole,
    /// By a command that makes it. `*` is as above.
    Made,
    /// By a command that shows names and no content. `*` is as above.
    Listed,
}

/// What a `*` in a name is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stars {
    /// A letter like others.
    AreLetters,
    /// Whatever it is, it has to fit.
    MustFit,
    /// It is what fits.
    MayFit,
    /// The same, in the name of a folder on the way.
    MayFitInTheMiddle,
}

impl Stars {
    fn of_a_folder(self) -> Self {
        if self == Stars::MayFit { Stars::MayFitInTheMiddle } else { self }
    }
}

/// Returns the names along a path, with gaps for what is not known of them.
fn names_of(path: &Path, touch: Touch) -> Vec<String> {
    let name = |part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    };
    let names = path.components().filter_map(name);
    match touch {
        Touch::Named => names.collect(),
        Touch::Whole | Touch::Made | Touch::Listed => names.map(|name| name.replace('*', &GAP.to_string())).collect(),
    }
}

/// Returns whether a folder on the way is one that a pattern finds.
fn is_found_by_pattern(names: &[String]) -> bool {
    names.split_last().is_some_and(|(_, folders)| folders.iter().any(|name| name.contains(GAP)))
}

/// How far a pattern goes along a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternProgress {
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
    use haft_contract::files::path::FileLocation;

    fn roots() -> Roots {
        Roots { home: "/home/me".into(), workspace: Some("/home/me/work".into()) }
    }

    fn fit_of(pattern: &str, (path, extent): (&str, Extent), touch: Touch) -> Fit {
        let place = FileLocation::new(path, extent);
        let target = if path.starts_with('/') { Target::Outside(place) } else { Target::Inside(place) };
        PathPattern::new(pattern, &roots()).expect("it is a pattern").fit(&target, touch)
    }

    fn fit(pattern: &str, path: &str, extent: Extent) -> Fit {
        fit_of(pattern, (path, extent), Touch::Named)
    }

    fn in_command(pattern: &str, path: &str) -> Fit {
        fit_of(pattern, (path, Extent::Entry), Touch::Whole)
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
        check("*.pem", &["a.pem", "x/y/a.pem", "a.pem/b"], &["a.pem2", "pem"]);
        check("secrets/**", &["secrets/a", "secrets/b/c"], &["secrets", "x/secrets/a", "/secrets/a"]);
        check("secrets", &["secrets", "secrets/a", "x/secrets/a"], &["secrets2"]);
        check("secrets/", &["secrets", "secrets/a", "x/secrets/a"], &["my-secrets"]);
        check("/build", &["build", "build/x", "/build/x"], &["x/build"]);
        check("./docs/*.md", &["docs/a.md"], &["docs/x/a.md", "x/docs/a.md"]);
        check("**/gen/*.rs", &["gen/a.rs", "a/b/gen/c.rs"], &["gen/x/c.rs"]);
        check("a/**/z", &["a/z", "a/b/z", "a/b/c/z/x"], &["a/b", "z"]);
        check("**", &["a", "a/b"], &[]);
        check("~/notes/**", &["/home/me/notes/a"], &["/home/you/notes/a", "home/me/notes/a"]);
    }

    #[test]
    fn a_path_is_the_same_from_wherever_it_is_named() {
        check("~/work/notes/**", &["notes/a", "/home/me/work/notes/a"], &["/home/me/notes/a", "x/notes/a"]);
        check("/home/me/work/notes.txt", &["notes.txt", "/home/me/work/notes.txt"], &["x/notes.txt"]);
        let outside = |path: &str| Target::Outside(FileLocation::new(path, Extent::Entry));
        let fit = |pattern: &str, path: &str| {
            PathPattern::new(pattern, &roots()).expect("it is a pattern").fit(&outside(path), Touch::Whole)
        };
        assert_eq!(fit("~/secret/**", "~/secret/k"), Fit::Exactly);
        assert_eq!(fit("/home/me/other/**", "../other/f"), Fit::Exactly);
        assert_eq!(fit("~", "~/x"), Fit::Exactly);
        assert_eq!(fit("/home/me/other/**", "../another/f"), Fit::Not);
    }

    #[test]
    fn a_name_at_any_depth_refuses_everywhere_and_permits_only_in_the_workspace() {
        for pattern in ["*.pem", "**"] {
            assert_eq!(fit(pattern, "/etc/a.pem", Extent::Entry), Fit::Loosely, "{pattern}");
        }
        // The folders that the workspace lies in are no part of it.
        assert_eq!(fit("work", "a.txt", Extent::Entry), Fit::Not);
    }

    #[test]
    fn a_tree_perhaps_fits_when_something_in_it_may() {
        assert_eq!(fit("secrets/**", "", Extent::Tree), Fit::Perhaps);
        assert_eq!(fit("secrets/**", "secrets", Extent::Tree), Fit::Perhaps);
        assert_eq!(fit("secrets/**", "src", Extent::Tree), Fit::Not);
        assert_eq!(fit("secrets/**", "secrets/a", Extent::Tree), Fit::Exactly);
        assert_eq!(fit("data/*/a.csv", "data/x", Extent::Tree), Fit::Perhaps);
        assert_eq!(fit("build", "build", Extent::Tree), Fit::Exactly);
        assert_eq!(fit("**", "", Extent::Tree), Fit::Perhaps);
    }

    #[test]
    fn a_tree_is_not_asked_about_for_names_that_may_lie_anywhere() {
        for anywhere in ["*.pem", "zzz", "**/gen/*.rs"] {
            assert_eq!(fit(anywhere, "src", Extent::Tree), Fit::Not, "{anywhere}");
            assert_eq!(in_command(anywhere, "src"), Fit::Not, "{anywhere}");
        }
    }

    #[test]
    fn a_pattern_in_a_command_perhaps_finds_what_fits() {
        for (pattern, path) in [
            ("notes.txt", "n*"),
            ("notes.txt", "note*.txt"),
            ("notes.txt", "a/*"),
            ("*.pem", "keys/s*"),
            ("secrets", "s*/a"),
            ("data/customers/**", "data/*/a.csv"),
            ("data/customers/**", "*"),
            ("data/customers/**", "d*"),
            ("data/customers/*.csv", "data/customers/a*"),
        ] {
            assert_eq!(in_command(pattern, path), Fit::Perhaps, "{pattern} and {path}");
        }
        for (pattern, path) in [
            ("notes.txt", "src/*.rs"),
            ("*.pem", "src/*.rs"),
            ("*.pem", "src/*/mod.rs"),
            ("data/customers/**", "src/*"),
            ("data/customers/**", "data/*.csv"),
        ] {
            assert_eq!(in_command(pattern, path), Fit::Not, "{pattern} and {path}");
        }
        // For a tool it is a name like others.
        assert_eq!(fit("notes.txt", "n*", Extent::Entry), Fit::Not);
        assert_eq!(fit("notes.txt", "n…", Extent::Entry), Fit::Not);
        assert_eq!(fit("a*/**", "a*/b", Extent::Entry), Fit::Exactly);
    }

    #[test]
    fn a_pattern_that_finds_nothing_else_fits_but_never_permits_through_folders() {
        assert_eq!(in_command("*.pem", "keys/*.pem"), Fit::Exactly);
        assert_eq!(in_command("build/**", "build/*.o"), Fit::Exactly);
        assert_eq!(in_command("build/**", "build/s*/main.rs"), Fit::Loosely);
    }

    #[test]
    fn a_folder_that_a_command_takes_as_a_whole_perhaps_holds_what_begins_below_it() {
        for above in ["", "data", "data/customers"] {
            assert_eq!(in_command("data/customers/**", above), Fit::Perhaps, "{above}");
        }
        assert_eq!(in_command("data/customers/**", "src"), Fit::Not);
        assert_eq!(in_command("./notes.txt", ""), Fit::Perhaps);
        assert_eq!(in_command("~/notes/**", "/home/me"), Fit::Perhaps);
        // Whether it is a folder is not known, and a file of that depth says nothing.
        assert_eq!(in_command("data/*/a.csv", "data/README.md"), Fit::Not);
        let touched = |touch| fit_of("data/customers/**", ("data", Extent::Entry), touch);
        assert_eq!([touched(Touch::Made), touched(Touch::Listed)], [Fit::Not, Fit::Not]);
        assert_eq!(fit_of("notes.txt", ("n*", Extent::Entry), Touch::Listed), Fit::Not);
        assert_eq!(fit_of("notes.txt", ("n*", Extent::Entry), Touch::Made), Fit::Perhaps);
    }

    #[test]
    fn a_pattern_that_can_never_match_is_told() {
        for (pattern, problem) in [
            ("", "the path is empty"),
            ("/", "the path names nothing"),
            (".", "the path names nothing"),
            ("!a", "a path cannot begin with \"!\""),
            ("../x", "a path with \"..\" can never match"),
            ("notes.txt ", "the path begins or ends with a blank"),
            ("~root/x", "the home of another user is not known"),
            ("$HOME/x", "variables are not read in rules"),
            ("notes.{txt,md}", "braces are plain characters in a path"),
            ("[z-a].txt", "letters in brackets that can never match"),
        ] {
            let told = PathPattern::new(pattern, &roots()).expect_err("it is wrong").0;
            assert_eq!(told, problem);
        }
    }
}
