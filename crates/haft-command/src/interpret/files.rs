//! Remembers files by name: links that the command makes, names in folders, and files that it may have removed.
//!
//! Not here: the contents of files (`streams`), and where a path leads (`Locate`).

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::interpret::words::matching::{FolderNames, MatchCacheKey, Matches};
use crate::patterns;

/// How many links are followed from one to the next.
const MOST_LINKS: usize = 4;
/// Stands for unknown paths.
pub(crate) const ANYTHING: &str = "*";

/// What is known of files by name.
#[derive(Debug, Default)]
pub(crate) struct TouchedFiles {
    /// Links that this command makes, and where they lead.
    pub(crate) links: HashMap<String, String>,
    /// The names in folders in which a pattern was tried.
    pub(crate) listed: HashMap<String, Arc<FolderNames>>,
    /// What patterns were found to match.
    pub(crate) matched: HashMap<MatchCacheKey, Option<Arc<Matches>>>,
    /// The paths that this command may have removed or replaced so far.
    taken_away: HashSet<PathBuf>,
}

impl TouchedFiles {
    /// Returns where a path leads through links that this command has made.
    pub(crate) fn through_links(&self, place: &str) -> String {
        let mut place = place.to_owned();
        for _ in 0..MOST_LINKS {
            if self.link_at(&place).is_some() {
                break;
            }
            let links = self.links.iter().filter_map(|(link, target)| {
                let rest = place.strip_prefix(link.as_str()).filter(|rest| rest.starts_with('/'))?;
                Some((link.len(), format!("{target}{}", rest.trim_end_matches('/'))))
            });
            // The last link on the way is the one that was made in what the others lead to.
            let Some((_, through)) = links.max_by_key(|(length, _)| *length) else { break };
            place = through;
        }
        place
    }

    /// Returns where the link leads that this command has put at a place, or may have put there with others.
    fn link_at(&self, place: &str) -> Option<&String> {
        let by_pattern = || {
            let mut links = self.links.iter().filter(|(link, _)| link.contains('*'));
            links.find(|(link, _)| patterns::fits(link, place)).map(|(_, target)| target)
        };
        self.links.get(place).or_else(by_pattern)
    }

    /// Returns where the link in the end leads that this command has put at a place.
    pub(crate) fn end_of_links(&self, place: &str) -> Option<String> {
        let mut end = self.link_at(place)?;
        for _ in 0..MOST_LINKS {
            end = self.links.get(end).unwrap_or(end);
        }
        Some(self.through_links(end))
    }

    /// Notes that a path may be removed or replaced; [`ANYTHING`] for an unknown one.
    pub(crate) fn take_away(&mut self, path: &str) {
        self.taken_away.insert(PathBuf::from(path));
    }

    /// Returns whether a path, or a folder above it, may have been removed or replaced.
    pub(crate) fn may_be_gone(&self, path: &str) -> bool {
        let mut above = Path::new(path).ancestors();
        above.any(|path| self.taken_away.contains(path)) || self.taken_away.contains(Path::new(ANYTHING))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(links: &[(&str, &str)]) -> TouchedFiles {
        let links = links.iter().map(|(link, target)| ((*link).to_owned(), (*target).to_owned())).collect();
        TouchedFiles { links, ..TouchedFiles::default() }
    }

    #[test]
    fn a_path_below_a_link_lies_where_the_link_leads() {
        let files = files(&[("/ws/a", "/ws/b"), ("/ws/b", "/etc")]);

        assert_eq!(files.through_links("/ws/a/x/y"), "/etc/x/y");
        assert_eq!(files.through_links("/ws/a"), "/ws/a");
        assert_eq!(files.end_of_links("/ws/a").as_deref(), Some("/etc"));
        assert_eq!(files.end_of_links("/ws/c"), None);
    }

    #[test]
    fn links_that_lead_to_each_other_are_followed_a_few_times() {
        let files = files(&[("/ws/a", "/ws/b"), ("/ws/b", "/ws/a")]);

        assert!(files.end_of_links("/ws/a").is_some());
    }

    #[test]
    fn what_lies_in_a_folder_that_was_removed_may_be_gone() {
        let mut files = TouchedFiles::default();
        files.take_away("/ws/build");

        assert!(files.may_be_gone("/ws/build/out") && files.may_be_gone("/ws/build") && !files.may_be_gone("/ws"));
        files.take_away(ANYTHING);
        assert!(files.may_be_gone("/ws"));
    }
}
