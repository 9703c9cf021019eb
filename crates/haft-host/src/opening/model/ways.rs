//! Says how a person names the model: with haft's flags, or only with variables if another program uses haft.

/// The names of the options for the model, as messages use them.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModelOptionNames {
    /// What names the model.
    pub(super) model: &'static str,
    /// What names the address of the server.
    pub(super) base_url: &'static str,
}

impl ModelOptionNames {
    /// Those of `haft run`.
    pub(super) const FLAGS: Self = Self { model: "--model or HAFT_MODEL", base_url: "--base-url or HAFT_BASE_URL" };
    /// Those of a program that uses haft as a library.
    pub(super) const VARIABLES: Self = Self { model: "HAFT_MODEL", base_url: "HAFT_BASE_URL" };
}
