//! The GPUs that wgpu finds, and how the engine opens one.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use sweepsort_core::{Error, Result};

use crate::error::failed;

/// The environment variable that names the adapter to take: a part of its name, in any case.
pub const ADAPTER_VARIABLE: &str = "SWEEPSORT_ADAPTER";

/// What is known of an adapter without opening it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Its name.
    pub name: String,
    /// The backend, such as `vulkan`.
    pub backend: String,
    /// The driver, with its version.
    pub driver: String,
    /// Whether it is a processor that plays a GPU: taken only when asked for by name.
    pub software: bool,
    /// Whether it is a GPU with memory of its own: taken before others.
    pub discrete: bool,
    /// Threads of a subgroup, least and most; `None` where it has no subgroups.
    pub subgroups: Option<(u32, u32)>,
    /// Bytes of workgroup memory.
    pub workgroup_storage: u32,
    /// Bytes that can be bound at once: those of keys or of values at most.
    pub binding_bytes: u64,
}

/// An adapter that the engine can open.
#[derive(Clone, Debug)]
pub struct Adapter {
    adapter: wgpu::Adapter,
    facts: Facts,
}

/// A device of the engine's own. What wgpu reports outside of any call's scope is kept for the next sort.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    /// The first complaint, after which the device is not to be trusted.
    pub complaint: Arc<Mutex<Option<String>>>,
}

impl Adapter {
    /// Every adapter that can run the kernels, in the order of the backends.
    pub fn all() -> Vec<Adapter> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::PRIMARY,
            // The engine's own dispatches are within limits; the flags can still be set from outside.
            flags: wgpu::InstanceFlags::empty().with_env(),
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
        adapters
            .into_iter()
            .filter(|adapter| {
                let down = adapter.get_downlevel_capabilities().flags;
                down.contains(
                    wgpu::DownlevelFlags::COMPUTE_SHADERS
                        | wgpu::DownlevelFlags::INDIRECT_EXECUTION,
                )
            })
            .map(|adapter| {
                let facts = Facts::of(&adapter);
                Adapter { adapter, facts }
            })
            .collect()
    }

    /// The adapter to take: the one that [`ADAPTER_VARIABLE`] names, or the first that is a real GPU,
    /// discrete ones before others.
    ///
    /// # Errors
    /// [`Error::EngineAbsent`], with what there is.
    pub fn preferred() -> Result<Adapter> {
        let asked = std::env::var(ADAPTER_VARIABLE).ok();
        let mut all = Self::all();
        let facts: Vec<Facts> = all.iter().map(|adapter| adapter.facts.clone()).collect();
        Ok(all.swap_remove(choose(&facts, asked.as_deref())?))
    }

    /// The first software adapter, such as Mesa's lavapipe, for programs that are tried without a GPU.
    pub fn software() -> Option<Adapter> {
        Self::all().into_iter().find(|it| it.facts.software)
    }

    /// What is known of it.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// wgpu's own adapter, to request a device of one's own from. The feature `SUBGROUP` makes sorting
    /// faster.
    pub fn wgpu(&self) -> &wgpu::Adapter {
        &self.adapter
    }

    /// Opens it with all it has that the kernels use, and with timestamps, for those who measure.
    pub(crate) fn open(&self) -> Result<Opened> {
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("sweepsort"),
            required_features: self.adapter.features()
                & (wgpu::Features::SUBGROUP
                    | wgpu::Features::TIMESTAMP_QUERY
                    | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS),
            required_limits: self.adapter.limits(),
            ..Default::default()
        };
        let opened = pollster::block_on(self.adapter.request_device(&descriptor));
        let (device, queue) = opened.map_err(failed)?;
        let complaint: Arc<Mutex<Option<String>>> = Arc::default();
        let keep = |complaint: &Arc<Mutex<Option<String>>>| {
            let complaint = complaint.clone();
            move |what: String| {
                let mut kept = complaint.lock().unwrap_or_else(PoisonError::into_inner);
                kept.get_or_insert(what);
            }
        };
        let (uncaptured, lost) = (keep(&complaint), keep(&complaint));
        device.on_uncaptured_error(Arc::new(move |error| uncaptured(error.to_string())));
        device.set_device_lost_callback(move |reason, what| {
            // When it is dropped it is destroyed, which is no loss.
            if reason != wgpu::DeviceLostReason::Destroyed {
                lost(format!("the device was lost: {what}"));
            }
        });
        Ok(Opened {
            device,
            queue,
            complaint,
        })
    }
}

