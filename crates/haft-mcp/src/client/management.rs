//! What `haft mcp list`, `add`, `remove`, `login` and `doctor` do, without a screen.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use haft_contract::files::guarded::is_secret_variable;
use haft_contract::text::closest::closest;
use haft_contract::text::visible::visible;
use haft_host::host::block_on;
use haft_host::opening::servers::deferral::{DefinitionSize, beyond};
use haft_host::opening::servers::local_code::LocalCode;
use haft_host::opening::servers::process::readable_places;
use haft_host::opening::servers::{
    ConfiguredServer, ServerOrigin, ServerScope, ServerSpec, ServerTransport, configured,
};
use tokio::sync::mpsc;

use super::calls::CallEars;
use super::link::connection::{NoConnection, ServerConnection, ServerLaunch};
use super::oauth::Login;
use super::offers::manifest::{ListedTool, Manifest, Offers};
use super::offers::tool::{spec_of, tokens_of_tools};
use super::record::{RecordPlace, ServerRecord, consent_hash};
use super::requests::Patience;
use super::servers::{ServerStatus, with_hosts};

/// Most lines of a difference that are shown.
const MOST_LINES: usize = 400;
/// Most lines of a server's errors that are shown.
const MOST_ERRORS: usize = 12;

/// Most names that a line lists.
const MOST_NAMES: usize = 20;
/// How long haft waits for lists of resources and prompts.
pub(super) const TO_LIST: Duration = Duration::from_secs(10);

/// Folders that every server reads.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc"];
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
    /// About how many tokens their definitions take in each request, if a model gets them.
    pub tokens: usize,
    /// Whether a model has to search for them, because all definitions together are too large.
    pub deferred: bool,
    /// What it may run that the consent does not cover.
    pub not_covered: Option<String>,
    /// What is wrong.
    pub error: Option<String>,
}

/// A server that the user wants to use or examine.
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

/// What a server reported about itself after it was started.
pub struct ServerInspection {
    manifest: Manifest,
    /// How the tools differ from those that the user agreed to; nothing if they are the same, or the first.
    pub difference: Option<String>,
    /// What happened, a line each.
    pub lines: Vec<String>,
    era: super::link::connection::Era,
    offers: Offers,
}

/// Why a server could not be inspected: lines to show, the reason first.
pub type InspectionFailure = Vec<String>;

/// Lists all servers; the second list says what is wrong with whole files.
#[must_use]
pub fn list(scope: &ServerScope) -> (Vec<ListedServer>, Vec<String>) {
    let (servers, problems) = configured(scope);
    let mut servers: Vec<ListedServer> = servers.iter().map(|server| listed(server, scope)).collect();
    let used = |server: &&mut ListedServer| server.state == ServerStatus::Allowed.code();
    let size = |server: &mut ListedServer| DefinitionSize {
        server: server.name.clone(),
        tools: server.tools,
        tokens: server.tokens,
    };
    let deferred = beyond(servers.iter_mut().filter(used).map(size).collect(), scope.room_for_definitions());
    for server in servers.iter_mut().filter(used) {
        server.deferred = deferred.iter().any(|size| size.server == server.name);
    }
    (servers, problems)
}

fn listed(server: &ConfiguredServer, scope: &ServerScope) -> ListedServer {
    let record = RecordPlace::of(server, scope).read();
    let standing = ServerStatus::of((server, scope), &record);
    let manifest = record.manifest.as_ref();
    let error = match (&server.spec, &server.hidden_by) {
        (_, Some(file)) => Some(format!("haft uses the server of this name in {}", file.display())),
        (Err(problem), None) => Some(problem.clone()),
        (Ok(_), None) => record.last_error.clone().or_else(|| left_out(&server.name, manifest?)),
    };
    ListedServer {
        name: server.name.clone(),
        file: server.file.clone(),
        product: server.origin.to_string(),
        state: standing.code(),
        tools: manifest.map_or(0, |manifest| manifest.tools.len()),
        tokens: manifest.map_or(0, |manifest| tokens_of_tools(&server.name, manifest)),
        deferred: false,
        not_covered: server.spec.as_ref().ok().and_then(|spec| not_covered(&LocalCode::of(spec, scope.workspace()))),
        error,
    }
}

