//! Contenders whose keys lie in a GPU's memory: those of one API are a party, and the parties take
//! turns in one run.
//!
//! ```text
//! CUDA (device/) ──────────┐
//! wgpu (wgpu/) ────────────┼─ load and warm up each ─→ wake ─→ rounds ─→ outcomes
//! an older wgpu (wgpu/) ───┘
//! ```

use std::io::Write;

use super::contender::Ours;
use super::measure::{self, Outcome};
use crate::exit::{Failure, Result};

/// What a row says of a contender besides its times.
pub struct Seat {
    /// The name.
    pub name: String,
    /// What is asked of our engine, if it is ours.
    pub ours: Option<Ours>,
    /// The algorithm that it has chosen for the input, where the choice was its own.
    pub algorithm: Option<&'static str>,
    /// The bytes of memory that it was given for a sort, where we know them.
    pub workspace_bytes: Option<u64>,
    /// Bytes read and written a second by a large copy.
    pub bandwidth: f64,
    /// Whether the host's clock has timed it, as the GPU has none.
    pub host_clock: bool,
}

impl Seat {
    /// The name, with the method where it is ours.
    fn method(&self) -> String {
        match &self.ours {
            Some(ours) => format!("{} ({})", self.name, ours.method),
            None => self.name.clone(),
        }
    }
}

/// Contenders on one input, which lies in the memory of one API's device.
pub trait Party {
    /// How many contenders it has.
    fn len(&self) -> usize;

    /// Who sits there.
    fn seat(&self, at: usize) -> Seat;

    /// Hands the input to a contender, with what memory it needs besides.
    ///
    /// # Errors
    /// Why it refuses the input.
    fn load(&mut self, at: usize) -> Result<(), String>;

    /// One timed sort, and whether its output is right.
    fn round(&mut self, at: usize, outcome: &mut Outcome);

    /// Has the device work until its clocks are up.
    ///
    /// # Errors
    /// What the device fails at.
    fn wake(&mut self) -> Result<()>;

    /// What follows the last round.
    ///
    /// # Errors
    /// What the device fails at.
    fn end(&mut self, at: usize, outcome: &mut Outcome) -> Result<()>;
}

/// Why peers are absent, as far as that has been told.
#[derive(Default)]
pub struct Absent {
    told: Vec<String>,
}

impl Absent {
    /// Tells on stderr why a peer is absent, each reason once.
    ///
    /// # Errors
    /// [`Failure::Input`] with the reason if the peer was asked for by name.
    pub fn tell(&mut self, peer: &str, named: bool, why: String) -> Result<()> {
        if named {
            return Err(Failure::input(why));
        }
        if !self.told.contains(&why) {
            without(peer, &why);
            self.told.push(why);
        }
        Ok(())
    }
}

/// Tells on stderr who does not take part.
fn without(contender: &str, why: &str) {
    // Nowhere is left to complain to if stderr is closed.
    let _ = writeln!(std::io::stderr(), "sweepsort: without {contender}: {why}");
}

/// Runs all contenders of all parties in turns. Those that refuse the input are told of on stderr and
/// have no outcome.
///
/// # Errors
/// What a device fails at.
pub fn rounds(
    parties: &mut [Box<dyn Party + '_>],
    budget: f64,
    step: &mut dyn FnMut(&str),
) -> Result<Vec<(Seat, Outcome)>> {
    let seats = parties.iter().enumerate();
    let seats = seats.flat_map(|(party, of)| (0..of.len()).map(move |at| (party, at)));
    let seats: Vec<(usize, usize)> = seats.collect();
    let names: Vec<String> = seats
        .iter()
        .map(|&(party, at)| parties[party].seat(at).name)
        .collect();
    let mut outcomes: Vec<Outcome> = Vec::new();
    for (&(party, at), name) in seats.iter().zip(&names) {
        step(name);
        let mut outcome = Outcome::default();
        match parties[party].load(at) {
            Ok(()) => parties[party].round(at, &mut outcome),
            Err(why) => {
                outcome.broken = true;
                outcome.failure = Some(why);
            }
        }
        // The first run warms up.
        outcome.seconds.clear();
        outcomes.push(outcome);
    }
    let refused: Vec<bool> = outcomes.iter().map(|outcome| outcome.broken).collect();
    for party in &mut *parties {
        party.wake()?;
    }
    measure::rounds(&mut outcomes, 1, budget, |i, outcome| {
        step(&names[i]);
        let (party, at) = seats[i];
        parties[party].round(at, outcome);
    });
    let mut ran = Vec::new();
    for ((&(party, at), mut outcome), refused) in seats.iter().zip(outcomes).zip(refused) {
        parties[party].end(at, &mut outcome)?;
        let seat = parties[party].seat(at);
        match &outcome.failure {
            Some(why) if refused => without(&seat.method(), why),
            _ => ran.push((seat, outcome)),
        }
    }
    Ok(ran)
}