/// Which of these adapters to take, see [`Adapter::preferred`].
fn choose(all: &[Facts], asked: Option<&str>) -> Result<usize> {
    let mut places = 0..all.len();
    let found = match asked {
        Some(part) => {
            let part = part.to_lowercase();
            places.find(|&i| all[i].name.to_lowercase().contains(&part))
        }
        None => places
            .filter(|&i| !all[i].software)
            .min_by_key(|&i| !all[i].discrete),
    };
    let names: Vec<&str> = all.iter().map(|facts| facts.name.as_str()).collect();
    found.ok_or_else(|| Error::EngineAbsent {
        engine: "wgpu",
        why: match (asked, names.is_empty()) {
            (_, true) => "no GPU was found through Vulkan, Metal or DirectX 12; install its driver"
                .to_owned(),
            (Some(part), false) => format!(
                "no adapter has '{part}' in its name; set {ADAPTER_VARIABLE} to a part of one of \
                 these: {}",
                names.join(", ")
            ),
            (None, false) => format!(
                "there are only software adapters: {}; to use one, set {ADAPTER_VARIABLE} to \
                 a part of its name",
                names.join(", ")
            ),
        },
    })
}

impl Facts {
    fn of(adapter: &wgpu::Adapter) -> Facts {
        let (info, limits) = (adapter.get_info(), adapter.limits());
        let subgroups = adapter.features().contains(wgpu::Features::SUBGROUP);
        Facts {
            name: info.name,
            backend: info.backend.to_string(),
            driver: format!("{} {}", info.driver, info.driver_info)
                .trim()
                .to_owned(),
            software: info.device_type == wgpu::DeviceType::Cpu,
            discrete: info.device_type == wgpu::DeviceType::DiscreteGpu,
            subgroups: subgroups.then_some((info.subgroup_min_size, info.subgroup_max_size)),
            workgroup_storage: limits.max_compute_workgroup_storage_size,
            binding_bytes: limits.max_storage_buffer_binding_size,
        }
    }
}

/// All of it, in one line.
impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {}, driver {}, ",
            self.name, self.backend, self.driver
        )?;
        match self.subgroups {
            None => write!(f, "no subgroups")?,
            Some((least, most)) if least == most => write!(f, "subgroups of {least}")?,
            Some((least, most)) => write!(f, "subgroups of {least} to {most}")?,
        }
        write!(
            f,
            ", {} KiB of workgroup memory, keys of {} MiB at most",
            self.workgroup_storage >> 10,
            self.binding_bytes >> 20
        )?;
        match self.software {
            true => write!(f, ", a software adapter"),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(name: &str) -> Facts {
        Facts {
            name: name.to_owned(),
            backend: "vulkan".to_owned(),
            driver: String::new(),
            software: name.starts_with("Software"),
            discrete: name.starts_with("Discrete"),
            subgroups: None,
            workgroup_storage: 1 << 14,
            binding_bytes: 1 << 27,
        }
    }

    #[test]
    fn the_adapter_that_is_asked_for_or_the_best_gpu_is_taken() {
        let (soft, small, big) = ("Software one", "Integrated two", "Discrete three");
        type Case<'a> = (&'a [&'a str], Option<&'a str>, Result<usize, &'a str>);
        let cases: [Case; 11] = [
            (&[soft, small, big], None, Ok(2)),
            (&[big, small, soft], None, Ok(0)),
            (&[soft, small], None, Ok(1)),
            (&[small, small], None, Ok(0)),
            (&[soft, big, big], None, Ok(1)),
            (&[soft, small, big], Some("ONE"), Ok(0)),
            (&[soft, small, big], Some("t"), Ok(0)),
            (&[big, small], Some("two"), Ok(1)),
            (
                &[big, small],
                Some("four"),
                Err("of one of these: Discrete three, Integrated two"),
            ),
            (
                &[soft, soft],
                None,
                Err("only software adapters: Software one, Software one"),
            ),
            (&[], Some("one"), Err("no GPU was found")),
        ];
        for (names, asked, expected) in cases {
            let all: Vec<Facts> = names.iter().map(|name| facts(name)).collect();
            let chosen = choose(&all, asked).map_err(|error| error.to_string());
            let right = match (&chosen, expected) {
                (Ok(chosen), Ok(expected)) => *chosen == expected,
                (Err(what), Err(expected)) => what.contains(expected),
                _ => false,
            };
            assert!(
                right,
                "{names:?}, {asked:?} asked for: {chosen:?}, expected {expected:?}"
            );
        }
    }

    #[test]
    fn facts_in_one_line() {
        let gpu = Facts {
            name: "Radeon".to_owned(),
            backend: "vulkan".to_owned(),
            driver: "radv 25.0".to_owned(),
            software: false,
            discrete: true,
            subgroups: Some((32, 64)),
            workgroup_storage: 64 << 10,
            binding_bytes: (4 << 30) - 4,
        };
        let even = Facts {
            subgroups: Some((8, 8)),
            ..gpu.clone()
        };
        let software = Facts {
            subgroups: None,
            software: true,
            ..gpu.clone()
        };
        let cases = [
            (gpu, "subgroups of 32 to 64", "4095 MiB at most"),
            (even, "subgroups of 8", "4095 MiB at most"),
            (
                software,
                "no subgroups",
                "4095 MiB at most, a software adapter",
            ),
        ];
        for (facts, subgroups, end) in cases {
            let expected = format!(
                "Radeon, vulkan, driver radv 25.0, {subgroups}, 64 KiB of workgroup memory, keys of {end}"
            );
            assert_eq!(facts.to_string(), expected);
        }
    }
}
