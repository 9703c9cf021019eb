//! Tests names of programs, and programs with special rules.

use crate::programs::table::ProgramTable;
use crate::programs::table::row::UnnamedFlags;
use crate::programs::tests::{by, shipped};
use haft_policy::decision::Decision;
use haft_policy::examples::decision;

#[test]
fn a_program_of_the_system_is_known_by_its_last_name() {
    let rows = "rm\n  operands remove\n";

    assert_eq!(by(rows, "/bin/rm x"), "Remove x");
    assert_eq!(by(rows, "/usr/local/bin/rm x"), "Remove x");
    assert_eq!(by(rows, "//usr/./bin/../bin/rm x"), "Remove x");
}

#[test]
fn a_program_by_any_other_path_is_a_file_that_is_run() {
    let rows = "rm\n  operands remove\n";

    assert_eq!(by(rows, "./rm x"), "Run ./rm");
    assert_eq!(by(rows, "src/rm x"), "Run src/rm");
    assert_eq!(by(rows, "/opt/rm x"), "Run /opt/rm; Remove x", "a way round may lead to the real one");
    assert_eq!(by(rows, "../../bin/rm x"), "Run ../../bin/rm; Remove x");
}

#[test]
fn a_program_that_is_not_in_the_table_is_told_by_its_name() {
    assert_eq!(by("a\n", "frob x"), "Program  frob");
}

#[test]
fn a_name_that_is_not_known_is_unknown_and_a_pattern_is_every_program_it_fits() {
    let rows = "rm\n  operands remove\nls\n  operands list\n";
    let unknown = "Unknown  the name of the program is known only when it runs";

    assert_eq!(by(rows, "… x"), unknown);
    assert_eq!(by(rows, " x"), unknown);
    assert_eq!(by(rows, "/bin/r* x"), format!("{unknown}; Run /bin/r*; Remove x"));
}

#[test]
fn help_and_version_alone_do_nothing() {
    let rows = "a\n  does connect\n  operands read\nb\n  subcommands\nb+c\n  does connect\n";

    assert_eq!(by(rows, "a --help"), "");
    assert_eq!(by(rows, "b c --version"), "");
    assert_eq!(by(rows, "a --help x"), "Unknown  \\ --help\\  of a is not in the table of programs; Connect ?; Read x");
}

#[test]
fn find_runs_removes_and_writes_below_its_starts() {
    assert_eq!(shipped("find a b -name x -print0"), "List a; List b; prints a/x a/*…/x b/x b/*…/x");
    assert_eq!(shipped("find"), "List .; prints ./* ./*…");
    assert_eq!(shipped("find /x -name y -delete"), "List /x; Remove /x/y; Remove /x/*…/y; prints /x/y /x/*…/y");
    assert_eq!(shipped("find /x -type f -delete"), "List /x; Remove /x; prints /x/* /x/*…");
    assert_eq!(shipped("find . ! -name y -delete"), "List .; Remove .; prints ./* ./*…");
    let run = shipped("find a b -name x -exec rm -f {} ; -okdir sh -c x{}y {} +");
    let found = ["a/x", "a/*…/x", "b/x", "b/*…/x"];
    let removed = found.map(|path| format!("runs [rm -f {path}]")).join("; ");
    let run_in_shell = found.map(|path| format!("runs [sh -c x{path}y {path}]")).join("; ");
    // It runs in the folder of each file.
    let there = ["a", "b"].map(|start| format!("runs [sh -c x./foundy ./found] in {start}/*…")).join("; ");
    assert_eq!(run, format!("List a; List b; {removed}; {run_in_shell}; {there}; prints {}", found.join(" ")));
    assert_eq!(shipped("find . -fprint /x -ls"), "List .; Replace /x; prints ./* ./*…");
    assert!(shipped("find . -files0-from x").contains("Read x; Unknown"));
    assert!(shipped("find . -frobnicate").contains("Unknown"));
    assert!(shipped("find . …").contains("Unknown"));
}

