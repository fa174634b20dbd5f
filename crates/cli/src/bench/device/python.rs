//! torch and CuPy: each in a Python of its own, which takes requests line by line.
//!
//! The keys go to it and come back in raw files; it takes the times itself, by events on the device,
//! and restores its input before each. The requests stand at the head of `python.py`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::types::Type;

/// The program.
const SCRIPT: &str = include_str!("python.py");

/// A Python that sorts. It is ended when this is dropped.
#[derive(Debug)]
pub struct Python {
    name: String,
    version: String,
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Python {
    /// Starts one for `torch` or `cupy`. Takes as long as its import, some seconds.
    ///
    /// # Errors
    /// Why it is absent, in a line.
    pub fn start(name: &str) -> Result<Self, String> {
        Self::start_by(Command::new("python3"), name)
    }

    fn start_by(mut python: Command, name: &str) -> Result<Self, String> {
        let started = python
            .args(["-u", "-c", SCRIPT, name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child =
            started.map_err(|error| format!("{name} needs python3, and there is none: {error}"))?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let (Some(requests), Some(answers)) = pipes else {
            unreachable!("both are piped");
        };
        let mut python = Python {
            name: name.to_owned(),
            version: String::new(),
            child,
            requests,
            answers: BufReader::new(answers),
        };
        python.version = python.answer()?;
        Ok(python)
    }

    /// The package's version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Puts the keys of a raw file on the device; they replace those before.
    ///
    /// # Errors
    /// Why not: a type that it does not have, too little memory, an end of the child.
    pub fn load(&mut self, key: Type, n: usize, path: &Path) -> Result<(), String> {
        let path = line(path)?;
        self.ask(&format!("load {key} {n} {path}")).map(drop)
    }

    /// Sorts what is loaded, and returns the seconds on the device. torch finds the index besides.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn sort(&mut self) -> Result<f64, String> {
        self.seconds("sort")
    }

    /// Finds the index that sorts what is loaded, ties in order, and returns the seconds on the
    /// device. The index has 64 bits there.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn argsort(&mut self) -> Result<f64, String> {
        self.seconds("argsort")
    }

    /// Writes what the last sort made to a raw file: keys, or an index as `u32`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn store(&mut self, path: &Path) -> Result<(), String> {
        let path = line(path)?;
        self.ask(&format!("store {path}")).map(drop)
    }

    /// Gives back the device memory of keys and output.
    pub fn unload(&mut self) {
        // A child that fails at this has ended, which the next request tells.
        let _ = self.ask("unload");
    }

    fn seconds(&mut self, request: &str) -> Result<f64, String> {
        let answer = self.ask(request)?;
        let seconds = answer.parse();
        seconds.map_err(|_| format!("{} answers '{answer}', which is no time", self.name))
    }

    fn ask(&mut self, request: &str) -> Result<String, String> {
        // Where that fails, there is no answer either.
        let _ = writeln!(self.requests, "{request}");
        self.answer()
    }

    /// The next answer. Its end comes with the child's.
    fn answer(&mut self) -> Result<String, String> {
        let mut answer = String::new();
        let read = self.answers.read_line(&mut answer);
        let Some(answer) = answer.strip_suffix('\n').filter(|_| read.is_ok()) else {
            return Err(self.ended());
        };
        match answer.split_once(' ') {
            Some(("ok", rest)) => Ok(rest.to_owned()),
            Some(("error", why)) => Err(format!("{}: {why}", self.name)),
            _ => Err(format!("{} answers '{answer}'", self.name)),
        }
    }

