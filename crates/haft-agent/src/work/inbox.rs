//! Messages that a person sends while a model works.

/// Holds messages until the model can be given them: after its calls, before it is asked again.
pub trait Inbox: Send + Sync {
    /// Returns the next message; what it returns is in the conversation from then on.
    fn take(&self) -> Option<String>;
}

/// No one sends anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoInbox;

impl Inbox for NoInbox {
    fn take(&self) -> Option<String> {
        None
    }
}
