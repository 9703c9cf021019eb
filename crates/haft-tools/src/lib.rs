//! Contains the built-in tools: one file and one text each, named in one list.
//!
//! Not here: doors, rules, the path of a call. A tool says what it would touch and acts only through the doors it is
//! given.

pub mod ask_user;
pub mod bash;
pub mod bound;
pub mod call_tool;
mod change;
pub mod common_names;
pub mod definition;
pub mod dialect;
pub mod edit;
pub mod edit_file;
pub mod fetch;
pub mod finish;
pub mod glob;
pub mod grep;
mod hidden_values;
pub mod in_braces;
pub mod inspect_data;
pub mod jobs;
mod left_out;
pub mod list_dir;
mod paged;
mod picture;
pub mod prompt_file;
pub mod read_file;
pub mod remember;
pub mod run_code;
pub mod search_tools;
mod shapes;
pub mod skill;
pub mod think;
pub mod todo;
pub mod undo;
mod utf8_only;
pub mod web_search;
pub mod write_file;

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
        Arc::new(Typed::under(read_file::ReadFile, limits)),
        Arc::new(Typed::under(write_file::WriteFile, limits)),
        Arc::new(Typed::under(edit_file::EditFile, limits)),
        Arc::new(Typed::under(list_dir::ListDir, limits)),
        Arc::new(Typed::under(glob::Glob, limits)),
        Arc::new(Typed::under(grep::Grep, limits)),
        Arc::new(Typed::under(bash::Bash, limits)),
        Arc::new(Typed::under(jobs::Jobs, limits)),
        Arc::new(Typed::under(undo::Undo, limits)),
        Arc::new(Typed::under(inspect_data::InspectData, limits)),
        Arc::new(Typed::under(run_code::RunCode, limits)),
        Arc::new(Typed::under(todo::Todo, limits)),
        Arc::new(Typed::under(think::Think, limits)),
        Arc::new(Typed::under(finish::Finish, limits)),
        Arc::new(Typed::under(ask_user::AskUser, limits)),
        Arc::new(Typed::under(remember::Remember, limits)),
        Arc::new(Typed::under(fetch::Fetch, limits)),
        Arc::new(Typed::under(web_search::WebSearch, limits)),
    ]
}

/// Returns the names of all built-in tools, without their schemas: building those costs time at every start.
pub fn names() -> [&'static str; 18] {
    use haft_contract::tool::Tool;
    [
        read_file::ReadFile::NAME,
        write_file::WriteFile::NAME,
        edit_file::EditFile::NAME,
        list_dir::ListDir::NAME,
        glob::Glob::NAME,
        grep::Grep::NAME,
        bash::Bash::NAME,
        jobs::Jobs::NAME,
        undo::Undo::NAME,
        inspect_data::InspectData::NAME,
        run_code::RunCode::NAME,
        todo::Todo::NAME,
        think::Think::NAME,
        finish::Finish::NAME,
        ask_user::AskUser::NAME,
        remember::Remember::NAME,
        fetch::Fetch::NAME,
        web_search::WebSearch::NAME,
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
