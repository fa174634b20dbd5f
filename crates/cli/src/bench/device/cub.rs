//! CUB and Thrust, the sorts that come with NVIDIA's toolkit: compiled when they are asked for.
//!
//! ```text
//! cub.cu, a type of key and one of value, an architecture ─ nvcc ─→ a library in a folder ─→ Cub
//! ```
//! Only the types that are measured are compiled, each in a library of its own: some 10 seconds and
//! 1.3 MB. A library stays in its folder, so a second run compiles nothing; and a folder can be
//! filled by [`build`] on a machine with a compiler and carried to one with a device.
//!
//! Both sort stably and in ascending order. They take −0.0 and +0.0 for equal.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use libloading::Library;
use sweepsort_cuda::{Buffer, Device, Stream};

use crate::bench::args::Payload;
use crate::types::Type;

/// The source of every library.
const SOURCE: &str = include_str!("cub.cu");

/// What nvcc is told besides types, architecture and paths. The runtime is within the library, and
/// hidden, so that it meets no other of the process.
const FLAGS: &[&str] = &[
    "-O3",
    "-std=c++17",
    "-shared",
    "-cudart=static",
    "-Xcompiler=-fPIC,-fvisibility=hidden",
    "-Xlinker=--exclude-libs=ALL",
];

/// Names the folder of the libraries, instead of one in the system's folder for temporary files.
/// What is found there is taken whichever nvcc has made it.
const FOLDER: &str = "SWEEPSORT_PEERS_DIR";

/// How many compilers run at a time, at most; each takes 0.6 GB.
const MOST_COMPILERS: usize = 8;

/// What a library sorts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The keys' type.
    pub key: Type,
    /// The values' type, if there are values.
    pub value: Option<Type>,
}

impl Kind {
    /// An argsort is a sort of keys with the index as values, which is there before.
    fn new(key: Type, payload: Payload) -> Self {
        let value = match payload {
            Payload::None => None,
            Payload::Index => Some(Type::U32),
            // Values are moved and not looked at: their size is all that matters.
            Payload::Value(value) => Some(match value.bytes() {
                1 => Type::U8,
                2 => Type::U16,
                4 => Type::U32,
                8 => Type::U64,
                _ => Type::U128,
            }),
        };
        Kind { key, value }
    }

    /// The start of its library's name, which says all that the library depends on, except the
    /// compiler; that follows.
    fn stem(self, (major, minor): (u32, u32)) -> String {
        let mut hash = DefaultHasher::new();
        (SOURCE, FLAGS).hash(&mut hash);
        let value = self.value.map_or("none", Type::name);
        format!(
            "{}-{value}-sm_{major}{minor}-{:016x}-nvcc-",
            self.key,
            hash.finish()
        )
    }
}

/// Makes sure that there are libraries for a device of this compute capability, and returns where
/// each is. What is missing is compiled, several at a time. The folder, if none is given, is that
/// of the environment variable `SWEEPSORT_PEERS_DIR`, or else one for temporary files.
///
/// # Errors
/// For each, why it is missing and what would work, in a line.
pub fn build(
    kinds: &[Kind],
    capability: (u32, u32),
    folder: Option<&Path>,
) -> Vec<Result<PathBuf, String>> {
    let named = folder.map(Path::to_owned);
    let named = named.or_else(|| env::var_os(FOLDER).map(PathBuf::from));
    let place = match named {
        Some(folder) => fs::create_dir_all(&folder)
            .map_err(|error| format!("cannot make the folder {}: {error}", folder.display()))
            .map(|()| Place {
                folder,
                named: true,
            }),
        None => private_folder(&env::temp_dir()).map(|folder| Place {
            folder,
            named: false,
        }),
    };
    match place {
        Ok(place) => {
            let path = env::var_os("PATH").unwrap_or_default();
            place.build(
                kinds,
                capability,
                Compiler::find(candidates(&path, env::var_os("CUDA_HOME").as_deref())),
            )
        }
        Err(why) => vec![Err(why); kinds.len()],
    }
}

/// A folder of libraries.
struct Place {
    folder: PathBuf,
    /// Whether somebody has named it, who then knows what is in it.
    named: bool,
}

