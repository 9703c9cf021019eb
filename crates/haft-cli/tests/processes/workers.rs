//! Workers: one process for many calls, each with a fresh view of the workspace and a layer of its own.

use std::net::TcpListener;
use std::process::Command as Program;
use std::time::{Duration, Instant};

use haft_contract::doors::process::{ConfinementLevel, HowEnded, NotRun, Processes};
use haft_testkit::require::Need;

use crate::house::{COPY, House, alone, block_on};
use crate::workshop::{ORDINARY, Owner, Workshop, permit, permit_with_network};

/// Set where a test runs a second time, as an ordinary user.
const AGAIN: &str = "HAFT_TEST_ORDINARY";

#[track_caller]
fn reaches(level: ConfinementLevel) -> bool {
    House::at(level).reaches(level)
}

/// Runs a scene as the current user, for a workspace of another user, and as an ordinary user, where possible.
fn for_everybody(name: &str, scene: fn(&Workshop)) {
    let _alone = alone();
    if !reaches(ConfinementLevel::Full) {
        return;
    }
    scene(&Workshop::new(ConfinementLevel::Full, Owner::Own));
    if !rustix::process::getuid().is_root() || std::env::var_os(AGAIN).is_some() {
        return;
    }
    scene(&Workshop::new(ConfinementLevel::Full, Owner::Ordinary));
    // Copies, because an ordinary user may not get to where they were built.
    let folder = tempfile::tempdir().expect("there is room");
    let everyone = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), everyone).expect("it is ours");
    let (own, haft) = (folder.path().join("processes"), folder.path().join("haft"));
    std::fs::copy(std::env::current_exe().expect("it is known"), &own).expect("it can be copied");
    std::fs::copy(env!("CARGO_BIN_EXE_haft"), &haft).expect("it can be copied");
    let mut again = Program::new("setpriv");
    again.args([&format!("--reuid={ORDINARY}"), &format!("--regid={ORDINARY}"), "--clear-groups"]);
    again.arg(own).args(["--exact", &format!("workers::{name}"), "--nocapture"]).env(AGAIN, "1").env(COPY, haft);
    // Its standard error is ours, so that what it skips is reported.
    let again = again.stderr(std::process::Stdio::inherit()).output();
    if let Some(output) = Need::Users.found(again.ok()) {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn each_call_sees_what_was_changed_outside_and_only_its_own_writes() {
    for_everybody("each_call_sees_what_was_changed_outside_and_only_its_own_writes", |shop| {
        shop.write("written", "0");
        shop.write("replaced", "0");
        block_on(async {
            let mut hired = shop.hire().await;
            let rounds = if shop.owner == Owner::Own && std::env::var_os(AGAIN).is_none() { 200 } else { 40 };
            for round in 0..rounds {
                shop.write("written", &round.to_string());
                shop.replace("replaced", &round.to_string());
                let line =
                    format!("echo $(<written) $(<replaced) *; echo {round} > made-{round}; echo $(<made-{round})");
                let expected = format!("{round} {round} replaced written|{round}");
                if round % 10 != 0 {
                    assert_eq!(hired.thrown_away(&line).await, expected);
                    continue;
                }
                let call = hired.call(&line).await;
                assert_eq!(call.answer, expected);
                let kept: Vec<String> = call.settled.changes.iter().map(|change| change.target.to_string()).collect();
                assert_eq!(kept, [format!("made-{round}")], "{call:?}");
                std::fs::remove_file(shop.at(&format!("made-{round}"))).expect("it was kept");
            }
        });
        shop.house.wait_until_empty(Duration::from_secs(2));
    });
}

#[test]
fn what_is_thrown_away_is_not_seen_by_the_next_call() {
    for_everybody("what_is_thrown_away_is_not_seen_by_the_next_call", |shop| {
        shop.write("a", "old");
        block_on(async {
            let mut hired = shop.hire().await;
            for _ in 0..3 {
                assert_eq!(hired.thrown_away("cat a; ls; echo new > a; echo b > b; cat a b").await, "olda|new|b");
            }
        });
        assert_eq!(std::fs::read_to_string(shop.at("a")).expect("it is there"), "old");
    });
}

#[test]
fn between_calls_nothing_of_the_workspace_is_there() {
    for_everybody("between_calls_nothing_of_the_workspace_is_there", |shop| {
        shop.write("secret", "canary");
        block_on(async {
            let mut hired = shop.hire().await;
            let mark = shop.house.path();
            // It looks by itself until its call is over, and tells in the next one what it saw.
            let look =
                "!( : ); exec 8< <(cd /; while [ -e \"$WORKSPACE/secret\" ]; do :; done; ls -A \"$WORKSPACE\" | wc -l)";
            hired.call(look).await;
            // haft ended the process that looked together with its call, and it reported nothing.
            let seen = hired.call("cat <&8 2>/dev/null; test -e secret && echo there").await;
            assert_eq!(seen.answer, "there", "{}", mark.display());
        });
    });
}

#[test]
fn what_a_call_leaves_behind_ends_with_it() {
    let _alone = alone();
    for level in [ConfinementLevel::None, ConfinementLevel::Partial, ConfinementLevel::Full]
        .into_iter()
        .filter(|level| reaches(*level))
    {
        let shop = Workshop::new(level, Owner::Own);
        block_on(async {
            let mut hired = shop.hire().await;
            let stubborn = "trap '' TERM HUP INT; sleep 1000";
            let line = format!(
                "for n in 1 2 3; do setsid bash -c \"{stubborn}\" > /dev/null 2>&1 < /dev/null & done; echo on"
            );
            for _ in 0..3 {
                let call = hired.call(&line).await;
                // Each is a shell and what it waits for.
                assert!((3..=6).contains(&call.left_behind) && call.answer == "on", "{level}: {call:?}");
                assert_eq!(hired.call("echo well").await.left_behind, 0, "{level}");
            }
            let began = Instant::now();
            let ended = hired.worker.end(HowEnded::Stopped).await;
            assert_eq!((ended.how, ended.level), (HowEnded::Stopped, level));
            assert!(began.elapsed() < Duration::from_secs(1), "{level}: {:?}", began.elapsed());
        });
        shop.house.assert_empty("a worker that was ended");
    }
}

#[test]
fn a_worker_that_keeps_a_file_open_for_writing_is_ended_and_writes_no_more() {
    for_everybody("a_worker_that_keeps_a_file_open_for_writing_is_ended_and_writes_no_more", |shop| {
        shop.write("a", "old");
        block_on(async {
            let mut hired = shop.hire().await;
            let ended = hired.try_call("!exec 9>> a; echo more >&9").await.expect_err("it holds on");
            assert!(ended.notes.iter().any(|note| note.contains("open for writing")), "{ended:?}");
            let ground = hired.ground.take().expect("it was on one");
            let settled = ground
                .settle(&permit(), haft_contract::doors::process::Disposition::Commit)
                .await
                .expect("it can be settled");
            assert_eq!(settled.changes.len(), 1);
        });
        assert_eq!(std::fs::read_to_string(shop.at("a")).expect("it is there"), "oldmore\n");
        shop.house.wait_until_empty(Duration::from_secs(2));
    });
}

#[test]
fn what_a_worker_keeps_open_to_read_or_as_its_folder_can_change_nothing() {
    for_everybody("what_a_worker_keeps_open_to_read_or_as_its_folder_can_change_nothing", |shop| {
        shop.write("a", "old");
        shop.folder("folder");
        block_on(async {
            let mut hired = shop.hire().await;
            hired.call("!exec 8< a 7< folder").await;
            let line = "cat <&8; for way in /proc/$$/fd/7 /proc/self/fd/7; do (echo x > $way/new) 2> /dev/null && echo wrote; done; ls -A folder | wc -l";
            let call = hired.call(line).await;
            assert_eq!(call.answer, "old0");
            assert_eq!(call.settled.changes.len(), 0, "{call:?}");
        });
        assert_eq!(std::fs::read_dir(shop.at("folder")).expect("it is there").count(), 0);
    });
}

#[test]
fn folders_are_renamed_in_later_calls_too() {
    for_everybody("folders_are_renamed_in_later_calls_too", |shop| {
        shop.folder("old");
        shop.folder("old/deep");
        shop.write("old/deep/file", "text");
        block_on(async {
            let mut hired = shop.hire().await;
            for (from, to) in [("old", "one"), ("one", "two"), ("two", "three")] {
                let line = format!(
                    "python3 -c 'import os; os.rename(\"{from}\", \"{to}\")' 2>&1 || mv {from} {to}; cat {to}/deep/file"
                );
                let call = hired.call(&line).await;
                assert_eq!(call.answer, "text", "{call:?}");
                assert!(shop.at(to).join("deep/file").exists() && !shop.at(from).exists(), "{call:?}");
            }
        });
    });
}

#[test]
fn no_call_gets_out() {
    for_everybody("no_call_gets_out", |shop| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a loopback");
        listener.set_nonblocking(true).expect("it can be asked for");
        let port = listener.local_addr().expect("it is bound").port();
        let outside = tempfile::tempdir().expect("it can be made");
        let home = outside.path().join("canary");
        std::fs::write(&home, "canary").expect("it can be written");
        let outside = outside.path().display();
        let attempts = [
            format!("cat {outside}/canary; ls {outside}"),
            format!("echo x > {outside}/canary; echo x > \"$WORKSPACE.x\""),
            "for f in /x /etc/x /usr/x /dev/x /proc/sys/kernel/core_pattern; do (echo y > $f) 2> /dev/null && echo ESCAPED; done".into(),
            format!("(exec 5<>/dev/tcp/127.0.0.1/{port}) 2> /dev/null && echo ESCAPED"),
            "mount -t tmpfs none /tmp 2> /dev/null && echo ESCAPED; umount -l \"$WORKSPACE\" 2> /dev/null && echo ESCAPED".into(),
            "umount -l /proc 2> /dev/null && echo ESCAPED; ls /proc/workshop /proc/root-0 /proc/layers-0 2> /dev/null && echo ESCAPED".into(),
            "unshare -Ur true 2> /dev/null && echo ESCAPED; chroot / true 2> /dev/null && echo ESCAPED".into(),
            "for p in /proc/[0-9]*; do n=${p#/proc/}; [ $n = $$ ] || [ $n = $BASHPID ] && continue; cat $p/mem > /dev/null 2>&1 && [ $n -le 2 ] && echo ESCAPED; readlink $p/fd/* > /dev/null 2>&1 && [ $n -le 2 ] && echo ESCAPED $n; ls $p/root/ > /dev/null 2>&1 && [ $n -le 2 ] && echo ESCAPED $n; done".into(),
            "kill -9 1 2 2> /dev/null; kill -STOP 1 2> /dev/null; echo on".into(),
            "grep -E '^Cap(Prm|Eff|Bnd|Amb)' /proc/self/status | grep -v 0000000000000000 && echo ESCAPED; grep -q '^NoNewPrivs:.*1' /proc/self/status || echo ESCAPED; grep -q '^Seccomp:.*2' /proc/self/status || echo ESCAPED".into(),
            "ls -A / | grep -v -E '^(bin|dev|etc|home|lib|lib32|lib64|libx32|nowhere|opt|proc|root|run|sbin|tmp|usr|var)$' | tr '\\n' ' '".into(),
        ];
        block_on(async {
            let mut hired = shop.hire().await;
            for round in 0..3 {
                for attempt in &attempts {
                    let call = hired.call(attempt).await;
                    let answer = &call.answer;
                    assert!(
                        !answer.contains("ESCAPED") && !answer.contains("canary\u{0}"),
                        "{round}: {attempt}: {answer}"
                    );
                    assert!(!answer.starts_with("canary"), "{round}: {attempt}: {answer}");
                    assert_eq!(call.settled.changes.len(), 0, "{round}: {attempt}: {call:?}");
                }
            }
            assert_eq!(hired.call("echo alive").await.answer, "alive");
        });
        assert_eq!(std::fs::read_to_string(&home).expect("it is there"), "canary");
        assert!(!shop.house.path().with_extension("x").exists());
        assert!(listener.accept().is_err(), "somebody called");
    });
}

