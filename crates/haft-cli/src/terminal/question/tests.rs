//! Which keys answer a question, and which never do.

use std::sync::Arc;

use haft_contract::doors::user_questions::{AnswerForm, AnswerOption, Asker, UserAnswer, UserQuestion};

use super::*;
use crate::prompt::tests::{command, dangerous_command, request};
use crate::terminal::drawing::painted::bare;

/// A question that was drawn long enough ago.
fn quiet(request: ApprovalRequest) -> (QuestionDialog, Instant) {
    let drawn = Instant::now();
    let mut question =
        QuestionDialog::new(ScreenQuestion { id: 7, about: ScreenQuestionSubject::Call(Arc::new(request)) }, 0);
    question.drawn(drawn);
    (question, drawn + QUIET)
}

fn key(c: char) -> KeyPress {
    KeyPress::plain(KeyCode::Char(c))
}

fn verdict(verdict: Verdict) -> KeyPressEffect {
    KeyPressEffect::Answer(Reply::Verdict(verdict))
}

#[test]
fn each_answer_has_a_key_of_its_own() {
    let pressed = |request: ApprovalRequest, c: char| {
        let (mut question, now) = quiet(request);
        question.press(key(c), now)
    };
    assert_eq!(pressed(command(), 'y'), verdict(Verdict::AllowOnce));
    assert_eq!(pressed(command(), '2'), verdict(Verdict::AllowFor(command().offers[1].scope.clone())));
    assert_eq!(pressed(command(), 's'), verdict(Verdict::StopTurn));
    assert_eq!(pressed(command(), 'e'), KeyPressEffect::Edit(line_of(&command())));
    for nothing in ['3', '0', 'a', 'v', 'x', ' ', 'ä'] {
        assert_eq!(pressed(command(), nothing), KeyPressEffect::Kept, "{nothing}");
    }
    assert_eq!(pressed(dangerous_command(), '1'), KeyPressEffect::Kept, "a dangerous yes is never for longer");
}

#[test]
fn enter_answers_nothing() {
    for request in [request(), command(), dangerous_command()] {
        let (mut question, now) = quiet(request);
        for code in [KeyCode::Enter, KeyCode::Tab, KeyCode::Up, KeyCode::Down, KeyCode::Other] {
            assert_eq!(question.press(KeyPress::plain(code), now), KeyPressEffect::Kept);
        }
    }
}

#[test]
fn keys_that_were_typed_before_the_question_appeared_do_not_count() {
    let mut question =
        QuestionDialog::new(ScreenQuestion { id: 7, about: ScreenQuestionSubject::Call(Arc::new(request())) }, 0);
    let start = Instant::now();
    assert_eq!(question.press(key('y'), start), KeyPressEffect::Typed, "it is not on the screen yet");
    question.drawn(start);
    let after = |millis| start + Duration::from_millis(millis);
    // The person is typing a word: each key restarts the wait.
    for (millis, c) in [(50, 'y'), (300, 'e'), (650, 's')] {
        assert_eq!(question.press(key(c), after(millis)), KeyPressEffect::Typed, "{c}");
    }
    assert_eq!(question.press(key('y'), after(1_100)), verdict(Verdict::AllowOnce));
}

#[test]
fn a_paste_never_answers() {
    let (mut question, now) = quiet(request());
    assert!(!question.paste("y"));
    question.press(key('n'), now);
    assert!(question.paste("use b"));
    assert_eq!(
        question.press(KeyPress::plain(KeyCode::Enter), now),
        verdict(Verdict::Refuse { note: Some("use b".into()) })
    );
}

#[test]
fn a_no_may_have_a_note_and_can_be_thought_over() {
    let (mut question, now) = quiet(request());
    question.press(key('n'), now);
    question.press(key('y'), now);
    question.press(KeyPress::plain(KeyCode::Escape), now);
    assert!(question.note().is_none());
    question.press(key('n'), now);
    assert_eq!(question.press(KeyPress::plain(KeyCode::Enter), now), verdict(Verdict::Refuse { note: None }));
}

