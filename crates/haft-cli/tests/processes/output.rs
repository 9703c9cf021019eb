//! What a command prints: all of it is passed on, in flat memory, however much it is.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use haft_contract::doors::process::{HowEnded, Processes};
use tokio_util::sync::CancellationToken;

use crate::house::{House, OpenGround, alone, block_on, houses, permit};

const GIGABYTE: usize = 1 << 30;
/// Most memory that this process needs for a command, beside what it had before, in kilobytes.
const MOST_MEMORY: usize = 32 * 1024;

fn memory(what: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("it is there");
    let line = status.lines().find_map(|line| line.strip_prefix(what)).expect("it is told");
    line.trim().trim_end_matches(" kB").parse().expect("it is a number")
}

fn check_gigabyte(script: &str, bytes: usize) {
    let (level, house) = houses().pop().expect("there is one");
    // What other tests of this process needed is no matter of this one.
    std::fs::write("/proc/self/clear_refs", "5").expect("the peak can be forgotten");
    let before = memory("VmRSS:");
    let outcome = house.run(script, 120.0);
    let more = memory("VmHWM:").saturating_sub(before);
    println!("{level}: {bytes} bytes in {:?}, {more} kB more than {before} kB", outcome.took);
    assert_eq!(outcome.how(), HowEnded::Exited(0));
    assert_eq!(outcome.printed, bytes);
    assert!(more < MOST_MEMORY, "{more} kB");
}

#[test]
fn a_gigabyte_in_one_line_is_passed_on_in_flat_memory() {
    let _alone = alone();
    check_gigabyte("head -c 1G /dev/zero", GIGABYTE);
}

#[test]
fn a_gigabyte_of_lines_on_the_error_stream_is_passed_on_in_flat_memory() {
    let _alone = alone();
    check_gigabyte("yes 'a line of some words' | head -c 1G >&2", GIGABYTE);
}

#[test]
fn gigabytes_on_both_streams_at_once_are_passed_on_in_flat_memory() {
    let _alone = alone();
    check_gigabyte("head -c 1G /dev/zero & head -c 1G /dev/zero >&2; wait", 2 * GIGABYTE);
}

#[test]
fn bytes_that_are_no_text_come_as_they_are() {
    let _alone = alone();
    for (_, house) in houses() {
        let outcome = house.run("printf '\\x00\\xff\\xfe\\r\\n\\x80'; head -c 200000 /dev/urandom >&2", 10.0);
        assert_eq!(outcome.out, b"\x00\xff\xfe\r\n\x80");
        assert_eq!(outcome.err.len(), 200_000);
    }
}

#[test]
fn what_is_printed_right_before_the_end_is_not_lost() {
    let _alone = alone();
    for (_, house) in houses() {
        for _ in 0..20 {
            let outcome = house.run("head -c 60000 /dev/zero; head -c 60000 /dev/zero >&2", 10.0);
            assert_eq!((outcome.out.len(), outcome.err.len()), (60_000, 60_000));
        }
    }
}

#[test]
fn a_command_ends_in_its_time_although_nobody_takes_what_it_prints() {
    let _alone = alone();
    for (level, house) in houses() {
        let command = house.script("exec yes", 0.2);
        let permit = permit(&command, &CancellationToken::new());
        let ground = OpenGround::at(&house.path());
        let (tell, told) = mpsc::channel::<()>();
        let tell = std::sync::Mutex::new(Some((tell, told)));
        let began = Instant::now();
        // The first piece is held until the command is gone.
        let slow = |_, _: &[u8]| {
            if let Some((_tell, told)) = tell.lock().expect("nobody panics").take() {
                assert!(!house.alive().is_empty());
                while !house.alive().is_empty() {
                    assert!(began.elapsed() < Duration::from_secs_f64(1.2), "{level}: it is alive");
                    let _ = told.recv_timeout(Duration::from_millis(10));
                }
            }
        };
        let ended = block_on(house.sandbox.run(&permit, &command, &ground, &slow)).expect("it runs");
        assert_eq!(ended.how, HowEnded::TimedOut, "{level}");
        house.assert_empty("yes");
    }
}

#[test]
fn pieces_come_while_the_command_runs() {
    let _alone = alone();
    let house = House::at(haft_contract::doors::process::ConfinementLevel::None);
    let path = house.path().join("go on");
    // It goes on when the file is there, which is made when its first line was heard.
    let command = house.script("echo first; until [ -e 'go on' ]; do sleep 0.01; done; echo second", 10.0);
    let permit = permit(&command, &CancellationToken::new());
    let ground = OpenGround::at(&house.path());
    let heard = |_, piece: &[u8]| {
        if piece.starts_with(b"first") {
            std::fs::write(&path, "").expect("it can be written");
        }
    };
    let ended = block_on(house.sandbox.run(&permit, &command, &ground, &heard)).expect("it runs");
    assert_eq!(ended.how, HowEnded::Exited(0));
}
