//! The CUDA kernels: compiled with compiler wheels from PyPI, no toolkit needed.
//!
//! ```text
//! crates/cuda/kernels/**.cu  →  one translation unit a module  →  crates/cuda/images/NAME_BITS.fatbin
//!                                                                                  NAME_BITS.ptx.xz
//! ```
//!
//! A module's kernels stand in files of their own; the unit, made here, includes them all, so that
//! they share helpers and one image. It is compiled twice for each key width. The fatbin has machine
//! code for each architecture that is named here; being made by toolkit 13, it needs a driver that
//! serves CUDA 13. The other is PTX that any driver since R525 compiles by itself, for older drivers
//! and architectures to come; compressed, for it is long.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, bail};
use lzma_rust2::{XzOptions, XzReader, XzWriter};
use serde_json::json;

use crate::nvrtc::Nvrtc;
use crate::process::{program, root, run as run_command, target_dir, works};
use crate::test::Outcome;

#[path = "../../crates/cuda/src/hash.rs"]
mod hash;

/// The compiler's wheels. Another version compiles other bytes: then `cargo xtask kernels`.
const WHEELS: &[&str] = &[
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
    // For the PTX alone: toolkit 13 would make PTX that older drivers do not know.
    "nvidia-cuda-nvrtc-cu12==12.0.140",
];

/// Machine code for Turing, Ampere (A100, then the others, which Ada runs, too), Hopper and Blackwell (data centre,
/// then the others).
const ARCHITECTURES: &[u32] = &[75, 80, 86, 90, 100, 120];

/// The one whose machine code `--check` rebuilds.
pub const CHECKED: u32 = 90;

/// What PTX is made for: the oldest architecture, so that every later one can have it.
const PTX: u32 = 75;

const STANDARD: &str = "--std=c++17";

const FLAGS: &[&str] = &[STANDARD, "-O3", "-I", ".", "--compress-mode=size"];

/// What all images may come to.
const MOST_BYTES: usize = 8 << 20;

/// How many compilers run at a time; each takes about a gigabyte.
const COMPILERS: usize = 2;

/// A translation unit.
struct Module {
    name: &'static str,
    /// Files, and folders whose files are all in it, within `kernels/`.
    sources: &'static [&'static str],
    key_bits: &'static [u32],
}

const MODULES: &[Module] = &[
    Module {
        name: "classic",
        sources: &["codec.cu", "classic"],
        key_bits: &[32, 64],
    },
    Module {
        name: "check",
        sources: &["check.cu"],
        key_bits: &[8, 16, 32, 64, 128],
    },
    // The bits of a position.
    Module {
        name: "gather",
        sources: &["gather.cu"],
        key_bits: &[32, 64],
    },
    Module {
        name: "onesweep",
        sources: &["onesweep"],
        key_bits: &[8, 16, 32, 64, 128],
    },
    Module {
        name: "hybrid",
        sources: &["hybrid"],
        key_bits: &[32, 64, 128],
    },
    Module {
        name: "count",
        sources: &["count"],
        key_bits: &[8, 16],
    },
];

/// Compiles the kernels, or checks that the images are what they compile to.
pub fn run(check_only: bool, install: bool) -> Result<()> {
    let compiler = Compiler::need(install)?;
    if check_only {
        check(&compiler)
    } else {
        build(&compiler)
    }
}

/// The step of `cargo xtask test`.
pub fn step(install: bool) -> Result<Outcome> {
    match Compiler::need(install) {
        Ok(compiler) => check(&compiler).map(|()| Outcome::Passed),
        Err(error) => Ok(Outcome::NotRun(format!("{error:#}"))),
    }
}

/// The compiler, in a folder of its own below the target folder.
pub struct Compiler {
    nvcc: PathBuf,
    nvrtc: PathBuf,
    /// Where it writes what nobody keeps.
    work: PathBuf,
}

impl Compiler {
    /// Makes sure that the compiler is there; where it is missing, installs it if it may.
    pub fn need(install: bool) -> Result<Self> {
        if !works(program("c++").arg("--version")) {
            bail!("nvcc needs a C++ compiler, and there is no c++; install one (package g++)");
        }
        let folder = target_dir()?.join("kernels");
        let venv = folder.join("venv");
        let mark = venv.join("wheels");
        let wheels = WHEELS.join("\n");
        if fs::read_to_string(&mark).ok().as_ref() != Some(&wheels) {
            println!("the kernels' compiler: {}", WHEELS.join(", "));
            if !install {
                bail!("these wheels are missing; `cargo xtask kernels` installs them");
            }
            let _ = fs::remove_dir_all(&venv);
            run_command(program("python3").args(["-m", "venv"]).arg(&venv))?;
            run_command(
                program(venv.join("bin/python"))
                    .args(["-m", "pip", "install", "--quiet", "--no-deps"])
                    .arg("--disable-pip-version-check")
                    .args(WHEELS),
            )
            .context("the compiler's wheels could not be had from the package index")?;
            fs::write(&mark, &wheels)?;
        }
        let work = folder.join("work");
        fs::create_dir_all(&work)?;
        Ok(Compiler {
            nvcc: wheel_file(&venv, "cu13/bin/nvcc")?,
            nvrtc: wheel_file(&venv, "cuda_nvrtc/lib/libnvrtc.so.12")?,
            work,
        })
    }

