//! Prepares the two streams of a command for the model.

use haft_contract::prelude::*;
use haft_contract::text::grouped::GroupedNumber;
use haft_contract::text::head_and_tail::TruncatedText;
use haft_contract::text::wrapping::wrapped;

use super::listening::{CapturedStreams, HeardStream, StreamSpill};
use super::room::{cut, shares};

/// Characters that labels and line ends need.
const LABELS: usize = 64;

/// Both streams, cut to their room.
pub(crate) struct ShownStreams {
    pub(crate) out: String,
    pub(crate) err: String,
    /// Names the whole of what was cut.
    pub(crate) spilled: Option<String>,
}

impl ShownStreams {
    /// Cuts both streams to the room that is left beside what else is said.
    pub(crate) fn of(heard: CapturedStreams, said: usize, cx: &RunContext<'_>) -> Self {
        let room = cx.limits().result_whole.saturating_sub(said + LABELS);
        let (out_share, err_share) = shares((heard.out.text.characters(), heard.err.text.characters()), room);
        let (out, out_spill) = shown(heard.out, out_share, cx);
        let (err, err_spill) = shown(heard.err, err_share, cx);
        Self { out, err, spilled: out_spill.or(err_spill) }
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.out.is_empty() && self.err.is_empty()
    }

    /// Returns both as one text, each ending with its line.
    pub(crate) fn text(&self) -> String {
        let label = if self.err.is_empty() { "" } else { "[stderr]\n" };
        format!("{}{label}{}", with_line_end(&self.out), with_line_end(&self.err))
    }
}

fn with_line_end(text: &str) -> String {
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{gap}")
}

/// Returns what is shown of a stream, and names the whole where something was left out.
fn shown(stream: HeardStream, share: usize, cx: &RunContext<'_>) -> (String, Option<String>) {
    let TruncatedText { head, left_out, tail } = cut(&stream.text, share, cx.limits());
    if left_out == 0 {
        return (head + &tail, None);
    }
    let length = cx.limits().kept_line_length();
    let lines = wrapped(&head, length).lines().count();
    let about = if stream.skipped > 0 { "about " } else { "" };
    let goes_on = stream.text.head()[head.len()..].starts_with('\n') || head.is_empty();
    let next_line = if goes_on { lines + 1 } else { lines };
    let rest_of = |id: &str| cx.limits().page_style.rest_of(id, next_line);
    let (how, spilled) = match finished(stream, cx) {
        Ok((id, 0)) => (format!("the whole is at {}", rest_of(&id)), Some(id)),
        Ok((id, lost)) => {
            let lost = GroupedNumber(lost);
            let how = format!("all but its last {lost} bytes is at {}; those were not kept", rest_of(&id));
            (how, Some(id))
        }
        Err(why) => (why, None),
    };
    let left_out = GroupedNumber(left_out);
    let gap = if head.is_empty() { "" } else { "\n" };
    (format!("{head}{gap}[… {about}{left_out} characters left out; {how} …]\n{tail}"), spilled)
}

/// Finishes keeping a stream; returns its id and how many bytes were not kept.
fn finished(stream: HeardStream, cx: &RunContext<'_>) -> Result<(String, u64), String> {
    let kept = match stream.kept {
        // It would have fitted alone, and shares its room with the other one.
        StreamSpill::No => match StreamSpill::begun(cx) {
            StreamSpill::Open(mut spilling) => {
                spilling.keep(stream.text.head());
                StreamSpill::Open(spilling)
            }
            failed => failed,
        },
        kept => kept,
    };
    match kept {
        StreamSpill::Open(spilling) => match spilling.finish() {
            Ok((id, lost)) => Ok((id, lost + stream.skipped)),
            Err(error) => Err(error.what.clone()),
        },
        StreamSpill::Failed(why) => Err(why),
        StreamSpill::No => Err("the whole was not kept".to_owned()),
    }
}