#[test]
fn a_worker_that_ends_by_itself_says_how() {
    let _alone = alone();
    for level in [ConfinementLevel::None, ConfinementLevel::Partial, ConfinementLevel::Full]
        .into_iter()
        .filter(|level| reaches(*level))
    {
        let shop = Workshop::new(level, Owner::Own);
        for (line, how) in [
            ("!exit 7", HowEnded::Exited(7)),
            ("!kill -9 $$", HowEnded::Killed(9)),
            ("!exec 3>&-; sleep 1000", HowEnded::Killed(9)),
        ] {
            block_on(async {
                let mut hired = shop.hire().await;
                hired.call("echo well").await;
                let ended = hired.try_call(line).await.expect_err("it ended");
                assert_eq!(ended.how, how, "{level}: {line}: {ended:?}");
                let refused = hired.worker.enter(&permit(), &*shop.ground(&permit()).await).await;
                assert!(matches!(refused, Err(NotRun::Failed(_))), "{refused:?}");
                assert_eq!(hired.worker.leave().await.expect_err("it is gone").how, how);
            });
        }
        shop.house.wait_until_empty(Duration::from_secs(2));
    }
}

#[test]
fn what_it_prints_is_heard_while_it_serves_and_not_between_calls() {
    let _alone = alone();
    let shop = Workshop::new(
        if reaches(ConfinementLevel::Full) { ConfinementLevel::Full } else { ConfinementLevel::None },
        Owner::Own,
    );
    block_on(async {
        let mut hired = shop.hire().await;
        hired.call("!echo printed; echo wrong >&2").await;
        assert_eq!(std::mem::take(&mut *hired.heard.lock().expect("nobody panics")), "printed\nwrong\n");
        hired.call("!(sleep 0; echo late) & disown; wait; echo more").await;
        hired.heard.lock().expect("nobody panics").clear();
        hired.call("echo quiet").await;
        assert_eq!(*hired.heard.lock().expect("nobody panics"), "");
        // Much of it, beside a long message both ways.
        let long = "x".repeat(3_000_000);
        let call = hired
            .call(&format!(
                "!head -c 3000000 /dev/zero; line={long}; cd /; printf '%s\\n' $line >&3; read -r -u 3 line"
            ))
            .await;
        assert_eq!(call.answer.len(), long.len());
        assert_eq!(hired.heard.lock().expect("nobody panics").len(), 3_000_000);
    });
}

