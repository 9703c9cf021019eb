//! Many commands side by side, and one after the other: results reach the right caller, and nothing is left open.

use std::collections::HashSet;

use haft_contract::doors::process::HowEnded;
use tokio_util::sync::CancellationToken;

use crate::house::{alone, block_on, houses};

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("it is there").count()
}

#[test]
fn fifty_calls_at_once_each_get_their_own_result() {
    let _alone = alone();
    for (level, house) in houses() {
        let outputs: Vec<(usize, String)> = block_on(async {
            let calls = (0..50).map(|number| {
                let command =
                    house.script(&format!("echo {number}; sleep 0.1; echo {number} >&2; exit {number}"), 30.0);
                let house = &house;
                async move {
                    let outcome = house.start(&command, &CancellationToken::new()).await;
                    assert_eq!(outcome.how(), HowEnded::Exited(i32::try_from(number).expect("it is small")));
                    assert_eq!(outcome.out, outcome.err);
                    (number, outcome.text())
                }
            });
            futures_util::future::join_all(calls).await
        });
        assert!(outputs.iter().all(|(number, text)| *text == format!("{number}\n")), "{level}: {outputs:?}");
        assert_eq!(outputs.iter().map(|(number, _)| number).collect::<HashSet<_>>().len(), 50);
        house.assert_empty("50 at once");
    }
}

#[test]
fn a_hundred_calls_leave_no_descriptor_open() {
    let _alone = alone();
    for (level, house) in houses() {
        block_on(async {
            let runs = || house.script("sleep 1000 & echo x", 10.0);
            house.start(&runs(), &CancellationToken::new()).await;
            let before = descriptors();
            for _ in 0..2 {
                let commands: Vec<_> = (0..50).map(|_| runs()).collect();
                let stop = CancellationToken::new();
                let calls = commands.iter().map(|command| house.start(command, &stop));
                for outcome in futures_util::future::join_all(calls).await {
                    assert_eq!(outcome.how(), HowEnded::Exited(0));
                }
            }
            assert_eq!(descriptors(), before, "{level}");
        });
        house.assert_empty("a hundred calls");
    }
}
