//! Unpacks the runtime that this binary carries, once, and checks it each time it is used.
//!
//! ```text
//! <cache>/raddle/<content hash>/
//!   raddle_rt.o              linked into executables
//!   dynamic.list             what those executables export
//!   include/raddle/annotations.h
//!   include/string.h, bits/…  what gcc would expand without probes stays calls
//!   exe/libtsan.so           linker script for a link by hand: INPUT(raddle_rt.o)
//!   shared/libtsan.so, .a    empty linker scripts: what gcc's own -ltsan finds
//!   lib/libraddle_rt.so      for targets that cannot be relinked
//!   tsvd/libraddle_tsvd.so   for the targets of `raddle tsvd`
//!   tsvd/libraddle_tsvd_hb.so  the same for the policy tsvd-hb
//!   tsvd/libraddle_clr.so    the profiler that .NET processes load
//!   lib/libtsan.so.2         the same, for a binary built with plain gcc -fsanitize=thread
//!   compared                 the states that the files had when they were last compared
//! ```
//!
//! Guaranteed: the folder belongs to this user, nobody else can write to it, and every file in it
//! is byte for byte what this binary carries. So nobody can slip a runtime into another user's
//! program, and two versions of raddle do not disturb each other. The content is compared, not
//! hashed again: it is at hand, and comparing is cheaper. Files that have not changed since they
//! were compared are not read again ([`compared`]). One rename makes the unpacked folder appear, so
//! parallel builds see all of it or nothing.

pub mod cache;
mod compared;
mod prune;
pub mod results;

use crate::embedded;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The unpacked runtime.
#[derive(Clone, Debug)]
pub struct Runtime {
    dir: PathBuf,
}

/// One file of the layout: its place under the folder, and what it holds.
struct Item {
    path: &'static str,
    content: Content,
}

enum Content {
    Bytes(&'static [u8]),
    /// A linker script naming `raddle_rt.o` by its absolute path.
    ScriptForObject,
}

const NOTHING: &[u8] = b"/* raddle: empty on purpose; the runtime is linked by name */\n";

macro_rules! header {
    ($name:literal) => {
        Item {
            path: concat!("include/", $name),
            content: Content::Bytes(include_bytes!(concat!("../../include/", $name))),
        }
    };
}

const ITEMS: &[Item] = &[
    Item { path: "raddle_rt.o", content: Content::Bytes(embedded::RUNTIME_OBJECT) },
    Item { path: "dynamic.list", content: Content::Bytes(embedded::DYNAMIC_LIST.as_bytes()) },
    Item { path: "include/raddle/annotations.h", content: Content::Bytes(embedded::ANNOTATIONS_H) },
    header!("string.h"),
    header!("raddle/gcc_calls_begin.h"),
    header!("raddle/gcc_calls_end.h"),
    header!("bits/string_fortified.h"),
    header!("bits/strings_fortified.h"),
    header!("bits/stdio2.h"),
    header!("bits/char_traits.h"),
    header!("bits/stl_algobase.h"),
    header!("bits/stl_uninitialized.h"),
    header!("bits/ranges_algobase.h"),
    header!("bits/stl_bvector.h"),
    header!("bits/hashtable.h"),
    header!("bits/hashtable_policy.h"),
    header!("bits/valarray_array.h"),
    header!("bits/locale_facets.h"),
    header!("bits/fstream.tcc"),
    header!("bitset"),
    Item { path: "exe/libtsan.so", content: Content::ScriptForObject },
    Item { path: "shared/libtsan.so", content: Content::Bytes(NOTHING) },
    Item { path: "shared/libtsan.a", content: Content::Bytes(NOTHING) },
    Item { path: "lib/libraddle_rt.so", content: Content::Bytes(embedded::RUNTIME_SHARED) },
    Item { path: "tsvd/libraddle_tsvd.so", content: Content::Bytes(embedded::TSVD_SHARED) },
    Item { path: "tsvd/libraddle_tsvd_hb.so", content: Content::Bytes(embedded::TSVD_HB_SHARED) },
    Item { path: "tsvd/libraddle_clr.so", content: Content::Bytes(embedded::CLR_PROFILER) },
    Item { path: "lib/libtsan.so.2", content: Content::Bytes(embedded::RUNTIME_SHARED) },
];

impl Item {
    fn bytes(&self, dir: &Path) -> std::borrow::Cow<'static, [u8]> {
        match self.content {
            Content::Bytes(bytes) => bytes.into(),
            Content::ScriptForObject => {
                format!("INPUT(\"{}\")\n", dir.join("raddle_rt.o").display()).into_bytes().into()
            }
        }
    }
}

