//! The rules of the ladder, one scene each.
