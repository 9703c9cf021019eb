//! Opens a file to read only parts of it.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use haft_contract::doors::door::{FileBytes, FileKind, Permit};
use haft_contract::effect::Effect;
use haft_contract::files::path::Target;
use haft_contract::outcome::error::{FailedOperation, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use rustix::fs::OFlags;
use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

use super::facts::{kind_of, special};
use super::open::WorkspaceRoot;
use super::{missing, page};
use crate::files::{blocking, system_error};

/// Opens a regular file of the workspace.
pub(in crate::files) async fn open(
    root: &Arc<WorkspaceRoot>,
    permit: &Permit,
    target: &Target,
) -> Result<Box<dyn FileBytes>, ToolError> {
    permit.admit(&Effect::Read(target.clone()))?;
    let (root, place, stop) = (root.clone(), target.clone(), permit.stop().clone());
    blocking(move || opened(&root, &place, stop)).await
}

fn opened(root: &WorkspaceRoot, target: &Target, stop: CancellationToken) -> Result<Box<dyn FileBytes>, ToolError> {
    let path = target.to_string();
    let file = match root.open_target(target, OFlags::RDONLY) {
        Err(error) if error.kind == ErrorKind::MissingFile => return Err(missing::missing(root, target)),
        opened => opened?,
    };
    let stat = rustix::fs::fstat(&file).map_err(|errno| system_error(errno.into(), &path, FailedOperation::Read))?;
    match kind_of(&stat) {
        FileKind::File => Ok(Box::new(OpenFile { file, path, size: stat.st_size.try_into().unwrap_or(0), stop })),
        FileKind::Folder => Err(page::folder(&path)),
        FileKind::Link | FileKind::Special => Err(special(&path)),
    }
}

struct OpenFile {
    file: OwnedFd,
    path: String,
    size: u64,
    stop: CancellationToken,
}

impl FileBytes for OpenFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&mut self, place: u64, into: &mut [u8]) -> Result<usize, ToolError> {
        let mut filled = 0;
        while filled < into.len() {
            if self.stop.is_cancelled() {
                return Err(ToolError::of(ErrorKind::Cancelled, format!("Reading {} was stopped.", self.path)));
            }
            match rustix::io::pread(&self.file, &mut into[filled..], place + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(system_error(errno.into(), &self.path, FailedOperation::Read)),
            }
        }
        Ok(filled)
    }
}