impl Place {
    fn build(
        &self,
        kinds: &[Kind],
        capability: (u32, u32),
        compiler: Result<Compiler, String>,
    ) -> Vec<Result<PathBuf, String>> {
        let version = compiler.as_ref().ok().map(|found| found.version.as_str());
        let stems: Vec<String> = kinds.iter().map(|kind| kind.stem(capability)).collect();
        if let Ok(compiler) = &compiler {
            let missing = |&at: &usize| {
                let first = !stems[..at].contains(&stems[at]);
                first && self.find(&stems[at], version).is_none()
            };
            let jobs = Mutex::new((0..kinds.len()).filter(missing).collect::<Vec<_>>());
            let failures = Mutex::new(Vec::new());
            let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
            let next = || jobs.lock().ok().and_then(|mut jobs| jobs.pop());
            std::thread::scope(|scope| {
                for _ in 0..cores.min(MOST_COMPILERS).min(kinds.len()) {
                    scope.spawn(|| {
                        while let Some(at) = next() {
                            let file = self.file(&stems[at], &compiler.version);
                            let compiled = compiler.compile(kinds[at], capability, &file);
                            if let (Err(why), Ok(mut failures)) = (compiled, failures.lock()) {
                                failures.push((stems[at].clone(), why));
                            }
                        }
                    });
                }
            });
            let failures = failures.into_inner().unwrap_or_default();
            let outcome = |stem: &String| match failures.iter().find(|(failed, _)| failed == stem) {
                Some((_, why)) => Err(why.clone()),
                None => self
                    .find(stem, version)
                    .ok_or_else(|| format!("{} does not keep files", self.folder.display())),
            };
            return stems.iter().map(outcome).collect();
        }
        let why = compiler.err().unwrap_or_default();
        let found = stems.iter().map(|stem| self.find(stem, None));
        found
            .map(|found| found.ok_or_else(|| why.clone()))
            .collect()
    }

    /// The library of this name by this compiler, or by any if there is none, or if the folder was
    /// named.
    fn find(&self, stem: &str, version: Option<&str>) -> Option<PathBuf> {
        let exact = version.map(|version| self.file(stem, version));
        if let Some(file) = exact.filter(|file| file.exists()) {
            return Some(file);
        }
        if version.is_some() && !self.named {
            return None;
        }
        let entries = fs::read_dir(&self.folder).ok()?;
        let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let fits = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(stem) && name.ends_with(".so")
        };
        files.filter(fits).max()
    }

    fn file(&self, stem: &str, version: &str) -> PathBuf {
        self.folder.join(format!("{stem}{version}.so"))
    }
}

/// A folder of this user's for temporary files. What lies in it will be run, so nobody else may
/// have made it or be able to write to it.
#[cfg(unix)]
fn private_folder(within: &Path) -> Result<PathBuf, String> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    // SAFETY: it always succeeds, and touches no memory.
    let user = unsafe { libc::geteuid() };
    let folder = within.join(format!("sweepsort-peers-{user}"));
    let failed = |error: io::Error| format!("cannot make the folder {}: {error}", folder.display());
    match fs::DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    let there = fs::symlink_metadata(&folder).map_err(failed)?;
    if !there.is_dir() || there.uid() != user || there.mode() & 0o022 != 0 {
        return Err(format!(
            "others can write to {}, where compiled peers are kept; remove it, or name another \
             folder in {FOLDER}",
            folder.display()
        ));
    }
    Ok(folder)
}

#[cfg(not(unix))]
fn private_folder(_: &Path) -> Result<PathBuf, String> {
    Err("CUB and Thrust are compiled on Linux alone; measure there".into())
}

/// An nvcc.
struct Compiler {
    nvcc: PathBuf,
    version: String,
}

/// Where an nvcc may be, the likeliest place first.
fn candidates(path: &OsStr, cuda_home: Option<&OsStr>) -> Vec<PathBuf> {
    let homes = cuda_home.map(Path::new);
    let homes = homes.into_iter().chain([Path::new("/usr/local/cuda")]);
    env::split_paths(path)
        .chain(homes.map(|home| home.join("bin")))
        .map(|folder| folder.join("nvcc"))
        .collect()
}

