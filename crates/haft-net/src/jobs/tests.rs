//! Tests both ends of the socket, each against a peer that is not haft.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_contract::doors::door::{Permit, Receipts};
use haft_contract::doors::job::{JobFacts, JobOutput, Jobs, NewJob, no_session};
use haft_contract::outcome::error::ToolError;

use super::*;

/// One job that runs and prints nothing.
struct OneJob;

impl Jobs for OneJob {
    fn start<'a>(&'a self, _: &'a Permit, _: NewJob) -> BoxFuture<'a, Result<u64, ToolError>> {
        Box::pin(async { Err(no_session()) })
    }

    fn all(&self) -> Vec<JobFacts> {
        let (name, line) = (Some("web".to_owned()), "serve\nall".to_owned());
        vec![JobFacts { number: 1, name, line, took: Duration::from_secs(2), printed: 0, read: 0, end: None }]
    }

    fn output(&self, _: u64, _: u64, _: usize) -> Option<JobOutput> {
        Some(JobOutput::default())
    }

    fn note_read(&self, _: u64, _: u64) {
        panic!("a reader outside moves nothing");
    }

    fn news<'a>(&'a self, _: u64, _: u64) -> BoxFuture<'a, ()> {
        Box::pin(std::future::pending())
    }

    fn signal(&self, _: u64, _: i32) -> bool {
        true
    }

    fn stop<'a>(&'a self, _: u64) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn note_told(&self, _: u64) -> Option<Receipts> {
        panic!("the model was told nothing");
    }
}

struct SocketFolder {
    _folder: tempfile::TempDir,
    socket: PathBuf,
}

fn place() -> SocketFolder {
    let folder = tempfile::tempdir().expect("there is room");
    SocketFolder { socket: folder.path().join("socket"), _folder: folder }
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("there is room").block_on(work)
}

/// Asks a holder that answers with these bytes and closes.
fn answered(bytes: &'static [u8]) -> Result<JobAnswer, NoAnswer> {
    let place = place();
    let listener = UnixListener::bind(&place.socket).expect("it is ours");
    let holder = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().expect("it comes");
        let mut question = [0; 1024];
        let _ = client.read(&mut question);
        let _ = client.write_all(bytes);
    });
    let answer = run(ask(&place.socket, &Ask::List {}));
    holder.join().expect("it ends");
    answer
}

#[test]
fn jobs_are_served_until_whoever_serves_them_is_dropped() {
    let place = place();
    let jobs: Arc<dyn Jobs> = Arc::new(OneJob);
    let served = serve(&place.socket, Arc::downgrade(&jobs)).expect("it is ours");
    let Ok(JobAnswer::Jobs(found)) = run(ask(&place.socket, &Ask::List {})) else { panic!("there is one") };
    assert_eq!((found[0].number, found[0].running, found[0].duration_ms), (1, true, 2_000));
    assert!(!found[0].command.contains('\n'), "{}", found[0].command);
    assert_eq!(run(ask(&place.socket, &Ask::Port { port: 80 })), Ok(JobAnswer::Is(None)));
    assert_eq!(run(ask(&place.socket, &Ask::End { job: 2 })).ok(), Some(JobAnswer::NoJob));
    let refused = run(connect(&place.socket, 80)).expect("it answers");
    assert!(refused.is_err(), "there is no way to a port here");

    drop(jobs);
    assert_eq!(run(ask(&place.socket, &Ask::List {})), Ok(JobAnswer::NoJob));
    let mut waiting = UnixStream::connect(&place.socket).expect("it listens");
    waiting.write_all(b"{\"v\":1,\"say\":{\"stay\":{}}}\n").expect("it reads");
    drop(served);
    // Closed in order, or before the question was read.
    assert!(matches!(waiting.read(&mut [0]), Ok(0) | Err(_)));
}

#[test]
fn a_signal_that_is_none_is_not_sent() {
    let place = place();
    let jobs: Arc<dyn Jobs> = Arc::new(OneJob);
    let _served = serve(&place.socket, Arc::downgrade(&jobs)).expect("it is ours");
    for (signal, is_sent) in [(15, true), (0, false), (-1, false), (64, false)] {
        let Ok(JobAnswer::Job { came, .. }) = run(ask(&place.socket, &Ask::Signal { job: 1, signal })) else {
            panic!("it answers")
        };
        assert_eq!(came, is_sent, "{signal}");
    }
}

#[test]
fn an_answer_that_is_torn_too_long_or_none_of_ours_is_refused() {
    assert_eq!(answered(b""), Err(NoAnswer::Gone));
    assert_eq!(answered(b"{\"v\":1,\"say\":{\"jobs\":[]}}"), Err(NoAnswer::Gone), "torn");
    assert_eq!(answered(b"{\"v\":1,\"say\":{\"jobs\":[]}}\n"), Ok(JobAnswer::Jobs(Vec::new())));
    assert_eq!(answered(b"hello\n"), Err(NoAnswer::Odd("it is not a message of haft".into())));
    let newer = "it speaks version 2 of the protocol, and this haft version 1";
    assert_eq!(answered(b"{\"v\":2,\"say\":0,\"more\":1}\n"), Err(NoAnswer::Odd(newer.into())));
    let endless: &'static [u8] = vec![b'x'; 3 * 1024 * 1024].leak();
    assert_eq!(answered(endless), Err(NoAnswer::Odd("its answer is too long".into())));
}

#[test]
fn a_holder_that_says_nothing_is_given_up() {
    let place = place();
    let _listener = UnixListener::bind(&place.socket).expect("it is ours");
    assert_eq!(run(ask(&place.socket, &Ask::List {})), Err(NoAnswer::Hangs));
}
