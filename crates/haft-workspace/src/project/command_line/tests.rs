use std::path::Path;

use super::*;

fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
    std::fs::write(path, text).expect("a file can be written");
}

fn code(folder: &Path, words: &[&str]) -> CommandLineCode {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    CommandLineCode::of(folder, &words, &BTreeMap::new())
}

/// A command line, the files that there are, and the file that changes.
type Row<'t> = (&'t [&'t str], &'t [(&'t str, &'t str)], &'t str);

fn check(rows: &[Row<'_>]) {
    for (words, files, changed) in rows {
        let scratch = tempfile::tempdir().expect("a folder can be made");
        files.iter().for_each(|(name, text)| put(scratch.path(), name, text));
        let first = code(scratch.path(), words);
        put(scratch.path(), "notes.md", "Words.\n");
        assert_eq!(code(scratch.path(), words), first, "{words:?}: a file that does not run");
        put(scratch.path(), changed, "another\n");
        assert_ne!(code(scratch.path(), words), first, "{words:?}: {changed}");
    }
}

#[test]
fn what_a_command_line_runs_is_bound_however_it_is_written() {
    let srv: &[(&str, &str)] = &[("srv.py", "one"), ("srv.js", "one"), ("sub/srv.py", "one"), ("sub/srv.js", "one")];
    check(&[
        (&["python3", "srv.py"], srv, "srv.py"),
        (&["sh", "-c", "python3 srv.py"], srv, "srv.py"),
        (&["sh", "-c", "cd sub && exec python3 srv.py"], srv, "sub/srv.py"),
        (&["sh", "-c", "F=srv.py; python3 $F"], srv, "srv.py"),
        (&["sh", "-c", "python3 s*.py"], srv, "srv.py"),
        (&["sh", "-c", "python3 s*.py"], srv, "s0.py"),
        (&["env", "-S", "python3 srv.py"], srv, "srv.py"),
        (&["env", "-Spython3 srv.py"], srv, "srv.py"),
        (&["env", "-C", "sub", "python3", "srv.py"], srv, "sub/srv.py"),
        (&["python3", "-Bm", "srv"], srv, "srv.py"),
        (&["python3", "-msrv"], srv, "srv.py"),
        (&["python3", "-Bmsub.srv"], srv, "sub/srv.py"),
        (&["python3", "sub"], &[("sub/__main__.py", "one")], "sub/__main__.py"),
        (&["python3", "-c", "exec(open('srv.py').read())"], srv, "srv.py"),
        (&["python3", "-c", "import sys;sys.path.insert(0,'');import srv"], srv, "srv.py"),
        (&["python3", "-c", "__import__('s' + 'rv')"], srv, "srv.py"),
        (&["python3", "-c", "import x"], srv, "json.py"),
        (&["node", "srv"], srv, "srv.js"),
        (&["node", "app"], &[("app/index.js", "one")], "app/index.js"),
        (&["node", "app"], &[("app/package.json", "{\"main\":\"m.js\"}"), ("app/m.js", "one")], "app/m.js"),
        (&["node", "--require=./srv", "x.js"], srv, "srv.js"),
        (&["node", "-e", "require('./srv.js')"], srv, "srv.js"),
        (&["node", "-e", "require('./s' + 'rv')"], srv, "srv.js"),
        (&["node", "srv.js"], srv, "package.json"),
        (&["node", "--env-file=e.env", "srv.js"], &[("e.env", "A=1")], "e.env"),
        (
            &["node", "--env-file=e.env", "x.js"],
            &[("e.env", "NODE_OPTIONS=-r./lib/p.js"), ("lib/p.js", "one")],
            "lib/p.js",
        ),
        (&["xargs", "-a", "cmd", "python3"], &[("cmd", "sub/srv.py"), ("sub/srv.py", "one")], "sub/srv.py"),
        (&["xargs", "-a", "cmd", "python3"], &[("cmd", "sub/srv.py")], "cmd"),
        (&["perl", "-e", "exec 'python3','srv.py'"], srv, "srv.py"),
        (&["awk", "BEGIN{system(\"python3 srv.py\")}"], srv, "srv.py"),
        (&["bash", "--rcfile", "rc", "-ic", "python3 srv.py"], &[("rc", ""), ("srv.py", "one")], "rc"),
        (
            &["bash", "-c", "source ./lib.sh; main"],
            &[("lib.sh", "main() { sh more/x.sh; }"), ("more/x.sh", "one")],
            "more/x.sh",
        ),
        (&["bash", "-c", "exec python3 <(cat srv.py)"], srv, "srv.py"),
        (&["./run"], &[("run", "#!/bin/sh\nexec python3 lib/srv.py\n"), ("lib/srv.py", "one")], "lib/srv.py"),
        (&["run-parts", "hooks"], &[("hooks/a", "one")], "hooks/b"),
    ]);
}

#[test]
fn files_that_say_what_to_start_are_followed() {
    let package =
        "{\"scripts\":{\"serve\":\"npm run -s real\",\"real\":\"node src/srv.js\",\"build\":\"node make.js\"}}";
    let files: &[(&str, &str)] = &[("package.json", package), ("src/srv.js", "one"), ("make.js", "one")];
    let below: &[(&str, &str)] = &[("sub/package.json", package), ("sub/src/srv.js", "one")];
    let makefile: &[(&str, &str)] =
        &[("Makefile", "include r.mk\nserve:\n\tpython3 src/srv.py\n"), ("r.mk", "X=1\n"), ("src/srv.py", "one")];
    check(&[
        (&["npm", "run", "-s", "serve"], files, "package.json"),
        (&["npm", "run", "-s", "serve"], files, "src/srv.js"),
        (&["npm", "--prefix", "sub", "run", "serve"], below, "sub/package.json"),
        (&["npm", "--prefix", "sub", "run", "serve"], below, "sub/src/srv.js"),
        (&["yarn", "--cwd=sub", "serve"], below, "sub/src/srv.js"),
        (&["sh", "-c", "cd sub; npm run serve"], below, "sub/src/srv.js"),
        (&["make", "-s", "serve"], makefile, "Makefile"),
        (&["make", "-s", "serve"], makefile, "GNUmakefile"),
        (&["make", "-s", "serve"], makefile, "src/srv.py"),
        (&["make", "-s", "serve"], makefile, "r.mk"),
        (&["make", "-f", "sub/x.mk"], &[("sub/x.mk", "x:\n\tsh sub/y.sh\n"), ("sub/y.sh", "one")], "sub/y.sh"),
    ]);
    let scratch = tempfile::tempdir().expect("a folder can be made");
    files.iter().for_each(|(name, text)| put(scratch.path(), name, text));
    let served = code(scratch.path(), &["npm", "run", "serve"]);
    assert!(!served.files.contains_key("make.js"), "a script that is not started: {served:?}");
    assert_eq!(code(scratch.path(), &["npx", "-y", "@x/y"]), CommandLineCode::default());
}

#[test]
fn variables_name_files_too() {
    let scratch = tempfile::tempdir().expect("a folder can be made");
    put(scratch.path(), "pre.js", "one");
    put(scratch.path(), "lib/json.py", "one");
    for (name, value, changed) in
        [("NODE_OPTIONS", "--require=./pre.js", "pre.js"), ("PYTHONPATH", "lib", "lib/json.py")]
    {
        let of = || {
            let variables = BTreeMap::from([(name.to_owned(), value.to_owned())]);
            CommandLineCode::of(scratch.path(), &["node".to_owned(), "x".to_owned()], &variables)
        };
        let first = of();
        put(scratch.path(), changed, "another");
        assert_ne!(of(), first, "{name}");
    }
}

#[test]
fn a_variable_with_the_name_of_data_binds_nothing() {
    let scratch = tempfile::tempdir().expect("a folder can be made");
    put(scratch.path(), "memory.json", "one");
    let variables = BTreeMap::from([("MEMORY_FILE".to_owned(), "./memory.json".to_owned())]);
    let found = CommandLineCode::of(scratch.path(), &["node".to_owned(), "x".to_owned()], &variables);
    assert_eq!(found, CommandLineCode::default());
}

#[test]
fn what_is_not_understood_is_told_and_bound_to_the_code_at_the_top() {
    let scratch = tempfile::tempdir().expect("a folder can be made");
    for name in ["a.py", "b.sh", "c.js", "notes.md", "src/d.py"] {
        put(scratch.path(), name, "one");
    }
    for words in
        [&["python3", "-c", "1"][..], &["sh", "-c", "$X"], &["xargs", "sh"], &["cargo", "run"], &["uv", "run", "x"]]
    {
        let found = code(scratch.path(), words);
        assert_eq!(found.files.keys().collect::<Vec<_>>(), ["a.py", "b.sh", "c.js"], "{words:?}");
        assert_eq!(found.not_covered.len(), 1, "{words:?}: {found:?}");
    }
    for words in [&["python3", "a.py"][..], &["make"], &["sh", "-c", "python3 a.py"], &["docker", "run", "x"]] {
        assert_eq!(code(scratch.path(), words).not_covered, BTreeSet::new(), "{words:?}");
    }
}
