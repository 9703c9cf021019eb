//! Undo of commands that damage the object store of a repository: the repository is whole again.

use crate::ground::{Ground, assert_same, for_everybody};

const REPOSITORY: &str = "git init -q -b master .; git config user.name A; git config user.email a@example.org; \
    git config gc.auto 0; echo one > a; mkdir src; echo s > src/s; git add .; git commit -qm one; \
    echo two > a; git commit -qam two; ";
const PACKED: &str = "git gc -q; ";
const LOOSE: &str = "f=$(find .git/objects/?? -type f | sort | head -1); chmod 644 $f; ";
const EACH_LOOSE: &str = "for f in $(find .git/objects/?? -type f); do chmod 644 $f; ";
const EACH_PACK: &str = "for f in $(find .git/objects/pack -type f); do chmod 644 $f; ";
const BARE: &str = "git clone -q --bare . bare.git; git -C bare.git gc -q; ";

/// What lies there before, and how a command damages it.
type Damage = (&'static str, &'static str, String);

fn damages() -> Vec<Damage> {
    let graph = "git commit-graph write --reachable; ";
    let chain = "git commit-graph write --reachable --split; ";
    let over_packs = "git repack -q -ad; git multi-pack-index write; ";
    vec![
        ("packs overwritten", PACKED, format!("{EACH_PACK} echo corrupt > $f; done")),
        ("packs emptied", PACKED, format!("{EACH_PACK} : > $f; done")),
        ("packs cut by a byte", PACKED, format!("{EACH_PACK} truncate -s -1 $f; done")),
        ("only indexes of packs overwritten", PACKED, "chmod 644 .git/objects/pack/*.idx; echo x > $(ls .git/objects/pack/*.idx)".into()),
        ("packs removed", PACKED, "rm -f .git/objects/pack/*".into()),
        ("loose objects overwritten", "", format!("{EACH_LOOSE} echo corrupt > $f; done")),
        ("loose objects emptied", "", format!("{EACH_LOOSE} : > $f; done")),
        ("loose objects cut by a byte", "", format!("{EACH_LOOSE} truncate -s -1 $f; done")),
        ("loose objects written again", "", format!("{EACH_LOOSE} rm $f; echo x > $f; done")),
        ("some overwritten, some removed", "", "i=0; for f in $(find .git/objects/?? -type f); do i=$((i+1)); chmod 644 $f; if test $((i%2)) = 0; then rm $f; else echo x > $f; fi; done".into()),
        ("an object becomes a folder", "", format!("{LOOSE} rm $f; mkdir $f; echo x > $f/x; mkdir $f/y")),
        ("a pack becomes a folder", PACKED, "p=$(ls .git/objects/pack/*.pack); rm -f $p; mkdir $p; echo x > $p/x".into()),
        ("a folder of objects becomes a file", "", "d=$(ls -d .git/objects/?? | head -1); rm -rf $d; echo x > $d".into()),
        ("the folder of packs becomes a file", PACKED, "rm -rf .git/objects/pack; echo x > .git/objects/pack".into()),
        ("other stores named", "", "echo /nowhere > .git/objects/info/alternates".into()),
        ("other stores replaced", "git clone -q --bare . ../other.git; echo $(cd ../other.git/objects; pwd) > .git/objects/info/alternates; git repack -q -adl; rm -rf .git/objects/??; ", "echo /nowhere > .git/objects/info/alternates".into()),
        ("other stores forgotten", "git clone -q --bare . ../other.git; echo $(cd ../other.git/objects; pwd) > .git/objects/info/alternates; git repack -q -adl; rm -rf .git/objects/??; ", "rm .git/objects/info/alternates".into()),
        ("a commit graph overwritten", graph, "chmod 644 .git/objects/info/commit-graph; echo x > .git/objects/info/commit-graph".into()),
        ("a commit graph created", "", "echo x > .git/objects/info/commit-graph".into()),
        ("a commit graph removed", graph, "rm -f .git/objects/info/commit-graph".into()),
        ("a chain of commit graphs overwritten", chain, "cd .git/objects/info/commit-graphs; chmod 644 *; for f in *; do echo x > $f; done".into()),
        ("an index over packs overwritten", over_packs, "chmod 644 .git/objects/pack/multi-pack-index; echo x > .git/objects/pack/multi-pack-index".into()),
        ("an index over packs created", PACKED, "echo x > .git/objects/pack/multi-pack-index".into()),
        ("a bare repository overwritten", BARE, "cd bare.git; for f in $(find objects -type f); do chmod 644 $f; echo x > $f; done".into()),
        ("a bare repository emptied", BARE, "rm -rf bare.git/objects; echo x > bare.git/objects".into()),
        ("modes widened", PACKED, "chmod -R 777 .git || true".into()),
        ("modes of loose objects widened", "", "chmod -R 777 .git || true".into()),
        ("modes widened and contents overwritten", PACKED, format!("chmod -R 777 .git || true; {EACH_PACK} echo corrupt > $f; done")),
    ]
}

