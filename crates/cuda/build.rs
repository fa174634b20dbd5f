//! Puts the hash of the kernels' sources and images into the crate.

use std::path::Path;

#[path = "src/hash.rs"]
mod hash;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    println!("cargo:rerun-if-changed=src/hash.rs");
    for folder in hash::FOLDERS {
        println!("cargo:rerun-if-changed={folder}");
    }
    let hash = hash::sources_hash(root, &hash::FOLDERS).expect("the crate holds its kernels");
    println!("cargo:rustc-env=SWEEPSORT_CUDA_SOURCES={hash}");
}
