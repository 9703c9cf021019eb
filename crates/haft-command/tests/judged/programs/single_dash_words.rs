//! Flags that are words behind one dash: a word must not be read as letters that swallow the next word.

use haft_policy::decision::Decision::{self, Allow, Ask, Deny};
use haft_policy::examples::decision;

/// Flags of xxd without a value, in the forms that it takes: it looks at the first letter alone.
const XXD_FLAGS: &[&str] = &[
    "-a",
    "-autoskip",
    "-b",
    "-bits",
    "-C",
    "-capitalize",
    "-d",
    "-decimal",
    "-e",
    "-E",
    "-EBCDIC",
    "-i",
    "-include",
    "-p",
    "-ps",
    "-plain",
    "-postscript",
    "-u",
    "-upper",
    "-bs",
    "-pl",
    "-ac",
    "-uo",
    "-il",
    "-psn",
    "--ps",
    "--bits",
    "--plain",
    "--us",
];
/// Flags of xxd with a value, attached or as the next word.
const XXD_VALUES: &[&str] = &[
    "-c 8",
    "-c8",
    "-cols 8",
    "-colsX 8",
    "-g 1",
    "-g1",
    "-groupsize 1",
    "-group 1",
    "-l 8",
    "-l8",
    "-len 8",
    "-l0x8",
    "-s 8",
    "-s8",
    "-s-8",
    "-s +8",
    "-seek 8",
    "-skip 8",
    "-seekxyz 8",
    "-o 8",
    "-o8",
    "-offset 8",
    "-name x",
    "-n x",
    "-R always",
    "--cols 8",
    "--len 8",
    "--s 8",
];
/// How xxd is told to turn a dump back into bytes.
const REVERTS: &[&str] = &["-r", "-revert", "-rs", "-rl", "-rc", "--r", "-rps"];

fn check(wanted: Decision, command: &str) {
    assert_eq!(decision(command), wanted, "{command}");
}

#[test]
fn xxd_reads_its_first_file_and_writes_its_second_whatever_flags_it_has() {
    for flags in XXD_FLAGS.iter().chain(XXD_VALUES) {
        check(Allow, &format!("xxd {flags} a.txt"));
        check(Deny, &format!("xxd {flags} ~/.ssh/id_rsa"));
        check(Ask, &format!("xxd {flags} a.txt notes.txt"));
        check(Deny, &format!("xxd {flags} a.txt ~/.bashrc"));
        for revert in REVERTS {
            for command in [format!("xxd {revert} {flags} a.txt"), format!("xxd {flags} {revert} a.txt")] {
                check(Allow, &command);
                check(Ask, &format!("{command} notes.txt"));
                check(Deny, &format!("{command} .git/hooks/pre-commit"));
                check(Deny, &format!("{command} ~/.bashrc"));
            }
        }
    }
}

#[test]
fn xxd_takes_no_flags_behind_its_first_file() {
    for command in ["xxd a.txt -r", "xxd a.txt -ps", "xxd -ps a.txt -b"] {
        assert_ne!(decision(command), Deny, "{command}");
    }
    check(Ask, "xxd -co 8 a.txt");
    check(Ask, "xxd -le 8 a.txt");
    check(Ask, "xxd -z a.txt");
    check(Ask, "xxd -p$X a.txt");
}

/// Commands of programs whose flags are words behind one dash, and which take no attached values.
const LONG_WORDS: &[&str] = &[
    "ffmpeg -i a.mp4",
    "ffprobe a.mp4",
    "openssl x509 -noout -in a.pem",
    "openssl dgst -sha256 a.txt",
    "openssl verify a.pem",
    "openssl version",
    "terraform fmt -check",
    "go doc fmt",
    "javap A.class",
    "lshw",
    "actionlint",
    "exiftool a.jpg",
    "xmllint a.xml",
];

#[test]
fn a_word_that_begins_like_a_flag_with_a_value_is_not_that_flag() {
    let mut allowed = Vec::new();
    for command in LONG_WORDS {
        check(Allow, command);
        let (start, _) = command.split_once(' ').unwrap_or((command, ""));
        for letter in ('a'..='z').chain('A'..='Z') {
            for word in [format!("-{letter}zq"), format!("-{letter}eport_x"), format!("--{letter}zq")] {
                let command = command.replacen(start, "", 1);
                let lines = [format!("{start}{command} {word}"), format!("{start}{command} {word} x")];
                allowed.extend(lines.into_iter().filter(|line| decision(line) == Allow));
            }
        }
    }
    assert!(allowed.is_empty(), "{allowed:#?}");
    for command in ["ffmpeg -report", "ffmpeg -i a.mp4 -report", "ffprobe -report a.mp4"] {
        check(Ask, command);
    }
}
