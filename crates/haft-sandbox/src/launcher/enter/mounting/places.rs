//! Plans the places in the file system that a command sees, and the order in which they are mounted.
//!
//! The order is by depth, so a place comes after the one that contains it. The launcher makes the plan before it gives up
//! any identity, because links and toolchains may be where only root can look.

use std::path::{Component, Path, PathBuf};

use rustix::fs::FileType;

use crate::running::orders::{CommandNetwork, Visible};
use crate::session::glance::{FolderEntryKind, Glance};

/// Folders that every command can read, one per line.
const SYSTEM_FOLDERS: &str = include_str!("system_folders.txt");
/// Folders that are empty and private, with the permissions that are usual there.
const PRIVATE: [(&str, u32); 4] = [("/tmp", 0o1777), ("/var/tmp", 0o1777), ("/run", 0o755), ("/dev/shm", 0o1777)];
/// Links that are followed before a path counts as a loop.
const MOST_LINKS: usize = 40;

/// One place of the new root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::launcher::enter) struct RootPlace {
    pub(in crate::launcher::enter) path: PathBuf,
    pub(in crate::launcher::enter) what: PlaceContent,
    /// Where that lies outside, if not at the same path.
    pub(in crate::launcher::enter) from: Option<PathBuf>,
}

impl RootPlace {
    fn new(path: &Path, what: PlaceContent) -> Self {
        Self { path: path.to_owned(), what, from: None }
    }

    /// Returns where it lies outside.
    pub(in crate::launcher::enter) fn source(&self) -> &Path {
        self.from.as_deref().unwrap_or(&self.path)
    }
}

/// The content of a place. Of two at one place, the later one lies on top.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::launcher::enter) enum PlaceContent {
    /// The few devices that commands need.
    Devices,
    /// What the kernel says of the command's own processes.
    Processes,
    /// A link like the one outside.
    Link(PathBuf),
    /// What lies there outside, to be read.
    Readable,
    /// A folder in which a tool keeps what it downloads, by its number.
    Cache(usize),
    /// A folder in one of those in which the shell looks for programs: to be read.
    Programs,
    /// An empty folder with these permissions.
    Private(u32),
    /// A root, by its number.
    Root(usize),
}

/// Says what lies where, in the order in which it is to be put there.
pub(in crate::launcher::enter) fn plan(visible: &Visible, network: CommandNetwork) -> Vec<RootPlace> {
    let (place, mut glance) = (RootPlace::new, Glance::default());
    let mut places =
        vec![place(Path::new("/dev"), PlaceContent::Devices), place(Path::new("/proc"), PlaceContent::Processes)];
    for (number, root) in visible.roots.iter().enumerate() {
        places.push(place(&root.path, PlaceContent::Root(number)));
        for above in visible.hidden.iter().filter(|hidden| root.path.starts_with(hidden) && **hidden != root.path) {
            places.push(place(above, PlaceContent::Private(0o711)));
        }
    }
    let home = (visible.home.clone(), 0o700);
    for (path, mode) in PRIVATE.iter().map(|(path, mode)| (PathBuf::from(path), *mode)).chain([home]) {
        let Some(real) = follow(&path, &mut places, &mut glance) else { continue };
        if is_private_beside_roots(&real, visible) {
            let from = visible.folders.iter().find(|(inside, _)| *inside == path).map(|(_, outside)| outside.clone());
            places.push(RootPlace { from, ..place(&real, PlaceContent::Private(mode)) });
        }
    }
    let system = SYSTEM_FOLDERS.lines().filter(|line| !line.is_empty()).map(PathBuf::from);
    // Names are looked up with a file that often lies in a folder of its own, behind a link.
    let resolver = (network == CommandNetwork::Host).then(|| PathBuf::from("/etc/resolv.conf"));
    for path in system.chain(resolver).chain(visible.readable.iter().cloned()) {
        let Some(real) = follow(&path, &mut places, &mut glance) else { continue };
        if !visible.roots.iter().any(|root| real.starts_with(&root.path)) && glance.kind(&real).is_some() {
            places.push(place(&real, PlaceContent::Readable));
        }
    }
    for (number, cache) in visible.caches.iter().enumerate() {
        let Some(real) = follow(&cache.path, &mut places, &mut glance) else { continue };
        if !visible.roots.iter().any(|root| real.starts_with(&root.path)) {
            let programs = cache.programs.iter().filter_map(|path| follow(path, &mut places, &mut glance));
            let programs: Vec<PathBuf> = programs.filter(|programs| programs.starts_with(&real)).collect();
            places.push(place(&real, PlaceContent::Cache(number)));
            places.extend(programs.iter().map(|programs| place(programs, PlaceContent::Programs)));
        }
    }
    show(visible, &mut places, &mut glance);
    in_order(places)
}

