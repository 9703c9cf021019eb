//! Profiles: the limits of each, as data. The defaults of the limits are those of the profile `haft`.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use haft_contract::limits::{ArgumentWords, EditCount, EditNeeds, Encodings, Limits, UnknownKeys, WriteMode};
use serde::Deserialize;

/// The profiles there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// haft's own.
    #[default]
    Haft,
    /// As TunaCode.
    Tunacode,
    /// As Code-Ally.
    Ally,
    /// As wyrmspire/agent.
    Wyrm,
    /// As NexAU.
    Nexau,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Profile; 5] = [Profile::Haft, Profile::Tunacode, Profile::Ally, Profile::Wyrm, Profile::Nexau];

    /// Returns the name of the profile.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Haft => "haft",
            Profile::Tunacode => "tunacode",
            Profile::Ally => "ally",
            Profile::Wyrm => "wyrm",
            Profile::Nexau => "nexau",
        }
    }

    /// Finds a profile by its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// Returns the deferred tools that the profile lists.
    pub fn shown_tools(self) -> Vec<String> {
        if self == Profile::Haft {
            return Vec::new();
        }
        ProfileTable::read().show.remove(self.name()).unwrap_or_default()
    }

    /// Returns the limits of the profile.
    pub fn limits(self) -> Limits {
        // Not from the table: the usual profile costs every call, and the table is read each time.
        let differences: fn(ProfileTable) -> SomeLimits = match self {
            Profile::Haft => return Limits::default(),
            Profile::Tunacode => |table| table.tunacode,
            Profile::Ally => |table| table.ally,
            Profile::Wyrm => |table| table.wyrm,
            Profile::Nexau => |table| table.nexau,
        };
        differences(ProfileTable::read()).over(Limits::default())
    }
}

impl FromStr for Profile {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::named(name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|profile| profile.name()).collect();
            format!("there is no such profile; choose one of {}", names.join(", "))
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileTable {
    tunacode: SomeLimits,
    ally: SomeLimits,
    wyrm: SomeLimits,
    nexau: SomeLimits,
    /// The deferred tools that a profile lists, by its name.
    show: BTreeMap<String, Vec<String>>,
}

impl ProfileTable {
    fn read() -> Self {
        toml::from_str(include_str!("profiles.toml")).expect("the table of profiles is in order")
    }
}

/// Limits of which some are set: a profile, or the user's file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SomeLimits {
    result_whole: Option<usize>,
    result_head: Option<usize>,
    result_tail: Option<usize>,
    read_lines: Option<Positive>,
    read_bytes: Option<Positive>,
    read_tokens: Option<Positive>,
    encodings: Option<SetEncodings>,
    read_header: Option<String>,
    read_end: Option<String>,
    memory_file: Option<String>,
    memory_heading: Option<String>,
    line_length: Option<Positive>,
    list_entries: Option<Positive>,
    usual_excludes: Option<Vec<String>>,
    write_mode: Option<SetWriteMode>,
    edit_count: Option<SetEditCount>,
    edit_needs_read: Option<bool>,
    unknown_keys: Option<SetUnknownKeys>,
    glob_paths: Option<Positive>,
    grep_matches: Option<Positive>,
    arguments_need_words: Option<bool>,
    call_time: Option<Seconds>,
    command_time: Option<Seconds>,
    command_time_most: Option<Seconds>,
    command_output: Option<Positive>,
    fetch_bytes: Option<Positive>,
    fetch_time: Option<Seconds>,
    failures_in_a_row: Option<Positive>,
}

impl SomeLimits {
    /// Returns whether the file of the memory, or what stands in it, is set.
    pub(crate) fn names_memory(&self) -> bool {
        self.memory_file.is_some() || self.memory_heading.is_some()
    }

