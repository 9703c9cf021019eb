//! `haft call -`: calls as lines of JSON, results as lines in the same order.
//!
//! A line starts as soon as it is read. All lines are one turn until an empty one; the next line
//! starts when all calls before the empty line have their results. At most 64 calls are unfinished,
//! then reading pauses. Nobody is there to ask.

use std::io::{self, BufRead, Write};

use futures_util::stream::{FuturesOrdered, StreamExt};
use haft::BoxFuture;
use haft::call::{Origin, RawArguments, ToolCall};
use haft::result::ToolResult;
use haft_runtime::record;
use haft_runtime::session::Session;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::call::note_call;
use crate::arguments::Common;
use crate::desk::{Caller, Desk, block_on};
use crate::exit::Exit;

/// Most calls without a result.
const MOST_UNFINISHED: usize = 64;
/// Longest line.
const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// Runs the command.
pub(crate) fn run(common: &Common) -> anyhow::Result<Exit> {
    let desk = Desk::open(common)?;
    let session = desk.session(common, Caller::Lines);
    block_on(serve(&desk, &session))?
}

/// One line of input.
enum Line {
    Call(usize, Vec<u8>),
    TooLong(usize),
    EndOfTurn,
}

/// What a line leads to: a call's result, or at once the record of why it is none.
enum Answer {
    Result(Box<ToolResult>),
    NoCall(Value),
}

async fn serve(desk: &Desk, session: &Session) -> anyhow::Result<Exit> {
    let mut lines = read_lines();
    let mut unfinished: FuturesOrdered<BoxFuture<'_, Answer>> = FuturesOrdered::new();
    let mut turn_ends = false;
    let mut input_ends = false;
    loop {
        if turn_ends && unfinished.is_empty() {
            session.begin_turn();
            turn_ends = false;
        }
        if input_ends && unfinished.is_empty() {
            return Ok(Exit::Ok);
        }
        let may_read = !turn_ends && !input_ends && unfinished.len() < MOST_UNFINISHED;
        tokio::select! {
            Some(answer) = unfinished.next(), if !unfinished.is_empty() => print(desk, answer)?,
            line = lines.recv(), if may_read => match line {
                Some(Ok(Line::EndOfTurn)) => turn_ends = true,
                Some(Ok(line)) => unfinished.push_back(start(desk, session, line)),
                Some(Err(error)) => return Err(anyhow::Error::from(error).context("stdin cannot be read")),
                None => input_ends = true,
            },
            Ok(()) = tokio::signal::ctrl_c() => {
                session.stop_turn();
                while let Some(answer) = unfinished.next().await {
                    print(desk, answer)?;
                }
                return Ok(Exit::Interrupted);
            }
        }
    }
}

/// Starts a line: its call has its place in the turn from now on.
fn start<'a>(desk: &'a Desk, session: &'a Session, line: Line) -> BoxFuture<'a, Answer> {
    match understand(line) {
        Ok(call) => {
            let calling = desk.runtime.call(session, call);
            Box::pin(async move { Answer::Result(Box::new(calling.await)) })
        }
        Err(record) => Box::pin(async move { Answer::NoCall(record) }),
    }
}

fn print(desk: &Desk, answer: Answer) -> io::Result<()> {
    let record = match answer {
        Answer::Result(result) => {
            note_call(desk, &result);
            record::of_result(&result)
        }
        Answer::NoCall(record) => record,
    };
    // Locked for each line: a driver reads one before it writes the next.
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{record}")?;
    stdout.flush()
}

fn understand(line: Line) -> Result<ToolCall, Value> {
    let (number, bytes) = match line {
        Line::Call(number, bytes) => (number, bytes),
        Line::TooLong(number) => return Err(bad_call(&number.to_string(), "The line is longer than 64 MiB.")),
        Line::EndOfTurn => return Err(bad_call("", "The line is empty.")),
    };
    let number = number.to_string();
    let line: CallLine<'_> = serde_json::from_slice(&bytes)
        .map_err(|error| bad_call(&number, &format!("The line is not a call: {error}.")))?;
    let id = match line.id {
        Some(Value::String(id)) => id,
        Some(Value::Number(id)) => id.to_string(),
        None | Some(Value::Null) => number,
        Some(_) => return Err(bad_call(&number, "\"id\" is neither a string nor a number.")),
    };
    let arguments = match line.arguments.map_or("null", RawValue::get) {
        text if text.starts_with('{') => RawArguments::Text(text.to_owned()),
        "null" => RawArguments::Text(String::new()),
        text => match serde_json::from_str(text) {
            Ok(Value::String(sent)) => RawArguments::Text(sent),
            _ => return Err(bad_call(&id, "\"arguments\" is neither an object nor the text of one.")),
        },
    };
    Ok(ToolCall::new(line.name, arguments).with_id(id).from(Origin::Model))
}

/// A line as it is written. The arguments stay text: what a second key or a long number in them means is for
/// the pipeline to say, not for this reader to guess.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLine<'a> {
    id: Option<Value>,
    name: String,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

fn bad_call(id: &str, what: &str) -> Value {
    let next = haft::kinds::ErrorKind::BadCall.facts().next;
    json!({
        "v": record::VERSION, "id": id, "tool": "", "status": "failed", "content": format!("{what}\nNext: {next}"),
        "error": { "kind": "bad_call", "what": what, "next": next }, "did": "nothing", "duration_ms": 0
    })
}

/// Reads lines on a thread of their own: reading stdin blocks, and cannot be given up.
fn read_lines() -> mpsc::Receiver<io::Result<Line>> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        for number in 1.. {
            let line = match read_line(&mut stdin, number) {
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
fn read_line(input: &mut impl BufRead, number: usize) -> io::Result<Option<Line>> {
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
        true => Line::TooLong(number),
        false if line.trim_ascii().is_empty() => Line::EndOfTurn,
        false => Line::Call(number, line),
    }))
}