impl Compiler {
    /// The first of these that is one.
    fn find(candidates: Vec<PathBuf>) -> Result<Self, String> {
        let ask = |nvcc: PathBuf| {
            let mut command = Command::new(&nvcc);
            let output = command
                .arg("--version")
                .stdin(Stdio::null())
                .output()
                .ok()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            // "Cuda compilation tools, release 13.0, V13.0.88"
            let (_, version) = text.split_once(", V").filter(|_| output.status.success())?;
            let version = version.split_whitespace().next()?.to_owned();
            Some(Compiler { nvcc, version })
        };
        candidates.into_iter().find_map(ask).ok_or_else(|| {
            format!(
                "CUB and Thrust need nvcc, and there is none in PATH, $CUDA_HOME/bin or \
                 /usr/local/cuda/bin; install the CUDA toolkit, or name a folder of compiled peers \
                 in {FOLDER}"
            )
        })
    }

    /// Compiles a library. It appears under its name when it is complete.
    fn compile(&self, kind: Kind, capability: (u32, u32), file: &Path) -> Result<(), String> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let unique = format!("{}.{count}", std::process::id());
        let (source, made) = (
            file.with_extension(format!("{unique}.cu")),
            file.with_extension(format!("{unique}.made")),
        );
        let failed = |error: io::Error| format!("cannot write {}: {error}", file.display());
        fs::write(&source, SOURCE).map_err(failed)?;
        let outcome = self.run(kind, capability, &source, &made);
        let outcome = outcome.and_then(|()| fs::rename(&made, file).map_err(failed));
        let _ = fs::remove_file(&source);
        let _ = fs::remove_file(&made);
        outcome
    }

    fn run(
        &self,
        kind: Kind,
        (major, minor): (u32, u32),
        source: &Path,
        made: &Path,
    ) -> Result<(), String> {
        let mut command = Command::new(&self.nvcc);
        command
            .args(FLAGS)
            .arg(format!("-arch=sm_{major}{minor}"))
            .arg(format!("-DPEER_KEY={}", kind.key));
        if let Some(value) = kind.value {
            command.arg(format!("-DPEER_VALUE={value}"));
        }
        // The toolkit's own search finds lib64; its Python wheels have lib.
        let nvcc = self.nvcc.canonicalize();
        if let Some(toolkit) = nvcc.ok().as_deref().and_then(Path::parent) {
            command.arg("-L").arg(toolkit.join("../lib"));
        }
        command.arg("-o").arg(made).arg(source).stdin(Stdio::null());
        let output = command
            .output()
            .map_err(|error| format!("cannot start {}: {error}", self.nvcc.display()))?;
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stderr, output.stdout].concat();
        let said = String::from_utf8_lossy(&said);
        let mut lines = said.lines();
        let why = lines.find(|line| line.contains("error") || line.contains("fatal"));
        let why = why.or_else(|| said.lines().last()).unwrap_or("no reason");
        Err(format!(
            "{} does not compile CUB and Thrust: {why}",
            self.nvcc.display()
        ))
    }
}

/// The functions of a library, as `cub.cu` has them.
#[derive(Clone, Copy, Debug)]
struct Calls {
    version: unsafe extern "C" fn() -> c_int,
    workspace: unsafe extern "C" fn(u64, *mut u64) -> c_int,
    cub: unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, *mut c_void) -> c_int,
    thrust: unsafe extern "C" fn(u64, u64, u64, u64, u64, *mut c_void) -> c_int,
    words: unsafe extern "C" fn(c_int) -> *const c_char,
}

/// CUB and Thrust for one type of key and one payload, with scratch memory.
#[derive(Debug)]
pub struct Cub {
    calls: Calls,
    version: String,
    scratch: Option<Buffer<u8>>,
    /// How many records the scratch memory serves.
    prepared: usize,
    /// Holds the functions.
    _library: Library,
}

