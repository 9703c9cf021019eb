//! How often a developer is asked in an ordinary session.
#![expect(clippy::print_stdout, reason = "the counts are printed as a table")]

use haft_testkit::everyday::sessions;

/// Most questions of one session.
const MOST_QUESTIONS: usize = 2;

#[test]
fn an_everyday_session_asks_at_most_twice() {
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