#[test]
fn the_last_words_of_a_worker_that_takes_no_message_are_heard() {
    let _alone = alone();
    let shop = Workshop::new(
        if reaches(ConfinementLevel::Full) { ConfinementLevel::Full } else { ConfinementLevel::None },
        Owner::Own,
    );
    block_on(async {
        for script in ["echo 'last words' >&2; exit 7", "exec 3>&-; echo 'last words' >&2; exit 7"] {
            let mut hired = shop.hire_for(&shop.command_of(script), &permit()).await;
            // More than a socket holds, so that it is not sent before the worker has ended.
            let ended = hired.talk(&"x".repeat(3_000_000)).await.expect_err("nobody takes it");
            assert_eq!(ended.how, HowEnded::Exited(7), "{script}");
            assert_eq!(*hired.heard.lock().expect("nobody panics"), "last words\n", "{script}");
        }
    });
}

#[test]
fn the_network_is_there_if_the_worker_was_started_with_it_and_for_no_other_call() {
    let _alone = alone();
    for level in [ConfinementLevel::Partial, ConfinementLevel::Full].into_iter().filter(|level| reaches(*level)) {
        let shop = Workshop::new(level, Owner::Own);
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a loopback");
        let port = listener.local_addr().expect("it is bound").port();
        let line = format!("(exec 5<>/dev/tcp/127.0.0.1/{port}) 2> /dev/null && echo reached");
        block_on(async {
            let mut without = shop.hire().await;
            assert_eq!(without.call(&line).await.answer, "", "{level}");
            let wish = permit_with_network();
            let refused = without.worker.enter(&wish, &*shop.ground(&wish).await).await;
            assert!(
                matches!(&refused, Err(NotRun::Failed(error)) if error.what.contains("without the network")),
                "{refused:?}"
            );
            assert_eq!(without.call("echo well").await.answer, "well", "{level}");
            let mut with = shop.hire_for(&shop.command(), &permit_with_network()).await;
            assert_eq!(with.talk(&line).await.expect("it lives"), "reached", "{level}");
            with.worker.leave().await.expect("it leaves");
            let refused = with.worker.enter(&permit(), &*shop.ground(&permit()).await).await;
            assert!(
                matches!(&refused, Err(NotRun::Failed(error)) if error.what.contains("with the network")),
                "{refused:?}"
            );
        });
    }
}

