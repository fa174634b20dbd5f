//! Streams and events: order, time, and two more streams to fork into.

use std::sync::Arc;

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaEvent, CudaStream};

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
