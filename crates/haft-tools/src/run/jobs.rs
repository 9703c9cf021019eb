//! Manages the commands that a session keeps running: lists them, shows their output, waits for them, ends them.
//!
//! Not here: starting a command (`bash`), keeping it (`haft-runtime`).

mod awaited_line;
mod restart;

use std::net::IpAddr;
use std::time::Duration;

use haft_contract::description::shape::{ArgumentLookup, ArgumentShape, Meaning, MeantArguments, whole};
use haft_contract::doors::job::{JobFacts, JobOutput, Jobs as SessionJobs};
use haft_contract::files::path::one_line;
use haft_contract::prelude::*;
use haft_contract::signals::{signal_number, signal_words};
use serde_json::{Value, json};

use awaited_line::AwaitedLine;

/// How long "wait" waits when the call does not say.
const USUAL_WAIT: Duration = Duration::from_secs(30);
/// How often a port is looked at.
const LOOK_AT_PORT: Duration = Duration::from_millis(50);
/// Longest command in a list, in characters.
const LONGEST_LINE: usize = 200;

/// What models call the actions.
const ACTIONS: &[(&str, &str)] = &[
    ("\"read\"", "\"output\""),
    ("\"logs\"", "\"output\""),
    ("\"log\"", "\"output\""),
    ("\"kill\"", "\"stop\""),
    ("\"status\"", "\"list\""),
    ("\"commit\"", "\"sync\""),
    ("\"reload\"", "\"restart\""),
];

/// Manages the jobs of the session.
pub struct Jobs;

/// The arguments of `jobs`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Default "list".
    action: Option<JobAction>,
    /// Name or number.
    job: Option<String>,
    /// Text or regex.
    line: Option<String>,
    /// To wait for.
    #[schemars(range(min = 1))]
    port: Option<u16>,
    /// Seconds, default 30.
    timeout: Option<f64>,
    /// Default TERM.
    signal: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum JobAction {
    List,
    Output,
    Wait,
    Signal,
    Stop,
    Restart,
    Sync,
}

impl Tool for Jobs {
    const NAME: &'static str = "jobs";
    const DOES: AtMost = AtMost::Anything;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("job", &["name", "id", "number", "job_id", "task_id", "bash_id", "shell_id", "process_id"]),
        ("line", &["pattern", "text"]),
    ];
    const SHAPES: &'static [ArgumentShape] = &[
        ArgumentShape::new("action", Meaning::Words("action", ACTIONS)),
        ArgumentShape::new("job", Meaning::Code(number)),
        ArgumentShape::new("filter", Meaning::Without("all new lines are shown")),
    ];
    const TIMES: &'static [(&'static str, &'static str)] = &[("timeout", "timeout_ms")];
    const OTHER_NAMES: &'static [&'static str] =
        &["kill_shell action:=stop", "kill_bash action:=stop", "bash_output action:=output"];
    type Args = Args;
    type Draft = Option<u64>;

    fn manual(&self) -> Manual {
        Manual::read(include_str!("jobs.md"))
    }

    async fn plan(&self, args: &Args, cx: &PlanContext<'_>) -> Result<(Plan, Option<u64>), ToolError> {
        // What a job may do was decided about when it was started.
        let mut effects = vec![Effect::Session(StateKey::jobs())];
        match args.action.unwrap_or(JobAction::List) {
            JobAction::List | JobAction::Output => {}
            JobAction::Wait | JobAction::Signal | JobAction::Stop | JobAction::Sync => {
                effects.push(Effect::Session(StateKey::job_states()));
            }
            JobAction::Restart => return restart::plan(&chosen(args.job.as_deref(), cx.jobs())?, effects, cx),
        }
        Ok((Plan::new(effects), None))
    }

    async fn run(&self, args: Args, restarted: Option<u64>, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        match args.action.unwrap_or(JobAction::List) {
            JobAction::List => Ok(listed(cx)),
            JobAction::Output => {
                let news = printed(&chosen(args.job.as_deref(), cx.jobs())?, None, cx);
                Ok(if news.text.is_empty() { news.saying("(nothing new)\n") } else { news }.into())
            }
            JobAction::Wait => wait(args, cx).await,
            JobAction::Signal => signal(&args, cx),
            JobAction::Stop => {
                let job = chosen(args.job.as_deref(), cx.jobs())?;
                cx.jobs().stop(job.number).await;
                Ok(printed(&job, None, cx).into())
            }
            JobAction::Restart => restart::run(restarted, cx).await,
            JobAction::Sync => sync(&chosen(args.job.as_deref(), cx.jobs())?, cx).await,
        }
    }
}

/// Returns what is known of a job.
pub(crate) fn facts_of(number: u64, cx: &RunContext<'_>) -> Result<JobFacts, ToolError> {
    let found = cx.jobs().all().into_iter().find(|job| job.number == number);
    found.ok_or_else(|| ToolError::of(ErrorKind::Bug, "The session has lost a job."))
}

