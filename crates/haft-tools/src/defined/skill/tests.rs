use std::sync::Mutex;

use super::*;
use crate::defined::definition::check_skill;

/// A folder of skill files that exist only in memory.
#[derive(Default)]
struct MemorySkillFolder {
    files: Vec<(&'static str, &'static str)>,
    refused: Mutex<Option<&'static str>>,
}

impl SkillFolder for MemorySkillFolder {
    fn check(&self) -> Result<(), ToolError> {
        match *self.refused.lock().expect("nothing panics") {
            Some(why) => Err(ToolError::of(ErrorKind::Denied, why)),
            None => Ok(()),
        }
    }

    fn list(&self) -> Result<Vec<SkillEntry>, ToolError> {
        let entry = |(name, _): &(&str, &str)| SkillEntry { name: (*name).to_owned(), is_executable: false };
        Ok(self.files.iter().map(entry).collect())
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, ToolError> {
        let found = self.files.iter().find(|(known, _)| *known == name);
        Ok(found.map(|(_, text)| text.as_bytes().to_vec()).unwrap_or_default())
    }

    fn gated(&self, script: Arc<dyn AnyTool>) -> Result<Arc<dyn AnyTool>, ToolError> {
        Ok(script)
    }
}

fn skill(name: &str, description: &str) -> LoadedSkill {
    let text = format!("---\nname: {name}\ndescription: {description}\n---\nDo it.");
    let file = check_skill(&text, name).skill.expect("nothing is wrong with it");
    let files = vec![("notes.md", "A note.\u{202e}"), ("scripts/go.py", "print(1)")];
    let files = Arc::new(MemorySkillFolder { files, refused: Mutex::default() });
    LoadedSkill { file, place: format!(".haft/skills/{name}"), files, home: DefinitionOrigin::new("/skills", "/work") }
}

fn of(skills: impl IntoIterator<Item = LoadedSkill>) -> Skill {
    Skill::of(skills.into_iter().collect(), Vec::new()).expect("there are skills")
}

#[test]
fn without_skills_there_is_no_tool() {
    assert!(Skill::of(Vec::new(), Vec::new()).is_none());
}

#[test]
fn the_words_of_the_tool_list_each_skill_in_one_line() {
    let words = of([skill("forms", "Fills in forms."), skill("notes", "Takes notes.")]).manual().words;
    assert!(words.ends_with("it is for.\n- forms: Fills in forms.\n- notes: Takes notes."), "{words}");
}

#[test]
fn the_list_has_a_bound_however_many_skills_there_are() {
    let long = "word ".repeat(200);
    for count in [1, 5, 40, 400] {
        let skills = of((0..count).map(|number| skill(&format!("skill-{number}"), &long)));
        let words = skills.listed();
        assert!(words.len() <= MOST_LISTED + 60, "{count}: {}", words.len());
        assert_eq!(words.contains(" more: call this tool without arguments"), count >= 40, "{count}: {words}");
        assert_eq!(skills.all().for_model[0].text().expect("it is text").lines().count(), count);
    }
}

#[test]
fn a_skill_that_a_model_must_not_start_by_itself_is_not_listed_and_can_be_loaded() {
    let mut hidden = skill("forms", "Fills in forms.");
    hidden.file.is_unlisted = true;
    let skills = of([hidden, skill("notes", "Takes notes.")]);
    assert!(!skills.listed().contains("forms"));
    assert!(skills.find("forms").is_ok());
}

#[test]
fn the_instructions_name_the_files_and_say_what_scripts_may_do() {
    let output = skill("forms", "Fills in forms.").instructions().expect("it can be read");
    let text = output.for_model[0].text().expect("it is text").to_owned();
    let expected = "Do it.\n\n[Skill \"forms\" from .haft/skills/forms]\n\
        [Its files: notes.md. To read one, call \"skill\" with {\"name\":\"forms\",\"file\":\"notes.md\"}]\n\
        [Its scripts: scripts/go.py. To run one in the workspace, call \"skill\" with \
        {\"name\":\"forms\",\"run\":\"scripts/go.py\",\"arguments\":[]}. They declare no effects, so haft judges each run as an unknown program.]";
    assert_eq!(text, expected);
}

#[test]
fn a_file_is_found_by_its_path_from_the_skill_or_from_the_workspace_and_shows_all_of_itself() {
    let forms = skill("forms", "Fills in forms.");
    for path in ["notes.md", "./notes.md", ".haft/skills/forms/notes.md"] {
        let output = forms.text_of(path).expect("it is there");
        assert_eq!(output.for_model[0].text(), Some("A note.\\u{202e}"), "{path}");
    }
    let error = forms.text_of("note.md").expect_err("there is none");
    assert_eq!(
        (error.what.as_str(), error.next.to_string().as_str()),
        ("The skill \"forms\" has no file note.md.", "use notes.md")
    );
}

#[test]
fn a_skill_that_does_not_count_any_more_gives_nothing() {
    let mut forms = skill("forms", "Fills in forms.");
    forms.files =
        Arc::new(MemorySkillFolder { refused: Mutex::new(Some("It changed.")), ..MemorySkillFolder::default() });
    assert!(forms.instructions().is_err() && forms.text_of("notes.md").is_err());
}

#[test]
fn an_unknown_skill_is_told_with_the_one_that_was_meant() {
    let error = of([skill("pdf-forms", "Fills in forms.")]).find("pdf-form").err().expect("there is none");
    assert_eq!(error.what, "There is no skill \"pdf-form\".");
    assert_eq!(error.next.to_string(), "load \"pdf-forms\"");
}
