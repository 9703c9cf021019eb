//! Tests that no command leaves a program that gives its owner's rights to the user who runs it.

use super::everyone;
use super::scene::{FixtureUser, SandboxFixture, tried};

/// Everyone, at every level, and on real files too.
fn everywhere() -> Vec<SandboxFixture> {
    let all = || everyone().into_iter();
    all().chain(all().map(SandboxFixture::without_layer)).chain(all().map(SandboxFixture::partly)).collect()
}

#[test]
fn no_program_gets_the_bit_of_its_owner() {
    for scene in everywhere() {
        std::fs::create_dir(scene.at("w/target")).unwrap();
        let seen = scene.run(
            "cp /bin/sh target/s; for mode in 4755 u+s 6755; do chmod $mode target/s 2>/dev/null && echo $mode; done; \
             install -m 4755 /bin/sh target/i 2>/dev/null && echo install; find . -perm /6000; test -x target/s && echo end",
        );
        assert_eq!((seen.text.as_str(), seen.status), ("end\n", Some(0)), "{seen:?}");
    }
}

#[test]
fn folders_hand_down_their_group_unless_it_is_that_of_root() {
    for scene in everywhere() {
        let seen = scene.run("chmod 2775 sub 2>/dev/null; mkdir -p e; chmod g+s e 2>/dev/null; stat -c %a sub e");
        let expected = if scene.who() == FixtureUser::Root { "755\n755\n" } else { "2775\n2755\n" };
        assert_eq!(seen.text, expected, "{seen:?}");
    }
}

#[test]
fn every_call_that_gives_a_mode_is_looked_at() {
    const TRY: &str = r#"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, what):
    try:
        what(); print(name)
    except OSError: pass
def call(*arguments):
    if libc.syscall(*arguments) < 0: raise OSError()
f = os.open("f", os.O_CREAT | os.O_WRONLY, 0o755)
attempt("open", lambda: os.open("a", os.O_CREAT | os.O_WRONLY, 0o4755))
attempt("nameless", lambda: os.open(".", os.O_TMPFILE | os.O_WRONLY, 0o4755))
attempt("mknod", lambda: os.mknod("m", 0o104755))
attempt("fchmod", lambda: os.fchmod(f, 0o4755))
attempt("fchmodat", lambda: os.chmod("f", 0o4755, dir_fd=os.open(".", os.O_RDONLY)))
attempt("fchmodat2", lambda: call(452, -100, b"f", 0o4755, 0))
attempt("openat2", lambda: call(437, -100, b"g", (ctypes.c_uint64 * 3)(65, 0o4755, 0), 24))
os.open("f", os.O_RDONLY, 0o7777)
os.fchmod(f, 0o1700)
os.open(".", os.O_DIRECTORY | os.O_RDONLY, 0o7777)
print("end")
"#;
    for scene in tried(everywhere(), "python3") {
        let seen = scene.run(&format!("python3 - <<'X'\n{TRY}\nX\n"));
        assert_eq!(seen.text, "end\n", "{seen:?}");
    }
}