/// Says what a server may run that its consent does not cover.
fn not_covered(code: &LocalCode) -> Option<String> {
    let parts: Vec<&str> = code.not_covered().iter().take(MOST_NAMES).map(String::as_str).collect();
    let told = parts.join("; ");
    (!told.is_empty()).then(|| format!("{told}; haft does not ask again when other files of this folder change"))
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
            ServerTransport::Command { words, .. } => words,
            ServerTransport::Url(_) => &[],
        }
    }

    /// Returns whether haft's own file names it.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.server.origin == ServerOrigin::Own
    }

    /// Returns what must be agreed to.
    #[must_use]
    pub fn consent(&self) -> Consent {
        match &self.record.agreed {
            None => Consent::New,
            Some(agreed) if *agreed != consent_hash(&self.spec, self.scope.workspace()) => Consent::Changed,
            Some(_) => Consent::Given,
        }
    }

    /// Returns the user's login to it; nothing for a server that needs none, or whose entry has a header for it.
    pub(crate) fn login(&self) -> Option<Arc<Login>> {
        Login::to(&self.server.name, (&self.spec, &self.place.key), &self.scope)
    }

    /// Returns whether the user has agreed to tools of it.
    pub(crate) fn has_tools(&self) -> bool {
        self.record.manifest.is_some()
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
        if let ServerTransport::Url(url) = &self.spec.reach {
            lines.push(format!("address   {}", hide(&self.written())));
            if self.written() != *url {
                lines.push(format!("          now {}", hide(url)));
            }
            let headers = self.spec.written_environment.iter();
            lines.extend(headers.map(|(name, value)| format!("header    {name}: {}", value_of(name, value))));
            return lines.iter().map(|line| visible(line).into_owned()).collect();
        }
        let line = self.words().iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        lines.push(format!("starts    {}", hide(&self.written())));
        if self.written() != line {
            lines.push(format!("          now {}", hide(&line)));
        }
        lines.extend(self.local_code_lines());
        if let ServerTransport::Command { folder: Some(folder), .. } = &self.spec.reach {
            lines.push(format!("in        {}", folder.display()));
        }
        for (name, value) in &self.spec.written_environment {
            lines.push(format!("variable  {name}={}", value_of(name, value)));
        }
        let hosts = with_hosts(&self.spec, &self.record.hosts).hosts;
        let hosts = if hosts.is_empty() { "none".to_owned() } else { hosts.join(", ") };
        lines.push(format!("hosts     {hosts}"));
        let folders = readable_places(&self.spec, &self.scope);
        let named = folders.iter().filter(|folder| !SYSTEM.iter().any(|system| folder.starts_with(system)));
        let folders: String = named.map(|folder| format!(", {} with everything in it", folder.display())).collect();
        lines.push(format!("files     reads the workspace{folders}; writes only in a home of its own"));
        lines.iter().map(|line| visible(line).into_owned()).collect()
    }

    /// Says what the command line runs of the workspace, and what of that haft cannot know.
    fn local_code_lines(&self) -> Vec<String> {
        let code = LocalCode::of(&self.spec, self.scope.workspace());
        let names = code.names(self.scope.workspace());
        let more = names.len().saturating_sub(MOST_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let shown = names.into_iter().take(MOST_NAMES).collect::<Vec<_>>().join(", ");
        let runs = format!("runs      {shown}{more} of this folder; haft asks again when they change");
        let runs = (!shown.is_empty()).then_some(runs);
        runs.into_iter().chain(not_covered(&code).map(|told| format!("beware    {told}"))).collect()
    }

    /// Returns the command line or the address as the file has it, for a shell: what refers to a variable names it.
    pub(super) fn written(&self) -> String {
        match &self.spec.reach {
            ServerTransport::Url(_) => self.spec.written_reach.concat(),
            ServerTransport::Command { .. } => {
                self.spec.written_reach.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
            }
        }
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
        self.record.agreed = Some(consent_hash(&self.spec, self.scope.workspace()));
        self.place.write(&self.record)
    }

    /// Starts the server, lists its tools and ends it. The user must have agreed to its command line.
    ///
    /// # Errors
    ///
    /// Returns the reason, and the end of what the server wrote to its errors.
    pub fn inspect(&self) -> Result<ServerInspection, InspectionFailure> {
        let (name, start) = (self.server.name.clone(), self.start()?);
        let login = self.login();
        let inspected = block_on(async move { inspected(start).await }).map_err(|error| vec![error.to_string()])?;
        match inspected {
            Ok(mut inspected) => {
                self.place.note_error(None);
                let agreed = self.record.manifest.as_ref();
                inspected.difference = agreed.and_then(|agreed| agreed.difference(&inspected.manifest, MOST_LINES));
                let state = login.and_then(|login| login.state());
                inspected.lines.extend(state.map(|state| format!("login     {state}")));
                Ok(inspected)
            }
            Err(why) => {
                self.place.note_error(Some(&why.what));
                Err(told(&name, &why))
            }
        }
    }

    /// Returns what is started. The user must have agreed to its command line.
    pub(crate) fn start(&self) -> Result<ServerLaunch, InspectionFailure> {
        if self.consent() != Consent::Given {
            let name = &self.server.name;
            let why = format!("You have not agreed to the command line of \"{name}\". Run: haft mcp add {name}");
            return Err(vec![why]);
        }
        Ok(ServerLaunch {
            name: self.server.name.clone(),
            spec: with_hosts(&self.spec, &self.record.hosts),
            key: self.place.key.clone(),
            scope: self.scope.clone(),
            era: self.record.era,
            local_code: LocalCode::of(&self.spec, self.scope.workspace()),
        })
    }

    /// Returns its name.
    pub(crate) fn name(&self) -> &str {
        &self.server.name
    }

    /// Remembers that the user agreed to these tools.
    ///
    /// # Errors
    ///
    /// Fails if the record cannot be written.
    pub fn pin(&mut self, inspected: ServerInspection) -> Result<(), String> {
        self.record.manifest = Some(inspected.manifest);
        self.record.era = Some(inspected.era);
        self.record.offers = inspected.offers;
        self.record.last_error = None;
        self.place.write(&self.record)
    }

    /// Forgets everything about the server.
    ///
    /// # Errors
    ///
    /// Fails if the record cannot be written.
    pub fn forget(&self) -> Result<(), String> {
        if let Some(login) = self.login() {
            login.forget()?;
        }
        self.place.forget()
    }
}

