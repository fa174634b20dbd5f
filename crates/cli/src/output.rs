//! Where keys go: to a file that is whole or not there at all, or straight into a stream.
//!
//! A file is written under another name in its own folder, `.NAME.sweepsort-tmp-PID`, flushed to
//! disk and then renamed, so that at any moment its name stands for the old content or for the new.
//! Whoever writes a temporary file holds a lock on it; the next run to the same name removes those
//! whose lock no one holds any more. Pipes, terminals and devices are written as they are.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::exit::{Failure, Result, shown};
use crate::memory::human;

/// After so many bytes the system is asked to start writing them to disk, so that little is left
/// to wait for at the end.
#[cfg(target_os = "linux")]
const WRITE_BACK: u64 = 16 << 20;

/// What writes past the page cache must start at and be a multiple of, in memory and on disk.
#[cfg(target_os = "linux")]
const BLOCK: usize = 4096;

/// Smaller writes are left to the page cache.
#[cfg(target_os = "linux")]
const DIRECT_FROM: usize = 1 << 20;

/// The longest name of a temporary file, in bytes; file systems allow 255.
const MAX_NAME: usize = 240;

/// An opened output.
#[derive(Debug)]
pub struct Output {
    name: String,
    file: File,
    /// How many bytes are written.
    written: u64,
    /// How many of them the system was asked to write to disk.
    #[cfg(target_os = "linux")]
    written_back: u64,
    /// How many bytes of disk were reserved.
    reserved: u64,
    /// The same file, past the page cache; see [`bypass_cache`](Self::bypass_cache).
    #[cfg(target_os = "linux")]
    direct: Option<File>,
    /// `None` for what is written directly.
    temporary: Option<Temporary>,
}

/// A file under construction. Removed when dropped, unless it got its name.
#[derive(Debug)]
struct Temporary {
    path: PathBuf,
    target: PathBuf,
    /// What was there before.
    old: Option<Metadata>,
    renamed: bool,
}