impl Cub {
    /// Loads the library for this device, compiling it first if need be; see [`build`].
    ///
    /// # Errors
    /// Why it is absent and what would work, in a line.
    pub fn load(device: &Device, key: Type, payload: Payload) -> Result<Self, String> {
        let kinds = [Kind::new(key, payload)];
        let built = build(&kinds, device.facts().capability, None);
        let files = built.into_iter().collect::<Result<Vec<_>, _>>()?;
        match &files[..] {
            [file] => Self::open(file),
            _ => unreachable!("one kind, one library"),
        }
    }

    fn open(file: &Path) -> Result<Self, String> {
        let failed = |error: libloading::Error| {
            let why = std::error::Error::source(&error).map(ToString::to_string);
            format!(
                "cannot load {}: {}; remove it",
                file.display(),
                why.unwrap_or_else(|| error.to_string())
            )
        };
        // SAFETY: the library is one that `build` has made or found. Its name says that it comes of
        // the source in this program, so the functions have these types.
        unsafe {
            let library = Library::new(file).map_err(failed)?;
            let calls = Calls {
                version: *library.get(b"peer_version\0").map_err(failed)?,
                workspace: *library.get(b"peer_workspace\0").map_err(failed)?,
                cub: *library.get(b"peer_cub\0").map_err(failed)?,
                thrust: *library.get(b"peer_thrust\0").map_err(failed)?,
                words: *library.get(b"peer_words\0").map_err(failed)?,
            };
            let version = (calls.version)();
            Ok(Cub {
                calls,
                version: format!(
                    "{}.{}.{}",
                    version / 100_000,
                    version / 100 % 1000,
                    version % 100
                ),
                scratch: None,
                prepared: 0,
                _library: library,
            })
        }
    }

    /// CUB's version, such as `3.0.1`; it is Thrust's too.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Prepares for `n` records or fewer: scratch memory, which both sorts share.
    ///
    /// # Errors
    /// In a line, such as too little memory.
    pub fn prepare(&mut self, stream: &Stream, n: usize) -> Result<(), String> {
        (self.scratch, self.prepared) = (None, 0);
        enter(stream)?;
        let mut bytes = 0;
        // SAFETY: it writes to a number that is there.
        let answer = unsafe { (self.calls.workspace)(n.max(1) as u64, &mut bytes) };
        self.done(answer)?;
        let scratch = stream.alloc(usize::try_from(bytes).unwrap_or(usize::MAX));
        self.scratch = Some(scratch.map_err(|error| error.to_string())?);
        self.prepared = n;
        Ok(())
    }

    /// Enqueues CUB's sort of the records in `keys_in` and `values_in` to `keys_out` and
    /// `values_out`. For an argsort `values_in` is the index 0, 1, 2, …, which the caller has
    /// written; that is not part of the time.
    ///
    /// # Errors
    /// In a line; what fails on the device shows when the stream is waited for.
    ///
    /// # Safety
    /// These are addresses on the stream's device of `n` keys and, if the payload is any, of `n`
    /// values each, aligned for their types; no two overlap. Nobody else uses them or this, on
    /// another stream, before the sort is done.
    pub unsafe fn cub(
        &self,
        stream: &Stream,
        keys_in: u64,
        keys_out: u64,
        values_in: u64,
        values_out: u64,
        n: usize,
    ) -> Result<(), String> {
        let (scratch, bytes) = self.scratch(n)?;
        enter(stream)?;
        let (n, raw) = (n as u64, stream.raw().cu_stream().cast());
        // SAFETY: the scratch memory serves so many records, and the rest is the caller's promise.
        self.done(unsafe {
            (self.calls.cub)(
                scratch, bytes, keys_in, keys_out, values_in, values_out, n, raw,
            )
        })
    }

    /// Enqueues Thrust's stable sort of the records in `keys` and `values`, in place.
    ///
    /// # Errors
    /// As [`cub`](Self::cub).
    ///
    /// # Safety
    /// As [`cub`](Self::cub).
    pub unsafe fn thrust(
        &self,
        stream: &Stream,
        keys: u64,
        values: u64,
        n: usize,
    ) -> Result<(), String> {
        let (scratch, bytes) = self.scratch(n)?;
        enter(stream)?;
        let (n, raw) = (n as u64, stream.raw().cu_stream().cast());
        // SAFETY: as above.
        self.done(unsafe { (self.calls.thrust)(scratch, bytes, keys, values, n, raw) })
    }

