//! Keeps long outputs whole, so that a session can page through them.
//!
//! A session reads only its own. Oldest go first when the room is used up.

mod spilling;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use haft_contract::BoxFuture;
use haft_contract::doors::door::{Page, PageRequest, Permit, SessionName, Spill, Spilling, Store};
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;

use crate::files::blocking;
use crate::files::read::page::{PagedContent, page_of_own};
use crate::state::own_files::private;

/// Room for the outputs of one workspace.
const ROOM: u64 = 256 * 1024 * 1024;

/// The kept outputs of one workspace.
#[derive(Clone, Debug)]
pub struct Spills {
    folder: PathBuf,
}

impl Spills {
    pub(in crate::state) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn keep(&self, session: &SessionName, text: &str) -> io::Result<String> {
        let (id, _, mut file) = self.create(session)?;
        file.write_all(text.as_bytes())?;
        self.make_room();
        Ok(id)
    }

    /// Makes an empty file for an output; returns its id, its path, and the file.
    fn create(&self, session: &SessionName) -> io::Result<(String, PathBuf, File)> {
        let folder = self.folder.join(session.as_str());
        private::create_folder(&folder)?;
        let id = uuid::Uuid::now_v7().simple().to_string();
        let path = folder.join(&id);
        let file = private::create_file(&path)?;
        Ok((id, path, file))
    }

    /// Removes the oldest outputs until the room is enough. Best effort: another process may do the same.
    fn make_room(&self) {
        let mut files = files_below(&self.folder);
        files.sort_unstable_by_key(|(modified, ..)| std::cmp::Reverse(*modified));
        let mut used = 0;
        for (index, (_, size, path)) in files.into_iter().enumerate() {
            used += size;
            // The newest stays in any case: its id is about to be told.
            if used > ROOM && index > 0 {
                let _ = std::fs::remove_file(path);
            }
        }
    }

    fn page(&self, session: &SessionName, id: &str, request: PageRequest) -> Result<Page, ToolError> {
        let unknown = || {
            ToolError::new(
                ErrorKind::MissingFile,
                format!("There is no kept output \"spill:{id}\" in this session."),
                Next::FixArguments("use the id from the result that was cut, or run that call again".into()),
            )
        };
        // An id is a name and never a path.
        if id.is_empty() || !id.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(unknown());
        }
        let file = private::read_file(&self.folder.join(session.as_str()).join(id)).map_err(|_| unknown())?;
        match page_of_own(file, request) {
            Ok(PagedContent::Page(page)) => Ok(page),
            Ok(PagedContent::Binary { .. } | PagedContent::Foreign { .. } | PagedContent::Stopped) => {
                Err(ToolError::of(ErrorKind::Binary, format!("The kept output \"spill:{id}\" is not text.")))
            }
            Err(error) => Err(ToolError::of(ErrorKind::Io, format!("\"spill:{id}\" cannot be read: {error}."))),
        }
    }
}

fn not_kept(error: io::Error) -> ToolError {
    ToolError::of(ErrorKind::Io, format!("The whole output could not be kept: {error}.")).caused_by(error)
}

fn files_below(folder: &Path) -> Vec<(SystemTime, u64, PathBuf)> {
    let Ok(sessions) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = sessions.flatten().filter_map(|session| std::fs::read_dir(session.path()).ok()).flatten().flatten();
    files
        .filter_map(|file| {
            let facts = file.metadata().ok()?;
            Some((facts.modified().ok()?, facts.len(), file.path()))
        })
        .collect()
}

impl Store for Spills {
    fn spill<'a>(&'a self, session: &'a SessionName, text: &'a str) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async move {
            let (spills, session, text) = (self.clone(), session.clone(), text.to_owned());
            blocking(move || spills.keep(&session, &text).map_err(not_kept)).await
        })
    }

    fn spilling(&self, session: &SessionName, most: u64) -> Result<Box<dyn Spilling>, ToolError> {
        let begun = spilling::BegunSpill::begin(self, session, most).map_err(not_kept)?;
        Ok(Box::new(begun))
    }

    fn spilled<'a>(
        &'a self,
        permit: &'a Permit,
        spill: Spill<'a>,
        request: PageRequest,
    ) -> BoxFuture<'a, Result<Page, ToolError>> {
        Box::pin(async move {
            permit.admit(&spill.effect())?;
            let (spills, session, id) = (self.clone(), spill.session.clone(), spill.id.to_owned());
            blocking(move || spills.page(&session, &id, request)).await
        })
    }
}
