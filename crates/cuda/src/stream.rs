//! Streams and events: order, time, and two more streams to fork into.

use std::sync::Arc;
use std::time::Duration;

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaEvent, CudaStream};
use sweepsort_core::Stage;

use crate::device::Device;
use crate::error::{Result, while_doing};

/// A queue of work on a device: each piece of work starts when the one before it is done.
#[derive(Clone, Debug)]
pub struct Stream {
    raw: Arc<CudaStream>,
    device: Arc<Device>,
}

impl Stream {
    pub(crate) fn new(raw: Arc<CudaStream>, device: Arc<Device>) -> Self {
        Stream { raw, device }
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The stream, for calls of `cudarc`.
    pub fn raw(&self) -> &Arc<CudaStream> {
        &self.raw
    }

    /// Waits until all work that was put in is done.
    ///
    /// # Errors
    /// [`crate::Error::Driver`], also where a kernel has failed since the last call.
    pub fn synchronize(&self) -> Result<()> {
        let done = self.raw.synchronize();
        done.map_err(while_doing("waiting for a stream"))
    }

    /// Puts an event in, which takes the time at which it is reached.
    ///
    /// # Errors
    /// [`crate::Error::Driver`].
    pub fn event(&self) -> Result<Event> {
        let event = self.raw.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
        Ok(Event(event.map_err(while_doing("recording an event"))?))
    }

    /// What is put in from now on waits for the event; the caller does not.
    ///
    /// # Errors
    /// [`crate::Error::Driver`].
    pub fn wait(&self, event: &Event) -> Result<()> {
        wait(&self.raw, &event.0)
    }
}

/// A place in a stream, and the time at which it was reached.
#[derive(Debug)]
pub struct Event(CudaEvent);

impl Event {
    /// Waits for both events, and returns the seconds from the earlier to this one. The device's
    /// clock ticks in half microseconds.
    ///
    /// # Errors
    /// [`crate::Error::Driver`].
    pub fn seconds_since(&self, earlier: &Event) -> Result<f64> {
        let milliseconds = earlier.0.elapsed_ms(&self.0);
        let milliseconds = milliseconds.map_err(while_doing("taking the time"))?;
        Ok(f64::from(milliseconds) / 1e3)
    }

    /// Whether it has been reached.
    pub fn is_reached(&self) -> bool {
        self.0.is_complete()
    }
}

/// Takes the time of stages on the device, which neither waits nor is waited for meanwhile.
///
/// ```text
/// start │ copy in │ a pass's counts, scan, scatter │ …
///       ├ Transfer┤ Histogram┤ Scan┤ Scatter┤          an event at each mark
/// ```
/// A stretch in which the device had nothing to do counts for the stage that ends next. The events
/// are made once and recorded again after each start.
#[derive(Debug, Default)]
pub struct Clock {
    /// The start, and the end of each stage; those behind the last stage are of an earlier use.
    events: Vec<Event>,
    ended: Vec<Stage>,
}

impl Clock {
    /// A clock that has not been started; until it is, it takes no time.
    pub fn new() -> Self {
        Clock::default()
    }

    /// Time runs from here on, and what was taken before is forgotten.
    ///
    /// # Errors
    /// [`crate::Error::Driver`].
    pub fn start(&mut self, stream: &Stream) -> Result<()> {
        self.ended.clear();
        self.mark(0, stream)
    }

    /// What was put into the stream since the last call, of this or of [`start`](Self::start), was
    /// this stage.
    ///
    /// # Errors
    /// [`crate::Error::Driver`].
    pub fn end(&mut self, stage: Stage, stream: &Stream) -> Result<()> {
        if self.events.is_empty() {
            return Ok(());
        }
        self.mark(self.ended.len() + 1, stream)?;
        self.ended.push(stage);
        Ok(())
    }