#[test]
fn fd_runs_a_command_for_what_it_finds() {
    assert_eq!(shipped("fd -e rs 'x|y' src"), "List src; prints src/* src/*…");
    assert_eq!(shipped("fd x* -x rm {}"), "List .; runs [rm ./*…]; prints ./* ./*… *");
    assert_eq!(shipped("fd . /a -X rm -f"), "List /a; runs [rm -f /a/*…]; prints /a/* /a/*…");
    assert_eq!(shipped("fd --exec=rm"), "List .; runs [rm ./*…]; prints ./* ./*… *");
}

#[test]
fn xargs_runs_a_command_with_its_input() {
    assert_eq!(shipped("xargs -0 -n 1 rm -f"), "runs [rm -f] and its input");
    assert_eq!(shipped("xargs -I {} mv {} x"), "runs [mv {} x] with its input for {}");
    assert_eq!(shipped("xargs -I% mv % x"), "runs [mv % x] with its input for %");
    assert_eq!(shipped("xargs --replace mv {} x"), "runs [mv {} x] with its input for {}");
    assert_eq!(shipped("xargs -a list rm"), "Read list; runs [rm … …]");
    assert_eq!(shipped("xargs"), "runs [echo] and its input");
}

#[test]
fn env_sets_variables_and_runs_a_program() {
    assert_eq!(shipped("env -i -u X A=1 ls -l"), "A=1; runs [ls -l]");
    assert_eq!(shipped("env -uX --unset Y --unset=Z ls"), "runs [ls]");
    assert_eq!(shipped("env -C /x ls"), "List /x; in /x; runs [ls]");
    assert_eq!(shipped("env -S ls_-l"), "sh [ls -l] ()");
    assert_eq!(shipped("env -S bash_-c ls"), "runs [bash -c ls]");
    assert!(shipped("env").contains("Unknown"));
    assert!(shipped("env A=1").contains("Unknown"));
}

#[test]
fn shells_run_text_a_file_or_their_input() {
    assert_eq!(shipped("bash -c ls a b"), "sh [ls] (a b)");
    assert_eq!(shipped("bash -ec -x ls"), "traced; sh [ls] ()");
    assert_eq!(shipped("bash -o xtrace"), "traced; runs its input as Shell");
    assert_eq!(shipped("bash -euo pipefail -c ls"), "sh [ls] ()");
    assert_eq!(shipped("bash -- x.sh a"), "Run x.sh");
    assert_eq!(shipped("bash"), "runs its input as Shell");
    assert_eq!(shipped("sh -s -- a"), "runs its input as Shell (a)");
    assert_eq!(shipped("sh -"), "runs its input as Shell");
    assert_eq!(shipped("sh /dev/stdin"), "runs its input as Shell");
    assert_eq!(shipped("bash --rcfile x -i"), "Run x; runs its input as Shell");
    assert_eq!(shipped("bash -n x.sh"), "Read x.sh");
    assert!(shipped("sh …").contains("Unknown"));
}

#[test]
fn kill_tells_processes_from_everything() {
    assert_eq!(shipped("kill -9 123"), "Process  act on other processes");
    assert_eq!(shipped("kill -1 123"), "Process  act on other processes");
    for all in ["kill -9 -1", "kill -s KILL -1", "kill 1", "kill -- -1", "kill -TERM 0"] {
        assert_eq!(shipped(all), "Danger System", "{all}");
    }
    assert_eq!(shipped("kill -l"), "");
    assert_eq!(shipped("kill -0 123"), "");
}

#[test]
fn what_echo_and_printf_print_is_known() {
    assert_eq!(shipped("echo -n a  b"), "prints a  b");
    assert_eq!(shipped("echo -e \\x72m"), "prints rm\n");
    assert_eq!(shipped("echo a …"), "prints a …\n");
    assert_eq!(shipped("printf \\162m_%s ~"), "prints rm ~");
    assert_eq!(shipped("printf %s%s, a b c"), "prints ab,c,");
    assert_eq!(shipped("printf 100%%_%05d 3"), "prints 100% …");
}

#[test]
fn tests_are_harmless() {
    assert_eq!(shipped("test -f …"), "");
    assert_eq!(shipped("[ … = x ]"), "");
}

