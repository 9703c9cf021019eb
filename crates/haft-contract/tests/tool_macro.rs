//! What `#[haft_contract::tool]` makes of a function, and what it says when it cannot.

mod tool_macro {
    mod called;
    mod described;
    mod effects;
    mod placed;
    mod refused;
    mod scene;
}
