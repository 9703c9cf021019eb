//! `haft exec` at a real terminal: the command has another one, with the same size, modes and keys.

use super::super::terminal::Terminal;
use super::place;

#[test]
fn a_command_has_a_terminal_with_the_size_of_the_users_which_changes_with_it() {
    let Some(place) = place() else { return };
    let script = "tty; stty size; trap 'stty size; exit 3' WINCH; echo waits; while :; do sleep 0.05; done";
    let mut terminal = Terminal::start(&place, &["exec", "--", "bash", "-c", script]);
    terminal.shows("/dev/pts/").shows("100 100").shows("waits");
    terminal.resize(50, 70);
    terminal.shows("50 70");
    assert_eq!(terminal.ends(), 3, "{}", terminal.screen());
}

#[test]
fn keys_reach_the_command_and_a_password_is_not_shown() {
    let Some(place) = place() else { return };
    let script = "read -p 'name? ' name; read -s -p 'password? ' word; echo; echo \"$name has ${#word} letters\"";
    let mut terminal = Terminal::start(&place, &["exec", "--", "bash", "-c", script]);
    terminal.shows("name?").types("me\n").shows("password?").types("hunter22\n").shows("me has 8 letters");
    assert_eq!(terminal.ends(), 0, "{}", terminal.screen());
    assert!(!terminal.screen().contains("hunter22"), "{}", terminal.screen());
}

#[test]
fn ctrl_c_interrupts_the_command_and_ctrl_d_ends_its_input() {
    let Some(place) = place() else { return };
    let mut terminal = Terminal::start(&place, &["exec", "--", "bash", "-c", "echo ready; sleep 1000"]);
    terminal.shows("ready").types("\u{3}");
    assert_eq!(terminal.ends(), 130, "{}", terminal.screen());
    let mut terminal = Terminal::start(&place, &["exec", "--", "bash", "-c", "echo ready; wc -l"]);
    terminal.shows("ready").types("a\nb\n\u{4}");
    assert_eq!(terminal.ends(), 0, "{}", terminal.screen());
    assert!(terminal.screen().contains("2"), "{}", terminal.screen());
}

#[test]
fn ctrl_z_stops_the_command_and_fg_lets_it_go_on() {
    let Some(place) = place() else { return };
    let haft = env!("CARGO_BIN_EXE_haft");
    let mut terminal = Terminal::start_program(&place, "bash", &["--norc", "--noprofile", "-i"]);
    let script = "echo be''gun; read x; echo got \\$x";
    terminal.types(&format!("PS1='<\\#> '; {haft} exec -c \"{script}\"\n")).shows("begun");
    terminal.types("\u{1a}").shows("Stopped");
    terminal.types("echo in the sh''ell\n").shows("in the shell");
    terminal.types("fg\n").shows("exec -c").types("words\n").shows("got words").shows("<4>");
    terminal.types("exit 0\n");
    assert_eq!(terminal.ends(), 0, "{}", terminal.screen());
}

#[test]
fn in_a_pipeline_the_command_leaves_the_keys_to_the_others_until_it_reads() {
    let Some(place) = place() else { return };
    let haft = env!("CARGO_BIN_EXE_haft");
    let mut terminal = Terminal::start_program(
        &place,
        "bash",
        &[
            "--norc",
            "--noprofile",
            "-c",
            &format!(
                "{haft} exec -c 'echo from haft; sleep 1000' | (read x; echo $x; read y < /dev/tty; echo typed $y)"
            ),
        ],
    );
    terminal.shows("from haft").types("words\n").shows("typed words").types("\u{3}");
    terminal.ends_somehow();
    let mut terminal = Terminal::start_program(
        &place,
        "bash",
        &["--norc", "--noprofile", "-c", &format!("{haft} exec -c 'read x; echo got $x' | cat")],
    );
    terminal.types("words\n").shows("got words");
    assert_eq!(terminal.ends(), 0, "{}", terminal.screen());
}

#[test]
fn a_question_is_asked_at_the_terminal_before_the_command_runs() {
    let Some(place) = place() else { return };
    place.put("ws/data/a.txt", "a\n");
    let mut terminal = Terminal::start(&place, &["exec", "-c", "rm -rf data"]);
    assert_eq!(terminal.shows("\n>").types("n\n").ends(), 3, "{}", terminal.screen());
    assert!(place.get("ws/data/a.txt").is_some());
    let mut terminal = Terminal::start(&place, &["exec", "-c", "rm -rf data"]);
    assert_eq!(terminal.shows("\n>").types("y\n").ends(), 0, "{}", terminal.screen());
    assert_eq!(place.get("ws/data/a.txt"), None);
    assert!(terminal.screen().contains("haft undo"), "{}", terminal.screen());
    let mut terminal = Terminal::start(&place, &["exec", "-c", "rm -rf src"]);
    assert_eq!(terminal.shows("\n>").types("\u{3}").ends(), 130, "{}", terminal.screen());
    assert!(place.get("ws/src/main.rs").is_some());
}