    /// Puts what is set over other limits.
    pub(crate) fn over(self, limits: Limits) -> Limits {
        let number = |set: Option<Positive>, otherwise| set.map_or(otherwise, |Positive(number)| number);
        let whole = self.result_whole.unwrap_or(limits.result_whole);
        // Who sets only the whole gets three quarters of it from the beginning and one from the end.
        let derived = self.result_whole.is_some() && self.result_head.is_none() && self.result_tail.is_none();
        let (head, tail) =
            if derived { (whole - whole / 4, whole / 4) } else { (limits.result_head, limits.result_tail) };
        Limits {
            result_whole: whole,
            result_head: self.result_head.unwrap_or(head),
            result_tail: self.result_tail.unwrap_or(tail),
            read_lines: number(self.read_lines, limits.read_lines),
            read_bytes: self.read_bytes.map_or(limits.read_bytes, |Positive(bytes)| Some(bytes as u64)),
            read_tokens: self.read_tokens.map_or(limits.read_tokens, |Positive(tokens)| Some(tokens)),
            encodings: self.encodings.map_or(limits.encodings, Encodings::from),
            read_header: self.read_header.unwrap_or(limits.read_header),
            read_end: self.read_end.unwrap_or(limits.read_end),
            memory_file: self.memory_file.unwrap_or(limits.memory_file),
            memory_heading: self.memory_heading.unwrap_or(limits.memory_heading),
            line_length: number(self.line_length, limits.line_length),
            list_entries: number(self.list_entries, limits.list_entries),
            usual_excludes: self.usual_excludes.unwrap_or(limits.usual_excludes),
            write_mode: self.write_mode.map_or(limits.write_mode, WriteMode::from),
            edit_count: self.edit_count.map_or(limits.edit_count, EditCount::from),
            edit_needs: match self.edit_needs_read {
                None => limits.edit_needs,
                Some(true) => EditNeeds::Read,
                Some(false) => EditNeeds::Nothing,
            },
            unknown_keys: self.unknown_keys.map_or(limits.unknown_keys, UnknownKeys::from),
            glob_paths: number(self.glob_paths, limits.glob_paths),
            grep_matches: number(self.grep_matches, limits.grep_matches),
            argument_words: match self.arguments_need_words {
                None => limits.argument_words,
                Some(true) => ArgumentWords::Required,
                Some(false) => ArgumentWords::Advised,
            },
            call_time: self.call_time.map_or(limits.call_time, |Seconds(time)| time),
            command_time: self.command_time.map_or(limits.command_time, |Seconds(time)| time),
            command_time_most: self.command_time_most.map_or(limits.command_time_most, |Seconds(time)| time),
            command_output: self.command_output.map_or(limits.command_output, |Positive(bytes)| bytes as u64),
            fetch_bytes: number(self.fetch_bytes, limits.fetch_bytes),
            fetch_time: self.fetch_time.map_or(limits.fetch_time, |Seconds(time)| time),
            failures_in_a_row: number(self.failures_in_a_row, limits.failures_in_a_row),
            page_style: limits.page_style,
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SetWriteMode {
    Create,
    Overwrite,
    OverwriteIfRead,
}

impl From<SetWriteMode> for WriteMode {
    fn from(mode: SetWriteMode) -> Self {
        match mode {
            SetWriteMode::Create => WriteMode::Create,
            SetWriteMode::Overwrite => WriteMode::Overwrite,
            SetWriteMode::OverwriteIfRead => WriteMode::OverwriteIfRead,
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
enum SetEncodings {
    #[serde(rename = "any")]
    Any,
    #[serde(rename = "utf-8")]
    Utf8,
}

impl From<SetEncodings> for Encodings {
    fn from(encodings: SetEncodings) -> Self {
        match encodings {
            SetEncodings::Any => Encodings::Any,
            SetEncodings::Utf8 => Encodings::Utf8,
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SetEditCount {
    Unique,
    First,
}

impl From<SetEditCount> for EditCount {
    fn from(count: SetEditCount) -> Self {
        match count {
            SetEditCount::Unique => EditCount::Unique,
            SetEditCount::First => EditCount::First,
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SetUnknownKeys {
    Refused,
    Dropped,
}

impl From<SetUnknownKeys> for UnknownKeys {
    fn from(keys: SetUnknownKeys) -> Self {
        match keys {
            SetUnknownKeys::Refused => UnknownKeys::Refused,
            SetUnknownKeys::Dropped => UnknownKeys::Dropped,
        }
    }
}

/// A number that is not zero: a limit of nothing would refuse everything.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "usize")]
struct Positive(usize);

impl TryFrom<usize> for Positive {
    type Error = &'static str;

    fn try_from(number: usize) -> Result<Self, Self::Error> {
        if number == 0 { Err("must be at least 1") } else { Ok(Self(number)) }
    }
}

/// A time in seconds, which may have fractions.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "f64")]
struct Seconds(Duration);

impl TryFrom<f64> for Seconds {
    type Error = &'static str;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        let time = Duration::try_from_secs_f64(seconds).map_err(|_| "must be a time in seconds")?;
        if time.is_zero() { Err("must be more than 0 seconds") } else { Ok(Self(time)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_profile_has_the_default_limits_and_each_other_one_its_differences() {
        assert_eq!(Profile::Tunacode.limits().result_head, 2_500);
        assert_eq!(Profile::Tunacode.limits().read_lines, Limits::default().read_lines);
        let largest_read = Profile::ALL.map(|profile| profile.limits().read_bytes);
        assert_eq!(largest_read, [None, Some(102_400), None, Some(1_000_000), Some(10_485_760)]);
        assert_eq!(Profile::Ally.limits().read_tokens, Some(1_500));
        let strict = Profile::ALL.map(|profile| profile.limits().encodings == Encodings::Utf8);
        assert_eq!(strict, [false, true, false, true, false]);
        assert_eq!(Profile::Nexau.limits().read_header, "--- {path} ---");
        assert_eq!(Profile::Tunacode.limits().write_mode, WriteMode::Create);
        assert_eq!(Profile::Tunacode.limits().edit_count, EditCount::First);
        assert_eq!(Profile::Nexau.limits().write_mode, WriteMode::Overwrite);
        let needs = Profile::ALL.map(|profile| profile.limits().edit_needs == EditNeeds::Read);
        assert_eq!(needs, [true, false, true, true, false]);
        let dropped = Profile::ALL.map(|profile| profile.limits().unknown_keys == UnknownKeys::Dropped);
        assert_eq!(dropped, [false, false, true, true, false]);
        let required = Profile::ALL.map(|profile| profile.limits().argument_words == ArgumentWords::Required);
        assert_eq!(required, [false, false, false, true, false]);
        let seconds = |profile: Profile| {
            let limits = profile.limits();
            (limits.command_time.as_secs(), limits.command_time_most.as_secs())
        };
        assert_eq!(Profile::ALL.map(seconds), [(120, 600), (30, 300), (5, 60), (30, 600), (300, 600)]);
        let fetched = Profile::ALL.map(|profile| (profile.limits().fetch_bytes, profile.limits().fetch_time.as_secs()));
        assert_eq!(fetched, [30, 60, 30, 30, 100].map(|seconds| (5_000_000, seconds)));
        for profile in Profile::ALL {
            assert_eq!(Profile::named(profile.name()), Some(profile));
            let limits = profile.limits();
            assert!(limits.result_head + limits.result_tail <= limits.result_whole);
        }
    }
}
