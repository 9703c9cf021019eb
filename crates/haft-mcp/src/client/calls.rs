//! The calls that run on a connection, and what their server sends them.
//!
//! Each call has a channel for progress, a channel for the server's questions, and a clock of the server's silence.
//!
//! The protocol does not say for which call a server asks. haft assumes the call that began last. If no call runs,
//! haft cannot answer the question.

#![expect(deprecated, reason = "sampling goes away with the servers that ask for it")]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult, ProgressNotificationParam,
    ProgressToken,
};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// Most characters of a word of progress.
const LONGEST_PROGRESS: usize = 500;

/// A question of a server during a call.
pub(crate) enum ServerQuestion {
    /// The user is to answer.
    Elicit(Box<ElicitRequestParams>, oneshot::Sender<ElicitResult>),
    /// The user's model is to answer.
    Sample(Box<CreateMessageRequestParams>, oneshot::Sender<Result<CreateMessageResult, String>>),
}

/// What a call hears of its server.
#[derive(Clone)]
pub(crate) struct CallEars {
    pub(crate) progress: mpsc::Sender<String>,
    pub(crate) questions: mpsc::Sender<ServerQuestion>,
}

/// The calls that run.
#[derive(Clone, Default)]
pub(crate) struct RunningCalls(Arc<Mutex<Vec<RunningCall>>>);

struct RunningCall {
    token: ProgressToken,
    call: HeardCall,
}

/// A call that hears its server.
#[derive(Clone)]
pub(crate) struct HeardCall {
    pub(crate) ears: CallEars,
    pub(crate) clock: Arc<CallClock>,
}

impl RunningCalls {
    /// Lets a call hear its server.
    pub(crate) fn open(&self, token: ProgressToken, call: HeardCall) {
        self.calls().push(RunningCall { token, call });
    }

    /// Ends that.
    pub(crate) fn close(&self, token: &ProgressToken) {
        self.calls().retain(|call| call.token != *token);
    }

    /// Passes progress on.
    pub(crate) fn pass_on(&self, progress: &ProgressNotificationParam) {
        let calls = self.calls();
        let Some(call) = calls.iter().find(|call| call.token == progress.progress_token) else { return };
        call.call.clock.touch();
        let part = match progress.total {
            Some(total) => format!("{}/{total}", progress.progress),
            None => progress.progress.to_string(),
        };
        let words: String = progress.message.iter().flat_map(|words| words.chars()).take(LONGEST_PROGRESS).collect();
        // A slow caller misses some of the progress.
        let _ = call.call.ears.progress.try_send(format!("{part} {words}\n"));
    }

    /// Passes a line of the server's log on.
    pub(crate) fn log(&self, line: &str) {
        if let Some(call) = self.calls().last() {
            let _ = call.call.ears.progress.try_send(format!("{line}\n"));
        }
    }

    /// Asks the call that began last; nothing if none runs, or it does not listen.
    pub(crate) async fn ask(&self, question: impl FnOnce() -> ServerQuestion) -> Option<QuestionTime> {
        let (sender, clock) = {
            let calls = self.calls();
            let call = calls.last()?;
            (call.call.ears.questions.clone(), call.call.clock.clone())
        };
        let time = QuestionTime::begin(clock);
        sender.send(question()).await.ok()?;
        Some(time)
    }

    fn calls(&self) -> MutexGuard<'_, Vec<RunningCall>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a server has been silent in a call, and how long the call takes. Time that the user needs for an answer is
/// neither.
pub(crate) struct CallClock(Mutex<Times>);

struct Times {
    began: Instant,
    last: Instant,
    /// Questions that are open, since when, and how long all earlier ones took.
    open: usize,
    since: Instant,
    asked: Duration,
}

/// When a call is given up, as things are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Then, if nothing happens before.
    At(Instant),
    /// Now: the server was silent for too long.
    Idle,
    /// Now: the call took too long.
    Total,
}

impl CallClock {
    pub(crate) fn start() -> Arc<Self> {
        let now = Instant::now();
        Arc::new(Self(Mutex::new(Times { began: now, last: now, open: 0, since: now, asked: Duration::ZERO })))
    }

    fn touch(&self) {
        self.times().last = Instant::now();
    }

    /// Returns when the call is to be given up.
    pub(crate) fn due(&self, idle: Duration, total: Duration) -> Due {
        let (now, times) = (Instant::now(), self.times());
        if times.open > 0 {
            return Due::At(now + idle);
        }
        let (silent_at, ended_at) = (times.last + idle, times.began + total + times.asked);
        match (silent_at <= now, ended_at <= now) {
            (_, true) => Due::Total,
            (true, false) => Due::Idle,
            (false, false) => Due::At(silent_at.min(ended_at)),
        }
    }

    fn times(&self) -> MutexGuard<'_, Times> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time of one question; it ends with the value.
pub(crate) struct QuestionTime(Arc<CallClock>);

impl QuestionTime {
    fn begin(clock: Arc<CallClock>) -> Self {
        {
            let mut times = clock.times();
            if times.open == 0 {
                times.since = Instant::now();
            }
            times.open += 1;
        }
        Self(clock)
    }
}

impl Drop for QuestionTime {
    fn drop(&mut self) {
        let mut times = self.0.times();
        times.open -= 1;
        times.last = Instant::now();
        if times.open == 0 {
            let took = times.since.elapsed();
            times.asked += took;
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    #[tokio::test]
    async fn progress_ends_silence_and_time_for_an_answer_is_no_time_of_the_call() {
        let (progress, mut heard) = mpsc::channel(1);
        let (questions, mut asked) = mpsc::channel(1);
        let (calls, clock) = (RunningCalls::default(), CallClock::start());
        let token = ProgressToken(NumberOrString::Number(1));
        let ears = CallEars { progress, questions };
        calls.open(token.clone(), HeardCall { ears, clock: clock.clone() });
        assert!(matches!(clock.due(HOUR, HOUR), Due::At(_)));
        assert_eq!(clock.due(Duration::ZERO, HOUR), Due::Idle);
        assert_eq!(clock.due(HOUR, Duration::ZERO), Due::Total);
        let before = clock.times().last;
        calls.pass_on(&ProgressNotificationParam::new(token, 1.0));
        assert!(heard.recv().await.is_some() && clock.times().last > before);

        let (sender, _answer) = oneshot::channel();
        let params: CreateMessageRequestParams =
            serde_json::from_value(serde_json::json!({ "messages": [], "maxTokens": 1 })).expect("they are some");
        let time = calls.ask(|| ServerQuestion::Sample(Box::new(params), sender)).await.expect("a call runs");
        assert!(asked.recv().await.is_some());
        assert!(matches!(clock.due(Duration::ZERO, Duration::ZERO), Due::At(_)));
        drop(time);
        assert_eq!(clock.due(Duration::ZERO, HOUR), Due::Idle);
        assert!(clock.times().asked > Duration::ZERO);
    }

    #[tokio::test]
    async fn a_question_while_no_call_runs_has_nobody_to_answer_it() {
        let (sender, _answer) = oneshot::channel();
        let params: CreateMessageRequestParams =
            serde_json::from_value(serde_json::json!({ "messages": [], "maxTokens": 1 })).expect("they are some");
        assert!(RunningCalls::default().ask(|| ServerQuestion::Sample(Box::new(params), sender)).await.is_none());
    }
}
