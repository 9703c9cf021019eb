//! Spans of `haft run` as a collector gets them: `cargo test -p haft-cli --features otel --test spans`.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test lays out folders, starts processes and kills them"
)]

#[path = "agent/place.rs"]
#[expect(dead_code, reason = "another suite uses the rest")]
mod place;
#[path = "spans/tree.rs"]
mod tree;
#[path = "spans/trouble.rs"]
mod trouble;
