//! Ends that come from outside: the call is stopped or dropped, haft or the watcher is killed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use haft_contract::doors::door::Receipt;
use haft_contract::doors::process::{ConfinementLevel, HowEnded, Processes};
use haft_testkit::require::Need;
use rustix::process::{Pid, Signal, kill_process};
use tokio_util::sync::CancellationToken;

use crate::house::{House, OpenGround, alone, block_on, children, houses, permit};

/// Tells the stand-in for haft at which level to run which script.
const STAND_IN: &str = "HAFT_TEST_STAND_IN";
/// Stubborn in every way: ignores being asked, sessions of their own, stopped, doubly forked, environments cleared.
const STUBBORN: &str = "trap '' TERM INT HUP
for i in {1..10}; do
    (setsid sleep 1000) & (trap '' TERM; kill -STOP $BASHPID) & ( ( sleep 1000 & ) & )
    setsid bash -c 'trap \"\" TERM; while :; do sleep 0.1; done' &
done
echo ready; wait; sleep 1000";

#[test]
fn a_stopped_call_is_over_within_half_a_second() {
    let _alone = alone();
    for (level, house) in houses() {
        // The fastest of three: this machine may have more to do than this test.
        let took = (0..3).map(|_| stopped(&house)).min().expect("there are three");
        println!("{level}: {took:?}");
        assert!(took < Duration::from_millis(500), "{level}: {took:?}");
    }
}

/// Stops a stubborn command as soon as it is ready; returns how long it took then.
fn stopped(house: &House) -> Duration {
    let stop = CancellationToken::new();
    let command = house.script(STUBBORN, 60.0);
    let permit = permit(&command, &stop);
    let ground = OpenGround::at(&house.path());
    let stopped = std::sync::Mutex::new(None);
    let heard = |_, _: &[u8]| {
        stopped.lock().expect("nobody panics").get_or_insert_with(Instant::now);
        stop.cancel();
    };
    let ended = block_on(house.sandbox.run(&permit, &command, &ground, &heard)).expect("it runs");
    let took = stopped.into_inner().expect("nobody panics").expect("it was ready").elapsed();
    assert_eq!(ended.how, HowEnded::Stopped);
    house.assert_empty(STUBBORN);
    took
}

#[test]
fn a_call_that_is_stopped_before_it_begins_runs_nothing() {
    let _alone = alone();
    let house = House::at(ConfinementLevel::Full);
    let stop = CancellationToken::new();
    stop.cancel();
    let outcome = house.run_command(&house.script("touch here", 10.0), &stop);
    assert_eq!(outcome.error().kind, haft_contract::outcome::kinds::ErrorKind::Cancelled);
    assert!(!house.path().join("here").exists() && outcome.receipts.is_empty());
}

#[test]
fn wherever_a_call_is_stopped_nothing_is_left_and_a_command_that_ran_is_noted() {
    let _alone = alone();
    for (level, house) in houses() {
        for microseconds in (0..40).map(|step| step * 300) {
            let stop = CancellationToken::new();
            let command = house.script("echo x > ran; sleep 1000", 10.0);
            let outcome = block_on(async {
                let stopping = async {
                    tokio::time::timeout(Duration::from_micros(microseconds), std::future::pending::<()>()).await.ok();
                    stop.cancel();
                };
                tokio::join!(house.start(&command, &stop), stopping).0
            });
            house.assert_empty("it was stopped");
            let has_run = house.path().join("ran").exists();
            let is_noted = outcome.receipts.iter().any(|receipt| matches!(receipt, Receipt::Ran { .. }));
            assert!(is_noted || !has_run, "{level}: stopped after {microseconds} µs: it ran and nobody says so");
            let _ = std::fs::remove_file(house.path().join("ran"));
        }
    }
}

#[test]
fn a_dropped_call_ends_its_command() {
    let _alone = alone();
    for (level, house) in houses() {
        let command = house.script(STUBBORN, 60.0);
        let permit = permit(&command, &CancellationToken::new());
        let ground = OpenGround::at(&house.path());
        let (tell, mut ready) = tokio::sync::mpsc::unbounded_channel();
        let heard = move |_, _: &[u8]| {
            let _ = tell.send(());
        };
        block_on(async {
            let running = house.sandbox.run(&permit, &command, &ground, &heard);
            tokio::select! {
                ended = running => panic!("{ended:?}"),
                _ = ready.recv() => {}
            }
        });
        let took = house.wait_until_empty(Duration::from_millis(1500));
        println!("{level}: {took:?}");
        house.assert_empty(STUBBORN);
    }
}

