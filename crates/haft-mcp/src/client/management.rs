//! What `haft mcp list`, `add`, `remove` and `doctor` do, without a screen.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use haft_contract::closest::closest;
use haft_contract::guarded::is_secret_variable;
use haft_contract::visible::visible;
use haft_host::host::block_on;
use haft_host::servers::{ConfiguredServer, Origin, Reach, ServerScope, ServerSpec, configured};

use super::connection::{Connection, NoConnection, Start};
use super::manifest::{ListedTool, Manifest};
use super::record::{RecordPlace, ServerRecord, consent_hash};
use super::servers::{Standing, with_hosts};
use super::tool::spec_of;

/// Most lines of a difference that are shown.
const MOST_LINES: usize = 400;
/// Most lines of a server's errors that are shown.
const MOST_ERRORS: usize = 12;

/// What stands in the place of a secret.
const HIDDEN: &str = "[hidden]";
/// Shorter values are found in ordinary words.
const SHORTEST_SECRET: usize = 6;

/// A server, as `haft mcp list` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedServer {
    /// Its name.
    pub name: String,
    /// The file that names it.
    pub file: PathBuf,
    /// The program whose file that is.
    pub product: String,
    /// Whether it can be used.
    pub state: &'static str,
    /// How many tools it has, as far as haft knows.
    pub tools: usize,
    /// About how many tokens their definitions take in each request.
    pub tokens: usize,
    /// What is wrong.
    pub error: Option<String>,
}

/// A server that somebody wants to use or examine.
pub struct ChosenServer {
    scope: Arc<ServerScope>,
    server: ConfiguredServer,
    spec: ServerSpec,
    place: RecordPlace,
    record: ServerRecord,
}

/// What must be agreed to before a server starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Nothing: the user agreed to this command line.
    Given,
    /// The command line: it is new.
    New,
    /// The command line: it is another one than the user agreed to.
    Changed,
}

/// What a server said after it was started.
pub struct Inspected {
    manifest: Manifest,
    /// How the tools differ from those that the user agreed to; nothing if they are the same, or the first.
    pub difference: Option<String>,
    /// What happened, a line each.
    pub lines: Vec<String>,
    era: super::connection::Era,
}

/// Why a server could not be inspected: lines to show, the reason first.
pub type Failed = Vec<String>;

/// Lists all servers; the second list says what is wrong with whole files.
#[must_use]
pub fn list(scope: &ServerScope) -> (Vec<ListedServer>, Vec<String>) {
    let (servers, problems) = configured(scope);
    (servers.iter().map(|server| listed(server, scope)).collect(), problems)
}

fn listed(server: &ConfiguredServer, scope: &ServerScope) -> ListedServer {
    let record = RecordPlace::of(server, scope).read();
    let standing = Standing::of(server, &record);
    let manifest = record.manifest.as_ref();
    let error = match (&server.spec, &server.hidden_by) {
        (_, Some(file)) => Some(format!("the server of this name in {} counts", file.display())),
        (Err(problem), None) => Some(problem.clone()),
        (Ok(_), None) => record.last_error.clone().or_else(|| left_out(&server.name, manifest?)),
    };
    ListedServer {
        name: server.name.clone(),
        file: server.file.clone(),
        product: server.origin.to_string(),
        state: standing.code(),
        tools: manifest.map_or(0, |manifest| manifest.tools.len()),
        tokens: manifest.map_or(0, Manifest::tokens),
        error,
    }
}

/// Says which tools cannot be used, and why.
fn left_out(server: &str, manifest: &Manifest) -> Option<String> {
    let why = |tool: &ListedTool| Some(format!("{}: {}", visible(&tool.name), spec_of(server, tool).err()?));
    let told: Vec<String> = manifest.tools.iter().filter_map(why).collect();
    (!told.is_empty()).then(|| format!("tools that are left out: {}", told.join("; ")))
}

impl ChosenServer {
    /// Finds a server by its name.
    ///
    /// # Errors
    ///
    /// Says why it cannot be used, and what to do.
    pub fn find(scope: ServerScope, name: &str) -> Result<Self, String> {
        let (servers, problems) = configured(&scope);
        let names = || servers.iter().map(|server| server.name.as_str());
        let Some(server) = servers.iter().find(|server| server.name == name && server.hidden_by.is_none()) else {
            let near = closest(name, names()).map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
            let more = problems.first().map(|problem| format!(" ({problem})")).unwrap_or_default();
            return Err(format!(
                "no file names an MCP server \"{name}\"{near}{more}; add it with: haft mcp add {name} -- COMMAND"
            ));
        };
        let spec = server.spec.as_ref().map_err(|problem| {
            format!("the MCP server \"{name}\" in {} cannot be used: {problem}", server.file.display())
        })?;
        let place = RecordPlace::of(server, &scope);
        let (spec, record) = (spec.clone(), place.read());
        Ok(Self { scope: Arc::new(scope), server: server.clone(), spec, place, record })
    }

