//! Finds the parts of a project file that can make something run: only these are bound to the files they name.
//!
//! Rules name files to describe them, dialects name them in their examples, and limits are numbers. If these were bound to
//! the files, any edit of a file would unload the rules of a project, with everything that they refuse.

use std::borrow::Cow;

use super::skill_folder;

/// Returns the text of a file of code as far as it can make something run.
pub(super) fn that_runs<'t>(name: &str, text: &'t str) -> Cow<'t, str> {
    match name {
        ".haft/rules.toml" => Cow::Borrowed(""),
        name if name.starts_with(".haft/dialects/") => Cow::Borrowed(""),
        // Its scripts are bound as files of its folder, and what it tells a model about runs nothing.
        name if skill_folder(name).is_some() => Cow::Borrowed(""),
        ".haft/config.toml" => without_limits(text),
        _ => Cow::Borrowed(text),
    }
}

/// The text without its table of limits and the name of its profile.
fn without_limits(text: &str) -> Cow<'_, str> {
    // A text of several lines may hold a line that only looks like the head of a table.
    if text.contains("\"\"\"") || text.contains("'''") {
        return Cow::Borrowed(text);
    }
    let mut kept = String::new();
    let mut table = "";
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            table = line;
        }
        let is_profile = line.strip_prefix("profile").is_some_and(|rest| rest.trim_start().starts_with('='));
        if table != "[limits]" && !(table.is_empty() && is_profile) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_and_limits_make_nothing_run_and_everything_else_may() {
        let config = "profile = \"haft\"\n[limits]\nread_end = \"end\"\n[hooks]\nprofile = \"run.sh\"\n";
        assert_eq!(that_runs(".haft/config.toml", config), "[hooks]\nprofile = \"run.sh\"\n");
        assert_eq!(that_runs(".haft/rules.toml", "path = \"a\""), "");
        assert_eq!(that_runs(".haft/tools/rules.toml", "path = \"a\""), "path = \"a\"");
    }

    #[test]
    fn what_only_looks_like_limits_is_not_left_out() {
        for config in ["a = \"\"\"\n[limits]\nrun.sh\"\"\"\n", "a = '''\n[limits]\nrun.sh'''\n", "[[limits]]\nrun.sh\n"]
        {
            assert!(that_runs(".haft/config.toml", config).contains("run.sh"), "{config}");
        }
    }
}
