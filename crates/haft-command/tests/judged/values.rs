//! Words and variables: what a value may be when the command runs.

mod any_words;
mod assigned;
mod changed_values;
mod computing;
mod cut_words;
mod disguises;
mod given_variables;
mod kept_values;
mod unknown_words;
mod variables;
