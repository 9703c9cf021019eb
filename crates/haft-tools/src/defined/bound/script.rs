//! Runs scripts of a skill: a file beside its `SKILL.md`, with words and with text on its input.
//!
//! haft plans, confines and undoes a script like the program of a definition with these effects. If the frontmatter
//! declares no effects, they are unknown, and haft judges the script as an unknown program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_contract::BoxFuture;
use haft_contract::description::spec::Spec;
use haft_contract::doors::process::CommandSpec;
use haft_contract::prelude::*;
use haft_contract::tool::AnyTool;
use serde_json::{Map, Value, json};

use super::answer::Promise;
use super::claims::{self, Draft};
use super::command::carry_out;
use super::planned::{DefinedTool, Works};
use super::{DefinitionOrigin, ToolOwner};
use crate::defined::definition::{Definition, SkillFile, script_schema};

/// How the names of scripts end that need not be executable.
pub const INTERPRETED: [&str; 9] = ["py", "sh", "bash", "js", "mjs", "cjs", "rb", "pl", "php"];

/// One run of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptRun {
    /// The script, from the folder of its skill.
    pub script: String,
    /// Whether it may be executed itself.
    pub is_executable: bool,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The text on its input.
    pub input: String,
}

/// Returns a tool that runs a script of a skill once: its arguments are [`ScriptRun::paths`].
///
/// # Errors
///
/// Fails where nothing says which program runs the script.
pub fn script_tool(skill: &SkillFile, run: ScriptRun, home: DefinitionOrigin) -> Result<Arc<dyn AnyTool>, ToolError> {
    let interpreters = match run.is_executable {
        true => &[][..],
        false => interpreters_of(&run)?,
    };
    let definition = Definition {
        name: format!("{}/{}", skill.name, run.script),
        title: None,
        description: None,
        skill_description: None,
        use_cache: false,
        disable_parallel: false,
        lazy: false,
        input_schema: script_schema(),
        binding: None,
        timeout: skill.timeout,
        cache_ttl: None,
        effects: skill.effects.clone(),
        output_schema: None,
        overridable: Vec::new(),
        examples: Vec::new(),
        version: String::new(),
    };
    let spec = definition.spec();
    Ok(Arc::new(DefinedTool(SkillScript { spec, definition, run, interpreters, home })))
}

impl ScriptRun {
    /// Returns the arguments that `{arguments}` in an effect stands for: options are no paths.
    pub fn paths(&self) -> Value {
        let paths: Vec<&String> = self.arguments.iter().filter(|word| !word.starts_with('-')).collect();
        json!({ "arguments": paths })
    }
}

/// Returns the programs that run a script, the preferred one first.
fn interpreters_of(run: &ScriptRun) -> Result<&'static [&'static str], ToolError> {
    let ending = run.script.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending);
    match ending {
        Some("py") => Ok(&["python3", "python"]),
        Some("sh") => Ok(&["sh"]),
        Some("bash") => Ok(&["bash"]),
        Some("js" | "mjs" | "cjs") => Ok(&["node"]),
        Some("rb") => Ok(&["ruby"]),
        Some("pl") => Ok(&["perl"]),
        Some("php") => Ok(&["php"]),
        _ => {
            let what = format!("{} cannot be executed, and its name does not say which program runs it.", run.script);
            let next = Next::AskUser(format!("the user can run: chmod +x {}", run.script));
            Err(ToolError::new(ErrorKind::Unavailable, what, next))
        }
    }
}

struct SkillScript {
    spec: Spec,
    definition: Definition,
    run: ScriptRun,
    /// Programs that can run it; none where it runs by itself.
    interpreters: &'static [&'static str],
    home: DefinitionOrigin,
}

impl SkillScript {
    fn command(&self, draft: Draft, cx: &RunContext<'_>) -> Result<CommandSpec, ToolError> {
        let path = self.home.folder.join(&self.run.script);
        let mut words: Vec<OsString> = Vec::new();
        if !self.interpreters.is_empty() {
            let program = cx.find_program(self.interpreters).ok_or_else(|| {
                let what = format!("{} needs {}, which is not installed.", self.run.script, self.interpreters[0]);
                ToolError::new(ErrorKind::Unavailable, what, Next::AskUser("tell the user that it is missing".into()))
            })?;
            words.push(program.into());
        }
        words.push(path.clone().into());
        let Draft { line, folder, time, keeps, outside, inside, .. } = draft;
        let readable = self.home.readable(outside);
        // What stands in its arguments is read only where it is declared.
        let reads = self.home.reads(inside, &words);
        words.extend(self.run.arguments.iter().map(OsString::from));
        let input = self.run.input.clone().into_bytes().into();
        let (code, environment) = (self.home.code.clone(), self.environment(&path));
        Ok(CommandSpec {
            input,
            environment,
            keeps,
            readable,
            reads,
            code,
            ..CommandSpec::new(words, line, folder, time)
        })
    }

    /// Returns the variables of a script. One of the user imports what lies beside it, and nothing of the workspace.
    fn environment(&self, script: &Path) -> Vec<(OsString, OsString)> {
        let beside = script.parent().filter(|_| self.home.owner == ToolOwner::User);
        let path = beside.map(|folder| ("PYTHONPATH".into(), PathBuf::from(folder).into()));
        self.home.environment().into_iter().chain(path).collect()
    }
}

impl Works for SkillScript {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn words(&self, _: &Map<String, Value>) -> Vec<String> {
        let all = self.run.arguments.iter().map(|word| claims::shown(&Value::String(word.clone())));
        std::iter::once(self.definition.name.clone()).chain(all).collect()
    }

    fn work<'a>(
        &'a self,
        _: &'a Map<String, Value>,
        draft: Draft,
        cx: &'a RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let command = self.command(draft, cx)?;
            carry_out(&command, (&self.definition.name, &Promise::none()), cx).await
        })
    }
}