/// Returns a job as data.
pub(crate) fn job_data(job: &JobFacts) -> Value {
    let mut data = json!({
        "number": job.number,
        "name": job.name,
        "command": job.line,
        "running": job.end.is_none(),
        "duration_ms": u64::try_from(job.took.as_millis()).unwrap_or(u64::MAX),
    });
    if let Some(end) = &job.end {
        data["exit_code"] = end.how.exit_code().into();
        data["change_set"] = end.change_set.map(|number| number.0).into();
        data["ended"] = end.words(job.took).into();
    }
    data
}

/// Reads the number of a job as its name.
fn number(value: &Value, _: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    whole(value).map(|number| vec![("job", json!(number.to_string()))])
}

/// Finds the job that is meant.
fn chosen(given: Option<&str>, jobs: &dyn SessionJobs) -> Result<JobFacts, ToolError> {
    let jobs = jobs.all();
    let running = || jobs.iter().filter(|job| job.end.is_none());
    let found = match given.map(str::trim) {
        // Of several of one name the newest is meant.
        Some(given) => jobs.iter().rfind(|job| job.name.as_deref() == Some(given) || job.number.to_string() == given),
        None if jobs.len() == 1 => jobs.first(),
        None if running().count() == 1 => running().next(),
        None => None,
    };
    found.cloned().ok_or_else(|| {
        let names: Vec<String> = jobs.iter().map(JobFacts::title).collect();
        let what = match (given, names.is_empty()) {
            (_, true) => "The session has no jobs.".to_owned(),
            (Some(given), false) => format!("There is no job \"{}\".", one_line(given)),
            (None, false) => "\"job\" is missing, and there are several jobs.".to_owned(),
        };
        let next = match names.is_empty() {
            true => Next::UseInstead { tool: "bash".into(), to: "to start one in the background".into() },
            false => Next::FixArguments(format!("name one of these: {}", names.join(", "))),
        };
        ToolError::new(ErrorKind::BadArguments, what, next)
    })
}

fn listed(cx: &RunContext<'_>) -> ToolOutput {
    let jobs = cx.jobs().all();
    let mut text: String =
        jobs.iter().map(|job| format!("{}; command: {}\n", state(job), shortened(&job.line))).collect();
    if jobs.is_empty() {
        text.push_str("The session has no jobs.\n");
    }
    // Now the model knows how they ended.
    jobs.iter().filter(|job| job.end.is_some()).for_each(|job| cx.tell_job_end(job.number));
    let data: Vec<Value> = jobs.iter().map(job_data).collect();
    ToolOutput::text(text).with_data(json!({ "jobs": data }))
}

fn state(job: &JobFacts) -> String {
    let seconds = (job.took.as_secs_f64() * 10.0).round() / 10.0;
    match &job.end {
        None => format!("{} is running ({seconds} s)", job.title()),
        Some(end) => format!("{} {}", job.title(), end.words(job.took)),
    }
}

fn shortened(line: &str) -> String {
    let line = one_line(line);
    match line.char_indices().nth(LONGEST_LINE) {
        None => line.into_owned(),
        Some((end, _)) => format!("{} […", &line[..end]),
    }
}

/// What a job has printed since the last time, and how it stands.
struct News {
    text: String,
    notes: Vec<String>,
    data: Value,
}

impl News {
    fn saying(self, text: &str) -> Self {
        Self { text: text.to_owned(), ..self }
    }
}

impl From<News> for ToolOutput {
    fn from(News { text, notes, data }: News) -> Self {
        let said: String = notes.iter().map(|note| format!("[{note}]\n")).collect();
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        Self::text(format!("{text}{gap}{said}")).with_data(data)
    }
}

/// Reads what a job has printed since the last time.
fn printed(job: &JobFacts, note: Option<String>, cx: &RunContext<'_>) -> News {
    let jobs = cx.jobs();
    let job = facts_of(job.number, cx).unwrap_or_else(|_| job.clone());
    let none = || JobOutput { text: String::new(), left_out: 0, position: job.read };
    let output = jobs.output(job.number, job.read, cx.limits().result_whole / 2).unwrap_or_else(none);
    jobs.note_read(job.number, output.position);
    if job.end.is_some() {
        cx.tell_job_end(job.number);
    }
    let mut notes: Vec<String> = note.into_iter().chain([state(&job)]).collect();
    if output.left_out > 0 {
        notes.insert(0, format!("{} earlier bytes are not shown", output.left_out));
    }
    let data = json!({ "job": job_data(&job), "output": output.text, "notes": notes });
    News { text: output.text, notes, data }
}

/// Commits what a job has changed so far.
async fn sync(job: &JobFacts, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
    let sync = cx.sync_job(job.number).await?;
    let said = format!("[{} {}]\n", job.title(), sync.words());
    let data =
        json!({ "job": job_data(job), "change_set": sync.change_set.map(|number| number.0), "notes": sync.notes });
    Ok(ToolOutput::text(said).with_data(data))
}

