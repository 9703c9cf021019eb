//! Contains the built-in tools: one file and one text each, named in one list.
//!
//! Not here: doors, rules, the path of a call. A tool says what it would touch and acts only through the doors it is
//! given.

pub mod catalogue;
pub mod defined;
pub mod dialect;
pub mod files;
pub mod run;
pub mod session;
pub mod web;

use std::sync::Arc;

use haft_contract::limits::Limits;
use haft_contract::tool::{AnyTool, Typed};

/// Returns all built-in tools, in the order they are shown, with the usual limits in their words.
pub fn all() -> Vec<Arc<dyn AnyTool>> {
    all_under(&Limits::default())
}

/// Returns all built-in tools, in the order they are shown, with these limits in their words.
pub fn all_under(limits: &Limits) -> Vec<Arc<dyn AnyTool>> {
    vec![
        Arc::new(Typed::under(files::read_file::ReadFile, limits)),
        Arc::new(Typed::under(files::write_file::WriteFile, limits)),
        Arc::new(Typed::under(files::edit_file::EditFile, limits)),
        Arc::new(Typed::under(files::list_dir::ListDir, limits)),
        Arc::new(Typed::under(files::glob::Glob, limits)),
        Arc::new(Typed::under(files::grep::Grep, limits)),
        Arc::new(Typed::under(run::bash::Bash, limits)),
        Arc::new(Typed::under(run::jobs::Jobs, limits)),
        Arc::new(Typed::under(session::undo::Undo, limits)),
        Arc::new(Typed::under(files::inspect_data::InspectData, limits)),
        Arc::new(Typed::under(run::run_code::RunCode, limits)),
        Arc::new(Typed::under(session::todo::Todo, limits)),
        Arc::new(Typed::under(session::think::Think, limits)),
        Arc::new(Typed::under(session::finish::Finish, limits)),
        Arc::new(Typed::under(session::ask_user::AskUser, limits)),
        Arc::new(Typed::under(session::remember::Remember, limits)),
        Arc::new(Typed::under(web::fetch::Fetch, limits)),
        Arc::new(Typed::under(web::web_search::WebSearch, limits)),
    ]
}

/// Returns the names of all built-in tools, without their schemas: building those costs time at every start.
pub fn names() -> [&'static str; 18] {
    use haft_contract::tool::Tool;
    [
        files::read_file::ReadFile::NAME,
        files::write_file::WriteFile::NAME,
        files::edit_file::EditFile::NAME,
        files::list_dir::ListDir::NAME,
        files::glob::Glob::NAME,
        files::grep::Grep::NAME,
        run::bash::Bash::NAME,
        run::jobs::Jobs::NAME,
        session::undo::Undo::NAME,
        files::inspect_data::InspectData::NAME,
        run::run_code::RunCode::NAME,
        session::todo::Todo::NAME,
        session::think::Think::NAME,
        session::finish::Finish::NAME,
        session::ask_user::AskUser::NAME,
        session::remember::Remember::NAME,
        web::fetch::Fetch::NAME,
        web::web_search::WebSearch::NAME,
    ]
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_names_are_those_of_all_tools() {
        let all = super::all();
        assert_eq!(all.iter().map(|tool| tool.spec().name.as_str()).collect::<Vec<_>>(), super::names());
    }
}
