//! Collects the descriptors of folders that a launcher gets with its orders.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use haft_contract::doors::process::GroundRoot;
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;

/// Returns the descriptors that go with a list of roots, in the order that the orders promise.
pub(crate) fn descriptors(roots: &[GroundRoot]) -> Result<Vec<OwnedFd>, ToolError> {
    let of_root = |root: &GroundRoot| {
        let layer = root.layer.as_ref().map(|layer| [&layer.upper, &layer.work]);
        [&root.folder].into_iter().chain(layer.into_iter().flatten()).map(OwnedFd::try_clone).collect()
    };
    let all: Result<Vec<Vec<_>>, std::io::Error> = roots.iter().map(of_root).collect();
    all.map(|all| all.into_iter().flatten().collect()).map_err(too_many_open)
}

fn too_many_open(error: std::io::Error) -> ToolError {
    ToolError::of(ErrorKind::Io, format!("Too many files are open to run a command: {error}."))
}

/// Returns the paths in watched roots that belong to haft.
pub(super) fn own_paths(roots: &[GroundRoot]) -> Vec<PathBuf> {
    let watched = roots.iter().filter(|root| root.images.is_some());
    watched.flat_map(|root| root.own.iter().map(|own| root.path.join(own))).collect()
}

/// Returns the paths of the roots that are watched, and adds the folders in which their contents are kept.
pub(super) fn watched(roots: &[GroundRoot], descriptors: &mut Vec<OwnedFd>) -> Result<Vec<PathBuf>, ToolError> {
    let mut paths = Vec::new();
    for (root, images) in roots.iter().filter_map(|root| Some((root, root.images.as_ref()?))) {
        descriptors.push(images.try_clone().map_err(too_many_open)?);
        paths.push(root.path.clone());
    }
    Ok(paths)
}
