//! Programs that print sources in colours, and options of them that name files, scripts or pages.

use haft_policy::decision::Decision::{Allow, Ask};
use haft_policy::examples::decision;

/// Commands that write, run or fetch something.
const ASKED: &[&str] = &[
    "pygmentize -O full,cssfile=a.css -f html a.py",
    "pygmentize -O cssfile=.git/x -f html a.py",
    "pygmentize -O full -P cssfile=a.css a.py",
    "pygmentize -Ofull,cssfile=a.css a.py",
    "pygmentize -Pcssfile=a.css a.py",
    "pygmentize -P noclobber_cssfile=1 -P cssfile=a.css a.py",
    "pygmentize -O $OPTIONS a.py",
    "pygmentize -o a.txt a.py",
    "pygmentize -x -l ./lexer.py a.py",
    "highlight a.py",
    "highlight -O html a.py",
    "highlight --style-outfile=a.txt a.py",
    "highlight -O ansi -c a.txt a.py",
    "highlight -O ansi -d docs a.py",
    "highlight -O ansi --outdir=docs a.py",
    "highlight -O ansi --syntax ./x a.py",
    "highlight -O ansi -S x.lang a.py",
    "highlight -O ansi -s ./x.theme a.py",
    "highlight -O ansi --plug-in=./x.lua a.py",
    "source-highlight a.py",
    "source-highlight -f esc a.py",
    "source-highlight -i a.py",
    "source-highlight -i a.py -o a.txt",
    "source-highlight --output-dir=docs a.py",
    "source-highlight --ctags=./x -i a.py -o STDOUT",
    "glow https://x.example/a.md",
    "glow github.com/a/b",
    "glow missing.md",
    "glow config",
    "glow",
    "enscript a.txt",
    "enscript -p a.ps a.txt",
    "a2ps -o a.ps a.txt",
    "groff -ms a.ms",
    "ctags -f a.txt src/main.rs",
    "pandoc --extract-media=docs README.md",
    "pandoc -o notes.txt README.md",
];

/// Commands that only print.
const ALLOWED: &[&str] = &[
    "pygmentize a.py",
    "pygmentize -l python -f terminal a.py",
    "pygmentize -f html -O full,style=emacs,linenos=1 a.py",
    "pygmentize -g a.py",
    "highlight -O ansi a.py",
    "highlight -f -O html -S py a.py",
    "source-highlight -f esc -i a.py -o STDOUT",
    "glow README.md",
    "glow -s dark -w 80 README.md",
    "mdcat README.md",
];

#[test]
fn options_of_formatters_that_write_run_or_fetch_are_asked_about() {
    ASKED.iter().for_each(|command| assert_eq!(decision(command), Ask, "{command}"));
}

#[test]
fn formatters_that_print_are_allowed() {
    ALLOWED.iter().for_each(|command| assert_eq!(decision(command), Allow, "{command}"));
}
