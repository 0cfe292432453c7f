//! What to run: finds the program and checks it before it is started.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use raddle_binary::{AddressWidth, Architecture, FileKind, Instrumentation, inspect};
use raddle_wire::log::fatal;
use thiserror::Error;

use crate::collect::Process;

/// Why a target cannot be watched. Each is one sentence with its remedy.
#[derive(Debug, Error)]
pub enum TargetError {
    #[error(
        "there is no program `{0}`: check the name, and that its folder is in PATH or written with a slash"
    )]
    NotFound(String),
    #[error("`{0}` is in no folder of PATH: for the file in this folder write `./{0}`")]
    NotOnPath(String),
    #[error("`{0}` is a folder, not a program")]
    Folder(String),
    #[error("`{0}` is not executable: `chmod +x` it, or run it through its interpreter")]
    NotExecutable(String),
    #[error("`{0}` cannot be read: {1}")]
    Unreadable(String, String),
    #[error(
        "`{0}` is statically linked, and raddle works through the dynamic linker: link it without -static"
    )]
    Static(String),
    #[error("`{0}` is a {1} program; raddle watches 64-bit x86 programs only")]
    Foreign(String, String),
    #[error(
        "`{0}` carries the ThreadSanitizer runtime of clang or rustc inside: link it again with `raddle cc`, `raddle c++` or `cargo raddle`"
    )]
    OtherRuntime(String),
    #[error(
        "`{0}` is built with AddressSanitizer, whose runtime and raddle's exclude each other: build it without `-fsanitize=address`"
    )]
    AddressSanitizer(String),
    #[error(
        "`{0}` carries the runtime of another version of raddle: build it again with this one, {version}",
        version = env!("CARGO_PKG_VERSION")
    )]
    OtherVersion(String),
    #[error(
        "nothing in `{0}` or in the processes it started is instrumented: build with `raddle cc`, `raddle c++`, `raddle rustc` or `cargo raddle`"
    )]
    NothingInstrumented(String),
    #[error(
        "nothing in `{0}` or in the processes it started is instrumented: build with `raddle cc`, `raddle c++`, `raddle rustc` or `cargo raddle`, or have raddle watch its machine code: `raddle run --instrument yes`"
    )]
    NothingInstrumentedYet(String),
    #[error(
        "`{0}` has no room for raddle's shadow memory, which needs 41 TiB of address space (not of memory): raise `ulimit -v`, set vm.overcommit_memory to 0 or 1; `raddle doctor` says more"
    )]
    NoShadow(String),
    #[error(
        "`{0}` was laid out where raddle's shadow memory must be: allow personality(2), or set vm.mmap_rnd_bits to 28; `raddle doctor` says more"
    )]
    Layout(String),
    #[error(
        "the temporary folder has no room for the log of `{0}`: set TMPDIR to a folder on a disk with more"
    )]
    NoRoom(String),
    #[error(
        "`{0}` has more rights than its caller (set-user-ID, set-group-ID or file capabilities), and such a program does not let raddle watch it: run a copy without them, or as the user whose rights it has"
    )]
    Privileged(String),
    #[error(
        "the copy of the code of `{0}` could not be put where it must be: allow personality(2), or build it with `raddle cc`, `raddle c++`, `raddle rustc` or `cargo raddle`"
    )]
    NoPlace(String),
    #[error(
        "`{0}` runs with a shadow stack (CET), which a copy of its code would violate: unset GLIBC_TUNABLES, or build it with `raddle cc`, `raddle c++`, `raddle rustc` or `cargo raddle`"
    )]
    ControlFlow(String),
    #[error("interrupted by {0} before an instrumented program had started: nothing was watched")]
    Interrupted(&'static str),
}

/// A program that can be started.
#[derive(Clone, Debug)]
pub struct TargetProgram {
    pub path: PathBuf,
    /// The program contains raddle's runtime. Otherwise the runtime is preloaded for libraries and
    /// children.
    pub has_runtime: bool,
    /// An ELF program without probes.
    pub is_plain: bool,
}

