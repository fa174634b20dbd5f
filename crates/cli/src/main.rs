//! The `sweepsort` command.
fn main() {}
