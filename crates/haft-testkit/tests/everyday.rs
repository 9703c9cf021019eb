//! How often a developer is asked in an ordinary session.
#![expect(clippy::print_stdout, reason = "the counts are printed as a table")]

use haft_testkit::everyday::sessions;

/// Most questions of one session.
const MOST_QUESTIONS: usize = 3;
/// A session that asks more often: `npx` may download, so each call of it is a question about the network, and a grant
/// names a host, which nobody knows here.
const KNOWN: (&str, usize) = ("node: a bug in the router", 4);

#[test]
fn an_everyday_session_asks_at_most_three_times_but_for_one() {
    let sessions = sessions();
    assert_eq!(sessions.len(), 30);
    println!("{:<44} {:>8} {:>6} {:>7}", "session", "commands", "asked", "denied");
    let mut too_often = Vec::new();
    for session in &sessions {
        assert!((15..=40).contains(&session.commands.len()), "{} has {}", session.name, session.commands.len());
        let cost = session.cost();
        let (asked, denied) = (cost.asked.len(), cost.denied.len());
        println!("{:<44} {:>8} {asked:>6} {denied:>7}", session.name, session.commands.len());
        cost.asked.iter().for_each(|command| println!("      asked   {command:?}"));
        cost.denied.iter().for_each(|command| println!("      denied  {command:?}"));
        let most = if session.name == KNOWN.0 { KNOWN.1 } else { MOST_QUESTIONS };
        if asked > most {
            too_often.push(format!("{}: {:#?}", session.name, cost.asked));
        }
    }
    assert!(too_often.is_empty(), "{}", too_often.join("\n"));
}

#[test]
fn the_session_that_asks_more_often_still_does() {
    let session = sessions().into_iter().find(|session| session.name == KNOWN.0).expect("it is there");
    assert_eq!(session.cost().asked.len(), KNOWN.1, "take it out of KNOWN");
}

#[test]
fn what_is_denied_in_everyday_work_is_only_what_should_be() {
    let denied: Vec<String> = sessions().iter().flat_map(|session| session.cost().denied).collect();
    assert_eq!(denied, ["git push --force"]);
}
