//! The hash of the kernels' sources and images, which says whether a GPU has run them as they are.
//!
//! It stands in a file of its own, free of the crate, because several programs share it: the build
//! script, which puts it into the crate; `cargo xtask`, which compares it with `verified.json`; the
//! tests; and `gpu-verify`, which hashes another engine's sources in the same way.

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
    let mut contents = Vec::new();
    for (name, path) in files {
        contents.push((name, fs::read(path)?));
    }
    Ok(contents_hash(&contents))
}

/// The same of files with these names and contents, in this order.
pub fn contents_hash(files: &[(impl AsRef<str>, impl AsRef<[u8]>)]) -> String {
    let mut hash = Sha256::new();
    for (name, content) in files {
        let content = content.as_ref();
        hash.update(name.as_ref());
        hash.update([0]);
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(content);
    }
    hex(&hash.finalize())
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