#[test]
fn a_worker_that_is_dropped_ends_and_everything_with_it() {
    let _alone = alone();
    for level in [ConfinementLevel::None, ConfinementLevel::Partial, ConfinementLevel::Full]
        .into_iter()
        .filter(|level| reaches(*level))
    {
        let shop = Workshop::new(level, Owner::Own);
        block_on(async {
            let mut hired = shop.hire().await;
            hired.talk("setsid sleep 1000 > /dev/null 2>&1 < /dev/null & echo on").await.expect("it lives");
        });
        shop.house.wait_until_empty(Duration::from_secs(3));
    }
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let _alone = alone();
    let shop = Workshop::new(
        if reaches(ConfinementLevel::Full) { ConfinementLevel::Full } else { ConfinementLevel::None },
        Owner::Own,
    );
    let mut command = shop.command();
    command.words[0] = "/nowhere/python3".into();
    let refused = block_on(async {
        let ground = shop.ground(&permit()).await;
        shop.house.sandbox.start(&permit(), &command, &*ground).await.map(drop)
    });
    assert!(matches!(&refused, Err(NotRun::Failed(error)) if error.what.contains("/nowhere/python3")), "{refused:?}");
    shop.house.assert_empty("a worker that did not start");
}

#[test]
fn a_haft_that_is_killed_leaves_no_worker() {
    let _alone = alone();
    for level in [ConfinementLevel::None, ConfinementLevel::Partial, ConfinementLevel::Full]
        .into_iter()
        .filter(|level| reaches(*level))
    {
        let shop = Workshop::new(level, Owner::Own);
        let own = std::env::current_exe().expect("it is known");
        let mut other = Program::new(own);
        other.args(["--exact", "workers::somebody_elses_worker", "--nocapture"]).stdout(std::process::Stdio::piped());
        other.env("HAFT_TEST_WORKER_IN", shop.house.path()).env("HAFT_TEST_WORKER_LEVEL", level.code());
        let mut other = other.spawn().expect("it can be started");
        let mut said = std::io::BufReader::new(other.stdout.take().expect("it has one"));
        let mut line = String::new();
        while !line.contains("at work") {
            line.clear();
            assert!(
                std::io::BufRead::read_line(&mut said, &mut line).expect("it can be read") > 0,
                "{level}: it ended"
            );
        }
        shop.house.wait_until_alive(2);
        other.kill().expect("it is ours");
        other.wait().expect("it is ours");
        let took = shop.house.wait_until_empty(Duration::from_secs(3));
        println!("{level}: empty after {took:?}");
    }
}

