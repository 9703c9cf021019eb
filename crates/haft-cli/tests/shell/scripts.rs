//! The scripts: what is there before, what runs, and what comes of it.

pub(crate) struct Script {
    pub(crate) name: &'static str,
    /// Runs without haft and lays out the workspace.
    pub(crate) before: &'static str,
    pub(crate) command: &'static str,
    pub(crate) status: &'static str,
    pub(crate) changes: bool,
    pub(crate) seconds: f64,
}

const fn script(name: &'static str, before: &'static str, command: &'static str) -> Script {
    Script { name, before, command, status: "ok", changes: true, seconds: 60.0 }
}

const REPOSITORY: &str = "git init -q -b main .; git config user.name A; git config user.email a@example.org; \
    mkdir -p src/deep; echo one > src/one.txt; echo two > src/deep/two.txt; echo read > README.md; \
    git add .; git commit -qm first; git checkout -qb other; echo changed > src/one.txt; git rm -q README.md; \
    echo three > three.txt; git add .; git commit -qm second; git checkout -q main; ";

const FILES: &str = "mkdir -p src/a/b docs empty; for n in 1 2 3; do echo $n > src/a/$n.txt; echo b$n > src/a/b/$n.txt; done; \
    echo doc > docs/d.md; ln -s src/a/1.txt link; ln -s nowhere dangling; chmod 755 src/a/1.txt; chmod 700 src/a/b; ";

pub(crate) fn of_repositories() -> Vec<Script> {
    all().into_iter().filter(|script| script.command.contains("git ")).collect()
}

/// Scripts whose names tell of many files.
pub(crate) fn of_many_files() -> Vec<Script> {
    all().into_iter().filter(is_large).collect()
}

pub(crate) fn of_files() -> Vec<Script> {
    all().into_iter().filter(|script| !script.command.contains("git ") && !is_large(script)).collect()
}

fn is_large(script: &Script) -> bool {
    ["thousand", "1,000", "makes code"].iter().any(|word| script.name.contains(word))
}

