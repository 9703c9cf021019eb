//! Programs that pack and unpack single files: they only read where their one mode is to read.

use haft_policy::decision::Decision::{Allow, Ask};
use haft_policy::examples::decision;

/// Packers with the flags that read, those of other modes, and a file.
const PACKERS: &[(&str, &[&str], &[&str])] = &[
    ("gzip", &["-t", "-l", "--test", "--list"], &["-d", "--decompress", "-z"]),
    ("pigz", &["-t", "-l"], &["-d", "-z"]),
    ("bzip2", &["-t", "--test"], &["-z", "-d", "--compress", "--decompress"]),
    ("pbzip2", &["-t"], &["-z", "-d"]),
    ("xz", &["-t", "-l", "--test", "--list"], &["-z", "-d", "--compress", "--decompress", "--uncompress"]),
    ("lzma", &["-t", "-l"], &["-z", "-d", "--compress"]),
    ("lzip", &["-t", "-l"], &["-d"]),
    ("lzop", &["-t", "-l"], &["-d", "-x", "-U", "--delete"]),
    ("zstd", &["-t", "-l", "--test", "--list"], &["-z", "-d", "--compress", "--rm", "-o a.txt"]),
    ("lz4", &["-t", "--test", "--list"], &["-z", "-d", "-l", "--rm", "--compress"]),
    ("brotli", &["-t"], &["-d", "-j", "--rm", "-o a.txt"]),
    ("gunzip", &["-t", "-l"], &["-d"]),
    ("bunzip2", &["-t"], &["-d", "-z"]),
    ("unxz", &["-t", "-l"], &["-d", "-z", "--decompress"]),
    ("unlzma", &["-t", "-l"], &["-d", "-z"]),
    ("unzstd", &["-t", "--list"], &["-d", "-z", "--rm", "-o a.txt"]),
    ("unlz4", &["-t", "--list"], &["-d", "-z", "--rm"]),
];

/// Commands that write or remove a file.
const WRITES: &[&str] = &[
    "lz4 -l a.txt",
    "lz4 -lf a.lz4 a.txt",
    "lz4 -c a.lz4 a.txt",
    "lz4 -t a.lz4 a.txt",
    "lz4 -k --rm a.txt",
    "lz4 -c --rm a.txt",
    "unlz4 a.lz4 a.txt",
    "unlz4 -c a.lz4 a.txt",
    "zstd -S a.txt",
    "zstd -c --rm a.txt",
    "zstd -k --rm a.txt",
    "zstd -c a.txt -o notes.txt",
    "zstdcat a.zst -o a.txt",
    "zstdcat --rm a.zst",
    "zstdcat --output-dir-flat=src a.zst",
    "lz4cat --rm a.lz4",
    "pbzip2 -l a.txt",
    "gzip -kf a.txt",
    "xz -kf a.txt",
    "xz -k -S .md a.txt",
    "brotli a.txt",
];

/// Commands that only read, or pack into a new file.
const READS: &[&str] = &[
    "gzip -c a.txt",
    "gzip -dc a.gz",
    "gzip -cd a.gz",
    "gzip -k a.txt",
    "xz -dc a.xz",
    "xz -c -9 a.txt",
    "xz -lv a.xz",
    "xz -T0 -c a.txt",
    "bzip2 -dc a.bz2",
    "zstd -dc a.zst",
    "zstd -dcq a.zst",
    "lz4 -dc a.lz4",
    "lz4 -tv a.lz4",
    "zcat a.gz",
    "zstdcat a.zst",
    "lz4cat a.lz4",
    "gunzip -c a.gz",
    "unxz -c a.xz",
    "zstd -lv a.zst",
    "gzip -tv a.gz",
];

#[test]
fn a_mode_that_reads_counts_only_alone() {
    for (packer, reads, others) in PACKERS {
        for read in *reads {
            assert_eq!(decision(&format!("{packer} {read} a.txt")), Allow, "{packer} {read}");
            for other in *others {
                for command in [
                    format!("{packer} {read} {other} a.txt"),
                    format!("{packer} {other} {read} a.txt"),
                    format!("{packer} {read} a.txt {other}"),
                    format!("{packer} {other} -f {read} a.txt"),
                ] {
                    assert_eq!(decision(&command), Ask, "{command}");
                }
            }
        }
    }
}

#[test]
fn what_writes_or_removes_is_asked_about_and_what_reads_is_allowed() {
    WRITES.iter().for_each(|command| assert_eq!(decision(command), Ask, "{command}"));
    READS.iter().for_each(|command| assert_eq!(decision(command), Allow, "{command}"));
}
