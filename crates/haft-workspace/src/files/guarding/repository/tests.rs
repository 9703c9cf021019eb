//! Parts of a repository come in every order, one by one and together, and each complete repository is noticed.

use std::collections::BTreeSet;

use super::*;

/// A workspace of which only the names matter.
#[derive(Default)]
struct FakeChangeView {
    was: BTreeSet<PathBuf>,
    will_be: BTreeSet<PathBuf>,
}

impl FakeChangeView {
    fn holds(names: &BTreeSet<PathBuf>, path: &Path) -> bool {
        names.iter().any(|name| name.starts_with(path))
    }

    /// Makes one change; returns the repository that it plants, and then leaves it out.
    fn change(&mut self, paths: &[&Path]) -> Option<PathBuf> {
        self.will_be.extend(paths.iter().map(|path| (*path).to_owned()));
        let judge = RepositoryJudge::default();
        let planted = paths.iter().find_map(|path| judge.planted(self, path));
        match planted {
            Some(_) => self.will_be = self.was.clone(),
            None => self.was = self.will_be.clone(),
        }
        planted
    }
}

impl ChangeView for FakeChangeView {
    fn was(&self, path: &Path) -> bool {
        Self::holds(&self.was, path)
    }

    fn will_be(&self, path: &Path) -> bool {
        Self::holds(&self.will_be, path)
    }

    fn was_head(&self, path: &Path) -> bool {
        self.was(path)
    }
}

/// Returns every order of some things.
fn orders<T: Clone>(things: &[T]) -> Vec<Vec<T>> {
    if things.is_empty() {
        return vec![Vec::new()];
    }
    let behind = |first: usize| {
        let rest: Vec<T> = [&things[..first], &things[first + 1..]].concat();
        orders(&rest).into_iter().map(move |order| [vec![things[first].clone()], order].concat())
    };
    (0..things.len()).flat_map(behind).collect()
}

/// Repositories by their parts, of which git runs programs.
const REPOSITORIES: [&[&str]; 6] = [
    &["HEAD", "objects/a", "refs/a", "config"],
    &["HEAD", "objects", "refs", "hooks/post-checkout"],
    &["HEAD", "objects/info/a", "refs/heads/a", "config.worktree"],
    &["HEAD", "commondir"],
    &["HEAD", "objects", "refs", "info/attributes", "config"],
    &["HEAD", "objects/a", "refs/a", "hooks"],
];
/// Folders that no name protects.
const FOLDERS: [&str; 9] = [
    "docs",
    "",
    "target/tmp/x",
    ".git/lfs/x",
    ".git/x",
    "sub/.git/annex/y",
    // A name protects some of their settings, and not the hooks.
    ".cargo",
    ".jj/repo/store/git",
    ".hg",
];

#[test]
fn a_repository_is_noticed_whatever_the_order_of_its_parts_and_the_number_of_changes() {
    let mut tried = 0;
    for folder in FOLDERS {
        for parts in REPOSITORIES {
            let paths: Vec<PathBuf> = parts.iter().map(|part| Path::new(folder).join(part)).collect();
            for order in orders(&paths) {
                // Each bit says whether a new change begins behind a part.
                for cuts in 0..1_u32 << (order.len() - 1) {
                    let mut names = FakeChangeView::default();
                    let mut planted = None;
                    let mut change: Vec<&Path> = Vec::new();
                    for (index, path) in order.iter().enumerate() {
                        change.push(path);
                        if index + 1 == order.len() || cuts & (1 << index) != 0 {
                            planted = planted.or(names.change(&std::mem::take(&mut change)));
                        }
                    }
                    assert_eq!(planted.as_deref(), Some(Path::new(folder)), "{order:?} {cuts:b}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 5_000);
}

#[test]
fn folders_whose_settings_are_protected_by_name_are_left_to_that() {
    for folder in [".git", "sub/.git", ".git/modules/a", ".git/modules/a/modules/b", ".git/worktrees/w", ".GIT"] {
        let mut names = FakeChangeView::default();
        let paths: Vec<PathBuf> =
            ["config", "HEAD", "objects/a", "refs/a"].map(|part| Path::new(folder).join(part)).into();
        for path in &paths {
            assert_eq!(names.change(&[path]), None, "{path:?}");
        }
    }
}

#[test]
fn what_is_no_repository_is_left_alone() {
    let others: [&[&str]; 9] = [
        &["config", "hooks/useState.ts", "src/objects/a", "src/refs/b"],
        &["HEAD", "objects/a", "refs/a", "description", "info/exclude"],
        &["objects/a", "config", "hooks/a"],
        &["refs/a", "HEAD", "config"],
        &["commondir", "config"],
        &[".git/lfs/objects/a", ".git/lfs/tmp/b", ".git/lfs/cache/locks/refs/heads/main"],
        &[".git/logs/HEAD", ".git/logs/refs/heads/main", ".git/refs/remotes/origin/HEAD"],
        &[".git/annex/objects/a", ".git/annex/index", ".git/svn/refs/remotes/trunk"],
        &[".git/objects/info/commit-graph", ".git/refs/heads/config", ".git/refs/heads/hooks/a"],
    ];
    for paths in others {
        for order in orders(paths) {
            let mut names = FakeChangeView::default();
            for path in &order {
                assert_eq!(names.change(&[Path::new(path)]), None, "{path} of {order:?}");
            }
        }
    }
}

#[test]
fn changes_of_data_in_a_repository_with_settings_plant_nothing() {
    let all = ["docs/HEAD", "docs/objects/a", "docs/refs/a", "docs/config", "docs/hooks/update"].map(PathBuf::from);
    let mut names = FakeChangeView { was: all.clone().into(), will_be: all.into() };
    for path in ["docs/HEAD", "docs/objects/b", "docs/refs/heads/main", "docs/packed-refs", "docs/description"] {
        assert_eq!(names.change(&[Path::new(path)]), None, "{path}");
    }
    for path in ["docs/config", "docs/hooks/update", "docs/hooks/post-update", "docs/commondir", "docs/info/attributes"]
    {
        assert_eq!(names.change(&[Path::new(path)]), Some("docs".into()), "{path}");
    }
}

#[test]
fn a_head_is_what_git_takes_for_one() {
    let object = "0123456789abcdef0123456789abcdef01234567";
    for head in ["ref: refs/heads/main\n", "ref:refs/x", "ref:  \trefs/x", object, &format!("{object}\n")] {
        assert!(is_valid_head(head.as_bytes()), "{head}");
    }
    for other in ["", "hello", "ref: heads/main", "refs/heads/main", &object[..39]] {
        assert!(!is_valid_head(other.as_bytes()), "{other}");
    }
}
