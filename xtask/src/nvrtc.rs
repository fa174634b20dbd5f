//! NVIDIA's compiler as a library, from a wheel: CUDA C++ in, PTX out.
//!
//! It is there for its age: what 12.0 makes every driver since R525 can read.

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};

use anyhow::{Context, Result, bail};
use libloading::Library;

type Program = *mut c_void;
type Create = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Text = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Program) -> c_int;

/// The library.
pub struct Nvrtc(Library);

impl Nvrtc {
    /// Opens the library that lies here.
    pub fn open(path: &Path) -> Result<Self> {
        // SAFETY: NVIDIA's library may be loaded by any program.
        let library = unsafe { Library::new(path) };
        library
            .map(Nvrtc)
            .with_context(|| path.display().to_string())
    }

    /// The PTX of a source. `name` stands in messages.
    pub fn ptx(&self, name: &str, source: &str, options: &[String]) -> Result<String> {
        let (source, name) = (CString::new(source)?, CString::new(name)?);
        let options: Vec<CString> = (options.iter())
            .map(|option| CString::new(option.as_str()))
            .collect::<Result<_, _>>()?;
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let mut program: Program = null_mut();
        // SAFETY: these functions have these types in every version of the library; all strings end
        // with a zero and outlive the calls; the program is destroyed once, after its last use.
        unsafe {
            let create = self.0.get::<Create>(b"nvrtcCreateProgram\0")?;
            let compile = self.0.get::<Compile>(b"nvrtcCompileProgram\0")?;
            let destroy = self.0.get::<Destroy>(b"nvrtcDestroyProgram\0")?;
            let created = create(
                &mut program,
                source.as_ptr(),
                name.as_ptr(),
                0,
                null(),
                null(),
            );
            if created != 0 {
                bail!("nvrtcCreateProgram failed ({created})");
            }
            let compiled = compile(program, options.len() as c_int, options.as_ptr());
            let text = if compiled == 0 {
                self.text(program, b"nvrtcGetPTXSize\0", b"nvrtcGetPTX\0")
            } else {
                self.text(
                    program,
                    b"nvrtcGetProgramLogSize\0",
                    b"nvrtcGetProgramLog\0",
                )
            };
            destroy(&mut program);
            match (compiled, text?) {
                (0, ptx) => Ok(ptx),
                (_, log) => bail!("nvrtc failed ({compiled}):\n{}", log.trim_end()),
            }
        }
    }

    /// A text of the program, by the functions that tell its size, with the zero, and the text.
    ///
    /// # Safety
    /// The program is one of this library's.
    unsafe fn text(&self, program: Program, size: &[u8], text: &[u8]) -> Result<String> {
        // SAFETY: as in `ptx`; the text is written into as many bytes as it has.
        let bytes = unsafe {
            let mut length = 0;
            let answer = self.0.get::<Size>(size)?(program, &mut length);
            if answer != 0 {
                bail!("nvrtc does not tell a size ({answer})");
            }
            let mut bytes = vec![0u8; length];
            let answer = self.0.get::<Text>(text)?(program, bytes.as_mut_ptr().cast());
            if answer != 0 {
                bail!("nvrtc does not tell a text ({answer})");
            }
            bytes
        };
        let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8(text.to_vec())?)
    }
}
