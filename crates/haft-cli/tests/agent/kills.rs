//! Kills `haft run` and `haft resume` at random moments: the session can be resumed, and every repetition is reported.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use haft_model::wire::Wire;
use haft_testkit::scripted::scripted_model::{
    ConversationEntry as Spoken, ModelScript, ReplyRequest, ScriptedModel, ScriptedTurn,
};
use serde_json::json;

use crate::place::Place;

/// How many kills one test makes; there are four, 100 in all.
const KILLS: u64 = 25;
/// How many replies with calls the model makes.
const TURNS: usize = 4;

struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) % sides
    }
}

/// Each call leaves a mark of its own, and a second one would be seen.
fn script(round: u64) -> ModelScript {
    let turn = |turn: usize| {
        let bash = format!("echo x >> bash{round}-{turn}.txt");
        let file = format!("file{round}-{turn}.txt");
        ScriptedTurn::call("write_file", json!({ "path": file, "content": "x\n", "write_mode": "create" }))
            .and_call("bash", json!({ "command": bash }))
    };
    ModelScript::of((0..TURNS).map(turn).chain([ScriptedTurn::text("All is done.")]))
}

#[test]
fn a_killed_run_can_be_taken_up_in_the_form_of_anthropic() {
    kill_many(Wire::Anthropic, 11);
}

#[test]
fn a_killed_run_can_be_taken_up_in_the_form_of_responses() {
    kill_many(Wire::Responses, 22);
}

#[test]
fn a_killed_run_can_be_taken_up_in_the_form_of_chat() {
    kill_many(Wire::Chat, 33);
}

#[test]
fn a_killed_run_can_be_taken_up_in_the_form_of_gemini() {
    kill_many(Wire::Gemini, 44);
}

fn kill_many(wire: Wire, seed: u64) {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let (mut taken_up, mut interrupted) = (0, 0);
    for _ in 0..KILLS {
        let place = Place::new();
        kill_one(&place, (wire, 0), &["run", "leave marks"], &mut dice);
        // Every second one is taken up and killed once more.
        if dice.below(2) == 0 && !place.sessions().is_empty() {
            kill_one(&place, (wire, 1), &["resume", "leave more marks"], &mut dice);
        }
        let marks = marks(&place);
        if place.sessions().is_empty() {
            assert!(marks.is_empty(), "what was done is in no session: {marks:?}");
            continue;
        }
        let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("I see.")]));
        let resumed = crate::place::said(place.with(&model, wire, &["resume", "--yes", "where are we?"]));
        // A request that no provider would take makes the model fail when it is dropped.
        assert_eq!((resumed.out.as_str(), resumed.code), ("I see.\n", 0), "{}", resumed.err);
        assert_eq!(self::marks(&place), marks, "taking up a session does nothing by itself");
        let open = judge(&model.requests()[0], &marks);
        assert!(open > 0 || !resumed.err.contains("it may have happened"), "{}", resumed.err);
        taken_up += 1;
        interrupted += open;
    }
    assert!(taken_up > KILLS / 2, "only {taken_up} sessions were begun; the kills come too early");
    assert!(interrupted > 0, "no kill fell into a call; the kills come at the wrong moments");
}

/// Starts the command and kills it after some records and some time.
fn kill_one(place: &Place, (wire, round): (Wire, u64), arguments: &[&str], dice: &mut Dice) {
    let model = ScriptedModel::start(script(round));
    let arguments = [&["--yes", "--json"], arguments].concat();
    let mut child = place.with(&model, wire, &arguments).spawn().expect("it can be started");
    let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
    let (tell, told) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        for _ in 0..dice.below(20) {
            if told.recv().is_err() {
                break;
            }
        }
        let moment = Instant::now() + Duration::from_micros(dice.below(30_000));
        while let Some(left) = moment.checked_duration_since(Instant::now()) {
            if told.recv_timeout(left).is_err() {
                break;
            }
        }
        child.kill().expect("it is ours");
        child.wait().expect("it ends");
    });
}

/// Returns what calls have done, by the names of the files: how many lines each has.
fn marks(place: &Place) -> HashMap<String, usize> {
    // The next command cleans up after a process that was killed in the middle of a change.
    let log = crate::place::said(place.bare(&["log"]));
    assert_eq!(log.code, 0, "{}", log.err);
    let entries = std::fs::read_dir(place.path("ws")).expect("it is there").map(|entry| entry.expect("it can be read"));
    let named = entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
    let marked = named.filter(|(name, _)| name.starts_with("file") || name.starts_with("bash"));
    marked.map(|(name, path)| (name, std::fs::read_to_string(path).expect("it is text").lines().count())).collect()
}

/// Compares what the model is told with what was done; returns how many calls may have happened.
fn judge(asked: &ReplyRequest, marks: &HashMap<String, usize>) -> u64 {
    let mut open = 0;
    let mut known: Vec<String> = Vec::new();
    let mut made = Vec::new();
    for said in &asked.conversation.said {
        match said {
            Spoken::User(_) => {}
            Spoken::Model(_, calls) => made = calls.clone(),
            Spoken::Results(results) => {
                assert_eq!(made.len(), results.len(), "every call has one answer: {}", asked.text);
                for (call, result) in made.drain(..).zip(results) {
                    let mark = mark_of(&call.arguments);
                    let is_done = marks.contains_key(&mark);
                    let text = &result.text;
                    if text.contains("It may have taken effect") {
                        open += 1;
                    } else if text.contains("no record says that this call began") {
                        assert!(!is_done, "{mark} was done, and the model is told that nothing was: {text}");
                    } else {
                        assert!(is_done, "{mark} was not done, and the model is told: {text}");
                    }
                    known.push(mark);
                }
            }
        }
    }
    for (mark, lines) in marks {
        assert!(known.contains(mark), "{mark} was done, and the model does not know: {}", asked.text);
        assert_eq!(*lines, 1, "{mark} was done twice");
    }
    open
}

/// Returns the file that a call makes.
fn mark_of(arguments: &str) -> String {
    let arguments: serde_json::Value = serde_json::from_str(arguments).expect("the script has objects");
    let path = arguments["path"].as_str().map(str::to_owned);
    path.unwrap_or_else(|| {
        let command = arguments["command"].as_str().expect("it is a command");
        command.rsplit(' ').next().expect("it names a file").to_owned()
    })
}
