//! The files of the table of programs, and the place of a row in them. The build script reads them too.

/// The name and the text of each file.
pub(crate) const FILES: &[(&str, &str)] = &[
    ("files.txt", include_str!("files.txt")),
    ("text.txt", include_str!("text.txt")),
    ("system.txt", include_str!("system.txt")),
    ("network.txt", include_str!("network.txt")),
    ("archives.txt", include_str!("archives.txt")),
    ("wrappers.txt", include_str!("wrappers.txt")),
    ("interpreters.txt", include_str!("interpreters.txt")),
    ("git.txt", include_str!("git.txt")),
    ("build.txt", include_str!("build.txt")),
    ("packages.txt", include_str!("packages.txt")),
    ("containers.txt", include_str!("containers.txt")),
    ("services.txt", include_str!("services.txt")),
];

/// Where a row stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowPlace {
    /// The number of its file.
    pub(crate) file: usize,
    /// The line of its names, from 1.
    pub(crate) line: usize,
    /// Where its text begins and ends in the file.
    pub(crate) text: (usize, usize),
}
