//! Runs a command without some facilities of the kernel, to try by hand what haft does there.
//!
//! `cargo run -p haft-testkit --bin lacking -- container haft doctor`
#![expect(clippy::print_stderr, reason = "a program of its own")]
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a program of its own, which starts another")]

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use haft_testkit::facility::Facility;
use haft_testkit::seccomp_filter::CallFilter;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [names, program, arguments @ ..] = words.as_slice() else {
        eprintln!("usage: lacking NAME[,NAME…] COMMAND…\n\ncontainer, or one of: {}", Facility::names().join(", "));
        return ExitCode::from(2);
    };
    for name in names.split(',') {
        let filter = match name {
            "container" => CallFilter::container_default(),
            "all" => Facility::none_at_all(),
            name => match Facility::named(name) {
                Some(facility) => facility.missing(),
                None => {
                    eprintln!(
                        "There is no facility {name}. There is container, all, {}.",
                        Facility::names().join(", ")
                    );
                    return ExitCode::from(2);
                }
            },
        };
        filter.install();
    }
    let error = Command::new(program).args(arguments).exec();
    eprintln!("{program}: {error}");
    ExitCode::from(127)
}