    /// A run of the compiler that makes `output` of `source`.
    fn command(&self, output: &Path, source: &Path, key_bits: u32) -> Command {
        let mut command = program(&self.nvcc);
        // Paths below this folder stay relative, so that no machine's paths get into the code.
        command
            .current_dir(kernels())
            .args(FLAGS)
            .arg(format!("-DSWEEPSORT_KEY_BITS={key_bits}"))
            .arg("-o")
            .arg(output)
            .arg(source);
        command
    }

    /// The same for a module's fatbin, with machine code for these.
    fn fatbin(&self, output: &Path, module: &Module, bits: u32, for_: &[u32]) -> Result<Command> {
        let unit = self.work.join(format!("{}.cu", module.name));
        fs::write(&unit, module.unit()?)?;
        let mut command = self.command(output, &unit, bits);
        command.arg("--fatbin");
        for architecture in for_ {
            command.arg(format!(
                "--generate-code=arch=compute_{architecture},code=sm_{architecture}"
            ));
        }
        Ok(command)
    }

    /// A module's PTX for older drivers.
    fn ptx(&self, module: &Module, bits: u32) -> Result<String> {
        let options = [
            STANDARD.to_owned(),
            format!("--gpu-architecture=compute_{PTX}"),
            format!("--define-macro=SWEEPSORT_KEY_BITS={bits}"),
            format!("--include-path={}", kernels().display()),
            "--device-int128".to_owned(),
            // What is worked out at compile time needs no mark then.
            "--device-as-default-execution-space".to_owned(),
        ];
        Nvrtc::open(&self.nvrtc)?
            .ptx(module.name, &module.unit()?, &options)
            .with_context(|| module.image(bits, "ptx.xz"))
    }
}

impl Module {
    /// Its sources, as its unit includes them.
    fn files(&self) -> Result<Vec<String>> {
        let mut files = Vec::new();
        for source in self.sources {
            if source.ends_with(".cu") {
                files.push((*source).to_owned());
            } else {
                files.extend(
                    (cu_files(&kernels().join(source))?.iter())
                        .map(|file| format!("{source}/{file}")),
                );
            }
        }
        Ok(files)
    }

    /// Its translation unit. It may bear the name of one of its files: in angle brackets that is not
    /// looked for beside it.
    fn unit(&self) -> Result<String> {
        let files = self.files()?;
        let includes = files.iter().map(|file| format!("#include <{file}>\n"));
        Ok(includes.collect())
    }

    fn image(&self, bits: u32, kind: &str) -> String {
        format!("{}_{bits}.{kind}", self.name)
    }
}

/// Compressed by xz. Higher presets only look further back than 8 MiB, and no PTX is as long.
fn compressed(text: &str) -> Result<Vec<u8>> {
    let mut encoder = XzWriter::new(Vec::new(), XzOptions::with_preset(6))?;
    encoder.write_all(text.as_bytes())?;
    Ok(encoder.finish()?)
}

/// Every module with every width of its.
fn widths() -> impl Iterator<Item = (&'static Module, u32)> {
    MODULES
        .iter()
        .flat_map(|module| module.key_bits.iter().map(move |&bits| (module, bits)))
}