fn check(ground: &Ground, (name, before, command): &Damage) {
    const SOUND: &str = "git fsck --full --strict; git log -p > /dev/null; \
        if test -d bare.git; then git -C bare.git fsck --full --strict; fi";
    ground.lay_out(&format!("{REPOSITORY}{before}"));
    ground.lay_out(SOUND);
    let tree = ground.tree();
    let record = ground.bash_unread(command, 60.0);
    assert_eq!(record["exit_code"], 0, "{name}: {record:#}");
    assert!(ground.tree() != tree, "{name}: nothing was changed: {record:#}");
    let undone = ground.haft(&["undo"]);
    let text = format!("{}{}", String::from_utf8_lossy(&undone.stdout), String::from_utf8_lossy(&undone.stderr));
    assert!(undone.status.success(), "{name}: {text}");
    assert!(!text.contains("stays unchanged"), "{name}: {text}");
    assert_same(name, &tree, &ground.tree());
    ground.lay_out(SOUND);
}

#[test]
fn undo_restores_what_a_command_damaged_in_an_object_store() {
    for_everybody(&|ground| {
        if !ground.has_git() {
            return;
        }
        damages().iter().for_each(|damage| check(&ground.another(), damage));
    });
}

#[test]
fn redo_of_damage_leaves_the_objects_whole() {
    for_everybody(&|ground| {
        if !ground.has_git() {
            return;
        }
        for (name, before, command) in
            damages().iter().filter(|(name, ..)| name.contains("overwritten") || name.contains("becomes"))
        {
            let ground = ground.another();
            ground.lay_out(&format!("{REPOSITORY}{before}"));
            ground.bash_unread(&format!("echo three > b; {command}"), 60.0);
            assert!(ground.haft(&["undo"]).status.success(), "{name}");
            let redone = ground.haft(&["redo"]);
            assert!(redone.status.success(), "{name}: {}", String::from_utf8_lossy(&redone.stderr));
            ground.lay_out("test -f b; git fsck --full --strict");
        }
    });
}

#[test]
fn an_object_that_a_command_repaired_stays_repaired() {
    for_everybody(&|ground| {
        if !ground.has_git() {
            return;
        }
        let ground = ground.another();
        ground.lay_out(&format!(
            "{REPOSITORY} cp -r .git/objects ../sound; {EACH_LOOSE} : > $f; done; cp -r ../sound sound"
        ));
        let record = ground.bash_unread("rm -rf .git/objects/??; cp -r sound/?? .git/objects/; echo x > b", 60.0);
        assert_eq!(record["exit_code"], 0, "{record:#}");
        assert!(ground.haft(&["undo"]).status.success());
        ground.lay_out("test ! -e b; git fsck --full --strict");
    });
}
