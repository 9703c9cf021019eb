//! Programs and their options, as the table has them.

mod formatters;
mod git_settings;
mod harmless;
mod modes;
mod options;
mod packers;
mod single_dash_words;
mod this_machine;
mod verbose_flags;
