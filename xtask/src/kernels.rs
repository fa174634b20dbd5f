//! The CUDA kernels: compiled with compiler wheels from PyPI, no toolkit needed.
//!
//! ```text
//! crates/cuda/kernels/**.cu  →  one translation unit a module
//!                            →  crates/cuda/images/sm_ARCHITECTURES/NAME_BITS.cubins.xz
//!                               crates/cuda/images/compute_75/NAME_BITS.ptx.xz
//! ```
//!
//! A module's kernels stand in files of their own; the unit, made here, includes them all, so that
//! they share helpers and one image. For each key width it is compiled to machine code for each
//! architecture that is named here; being made by toolkit 13, that needs a driver that serves CUDA
//! 13. And it is compiled to PTX that any driver since R525 compiles by itself, for older drivers and
//! architectures to come. All are compressed by xz, machine code of architectures that are much alike
//! together.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
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
/// then the others). What is compressed together is a third smaller for Ampere, and a tenth, if that, for others.
const PACKS: &[&[u32]] = &[&[75], &[80, 86], &[90], &[100], &[120]];

/// The one whose machine code `--check` rebuilds.
pub const CHECKED: u32 = 90;

/// What PTX is made for: the oldest architecture, so that every later one can have it.
const PTX: u32 = 75;

/// How nvcc compiles machine code.
const FLAGS: &[&str] = &["--std=c++17", "-O3", "-I", "."];

/// How NVRTC compiles PTX.
const PTX_FLAGS: &[&str] = &[
    "--std=c++17",
    "--device-int128",
    // What is worked out at compile time needs no mark then.
    "--device-as-default-execution-space",
];

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

/// What becomes of a module for a key width.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Machine code for some architectures.
    Machine(&'static [u32]),
    /// PTX for older drivers.
    Ptx,
}

/// A module for a key width, in one form.
struct Image {
    module: &'static Module,
    bits: u32,
    form: Form,
}

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
    /// Where the modules' units are, and what they were compiled to.
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
        for module in MODULES {
            fs::write(work.join(module.unit_name()), module.unit()?)?;
        }
        Ok(Compiler {
            nvcc: wheel_file(&venv, "cu13/bin/nvcc")?,
            nvrtc: wheel_file(&venv, "cuda_nvrtc/lib/libnvrtc.so.12")?,
            work,
        })
    }

    /// A run of nvcc that makes `output` of `source`.
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

    /// A run of nvcc that makes a module's machine code.
    fn machine_code(
        &self,
        output: &Path,
        module: &Module,
        bits: u32,
        architecture: u32,
    ) -> Command {
        let mut command = self.command(output, &self.work.join(module.unit_name()), bits);
        command
            .arg("--cubin")
            .arg(format!("-arch=sm_{architecture}"));
        command
    }

    /// The code of an image, compiled now.
    fn compile(&self, image: &Image) -> Result<Vec<u8>> {
        let Image { module, bits, form } = image;
        match form {
            Form::Machine(architectures) => {
                let mut pack = Vec::new();
                for &architecture in *architectures {
                    let output = self.kept(image, &format!("new_{architecture}"));
                    run_one(&mut self.machine_code(&output, module, *bits, architecture))?;
                    let code = fs::read(&output).with_context(|| output.display().to_string())?;
                    put_into_pack(&mut pack, architecture, &code);
                }
                Ok(pack)
            }
            Form::Ptx => {
                let mut options = vec![
                    format!("--gpu-architecture=compute_{PTX}"),
                    format!("--define-macro=SWEEPSORT_KEY_BITS={bits}"),
                    format!("--include-path={}", kernels().display()),
                ];
                options.extend(PTX_FLAGS.iter().map(|&flag| flag.to_owned()));
                let unit = module.unit()?;
                let ptx = Nvrtc::open(&self.nvrtc)?.ptx(module.name, &unit, &options);
                Ok(bare(&ptx.with_context(|| image.to_string())?).into_bytes())
            }
        }
    }

    /// An image's file: what was made before, if it was of the same sources in the same way.
    fn make(&self, image: &Image) -> Result<Vec<u8>> {
        let made_of = self.made_of(image)?;
        let (file, mark) = (self.kept(image, "xz"), self.kept(image, "made_of"));
        if fs::read_to_string(&mark).ok().as_ref() == Some(&made_of) {
            return fs::read(&file).with_context(|| file.display().to_string());
        }
        let mut encoder = XzWriter::new(Vec::new(), image.xz())?;
        encoder.write_all(&self.compile(image)?)?;
        let made = encoder.finish()?;
        if made_of != self.made_of(image)? {
            bail!("the kernels have changed meanwhile; run it again");
        }
        let _ = fs::remove_file(&mark);
        fs::write(&file, &made)?;
        fs::write(&mark, made_of)?;
        Ok(made)
    }

    /// The hash of all that an image is made of: sources, compilers, and how they are used.
    fn made_of(&self, image: &Image) -> Result<String> {
        let mut sources = BTreeMap::new();
        read_with_included(&self.work.join(image.module.unit_name()), &mut sources)?;
        // Not their paths, so that what another checkout has made will do.
        let texts: BTreeSet<&String> = sources.values().collect();
        let xz = image.xz();
        let all = format!("{image} {WHEELS:?} {FLAGS:?} {PTX_FLAGS:?} {xz:?} {texts:?}");
        Ok(hash::bytes_hash(all.as_bytes()))
    }

    /// A file about an image.
    fn kept(&self, image: &Image, what: &str) -> PathBuf {
        let name = image.to_string().replace('/', "_");
        self.work.join(format!("{name}.{what}"))
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

    fn unit_name(&self) -> String {
        format!("{}.cu", self.name)
    }
}

