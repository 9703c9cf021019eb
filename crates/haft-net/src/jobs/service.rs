//! Serves the jobs of a session on a separate thread, so no call of the session waits for a client.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use haft_contract::doors::job::{JobFacts, Jobs};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use tokio::io::Interest;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{sleep, timeout};

use super::message::{Ask, JobAnswer, JobRecord, LONGEST_ASK, LONGEST_WAIT, MOST_OUTPUT, from_line, to_line};

/// Most clients at a time; others wait until one is gone.
const MOST_CLIENTS: usize = 64;
/// How long a client may take to ask, and to take its answer.
const TO_TALK: Duration = Duration::from_secs(2);
/// How long to wait when the system has no more descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// What is served, until this is dropped.
pub struct ServedJobs {
    _end: oneshot::Sender<()>,
}

/// Serves jobs on a socket at this path, until what it returns is dropped.
///
/// # Errors
///
/// Fails where the socket or the thread cannot be made.
pub fn serve(path: &Path, jobs: Weak<dyn Jobs>) -> io::Result<ServedJobs> {
    let listener = std::os::unix::net::UnixListener::bind(path)?;
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (end, ended) = oneshot::channel::<()>();
    let work = move || {
        runtime.block_on(async {
            tokio::select! {
                // The owner of the other end drops it to stop the service.
                _ = ended => {}
                () = accept(listener, jobs) => {}
            }
        });
        runtime.shutdown_background();
    };
    std::thread::Builder::new().name("haft-jobs".into()).spawn(work)?;
    Ok(ServedJobs { _end: end })
}

async fn accept(listener: std::os::unix::net::UnixListener, jobs: Weak<dyn Jobs>) {
    let Ok(listener) = UnixListener::from_std(listener) else { return };
    let room = Arc::new(Semaphore::new(MOST_CLIENTS));
    while let Ok(place) = Arc::clone(&room).acquire_owned().await {
        let Ok((client, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let jobs = Weak::clone(&jobs);
        tokio::spawn(async move {
            // An error means that the client is gone or silent, and needs no report.
            let _ = attend(&client, jobs).await;
            drop(place);
        });
    }
}

async fn attend(client: &UnixStream, jobs: Weak<dyn Jobs>) -> io::Result<()> {
    if client.peer_cred()?.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let line = timeout(TO_TALK, read_line(client)).await??;
    let ask = match from_line::<Ask>(&line) {
        Ok(ask) => ask,
        Err(why) => return say(client, &JobAnswer::Refused(why)).await,
    };
    if let Ask::Connect { port } = ask {
        return match connected(jobs, port).await {
            Ok(socket) => say_with(client, &JobAnswer::Connected, socket).await,
            Err(error) => say(client, &JobAnswer::NotConnected(error.to_string())).await,
        };
    }
    let answer = tokio::select! {
        answer = answer(ask, jobs) => answer,
        () = gone(client) => return Ok(()),
    };
    say(client, &answer).await
}

/// Reads the one line that a client says.
async fn read_line(client: &UnixStream) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        client.readable().await?;
        let mut piece = [0; 4096];
        match client.try_read(&mut piece) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => line.extend_from_slice(&piece[..read]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error),
        }
        match line.iter().position(|byte| *byte == b'\n') {
            Some(end) if end + 1 == line.len() => return Ok(line),
            Some(_) => return Err(io::ErrorKind::InvalidData.into()),
            None if line.len() > LONGEST_ASK => return Err(io::ErrorKind::InvalidData.into()),
            None => {}
        }
    }
}

/// Returns when a client has gone, or says more than it may.
async fn gone(client: &UnixStream) {
    while client.readable().await.is_ok() {
        match client.try_read(&mut [0]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(_) | Err(_) => return,
        }
    }
}

