//! What a program that uses the crate is told: by errors, notices and results. This one never calls `sandbox_launcher`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use haft::agent::{AgentEndReason, Message};
use haft::prelude::*;
use haft::{Agent, AgentBuilder, CancellationToken, HistoryError, MockModel, Notices, Toolbox, ToolboxBuilder};
use haft_testkit::require::Need;
use serde_json::json;
use tempfile::TempDir;

/// Tells the weather of a city today.
#[haft::tool]
async fn weather(
    /// The city.
    city: String,
) -> Result<String, ToolError> {
    Ok(format!("{city}: 4 °C, rain"))
}

/// A folder to work in, with a state folder beside it.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().expect("there is room"));
        std::fs::create_dir_all(place.workspace()).expect("a folder can be made");
        place
    }

    fn workspace(&self) -> PathBuf {
        self.0.path().join("ws")
    }

    fn of(&self, toolbox: ToolboxBuilder) -> ToolboxBuilder {
        toolbox.folder(self.workspace()).state_folder(self.0.path().join("state"))
    }

    fn toolbox(&self) -> Toolbox {
        self.of(Toolbox::builder()).build().expect("the folder exists")
    }

    /// An agent without haft's own tools.
    fn agent(&self, model: impl Into<haft::Model>) -> AgentBuilder {
        Agent::builder().model(model).configure(|toolbox| self.of(toolbox)).instructions("Tell the weather.")
    }

    /// Makes the folder a repository with a commit.
    fn commit(&self) {
        let git = |words: &[&str]| {
            let mut command = Command::new("git");
            command.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(words);
            let output = command.current_dir(self.workspace()).env("HOME", self.0.path()).output().expect("git starts");
            assert!(output.status.success(), "{output:?}");
        };
        std::fs::write(self.workspace().join("a.txt"), "a\n").expect("it can be written");
        git(&["init", "-q"]);
        git(&["add", "."]);
        git(&["commit", "-qm", "a"]);
    }
}

/// Keeps what the program is told.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Notices for Heard {
    fn note(&self, text: &str) {
        self.0.lock().expect("no test panics with it").push(text.to_owned());
    }
}

fn refused(agent: AgentBuilder) -> String {
    agent.build().err().expect("it is refused").to_string()
}

#[test]
fn a_tool_beside_an_opened_toolbox_is_an_error_in_either_order() {
    let place = Place::new();
    let agent = || Agent::builder().model(MockModel::new());
    for agent in [agent().tool(Weather).toolbox(place.toolbox()), agent().toolbox(place.toolbox()).tool(Weather)] {
        let error = refused(agent);
        assert!(error.contains("\"weather\"") && error.contains("Toolbox::builder().tool("), "{error}");
    }
}

#[test]
fn a_configuration_beside_an_opened_toolbox_is_an_error() {
    let place = Place::new();
    let error = refused(place.agent(MockModel::new()).toolbox(place.toolbox()));
    assert!(error.contains("configure(…)") && error.contains("Toolbox::builder()"), "{error}");
}

#[tokio::test]
async fn a_result_says_nothing_of_git_where_no_command_can_run() {
    if !Need::Git.met(Command::new("git").arg("--version").output().is_ok_and(|said| said.status.success())) {
        return;
    }
    let place = Place::new();
    place.commit();
    let model = Arc::new(MockModel::new().calls("weather", json!({ "city": "Oslo" })).says("Take a coat."));
    let agent = place.agent(model.clone()).tool(Weather).build().expect("the folder exists");
    agent.ask("Do I need a coat?").await.expect("the script has all replies");
    let requests = model.requests();
    let Some(Message::Tools { answers }) = requests[1].messages.last() else { panic!("{requests:?}") };
    assert_eq!(answers[0].text, "Oslo: 4 °C, rain");
}

#[tokio::test]
async fn a_program_with_haft_s_tools_and_no_launcher_is_told_the_line_to_add() {
    let place = Place::new();
    let heard = Heard::default();
    let toolbox = place.of(Toolbox::builder()).yes_to_ordinary().notices(heard.clone()).build().expect("it exists");
    let told = heard.0.lock().expect("no test panics with it").join("\n");
    assert!(told.contains("haft::sandbox_launcher()") && told.contains("as the first line of main"), "{told}");

    let result = toolbox.call("bash", json!({ "command": "ls" })).await.text();
    assert!(result.contains("haft::sandbox_launcher()"), "{result}");
    assert!(!result.contains("haft_sandbox"), "{result}");
}

#[test]
fn a_program_whose_tools_run_no_command_is_not_told_of_the_launcher() {
    let place = Place::new();
    let heard = Heard::default();
    let agent = place.agent(MockModel::new()).configure(|toolbox| toolbox.notices(heard.clone())).tool(Weather).build();
    assert!(agent.is_ok());
    assert_eq!(*heard.0.lock().expect("no test panics with it"), Vec::<String>::new());
}

#[test]
fn a_missing_folder_is_named_and_no_flag() {
    let place = Place::new();
    let missing = place.workspace().join("missing");
    let check = |toolbox: ToolboxBuilder, missing: &Path| {
        let error = toolbox.build().err().expect("it does not exist");
        let words = error.to_string();
        assert!(words.starts_with(&format!("the folder {} cannot be opened", missing.display())), "{words}");
        assert!(!words.contains(" -C") && !words.contains("--add-dir"), "{words}");
        assert_eq!(format!("{error:?}"), words);
    };
    check(place.of(Toolbox::builder()).folder(&missing), &missing);
    check(place.of(Toolbox::builder()).also(&missing), &missing);
}

#[tokio::test]
async fn a_script_that_is_used_up_says_so_also_where_main_returns_the_error() {
    let place = Place::new();
    let model = MockModel::new().calls("weather", json!({ "city": "Oslo" }));
    let agent = place.agent(model).tool(Weather).build().expect("the folder exists");
    let unfinished = agent.ask("Do I need a coat?").await.expect_err("the script is too short");
    let words = "The script of the MockModel has no reply left (2 requests). Next: add a reply to the script with says or calls.";
    assert_eq!((unfinished.to_string().as_str(), format!("{unfinished:?}").as_str()), (words, words));
}

#[tokio::test]
async fn a_cancelled_run_is_stopped_and_the_conversation_goes_on() {
    let place = Place::new();
    let agent = place.agent(MockModel::new().says("Hello.").says("Hello again.")).build().expect("the folder exists");
    let token = CancellationToken::new();
    token.cancel();
    let unfinished = agent.ask_until("Hi", &token).await.expect_err("it was cancelled");
    assert_eq!(unfinished.ended, AgentEndReason::Stopped);
    assert!(agent.ask("Hi").await.is_ok());
}

#[test]
fn undo_without_a_change_set_says_that_nothing_is_left() {
    assert!(matches!(Place::new().toolbox().undo(), Err(HistoryError::NothingLeft)));
}

#[test]
fn instructions_beside_the_coding_prompt_are_an_error_in_either_order() {
    let place = Place::new();
    let first = place.agent(MockModel::new()).instructions("Be brief.").coding_prompt().build();
    let last = place.agent(MockModel::new()).coding_prompt().instructions("Be brief.").build();
    for built in [first, last] {
        let words = built.err().expect("only one can come first").to_string();
        assert_eq!(words, "an agent has instructions(…) or coding_prompt(), not both; remove one of them");
    }
}
