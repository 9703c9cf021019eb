//! Says which part of all results is shown, and how to continue: `paths 1-1,000 of 3,204; go on with offset=1000`.

use haft_contract::description::page_style::ContinuationArguments;
use haft_contract::text::grouped::GroupedNumber;

/// A page of results.
pub(crate) struct ResultPage {
    /// How many come before it.
    pub(crate) skip: u64,
    /// How many it has.
    pub(crate) shown: u64,
    /// How many there are in all.
    pub(crate) total: u64,
    /// Words before the total, where there may be more.
    pub(crate) at_least: &'static str,
}

impl ResultPage {
    /// Returns whether results are left out before the page or behind it.
    pub(crate) fn is_part(&self) -> bool {
        self.skip > 0 || self.shown < self.total
    }

    /// Says which of the things with this name are shown, and how many there are.
    pub(crate) fn which(&self, noun: &str) -> String {
        let ResultPage { skip, shown, total, at_least } = *self;
        let all = format!("{at_least}{}", GroupedNumber(total).of(noun));
        let last = GroupedNumber(skip + shown);
        match shown {
            _ if shown == 0 || !self.is_part() => all,
            1 => format!("{last} of {all}"),
            _ => format!("{}–{last} of {all}", GroupedNumber(skip + 1)),
        }
    }

    /// Says how to go on, where there are more, or that too many were passed over.
    pub(crate) fn go_on(&self, arguments: ContinuationArguments) -> Option<String> {
        let last = self.skip + self.shown;
        if self.shown == 0 && self.skip > 0 {
            return Some(format!("none after offset={last}"));
        }
        (last < self.total).then(|| match arguments {
            ContinuationArguments::Own => format!("go on with offset={last}"),
            ContinuationArguments::Shared => "narrow the pattern or give a \"path\"".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_says_where_it_lies_and_how_to_go_on() {
        let check = |(skip, shown, total), which: &str, go_on: Option<&str>| {
            let page = ResultPage { skip, shown, total, at_least: "" };
            assert_eq!(
                (page.which("path").as_str(), page.go_on(ContinuationArguments::Own).as_deref()),
                (which, go_on)
            );
        };
        check((0, 2, 2), "2 paths", None);
        check((0, 1_000, 3_204), "1–1,000 of 3,204 paths", Some("go on with offset=1000"));
        check((1_000, 1_000, 2_000), "1,001–2,000 of 2,000 paths", None);
        check((3, 1, 9), "4 of 9 paths", Some("go on with offset=4"));
        check((9, 0, 2), "2 paths", Some("none after offset=9"));
        let more = ResultPage { skip: 0, shown: 100, total: 101, at_least: "at least " };
        assert_eq!(more.which("match"), "1–100 of at least 101 matches");
    }
}
