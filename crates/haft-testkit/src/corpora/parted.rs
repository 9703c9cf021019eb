//! A tool that runs commands with declared parts, to test the handling of parts alone.

use std::sync::Arc;
use std::time::Duration;

use haft_contract::doors::process::CommandSpec;
use haft_contract::effect::{CommandStep, StepEffect};
use haft_contract::prelude::*;

/// Runs a command; plans each of its parts as a step that does what this function returns for it.
pub struct PartedTool(pub fn(&str) -> StepEffect);

/// The arguments of [`PartedTool`].
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartedArgs {
    /// The command. Its parts are separated by `; `.
    command: String,
}

impl Tool for PartedTool {
    const NAME: &'static str = "parted";
    type Args = PartedArgs;
    type Draft = ();

    fn manual(&self) -> Manual {
        Manual::plain(Self::NAME, "Runs a command in parts.")
    }

    async fn plan(&self, args: &PartedArgs, _cx: &PlanContext<'_>) -> Result<(Plan, ()), ToolError> {
        let command: Arc<str> = args.command.as_str().into();
        let mut effects = vec![Effect::Run(CommandLine(args.command.clone()))];
        let mut from = 0;
        for part in args.command.split("; ") {
            let words = part.split(' ').map(str::to_owned).collect();
            let place = (from, from + part.len());
            let (command, folder) = (command.clone(), "".into());
            effects.push(Effect::Step(CommandStep { command, folder, part: place, words, does: (self.0)(part) }));
            from += part.len() + 2;
        }
        Ok((Plan::new(effects).preview(Preview::Command(args.command.clone())), ()))
    }

    async fn run(&self, args: PartedArgs, _draft: (), cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let command = CommandSpec::new(vec!["sh".into()], args.command.as_str(), "/".into(), Duration::from_secs(1));
        cx.run(&command, &|_, _| {}).await?;
        Ok(ToolOutput::text(format!("ran {}", args.command)))
    }
}