impl Image {
    /// Every image that there is to be.
    fn all() -> Vec<Image> {
        let machine = PACKS.iter().map(|&pack| Form::Machine(pack));
        let forms: Vec<Form> = machine.chain([Form::Ptx]).collect();
        let of = |(module, bits)| forms.iter().map(move |&form| Image { module, bits, form });
        widths().flat_map(of).collect()
    }

    /// Its name within `images/`.
    fn name(&self) -> String {
        format!("{self}.xz")
    }

    /// It as it is now in `images/`, decompressed.
    fn committed(&self) -> Result<Vec<u8>> {
        let file = folder().join("images").join(self.name());
        let compressed = fs::read(&file).with_context(|| file.display().to_string())?;
        let mut code = Vec::new();
        XzReader::new(&compressed[..], false)
            .read_to_end(&mut code)
            .with_context(|| self.name())?;
        Ok(code)
    }

    /// How it is compressed. An instruction has 16 bytes, so what is expected of machine code goes by
    /// the place within 16: 4 % smaller than without, 21 % smaller than nvcc's own compression. What is expected of
    /// PTX goes by the character before, and no place.
    fn xz(&self) -> XzOptions {
        let mut options = XzOptions::with_preset(6);
        // PTX becomes 1 % smaller by longer matches.
        options.lzma_options.nice_len = 273;
        let lzma = &mut options.lzma_options;
        (lzma.lc, lzma.lp, lzma.pb) = match self.form {
            Form::Machine(_) => (0, 4, 4),
            Form::Ptx => (4, 0, 0),
        };
        options
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, bits) = (self.module.name, self.bits);
        match self.form {
            Form::Machine(architectures) => {
                write!(f, "sm")?;
                for architecture in architectures {
                    write!(f, "_{architecture}")?;
                }
                write!(f, "/{name}_{bits}.cubins")
            }
            Form::Ptx => write!(f, "compute_{PTX}/{name}_{bits}.ptx"),
        }
    }
}

/// One code more; `crates/cuda/src/image.rs` takes it out again. It ends at a multiple of 16 bytes, as instructions do.
fn put_into_pack(pack: &mut Vec<u8>, architecture: u32, code: &[u8]) {
    pack.extend(u64::from(architecture).to_le_bytes());
    pack.extend((code.len() as u64).to_le_bytes());
    pack.extend(code);
    pack.resize(pack.len().next_multiple_of(16), 0);
}

/// PTX without comments and needless space: 2 % smaller when compressed.
fn bare(ptx: &str) -> String {
    let code = |line: &str| {
        let code = line.split("//").next().unwrap_or_default();
        let words: Vec<&str> = code.split_whitespace().collect();
        words.join(" ").replace(", ", ",")
    };
    let lines = ptx.lines().map(code).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// Reads a file and, once each, those of the kernels that it includes under whatever conditions. What
/// is neither beside the file nor in the kernels' folder is the compiler's own.
fn read_with_included(file: &Path, sources: &mut BTreeMap<PathBuf, String>) -> Result<()> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    sources.insert(file.to_owned(), text.clone());
    for line in text.lines() {
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        let Some(included) = directive.and_then(|rest| rest.strip_prefix("include")) else {
            continue;
        };
        let included = included.trim_start();
        let name = included.split(['"', '<', '>']).nth(1).unwrap_or_default();
        let beside = included.starts_with('"').then(|| file.with_file_name(name));
        let places = beside.into_iter().chain([kernels().join(name)]);
        let found = places.filter_map(|place| place.canonicalize().ok()).next();
        if let Some(found) = found.filter(|found| !sources.contains_key(found)) {
            read_with_included(&found, sources)?;
        }
    }
    Ok(())
}

/// Every module with every width of its.
fn widths() -> impl Iterator<Item = (&'static Module, u32)> {
    MODULES
        .iter()
        .flat_map(|module| module.key_bits.iter().map(move |&bits| (module, bits)))
}

