//! Tests that no command, undo or redo leaves a folder that git takes for a repository with settings that run programs.

use crate::history::{HistoryError, JudgedPlaces, UndoMode, UndoRequest};

use super::*;

const EVIL: &str = "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = evil\n";
const PLAIN: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n";
const HEAD: &str = "ref: refs/heads/main\n";
/// Folders that no name protects; the last two lie in trees that are committed by rename.
const FOLDERS: [&str; 7] = ["docs", ".git/lfs/x", ".git/x", "sub/.git/x", ".hg", "target/x", "build"];
const WORKSPACE: [(&str, &str); 3] =
    [(".gitignore", "target/\nbuild/\n"), (".git/HEAD", HEAD), ("target/other", "built")];

/// The parts of a repository, each with its content.
const PARTS: [(&str, &str); 4] = [("HEAD", HEAD), ("objects/a", ""), ("refs/a", ""), ("config", EVIL)];

impl LayerFixture {
    fn is_planted(&self, folder: &str) -> bool {
        PARTS.iter().all(|(part, _)| self.has(&format!("{folder}/{}", part.split('/').next().unwrap_or(part))))
    }

    fn history(&self) -> WorkspaceHistory {
        WorkspaceHistory::new(self.root.clone(), self.state.journal())
    }

    /// Lets a command work in a call of its own.
    fn call(&mut self, command: impl FnOnce(&Upper)) {
        self.receipts = Receipts::default();
        self.run(command);
    }

    fn undo_number(&self, number: u64) -> Result<(), HistoryError> {
        self.history().undo(UndoSelection::Number(number), None).map(drop)
    }

    fn refuses_undo(&self, number: u64) {
        let before = self.tree();
        for mode in [UndoMode::Plan, UndoMode::Commit] {
            let request = UndoRequest { mode, ..UndoRequest::all(UndoSelection::Number(number)) };
            let refused = self.history().request(&request);
            assert!(matches!(refused, Err(HistoryError::Plants { .. })), "{refused:?}");
        }
        assert_eq!(self.tree(), before);
    }
}

/// Returns which command brings which part: every assignment of the parts to commands.
fn assignments() -> impl Iterator<Item = Vec<usize>> {
    let commands = PARTS.len();
    let all = commands.pow(u32::try_from(PARTS.len()).expect("there are few"));
    (0..all).map(move |number| (0..PARTS.len()).map(|part| number / commands.pow(part as u32) % commands).collect())
}

#[test]
fn commands_plant_no_repository_in_any_number_of_steps() {
    for folder in FOLDERS {
        for assignment in assignments().step_by(11) {
            let scene = LayerFixture::new(&WORKSPACE);
            for command in 0..PARTS.len() {
                let parts = PARTS.iter().zip(&assignment).filter(|(_, of)| **of == command).map(|(part, _)| part);
                scene.run(|upper| parts.for_each(|(part, content)| upper.write(&format!("{folder}/{part}"), content)));
            }
            assert!(!scene.is_planted(folder), "{folder} {assignment:?}");
        }
    }
}

#[test]
fn a_link_that_is_a_part_of_a_repository_counts_as_what_it_leads_to() {
    for folder in ["docs", ".git/lfs/x", "target/x"] {
        for linked in ["HEAD", "objects", "refs", "config"] {
            let scene = LayerFixture::new(&WORKSPACE);
            let part = |(part, content): &(&str, &str), upper: &Upper| match part.split('/').next() {
                Some(name) if name == linked => upper.link(&format!("{folder}/{name}"), "/elsewhere"),
                _ => upper.write(&format!("{folder}/{part}"), content),
            };
            for one in PARTS.iter().rev() {
                scene.run(|upper| part(one, upper));
            }
            assert!(!scene.is_planted(folder), "{folder}, {linked} is a link");
        }
    }
}

#[test]
fn a_head_that_becomes_valid_completes_a_repository() {
    let broken = [("docs/HEAD", "broken"), ("docs/objects/a", ""), ("docs/refs/a", ""), ("docs/config", EVIL)];
    let scene = LayerFixture::new(&broken);
    let settled = scene.run(|upper| upper.write("docs/HEAD", HEAD));
    assert_eq!(scene.content("docs/HEAD"), "broken");
    assert!(settled.notes[0].contains("git would treat its folder as a repository"), "{:?}", settled.notes);
}

