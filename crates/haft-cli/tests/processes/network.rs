//! The network of one command: there when a part of it that was approved uses it, and not otherwise.

use std::net::TcpListener;

use haft_contract::doors::process::{CommandEnd, CommandSpec, ConfinementLevel, Processes, Stream};
use haft_contract::effect::{CommandStep, Effect, Host, StepEffect};
use tokio_util::sync::CancellationToken;

use crate::house::{House, OpenGround, alone, block_on, houses, permit_with};

/// A listener outside, and the command that calls it.
struct Outside {
    listener: TcpListener,
    script: String,
}

impl Outside {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a loopback");
        listener.set_nonblocking(true).expect("it can be asked for");
        let port = listener.local_addr().expect("it is bound").port();
        Self { listener, script: format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached") }
    }

    fn was_called(&self) -> bool {
        self.listener.accept().is_ok()
    }
}

fn part(command: &str, does: StepEffect) -> Effect {
    Effect::Step(CommandStep {
        command: command.into(),
        folder: "".into(),
        part: (0, command.len()),
        words: ["exec".to_owned()].into(),
        does,
    })
}

/// Runs the command with these approved effects beside it; returns what it printed and how it ended.
fn run_with(house: &House, command: &CommandSpec, effects: &[Effect]) -> (String, CommandEnd) {
    let permit = permit_with(command, effects);
    let printed = std::sync::Mutex::new(Vec::new());
    let hear = |stream: Stream, piece: &[u8]| {
        if stream == Stream::Out {
            printed.lock().expect("nobody panics").extend_from_slice(piece);
        }
    };
    let ended = block_on(house.sandbox.run(&permit, command, &OpenGround::at(&house.path()), &hear));
    let printed = String::from_utf8_lossy(&printed.into_inner().expect("nobody panics")).into_owned();
    (printed, ended.expect("it runs"))
}

#[test]
fn a_command_has_the_network_when_a_part_that_was_approved_uses_it() {
    let _alone = alone();
    for (level, house) in houses() {
        let outside = Outside::new();
        let command = house.script(&outside.script, 10.0);
        let host = || Some(Host("127.0.0.1".into()));
        for does in [StepEffect::Connect(host()), StepEffect::Connect(None), StepEffect::Publish("send it".into())] {
            let (printed, ended) = run_with(&house, &command, &[part(&outside.script, does)]);
            assert_eq!(printed, "reached\n", "{level}: {ended:?}");
            assert!(outside.was_called(), "{level}");
            assert!(!ended.notes.iter().any(|note| note.contains("network")), "it got there: {ended:?}");
        }
    }
}

#[test]
fn without_such_a_part_the_network_stays_off() {
    let _alone = alone();
    for (level, house) in houses().into_iter().filter(|(level, _)| *level != ConfinementLevel::None) {
        let outside = Outside::new();
        let command = house.script(&outside.script, 10.0);
        let others = [
            vec![],
            vec![part(&outside.script, StepEffect::Code("run code".into()))],
            vec![part("another command", StepEffect::Connect(None))],
            vec![Effect::Connect(Host("127.0.0.1".into()))],
        ];
        for effects in others {
            let (printed, ended) = run_with(&house, &command, &effects);
            assert_eq!(printed, "", "{level}: {effects:?}");
            assert!(!outside.was_called(), "{level}: {effects:?}");
            assert!(!ended.notes.iter().any(|note| note.contains("with the network")), "{ended:?}");
        }
    }
}

#[test]
fn the_next_command_has_it_no_more() {
    let _alone = alone();
    let house = House::at(ConfinementLevel::Full);
    let outside = Outside::new();
    let command = house.script(&outside.script, 10.0);
    run_with(&house, &command, &[part(&outside.script, StepEffect::Connect(None))]);
    assert!(outside.was_called());
    house.run_command(&command, &CancellationToken::new());
    assert!(!outside.was_called());
}