/// Compiles every image anew, and writes them if they are small enough.
fn build(compiler: &Compiler) -> Result<()> {
    let sources = sources()?;
    let mut jobs = Vec::new();
    let mut made = Vec::new();
    for (module, bits) in widths() {
        let name = module.image(bits, "fatbin");
        let output = compiler.work.join(&name);
        jobs.push(compiler.fatbin(&output, module, bits, ARCHITECTURES)?);
        made.push((name, output));
    }
    run_all(jobs)?;

    let mut all = Vec::new();
    for (name, output) in made {
        let bytes = fs::read(&output).with_context(|| output.display().to_string())?;
        all.push((name, bytes));
    }
    for (module, bits) in widths() {
        let ptx = compiler.ptx(module, bits)?;
        all.push((module.image(bits, "ptx.xz"), compressed(&ptx)?));
    }
    for (name, bytes) in &all {
        println!("{name:<20} {:>9} bytes", bytes.len());
    }
    let total: usize = all.iter().map(|(_, bytes)| bytes.len()).sum();
    println!("{:<20} {total:>9} bytes", "all");
    if total > MOST_BYTES {
        bail!("the images come to {total} bytes, and may come to {MOST_BYTES}");
    }
    if sources != self::sources()? {
        bail!("the kernels have changed meanwhile; run it again");
    }
    let folder = folder().join("images");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    for (name, bytes) in &all {
        fs::write(folder.join(name), bytes)?;
    }
    let manifest = json!({
        "about": "made by `cargo xtask kernels`; kernels is the hash of crates/cuda/kernels",
        "wheels": WHEELS,
        "kernels": sources,
        "images": all
            .iter()
            .map(|(name, bytes)| {
                let entry = json!({ "bytes": bytes.len(), "sha256": hash::bytes_hash(bytes) });
                (name.clone(), entry)
            })
            .collect::<serde_json::Map<_, _>>(),
    });
    let text = serde_json::to_string_pretty(&manifest)? + "\n";
    fs::write(folder.join("manifest.json"), text)?;
    Ok(())
}

/// Fails if a `.cu` file does not compile by itself, or if an image's machine code is not what its
/// sources compile to. Does nothing if neither sources nor images have changed since it passed.
fn check(compiler: &Compiler) -> Result<()> {
    let now = format!(
        "{} {}",
        hash::sources_hash(&folder(), &hash::FOLDERS)?,
        hash::bytes_hash(include_bytes!("kernels.rs"))
    );
    let mark = compiler.work.join("checked");
    if fs::read_to_string(&mark).ok().as_ref() == Some(&now) {
        println!("kernels and images are as they were when this last passed");
        return Ok(());
    }
    let mut jobs = Vec::new();
    let mut rebuilt = Vec::new();
    for (module, bits) in widths() {
        let name = module.image(bits, "fatbin");
        let output = compiler.work.join(format!("sm_{CHECKED}_{name}"));
        jobs.push(compiler.fatbin(&output, module, bits, &[CHECKED])?);
        rebuilt.push((name, output));
        let files = module.files()?;
        // A module of one file is compiled to PTX below.
        for file in files.iter().filter(|_| files.len() > 1) {
            let ptx = file
                .replace('/', "_")
                .replace(".cu", &format!("_{bits}.ptx"));
            let mut job = compiler.command(&compiler.work.join(ptx), Path::new(&file), bits);
            job.arg("--ptx").arg(format!("-arch=compute_{PTX}"));
            jobs.push(job);
        }
    }
    let compiled = jobs.len();
    run_all(jobs)?;
    for (name, output) in &rebuilt {
        let image = folder().join("images").join(name);
        let image = fs::read(&image).with_context(|| image.display().to_string())?;
        let output = fs::read(output).with_context(|| output.display().to_string())?;
        if !holds(&image, &output) {
            bail!("{name} is not what its sources compile to; run `cargo xtask kernels`");
        }
    }
    for (module, bits) in widths() {
        let name = module.image(bits, "ptx.xz");
        let image = folder().join("images").join(&name);
        let image = fs::read(&image).with_context(|| image.display().to_string())?;
        let mut ptx = String::new();
        XzReader::new(&image[..], false)
            .read_to_string(&mut ptx)
            .with_context(|| name.clone())?;
        if ptx != compiler.ptx(module, bits)? {
            bail!("{name} is not what its sources compile to; run `cargo xtask kernels`");
        }
    }
    println!(
        "{compiled} compilations; {} images have the sm_{CHECKED} code of their sources",
        rebuilt.len()
    );
    fs::write(&mark, now)?;
    Ok(())
}

/// Whether an image holds the one entry of another, byte for byte.
///
/// A fatbin is a header of 16 bytes and entries one after the other, each with its own header and
/// its compressed code, which depends on nothing else in the file. So the check needs no
/// disassembler, which the wheels lack, and knows of the format that much alone. It sees the very
/// bytes that the driver will load, which a hash kept beside the image would not.
fn holds(image: &[u8], single: &[u8]) -> bool {
    const HEADER: usize = 16;
    match single.get(HEADER..) {
        Some(entry) if !entry.is_empty() => {
            let rest = image.get(HEADER..).unwrap_or_default();
            rest.windows(entry.len()).any(|stretch| stretch == entry)
        }
        _ => false,
    }
}

