//! How a model is asked over HTTP: through a real socket, with a server that answers byte by byte what a test says.

#![expect(clippy::disallowed_types, reason = "the server listens on loopback; nothing else is reached")]
#![expect(clippy::disallowed_methods, reason = "written streams lie beside the tests")]

mod conversation;
mod effort;
mod faults;
mod images;
mod patience;
mod published;
mod refused;
mod server;
mod written;