/// Shows what this command may read, too: where it lies in something hidden, nothing beside it is to be seen.
fn show(visible: &Visible, places: &mut Vec<RootPlace>, glance: &mut Glance) {
    for path in &visible.shown {
        let Some(real) = follow(path, places, glance).filter(|real| glance.kind(real).is_some()) else { continue };
        let hidden: Vec<&PathBuf> = visible.hidden.iter().filter(|hidden| real.starts_with(hidden)).collect();
        let in_root = visible.roots.iter().any(|root| real.starts_with(&root.path));
        if in_root && hidden.is_empty() {
            continue;
        }
        let around = hidden.into_iter().filter(|hidden| **hidden != real);
        places.extend(around.map(|hidden| RootPlace::new(hidden, PlaceContent::Private(0o711))));
        places.push(RootPlace::new(&real, PlaceContent::Readable));
    }
}

/// Says of what shall be readable and is not, because commands have an empty folder of their own there.
pub(in crate::launcher::enter) fn without_effect(places: &[RootPlace]) -> Vec<String> {
    let is_private =
        |path: &Path| places.iter().any(|place| place.path == path && matches!(place.what, PlaceContent::Private(_)));
    let covered = places.iter().filter(|place| place.what == PlaceContent::Readable && is_private(&place.path));
    covered
        .map(|place| {
            format!(
                "{:?} is listed as readable, which has no effect: commands have their own empty folder there. List \
                 its entries instead.",
                place.path.to_string_lossy()
            )
        })
        .collect()
}

/// A root that is the home, or lies above it, shows it. Only the whole system as root shares nothing temporary.
fn is_private_beside_roots(real: &Path, visible: &Visible) -> bool {
    let in_root = visible.roots.iter().any(|root| real.starts_with(&root.path));
    let whole_system = visible.roots.iter().any(|root| root.path == Path::new("/"));
    !in_root || (whole_system && real != visible.home)
}

fn in_order(mut places: Vec<RootPlace>) -> Vec<RootPlace> {
    places.sort_by(|one, other| {
        let depth = |place: &RootPlace| place.path.components().count();
        depth(one).cmp(&depth(other)).then_with(|| one.path.cmp(&other.path)).then_with(|| one.what.cmp(&other.what))
    });
    places.dedup();
    let mut kept: Vec<RootPlace> = Vec::new();
    for place in places {
        // The nearest thing around it decides: what lies in something readable or in a root is shown already, and a
        // link made in a root would be a change of it.
        let around = kept
            .iter()
            .filter(|other| !matches!(other.what, PlaceContent::Link(_)) && place.path.starts_with(&other.path))
            .max_by_key(|other| other.path.components().count());
        let shown_already = around.is_some_and(|other| {
            matches!(other.what, PlaceContent::Readable | PlaceContent::Root(_) | PlaceContent::Cache(_))
        });
        if !(shown_already && matches!(place.what, PlaceContent::Readable | PlaceContent::Link(_))) {
            kept.push(place);
        }
    }
    kept
}

/// Follows the links in a path, notes them as places of their own, and returns where it really leads.
///
/// Returns nothing for a path that is not absolute or goes in a circle. Nothing needs to exist.
pub(in crate::launcher::enter) fn follow(
    path: &Path,
    places: &mut Vec<RootPlace>,
    glance: &mut Glance,
) -> Option<PathBuf> {
    let mut rest: Vec<PathBuf> = parts(path);
    let mut real = PathBuf::from("/");
    let mut links = 0;
    if !path.is_absolute() {
        return None;
    }
    while let Some(part) = rest.pop() {
        if part == Path::new("..") {
            real.pop();
            continue;
        }
        let next = real.join(&part);
        if glance.kind(&next) != Some(FolderEntryKind::Link) {
            real = next;
            continue;
        }
        links += 1;
        let target = rustix::fs::readlink(&next, Vec::new()).ok().filter(|_| links <= MOST_LINKS)?;
        let target =
            PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(target.into_bytes()));
        places.push(RootPlace::new(&next, PlaceContent::Link(target.clone())));
        if target.is_absolute() {
            real = PathBuf::from("/");
        }
        rest.extend(parts(&target));
    }
    Some(real)
}

