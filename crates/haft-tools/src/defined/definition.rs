//! Reads definition files: YAML that describes a tool and names the program or function that does its work.
//!
//! The format is that of NexAU's guide, plus optional keys of haft. The input is texts and values. The output is a
//! definition, or all errors in it, each with its line and the fix.
//!
//! Not here: finding and trusting files, and calling the bound program. The caller passes the environment as a function.

mod binding;
mod check;
mod effects;
mod function_form;
mod http;
mod listed;
mod presets;
mod schema;
mod skill_file;
mod syntax;

#[cfg(test)]
mod tests;

pub use binding::{Binding, FunctionName};
pub use check::{CheckedDefinition, check, nearest_fit};
pub use effects::DeclaredEffect;
pub use http::HttpCall;
pub use listed::{CheckedList, ToolListEntry, check_list, is_list};
pub use presets::Presets;
pub(crate) use skill_file::script_schema;
pub use skill_file::{CheckedSkill, SkillFile, check_skill};
pub use syntax::placeholders::Environment;
pub use syntax::problem::DefinitionProblem;
pub use syntax::template::PathTemplate;

use std::sync::Arc;
use std::time::Duration;

use haft_contract::description::manual::{Example, Manual};
use haft_contract::description::spec::{AtMost, Spec};
use serde_json::Value;

/// How long results are kept where a definition says nothing.
const KEPT_FOR: Duration = Duration::from_secs(60 * 60);

/// A tool as a definition file describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The name that calls use.
    pub name: String,
    /// What people call the tool; made from the name where nothing is said.
    pub title: Option<String>,
    /// What the model reads. Without it, a Python function's own words are shown.
    pub description: Option<String>,
    /// What the model reads instead where the tool is a skill.
    pub skill_description: Option<String>,
    /// Whether results are kept and given again.
    pub use_cache: bool,
    /// Whether only one call of it may run at a time.
    pub disable_parallel: bool,
    /// Whether nothing of it is loaded before its first call.
    pub lazy: bool,
    /// The schema of the arguments; its root is an object.
    pub input_schema: Value,
    /// What does the work. A list of tools may name it instead.
    pub binding: Option<Binding>,
    /// How long a call may take.
    pub timeout: Option<Duration>,
    /// How long results are kept, where they are.
    pub cache_ttl: Option<Duration>,
    /// What the tool touches: nothing if the list is empty; unknown if there is no list.
    pub effects: Option<Vec<DeclaredEffect>>,
    /// The schema of what it returns.
    pub output_schema: Option<Value>,
    /// Arguments that callers may set although a preset of the tool comes from the environment.
    pub overridable: Vec<String>,
    /// Calls that work, which are shown and can be tried.
    pub examples: Vec<Example>,
    /// The hash of the text.
    pub version: String,
}

impl Definition {
    /// Reads the text of a definition file.
    ///
    /// ```
    /// use haft_tools::defined::definition::Definition;
    ///
    /// let definition = Definition::from_yaml("
    /// name: greet
    /// description: Greets a person.
    /// binding: hello:greet
    /// input_schema:
    ///   type: object
    ///   properties:
    ///     name: {type: string, description: Who is greeted.}
    ///   required: [name]
    /// ").expect("nothing is wrong with it");
    /// assert_eq!(definition.name, "greet");
    ///
    /// let problems = Definition::from_yaml("name: t\nbinding: a:b\ndescripton: d").expect_err("it has a slip");
    /// assert_eq!(problems[0].to_string(), r#"line 3: there is no key "descripton"; did you mean "description"?"#);
    /// ```
    ///
    /// # Errors
    ///
    /// Returns everything that is wrong, warnings too. A text with warnings only is read; [`check`] tells them.
    pub fn from_yaml(text: &str) -> Result<Self, Vec<DefinitionProblem>> {
        check(text).into_result()
    }

    /// Takes a definition as a JSON value.
    ///
    /// # Errors
    ///
    /// As for [`Self::from_yaml`], without lines.
    pub fn from_value(value: Value) -> Result<Self, Vec<DefinitionProblem>> {
        check::check_value(value).into_result()
    }

    /// Describes the tool as the catalogue lists it. The words are empty where the definition has none.
    pub fn spec(&self) -> Spec {
        let mut manual = Manual::plain(&self.name, self.description.as_deref().unwrap_or_default());
        if let Some(title) = &self.title {
            manual.title.clone_from(title);
        }
        for Example { arguments, contains } in &self.examples {
            manual.words.push_str(&format!("\n\n```json\n{arguments}\n```"));
            if let Some(text) = contains {
                manual.words.push_str(&format!("\n→ {text}"));
            }
        }
        manual.examples.extend(self.examples.iter().cloned());
        Spec {
            skill: self.skill_description.clone(),
            version: self.version.clone(),
            output_schema: self.output_schema.clone().map(Arc::new),
            does: self.at_most(),
            lazy: self.lazy,
            exclusive: self.disable_parallel,
            ..Spec::new(&self.name, manual, self.input_schema.clone())
        }
    }

    /// Returns the most that its calls can do, as it declares.
    fn at_most(&self) -> AtMost {
        let one = |declared: &DeclaredEffect| match declared {
            DeclaredEffect::Read(_) => AtMost::Looks,
            DeclaredEffect::Change(_) => AtMost::Changes,
            DeclaredEffect::Connect(_) => AtMost::Anything,
        };
        match &self.effects {
            Some(declared) => declared.iter().map(one).max().unwrap_or(AtMost::Looks),
            None => AtMost::Anything,
        }
    }

    /// Returns how long a result is kept; nothing when none is.
    pub fn kept_for(&self) -> Option<Duration> {
        self.use_cache.then(|| self.cache_ttl.unwrap_or(KEPT_FOR))
    }
}
