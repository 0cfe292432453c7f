//! Instruments one rlib from its own bitcode.

use ar_archive_writer::{ArchiveKind, DEFAULT_OBJECT_READER, NewArchiveMember, write_archive_to_stream};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};
use std::path::{Path, PathBuf};
use std::process::Command;

/// LLVM's passes, in order. `forceattrs` puts `sanitize_thread` on every function; without it, the
/// second pass would skip the function. `tsan-module` adds the constructor.
const PASSES: &str = "--lto-newpm-passes=forceattrs,tsan-module,function(tsan)";

/// Why an rlib cannot be instrumented.
#[derive(Debug, thiserror::Error)]
pub enum RlibError {
    #[error("cannot read {path}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path} is not an archive of objects: {reason}")]
    Format { path: PathBuf, reason: String },
    #[error(
        "{path} carries no bitcode ({member}), from which std is instrumented: use a toolchain \
         from rustup rather than a distribution's"
    )]
    NoBitcode { path: PathBuf, member: String },
    #[error("rust-lld could not instrument {path} ({member}): {stderr}")]
    Lld { path: PathBuf, member: String, stderr: String },
    #[error("cannot write {path}")]
    Write { path: PathBuf, source: std::io::Error },
}

/// Writes the rlib `from` to `to` with every object compiled again: the same members, with the same
/// names, in the same order (rustc wants the metadata first).
pub fn instrument(from: &Path, to: &Path, lld: &Path, work: &Path) -> Result<(), RlibError> {
    let data = std::fs::read(from).map_err(|source| RlibError::Read { path: from.to_owned(), source })?;
    let format = |e: object::Error| RlibError::Format { path: from.to_owned(), reason: e.to_string() };
    let archive = ArchiveFile::parse(&*data).map_err(format)?;
    let mut members = Vec::new();
    for member in archive.members() {
        let member = member.map_err(format)?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let content = member.data(&*data).map_err(format)?;
        let content = if name.ends_with(".o") {
            instrument_object(content, &name, from, lld, work)?
        } else {
            content.to_vec()
        };
        members.push((name, content));
    }
    write(to, members).map_err(|source| RlibError::Write { path: to.to_owned(), source })
}

fn instrument_object(
    object: &[u8],
    member: &str,
    rlib: &Path,
    lld: &Path,
    work: &Path,
) -> Result<Vec<u8>, RlibError> {
    let path = || rlib.to_owned();
    let member = || member.to_owned();
    let bitcode = bitcode_of(object)
        .map_err(|e| RlibError::Format { path: path(), reason: e.to_string() })?
        .ok_or_else(|| RlibError::NoBitcode { path: path(), member: member() })?;
    let folder =
        tempfile::tempdir_in(work).map_err(|source| RlibError::Write { path: work.to_owned(), source })?;
    let (input, output) = (folder.path().join("in.bc"), folder.path().join("out.o"));
    std::fs::write(&input, bitcode).map_err(|source| RlibError::Write { path: input.clone(), source })?;
    let run = Command::new(lld)
        .args(["-flavor", "gnu", "-r", "-mllvm", "-force-attribute=sanitize_thread", PASSES])
        .arg(&input)
        .arg("-o")
        .arg(&output)
        .output();
    let stderr = match run {
        Ok(done) if done.status.success() => {
            return std::fs::read(&output).map_err(|source| RlibError::Read { path: output, source });
        }
        Ok(done) => String::from_utf8_lossy(&done.stderr).trim().replace('\n', "; "),
        Err(error) => error.to_string(),
    };
    Err(RlibError::Lld { path: path(), member: member(), stderr })
}

/// The bitcode that rustc embedded in an object, if it did.
fn bitcode_of(object: &[u8]) -> Result<Option<&[u8]>, object::Error> {
    let file = object::File::parse(object)?;
    match file.section_by_name(".llvmbc") {
        Some(section) => Ok(Some(section.data()?).filter(|d| !d.is_empty())),
        None => Ok(None),
    }
}

/// Whether the first object of an rlib contains bitcode; `doctor` checks std with this.
pub fn has_bitcode(rlib: &Path) -> bool {
    let Ok(data) = std::fs::read(rlib) else { return false };
    let Ok(archive) = ArchiveFile::parse(&*data) else { return false };
    let mut objects = archive.members().flatten().filter(|m| m.name().ends_with(b".o"));
    let first = objects.next().and_then(|m| m.data(&*data).ok());
    first.is_some_and(|object| matches!(bitcode_of(object), Ok(Some(_))))
}

fn write(path: &Path, members: Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    let members: Vec<_> = members
        .into_iter()
        .map(|(member_name, content)| NewArchiveMember {
            buf: Box::new(content),
            object_reader: &DEFAULT_OBJECT_READER,
            member_name,
            mtime: 0,
            uid: 0,
            gid: 0,
            perms: 0o644,
        })
        .collect();
    let mut bytes = std::io::Cursor::new(Vec::new());
    write_archive_to_stream(&mut bytes, &members, ArchiveKind::Gnu, false, None)?;
    std::fs::write(path, bytes.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(folder: &Path, members: &[(&str, &[u8])]) -> PathBuf {
        let path = folder.join("libx-1.rlib");
        let members = members.iter().map(|(n, c)| (n.to_string(), c.to_vec())).collect();
        write(&path, members).unwrap();
        path
    }

    #[test]
    fn members_keep_their_names_order_and_content() {
        let folder = tempfile::tempdir().unwrap();
        let long = "std-0123456789abcdef.std.0123456789abcdef-cgu.0.rcgu.metadata";
        let from = archive(folder.path(), &[("lib.rmeta", b"meta"), (long, b"odd"), ("z", b"")]);
        let to = folder.path().join("out.rlib");
        instrument(&from, &to, Path::new("/nonexistent"), folder.path()).unwrap();
        let data = std::fs::read(&to).unwrap();
        let archive = ArchiveFile::parse(&*data).unwrap();
        let found: Vec<_> = archive
            .members()
            .map(|m| m.unwrap())
            .map(|m| (String::from_utf8_lossy(m.name()).into_owned(), m.data(&*data).unwrap()))
            .collect();
        let expected: [(String, &[u8]); 3] =
            [("lib.rmeta".into(), b"meta"), (long.into(), b"odd"), ("z".into(), b"")];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_object_without_bitcode_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let me = std::fs::read("/proc/self/exe").unwrap();
        let from = archive(folder.path(), &[("plain.o", &me)]);
        let result = instrument(&from, &folder.path().join("o"), Path::new("/x"), folder.path());
        assert!(matches!(result, Err(RlibError::NoBitcode { ref member, .. }) if member == "plain.o"));
        assert!(!has_bitcode(&from));
    }

    #[test]
    fn what_is_no_archive_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.rlib");
        let to = folder.path().join("y.rlib");
        std::fs::write(&file, "not an archive").unwrap();
        let refused = instrument(&file, &to, Path::new("/x"), folder.path());
        assert!(matches!(refused, Err(RlibError::Format { .. })));
        let missing = instrument(&folder.path().join("no"), &to, Path::new("/x"), folder.path());
        assert!(matches!(missing, Err(RlibError::Read { .. })));
    }
}