impl ServerInspection {
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
        let (tokens, hash) = (tokens_of_tools(server, &self.manifest), self.manifest.hash());
        format!("{count} tools, about {tokens} tokens in each request, hash {hash}{left_out}")
    }
}

async fn inspected(start: ServerLaunch) -> Result<ServerInspection, NoConnection> {
    let connection = ServerConnection::open(start).await?;
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
    lines.extend(others(&connection).await);
    lines.extend(connection.traffic.log().iter().map(|line| format!("log       {line}")));
    lines.extend(connection.traffic.odd().iter().flat_map(|odd| odd.lines()).map(|line| format!("note      {line}")));
    lines.extend(errors_of(&connection.life.last_errors()));
    let (manifest, era, offers) = (connection.manifest.clone(), connection.era, connection.offers);
    connection.close().await;
    Ok(ServerInspection { manifest, difference: None, lines, era, offers })
}

/// Says what the server has beside tools.
async fn others(connection: &ServerConnection) -> Vec<String> {
    let ((progress, _), (questions, _)) = (mpsc::channel(1), mpsc::channel(1));
    let patience = Patience { idle: TO_LIST, total: TO_LIST };
    let listing = match connection.listing(patience, CallEars { progress, questions }).await {
        Ok(listing) => listing,
        Err(why) => return vec![format!("lists     resources and prompts are not known: {}", why.words())],
    };
    let mut lines = Vec::new();
    if connection.offers.resources {
        let (resources, templates) = (listing.resources.len(), listing.templates.len());
        lines.push(format!("resources {resources}, and {templates} patterns of addresses"));
    }
    if connection.offers.prompts {
        let names = listing.prompts.iter().map(|prompt| visible(&prompt.name).into_owned());
        let names = names.take(MOST_NAMES).collect::<Vec<_>>().join(", ");
        lines.push(format!("prompts   {}: {names}", listing.prompts.len()));
    }
    lines
}

pub(super) fn told(name: &str, why: &NoConnection) -> InspectionFailure {
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
    if has(&["haft mcp login", "header \"authorization\""]) {
        "fix       Log in, or give the server the header that it needs."
    } else if has(&["cannot be reached", "http status"]) {
        "fix       Check the address, and whether the server runs."
    } else if has(&[
        "enotfound",
        "eai_again",
        "could not resolve",
        "name resolution",
        "network is unreachable",
        "econnrefused",
    ]) {
        "fix       The server needs the network: grant its hosts with --host (haft mcp add NAME --host registries)."
    } else if has(&["no such file", "not found", "enoent", "cannot find module", "cannot find package"]) {
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
