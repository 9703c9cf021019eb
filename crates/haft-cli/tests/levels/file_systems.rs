//! File systems that an ordinary user can mount: in memory, and an overlay as the root of a container is.
//!
//! Those that need root are in `tests/filesystems/run`.

use haft_testkit::require::Need;
use haft_testkit::scratch_home::{CapturedOutput, said};
use haft_testkit::seccomp_filter::CallFilter;
use std::process::Command;

use super::workplace::Workplace;

/// Does a day's work on what was mounted over the workspace. Every line must succeed.
const WORK: &str = r#"
cd "$1"; shift; haft=$1
printf 'one\n' > a.txt; mkdir src; printf 'x\n' > src/x; chmod 640 a.txt
tree() { find . -path ./.haft-trees -prune -o -printf '%p %M %l\n' | sort; cat a.txt src/x new/b.txt moved/x 2>/dev/null || true; }
before=$(tree)
"$haft" --yes call write_file '{"path":"new/b.txt","content":"b\n"}'
"$haft" --yes call edit_file '{"path":"a.txt","old_text":"one","new_text":"uno"}'
"$haft" undo; "$haft" undo
[ "$(tree)" = "$before" ] || { echo "DIFFERS after the file tools"; tree; exit 1; }
"$haft" --yes call bash 'echo two > a.txt; mv src moved; ln -s a.txt link; chmod 600 a.txt; rm -r moved/x; mkdir -p d/e'
after=$(tree)
[ "$after" != "$before" ] || { echo "the command changed nothing"; exit 1; }
"$haft" undo
[ "$(tree)" = "$before" ] || { echo "DIFFERS after undo"; tree; exit 1; }
"$haft" redo
[ "$(tree)" = "$after" ] || { echo "DIFFERS after redo"; tree; exit 1; }
"$haft" log | grep -q bash
echo ALL RIGHT
"#;

/// Lets commands change pipes. haft must name each pipe and undo must leave all of them.
const PIPES: &str = r#"
cd "$1"; shift; haft=$1
mkfifo gone replaced shut moved; mkdir folder; mkfifo folder/inner
tree() { find . -path ./.haft-trees -prune -o -printf '%p %M\n' | sort; }
before=$(tree)
for command in 'rm gone' 'rm replaced; echo file > replaced' 'chmod 600 shut' 'mv moved elsewhere' 'mv folder other'; do
    told=$("$haft" --yes call bash "$command" 2>&1)
    case "$told" in *Skipped*|*'Left unchanged'*) ;; *) echo "NOT SAID: $command: $told"; exit 1;; esac
    "$haft" undo 2> /dev/null || true
    [ "$(tree)" = "$before" ] || { echo "DIFFERS after $command: $told"; tree; exit 1; }
done
echo ALL RIGHT
"#;

/// Checks what haft says of commands that have no layer.
const MOUNTED: &str = r#"
cd "$1"; shift; haft=$1
said() { case "$told" in *"$1"*) ;; *) echo "NOT SAID: $1: $told"; exit 1;; esac; }
unsaid() { case "$told" in *"$1"*) echo "SAID: $1: $told"; exit 1;; esac; }
session() { printf '%s\n' '{"name":"bash","arguments":{"command":"echo 1 > a.txt"}}' '{"name":"bash","arguments":{"command":"echo 2 > a.txt"}}'; }
told=$(session | "$haft" --yes call - 2>&1)
said '"sandbox":"partial"'; unsaid '"sandbox":"full"'; said 'weaker sandbox'; said '/mounted'
[ "$(printf '%s\n' "$told" | grep -c 'weaker sandbox')" = 1 ] || { echo "SAID TWICE: $told"; exit 1; }
[ "$(cat a.txt)" = 2 ] || { echo "NOT CHANGED"; exit 1; }
told=$("$haft" undo 2>&1); [ "$(cat a.txt)" = 1 ] || { echo "NOT UNDONE: $told"; exit 1; }
told=$("$haft" doctor 2>&1); said 'sandbox             partial'; said '/mounted'
stays='{"name":"bash","arguments":{"command":"sleep 9; echo 3 > a.txt","background":true}}'
code='{"name":"run_code","arguments":{"language":"python","code":"open(\"a.txt\", \"w\")"}}'
for call in "$stays" "$code"; do
    # A worker is not watched, because its watcher would end only with it.
    told=$(printf '%s\n' "$call" | "$haft" --yes call - 2>&1 || true); said 'could not be undone'; [ "$(cat a.txt)" = 1 ]
