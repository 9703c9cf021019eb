//! How often a person is asked in an ordinary session, their own or that of an agent.
#![expect(clippy::print_stdout, reason = "the counts are printed as a table")]

use haft_testkit::corpora::everyday::{EverydaySession, agent_sessions, sessions};

/// Most questions of one session.
const MOST_QUESTIONS: usize = 2;

#[test]
fn an_everyday_session_asks_at_most_twice() {
    let sessions = sessions();
    assert_eq!(sessions.len(), 30);
    for session in &sessions {
        assert!((15..=40).contains(&session.commands.len()), "{} has {}", session.name, session.commands.len());
    }
    check(&sessions);
}

#[test]
fn a_session_of_an_agent_with_twenty_commands_asks_at_most_twice() {
    let sessions = agent_sessions();
    assert_eq!(sessions.len(), 20);
    for session in &sessions {
        assert_eq!(session.commands.len(), 20, "{}", session.name);
    }
    check(&sessions);
}

/// Prints what the sessions cost, and fails where one asks too often.
#[track_caller]
fn check(sessions: &[EverydaySession]) {
    println!("{:<44} {:>8} {:>6} {:>7}", "session", "commands", "asked", "denied");
    let mut too_often = Vec::new();
    for session in sessions {
        let cost = session.cost();
        let (asked, denied) = (cost.asked.len(), cost.denied.len());
        println!("{:<44} {:>8} {asked:>6} {denied:>7}", session.name, session.commands.len());
        cost.asked.iter().for_each(|command| println!("      asked   {command:?}"));
        cost.denied.iter().for_each(|command| println!("      denied  {command:?}"));
        if asked > MOST_QUESTIONS {
            too_often.push(format!("{}: {:#?}", session.name, cost.asked));
        }
    }
    assert!(too_often.is_empty(), "{}", too_often.join("\n"));
}

#[test]
fn what_is_denied_in_everyday_work_is_only_what_should_be() {
    let denied: Vec<String> = sessions().iter().flat_map(|session| session.cost().denied).collect();
    assert_eq!(denied, ["git push --force"]);
}

#[test]
fn nothing_that_an_agent_does_in_ordinary_work_is_denied() {
    let denied: Vec<String> = agent_sessions().iter().flat_map(|session| session.cost().denied).collect();
    assert!(denied.is_empty(), "{denied:#?}");
}
