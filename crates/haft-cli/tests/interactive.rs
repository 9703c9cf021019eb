//! `haft` alone at a real terminal: the screen that a person sees, the scrollback, what keys do.
#![expect(clippy::disallowed_methods, reason = "a test reads the environment and the files of a session")]

#[path = "interactive/chat.rs"]
mod chat;
#[path = "interactive/console.rs"]
mod console;
#[path = "interactive/questions.rs"]
mod questions;
#[path = "interactive/screen.rs"]
mod screen;
#[path = "interactive/scrollback.rs"]
mod scrollback;
#[path = "interactive/sessions.rs"]
mod sessions;