/// Finds the program as `execvp` would, and refuses what cannot work.
pub fn find(command: &[OsString]) -> Result<TargetProgram, TargetError> {
    let name = &command[0];
    let shown = name.to_string_lossy().into_owned();
    let path = resolve(name).ok_or_else(|| match Path::new(name).exists() {
        true => TargetError::NotOnPath(shown.clone()),
        false => TargetError::NotFound(shown.clone()),
    })?;
    if path.is_dir() {
        return Err(TargetError::Folder(shown));
    }
    if !is_executable(&path) {
        return Err(TargetError::NotExecutable(shown));
    }
    let found = match inspect(&path) {
        Ok(found) => found,
        // A program that can be executed but not read can still start others.
        Err(raddle_binary::Error::NotReadable { .. }) => {
            return Ok(TargetProgram { path, has_runtime: false, is_plain: false });
        }
        Err(e) => return Err(TargetError::Unreadable(shown, e.to_string())),
    };
    if let FileKind::Script { .. } = found.kind {
        return Ok(TargetProgram { path, has_runtime: false, is_plain: false });
    }
    match (found.class, found.machine) {
        (Some(AddressWidth::Elf32), _) => return Err(TargetError::Foreign(shown, "32-bit".into())),
        (_, Some(machine)) if machine != Architecture::X86_64 => {
            return Err(TargetError::Foreign(shown, machine.to_string()));
        }
        _ => {}
    }
    if found.static_linked {
        return Err(TargetError::Static(shown));
    }
    if found.needed.iter().any(|n| n.starts_with("libasan.so") || n.starts_with("libclang_rt.asan")) {
        return Err(TargetError::AddressSanitizer(shown));
    }
    if found.instrumentation == Instrumentation::ForeignRuntime {
        return Err(TargetError::OtherRuntime(shown));
    }
    if let Instrumentation::Raddle { hash: Some(version) } = &found.instrumentation
        && version[..] != raddle_wire::VERSION.to_ne_bytes()
    {
        return Err(TargetError::OtherVersion(shown));
    }
    let has_runtime =
        matches!(found.instrumentation, Instrumentation::Raddle { .. } | Instrumentation::GccTsan);
    let is_plain = found.instrumentation == Instrumentation::None;
    Ok(TargetProgram { path, has_runtime, is_plain })
}

fn resolve(name: &OsString) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Path::new(name).exists().then(|| PathBuf::from(name));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|p| p.is_file() && is_executable(p))
}

fn is_executable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Whether the program runs with privileges that its caller lacks.
fn is_privileged(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let (set_user, set_group) = (libc::S_ISUID, libc::S_ISGID);
    let by_mode = std::fs::metadata(path).is_ok_and(|m| {
        m.mode() & set_user != 0 && m.uid() != user || m.mode() & set_group != 0 && m.gid() != group
    });
    by_mode || rustix::fs::getxattr(path, "security.capability", &mut [0u8; 64]).is_ok()
}

/// Checks after the run that there was something to watch and that the runtimes started.
pub fn complain(program: &TargetProgram, processes: &[Process]) -> Result<(), TargetError> {
    let name = |p: &Process| {
        if p.executable.is_empty() { program.path.display().to_string() } else { p.executable.clone() }
    };
    for p in processes {
        match p.fatal {
            Some(fatal::LAYOUT) => return Err(TargetError::Layout(name(p))),
            Some(fatal::CONTROL_FLOW) => return Err(TargetError::ControlFlow(name(p))),
            Some(fatal::NO_PLACE) => return Err(TargetError::NoPlace(name(p))),
            Some(fatal::NO_ROOM) => return Err(TargetError::NoRoom(name(p))),
            Some(_) => return Err(TargetError::NoShadow(name(p))),
            None => {}
        }
    }
    if !processes.iter().any(|p| p.instrumented) {
        if let Some(signal) = crate::launch::interrupted_by() {
            return Err(TargetError::Interrupted(signal));
        }
        if is_privileged(&program.path) {
            return Err(TargetError::Privileged(program.path.display().to_string()));
        }
        if program.is_plain {
            return Err(TargetError::NothingInstrumentedYet(program.path.display().to_string()));
        }
        return Err(TargetError::NothingInstrumented(program.path.display().to_string()));
    }
    Ok(())
}
