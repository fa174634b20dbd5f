//! The arrays that are sorted on the host: in pageable memory, as programs have it, or in
//! page-locked memory, which a GPU reaches by itself.

use std::ops::{Deref, DerefMut};
#[cfg(feature = "cuda")]
use std::sync::Arc;

#[cfg(feature = "cuda")]
use sweepsort_cuda::Device;

#[cfg(feature = "cuda")]
use super::device::Locked;

/// Where arrays lie.
#[derive(Clone, Debug)]
pub enum Place {
    /// Memory of the usual kind.
    Pageable,
    /// Page-locked for this device.
    #[cfg(feature = "cuda")]
    PageLocked(Arc<Device>),
}

/// An array.
pub enum Array<T> {
    /// Memory of the usual kind.
    Pageable(Vec<T>),
    /// Page-locked.
    #[cfg(feature = "cuda")]
    PageLocked(Locked<T>),
}

impl<T> Default for Array<T> {
    fn default() -> Self {
        Array::Pageable(Vec::new())
    }
}

impl<T: Copy> Array<T> {
    /// Makes it one of `len` elements in that place. If it is new, all of them are `value`.
    ///
    /// # Errors
    /// Too little memory that can be page-locked.
    pub fn hold(&mut self, place: &Place, len: usize, value: T) -> Result<(), String> {
        if self.len() == len {
            return Ok(());
        }
        *self = Array::default();
        *self = match place {
            Place::Pageable => Array::Pageable(vec![value; len]),
            #[cfg(feature = "cuda")]
            Place::PageLocked(device) => {
                let locked = Locked::filled(device, len, value);
                Array::PageLocked(locked.map_err(|error| error.to_string())?)
            }
        };
        Ok(())
    }
}

impl<T> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Array::Pageable(array) => array,
            #[cfg(feature = "cuda")]
            Array::PageLocked(array) => array,
        }
    }
}

impl<T> DerefMut for Array<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Array::Pageable(array) => array,
            #[cfg(feature = "cuda")]
            Array::PageLocked(array) => array,
        }
    }
}