    /// The scratch memory's address and length, if it is enough.
    fn scratch(&self, n: usize) -> Result<(u64, u64), String> {
        match &self.scratch {
            Some(scratch) if n <= self.prepared => {
                Ok((scratch.pointer().address(), scratch.len() as u64))
            }
            _ => Err(format!("CUB is prepared for {} records", self.prepared)),
        }
    }

    /// What an answer means.
    fn done(&self, answer: c_int) -> Result<(), String> {
        if answer == 0 {
            return Ok(());
        }
        // SAFETY: it answers any number with a text that stays.
        let words = unsafe { CStr::from_ptr((self.calls.words)(answer)) };
        Err(format!("CUB: {} ({answer})", words.to_string_lossy()))
    }
}

/// Makes the stream's context the calling thread's: the library's runtime then uses it.
fn enter(stream: &Stream) -> Result<(), String> {
    let entered = stream.raw().context().bind_to_thread();
    entered.map_err(|error| format!("cannot enter the device's context: {error}"))
}

#[cfg(test)]
mod tests {
    use bytemuck::Pod;
    use sweepsort_testkit::Ordered;

    use super::*;

    type Outcome = Result<(), Box<dyn std::error::Error>>;

    const U32: Kind = Kind {
        key: Type::U32,
        value: None,
    };
    const HOPPER: (u32, u32) = (9, 0);

    fn place(folder: &Path, named: bool) -> Place {
        Place {
            folder: folder.to_owned(),
            named,
        }
    }

    #[test]
    fn stems_tell_libraries_apart() {
        let mut stems = Vec::new();
        for key in [Type::U32, Type::F32] {
            for value in [None, Some(Type::U32), Some(Type::U64)] {
                for capability in [HOPPER, (10, 0), (12, 0)] {
                    stems.push(Kind { key, value }.stem(capability));
                }
            }
        }
        for (at, stem) in stems.iter().enumerate() {
            let others = stems[..at].iter().chain(&stems[at + 1..]);
            assert!(!others.into_iter().any(|other| other.starts_with(stem)));
        }
        assert!(stems[0].starts_with("u32-none-sm_90-"), "{}", stems[0]);
        // Payloads of one size share a library.
        let index = Kind::new(Type::I64, Payload::Index);
        for value in [Type::U32, Type::F32] {
            assert_eq!(index, Kind::new(Type::I64, Payload::Value(value)));
        }
    }

    #[test]
    fn nvcc_is_looked_for_where_toolkits_put_it() {
        let found = candidates("/a:/b".as_ref(), Some("/c".as_ref()));
        let files = [
            "/a/nvcc",
            "/b/nvcc",
            "/c/bin/nvcc",
            "/usr/local/cuda/bin/nvcc",
        ];
        assert_eq!(found, files.map(PathBuf::from));
    }

    #[test]
    fn without_nvcc_a_library_is_found_or_the_reason_told() -> Outcome {
        let folder = tempfile::tempdir()?;
        let none = || Compiler::find(vec![folder.path().join("nvcc")]);
        let place = place(folder.path(), false);
        let why = place.build(&[U32], HOPPER, none()).remove(0).unwrap_err();
        assert!(why.starts_with("CUB and Thrust need nvcc, and"), "{why}");
        assert!(!why.contains('\n') && why.contains(FOLDER), "{why}");

        let made = place.file(&U32.stem(HOPPER), "12.4.1");
        fs::write(&made, "")?;
        let pairs = Kind::new(Type::U32, Payload::Value(Type::U64));
        let built = place.build(&[pairs, U32], HOPPER, none());
        assert_eq!(built, [Err(why.clone()), Ok(made)]);
        let other = place.build(&[U32], (8, 0), none());
        assert_eq!(other, [Err(why)]);
        Ok(())
    }