#[test]
fn a_repository_without_programs_comes_in_and_goes_and_comes_again() {
    for folder in ["docs", "target/x"] {
        let scene = LayerFixture::new(&WORKSPACE);
        let beginning = scene.tree();
        let settled = scene.run(|upper| {
            PARTS[..3].iter().for_each(|(part, content)| upper.write(&format!("{folder}/{part}"), content));
            upper.write(&format!("{folder}/config"), PLAIN);
        });
        assert!(scene.is_planted(folder) && settled.notes.is_empty(), "{folder}: {:?}", settled.notes);
        let made = scene.tree();
        scene.undo();
        assert_eq!(scene.tree(), beginning);
        scene.history().redo().expect("it was there as a whole");
        assert_eq!(scene.tree(), made);
    }
}

#[test]
fn a_repository_that_was_there_as_a_whole_comes_back_with_its_hooks() {
    for folder in ["docs", "target/x"] {
        let scene = LayerFixture::new(&WORKSPACE);
        PARTS.iter().for_each(|(part, content)| scene.write(&format!("{folder}/{part}"), content));
        let beginning = scene.tree();
        // A command removes the data; what names programs stays.
        scene.run(|upper| ["HEAD", "objects", "refs"].iter().for_each(|part| upper.gone(&format!("{folder}/{part}"))));
        assert!(!scene.is_planted(folder));
        scene.undo();
        assert_eq!(scene.tree(), beginning, "{folder}");
    }
}

#[test]
fn an_undo_that_completes_a_repository_is_refused_and_changes_nothing() {
    for folder in FOLDERS {
        let mut scene = LayerFixture::new(&WORKSPACE);
        let path = |part: &str| format!("{folder}/{part}");
        scene.call(|upper| PARTS[..3].iter().for_each(|(part, content)| upper.write(&path(part), content)));
        // First what makes it a repository goes, then the settings come.
        scene.call(|upper| ["HEAD", "objects"].iter().for_each(|part| upper.gone(&path(part))));
        scene.call(|upper| upper.write(&path("config"), EVIL));
        assert!(scene.has(&path("config")), "{folder}");
        scene.refuses_undo(2);
        scene.undo_number(3).expect("it is the newest");
        scene.undo_number(2).expect("the settings are gone");
        assert!(scene.has(&path("HEAD")) && !scene.has(&path("config")), "{folder}");
        scene.refuses_undo(4);
        assert!(!scene.is_planted(folder), "{folder}");
    }
}

#[test]
fn a_folder_that_returns_into_a_new_one_completes_no_repository() {
    for folder in ["docs", "target/x", "build"] {
        let mut scene = LayerFixture::new(&WORKSPACE);
        let path = |part: &str| format!("{folder}/{part}");
        scene.call(|upper| PARTS[..3].iter().for_each(|(part, content)| upper.write(&path(part), content)));
        scene.call(|upper| upper.gone(folder));
        scene.call(|upper| upper.write(&path("config"), EVIL));
        assert!(scene.has(&path("config")) && !scene.has(&path("HEAD")), "{folder}");
        scene.refuses_undo(2);
    }
}

#[test]
fn two_commands_that_end_at_the_same_moment_complete_no_repository() {
    for folder in ["docs", ".git/lfs/x", "target/x"] {
        for (last, _) in PARTS {
            let scene = LayerFixture::new(&WORKSPACE);
            let (ground, other) = (scene.ground(), scene.ground());
            for (part, content) in PARTS {
                let upper = Upper(upper_of(if part == last { &other } else { &ground }));
                upper.write(&format!("{folder}/{part}"), content);
            }
            let (first, second) = (scene.open(&ground).expect("it is open"), scene.open(&other).expect("it is open"));
            let (judged, other) = (first.judged().expect("it is read"), second.judged().expect("it is read"));
            first.keep_judged(judged).expect("it comes in");
            let settled = second.keep_judged(other);
            assert!(!scene.is_planted(folder), "{folder}, {last} last: {settled:?}");
        }
    }
}

/// What a call wrote, and what a person did after it was undone.
type Meanwhile<'a> = (&'static str, &'a dyn Fn(&LayerFixture));

impl LayerFixture {
    /// Undoes a change set of the session as a call of the tool `undo` does.
    fn undo_as_model(&self, number: u64) -> Result<(), HistoryError> {
        let judged = JudgedPlaces::NamedPaths;
        self.history().request(&UndoRequest { judged, ..UndoRequest::all(UndoSelection::Number(number)) }).map(drop)
    }
}

