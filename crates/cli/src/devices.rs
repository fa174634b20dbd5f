//! `sweepsort devices`: every engine, and for each absent one why.

use serde::Serialize;
use sweepsort::Device;
use sysinfo::System;

use crate::args::DevicesArgs;
use crate::exit::{Failure, Result};
use crate::memory::human;
use crate::summary::print;

/// A device with what the operating system knows of it.
#[derive(Debug, Serialize)]
struct Listed {
    #[serde(flatten)]
    device: Device,
    /// Cores that may be used; of the CPU alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    cores: Option<usize>,
    /// Memory in bytes, all and available.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_available_bytes: Option<u64>,
}

/// Runs `devices`.
///
/// # Errors
/// Where stdout cannot be written.
pub fn run(args: &DevicesArgs) -> Result<()> {
    let devices: Vec<Listed> = sweepsort::devices().into_iter().map(listed).collect();
    if args.json {
        let array = serde_json::to_string_pretty(&devices)
            .map_err(|error| Failure::system(format!("cannot write the list: {error}")))?;
        return print(&format!("{array}\n"));
    }
    print(&devices.iter().map(line).collect::<String>())
}

/// A device's line in the list.
fn line(listed: &Listed) -> String {
    let Device {
        engine,
        name,
        absent,
        auto,
    } = &listed.device;
    if let Some(why) = absent {
        // A device that is there, but not taken.
        let named = match name.is_empty() {
            true => String::new(),
            false => format!("{name}; "),
        };
        return format!("{engine:<6}{named}absent: {why}\n");
    }
    // The CPU is what remains, and needs no word.
    let auto = match *auto && *engine != "cpu" {
        true => "; auto takes it where it expects that to be faster",
        false => "",
    };
    format!("{engine:<6}{name}{}{auto}\n", memory(listed))
}

fn listed(mut device: Device) -> Listed {
    if device.engine != "cpu" {
        return Listed {
            device,
            cores: None,
            memory_bytes: None,
            memory_available_bytes: None,
        };
    }
    let mut memory_bytes = None;
    if let Ok(mut system) = System::new() {
        system.refresh_cpu_list(sysinfo::CpuRefreshKind::nothing());
        system.refresh_memory_specifics(sysinfo::MemoryRefreshKind::nothing().with_ram());
        let brand = system.cpus().first().map_or("", |cpu| cpu.brand().trim());
        if !brand.is_empty() {
            device.name = format!("{brand}, {}", device.name);
        }
        memory_bytes = Some(system.total_memory()).filter(|&bytes| bytes > 0);
    }
    Listed {
        device,
        cores: std::thread::available_parallelism().ok().map(usize::from),
        memory_bytes,
        memory_available_bytes: crate::memory::available(),
    }
}

fn memory(listed: &Listed) -> String {
    match (listed.memory_bytes, listed.memory_available_bytes) {
        (Some(all), Some(available)) => {
            format!(
                ", {} of memory ({} available)",
                human(all),
                human(available)
            )
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let (card, gone) = ("NVIDIA H200", "it was sold");
        // Engine, name, why absent, whether auto may take it, the line.
        let cases = [
            (
                "cpu",
                "2 cores",
                None,
                true,
                "cpu   2 cores, 4.00 GiB of memory (1.00 GiB available)\n",
            ),
            (
                "cuda",
                card,
                None,
                true,
                "cuda  NVIDIA H200; auto takes it where it expects that to be faster\n",
            ),
            ("cuda", card, None, false, "cuda  NVIDIA H200\n"),
            (
                "wgpu",
                "Radeon",
                None,
                true,
                "wgpu  Radeon; auto takes it where it expects that to be faster\n",
            ),
            ("wgpu", "", Some(gone), false, "wgpu  absent: it was sold\n"),
            (
                "wgpu",
                "llvmpipe",
                Some("it is software"),
                false,
                "wgpu  llvmpipe; absent: it is software\n",
            ),
        ];
        for (engine, name, absent, auto, expected) in cases {
            let memory = |gib: u64| (engine == "cpu").then_some(gib << 30);
            let listed = Listed {
                device: Device {
                    engine,
                    name: name.to_owned(),
                    absent: absent.map(str::to_owned),
                    auto,
                },
                cores: None,
                memory_bytes: memory(4),
                memory_available_bytes: memory(1),
            };
            assert_eq!(line(&listed), expected);
        }
    }
}