#[test]
fn the_rows_name_the_tool_the_danger_and_every_answer() {
    let rows = |request: ApprovalRequest| {
        let (question, _) = quiet(request);
        question.rows(&[], 200).iter().map(|row| bare(row).into_owned()).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(rows(command()), @r"
    ? Tool(bash): allow it?
      y  yes, this once
      1  yes, and don't ask again for exactly this command in this session
      2  yes, and don't ask again for commands whose changes stay in this workspace and can be undone (build, test, format, create, move, delete; no network) in this session
         would also have allowed: cargo build; rm -r target
      e  edit the call first, then run it yourself
      n  no (then you may add a note for the model)
      s  no, and stop
    ");
    assert!(
        rows(dangerous_command()).starts_with("? dangerous: Tool(bash): allow it?\n  y  yes, this once\n  e  edit")
    );
    let of_server =
        ApprovalRequest { title: "MCP(git/git_status)".into(), tool: "git__git_status".into(), ..request() };
    assert!(rows(of_server).starts_with("? MCP(git/git_status): allow it?"));
}

#[test]
fn a_call_is_edited_as_the_line_that_would_make_it() {
    let line = line_of(&command());
    let expected = "bash command='cargo test --workspace && rm -r build \"old notes\"; ls -la'";
    assert_eq!(line, expected);
}

/// A question of the model that was drawn long enough ago.
fn of_model(form: AnswerForm) -> (QuestionDialog, Instant) {
    let user_question =
        UserQuestion { asker: Asker::Model, text: "Which?".into(), header: Some("Format".into()), form };
    let about = ScreenQuestionSubject::User { question: Arc::new(user_question), count: (1, 1) };
    let drawn = Instant::now();
    let mut question = QuestionDialog::new(ScreenQuestion { id: 7, about }, 0);
    question.drawn(drawn);
    (question, drawn + QUIET)
}

fn options() -> Vec<AnswerOption> {
    ["CSV", "JSON"].map(|label| AnswerOption { label: label.into(), description: String::new() }).to_vec()
}

fn said(answer: UserAnswer) -> KeyPressEffect {
    KeyPressEffect::Answer(Reply::User(answer))
}

#[test]
fn a_digit_or_a_letter_answers_a_question_of_the_model() {
    let (mut one, now) = of_model(AnswerForm::One(options()));
    assert_eq!(one.press(key('2'), now), said(UserAnswer::Chosen(vec!["JSON".into()])));
    let (mut sure, now) = of_model(AnswerForm::YesOrNo);
    assert_eq!(sure.press(key('n'), now), said(UserAnswer::No));
    assert_eq!(sure.press(KeyPress::plain(KeyCode::Escape), now), KeyPressEffect::Answer(Reply::Dismissed));
    assert_eq!(sure.press(KeyPress::plain(KeyCode::Enter), now), KeyPressEffect::Kept);
}

#[test]
fn a_question_of_the_model_is_answered_in_words_and_what_is_no_answer_stays() {
    let (mut several, now) = of_model(AnswerForm::Several(options()));
    for c in ['1', ',', '3'] {
        assert_eq!(several.press(key(c), now), KeyPressEffect::Kept);
    }
    assert_eq!(several.press(KeyPress::plain(KeyCode::Enter), now), KeyPressEffect::Kept, "there is no third option");
    several.press(KeyPress::plain(KeyCode::Backspace), now);
    several.press(key('2'), now);
    let both = UserAnswer::Chosen(vec!["CSV".into(), "JSON".into()]);
    assert_eq!(several.press(KeyPress::plain(KeyCode::Enter), now), said(both));
    let (mut words, now) = of_model(AnswerForm::Words(None));
    assert!(words.paste("because"));
    assert_eq!(words.press(KeyPress::plain(KeyCode::Enter), now), said(UserAnswer::Words("because".into())));
    let (mut none, now) = of_model(AnswerForm::Words(None));
    none.press(key('x'), now);
    none.press(KeyPress::plain(KeyCode::Backspace), now);
    assert_eq!(none.press(KeyPress::plain(KeyCode::Enter), now), said(UserAnswer::Skipped));
    let rows = none.rows(&[], 80).iter().map(|row| bare(row)).collect::<Vec<_>>().join("\n");
    assert!(rows.contains("Your answer: Format") && rows.contains("Type your answer."), "{rows}");
}
