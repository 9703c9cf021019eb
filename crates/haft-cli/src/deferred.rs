//! Builds the flags of a subcommand only when that subcommand is called.
//!
//! haft has some thirty subcommands, and each call uses one. Building the flags and the help of all of them took most
//! of the command line's time.

use std::ops::Deref;

use clap::builder::Resettable;
use clap::error::Error;
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// The arguments of a subcommand, whose flags are built only when it is called.
pub(crate) struct DeferredArguments<T>(T);

impl<T> Deref for DeferredArguments<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Args> Args for DeferredArguments<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(with_flags_of::<T>)
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(T::augment_args_for_update)
    }
}

/// Adds the flags. What the subcommand is said to do counts more than what is said of the type of its flags.
fn with_flags_of<T: Args>(command: Command) -> Command {
    let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
    T::augment_args(command).about(Resettable::from(about)).long_about(Resettable::from(long_about))
}

impl<T: FromArgMatches> FromArgMatches for DeferredArguments<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