/// Compiles a module's image with these sources instead of the repository's, `crates/cuda/kernels` in a
/// folder for each output, to machine code for one architecture. Says which failed, and why.
pub fn compile(
    compiler: &Compiler,
    module: &str,
    bits: u32,
    architecture: u32,
    made: &[(PathBuf, PathBuf)],
) -> Result<Vec<Option<String>>> {
    let module = MODULES.iter().find(|known| known.name == module);
    let module = module.context("there is no such module")?;
    let mut failures = Vec::new();
    for some in made.chunks(COMPILERS) {
        let mut jobs = Vec::new();
        for (sources, output) in some {
            let mut job = compiler.fatbin(output, module, bits, &[architecture])?;
            job.current_dir(sources);
            jobs.push(job);
        }
        std::thread::scope(|scope| {
            let running: Vec<_> = (jobs.iter_mut())
                .map(|job| scope.spawn(|| run_one(job)))
                .collect();
            failures.extend(running.into_iter().map(|one| {
                let ended = one.join().expect("no job panics");
                ended.err().map(|error| format!("{error:#}"))
            }));
        });
    }
    Ok(failures)
}

/// Runs these, some at a time; the first failure ends it.
fn run_all(jobs: Vec<Command>) -> Result<()> {
    println!("{} runs of nvcc, {COMPILERS} at a time", jobs.len());
    let queue = Mutex::new(jobs.into_iter());
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..COMPILERS {
            scope.spawn(|| {
                loop {
                    let Some(mut job) = queue.lock().expect("no job panics").next() else {
                        return;
                    };
                    if let Err(error) = run_one(&mut job) {
                        queue.lock().expect("no job panics").by_ref().for_each(drop);
                        failures.lock().expect("no job panics").push(error);
                    }
                }
            });
        }
    });
    match failures
        .into_inner()
        .expect("no job panics")
        .into_iter()
        .next()
    {
        None => Ok(()),
        Some(error) => Err(error),
    }
}

fn run_one(job: &mut Command) -> Result<()> {
    let output = job.output().context("nvcc could not be started")?;
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("nvcc failed:\n{}", said.trim_end());
    }
    if said.contains("warning") {
        bail!("nvcc warns:\n{}", said.trim_end());
    }
    Ok(())
}

/// Where a wheel has put this file.
fn wheel_file(venv: &Path, file: &str) -> Result<PathBuf> {
    for python in fs::read_dir(venv.join("lib"))? {
        let path = python?.path().join("site-packages/nvidia").join(file);
        if path.exists() {
            return Ok(path);
        }
    }
    bail!(
        "there is no {file} in {}; remove that folder",
        venv.display()
    )
}

/// The `.cu` files of a folder, in order.
fn cu_files(folder: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".cu") {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}

/// The hash of the sources alone.
fn sources() -> Result<String> {
    Ok(hash::sources_hash(&folder(), &["kernels"])?)
}

fn folder() -> PathBuf {
    root().join("crates/cuda")
}

/// Where the sources are.
pub fn kernels() -> PathBuf {
    folder().join("kernels")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_holds_its_entries_and_no_others() {
        let header = |length: u8| [vec![0x50, 0xED, 0x55, 0xBA], vec![length; 12]].concat();
        let image = [header(9), vec![1, 2, 3], vec![4, 5], vec![6]].concat();
        assert!(holds(&image, &[header(2), vec![4, 5]].concat()));
        assert!(!holds(&image, &[header(2), vec![5, 4]].concat()));
        assert!(!holds(&image, &header(0)));
        assert!(!holds(&[], &[]));
    }

    #[test]
    fn every_kernel_is_in_a_module() {
        let mut known: Vec<String> = Vec::new();
        for module in MODULES {
            known.extend(module.files().unwrap());
        }
        for folder in ["", "classic", "count", "hybrid", "onesweep"] {
            for file in cu_files(&kernels().join(folder)).unwrap() {
                let file = Path::new(folder).join(file).display().to_string();
                assert!(known.contains(&file), "{file} is in no module");
            }
        }
    }

    #[test]
    fn the_hash_sees_names_and_contents() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let hash = || hash::sources_hash(root.path(), &["a", "b"]).unwrap();
        write("a/x/1", "one");
        write("b/2", "two");
        let first = hash();
        assert_eq!(first.len(), 64);
        write("a/.hidden", "");
        write("c/3", "elsewhere");
        assert_eq!(hash(), first);
        write("b/2", "tow");
        assert_ne!(hash(), first);
        write("b/2", "two");
        assert_eq!(hash(), first);
        fs::rename(root.path().join("b/2"), root.path().join("b/3")).unwrap();
        assert_ne!(hash(), first);
    }
}
