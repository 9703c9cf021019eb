//! Serves calls as lines of JSON, with results as lines in the same order (`haft call -`).
//!
//! A line starts as soon as it is read. All lines are one turn until an empty one; the next line
//! starts when all calls before the empty line have their results. At most 64 calls are unfinished,
//! then reading pauses. No one is asked. Between turns the host reloads tools that files describe.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use futures_util::stream::{FuturesOrdered, StreamExt};
use haft_contract::BoxFuture;
use haft_contract::call::{CallOrigin, RawArguments, ToolCall};
use haft_contract::outcome::result::ToolResult;
use haft_runtime::record;
use haft_runtime::state::session::Session;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::host::Host;

/// Most calls without a result.
const MOST_UNFINISHED: usize = 64;
/// Most characters of a line that an answer quotes.
const LONGEST_QUOTE: usize = 500;
/// Longest id.
const LONGEST_ID: usize = 1_000;
/// Most bytes of lines without a result.
const MOST_UNFINISHED_BYTES: usize = 128 * 1024 * 1024;
/// Longest line.
const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// Receives the results.
pub trait LineOutput {
    /// Writes one record.
    ///
    /// # Errors
    ///
    /// Fails when no one reads the results any more.
    fn record(&self, json: &str) -> io::Result<()>;

    /// Notices a call that has ended.
    fn ended(&self, result: &ToolResult);
}

/// How serving lines ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinesEnd {
    /// Every line has its result.
    AllAnswered,
    /// A signal stopped the calls; those that had begun have their results.
    Interrupted,
    /// No one reads the results any more.
    Unread,
}

/// One line of input.
pub enum CallInputLine {
    /// Its number and its bytes.
    Call(usize, Vec<u8>),
    /// One that is longer than haft reads.
    TooLong(usize),
    /// An empty one.
    EndOfTurn,
}

impl CallInputLine {
    fn size(&self) -> usize {
        match self {
            CallInputLine::Call(_, bytes) => bytes.len(),
            CallInputLine::TooLong(_) | CallInputLine::EndOfTurn => 0,
        }
    }
}

/// The outcome of a line: the result of a call, or a record of why there is no call.
enum CallLineOutcome {
    Result(Box<ToolResult>),
    NoCall(Value),
}

/// Serves the lines of an input until it ends.
///
/// # Errors
///
/// Fails when the input cannot be read.
pub async fn serve(
    host: &Host,
    session: &Session,
    input: impl BufRead + Send + 'static,
    output: &impl LineOutput,
) -> anyhow::Result<LinesEnd> {
    let end = serve_lines(host, session, input, output).await;
    session.end_jobs().await;
    end
}

async fn serve_lines(
    host: &Host,
    session: &Session,
    input: impl BufRead + Send + 'static,
    output: &impl LineOutput,
) -> anyhow::Result<LinesEnd> {
    // One listener for the whole time: a signal between two looks must not be lost.
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut lines = read_lines(input);
    let mut unfinished: FuturesOrdered<BoxFuture<'_, CallLineOutcome>> = FuturesOrdered::new();
    // The sizes of the lines without a result, in order: memory is bounded, not only their number.
    let mut sizes: VecDeque<usize> = VecDeque::new();
    let mut turn_ends = false;
    let mut input_ends = false;
    loop {
        if turn_ends && unfinished.is_empty() {
            session.begin_turn();
            host.reload().await;
            turn_ends = false;
        }
        if input_ends && unfinished.is_empty() {
            return Ok(LinesEnd::AllAnswered);
        }
        let has_room = sizes.len() < MOST_UNFINISHED && sizes.iter().sum::<usize>() < MOST_UNFINISHED_BYTES;
        let may_read = !turn_ends && !input_ends && has_room;
        tokio::select! {
            biased;
            _ = interrupted.recv() => {
                session.stop_turn();
                while let Some(answer) = unfinished.next().await {
                    print(host, output, answer)?;
                }
                return Ok(LinesEnd::Interrupted);
            }
            Some(answer) = unfinished.next(), if !unfinished.is_empty() => {
                sizes.pop_front();
                if print(host, output, answer).is_err() {
                    stop_all(session, unfinished).await;
                    return Ok(LinesEnd::Unread);
                }
            }
            line = lines.recv(), if may_read => match line {
                Some(Ok(CallInputLine::EndOfTurn)) => turn_ends = true,
                Some(Ok(line)) => {
                    sizes.push_back(line.size());
                    unfinished.push_back(start(host, session, line));
                }
                Some(Err(error)) => return Err(anyhow::Error::from(error).context("the input cannot be read")),
                None => input_ends = true,
            },
        }
    }
}

/// Stops the calls in order when no one reads the results any more.
async fn stop_all(session: &Session, mut unfinished: FuturesOrdered<BoxFuture<'_, CallLineOutcome>>) {
    session.stop_turn();
    while unfinished.next().await.is_some() {}
}

/// Starts a line: its call has its place in the turn from now on.
fn start<'a>(host: &'a Host, session: &'a Session, line: CallInputLine) -> BoxFuture<'a, CallLineOutcome> {
    match understand(line) {
        Ok(call) => {
            let calling = host.runtime.call(session, call);
            Box::pin(async move { CallLineOutcome::Result(Box::new(calling.await)) })
        }
        Err(record) => Box::pin(async move { CallLineOutcome::NoCall(record) }),
    }
}

