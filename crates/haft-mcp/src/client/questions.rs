//! Questions of servers to the user and to the user's model.

pub(crate) mod asked;
pub(crate) mod elicitation;
pub(crate) mod sampling;