async fn wait(args: Args, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
    let most = cx.limits().command_time_within_call();
    let asked = args.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let time = asked.unwrap_or(USUAL_WAIT).min(most);
    let job = match (&args.job, args.port) {
        // A port may be that of any job.
        (None, Some(_)) => chosen(None, cx.jobs()).ok(),
        (given, _) => Some(chosen(given.as_deref(), cx.jobs())?),
    };
    let waiting = async {
        match (&args.line, args.port) {
            (Some(line), _) => until_line(job.as_ref(), line, cx).await.map(Some),
            (None, Some(port)) => until_port(job.as_ref(), port, cx).await.map(Some),
            // How it ended is said of every job.
            (None, None) => until_end(job.as_ref(), cx).await.map(|()| None),
        }
    };
    let came = tokio::select! {
        came = tokio::time::timeout(time, waiting) => came,
        () = cx.stopped() => return Err(ToolError::of(ErrorKind::Cancelled, "The call was stopped.")),
    };
    let note = match came {
        Ok(came) => came?,
        Err(_) => Some(format!("not within {} s: {}", time.as_secs_f64(), awaited(&args))),
    };
    Ok(match job {
        Some(job) => printed(&job, note, cx).into(),
        None => ToolOutput::text(note.map(|note| format!("[{note}]\n")).unwrap_or_default()),
    })
}

fn awaited(args: &Args) -> String {
    match (&args.line, args.port) {
        (Some(line), _) => format!("no new line {} \"{}\"", AwaitedLine::new(line).verb(), one_line(line)),
        (None, Some(port)) => format!("no program listens on port {port}"),
        (None, None) => "the job still runs".to_owned(),
    }
}

/// Waits until a line that the model has not read holds a text, or the job has ended.
async fn until_line(job: Option<&JobFacts>, line: &str, cx: &RunContext<'_>) -> Result<String, ToolError> {
    let Some(job) = job else { return Ok(String::new()) };
    let awaited = AwaitedLine::new(line);
    loop {
        let now = facts_of(job.number, cx)?;
        let output = cx.jobs().output(job.number, now.read, usize::MAX);
        if output.is_some_and(|output| awaited.is_in(&output.text)) {
            return Ok(format!("a line {} \"{}\"", awaited.verb(), one_line(line)));
        }
        if now.end.is_some() {
            return Ok(format!("it ended without a line that {} \"{}\"", awaited.verb(), one_line(line)));
        }
        cx.jobs().news(job.number, now.printed).await;
    }
}

async fn until_port(job: Option<&JobFacts>, port: u16, cx: &RunContext<'_>) -> Result<String, ToolError> {
    loop {
        match cx.listeners(port).as_deref() {
            Some([]) => {}
            Some(addresses) => {
                let of_which = if is_alone(job, cx) { "" } else { ", of this job or of another one that runs" };
                return Ok(format!("a program listens on port {port} {}{of_which}", at(addresses)));
            }
            None => {
                let what = "haft cannot see which ports programs listen on here.";
                let next = "wait for a line that the program prints instead: \"line\"";
                return Err(ToolError::new(ErrorKind::Unavailable, what, Next::FixArguments(next.into())));
            }
        }
        if let Some(job) = job
            && facts_of(job.number, cx)?.end.is_some()
        {
            return Ok(format!("it ended, and no program listens on port {port}"));
        }
        tokio::time::sleep(LOOK_AT_PORT).await;
    }
}

/// Returns whether no other job could be the one that listens.
fn is_alone(job: Option<&JobFacts>, cx: &RunContext<'_>) -> bool {
    let is_other = |other: JobFacts| other.end.is_none() && job.is_some_and(|job| job.number != other.number);
    !cx.jobs().all().into_iter().any(is_other)
}

/// Says at which addresses a program listens: one that listens at ::1 only is not found at 127.0.0.1.
fn at(addresses: &[IpAddr]) -> String {
    if addresses.iter().any(IpAddr::is_unspecified) {
        return "at all addresses".to_owned();
    }
    let words: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
    format!("at {}", words.join(" and "))
}

async fn until_end(job: Option<&JobFacts>, cx: &RunContext<'_>) -> Result<(), ToolError> {
    let Some(job) = job else { return Ok(()) };
    loop {
        let now = facts_of(job.number, cx)?;
        if now.end.is_some() {
            return Ok(());
        }
        cx.jobs().news(job.number, now.printed).await;
    }
}

fn signal(args: &Args, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
    let job = chosen(args.job.as_deref(), cx.jobs())?;
    let given = args.signal.as_deref().unwrap_or("TERM");
    let Some(number) = signal_number(given) else {
        let what = format!("\"{}\" is not a signal. Nothing was sent.", one_line(given));
        let next = "name one such as \"INT\", \"HUP\", \"USR1\" or \"TERM\"";
        return Err(ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next.into())));
    };
    let note = match cx.jobs().signal(job.number, number) {
        true => format!("{} was sent to all its processes", signal_words(number)),
        false => "it had ended before; no signal was sent".to_owned(),
    };
    Ok(printed(&job, Some(note), cx).into())
}