done
mkdir -p "$XDG_CONFIG_HOME/haft"; printf '[sandbox]\nrequired = "full"\n' > "$XDG_CONFIG_HOME/haft/config.toml"
told=$("$haft" --yes call bash 'rm a.txt' 2>&1 < /dev/null) && { echo "RAN: $told"; exit 1; }
said 'weak sandbox'; [ -e a.txt ] || { echo "REMOVED: $told"; exit 1; }
told=$("$haft" doctor 2>&1) && { echo "ALL WELL: $told"; exit 1; }
umount mounted
told=$("$haft" --yes call bash 'rm a.txt' 2>&1); said 'sandbox: full'; unsaid 'weaker sandbox'
echo ALL RIGHT
"#;

/// Works there at the full level.
fn works_on(mount: &str) {
    works_at(mount, "full");
}

fn works_at(mount: &str, level: &str) {
    let Some(said) = said_behind(mount, WORK) else { return };
    assert!(said.err.contains(&format!("sandbox: {level}")), "{}{}", said.out, said.err);
}

/// Mounts something and does a work there, which must succeed.
fn said_behind(mount: &str, work: &str) -> Option<CapturedOutput> {
    let place = Workplace::new(CallFilter::default());
    let full = place.doctor("sandbox").starts_with("full");
    let alone = ["--user", "--map-root-user", "--mount"];
    let mounts = Command::new("unshare").args(alone).arg("true").status().is_ok_and(|status| status.success());
    if !Need::Full.met(full) || !Need::Mounts.met(mounts) {
        return None;
    }
    let script = format!("{mount}\nset -- \"$1\" \"$0\"{work}");
    let around = [&["unshare"][..], &alone, &["sh", "-euc", &script]].concat();
    let workspace = place.home.path("ws").to_string_lossy().into_owned();
    let said = said(place.home.command_behind(&around, &[&workspace]), "");
    assert!(said.code == 0 && said.out.ends_with("ALL RIGHT\n"), "{}: {}{}", said.code, said.out, said.err);
    Some(said)
}

#[test]
fn a_workspace_in_memory_is_undone_exactly() {
    works_on("mount -t tmpfs none \"$1\"");
}

#[test]
fn a_workspace_on_an_overlay_is_undone_exactly() {
    works_on(
        "m=$(dirname \"$1\")/parts; mkdir \"$m\"; mount -t tmpfs none \"$m\"; mkdir \"$m/l\" \"$m/u\" \"$m/w\"
         mount -t overlay overlay -o \"lowerdir=$m/l,upperdir=$m/u,workdir=$m/w\" \"$1\"",
    );
}

/// A container covers parts of `/proc`, so the kernel lets no process in it mount a fresh one. And an overlay lets no
/// process mark a name as removed in the way of the kernel.
#[test]
fn in_a_container_with_everything_on_an_overlay_removals_are_undone_exactly() {
    works_at(
        "r=$(dirname \"$1\"); m=$r/config; mount -t tmpfs none /proc/tty; mount -t tmpfs none \"$m\"; mkdir \"$m/u\" \"$m/w\"
         mount -t overlay overlay -o \"lowerdir=$r,upperdir=$m/u,workdir=$m/w\" \"$r\"",
        "partial",
    );
}

#[test]
fn a_command_without_a_layer_below_a_mount_has_the_partial_level_and_the_user_is_told() {
    said_behind("mkdir \"$1/mounted\"; mount -t tmpfs none \"$1/mounted\"", MOUNTED);
}

/// The watcher reaches the workspace over another mount, so it keeps copies.
#[test]
fn a_pipe_that_a_command_changes_below_a_mount_is_named_and_stays_a_pipe() {
    said_behind("mkdir \"$1/mounted\"; mount -t tmpfs none \"$1/mounted\"", PIPES);
}

/// The watcher keeps second names.
#[test]
fn a_pipe_that_a_command_changes_without_namespaces_is_named_and_stays_a_pipe() {
    let place = Workplace::new(CallFilter::container_default());
    if !Need::Partial.met(place.doctor("sandbox").starts_with("partial")) {
        return;
    }
    let workspace = place.home.path("ws").to_string_lossy().into_owned();
    let script = format!("set -- \"$1\" \"$0\"{PIPES}");
    let command = place.home.command_behind(&["sh", "-euc", &script], &[&workspace]);
    let said = CallFilter::container_default().within(|| said(command, ""));
    assert!(said.code == 0 && said.out.ends_with("ALL RIGHT\n"), "{}: {}{}", said.code, said.out, said.err);
}
