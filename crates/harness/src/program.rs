//! What a program's file says about it.

use std::collections::HashMap;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Whether a program contains Rust's standard library, which mentions this variable.
pub fn is_rust(path: &Path) -> bool {
    let mark = b"RUST_BACKTRACE";
    std::fs::read(path).is_ok_and(|content| memchr::memmem::find(&content, mark).is_some())
}

/// Whether a program contains Rust's standard library or is linked with it as a library. Only such
/// a program has locks that are no calls, and to look for them decodes all of its code, with the
/// runtime's million bytes: two fifths of `raddle run` on a small program.
pub fn may_use_rust_std(path: &Path) -> bool {
    // The last two are left where the linker drops what nobody calls, as in a C program with a part
    // in Rust: names of functions, and of source files.
    let marks: [&[u8]; 4] = [b"RUST_BACKTRACE", b"libstd-", b"lock_contended", b"/rustc/"];
    std::fs::read(path)
        .is_ok_and(|content| marks.iter().any(|mark| memchr::memmem::find(&content, mark).is_some()))
}

/// The build id of a file, as hexadecimal digits; a hash of its content if it has none.
pub fn build_id(path: &Path) -> String {
    use sha2::{Digest, Sha256};
    if let Ok(found) = raddle_binary::inspect(path)
        && let Some(id) = found.build_id
    {
        return hex(&id);
    }
    let mut content = Vec::new();
    let read = std::fs::File::open(path).and_then(|mut f| f.read_to_end(&mut content));
    if read.is_err() {
        return "unknown".into();
    }
    format!("sha256:{}", hex(&Sha256::digest(&content)))
}

/// Names the content of a file, for results that are kept. The build id is not enough: a project
/// may give all its builds the same one (`-Wl,--build-id=0x1234`), and a tool that rewrites a
/// finished program keeps it. A file that has not changed is read once.
pub fn content_id(path: &Path) -> String {
    use sha2::{Digest, Sha256};
    type Stamp = [i64; 7];
    static KNOWN: LazyLock<Mutex<HashMap<PathBuf, (Stamp, String)>>> = LazyLock::new(Mutex::default);
    let Ok(meta) = std::fs::metadata(path) else { return "unknown".into() };
    let (device, inode, size) = (meta.dev() as i64, meta.ino() as i64, meta.size() as i64);
    let times = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
    let stamp = [device, inode, size, times[0], times[1], times[2], times[3]];
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((of, id)) = known.get(path)
        && *of == stamp
    {
        return id.clone();
    }
    let Ok(content) = std::fs::read(path) else { return "unknown".into() };
    let id = hex(&Sha256::digest(&content));
    known.insert(path.into(), (stamp, id.clone()));
    id
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_in_rust_are_known() {
        assert!(is_rust(&std::env::current_exe().unwrap()));
        assert!(!is_rust(Path::new("/bin/sh")));
    }

    /// `-C prefer-dynamic` leaves only the library's name in the program.
    #[test]
    fn a_program_with_rusts_library_beside_it_may_use_it() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("locks.rs");
        std::fs::write(&source, "fn main() { drop(std::sync::Mutex::new(1).lock()) }").unwrap();
        for (name, options) in [("inside", vec![]), ("beside", vec!["-C", "prefer-dynamic"])] {
            let program = folder.path().join(name);
            let mut rustc = std::process::Command::new("rustc");
            rustc.args(options).arg(&source).arg("-o").arg(&program);
            assert!(rustc.status().unwrap().success());
            assert!(may_use_rust_std(&program), "{name}");
        }
        assert!(!may_use_rust_std(Path::new("/bin/sh")));
    }

    #[test]
    fn a_file_without_a_build_id_is_known_by_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, "one").unwrap();
        let one = build_id(&path);
        assert!(one.starts_with("sha256:"), "{one}");
        std::fs::write(&path, "two").unwrap();
        assert_ne!(build_id(&path), one);
        assert_eq!(build_id(&folder.path().join("missing")), "unknown");
    }
    #[test]
    fn programs_with_one_build_id_are_told_apart_by_their_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let mut program = std::fs::read("/bin/true").unwrap();
        let mut ids = || {
            std::fs::write(&path, &program).unwrap();
            program.push(0);
            (build_id(&path), content_id(&path))
        };
        let (first, second) = (ids(), ids());
        assert_eq!(first.0, second.0);
        assert_ne!(first.1, second.1);
        assert_eq!(content_id(&folder.path().join("missing")), "unknown");
    }
}
