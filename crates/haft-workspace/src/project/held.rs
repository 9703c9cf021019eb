//! Whether what a project brought along is still what was trusted, for whoever runs it long after it was loaded.
//!
//! A call may have changed a script since. So whoever is about to run code of a project asks here first, each time.

use std::sync::Arc;

use super::{Brought, Kind, Project, Standing};
use crate::state::trust::Trusted;

/// A file of code that was loaded because somebody trusts it.
#[derive(Clone, Debug)]
pub struct Held {
    project: Arc<Project>,
    trusted: Arc<Trusted>,
    file: Brought,
}

impl Held {
    /// Holds a file of code, by its path from the root of the workspace, to what was trusted.
    pub fn new(project: Arc<Project>, trusted: Arc<Trusted>, name: &str) -> Self {
        Self { project, trusted, file: Brought { name: name.to_owned(), kind: Kind::Code } }
    }

    /// Fails where the file, or one of the workspace that it names, is not what was trusted any more; says which.
    pub fn still(&self) -> Result<(), String> {
        match self.project.standing(&self.file, &self.trusted) {
            Standing::Trusted(_) => Ok(()),
            Standing::Changed(what) => Err(format!("{} changed since it was trusted", what.join(", "))),
            Standing::New => Err(format!("{} is not trusted", self.file.name)),
            Standing::Refused(why) => Err(format!("{} cannot be loaded any more: {why}", self.file.name)),
        }
    }
}