    #[test]
    fn another_compilers_library_does_only_where_the_folder_was_named() -> Outcome {
        let folder = tempfile::tempdir()?;
        let stem = U32.stem(HOPPER);
        for (named, made, asked, found) in [
            (false, "12.4.1", Some("13.0.88"), false),
            (true, "12.4.1", Some("13.0.88"), true),
            (false, "13.0.88", Some("13.0.88"), true),
            (false, "12.4.1", None, true),
        ] {
            let place = place(folder.path(), named);
            let file = place.file(&stem, made);
            fs::write(&file, "")?;
            let expected = found.then(|| file.clone());
            assert_eq!(place.find(&stem, asked), expected, "{named} {made}");
            fs::remove_file(file)?;
        }
        Ok(())
    }

    /// A program that is asked as nvcc is: it notes its arguments, and makes a file unless they
    /// have a `u64`.
    #[cfg(unix)]
    const NVCC: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "tools, release 13.0, V13.0.88"; exit; fi
echo "$@" >> "$0.log"
while [ $# -gt 0 ]; do
    case $1 in
        *u64) echo "note"; echo "a.cu(1): error: no u64" >&2; echo "1 error"; exit 1 ;;
        -o) echo library > "$2" ;;
    esac
    shift
done
"#;

    #[cfg(unix)]
    #[test]
    fn what_is_missing_is_compiled_once() -> Outcome {
        let (tools, folder) = (tempfile::tempdir()?, tempfile::tempdir()?);
        let nvcc = tools.path().join("nvcc");
        let script = tools.path().join("script");
        fs::write(&script, NVCC)?;
        // Copied by another process: a file that this one has just written to may be held open by
        // what a neighbouring test starts, and cannot be run meanwhile.
        let mut install = Command::new("install");
        let installed = install
            .args(["-m", "755"])
            .args([&script, &nvcc])
            .status()?;
        assert!(installed.success());
        let compiler = || Compiler::find(vec![tools.path().join("none"), nvcc.clone()]);
        let place = place(folder.path(), false);
        let kinds = [
            U32,
            Kind::new(Type::F16, Payload::Index),
            Kind::new(Type::F16, Payload::Value(Type::U32)),
        ];
        for _ in 0..2 {
            let built = place.build(&kinds, (12, 0), compiler());
            let files = kinds.map(|kind| Ok(place.file(&kind.stem((12, 0)), "13.0.88")));
            assert_eq!(built, files);
        }
        let log = fs::read_to_string(tools.path().join("nvcc.log"))?;
        let with = |words: &str| log.lines().filter(|line| line.contains(words)).count();
        assert_eq!(log.lines().count(), 2, "{log}");
        assert_eq!(with("-arch=sm_120 -DPEER_KEY=u32 -L"), 1, "{log}");
        assert_eq!(
            with("-arch=sm_120 -DPEER_KEY=f16 -DPEER_VALUE=u32 -L"),
            1,
            "{log}"
        );

        let failing = Kind::new(Type::U64, Payload::None);
        let built = place.build(&[failing, U32], (12, 0), compiler());
        let why = format!(
            "{} does not compile CUB and Thrust: a.cu(1): error: no u64",
            nvcc.display()
        );
        assert_eq!(built[0], Err(why));
        assert!(built[1].is_ok());
        // Only the two libraries are left.
        assert_eq!(fs::read_dir(folder.path())?.count(), 2);
        let why = Cub::open(&built[1].clone()?).unwrap_err();
        assert!(
            why.starts_with("cannot load ") && why.ends_with("; remove it"),
            "{why}"
        );
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_can_write_to_is_refused() -> Outcome {
        use std::os::unix::fs::PermissionsExt;
        let within = tempfile::tempdir()?;
        let folder = private_folder(within.path())?;
        assert_eq!(private_folder(within.path()), Ok(folder.clone()));
        fs::set_permissions(&folder, PermissionsExt::from_mode(0o777))?;
        let why = private_folder(within.path()).unwrap_err();
        assert!(why.starts_with("others can write to "), "{why}");
        fs::remove_dir(&folder)?;
        std::os::unix::fs::symlink(within.path(), &folder)?;
        assert!(private_folder(within.path()).is_err());
        Ok(())
    }

    /// Every type as a key, and keys of 32 and 64 bits with every payload but the narrow ones.
    fn all() -> Vec<Kind> {
        let values = [Type::U32, Type::U64, Type::U128];
        let keys = Type::ALL.iter().map(|&key| (key, Payload::None));
        let pairs = [Type::U32, Type::U64].into_iter();
        let pairs = pairs.flat_map(|key| values.map(|value| (key, Payload::Value(value))));
        let kinds = keys.chain(pairs);
        kinds
            .map(|(key, payload)| Kind::new(key, payload))
            .collect()
    }

    #[test]
    #[ignore = "needs nvcc, and minutes"]
    fn libraries_of_every_type_compile_and_load() {
        for built in build(&all(), HOPPER, None) {
            let cub = Cub::open(&built.unwrap()).unwrap();
            println!("CUB {}", cub.version());
            assert_eq!(cub.version().split('.').count(), 3);
            assert_eq!(cub.done(0), Ok(()));
            assert_eq!(cub.done(1), Err("CUB: invalid argument (1)".into()));
        }
    }

    /// Sorts with both on the device; the values are the index.
    fn sorts<K: Pod + Ordered, V: Pod + PartialEq>(
        key: Type,
        payload: Payload,
        draw: impl Fn(u64) -> K,
        value: impl Fn(usize) -> V,
    ) -> Outcome {
        let device = Device::open_guarded(0)?;
        let stream = device.stream()?;
        let mut cub = Cub::load(&device, key, payload)?;
        for n in [1, 1000, 100_003, 3_000_000] {
            let mut state = 1u64;
            let mut next = || {
                state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                draw(state >> 16)
            };
            let keys: Vec<K> = (0..n).map(|_| next()).collect();
            let mut index: Vec<usize> = (0..n).collect();
            index.sort_by(|&a, &b| keys[a].natural(&keys[b]));
            let sorted: Vec<K> = index.iter().map(|&i| keys[i]).collect();
            let permuted: Vec<V> = index.iter().map(|&i| value(i)).collect();
            let bytes = |keys: &[K]| bytemuck::cast_slice::<K, u8>(keys).to_vec();

            let carried: Vec<V> = (0..n).map(&value).collect();
            let (keys_in, values_in) = (stream.upload(&keys)?, stream.upload(&carried)?);
            let (keys_out, values_out) = (stream.zeros::<K>(n)?, stream.zeros::<V>(n)?);
            let at = |keys: &Buffer<K>, values: &Buffer<V>| {
                (keys.pointer().address(), values.pointer().address())
            };
            let (from, to) = (at(&keys_in, &values_in), at(&keys_out, &values_out));
            // SAFETY: it is refused.
            assert!(unsafe { cub.thrust(&stream, from.0, from.1, n) }.is_err());
            cub.prepare(&stream, n)?;
            // SAFETY: buffers of n elements each, which outlive the work.
            unsafe { cub.cub(&stream, from.0, to.0, from.1, to.1, n) }?;
            // SAFETY: as above; the stream has it wait for the other.
            unsafe { cub.thrust(&stream, from.0, from.1, n) }?;
            for (keys, values) in [(&keys_out, &values_out), (&keys_in, &values_in)] {
                assert!(
                    bytes(&stream.download(keys)?) == bytes(&sorted),
                    "{key} {n}"
                );
                if payload != Payload::None {
                    assert!(stream.download(values)? == permuted, "{key} {n}");
                }
            }
            device.check_canaries()?;
            cub.scratch = None;
        }
        Ok(())
    }

    #[test]
    #[ignore = "needs a GPU, and nvcc or compiled peers"]
    fn both_sort_on_the_device() -> Outcome {
        let float = |bits: u64| bits as i32 as f32;
        sorts(Type::U32, Payload::None, |bits| bits as u32, |i| i as u32)?;
        sorts(
            Type::U32,
            Payload::Index,
            |bits| bits as u32 % 5003,
            |i| i as u32,
        )?;
        sorts(Type::U64, Payload::None, |bits| bits, |i| i as u32)?;
        sorts(Type::F32, Payload::None, float, |i| i as u32)
    }
}
