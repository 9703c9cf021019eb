use std::process::Command;

use super::*;

/// Returns the words that a shell makes of a text.
fn words(text: &str) -> Vec<String> {
    // A long text is no word of a command line, so the shell reads it from a file.
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("script");
    std::fs::write(&script, format!("printf '%s\\0' {text}\n")).expect("it can be written");
    let run = Command::new("bash").arg(&script).output().expect("there is a bash");
    assert!(run.status.success(), "{text:?}: {run:?}");
    let printed = String::from_utf8(run.stdout).expect("it is text");
    printed.split_terminator('\0').map(str::to_owned).collect()
}

/// Makes up text: quotes, line ends, control letters and letters of any script, never a NUL.
fn any_text(seed: u64, longest: usize) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    const ODD: [char; 16] =
        ['\'', '"', '\\', '$', '`', '\n', '\r', '!', '\t', ' ', '#', '&', '\u{1}', '\u{7f}', 'é', '𝄞'];
    let length = usize::try_from(next()).unwrap_or_default() % longest;
    (0..length)
        .map(|_| match next() % 3 {
            0 => ODD[usize::try_from(next() % 16).unwrap_or_default()],
            1 => char::from(u8::try_from(next() % 126 + 1).unwrap_or(b'x')),
            _ => char::from_u32(u32::try_from(next() % 0xD7FE + 1).unwrap_or(65)).unwrap_or('x'),
        })
        .collect()
}

#[test]
fn a_shell_reads_any_command_back_exactly() {
    let here_document = "cat <<'EOF' > it\\'s.txt\na $b `c`\nEOF\necho \"done\" && ! false";
    let long = "x'".repeat(LONGEST / 2);
    let fixed = ["", "'", "''", "\\", "\n", here_document, long.as_str()].map(str::to_owned);
    let made_up = (1..300).map(|seed| any_text(seed, 400));
    for text in fixed.into_iter().chain(made_up) {
        for form in [GuardEventForm::Claude, GuardEventForm::Codex] {
            let Some(word) = word_of(form, &text) else {
                assert_eq!(form, GuardEventForm::Codex, "only Codex needs the ticket for {text:?}");
                continue;
            };
            assert_eq!(words(&word), [text.as_str()], "{form:?}");
        }
    }
}

#[test]
fn a_command_that_is_too_long_for_a_word_is_in_the_ticket_only() {
    for length in [LONGEST + 1, 128 * 1024, 1024 * 1024] {
        assert_eq!(word_of(GuardEventForm::Claude, &"x".repeat(length)), None);
    }
}

#[test]
fn the_rules_of_codex_see_one_pair_of_quotes_or_none() {
    assert_eq!(word_of(GuardEventForm::Codex, "echo hi\nls").as_deref(), Some("'echo hi\nls'"));
    assert_eq!(word_of(GuardEventForm::Codex, "echo it's").as_deref(), Some("\"echo it's\""));
    assert_eq!(word_of(GuardEventForm::Codex, "echo 'a' \"$b\""), None);
}

#[test]
fn the_shell_of_the_agent_itself_goes_to_a_folder() {
    let split =
        |text: &'static str| lasting_folder(GuardEventForm::Claude, text).map(|going| (going.folder, going.rest));
    assert_eq!(split("cd sub && make"), Some(("sub", "make")));
    assert_eq!(split("cd sub&&make 2>&1 | tail &> x"), Some(("sub", "make 2>&1 | tail &> x")));
    assert_eq!(split("cd 'a b' && make; ls"), Some(("a b", "make; ls")));
    let going = lasting_folder(GuardEventForm::Claude, "cd sub &&  make").expect("it changes the folder");
    assert_eq!(going.before, "cd sub &&  ");
    for whole in [
        "cd $X && make",
        "cd sub",
        "cd sub; make",
        "make && cd sub",
        "cd 'it && make",
        "cd a b && x",
        "cd x &&",
        "cd - && make",
        "cd -P sub && make",
        "cd sub && make & wait",
        "cd sub && sleep 1 &",
        "cd sub && echo $OLDPWD",
        "cd sub && make && cd -",
    ] {
        assert_eq!(split(whole), None, "{whole}");
    }
    assert_eq!(lasting_folder(GuardEventForm::Codex, "cd sub && make"), None);
    assert_eq!(joined(Path::new("/w/a"), "../b/./c"), Path::new("/w/b/c"));
    assert_eq!(joined(Path::new("/w/a"), "/usr/../etc"), Path::new("/etc"));
    assert!(only_goes(GuardEventForm::Claude, "cd src/x ") && !only_goes(GuardEventForm::Claude, "cd $(rm x)"));
}

#[test]
fn a_ticket_is_found_in_what_haft_wrote() {
    let text = "/usr/bin/haft exec --ticket 0123456789ab --session k3f9-q2bx -C /w -c 'ls'";
    assert_eq!(ticket_in(text), Some("0123456789ab"));
    assert_eq!(ticket_in("echo --ticket 1"), None);
}
