//! The library's tests, one program: what the generic calls expand to is compiled once for all.

mod calls;
mod choice;
mod classics;
mod derive;
mod errors;
mod keys;
mod partition;
mod property;
#[cfg(feature = "wgpu")]
mod software_adapter;
mod structs;
mod threads;
mod values;
