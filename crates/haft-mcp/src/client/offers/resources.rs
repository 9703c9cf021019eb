//! Two tools for the resources of servers: one lists them, one reads one. They exist only if a server has resources.

use std::sync::Arc;

use haft_contract::BoxFuture;
use haft_contract::context::{PlanContext, RunContext};
use haft_contract::description::manual::Manual;
use haft_contract::description::spec::Spec;
use haft_contract::effect::{Claim, Effect, RemoteClaim};
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::output::ToolOutput;
use haft_contract::plan::Plan;
use haft_contract::text::visible::visible;
use haft_contract::tool::{AnyTool, ToolInvocation};
use rmcp::model::{ReadResourceRequestParams, ServerResult};
use serde_json::{Value, json};

use super::result::{ResultOf, output_of_resource};
use crate::client::link::attended::{attended, no_such_result};
use crate::client::questions::elicitation::cut;
use crate::client::requests::{ServerListing, ServerRequest};
use crate::client::server::{RemoteRequest, RemoteResult, RemoteServer};

/// Lists the resources.
const LIST: &str = "list_mcp_resources";
/// Reads one.
const READ: &str = "read_mcp_resource";

/// Returns the tools for the resources of these servers; none if there are none.
pub(in crate::client) fn resource_tools(servers: &[Arc<RemoteServer>]) -> Vec<Arc<dyn AnyTool>> {
    if servers.is_empty() {
        return Vec::new();
    }
    let servers: Arc<[Arc<RemoteServer>]> = servers.into();
    let tool = |does: ResourceOperation| {
        Arc::new(ResourceTool { spec: spec_of(does, &servers), servers: servers.clone(), does })
    };
    vec![tool(ResourceOperation::List), tool(ResourceOperation::Read)]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResourceOperation {
    List,
    Read,
}

struct ResourceTool {
    spec: Spec,
    servers: Arc<[Arc<RemoteServer>]>,
    does: ResourceOperation,
}

fn spec_of(does: ResourceOperation, servers: &[Arc<RemoteServer>]) -> Spec {
    let names = servers.iter().map(|server| visible(&server.name).into_owned()).collect::<Vec<_>>();
    let listed = names.join(", ");
    let server = json!({ "type": "string", "description": format!("The MCP server: {listed}") });
    let (name, title, words, properties, required) = match does {
        ResourceOperation::List => {
            let contains =
                json!({ "type": "string", "description": "Only resources whose address or name contains this" });
            let words = format!(
                "Lists the resources (documents, records, files) of MCP servers, with the addresses that \"{READ}\" reads. Servers: {listed}."
            );
            (LIST, "List resources of MCP servers", words, json!({ "server": server, "contains": contains }), json!([]))
        }
        ResourceOperation::Read => {
            let uri = json!({ "type": "string", "description": format!("The address, as \"{LIST}\" shows it") });
            let words = format!("Reads one resource of an MCP server. \"{LIST}\" lists them. Servers: {listed}.");
            (
                READ,
                "Read a resource of an MCP server",
                words,
                json!({ "server": server, "uri": uri }),
                json!(["server", "uri"]),
            )
        }
    };
    let manual = Manual { title: title.to_owned(), words, examples: Vec::new() };
    let schema =
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    Spec::new(name, manual, schema)
}

impl AnyTool for ResourceTool {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn bind(self: Arc<Self>, args: &Value) -> Result<Box<dyn ToolInvocation>, ToolError> {
        let text = |key: &str| args.get(key).and_then(Value::as_str).map(str::to_owned);
        let named = text("server");
        let servers: Vec<Arc<RemoteServer>> = self
            .servers
            .iter()
            .filter(|server| named.as_ref().is_none_or(|name| *name == server.name))
            .cloned()
            .collect();
        if servers.is_empty() {
            let names = self.servers.iter().map(|server| server.name.as_str()).collect::<Vec<_>>().join(", ");
            let what = format!("There is no MCP server \"{}\" with resources.", visible(&named.unwrap_or_default()));
            return Err(ToolError::new(
                ErrorKind::BadArguments,
                what,
                Next::FixArguments(format!("use one of: {names}")),
            ));
        }
        let uri = text("uri").unwrap_or_default();
        let contains = text("contains").unwrap_or_default().to_lowercase();
        Ok(Box::new(BoundResources { does: self.does, servers, uri, contains }))
    }
}

struct BoundResources {
    does: ResourceOperation,
    servers: Vec<Arc<RemoteServer>>,
    uri: String,
    contains: String,
}

impl BoundResources {
    fn claim(&self, server: &RemoteServer) -> RemoteClaim {
        let tool = match self.does {
            ResourceOperation::List => "resources/list",
            ResourceOperation::Read => "resources/read",
        };
        RemoteClaim { server: server.name.clone(), tool: tool.to_owned(), claims: Claim::OnlyReads }
    }

    async fn read(&self, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let Some(server) = self.servers.first() else { return Ok(ToolOutput::text("")) };
        let claim = self.claim(server);
        let request = ServerRequest::Resource(ReadResourceRequestParams::new(self.uri.clone()));
        let (returned, notes) = attended((server, &claim), RemoteRequest::Result(Box::new(request)), cx).await?;
        let RemoteResult::Result(result, secrets) = returned else { return Err(no_such_result(&claim)) };
        let ServerResult::ReadResourceResult(result) = *result else { return Err(no_such_result(&claim)) };
        output_of_resource(result.contents, &ResultOf { server: &server.name, secrets: &secrets, notes: &notes })
    }

    async fn list(&self, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let (mut lines, mut failed) = (Vec::new(), Vec::new());
        for server in &self.servers {
            match attended((server, &self.claim(server)), RemoteRequest::Listing, cx).await {
                Ok((RemoteResult::Listing(listing), _)) => {
                    lines.extend(lines_of(&server.name, &listing, &self.contains))
                }
                Ok((RemoteResult::Result(..), _)) => return Err(no_such_result(&self.claim(server))),
                // One server that fails hides no other.
                Err(error) => failed.push(error),
            }
        }
        if lines.is_empty()
            && let Some(first) = failed.pop()
        {
            return Err(first);
        }
        lines.extend(failed.iter().map(|error| format!("[{}]", error.what)));
        if lines.is_empty() {
            lines.push("There is no such resource.".to_owned());
        }
        Ok(ToolOutput::text(lines.join("\n")))
    }
}

impl ToolInvocation for BoundResources {
    fn plan<'a>(&'a mut self, _cx: &'a PlanContext<'a>) -> BoxFuture<'a, Result<Plan, ToolError>> {
        Box::pin(async { Ok(Plan::new(self.servers.iter().map(|server| Effect::Remote(self.claim(server))))) })
    }

    fn run<'a>(self: Box<Self>, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            match self.does {
                ResourceOperation::List => self.list(cx).await,
                ResourceOperation::Read => self.read(cx).await,
            }
        })
    }
}

