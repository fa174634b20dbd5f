//! Puts the hash of the kernels' sources and images into the crate.

use std::path::PathBuf;

#[path = "src/hash.rs"]
mod hash;

fn main() {
    // Asked when it runs: a target folder may have served another checkout before.
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    println!("cargo:rerun-if-changed=src/hash.rs");
    for folder in hash::FOLDERS {
        println!("cargo:rerun-if-changed={folder}");
    }
    let hash = hash::sources_hash(&root, &hash::FOLDERS).expect("the crate holds its kernels");
    println!("cargo:rustc-env=SWEEPSORT_CUDA_SOURCES={hash}");
}