/// Returns the parts of a path, the last one first.
fn parts(path: &Path) -> Vec<PathBuf> {
    let named = |part: Component<'_>| match part {
        Component::Normal(name) => Some(PathBuf::from(name)),
        Component::ParentDir => Some(PathBuf::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    let mut parts: Vec<PathBuf> = path.components().filter_map(named).collect();
    parts.reverse();
    parts
}

pub(in crate::launcher::enter) fn file_type(path: &Path) -> Option<FileType> {
    rustix::fs::lstat(path).ok().map(|found| FileType::from_raw_mode(found.st_mode))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::running::orders::VisibleRoot;

    fn root(path: &Path) -> VisibleRoot {
        VisibleRoot {
            path: path.to_owned(),
            layered: true,
            read_only: Vec::new(),
            covers_rest: false,
            shown: Vec::new(),
        }
    }

    fn check(visible: &Visible, below: &Path) -> Vec<(String, PlaceContent)> {
        let places = plan(visible, CommandNetwork::Own);
        let named =
            |place: &RootPlace| Some((place.path.strip_prefix(below).ok()?.display().to_string(), place.what.clone()));
        places.iter().filter_map(named).collect()
    }

    #[test]
    fn what_lies_in_something_else_comes_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["home/work", "home/.cargo/bin", "opt/tools"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        std::os::unix::fs::symlink("../opt", at("home/link")).unwrap();
        let visible = Visible {
            roots: vec![root(&at("home/work"))],
            readable: vec![at("home/.cargo/bin"), at("home/.cargo"), at("home/link/tools"), at("home/work/in")],
            home: at("home"),
            ..Visible::default()
        };
        assert_eq!(
            check(&visible, folder.path()),
            [
                ("home".into(), PlaceContent::Private(0o700)),
                ("home/.cargo".into(), PlaceContent::Readable),
                ("home/link".into(), PlaceContent::Link("../opt".into())),
                ("home/work".into(), PlaceContent::Root(0)),
                ("opt/tools".into(), PlaceContent::Readable),
            ]
        );
    }

    #[test]
    fn a_cache_lies_over_what_may_be_read_and_programs_in_it_over_the_cache() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("home/.cargo/bin")).unwrap();
        let cache = |name: &str| crate::running::orders::VisibleCache {
            path: at(name),
            programs: vec![at(name).join("bin"), at("elsewhere")],
            ..Default::default()
        };
        let visible = Visible {
            readable: vec![at("home/.cargo"), at("home/.cargo/bin")],
            home: at("home"),
            roots: vec![root(&at("home/work"))],
            caches: vec![cache("home/.cargo"), cache("home/work/cache")],
            ..Visible::default()
        };
        assert_eq!(
            check(&visible, folder.path()),
            [
                ("home".into(), PlaceContent::Private(0o700)),
                ("home/.cargo".into(), PlaceContent::Readable),
                ("home/.cargo".into(), PlaceContent::Cache(0)),
                ("home/work".into(), PlaceContent::Root(0)),
                ("home/.cargo/bin".into(), PlaceContent::Programs),
            ]
        );
    }

    #[test]
    fn a_link_in_a_circle_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("b", folder.path().join("a")).unwrap();
        std::os::unix::fs::symlink("a", folder.path().join("b")).unwrap();
        assert_eq!(follow(&folder.path().join("a"), &mut Vec::new(), &mut Glance::default()), None);
        assert_eq!(follow(Path::new("relative"), &mut Vec::new(), &mut Glance::default()), None);
    }

    #[test]
    fn a_link_inside_a_root_is_never_made() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("work")).unwrap();
        std::os::unix::fs::symlink("/usr", at("work/tools")).unwrap();
        let visible =
            Visible { roots: vec![root(&at("work"))], readable: vec![at("work/tools/lib")], ..Visible::default() };
        assert_eq!(check(&visible, folder.path()), [("work".into(), PlaceContent::Root(0))]);
    }
}