    /// Returns the program and its arguments.
    #[must_use]
    pub fn words(&self) -> &[String] {
        match &self.spec.reach {
            Reach::Command { words, .. } => words,
            Reach::Url(_) => &[],
        }
    }

    /// Returns whether haft's own file names it.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.server.origin == Origin::Own
    }

    /// Returns what must be agreed to.
    #[must_use]
    pub fn consent(&self) -> Consent {
        match &self.record.agreed {
            None => Consent::New,
            Some(agreed) if *agreed != consent_hash(&self.spec) => Consent::Changed,
            Some(_) => Consent::Given,
        }
    }

    /// Grants the server hosts beside those of its file.
    pub fn grant(&mut self, hosts: &[String]) {
        let new = hosts.iter().filter(|host| !self.record.hosts.contains(host)).cloned().collect::<Vec<_>>();
        self.record.hosts.extend(new);
    }

    /// Says exactly what would be started, a line each. Values of secret variables are not in it.
    #[must_use]
    pub fn described(&self) -> Vec<String> {
        let hide = |text: &str| {
            let hidden = self.scope.secrets().iter().filter(|secret| secret.len() >= SHORTEST_SECRET);
            hidden.fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), HIDDEN))
        };
        // What refers to a variable is shown as it is written: that is what the user agrees to.
        let value_of = |name: &str, value: &str| match is_secret(name) && !value.contains(['$', '{']) {
            true => HIDDEN.to_owned(),
            false => hide(value),
        };
        let mut lines =
            vec![format!("server    {} ({}: {})", self.server.name, self.server.origin, self.server.file.display())];
        if let Reach::Url(url) = &self.spec.reach {
            lines.push(format!("address   {}", hide(url)));
            let headers = self.spec.written_environment.iter();
            lines.extend(headers.map(|(name, value)| format!("header    {name}: {}", value_of(name, value))));
            return lines.iter().map(|line| visible(line).into_owned()).collect();
        }
        let line = self.words().iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        lines.push(format!("starts    {}", hide(&line)));
        if let Reach::Command { folder: Some(folder), .. } = &self.spec.reach {
            lines.push(format!("in        {}", folder.display()));
        }
        for (name, value) in &self.spec.written_environment {
            lines.push(format!("variable  {name}={}", value_of(name, value)));
        }
        let hosts = with_hosts(&self.spec, &self.record.hosts).hosts;
        let hosts = if hosts.is_empty() { "none".to_owned() } else { hosts.join(", ") };
        lines.push(format!("hosts     {hosts}"));
        lines.push("files     reads the workspace; writes only in a home of its own".to_owned());
        lines.iter().map(|line| visible(line).into_owned()).collect()
    }

    /// Remembers that the user agreed to this command line.
    ///
    /// # Errors
    ///
    /// Fails if the record cannot be written.
    pub fn agree(&mut self) -> Result<(), String> {
        if self.consent() != Consent::Given {
            // What another program said of its tools is no pin for this one.
            self.record = ServerRecord {
                hosts: std::mem::take(&mut self.record.hosts),
                manifest: self.record.manifest.take(),
                ..ServerRecord::default()
            };
        }
        self.record.agreed = Some(consent_hash(&self.spec));
        self.place.write(&self.record)
    }

    /// Starts the server, lists its tools and ends it. The user must have agreed to its command line.
    ///
    /// # Errors
    ///
    /// Returns the reason, and the end of what the server wrote to its errors.
    pub fn inspect(&self) -> Result<Inspected, Failed> {
        if self.consent() != Consent::Given {
            return Err(vec![format!("The user has not agreed to the command line of \"{}\".", self.server.name)]);
        }
        let start = Start {
            spec: with_hosts(&self.spec, &self.record.hosts),
            key: self.place.key.clone(),
            scope: self.scope.clone(),
            era: self.record.era,
        };
        let name = self.server.name.clone();
        let inspected = block_on(async move { inspected(start).await }).map_err(|error| vec![error.to_string()])?;
        match inspected {
            Ok((manifest, era, lines)) => {
                self.place.note_error(None);
                let difference =
                    self.record.manifest.as_ref().and_then(|agreed| agreed.difference(&manifest, MOST_LINES));
                Ok(Inspected { manifest, difference, lines, era })
            }
            Err(why) => {
                self.place.note_error(Some(&why.what));
                Err(told(&name, &why))
            }
        }
    }

    /// Remembers that the user agreed to these tools.
    ///
    /// # Errors
    ///
    /// Fails if the record cannot be written.
    pub fn pin(&mut self, inspected: Inspected) -> Result<(), String> {
        self.record.manifest = Some(inspected.manifest);
        self.record.era = Some(inspected.era);
        self.record.last_error = None;
        self.place.write(&self.record)
    }

    /// Forgets everything about the server.
    ///
    /// # Errors
    ///
    /// Fails if the record cannot be written.
    pub fn forget(&self) -> Result<(), String> {
        self.place.forget()
    }
}

