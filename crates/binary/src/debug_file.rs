//! Finds the debug information of a stripped file: by build id and by `.gnu_debuglink`, in the
//! places where gdb looks.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use object::Object as _;

use crate::image::{Elf, Image};

const ROOT: &str = "/usr/lib/debug";

/// The debug file of `elf`, if one from the same link is installed.
pub(crate) fn find(path: &Path, elf: &Elf) -> Option<(PathBuf, Image)> {
    let build_id = elf.build_id().ok().flatten();
    if let Some(id) = build_id
        && let Some(found) = open_matching(&build_id_path(id)?, Some(id), None)
    {
        return Some(found);
    }
    let (name, crc) = elf.gnu_debuglink().ok().flatten()?;
    let name = Path::new(OsStr::from_bytes(name)).file_name()?;
    let folder = path.canonicalize().ok()?.parent()?.to_path_buf();
    let below_root = Path::new(ROOT).join(folder.strip_prefix("/").ok()?);
    [folder.join(name), folder.join(".debug").join(name), below_root.join(name)]
        .iter()
        .find_map(|candidate| open_matching(candidate, build_id, Some(crc)))
}

/// The file that `dwz` has moved common debug information to, named by `.gnu_debugaltlink`.
pub(crate) fn find_supplement(path: &Path, elf: &Elf) -> Option<(PathBuf, Image)> {
    let (name, id) = elf.gnu_debugaltlink().ok().flatten()?;
    let name = path.parent()?.join(OsStr::from_bytes(name));
    [Some(name), build_id_path(id)]
        .into_iter()
        .flatten()
        .find_map(|candidate| open_matching(&candidate, Some(id), None))
}

fn build_id_path(id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(Path::new(ROOT).join(format!(".build-id/{first:02x}/{rest}.debug")))
}

/// Opens a candidate and checks that it belongs to the file: by build id when both files have one,
/// otherwise by checksum. A file of an earlier build would give wrong lines, which is worse than
/// none.
fn open_matching(path: &Path, build_id: Option<&[u8]>, crc: Option<u32>) -> Option<(PathBuf, Image)> {
    let image = Image::open(path).ok()?;
    let elf = image.elf(path).ok()?;
    let belongs = match (elf.build_id().ok().flatten(), build_id, crc) {
        (Some(theirs), Some(ours), _) => theirs == ours,
        (_, _, Some(crc)) => crc32(image.bytes()) == crc,
        _ => false,
    };
    belongs.then(|| (path.to_path_buf(), image))
}

/// The checksum of `.gnu_debuglink`, that of zlib.
fn crc32(bytes: &[u8]) -> u32 {
    let table: [u32; 256] = std::array::from_fn(|byte| {
        (0..8).fold(byte as u32, |crc, _| if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 })
    });
    !bytes.iter().fold(!0, |crc, &byte| table[usize::from(crc as u8 ^ byte)] ^ (crc >> 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_is_that_of_zlib() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn build_ids_name_a_folder_and_a_file() {
        let path = build_id_path(&[0xab, 0x0c, 0xd0]).unwrap();
        assert_eq!(path, Path::new("/usr/lib/debug/.build-id/ab/0cd0.debug"));
        assert_eq!(build_id_path(&[]), None);
    }
}
