//! Inspections: one command outside any call, which the rules can deny, listeners see, and nothing is kept of.

use haft_contract::BoxFuture;
use haft_contract::context::RunContext;
use haft_contract::doors::door::PageRequest;
use haft_contract::doors::inspection::{Inspection, Inspector};
use haft_contract::doors::process::{CommandSpec, Disposition};
use haft_contract::effect::{Change, CommandLine};
use haft_contract::files::path::{Extent, FileLocation, Target};
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;
use haft_policy::decision::{Class, Decision};
use haft_policy::policy::Policy;
use haft_policy::rule::{Pattern, Rule};
use haft_runtime::events::CallEventContent;
use haft_testkit::commands::ScriptedCommand;
use haft_testkit::scene::Scene;

/// What an inspection tries.
enum Tries {
    Its,
    AnotherCommand,
    AFile,
}

struct Looks(Tries);

impl Inspection for Looks {
    type Found = Disposition;

    fn tool(&self) -> &str {
        "bash"
    }

    fn line(&self) -> CommandLine {
        CommandLine("look".into())
    }

    fn run<'a>(&'a self, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<Disposition, ToolError>> {
        let command =
            |line: &str| CommandSpec::new(vec![line.into()], line, "/".into(), std::time::Duration::from_secs(1));
        Box::pin(async move {
            match self.0 {
                Tries::Its => Ok(cx.run(&command("look"), &|_, _| {}).await?.how),
                Tries::AnotherCommand => Ok(cx.run(&command("rm"), &|_, _| {}).await?.how),
                Tries::AFile => {
                    let request = PageRequest { first_line: 1, lines: 1, column: 1, line_length: 1 };
                    let file = Target::Inside(FileLocation::new("README.md", Extent::Entry));
                    cx.page(&file, request).await.map(|_| Disposition::Commit)
                }
            }
        })
    }
}

fn scene(command: &ScriptedCommand) -> Scene {
    Scene::sample().command(command)
}

#[tokio::test]
async fn an_inspection_keeps_nothing_and_is_told_like_a_call() {
    let scene = scene(&ScriptedCommand::default().changes("a.txt", Change::Create));
    let mut listener = scene.runtime().events().subscribe();
    let found = scene.runtime().inspect(&Looks(Tries::Its)).await.expect("no rule denies it");
    assert_eq!(found, Disposition::Discard);
    let told: Vec<String> = std::iter::from_fn(|| listener.try_next())
        .map(|event| match &event.what {
            CallEventContent::Started { tool, arguments } => format!("started {tool} {arguments}"),
            CallEventContent::StageFinished { stage, .. } => stage.code().to_owned(),
            CallEventContent::Finished(result) => format!("finished {:?}", result.did),
            other => format!("{:?}", other.kind()),
        })
        .filter(|told| told != "BitSet")
        .collect();
    assert_eq!(told, [r#"started bash {"command":"look"}"#, "authorize", "gate", "execute", "finished Nothing"]);
}

#[tokio::test]
async fn an_inspection_runs_its_one_command_and_opens_no_other_door() {
    for tries in [Tries::AnotherCommand, Tries::AFile] {
        let command = ScriptedCommand::default();
        let refused = scene(&command).runtime().inspect(&Looks(tries)).await.expect_err("it was not planned");
        assert_eq!(refused.kind, ErrorKind::Bug, "{refused}");
        assert!(command.run_so_far().is_empty());
    }
}

#[tokio::test]
async fn an_inspection_is_not_run_where_a_rule_denies_it_or_its_changes_would_stay() {
    let command = ScriptedCommand::default();
    let rule = Rule {
        name: "no commands".into(),
        matches: Pattern::Tool("bash".into()),
        decision: Decision::Deny,
        class: Class::Ordinary,
        reason: "Nobody may {}.".into(),
        instead: "do without".into(),
    };
    let denied = scene(&command).policy(Policy::default().with_rules([rule]));
    let mut listener = denied.runtime().events().subscribe();
    let error = denied.runtime().inspect(&Looks(Tries::Its)).await.expect_err("a rule denies it");
    assert_eq!((error.kind, error.rule.as_deref()), (ErrorKind::Denied, Some("no commands")));
    assert!(std::iter::from_fn(|| listener.try_next()).any(|event| matches!(event.what, CallEventContent::Failed(_))));
    let uncovered = ScriptedCommand::default().uncovered("there is no layer");
    let error = scene(&uncovered).runtime().inspect(&Looks(Tries::Its)).await.expect_err("it would change files");
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(command.run_so_far().is_empty() && uncovered.run_so_far().is_empty());
}