/// Compiles every image whose sources have changed, and writes them all if they are small enough.
fn build(compiler: &Compiler) -> Result<()> {
    let sources = sources()?;
    let images = Image::all();
    println!("{} images, {COMPILERS} at a time", images.len());
    let all = each(&images, |image| compiler.make(image))?;
    let all: BTreeMap<String, Vec<u8>> = images.iter().map(Image::name).zip(all).collect();

    for (module, bits) in widths() {
        let bytes: usize = (images.iter().filter(|image| image.bits == bits))
            .filter(|image| image.module.name == module.name)
            .map(|image| all[&image.name()].len())
            .sum();
        println!("{:<20} {bytes:>9} bytes", format!("{}_{bits}", module.name));
    }
    let total: usize = all.values().map(Vec::len).sum();
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
    for (name, bytes) in &all {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap_or(&folder))?;
        fs::write(file, bytes)?;
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
    // A module of one file is compiled with its image.
    let mut files = Vec::new();
    for (module, bits) in widths() {
        let of_module = module.files()?;
        if of_module.len() > 1 {
            files.extend(of_module.into_iter().map(|file| (file, bits)));
        }
    }
    let mut images = Image::all();
    images.retain(|image| match image.form {
        Form::Machine(architectures) => architectures.contains(&CHECKED),
        Form::Ptx => true,
    });
    println!(
        "{} files and {} images, {COMPILERS} at a time",
        files.len(),
        images.len()
    );
    each(&files, |(file, bits)| {
        let output = file.replace('/', "_") + ".ptx";
        let output = compiler.work.join(format!("{bits}_{output}"));
        let mut command = compiler.command(&output, Path::new(file), *bits);
        run_one(command.arg("--ptx").arg(format!("-arch=compute_{PTX}")))
    })?;
    each(&images, |image| {
        if compiler.compile(image)? != image.committed()? {
            bail!("{image} is not what its sources compile to; run `cargo xtask kernels`");
        }
        Ok(())
    })?;
    println!("all compile; the sm_{CHECKED} code and the PTX are those of their sources");
    fs::write(&mark, now)?;
    Ok(())
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
    each(made, |(sources, output)| {
        let mut job = compiler.machine_code(output, module, bits, architecture);
        Ok(run_one(job.current_dir(sources))
            .err()
            .map(|error| format!("{error:#}")))
    })
}

/// Does something with each of these, some at a time; the first failure ends it.
fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    let queue = Mutex::new(items.iter().enumerate());
    let done = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..COMPILERS {
            scope.spawn(|| {
                loop {
                    let Some((at, item)) = queue.lock().expect("no work panics").next() else {
                        return;
                    };
                    let result = work(item);
                    if result.is_err() {
                        queue
                            .lock()
                            .expect("no work panics")
                            .by_ref()
                            .for_each(drop);
                    }
                    done.lock().expect("no work panics").insert(at, result);
                }
            });
        }
    });
    let done = done.into_inner().expect("no work panics");
    done.into_values().collect()
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
    fn bare_ptx_has_all_instructions() {
        let ptx = "// Made by a compiler\n.version 8.0\n\n\tadd.s32 \t%r1, %r2, 3;  // a sum\n}\n";
        assert_eq!(bare(ptx), ".version 8.0\nadd.s32 %r1,%r2,3;\n}");
    }

    #[test]
    fn what_is_included_is_read_whatever_the_conditions() {
        let root = tempfile::tempdir().unwrap();
        let unit = root.path().join("gather.cu");
        // Its own name in angle brackets is that of the kernels' file.
        fs::write(&unit, "#include <gather.cu>\n").unwrap();
        let mut sources = BTreeMap::new();
        read_with_included(&unit, &mut sources).unwrap();
        let read = |file: &str| sources.contains_key(&kernels().join(file).canonicalize().unwrap());
        assert!(read("gather.cu") && !read("check.cu"));

        fs::write(&unit, "#if 0\n  #include <hybrid/hybrid.cu>\n#endif\n").unwrap();
        let mut sources = BTreeMap::new();
        read_with_included(&unit, &mut sources).unwrap();
        let read = |file: &str| sources.contains_key(&kernels().join(file).canonicalize().unwrap());
        assert!(read("hybrid/task.cuh") && read("words.cuh") && !read("gather.cu"));
    }

    #[test]
    fn what_is_done_with_each_stays_in_order_and_a_failure_ends_it() {
        let numbers: Vec<usize> = (0..100).collect();
        assert_eq!(each(&numbers, |&n| Ok(2 * n)).unwrap()[99], 198);
        let odd = each(&numbers, |&n| if n == 3 { bail!("odd") } else { Ok(n) });
        assert_eq!(odd.unwrap_err().to_string(), "odd");
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
