//! Tests that every program can rename folders of the workspace, as if there were no layer.

use super::everyone;
use super::scene::tried;

/// Renames in one call, as programs do; prints the error instead of failing.
const RENAME: &str = "\
rename() { python3 -c 'import os,sys\ntry: os.rename(*sys.argv[1:])\nexcept OSError as e: print(e.strerror)' \"$@\"; }\n";

fn check(script: &str, expected: &str) {
    for scene in tried(everyone(), "python3") {
        let seen = scene.run(&format!("{RENAME}{script}"));
        assert_eq!(seen.text, expected, "{seen:?}");
        assert_eq!(scene.content("sub/file"), "x");
    }
}

#[test]
fn a_folder_gets_another_name() {
    check("rename sub other; cat other/file; ls", "xother\n");
}

#[test]
fn a_folder_moves_with_everything_in_it() {
    for scene in tried(everyone(), "python3") {
        let deep = scene.at("w/sub/a/b");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(deep.join("one\nline"), "1").unwrap();
        std::fs::hard_link(deep.join("one\nline"), scene.at("w/sub/two")).unwrap();
        std::os::unix::fs::symlink("nowhere", deep.join("link")).unwrap();
        let seen = scene.run(&format!(
            "{RENAME}mkdir in; chmod 555 sub/a; touch -d @1000 sub/a; rename sub/ \"$PWD/in/new\"; cd in/new; \
             stat -c '%a %Y' a; stat -c %h two; cat a/b/one*; readlink a/b/link; test a/b/one* -ef two && echo same; ls .."
        ));
        assert_eq!(seen.text, "555 1000\n2\n1nowhere\nsame\nnew\n", "{seen:?}");
        assert!(seen.report.contains("status 0"), "{seen:?}");
    }
}

#[test]
fn an_empty_folder_is_replaced_and_no_other() {
    check(
        "mkdir empty full; touch full/x; rename sub full; ls sub full; rename sub empty; cat empty/file",
        "Directory not empty\nfull:\nx\n\nsub:\nfile\nx",
    );
}

#[test]
fn a_folder_does_not_move_into_itself() {
    check("rename sub sub/x; ls", "Invalid argument\nsub\n");
}

#[test]
fn git_moves_folders() {
    if tried(everyone(), "git").is_empty() {
        return;
    }
    check(
        "git init -q; git add .; git mv sub moved && git status --short; git mv moved sub/ && ls",
        "A  moved/file\nsub\n",
    );
}

#[test]
fn a_folder_that_holds_a_mount_stays_where_it_is() {
    for scene in tried(everyone(), "python3") {
        std::fs::create_dir_all(scene.at("w/outer/target")).unwrap();
        std::fs::create_dir_all(scene.at("w/outer/fixed/b")).unwrap();
        std::fs::write(scene.at("w/outer/a"), "a").unwrap();
        scene.read_only("outer/target");
        let seen = scene
            .run(&format!("{RENAME}chmod 555 outer/fixed; rename outer moved; ls; ls outer; stat -c %a outer/fixed"));
        assert_eq!(seen.text, "Device or resource busy\nouter\nsub\na\nfixed\ntarget\n555\n", "{seen:?}");
    }
}

#[test]
fn folders_of_other_places_are_renamed_by_the_kernel() {
    check(
        "cd /tmp; mkdir a; touch a/x; rename a b; ls b; cd - > /dev/null; rename /tmp/b c",
        "x\nInvalid cross-device link\n",
    );
}

#[test]
fn many_files_move_at_once_by_threads_of_one_program() {
    check(
        "python3 -c 'import os,threading\n\
         def work(n):\n\
         \x20 for i in range(20):\n\
         \x20  d=f\"d{n}-{i}\"; os.mkdir(d); open(d+\"/f\",\"w\").close(); os.rename(d, d+\"x\"); os.rename(d+\"x/f\", d+\"x/g\")\n\
         ts=[threading.Thread(target=work,args=(n,)) for n in range(8)]\n\
         [t.start() for t in ts]; [t.join() for t in ts]'; ls -d d*x | wc -l; ls d*x/g | wc -l",
        "160\n160\n",
    );
}
