//! The hash of the kernels' sources and images, which says whether a GPU has run them as they are.
//!
//! It stands in a file of its own, free of the crate, because three programs share it: the build
//! script, which puts it into the crate; `cargo xtask`, which compares it with `verified.json`; and
//! the tests.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The folders of this crate that are hashed.
pub const FOLDERS: [&str; 2] = ["kernels", "images"];

/// The SHA-256, in hexadecimal digits, of all files of these folders within `root`: in order of
/// their paths, each path with `/` between its parts, a zero byte, the content's length in eight
/// bytes, lowest first, and the content. Files whose names start with a dot do not count.
pub fn sources_hash(root: &Path, folders: &[&str]) -> io::Result<String> {
    let mut files = Vec::new();
    for folder in folders {
        collect(root, Path::new(folder), &mut files)?;
    }
    files.sort();
    let mut hash = Sha256::new();
    for (name, path) in &files {
        let content = fs::read(path)?;
        hash.update(name.as_bytes());
        hash.update([0]);
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(&content);
    }
    Ok(hex(&hash.finalize()))
}

/// The SHA-256 of some bytes, in hexadecimal digits.
#[allow(dead_code, reason = "the build script needs the other function only")]
pub fn bytes_hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The files below a folder, by name as hashed.
fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        let inside = folder.join(name);
        if entry.file_type()?.is_dir() {
            collect(root, &inside, files)?;
        } else {
            let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
            files.push((parts.join("/"), entry.path()));
        }
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
