//! The manual pages: one for each command, of text alone.

use super::Place;
use super::help::Help;

#[test]
fn every_command_has_a_page_and_no_page_has_control_bytes() {
    let place = Place::new();
    let written = place.haft(&["man", "--to", "pages"], "");
    assert_eq!(written.code, 0, "{}", written.err);
    let entries = std::fs::read_dir(place.path("ws/pages")).expect("the folder is there");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let mut commands: Vec<String> =
        Help::of_all(100).iter().map(|help| format!("{}.1", help.command.replace(' ', "-"))).collect();
    commands.sort();
    assert_eq!(names, commands);
    for name in names {
        let page = place.get(&format!("ws/pages/{name}")).expect("it is a text");
        assert!(
            page.contains(".TH haft") && page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"),
            "{name}: {page}"
        );
        assert!(!page.contains(|c: char| c.is_control() && c != '\n'), "{name}: {page:?}");
    }
    let again = place.haft(&["man", "--to", "pages"], "");
    assert!(again.code != 0 && again.err.contains("remove the old pages first"), "{}", again.err);
}

#[test]
fn a_page_is_printed_for_a_command_and_for_haft_itself() {
    let place = Place::new();
    assert!(place.haft(&["man"], "").out.contains("\n.TH haft 1 "));
    let page = place.haft(&["man", "rules", "explain"], "").out;
    assert!(page.contains("haft\\-rules\\-explain \\- Show "), "{page}");
    let unknown = place.haft(&["man", "rules", "nonsense"], "");
    assert_eq!((unknown.code, unknown.err.as_str()), (2, "haft: there is no command \"haft rules nonsense\"\n"));
}
