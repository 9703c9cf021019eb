//! A tree of 50 000 source-like files, the same on every machine, and one large text.
//!
//! It has a `.git` folder, because some programs ignore files only inside repositories. It also has ignore files on two
//! levels, and some files that they ignore.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

const FOLDERS: u64 = 100;
const FOLDERS_BELOW: u64 = 10;
const FILES: u64 = 50;
const LARGE_BYTES: u64 = 1 << 30;
/// Changes with the content, so that an older tree is not taken for this one.
const MARK: &str = "tree 2\n";

const WORDS: [&str; 40] = [
    "static", "int", "struct", "return", "void", "const", "char", "buffer", "length", "index", "value", "error",
    "count", "result", "device", "driver", "init", "probe", "register", "memory", "page", "lock", "unlock", "thread",
    "queue", "list", "node", "next", "head", "size", "offset", "flags", "mask", "state", "config", "update", "insert",
    "match", "open", "close",
];
const ENDS: [&str; 8] = ["", "_t", "(", "->", "[i]", ";", " =", ""];
const ENDINGS: [&str; 12] = ["c", "c", "c", "c", "c", "h", "h", "h", "rs", "py", "md", "txt"];

/// Makes the tree, unless it is there.
pub fn make(folder: &Path) -> io::Result<()> {
    let mark = folder.join(".git/made");
    if fs::read_to_string(&mark).is_ok_and(|found| found == MARK) {
        return Ok(());
    }
    println!("making a tree of {} files in {}", FOLDERS * FOLDERS_BELOW * FILES, folder.display());
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder.join(".git"))?;
    fs::write(folder.join(".gitignore"), "*.o\nbuild/\n/out\n*.log\n!keep.log\n")?;
    let mut random = Random(1);
    let lines: Vec<String> = (0..4_000).map(|_| line(&mut random)).collect();
    for first in 0..FOLDERS {
        for second in 0..FOLDERS_BELOW {
            let below = folder.join(format!("sub{first:03}/mod{second}"));
            fs::create_dir_all(&below)?;
            if second == 0 {
                fs::write(below.join(".gitignore"), "*.tmp\n/gen/\n")?;
                fs::write(below.join("left.tmp"), "ignored\n")?;
            }
            for number in 0..FILES {
                let ending = ENDINGS[((number * 7 + second) % 12) as usize];
                let (start, count) = (random.below(3_600) as usize, 40 + random.below(290) as usize);
                let text = lines.iter().cycle().skip(start).take(count).map(String::as_str).collect::<String>();
                fs::write(below.join(format!("file{number:02}.{ending}")), text)?;
            }
        }
    }
    fs::write(mark, MARK)
}

/// Makes the large text, unless it is there.
pub fn make_large(file: &Path) -> io::Result<()> {
    if fs::metadata(file).is_ok_and(|facts| facts.len() >= LARGE_BYTES) {
        return Ok(());
    }
    println!("making a text of {LARGE_BYTES} bytes");
    let mut writer = BufWriter::new(fs::File::create(file)?);
    for number in 0..LARGE_BYTES / 64 {
        writeln!(writer, "{number:>20} a line of exactly sixty-four bytes, all alike..")?;
    }
    writer.flush()
}

/// Returns how many lines the large text has.
pub fn large_lines() -> u64 {
    LARGE_BYTES / 64
}

fn line(random: &mut Random) -> String {
    let mut line = "\t".repeat(random.below(4) as usize);
    for _ in 0..2 + random.below(8) {
        line.push_str(WORDS[random.below(WORDS.len() as u64) as usize]);
        line.push_str(ENDS[random.below(ENDS.len() as u64) as usize]);
        line.push(' ');
    }
    line.push('\n');
    line
}

/// Numbers that look random and are the same every time (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}
