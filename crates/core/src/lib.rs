//! Keys, plans and the engine trait of [Sweepsort](https://docs.rs/sweepsort).
//!
//! The data's way through the modules: a typed key slice becomes unsigned words and a [`Codec`]
//! ([`key`], [`codec`]); [`options`] say which order is wanted; an [`engine`] makes a [`plan`] of
//! [`digit`]s and runs it; a [`report`] tells what it did, or an [`error`] what was wrong.
//!
//! People who sort depend on `sweepsort`; this crate is for those who write an engine or a key
//! type by hand.

pub mod codec;
pub mod digit;
pub mod engine;
pub mod error;
pub mod key;
pub mod options;
pub mod plan;
pub mod report;
pub mod word;

pub use codec::{Codec, Coder, Constants};
pub use digit::Digit;
pub use engine::{Engine, IndexMut, Spec, Task, ValuesMut};
pub use error::{DataState, Error, Result, same_length};
pub use key::{BitReader, BitWriter, Kind, RadixKey};
pub use options::{Choice, Nan, Order};
pub use plan::{Plan, Shape};
pub use report::{Presorted, Report, Stage};
pub use word::{Width, Word, Words, WordsMut};