fn is_protected(refused: &Result<(), HistoryError>) -> bool {
    matches!(refused, Err(HistoryError::Plants { .. } | HistoryError::Followed { .. }))
}

#[test]
fn nothing_unjudged_is_written_to_a_place_that_a_person_made_a_protected_one_meanwhile() {
    let repository = |folder: &'static str| {
        move |scene: &LayerFixture| {
            PARTS.iter().for_each(|(part, content)| scene.write(&format!("{folder}/{part}"), content))
        }
    };
    let settings = |text: &'static str| move |scene: &LayerFixture| scene.write(".git/config", text);
    let link = |to: &'static str| {
        move |scene: &LayerFixture| {
            fs::create_dir_all(scene.workspace().join(to)).expect("it can be made");
            symlink(to, scene.workspace().join(".vscode")).expect("the name is free");
        }
    };
    let meanwhile: [Meanwhile<'_>; 9] = [
        ("docs/hooks/post-checkout", &repository("docs")),
        ("docs/config.worktree", &repository("docs")),
        ("tools/pre-commit", &settings("[core]\n\thooksPath = tools\n")),
        ("tools/pre-commit", &settings("[include]\n\tpath = ../tools/pre-commit\n")),
        ("tools/tasks.json", &link("tools")),
        ("target/x/hooks/post-checkout", &repository("target/x")),
        ("target/h/pre-commit", &settings("[core]\n\thooksPath = target/h\n")),
        ("target/a/h/pre-commit", &settings("[core]\n\thooksPath = target/a/h\n")),
        ("target/c/tasks.json", &link("target/c")),
    ];
    let git = [(".git/objects/a", ""), (".git/refs/a", ""), ("tools/other", "")];
    for (path, changed) in meanwhile {
        let scene = LayerFixture::new(&[&WORKSPACE[..], &git].concat());
        scene.run(|upper| upper.write(path, "evil"));
        scene.undo();
        changed(&scene);
        let before = scene.tree();
        for mode in [UndoMode::Plan, UndoMode::Commit] {
            let request = UndoRequest { mode, ..UndoRequest::all(UndoSelection::LastUndo) };
            let refused = scene.history().request(&request).map(drop);
            assert!(is_protected(&refused), "{path}: {refused:?}");
        }
        // By its number the undo is a change set like any other.
        let refused = scene.undo_number(2);
        assert!(is_protected(&refused), "{path}: {refused:?}");
        if path.starts_with("target/") {
            let refused = scene.undo_as_model(2);
            assert!(is_protected(&refused), "{path}: {refused:?}");
        }
        assert_eq!(scene.tree(), before);
    }
}

#[test]
fn the_undo_of_a_person_says_which_restored_files_git_runs_in_a_repository_that_was_made_meanwhile() {
    let cases = [
        ("docs/config", true),
        ("docs/hooks/post-checkout", true),
        ("docs/info/attributes", true),
        ("docs/notes", false),
    ];
    for (path, is_noted) in cases {
        let scene = LayerFixture::new(&[&WORKSPACE[..], &[(path, EVIL)]].concat());
        scene.run(|upper| upper.write(path, "harmless\n"));
        for (part, content) in &PARTS[..3] {
            scene.write(&format!("docs/{part}"), content);
        }
        for mode in [UndoMode::Plan, UndoMode::Commit] {
            let request = UndoRequest { mode, ..UndoRequest::all(UndoSelection::Number(1)) };
            let taken_back = scene.history().request(&request).expect("a person may undo it");
            let notes = taken_back.notes.join("\n");
            assert_eq!(notes.contains("docs is a git repository now"), is_noted, "{path}: {notes}");
        }
    }
}

#[test]
fn a_model_restores_no_build_folder_into_a_place_that_became_protected_and_a_person_does() {
    let scene = LayerFixture::new(&[&WORKSPACE[..], &[("target/c/tasks.json", "mine")]].concat());
    scene.run(|upper| upper.gone("target"));
    fs::create_dir_all(scene.workspace().join("target/c")).expect("it can be made");
    symlink("target/c", scene.workspace().join(".vscode")).expect("the name is free");
    let refused = scene.undo_as_model(1);
    assert!(is_protected(&refused), "{refused:?}");
    assert!(!scene.has("target/c/tasks.json"));
    scene.undo();
    assert_eq!(scene.content("target/c/tasks.json"), "mine");
}
