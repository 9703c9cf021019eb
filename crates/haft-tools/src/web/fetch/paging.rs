//! Shows a part of a document: as many lines as fit a result, and how to go on.

use haft_contract::outcome::output::ReducedLimit;
use haft_contract::prelude::*;
use haft_contract::text::grouped::GroupedNumber;
use haft_contract::text::wrapping::LineWrapper;

/// Room for the last line, in characters.
const LAST_LINE: usize = 160;

/// Which part is asked for.
pub(super) struct Paging<'a> {
    /// The first line, from 1.
    pub(super) first: u64,
    /// Most lines.
    pub(super) most: Option<usize>,
    /// What stands above.
    pub(super) head: &'a str,
}

impl Paging<'_> {
    /// Returns the part. Lines that are too long to be shown are broken, so that every part of them can be read.
    pub(super) fn shown(&self, text: &str, cx: &RunContext<'_>) -> ToolOutput {
        let limits = cx.limits();
        let (most, limited) = ReducedLimit::of(self.most, limits.read_lines);
        let whole = cx.hide(text);
        let wrapped = LineWrapper::at(limits.kept_line_length()).take(&whole).into_owned();
        let lines: Vec<&str> = wrapped.lines().collect();
        let skipped = usize::try_from(self.first - 1).unwrap_or(usize::MAX).min(lines.len());
        let mut room = limits.result_whole.saturating_sub(self.head.chars().count() + LAST_LINE);
        let mut shown = 0;
        for line in lines[skipped..].iter().take(most) {
            let length = line.chars().count() + 1;
            if length > room && shown > 0 {
                break;
            }
            room = room.saturating_sub(length);
            shown += 1;
        }
        let mut out = self.head.to_owned();
        for line in &lines[skipped..skipped + shown] {
            out.push_str(line);
            out.push('\n');
        }
        out.push_str(&self.last_line((skipped, shown, lines.len()), &limits.page_style.document_rest));
        ToolOutput::text(out).with_limited(limited)
    }

    fn last_line(&self, (skipped, shown, all): (usize, usize, usize), rest: &str) -> String {
        let total = GroupedNumber(all as u64).of("line");
        match (shown, skipped + shown < all) {
            (0, _) if all == 0 => String::new(),
            (0, _) => format!("[there is no line {}; the document has {total}]\n", self.first),
            (_, false) if skipped == 0 => format!("[end: {total}]\n"),
            (_, false) => format!("[lines {}–{} of {total}; end]\n", skipped + 1, skipped + shown),
            (_, true) => {
                let (first, last) = (skipped + 1, skipped + shown);
                let rest = rest.replace("{line}", &(last + 1).to_string());
                format!("[lines {first}–{last} of {total}; {rest}]\n")
            }
        }
    }
}