impl Output {
    /// Opens an output: stdout where there is no path or it is `-`.
    ///
    /// # Errors
    /// [`Failure::Input`] for a directory, a folder that is not there, or an existing file without
    /// `force`; [`Failure::System`] where the system refuses.
    pub fn create(path: Option<&Path>, force: bool) -> Result<Output> {
        let Some(path) = path.filter(|path| !is_stdout(path)) else {
            let failed = |error| Failure::io("write", "stdout", &error);
            return Ok(Output::direct(
                "stdout".to_owned(),
                stdout_file().map_err(failed)?,
            ));
        };
        let name = shown(path);
        let failed = |error: io::Error| Failure::io("write", &name, &error);
        let old = match fs::metadata(path) {
            Ok(facts) => Some(facts),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        match &old {
            Some(facts) if facts.is_dir() => {
                return Err(failed(io::ErrorKind::IsADirectory.into()));
            }
            Some(facts) if !facts.is_file() || is_stream(path) => {
                let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
                return Ok(Output::direct(name, file));
            }
            Some(_) if !force => {
                return Err(Failure::input(format!(
                    "{name} exists; give --force to replace it, or another name"
                )));
            }
            _ => {}
        }
        // The file that a link leads to is replaced, not the link.
        let target = match old {
            Some(_) => fs::canonicalize(path).map_err(failed)?,
            None => path.to_owned(),
        };
        let Some(file_name) = target.file_name() else {
            return Err(Failure::input(format!("{name} names no file; give one")));
        };
        let folder = folder(&target);
        let stem = stem(file_name);
        clean(folder, &stem);
        let (path, file) = create_temporary(folder, &stem, old.is_some()).map_err(|error| {
            let folder = folder.display();
            match error.kind() {
                io::ErrorKind::NotFound => Failure::input(format!(
                    "cannot write {name}: there is no folder {folder}; make it first"
                )),
                _ => Failure::io("write", format!("{name} in folder {folder}"), &error),
            }
        })?;
        Ok(Output {
            temporary: Some(Temporary {
                path,
                target,
                old,
                renamed: false,
            }),
            ..Output::direct(name, file)
        })
    }

    fn direct(name: String, file: File) -> Output {
        Output {
            name,
            file,
            written: 0,
            #[cfg(target_os = "linux")]
            written_back: 0,
            reserved: 0,
            #[cfg(target_os = "linux")]
            direct: None,
            temporary: None,
        }
    }

    /// The file's name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many bytes are written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Reserves `bytes` bytes of disk, so that a full one shows before any work is done. Where a
    /// file system cannot, nothing happens.
    ///
    /// # Errors
    /// [`Failure::System`] where the space is not there.
    pub fn reserve(&mut self, bytes: u64) -> Result<()> {
        if self.temporary.is_none() || bytes == 0 {
            return Ok(());
        }
        match allocate(&self.file, bytes) {
            Ok(()) => self.reserved = bytes,
            Err(error) if needs_space(&error) => {
                return Err(self.failed(&error, bytes));
            }
            Err(_) => {}
        }
        Ok(())
    }

    /// From now on, writes that are large and aligned go past the page cache where the system lets
    /// them: all the bytes lie in memory already, and a second copy of a large file costs more
    /// than the disk (1 GB of u32: 0.55 s against 1.3 s to 3 s, in a virtual machine that
    /// gets fresh pages from its host).
    pub fn bypass_cache(&mut self) {
        #[cfg(target_os = "linux")]
        if let Some(temporary) = &self.temporary {
            use std::os::unix::fs::OpenOptionsExt;
            let mut options = OpenOptions::new();
            options.write(true).custom_flags(libc::O_DIRECT);
            self.direct = options.open(&temporary.path).ok();
        }
    }

    /// Writes the part of `bytes` that can go past the page cache, and says how long it is.
    #[cfg(target_os = "linux")]
    fn write_direct(&mut self, bytes: &[u8]) -> io::Result<usize> {
        use std::io::Seek;
        use std::os::unix::fs::FileExt;
        let Some(direct) = &self.direct else {
            return Ok(0);
        };
        let aligned = bytes.len() / BLOCK * BLOCK;
        let at_block = self.written.is_multiple_of(BLOCK as u64)
            && bytes.as_ptr().addr().is_multiple_of(BLOCK);
        if !at_block || aligned < DIRECT_FROM {
            return Ok(0);
        }
        match direct.write_all_at(&bytes[..aligned], self.written) {
            Ok(()) => {
                self.written += aligned as u64;
                self.written_back = self.written;
                self.file.seek(io::SeekFrom::Start(self.written))?;
                Ok(aligned)
            }
            // A file system that does not take part after all; what it wrote is written again.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                self.direct = None;
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn write_direct(&mut self, _: &[u8]) -> io::Result<usize> {
        Ok(0)
    }

    /// Writes bytes behind those already written.
    ///
    /// # Errors
    /// [`Failure::ReaderGone`] where a pipe has no reader any more, else [`Failure::System`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let direct = self.write_direct(bytes);
        let bytes = &bytes[direct.map_err(|error| self.failed(&error, 0))?..];
        self.file
            .write_all(bytes)
            .map_err(|error| self.failed(&error, 0))?;
        self.written += bytes.len() as u64;
        #[cfg(target_os = "linux")]
        if self.temporary.is_some() && self.written - self.written_back >= WRITE_BACK {
            use std::os::fd::AsRawFd;
            let (from, to) = (self.written_back, self.written);
            // SAFETY: no memory is touched; a refusal does no harm, for the file is synced at
            // the end.
            unsafe {
                libc::sync_file_range(
                    self.file.as_raw_fd(),
                    from as libc::off64_t,
                    (to - from) as libc::off64_t,
                    libc::SYNC_FILE_RANGE_WRITE,
                );
            }
            self.written_back = to;
        }
        Ok(())
    }

    /// Brings all bytes to disk. The output does not have its name yet: see [`commit`].
    ///
    /// # Errors
    /// [`Failure::System`].
    pub fn finish(&mut self) -> Result<()> {
        let Some(temporary) = &self.temporary else {
            return Ok(());
        };
        let done = || {
            if self.reserved > self.written {
                self.file.set_len(self.written)?;
            }
            if let Some(old) = &temporary.old {
                keep_owner_and_mode(&self.file, old)?;
            }
            self.file.sync_all()
        };
        done().map_err(|error| self.failed(&error, 0))
    }

    /// The error about this output; `wanted` bytes could not be reserved, if not 0.
    fn failed(&self, error: &io::Error, wanted: u64) -> Failure {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::ReaderGone;
        }
        let sizes = match wanted {
            0 => format!(" after {}", human(self.written)),
            wanted => format!(" ({} needed)", human(wanted)),
        };
        let sizes = if needs_space(error) {
            sizes
        } else {
            String::new()
        };
        Failure::io("write", format!("{}{sizes}", self.name), error)
    }
}

/// Gives finished outputs their names, one right after the other.
///
/// # Errors
/// [`Failure::System`].
pub fn commit(outputs: &mut [Output]) -> Result<()> {
    for output in &mut *outputs {
        let Some(temporary) = &mut output.temporary else {
            continue;
        };
        fs::rename(&temporary.path, &temporary.target)
            .map_err(|error| Failure::io("write", &output.name, &error))?;
        temporary.renamed = true;
        under_construction().retain(|path| *path != temporary.path);
    }
    for temporary in outputs
        .iter()
        .filter_map(|output| output.temporary.as_ref())
    {
        // The names, too, are to survive a power cut. Some file systems cannot sync a folder.
        if let Ok(folder) = File::open(folder(&temporary.target)) {
            let _ = folder.sync_all();
        }
    }
    Ok(())
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            under_construction().retain(|path| *path != self.path);
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The temporary files of this process.
static UNDER_CONSTRUCTION: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn under_construction() -> MutexGuard<'static, Vec<PathBuf>> {
    UNDER_CONSTRUCTION
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

/// From now on, an interrupt (Ctrl-C, SIGTERM, SIGHUP) removes temporary files before it ends the
/// process.
pub fn clean_when_interrupted() {
    // It fails only where a handler is there already.
    let _ = ctrlc::set_handler(|| {
        for path in under_construction().iter() {
            let _ = fs::remove_file(path);
        }
        // As a shell has it: 128 and the number of SIGINT.
        std::process::exit(130);
    });
}

/// Whether a path means this process's stdout, whatever that is.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-" || path == Path::new("/dev/stdout")
}

/// Whether a path names an open file of this process, which is to be written as it is.
fn is_stream(path: &Path) -> bool {
    path.starts_with("/dev") || path.starts_with("/proc")
}

/// The folder that a file is in.
fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The start of the names of all temporary files for a file. A name too long to be lengthened is
/// cut, and its hash keeps it apart from its like.
fn stem(file_name: &OsStr) -> OsString {
    let whole = file_name.as_encoded_bytes();
    let mut stem = OsString::from(".");
    if whole.len() + ".".len() + MARK.len() + 20 <= MAX_NAME {
        stem.push(file_name);
    } else {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        whole.hash(&mut hasher);
        let lossy = file_name.to_string_lossy();
        let start: String = lossy.chars().take(32).collect();
        stem.push(format!("{start}~{:016x}", hasher.finish()));
    }
    stem.push(MARK);
    stem
}

const MARK: &str = ".sweepsort-tmp-";

/// Removes temporary files for the same output whose writers are gone.
fn clean(folder: &Path, stem: &OsStr) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let rest = name
            .as_encoded_bytes()
            .strip_prefix(stem.as_encoded_bytes());
        let ours = rest.is_some_and(|pid| {
            pid.iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b'-')
        });
        if !ours {
            continue;
        }
        let path = entry.path();
        // Whoever still writes it holds the lock; where there are no locks, better litter than a
        // file taken away.
        if OpenOptions::new()
            .write(true)
            .open(&path)
            .is_ok_and(|file| file.try_lock().is_ok())
        {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Makes and locks a temporary file. One that takes the place of another is nobody else's to read
/// until it has that one's permissions.
fn create_temporary(folder: &Path, stem: &OsStr, private: bool) -> io::Result<(PathBuf, File)> {
    for attempt in 0u32.. {
        let mut name = stem.to_owned();
        name.push(std::process::id().to_string());
        if attempt > 0 {
            name.push(format!("-{attempt}"));
        }
        let path = folder.join(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if private {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let file = match options.open(&path) {
            Ok(file) => file,
            // Another machine or container that shares the folder has a process of that number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => {
                continue;
            }
            Err(error) => return Err(error),
        };
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            // Another run is just finding out that this file has no owner: it removes it.
            continue;
        }
        if fs::metadata(&path).is_err() {
            continue;
        }
        under_construction().push(path.clone());
        return Ok((path, file));
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(unix)]
fn keep_owner_and_mode(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        // Only root may give a file away; others keep what they make.
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    }
    file.set_permissions(fs::Permissions::from_mode(
        old.permissions().mode() & 0o7777,
    ))
}

#[cfg(not(unix))]
fn keep_owner_and_mode(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

/// Whether an error says that there is no room for a file.
fn needs_space(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

#[cfg(target_os = "linux")]
fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let bytes = libc::off64_t::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?;
    // SAFETY: no memory is touched, and the file is open.
    match unsafe { libc::fallocate64(file.as_raw_fd(), 0, 0, bytes) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(target_os = "linux"))]
fn allocate(_: &File, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn stdout_file() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
}

#[cfg(windows)]
fn stdout_file() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(io::stdout().as_handle().try_clone_to_owned()?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("the folder is there");
        let mut names: Vec<_> = entries
            .map(|entry| {
                entry
                    .expect("readable")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_old_file_stays_until_the_new_one_is_whole() -> Result<()> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out");
        fs::write(&path, "old").expect("written");
        assert!(matches!(
            Output::create(Some(&path), false),
            Err(Failure::Input(_))
        ));
        {
            let mut output = Output::create(Some(&path), true)?;
            output.reserve(1000)?;
            output.write(b"never")?;
            assert_eq!(names(folder.path()).len(), 2);
        }
        assert_eq!(names(folder.path()), ["out"]);
        let mut output = Output::create(Some(&path), true)?;
        output.reserve(1000)?;
        output.write(b"new")?;
        output.finish()?;
        assert_eq!(fs::read(&path).expect("there"), b"old");
        commit(&mut [output])?;
        assert_eq!(fs::read(&path).expect("there"), b"new");
        assert_eq!(names(folder.path()), ["out"]);
        Ok(())
    }

    #[test]
    fn litter_without_an_owner_is_removed() -> Result<()> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out");
        let others = [
            ".out.sweepsort-tmp-notes",
            ".out2.sweepsort-tmp-7",
            "out.sweepsort-tmp-7",
        ];
        for name in others
            .iter()
            .chain(&[".out.sweepsort-tmp-7", ".out.sweepsort-tmp-8-1"])
        {
            fs::write(folder.path().join(name), "").expect("written");
        }
        let mut first = Output::create(Some(&path), false)?;
        // A second run to the same name leaves the first one's file alone.
        let second = Output::create(Some(&path), false)?;
        first.write(b"1")?;
        assert_eq!(names(folder.path()).len(), others.len() + 2);
        drop(second);
        first.finish()?;
        commit(&mut [first])?;
        assert_eq!(names(folder.path()).len(), others.len() + 1);
        Ok(())
    }

    #[test]
    fn long_names_are_cut_and_kept_apart() {
        let (a, b) = ("a".repeat(255), "a".repeat(254));
        let stems = [a, b].map(|name| stem(OsStr::new(&name)));
        assert_ne!(stems[0], stems[1]);
        assert!(stems.iter().all(|stem| stem.len() < MAX_NAME));
        assert_eq!(stem(OsStr::new("x.u32")), ".x.u32.sweepsort-tmp-");
    }
}