impl Inspected {
    /// Returns all tools with their descriptions in full, so that a person sees every word that a model reads.
    #[must_use]
    pub fn tools(&self) -> String {
        self.manifest.shown()
    }

    /// Says what the tools are and cost, in a line.
    #[must_use]
    pub fn summary(&self, server: &str) -> String {
        let count = self.manifest.tools.len();
        let left_out = left_out(server, &self.manifest).map(|told| format!("; {told}")).unwrap_or_default();
        let (tokens, hash) = (self.manifest.tokens(), self.manifest.hash());
        format!("{count} tools, about {tokens} tokens in each request, hash {hash}{left_out}")
    }
}

async fn inspected(start: Start) -> Result<(Manifest, super::connection::Era, Vec<String>), NoConnection> {
    let connection = Connection::open(start).await?;
    let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
    let (answered, listed) = connection.took;
    let asked = tokio::time::Instant::now();
    let again = connection.list_again(Duration::from_secs(10)).await;
    let mut lines = vec![
        format!("start     answered after {}, {}", seconds(answered), connection.life.place()),
        format!("revision  {} ({})", connection.revision, visible(&connection.manifest.server)),
        format!("list      {} tools after {}", connection.manifest.tools.len(), seconds(listed)),
    ];
    lines.push(match again {
        Ok(again) if again == connection.manifest => format!("request   answered in {}", seconds(asked.elapsed())),
        Ok(_) => "request   the second list of tools differs from the first".to_owned(),
        Err(why) => format!("request   {why}"),
    });
    lines.extend(connection.traffic.odd().iter().flat_map(|odd| odd.lines()).map(|line| format!("note      {line}")));
    lines.extend(errors_of(&connection.life.last_errors()));
    let (manifest, era) = (connection.manifest.clone(), connection.era);
    connection.close().await;
    Ok((manifest, era, lines))
}

fn told(name: &str, why: &NoConnection) -> Failed {
    let mut lines = vec![format!("The MCP server \"{name}\" cannot be used. {}", why.what)];
    lines.extend(errors_of(&why.errors));
    lines.push(fix(why).to_owned());
    lines
}

fn errors_of(errors: &str) -> Vec<String> {
    let lines: Vec<&str> = errors.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(MOST_ERRORS)..];
    last.iter().map(|line| format!("stderr    {}", visible(line))).collect()
}

/// Says what usually helps.
fn fix(why: &NoConnection) -> &'static str {
    let text = format!("{} {}", why.what, why.errors).to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&[
        "enotfound",
        "eai_again",
        "could not resolve",
        "name resolution",
        "network is unreachable",
        "econnrefused",
    ]) {
        "fix       The server needs the network: grant its hosts with --host (haft mcp add NAME --host registries)."
    } else if has(&["no such file", "not found", "enoent", "cannot find module"]) {
        "fix       A program or file is missing, or the sandbox does not show it: name it by its absolute path."
    } else if has(&["eacces", "erofs", "permission denied", "read-only file system"]) {
        "fix       The server wrote outside its home; let it write below $HOME, which is its own."
    } else {
        "fix       Run the command line yourself to see what it prints."
    }
}

/// Returns whether a variable or a header of this name holds a secret.
fn is_secret(name: &str) -> bool {
    let header = ["authorization", "cookie"].iter().any(|header| name.eq_ignore_ascii_case(header));
    header || is_secret_variable(&name.replace('-', "_"))
}

/// Writes a word as a shell would need it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_what_usually_helps() {
        let fix_of = |what: &str, errors: &str| fix(&NoConnection { what: what.into(), errors: errors.into() });
        assert!(fix_of("It ended.", "npm error code EAI_AGAIN").contains("--host"));
        assert!(fix_of("There is no program \"npx\"; not found.", "").contains("absolute path"));
        assert!(fix_of("It did not answer.", "").contains("yourself"));
    }

    #[test]
    fn a_secret_is_known_by_its_name() {
        let secret = ["Authorization", "X-Api-Key", "GITHUB_TOKEN", "cookie"];
        assert!(secret.iter().all(|name| is_secret(name)));
        assert!(!is_secret("PATH") && !is_secret("X-Trace"));
    }

    #[test]
    fn a_word_with_a_meaning_is_quoted() {
        assert_eq!(["a/b-c", "", "a b", "it's"].map(quoted), ["a/b-c", "''", "'a b'", "'it'\\''s'"]);
    }
}
