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
    let mut text = String::new();
    for listed in &devices {
        let Listed { device, .. } = listed;
        text += &match &device.absent {
            Some(why) => format!("{:<6}absent: {why}\n", device.engine),
            None => format!("{:<6}{}{}\n", device.engine, device.name, memory(listed)),
        };
    }
    print(&text)
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