fn all() -> Vec<Script> {
    let mut all = vec![
        script("git checkout", REPOSITORY, "git checkout -q other && git status --short"),
        script("git mv of a folder", REPOSITORY, "git mv src renamed && git status --short"),
        script("git commit", REPOSITORY, "echo more >> src/one.txt && git commit -qam more && git log --oneline"),
        script(
            "git stash",
            REPOSITORY,
            "echo more >> src/one.txt && git stash -q && git stash list && git stash pop -q",
        ),
        script("git branch, tag, merge", REPOSITORY, "git branch topic && git tag v1 && git merge -q other"),
        script("git gc", REPOSITORY, "git gc -q && git fsck"),
        script("git rebase", REPOSITORY, "git checkout -q other && git rebase -q main && git reset -q --hard main"),
        script("git init", "echo a > a", "git init -q . && git add a"),
        script("sed", FILES, "sed -i s/b/B/ src/a/b/*.txt"),
        script("rm -r", FILES, "rm -r src docs"),
        script("rm of everything", FILES, "rm -rf ./* && ls -A"),
        script(
            "another folder at the place of one that was removed",
            FILES,
            "rm -r docs src/a; mkdir -p h/x; echo new > h/x/y; mv h docs; mkdir src/new; echo 1 > src/new/1.txt; mv src/new src/a",
        ),
        script(
            "another folder at the place of one that was changed and emptied",
            FILES,
            "chmod 711 docs; rm docs/d.md; mkdir h; echo new > h/n; mv -T h docs; mkdir e; echo e > e/e; chmod 750 empty; mv -T e empty",
        ),
        script(
            "a folder that cannot replace a full one",
            FILES,
            "mkdir h; echo new > h/n; mv -T h docs 2>/dev/null || mv -T h src 2>/dev/null || echo more >> docs/d.md",
        ),
        script("mv of a folder", FILES, "mv src moved && mv docs moved/docs && mv moved/a ."),
        script(
            "mv of a folder into a new one",
            FILES,
            "mkdir new && mv src docs empty new && echo x >> new/src/a/1.txt",
        ),
        script(
            "chmod",
            FILES,
            "chmod 600 src/a/1.txt && chmod +x src/a/2.txt && chmod 555 docs && chmod -R o-rwx src/a/b",
        ),
        script(
            "links",
            FILES,
            "ln -sf docs/d.md link && ln -s src new-link && rm dangling && ln src/a/2.txt second-name && ln -s /etc/passwd far",
        ),
        script(
            "kinds",
            FILES,
            "rm link && echo file > link && rm -r docs && echo file > docs && rm src/a/1.txt && mkdir src/a/1.txt && echo x > src/a/1.txt/x && rm dangling && mkdir dangling && ln -s a src/a/3.txt.new && mv src/a/3.txt.new src/a/3.txt",
        ),
        script(
            "code that makes code",
            FILES,
            "for d in a b c; do mkdir -p gen/$d/$d; for n in $(seq 100); do echo \"fn f$n() {}\" > gen/$d/$d/$n.rs; done; done",
        ),
        script(
            "a formatter over 1,000 files",
            "mkdir f; for n in $(seq 1000); do printf 'a  b\\nc\\n' > f/$n.txt; done",
            "sed -i 's/  / /' f/*.txt",
        ),
        script(
            "appending to something large",
            "head -c 5000000 /dev/urandom > large; echo small > small",
            "echo end >> large && truncate -s 3 small && : > small2",
        ),
        script(
            "odd names",
            "printf x > $'new\\nline'; printf y > $'bad\\xff'; printf z > -dash; mkdir $'d\\n'; printf w > $'d\\n/in'; printf u > ünïcode",
            "printf X > $'new\\nline'; rm $'bad\\xff'; mv ./-dash ./--dash; rm -r $'d\\n'; printf Y > $'bad2\\xfe'; printf U > 'ünïcode'; printf q > 'a b \"c\"'",
        ),
        script(
            "empty folders and files",
            "mkdir -p a/b/c d; : > e",
            "rmdir -p a/b/c d && mkdir -p x/y/z && rm e && : > f",
        ),
        script("an archive", FILES, "tar cf a.tar src && rm -r src && tar xf a.tar && tar xf a.tar -C docs"),
        script(
            "replacing what is read-only",
            "echo a > a; chmod 444 a; mkdir r; echo b > r/b; chmod 555 r",
            "chmod 755 r && echo new > r/b && rm -f a && echo c > r/c",
        ),
        Script {
            status: "ok",
            ..script(
                "failing in the middle",
                FILES,
                "set -e; echo new > docs/d.md; rm src/a/1.txt; false; echo never > never",
            )
        },
        Script {
            status: "timed_out",
            seconds: 1.0,
            ..script("killed by its time", FILES, "echo new > docs/d.md; rm -r src; exec sleep 100")
        },
        Script { changes: false, ..script("nothing at all", FILES, "cat src/a/1.txt; ls -R > /dev/null; true") },
        Script {
            changes: false,
            ..script(
                "to and fro",
                FILES,
                "touch src/a/1.txt; chmod 644 docs/d.md; mv docs d2 && mv d2 docs; cp src/a/2.txt t && mv t src/a/2.txt; exec 3<>docs/d.md; echo x > n; rm n; mkdir m; rmdir m",
            )
        },
    ];
    all.push(script("folders that change places", FILES, "mv src tmp && mv docs src && mv tmp docs"));
    all.push(script(
        "what is closed",
        FILES,
        // The bit of the group is refused for the group of root, and there the folder stays as it is.
        "mkdir closed; echo x > closed/a; chmod 0 closed/a; chmod 500 closed; mkdir -m 0 shut; chmod 2755 docs; true",
    ));
    all.push(script("holes", FILES, "truncate -s 3M hole; dd if=/dev/zero of=zeros bs=1M count=3 status=none"));
    all.push(script(
        "ten thousand lines in a hundred files",
        "mkdir l; for n in $(seq 100); do seq 100 > l/$n; done",
        "for f in l/*; do sed -i 's/^5.*/five/' $f; done; rm l/1 l/2; cat l/3 > l/new",
    ));
    all
}

/// Commands that would make others run something; what they say is fine begins with `ok` or `g2`.
pub(crate) const PLANTED: [(&str, &str); 10] = [
    ("a shell's settings", "echo config > sub/.envrc; echo config > .bashrc"),
    ("a hook", "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; echo fine > ok"),
    ("a hook in a new repository", "mkdir -p sub/.git/hooks; echo x > sub/.git/hooks/pre-commit"),
    ("a hook in other letters", "mkdir -p sub/.GIT/Hooks; echo x > sub/.GIT/Hooks/pre-commit"),
    (
        "settings of git",
        "git config core.pager 'touch ok'; echo '[core]' >> .git/config; printf x > .git/config; echo fine > ok",
    ),
    ("a hook by rename", "echo x > ok; mv ok .git/hooks/pre-commit"),
    ("a hook by a link", "ln -s .git/hooks l; echo x > l/pre-commit; rm -f l"),
    ("a moved folder of git", "mv .git g2; echo x > g2/hooks/pre-commit; mv g2 .git"),
    (
        "a folder of hooks that is replaced",
        "rm -rf .git/hooks; mkdir h; echo x > h/pre-commit; mv h .git/hooks; rm -rf h",
    ),
    ("an editor's tasks", "echo '{\"tasks\":1}' > .vscode/tasks.json"),
];
