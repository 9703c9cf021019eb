//! `haft` alone at a real terminal: the screen that a person sees, the scrollback, what keys do.
#![expect(clippy::disallowed_methods, reason = "a test reads the environment and the files of a session")]

#[path = "interactive/chat.rs"]
mod chat;
#[path = "interactive/commands.rs"]
mod commands;
#[path = "interactive/console.rs"]
mod console;
#[path = "interactive/outside_text.rs"]
mod outside_text;
#[path = "interactive/pictures.rs"]
mod pictures;
#[path = "interactive/questions.rs"]
mod questions;
#[path = "interactive/rewinding.rs"]
mod rewinding;
#[path = "interactive/screen.rs"]
mod screen;
#[path = "interactive/scrollback.rs"]
mod scrollback;
#[path = "interactive/sessions.rs"]
mod sessions;
#[path = "interactive/situations.rs"]
mod situations;
