//! What every tool keeps, and that the check can fail.

use std::sync::Arc;

use haft_contract::tool::{AnyTool, Typed};
use haft_testkit::conformance::problems;
use haft_testkit::tools::{Misbehave, PutTool};

#[tokio::test]
async fn every_built_in_tool_keeps_the_rules() {
    for tool in haft_tools::all() {
        let found = problems(&tool).await;
        assert!(found.is_empty(), "{}:\n{}", tool.spec().name, found.join("\n"));
    }
}

#[tokio::test]
async fn a_tool_that_breaks_the_rules_is_found() {
    let bare: Arc<dyn AnyTool> = Arc::new(Typed::new(PutTool));
    let found = problems(&bare).await.join("\n");
    assert!(found.contains("too short") && found.contains("no example"), "{found}");

    let spec = haft_contract::description::spec::Spec {
        manual: haft_contract::description::manual::Manual::read(
            "# Misbehave\n\nMisbehaves in the ways it is told, for tests.\n\n```json\n{\"how\": \"write_unplanned\"}\n```\n",
        ),
        ..Typed::new(Misbehave).spec().clone()
    };
    let dishonest: Arc<dyn AnyTool> = Arc::new(Redescribed { inner: Arc::new(Typed::new(Misbehave)), spec });
    let found = problems(&dishonest).await.join("\n");
    assert!(found.contains("fails: The tool tried to create unplanned.txt, which it had not planned"), "{found}");
}

/// A tool with other words.
struct Redescribed {
    inner: Arc<dyn AnyTool>,
    spec: haft_contract::description::spec::Spec,
}

impl AnyTool for Redescribed {
    fn spec(&self) -> &haft_contract::description::spec::Spec {
        &self.spec
    }

    fn bind(
        self: Arc<Self>,
        args: &serde_json::Value,
    ) -> Result<Box<dyn haft_contract::tool::ToolInvocation>, haft_contract::outcome::error::ToolError> {
        self.inner.clone().bind(args)
    }
}