/// Returns a line for each resource, and for each pattern of addresses.
fn lines_of(server: &str, listing: &ServerListing, contains: &str) -> Vec<String> {
    let line = |uri: &str, name: &str, (kind, about): (&Option<String>, &Option<String>)| {
        let is_meant = format!("{uri} {name}").to_lowercase().contains(contains);
        let kind = kind.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
        let about = about.as_ref().map(|about| format!(": {about}")).unwrap_or_default();
        is_meant.then(|| cut(&format!("{server}  {uri}  {name}{kind}{about}").replace(['\n', '\r'], " ")))
    };
    let resources = listing
        .resources
        .iter()
        .filter_map(|resource| line(&resource.uri, &resource.name, (&resource.mime_type, &resource.description)));
    let templates = listing.templates.iter().filter_map(|template| {
        let uri = format!("{} (fill in the braces)", template.uri_template);
        line(&uri, &template.name, (&template.mime_type, &template.description))
    });
    resources.chain(templates).collect()
}

#[cfg(test)]
mod tests {
    use rmcp::model::Resource;

    use super::*;

    #[test]
    fn a_resource_is_a_line_in_which_nothing_hides() {
        let mut resource = Resource::new("file:///a", "A\u{1b}[2J\nb");
        resource.description = Some("about".into());
        let listing = ServerListing { resources: vec![resource], ..ServerListing::default() };
        assert_eq!(lines_of("s", &listing, ""), ["s  file:///a  A\\u{1b}[2J b: about"]);
        assert_eq!(lines_of("s", &listing, "FILE".to_lowercase().as_str()).len(), 1);
        assert!(lines_of("s", &listing, "other").is_empty());
    }
}