    fn ended(&mut self) -> String {
        // Whatever still runs of it answers nobody. If it has ended by itself, its status stays.
        let _ = self.child.kill();
        match self.child.wait() {
            Ok(status) => format!("{}: its python3 has ended ({status})", self.name),
            Err(error) => format!("{}: its python3 is lost: {error}", self.name),
        }
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A path as it can stand in a request.
fn line(path: &Path) -> Result<&str, String> {
    let text = path.to_str().filter(|text| !text.contains(['\n', '\r']));
    text.ok_or_else(|| format!("{path:?} is no name for a file that Python reads"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    type Outcome = Result<(), Box<dyn std::error::Error>>;

    /// As much of CuPy as the script uses, on the host.
    const CUPY: &str = r#"
import os, sys
from array import array

__version__ = "13.0"
uint8, uint32, int16 = "B", "I", "h"

print("noise")

class Array:
    def __init__(self, data): self.data = data
    def __len__(self): return len(self.data)
    def view(self, kind): return Array(array(kind, self.data.tobytes()))
    def copy(self): return Array(self.data[:])
    def sort(self): self.data = array(self.data.typecode, sorted(self.data))
    def argsort(self):
        if len(self) == 1: os._exit(7)
        return Array(array("q", sorted(range(len(self)), key=self.data.__getitem__)))
    def astype(self, kind): return Array(array(kind, self.data))
    def tofile(self, path): open(path, "wb").write(self.data.tobytes())

def fromfile(path, dtype): return Array(array(dtype, open(path, "rb").read()))
def asnumpy(data): return data
class Pool:
    def free_all_blocks(self): pass
get_default_memory_pool = Pool

class Event:
    def record(self): self.at = clock()
    def synchronize(self): pass
class Device:
    def synchronize(self): pass
class Runtime:
    def getDeviceCount(self): return 1
def clock(at=[0]):
    at[0] += 250
    return at[0]
class Cuda:
    Event, Device, runtime = Event, Device, Runtime()
    def get_elapsed_time(self, start, end): return float(end.at - start.at)
cuda = Cuda()
"#;

    /// Whether there is a python3, without which there is nothing to see.
    fn there_is_python() -> bool {
        let version = Command::new("python3").arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    }

    /// A child whose package is this file of `folder`.
    fn start(folder: &Path, name: &str, package: &str) -> Result<Python, String> {
        fs::write(folder.join(format!("{name}.py")), package).map_err(|error| error.to_string())?;
        let mut python = Command::new("python3");
        python.env("PYTHONPATH", folder);
        Python::start_by(python, name)
    }

    #[test]
    fn the_script_compiles() -> Outcome {
        if !there_is_python() {
            return Ok(());
        }
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("python.py");
        fs::write(&file, SCRIPT)?;
        let mut compile = Command::new("python3");
        let output = compile.args(["-m", "py_compile"]).arg(file).output()?;
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words}");
        Ok(())
    }

    #[test]
    fn what_is_absent_is_told_in_a_line() -> Outcome {
        let nowhere = Python::start_by(Command::new("/nowhere/python3"), "torch").unwrap_err();
        let told = "torch needs python3, and there is none: ";
        assert!(nowhere.starts_with(told), "{nowhere}");
        if !there_is_python() {
            return Ok(());
        }
        // Without its site, Python finds no packages.
        let mut bare = Command::new("python3");
        bare.args(["-S", "-E"]);
        assert_eq!(
            Python::start_by(bare, "cupy").unwrap_err(),
            "cupy: python3 cannot import cupy (No module named 'cupy'); install it where python3 \
             looks"
        );
        let folder = tempfile::tempdir()?;
        let cases = [
            (
                "import os; os._exit(3)",
                "cupy: its python3 has ended (exit status: 3)",
            ),
            (
                "raise OSError('libcuda is\\nnot there')",
                "cupy: libcuda is not there",
            ),
            (
                "raise ImportError('libcudart.so.12')",
                "cupy: python3 cannot import cupy (libcudart.so.12); install it where python3 looks",
            ),
        ];
        for (package, why) in cases {
            let error = start(folder.path(), "cupy", package).unwrap_err();
            assert_eq!(error, why);
        }
        let torch = "class cuda:\n    is_available = staticmethod(lambda: False)";
        let error = start(folder.path(), "torch", torch).unwrap_err();
        assert_eq!(error, "torch: torch finds no CUDA device");
        Ok(())
    }

    #[test]
    fn keys_go_there_and_come_back_sorted() -> Outcome {
        if !there_is_python() {
            return Ok(());
        }
        let folder = tempfile::tempdir()?;
        let (file, out) = (folder.path().join("a file"), folder.path().join("out"));
        let mut python = start(folder.path(), "cupy", CUPY)?;
        assert_eq!(python.version(), "13.0");
        assert_eq!(python.sort().unwrap_err(), "cupy: no keys are loaded");
        let keys = [3i16, -1, 7, -1, i16::MIN];
        fs::write(&file, bytemuck::bytes_of(&keys))?;

        python.load(Type::I16, keys.len(), &file)?;
        let early = python.store(&out).unwrap_err();
        assert_eq!(early, "cupy: nothing has been sorted");
        // Twice: the first must leave its input.
        for _ in 0..2 {
            assert_eq!(python.sort()?, 0.25);
            python.store(&out)?;
            let mut sorted = keys;
            sorted.sort();
            assert_eq!(fs::read(&out)?, bytemuck::bytes_of(&sorted));
            assert_eq!(python.argsort()?, 0.25);
            python.store(&out)?;
            assert_eq!(fs::read(&out)?, bytemuck::bytes_of(&[4u32, 1, 3, 0, 2]));
        }

        let missing = python.load(Type::Bf16, 5, &file).unwrap_err();
        assert_eq!(missing, "cupy: cupy 13.0 has no bf16");
        let short = python.load(Type::I16, 6, &file).unwrap_err();
        assert_eq!(short, "cupy: 5 keys in the file, not 6");
        let nothing = python.load(Type::I16, 6, &folder.path().join("none"));
        assert!(nothing.unwrap_err().contains("No such file"));
        python.load(Type::I16, keys.len(), &file)?;
        python.unload();
        assert_eq!(python.sort().unwrap_err(), "cupy: no keys are loaded");
        let broken = python.load(Type::I16, 6, Path::new("a\nb")).unwrap_err();
        assert!(broken.ends_with("is no name for a file that Python reads"));

        // It has survived all that; an argsort of one key is what ends it.
        fs::write(&file, bytemuck::bytes_of(&keys[0]))?;
        python.load(Type::I16, 1, &file)?;
        for _ in 0..2 {
            assert_eq!(
                python.argsort().unwrap_err(),
                "cupy: its python3 has ended (exit status: 7)"
            );
        }
        Ok(())
    }

    #[test]
    #[ignore = "needs a GPU, with torch or CuPy"]
    fn packages_sort_on_the_device() -> Outcome {
        let folder = tempfile::tempdir()?;
        let (file, out) = (folder.path().join("keys"), folder.path().join("out"));
        let keys: Vec<u32> = (0..100_003u32)
            .map(|i| i.wrapping_mul(0x9E37_79B9) % 50_021)
            .collect();
        let mut index: Vec<u32> = (0..keys.len() as u32).collect();
        index.sort_by_key(|&i| keys[i as usize]);
        let sorted: Vec<u32> = index.iter().map(|&i| keys[i as usize]).collect();
        fs::write(&file, bytemuck::cast_slice(&keys))?;
        let mut started = 0;
        for name in ["torch", "cupy"] {
            let mut python = match Python::start(name) {
                Ok(python) => python,
                Err(why) => {
                    println!("{why}");
                    continue;
                }
            };
            started += 1;
            // Keys below 2^31, which mean the same with a sign.
            for key in [Type::I32, Type::U32] {
                let tried = python
                    .load(key, keys.len(), &file)
                    .and_then(|()| python.sort());
                match tried {
                    Ok(seconds) => println!("{name} {} {key}: {seconds} s", python.version()),
                    Err(why) if key == Type::U32 => {
                        println!("{why}");
                        continue;
                    }
                    Err(why) => return Err(why.into()),
                }
                python.store(&out)?;
                assert!(fs::read(&out)? == bytemuck::cast_slice::<_, u8>(&sorted));
                let seconds = python.argsort()?;
                assert!(seconds > 0.0 && seconds < 1.0, "{seconds}");
                python.store(&out)?;
                assert!(fs::read(&out)? == bytemuck::cast_slice::<_, u8>(&index));
            }
        }
        assert!(started > 0, "neither is there");
        Ok(())
    }
}