#[test]
fn when_haft_is_killed_nothing_of_its_commands_is_left() {
    let _alone = alone();
    for (level, house) in houses() {
        let mut haft = Command::new(std::env::current_exe().expect("it is known"))
            .args(["--exact", "endings::stands_in_for_haft", "--nocapture"])
            .env(STAND_IN, format!("{level} {}", house.path().display()))
            .stdout(Stdio::piped())
            .spawn()
            .expect("it can be started");
        let mut told = BufReader::new(haft.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
        assert!(told.any(|line| line.contains("ready")), "{level}: the command did not start");
        house.wait_until_alive(21);
        haft.kill().expect("it runs");
        let took = house.wait_until_empty(Duration::from_millis(1500));
        println!("{level}: all gone after {took:?}");
        haft.wait().expect("it was killed");
        drop(told);
    }
}

/// Is nothing by itself; the test above starts it in a process of its own, to be killed.
#[test]
fn stands_in_for_haft() {
    let _alone = alone();
    let Ok(told) = std::env::var(STAND_IN) else { return };
    let (level, path) = told.split_once(' ').expect("both are told");
    let level = [ConfinementLevel::None, ConfinementLevel::Partial, ConfinementLevel::Full]
        .into_iter()
        .find(|each| each.code() == level);
    let house = House::in_folder(level.expect("it is one"), path.as_ref());
    let command = house.script(STUBBORN, 60.0);
    let permit = permit(&command, &CancellationToken::new());
    let ground = OpenGround::at(&house.path());
    let heard = |_, piece: &[u8]| println!("{}", String::from_utf8_lossy(piece));
    drop(block_on(house.sandbox.run(&permit, &command, &ground, &heard)));
}

#[test]
fn when_the_watcher_is_killed_nothing_is_left_and_it_is_said() {
    let _alone = alone();
    for (level, house) in houses() {
        // A process is not visible while it becomes another program; the `true` at the end keeps the shell a shell.
        let command = house.script("setsid sleep 1000 & setsid sleep 1000 & echo ready; sleep 1000; true", 10.0);
        let permit = permit(&command, &CancellationToken::new());
        let ground = OpenGround::at(&house.path());
        let heard = |_, _: &[u8]| {
            // The one parent that is not of the house. Numbers say nothing: they begin again when they are used up.
            let alive = house.alive();
            let mut parents = alive.iter().filter_map(|pid| parent_of(*pid));
            let watcher = parents.find(|parent| !alive.contains(parent)).expect("it runs");
            kill_process(watcher, Signal::KILL).expect("it runs");
        };
        let ended = block_on(house.sandbox.run(&permit, &command, &ground, &heard)).expect("it runs");
        assert_eq!(ended.how, HowEnded::Killed(9), "{level}");
        assert!(ended.notes.iter().any(|note| note.contains("watched over the command was killed")), "{ended:?}");
        house.assert_empty("its watcher was killed");
    }
}

fn parent_of(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    Pid::from_raw(stat.rsplit(") ").next()?.split(' ').nth(1)?.parse().ok()?)
}

#[test]
fn a_command_that_stops_or_kills_its_watcher_ends_all_the_same() {
    let _alone = alone();
    for (level, house) in houses() {
        let stopping = house.run("kill -STOP $PPID; setsid sleep 1000 & sleep 1000", 0.3);
        assert_eq!(stopping.how(), HowEnded::TimedOut, "{level}");
        let killing = house.run("setsid sleep 1000 & kill -9 $PPID; sleep 1000", 0.3);
        assert!(matches!(killing.how(), HowEnded::TimedOut | HowEnded::Killed(9)), "{level}: {:?}", killing.how());
    }
}

#[test]
fn when_the_sandbox_is_dropped_nothing_stands_by_any_more() {
    let _alone = alone();
    for (level, house) in houses() {
        house.run("true", 10.0);
        assert!(children().iter().any(|words| words.starts_with("haft-launcher")), "{level}: {:?}", children());
        drop(house);
    }
    assert_eq!(children(), [""; 0]);
}

#[test]
fn when_the_launcher_that_stands_by_is_killed_the_next_command_runs() {
    let _alone = alone();
    let levels: Vec<ConfinementLevel> = houses().into_iter().map(|(level, _)| level).collect();
    for (level, house) in levels.into_iter().map(|level| (level, House::at(level))) {
        house.run("true", 10.0);
        let pids = std::fs::read_dir("/proc").expect("it is there").flatten();
        let pids = pids.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
        let own = Pid::from_raw(i32::try_from(std::process::id()).expect("it is small"));
        let standbys: Vec<Pid> = pids.filter(|pid| parent_of(*pid) == own).collect();
        assert!(!standbys.is_empty(), "{level}");
        standbys.into_iter().for_each(|standby| kill_process(standby, Signal::KILL).expect("it runs"));
        assert_eq!(house.run("exit 3", 10.0).how(), HowEnded::Exited(3), "{level}");
    }
}

#[test]
fn a_command_that_makes_its_watcher_its_tracer_goes_on_and_ends_as_it_would() {
    let _alone = alone();
    let house = House::at(ConfinementLevel::Full);
    if !house.reaches(ConfinementLevel::Full) || !Need::Python.met(Path::new("/usr/bin/python3").exists()) {
        return;
    }
    let traced = "exec python3 -c 'import ctypes, os, signal; print(ctypes.CDLL(None).ptrace(0, 0, 0, 0), flush=True); \
                  signal.signal(10, lambda *_: print(\"heard\", flush=True)); os.kill(os.getpid(), 10); \
                  os.execvp(\"sh\", [\"sh\", \"-c\", \"echo on; exit 5\"])'";
    let outcome = house.run(traced, 20.0);
    assert_eq!((outcome.how(), outcome.text()), (HowEnded::Exited(5), "0\nheard\non\n".to_owned()));
}
