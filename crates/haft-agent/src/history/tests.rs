//! What is valid.