/// Whether a file has these bytes. A file is read in pieces and not into memory of its size.
fn has_bytes(path: &Path, expected: &[u8]) -> bool {
    let Ok(mut file) = File::open(path) else { return false };
    let mut buffer = vec![0; 64 << 10];
    let is_as_long = file.metadata().is_ok_and(|m| m.len() == expected.len() as u64);
    let is_next = |chunk: &[u8]| {
        let read = &mut buffer[..chunk.len()];
        file.read_exact(read).is_ok() && read == chunk
    };
    is_as_long && expected.chunks(64 << 10).all(is_next)
}

impl Runtime {
    /// The runtime; unpacks it first if necessary.
    pub fn open() -> Result<Runtime, cache::CacheError> {
        Self::open_in(&cache::root()?)
    }

    fn open_in(root: &Path) -> Result<Runtime, cache::CacheError> {
        let runtime = Runtime::at(root.join(content_hash()));
        if !runtime.is_intact() {
            runtime.unpack()?;
        }
        cache::check_private(&runtime.dir)?;
        prune::daily(root, &runtime.dir);
        Ok(runtime)
    }

    /// The runtime as it would be unpacked in `dir`, unchecked.
    pub fn at(dir: PathBuf) -> Runtime {
        Runtime { dir }
    }

    /// The prelinked object that executables are linked with.
    pub fn object(&self) -> PathBuf {
        self.dir.join("raddle_rt.o")
    }

    /// The folder to search for `raddle/annotations.h`, and before the C library's headers.
    pub fn include(&self) -> PathBuf {
        self.dir.join("include")
    }

    /// The folder whose libtsan is empty.
    pub fn empty_libtsan(&self) -> PathBuf {
        self.dir.join("shared")
    }

    /// The list of symbols that executables export.
    pub fn dynamic_list(&self) -> PathBuf {
        self.dir.join("dynamic.list")
    }

    /// The runtime as a shared library.
    pub fn shared_library(&self) -> PathBuf {
        self.dir.join("lib/libraddle_rt.so")
    }

    /// The runtime for `raddle tsvd`. `sees_synchronisation`: for a policy that observes
    /// synchronisation.
    pub fn tsvd_library(&self, sees_synchronisation: bool) -> PathBuf {
        self.dir.join(if sees_synchronisation {
            "tsvd/libraddle_tsvd_hb.so"
        } else {
            "tsvd/libraddle_tsvd.so"
        })
    }

    /// What .NET processes load.
    pub fn clr_profiler(&self) -> PathBuf {
        self.dir.join("tsvd/libraddle_clr.so")
    }

    /// Where all of it is.
    pub fn folder(&self) -> &Path {
        &self.dir
    }

    /// The folder that stands in for gcc's libtsan in the library path.
    pub fn library_folder(&self) -> PathBuf {
        self.dir.join("lib")
    }

    fn is_intact(&self) -> bool {
        let states = compared::FileStates::of(&self.dir, ITEMS.iter().map(|item| item.path));
        let Some(states) = states else { return false };
        if states.are_noted(&self.dir) {
            return true;
        }
        let same = |item: &Item| has_bytes(&self.dir.join(item.path), &item.bytes(&self.dir));
        let is_intact = ITEMS.iter().all(same);
        if is_intact {
            states.note(&self.dir, compared::SETTLED);
        }
        is_intact
    }

    /// Writes all files into a new folder beside `dir`, then renames it into place.
    fn unpack(&self) -> Result<(), cache::CacheError> {
        let failed = |source| cache::CacheError::Unpack { path: self.dir.clone(), source };
        let root = self.dir.parent().unwrap_or(Path::new("/"));
        // One process at a time: a parallel build must not take another's fresh folder for a
        // damaged one. Closing the file releases the lock.
        let lock = File::create(root.join("unpack.lock")).map_err(failed)?;
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).map_err(|e| failed(e.into()))?;
        if self.is_intact() {
            return Ok(());
        }
        let staging = cache::staging("unpack-", root).map_err(failed)?;
        for item in ITEMS {
            let path = staging.path().join(item.path);
            let folder = path.parent().unwrap_or(root);
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
            // The content names the final path, not the staging path.
            std::fs::write(&path, item.bytes(&self.dir)).map_err(failed)?;
        }
        if self.dir.exists() {
            // An existing folder is damaged. It is moved aside whole rather than emptied in place,
            // since another raddle may be reading it.
            let old = cache::staging("old-", root).map_err(failed)?;
            let _ = std::fs::rename(&self.dir, old.path().join("runtime"));
        }
        match std::fs::rename(staging.path(), &self.dir) {
            Ok(()) => {
                let _ = staging.keep();
                Ok(())
            }
            // Another process was faster, with the same content.
            Err(_) if self.is_intact() => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }
}