#[test]
fn settings_of_git_for_one_command_are_read_for_what_they_run() {
    let named = "Code  let git run ls -l, named by core.pager; sh [ls -l] ()";
    assert_eq!(shipped("git -c core.pager=ls_-l --version"), named);
    assert_eq!(shipped("git -c CORE.Pager=cat log"), "List .; prints …");
    assert!(shipped("git -c alias.x=!ls x").contains("sh [ls] ()"));
    assert!(shipped("git -c core.hooksPath=/x commit").contains("Run /x"));
    assert!(shipped("git -c diff.x.textconv=ls log").contains("sh [ls] ()"));
    assert!(shipped("git -c core.editor=vim_-c_:!ls commit").contains("sh [vim -c :!ls] ()"));
    assert!(shipped("git -c protocol.ext.allow=always status").contains("Unknown"));
    assert!(shipped("git -c … log").contains("Unknown"));
    assert_eq!(shipped("git -c user.name=x log"), "List .; prints …");
}

#[test]
fn a_setting_of_git_that_stays_and_runs_something_is_planted() {
    assert_eq!(shipped("git config --get user.name"), "");
    assert_eq!(shipped("git config user.name"), "");
    assert_eq!(shipped("git config user.name x"), "Settings  change the settings of git");
    assert_eq!(shipped("git config core.pager less"), "Settings  change the settings of git");
    for planted in
        ["core.pager sh", "core.hooksPath h", "alias.x !ls", "--add filter.x.clean ls", "set core.fsmonitor x"]
    {
        let told = shipped(&format!("git config {planted}"));
        assert_eq!(told, "Settings  change the settings of git; Danger PlantedCode", "{planted}");
    }
    assert_eq!(shipped("git config --global user.name x"), "Settings  change the settings of git");
    for elsewhere in ["--system user.name x", "--global core.pager less", "--global url.a.insteadOf b", "--global … x"]
    {
        assert!(shipped(&format!("git config {elsewhere}")).contains("Danger System"), "{elsewhere}");
    }
    assert!(shipped("git config --global --rename-section a.b filter.x").contains("Danger System"));
    assert!(shipped("git config -f /x a.b c").contains("Replace /x"));
    assert!(shipped("git config --unset core.pager").contains("Settings"));
}

#[test]
fn haft_may_be_asked_but_not_steered() {
    for asked in ["haft --version", "haft tools", "haft log -n 3", "haft diff", "haft rules explain ls"] {
        assert_eq!(shipped(asked), "", "{asked}");
    }
    for steered in
        ["haft", "haft undo", "haft rules add x", "haft frobnicate", "haft rules", "haft … log", "haft trust log"]
    {
        assert!(shipped(steered).contains("Danger Haft"), "{steered}");
    }
}

#[test]
fn every_row_asks_about_a_flag_that_its_author_has_not_checked() {
    let rows =
        ProgramTable::shipped().rows().filter_map(Result::ok).filter(|row| row.traits.unnamed == UnnamedFlags::Asked);
    let commands: Vec<String> = rows
        .flat_map(|row| &row.names)
        .map(|name| format!("{} --zz-flag-that-no-program-has=x", name.replace('+', " ")))
        .collect();
    let allowed: Vec<&String> = commands.iter().filter(|command| decision(command) == Decision::Allow).collect();

    assert!(commands.len() > 1_000);
    assert!(allowed.is_empty(), "{allowed:#?}");
}

/// A word behind one dash that a row names says that its program may not bundle letters; then a word that the row
/// does not name must not count as harmless letters.
#[test]
fn a_row_with_words_behind_one_dash_knows_its_flags() {
    let is_word = |flag: &&&str| {
        let letters = flag.trim_start_matches('-');
        let mut distinct: Vec<char> = letters.chars().collect();
        distinct.dedup();
        flag.starts_with('-') && !flag.starts_with("--") && distinct.len() > 1
    };
    for row in ProgramTable::shipped().rows().map(|row| row.unwrap_or_else(|fault| panic!("{fault}"))) {
        let reads_words = row.traits.long || row.traits.first_letter || row.traits.unnamed != UnnamedFlags::Harmless;
        let words: Vec<_> = row.flags.keys().filter(is_word).collect();
        assert!(
            reads_words || words.is_empty(),
            "{} has {words:?}: see the traits \"long\" and \"first-letter\"",
            row.shown()
        );
    }
}