async fn say(client: &UnixStream, answer: &JobAnswer) -> io::Result<()> {
    let line = to_line(answer)?;
    let mut rest = &line[..];
    while !rest.is_empty() {
        timeout(TO_TALK, client.writable()).await??;
        match client.try_write(rest) {
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Says something short that comes with a descriptor.
async fn say_with(client: &UnixStream, answer: &JobAnswer, descriptor: OwnedFd) -> io::Result<()> {
    let line = to_line(answer)?;
    let send = || {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let descriptors = [descriptor.as_fd()];
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        Ok(sendmsg(client, &[IoSlice::new(&line)], &mut ancillary, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)?)
    };
    match timeout(TO_TALK, client.async_io(Interest::WRITABLE, send)).await?? {
        all if all == line.len() => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Connects on another thread: the program that listens may take its time.
async fn connected(jobs: Weak<dyn Jobs>, port: u16) -> io::Result<OwnedFd> {
    let jobs = jobs.upgrade().ok_or(io::ErrorKind::NotFound)?;
    tokio::task::spawn_blocking(move || jobs.connect(port)).await.map_err(io::Error::other)?
}

async fn answer(ask: Ask, jobs: Weak<dyn Jobs>) -> JobAnswer {
    if ask == (Ask::Stay {}) {
        sleep(LONGEST_WAIT).await;
        return JobAnswer::Stays;
    }
    let Some(jobs) = jobs.upgrade() else { return JobAnswer::NoJob };
    match ask {
        Ask::List {} => JobAnswer::Jobs(jobs.all().iter().map(JobRecord::from).collect()),
        Ask::Port { port } => JobAnswer::Is(jobs.is_listening(port)),
        Ask::Output { job, from, most, waits } => {
            if waits {
                let _ = timeout(LONGEST_WAIT, jobs.news(job, from)).await;
            }
            output(&*jobs, job, (from, most))
        }
        Ask::Line { job, text } => state_after(&*jobs, job, until_line(&*jobs, job, &text)).await,
        Ask::End { job } => state_after(&*jobs, job, until_end(&*jobs, job)).await,
        Ask::Signal { job, signal } => {
            let is_sent = (1..=31).contains(&signal) && jobs.signal(job, signal);
            state_after(&*jobs, job, std::future::ready(is_sent)).await
        }
        Ask::Stop { job } => {
            let stopped = async {
                jobs.stop(job).await;
                true
            };
            state_after(&*jobs, job, stopped).await
        }
        Ask::Sync { job } => match jobs.sync(job).await {
            Ok(sync) => JobAnswer::Synced {
                done: true,
                words: sync.words(),
                change_set: sync.change_set.map(|number| number.0),
            },
            Err(error) => JobAnswer::Synced { done: false, words: error.what.clone(), change_set: None },
        },
        Ask::Restart { job } => restarted(&*jobs, job).await,
        Ask::Stay {} | Ask::Connect { .. } => JobAnswer::Stays,
    }
}

async fn restarted(jobs: &dyn Jobs, job: u64) -> JobAnswer {
    if facts(jobs, job).is_none() {
        return JobAnswer::NoJob;
    }
    let number = match jobs.restart(job).await {
        Ok(number) => number,
        Err(error) => return JobAnswer::NotRestarted(error.what.clone()),
    };
    match facts(jobs, job).zip(facts(jobs, number)) {
        Some((ended, job)) => JobAnswer::Restarted { ended: JobRecord::from(&ended), job: JobRecord::from(&job) },
        None => JobAnswer::NoJob,
    }
}

fn facts(jobs: &dyn Jobs, job: u64) -> Option<JobFacts> {
    jobs.all().into_iter().find(|facts| facts.number == job)
}

/// Waits for a job, and says how it stands then.
async fn state_after(jobs: &dyn Jobs, job: u64, waits: impl Future<Output = bool>) -> JobAnswer {
    let came = timeout(LONGEST_WAIT, waits).await.unwrap_or(false);
    facts(jobs, job).map_or(JobAnswer::NoJob, |facts| JobAnswer::Job { came, job: JobRecord::from(&facts) })
}

fn output(jobs: &dyn Jobs, job: u64, (from, most): (u64, usize)) -> JobAnswer {
    // First how it stands, then what it printed: one that has ended prints nothing more.
    let Some(facts) = facts(jobs, job) else { return JobAnswer::NoJob };
    let Some(output) = jobs.output(job, from, most.min(MOST_OUTPUT)) else { return JobAnswer::NoJob };
    let (text, left_out, position) = (output.text, output.left_out, output.position);
    JobAnswer::Output { text, left_out, position, job: JobRecord::from(&facts) }
}

async fn until_line(jobs: &dyn Jobs, job: u64, text: &str) -> bool {
    while let Some(facts) = facts(jobs, job) {
        let output = jobs.output(job, 0, usize::MAX).unwrap_or_default();
        if output.text.contains(text) {
            return true;
        }
        if facts.end.is_some() {
            return false;
        }
        jobs.news(job, facts.printed).await;
    }
    false
}

async fn until_end(jobs: &dyn Jobs, job: u64) -> bool {
    while let Some(facts) = facts(jobs, job).filter(|facts| facts.end.is_none()) {
        jobs.news(job, facts.printed).await;
    }
    true
}