/// The name of the folder: a hash over every path and content in it. The build computed the digest
/// of what it made; hashing that again would take longer than many watched programs run.
pub fn content_hash() -> &'static str {
    static HASH: LazyLock<String> = LazyLock::new(|| {
        let mut hash = Sha256::new_with_prefix(embedded::DIGEST);
        for item in ITEMS {
            hash.update((item.path.len() as u64).to_le_bytes());
            hash.update(item.path);
            hash.update((item.bytes(Path::new("")).len() as u64).to_le_bytes());
        }
        hash.update(NOTHING);
        cache::hex(&hash.finalize()[..16])
    });
    &HASH
}

/// Whether a file or folder is owned by this user and writable by nobody else.
fn is_private(meta: &std::fs::Metadata) -> bool {
    meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o022 == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn root() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn unpacks_everything_privately() {
        let root = root();
        let runtime = Runtime::open_in(root.path()).unwrap();
        for item in ITEMS {
            assert!(runtime.dir.join(item.path).is_file(), "{}", item.path);
        }
        assert_eq!(std::fs::metadata(&runtime.dir).unwrap().mode() & 0o777, 0o700);
        let script = std::fs::read_to_string(runtime.dir.join("exe/libtsan.so")).unwrap();
        assert_eq!(script, format!("INPUT(\"{}\")\n", runtime.object().display()));
        let entries = std::fs::read_dir(root.path()).unwrap().flatten();
        let left: Vec<_> = entries.map(|e| e.path()).filter(|p| p.is_dir()).collect();
        assert_eq!(left.len(), 1, "no staging folder is left: {left:?}");
    }

    #[test]
    fn repairs_what_was_changed() {
        let root = root();
        let runtime = Runtime::open_in(root.path()).unwrap();
        let header = runtime.include().join("raddle/annotations.h");
        std::fs::write(&header, "#error somebody was here").unwrap();
        std::fs::remove_file(runtime.dynamic_list()).unwrap();
        let again = Runtime::open_in(root.path()).unwrap();
        assert!(again.is_intact());
        assert_eq!(std::fs::read(&header).unwrap(), embedded::ANNOTATIONS_H);
    }

    #[test]
    fn every_byte_counts() {
        let folder = root();
        let path = folder.path().join("file");
        let expected = vec![7; 200_000];
        let is_same = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            has_bytes(&path, &expected)
        };
        assert!(is_same(&expected));
        assert!(!is_same(&[&expected[..], &[7]].concat()) && !is_same(&expected[1..]) && !is_same(&[]));
        for at in [0, 65_535, 65_536, 199_999] {
            let mut other = expected.clone();
            other[at] = 8;
            assert!(!is_same(&other), "byte {at}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(!has_bytes(&path, &expected));
    }

    #[test]
    fn a_link_to_elsewhere_does_not_count_as_content() {
        let root = root();
        let runtime = Runtime::open_in(root.path()).unwrap();
        let aside = root.path().join("aside");
        std::fs::rename(runtime.object(), &aside).unwrap();
        std::os::unix::fs::symlink(&aside, runtime.object()).unwrap();
        assert!(!runtime.is_intact());
    }

    #[test]
    fn refuses_a_folder_others_can_write() {
        let root = root();
        let runtime = Runtime::open_in(root.path()).unwrap();
        std::fs::set_permissions(&runtime.dir, PermissionsExt::from_mode(0o777)).unwrap();
        let refused = Runtime::open_in(root.path());
        assert!(matches!(refused, Err(cache::CacheError::NotPrivate { .. })), "{refused:?}");
    }

    #[test]
    fn many_at_once_agree() {
        let root = root();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert!(Runtime::open_in(root.path()).unwrap().is_intact()));
            }
        });
    }

    #[test]
    fn the_hash_names_the_content() {
        assert_eq!(content_hash().len(), 32);
        assert!(content_hash().bytes().all(|b| b.is_ascii_hexdigit()));
    }
}