/// Not a test by itself: starts a worker and waits to be killed.
#[test]
fn somebody_elses_worker() {
    let Some(folder) = std::env::var_os("HAFT_TEST_WORKER_IN") else { return };
    let level = match std::env::var("HAFT_TEST_WORKER_LEVEL").as_deref() {
        Ok("full") => ConfinementLevel::Full,
        Ok("partial") => ConfinementLevel::Partial,
        _ => ConfinementLevel::None,
    };
    let shop = Workshop::in_folder(level, std::path::Path::new(&folder));
    block_on(async {
        let mut hired = shop.hire().await;
        hired.talk("setsid sleep 1000 > /dev/null 2>&1 < /dev/null & echo on").await.expect("it lives");
        println!("at work");
        std::future::pending::<()>().await;
    });
}

#[test]
fn what_is_hidden_or_protected_in_the_workspace_is_so_in_every_call() {
    let _alone = alone();
    if !reaches(ConfinementLevel::Full) {
        return;
    }
    let first = House::at(ConfinementLevel::Full);
    let config = first.path().join("config");
    std::fs::create_dir_all(config.join("tools")).expect("it can be made");
    std::fs::create_dir_all(first.path().join(".git/hooks")).expect("it can be made");
    std::fs::create_dir(first.path().join("secret")).expect("it can be made");
    for (path, text) in
        [("config/tools/a", "shown"), ("config/b", "canary"), ("secret/c", "canary"), (".git/config", "")]
    {
        std::fs::write(first.path().join(path), text).expect("it can be written");
    }
    let hidden = [config.clone(), first.path().join("secret")];
    let shop = Workshop::of(House::in_folder_hiding(&first.path(), &hidden), ConfinementLevel::Full);
    let command = haft_contract::doors::process::CommandSpec { readable: vec![config.join("tools")], ..shop.command() };
    block_on(async {
        let mut hired = shop.hire_for(&command, &permit()).await;
        for round in 0..3 {
            let line = "cat config/tools/a config/b secret/c 2> /dev/null; echo; ls config; \
                        (echo x > config/tools/a) 2> /dev/null || echo kept; (echo x > .git/hooks/x) 2> /dev/null || echo kept; echo y > own";
            let call = hired.call(line).await;
            assert_eq!(call.answer, "shown|tools|kept|kept", "{round}");
            let changed: Vec<String> = call.settled.changes.iter().map(|change| change.target.to_string()).collect();
            assert!(changed.is_empty() || changed == ["own"], "{round}: {call:?}");
        }
    });
}
