//! Runs a command without some facilities of the kernel: by hand, or for `tests/everywhere/run`.
//!
//! `cargo run -p haft-testkit --bin lacking -- container haft doctor`; `lacking --names` lists the facilities.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own")]
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a program of its own, which starts another")]

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use haft_testkit::facility::Facility;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words == ["--names"] {
        println!("{}", Facility::names().join("\n"));
        return ExitCode::SUCCESS;
    }
    let [names, program, arguments @ ..] = words.as_slice() else {
        eprintln!(
            "usage: lacking NAME[,NAME…] COMMAND…\n\ncontainer, all, or some of: {}",
            Facility::names().join(", ")
        );
        return ExitCode::from(2);
    };
    match Facility::missing_all(names) {
        Ok(filter) => filter.install(),
        Err(name) => {
            eprintln!("There is no facility {name}. There are container, all, {}.", Facility::names().join(", "));
            return ExitCode::from(2);
        }
    }
    let error = Command::new(program).args(arguments).exec();
    eprintln!("{program}: {error}");
    ExitCode::from(127)
}