    /// How long each stage took, all passes together, in the order in which stages first ended.
    /// Waits for the last of them.
    ///
    /// # Errors
    /// [`crate::Error::Driver`], also where earlier work failed.
    pub fn stages(&self) -> Result<Vec<(Stage, Duration)>> {
        let mut stages: Vec<(Stage, Duration)> = Vec::new();
        for (between, &stage) in self.events.windows(2).zip(&self.ended) {
            let seconds = between[1].seconds_since(&between[0])?;
            let time = Duration::from_secs_f64(seconds.max(0.0));
            match stages.iter_mut().find(|(known, _)| *known == stage) {
                Some((_, sum)) => *sum += time,
                None => stages.push((stage, time)),
            }
        }
        Ok(stages)
    }

    /// Records the event of that number, made if there was none.
    fn mark(&mut self, number: usize, stream: &Stream) -> Result<()> {
        match self.events.get(number) {
            Some(event) => record(&event.0, stream.raw()),
            None => {
                self.events.push(stream.event()?);
                Ok(())
            }
        }
    }
}

/// A stage has ended, where somebody asks.
pub(crate) fn end(clock: &mut Option<&mut Clock>, stage: Stage, stream: &Stream) -> Result<()> {
    match clock {
        Some(clock) => clock.end(stage, stream),
        None => Ok(()),
    }
}

/// Two streams beside another, for stages that do not depend on each other. Made once: forking and
/// joining then allocate nothing, and can be captured in a graph.
#[derive(Debug)]
pub struct Sides {
    sides: [Stream; 2],
    forked: CudaEvent,
    done: [CudaEvent; 2],
}

impl Sides {
    /// Two new streams of the device.
    ///
    /// # Errors
    /// [`crate::Error::Driver`].
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        // Without a flag, an event takes no time, which is cheaper.
        let event = || {
            let event = device.context().new_event(None);
            event.map_err(while_doing("making an event"))
        };
        Ok(Sides {
            sides: [device.stream()?, device.stream()?],
            forked: event()?,
            done: [event()?, event()?],
        })
    }

    /// Forks off `main`: what is put into the sides waits for what is in `main` now. They are
    /// joined by [`Fork::join`], or when the fork is dropped.
    ///
    /// # Errors
    /// [`crate::Error::Driver`].
    pub fn fork<'a>(&'a mut self, main: &'a Stream) -> Result<Fork<'a>> {
        record(&self.forked, main.raw())?;
        for side in &self.sides {
            wait(side.raw(), &self.forked)?;
        }
        Ok(Fork {
            sides: self,
            main,
            joined: false,
        })
    }
}

/// Two streams that were forked off another.
#[derive(Debug)]
pub struct Fork<'a> {
    sides: &'a Sides,
    main: &'a Stream,
    joined: bool,
}

impl Fork<'_> {
    /// The one side.
    pub fn left(&self) -> &Stream {
        &self.sides.sides[0]
    }

    /// The other side.
    pub fn right(&self) -> &Stream {
        &self.sides.sides[1]
    }

    /// What is put into the main stream from now on waits for both sides.
    ///
    /// # Errors
    /// [`crate::Error::Driver`].
    pub fn join(mut self) -> Result<()> {
        self.join_now()
    }

    fn join_now(&mut self) -> Result<()> {
        self.joined = true;
        for (side, done) in self.sides.sides.iter().zip(&self.sides.done) {
            record(done, side.raw())?;
            wait(self.main.raw(), done)?;
        }
        Ok(())
    }
}

impl Drop for Fork<'_> {
    fn drop(&mut self) {
        if !self.joined {
            // After an error, buffers go back in the main stream's order: the sides must be done.
            let _ = self.join_now();
        }
    }
}

fn record(event: &CudaEvent, stream: &CudaStream) -> Result<()> {
    event
        .record(stream)
        .map_err(while_doing("recording an event"))
}

fn wait(stream: &CudaStream, event: &CudaEvent) -> Result<()> {
    stream
        .wait(event)
        .map_err(while_doing("waiting for an event"))
}