fn print(host: &Host, output: &impl LineOutput, answer: CallLineOutcome) -> io::Result<()> {
    let record = match answer {
        CallLineOutcome::Result(result) => {
            host.note_call(&result);
            output.ended(&result);
            record::of_result(&result)
        }
        CallLineOutcome::NoCall(record) => record,
    };
    output.record(&record.to_string())
}

fn understand(line: CallInputLine) -> Result<ToolCall, Value> {
    let (number, bytes) = match line {
        CallInputLine::Call(number, bytes) => (number, bytes),
        CallInputLine::TooLong(number) => return Err(bad_call(&number.to_string(), "The line is longer than 64 MiB.")),
        CallInputLine::EndOfTurn => return Err(bad_call("", "The line is empty.")),
    };
    let number = number.to_string();
    let line = read_call(&bytes).map_err(|what| bad_call(&id_in(&bytes).unwrap_or_else(|| number.clone()), &what))?;
    let id = line.id.and_then(id_of).unwrap_or(number);
    if id.len() > LONGEST_ID {
        return Err(bad_call(&id, "\"id\" is longer than 1,000 bytes."));
    }
    let arguments = match line.arguments.map_or("null", RawValue::get) {
        text if text.starts_with('{') => RawArguments::Text(text.to_owned()),
        "null" => RawArguments::Text(String::new()),
        text => match serde_json::from_str(text) {
            Ok(Value::String(sent)) => RawArguments::Text(sent),
            _ => return Err(bad_call(&id, "\"arguments\" is neither an object nor the text of one.")),
        },
    };
    Ok(ToolCall::new(line.name, arguments).with_id(id).by(CallOrigin::Model))
}

fn read_call(bytes: &[u8]) -> Result<CallLine<'_>, String> {
    // A byte order mark is what some editors begin a file with.
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    // A list of the right length would be read as a call, too.
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err("The line is not a JSON object.".to_owned());
    }
    serde_json::from_slice(bytes).map_err(|error| format!("The line is not a call: {error}."))
}

/// An id is a string or a number, exactly as it was written; anything else is none.
fn id_of(id: &RawValue) -> Option<String> {
    match id.get() {
        text if text.starts_with('"') => serde_json::from_str(text).ok(),
        text if text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => Some(text.to_owned()),
        _ => None,
    }
}

/// Finds the id of a line that is no call, so that its driver knows which one was meant.
fn id_in(bytes: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct OnlyId<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
    }
    serde_json::from_slice::<OnlyId<'_>>(bytes).ok().and_then(|line| id_of(line.id))
}

/// A line as it is written. The arguments stay text: what a second key or a long number in them means is for
/// the pipeline to say, not for this reader to guess.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLine<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    name: String,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

fn bad_call(id: &str, what: &str) -> Value {
    let next = haft_contract::outcome::kinds::ErrorKind::BadCall.facts().next;
    // What a parser says may quote a line of any length.
    let (id, what) = (shortened(id), shortened(what));
    json!({
        "v": record::VERSION, "id": id, "tool": "", "status": "failed", "content": format!("{what}\nNext: {next}"),
        "error": { "kind": "bad_call", "what": what, "next": next }, "did": "nothing", "duration_ms": 0
    })
}

fn shortened(text: &str) -> String {
    text.char_indices().nth(LONGEST_QUOTE).map_or_else(|| text.to_owned(), |(end, _)| format!("{}…", &text[..end]))
}

/// Reads lines on a thread of their own: reading stdin blocks, and cannot be given up.
fn read_lines(mut input: impl BufRead + Send + 'static) -> mpsc::Receiver<io::Result<CallInputLine>> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        for number in 1.. {
            let line = match read_line(&mut input, number) {
                Ok(None) => return,
                Ok(Some(line)) => Ok(line),
                Err(error) => Err(error),
            };
            let failed = line.is_err();
            if sender.blocking_send(line).is_err() || failed {
                return;
            }
        }
    });
    receiver
}

/// Reads one line; one that is too long is skipped to its end without being kept.
///
/// # Errors
///
/// Fails when the input cannot be read.
pub fn read_line(input: &mut impl BufRead, number: usize) -> io::Result<Option<CallInputLine>> {
    let mut line = Vec::new();
    let mut too_long = false;
    let mut anything = false;
    loop {
        let step = input.fill_buf()?;
        if step.is_empty() {
            break;
        }
        anything = true;
        let end = step.iter().position(|&byte| byte == b'\n');
        let piece = &step[..end.unwrap_or(step.len())];
        too_long |= line.len() + piece.len() > LONGEST_LINE;
        if too_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(piece);
        }
        let taken = piece.len() + usize::from(end.is_some());
        input.consume(taken);
        if end.is_some() {
            break;
        }
    }
    if !anything {
        return Ok(None);
    }
    Ok(Some(match too_long {
        true => CallInputLine::TooLong(number),
        false if line.trim_ascii().is_empty() => CallInputLine::EndOfTurn,
        false => CallInputLine::Call(number, line),
    }))
}
