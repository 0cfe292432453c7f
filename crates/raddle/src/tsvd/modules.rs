//! The files that processes have mapped. Each file is opened once and each question is answered
//! once: a test suite may start thousands of processes that map the same files.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use raddle_binary::{Module, Movable};
use raddle_wire::tsvd::name_hash;

use super::sites::Version;

/// A file in a process, and its load bias.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub version: Version,
    pub bias: u64,
}

/// A function that is called through pointers, as a file defines it.
#[derive(Debug, Clone)]
pub enum PointedFunction {
    At(Movable),
    /// Its first instructions cannot be moved.
    Fixed,
}

#[derive(Default)]
pub struct Modules(HashMap<Version, Option<IndexedModule>>);

struct IndexedModule {
    module: Module,
    functions: HashMap<String, Option<u64>>,
    variables: HashMap<String, Option<u64>>,
    entries: HashMap<String, Vec<PointedFunction>>,
    /// Its exports, by [`name_hash`].
    exported: Option<HashMap<u64, String>>,
}

impl Modules {
    /// The file of a mapping. `None`: it is not an ELF file.
    pub fn load(&mut self, mapped: &MappedFile) -> Option<Loaded> {
        let version = version(&mapped.path)?;
        let known = self.0.entry(version.clone()).or_insert_with(|| {
            let module = Module::open(&version.0).ok()?;
            let (functions, variables, entries, exported) = Default::default();
            Some(IndexedModule { module, functions, variables, entries, exported })
        });
        let bias = known.as_ref()?.module.load_bias(mapped.start, mapped.offset)?;
        Some(Loaded { version, bias })
    }

    fn known(&mut self, loaded: &Loaded) -> Option<&mut IndexedModule> {
        self.0.get_mut(&loaded.version)?.as_mut()
    }

    /// The address of a function in a process; 0: no file defines it.
    pub fn function(&mut self, name: &str, all: &[Loaded]) -> u64 {
        self.address(name, all, |k| &mut k.functions, Module::function_address).unwrap_or(0)
    }

    /// The executable comes first, since it may have its own copy.
    pub fn variable(&mut self, name: &str, all: &[Loaded]) -> Option<u64> {
        self.address(name, all, |k| &mut k.variables, Module::variable_address)
    }

    fn address(
        &mut self,
        name: &str,
        all: &[Loaded],
        kept: impl Fn(&mut IndexedModule) -> &mut HashMap<String, Option<u64>>,
        find: impl Fn(&Module, &str) -> Option<u64>,
    ) -> Option<u64> {
        all.iter().find_map(|loaded| {
            let known = self.known(loaded)?;
            let found = match kept(known).get(name) {
                Some(found) => *found,
                None => {
                    let found = find(&known.module, name);
                    kept(known).insert(name.to_string(), found);
                    found
                }
            };
            Some(found?.wrapping_add(loaded.bias))
        })
    }

    /// The raw name of an exported function, by its hash.
    pub fn exported(&mut self, loaded: &Loaded, hash: u64) -> Option<String> {
        let IndexedModule { module, exported, .. } = self.known(loaded)?;
        let hashed = |name: &str| (name_hash(name.as_bytes()), name.to_string());
        exported.get_or_insert_with(|| module.exported_functions().map(hashed).collect()).get(&hash).cloned()
    }

    /// Where a file's code is in a process.
    pub fn code(&mut self, loaded: &Loaded) -> Vec<std::ops::Range<u64>> {
        let Some(known) = self.known(loaded) else { return Vec::new() };
        let ranges = known.module.executable_ranges().into_iter();
        ranges.map(|r| r.start.wrapping_add(loaded.bias)..r.end.wrapping_add(loaded.bias)).collect()
    }

    /// The entries of functions, by raw name, as far as a file defines them. `local`: also those
    /// that it does not export.
    pub fn entries(
        &mut self,
        loaded: &Loaded,
        names: &BTreeMap<String, usize>,
        local: impl Fn(&str) -> bool,
    ) -> Vec<(String, PointedFunction)> {
        let Some(known) = self.known(loaded) else { return Vec::new() };
        let new: Vec<&str> =
            names.keys().map(String::as_str).filter(|n| !known.entries.contains_key(*n)).collect();
        let found: Vec<Vec<u64>> = known.module.definitions(&new, local);
        let movable = known.module.movable(&found.concat());
        let mut movable = movable.into_iter().map(|m| m.map_or(PointedFunction::Fixed, PointedFunction::At));
        for (name, found) in new.into_iter().zip(&found) {
            known.entries.insert(name.to_string(), movable.by_ref().take(found.len()).collect());
        }
        let of = |name: &String| {
            let entries = known.entries.get(name).into_iter().flatten();
            entries.map(|e| (name.clone(), e.clone())).collect::<Vec<_>>()
        };
        names.keys().flat_map(of).collect()
    }
}

fn version(path: &Path) -> Option<Version> {
    let meta = std::fs::metadata(path).ok()?;
    Some((path.to_path_buf(), meta.ino(), meta.mtime_nsec() + meta.mtime() * 1_000_000_000))
}

/// A mapping of a file in a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedFile {
    pub path: PathBuf,
    pub start: u64,
    pub end: u64,
    pub offset: u64,
    runs: bool,
}

impl MappedFile {
    /// Parses a line of `/proc/PID/maps`. `None`: it maps no file.
    fn parse(line: &str) -> Option<MappedFile> {
        let path = PathBuf::from(&line[line.find('/')?..]);
        let mut fields = line.split(' ');
        let (range, perms, offset) = (fields.next()?, fields.next()?, fields.next()?);
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let (start, end) = range.split_once('-')?;
        let (start, end, offset) = (hex(start)?, hex(end)?, hex(offset)?);
        Some(MappedFile { path, start, end, offset, runs: perms.contains('x') })
    }
}

fn mappings(pid: u32) -> Vec<MappedFile> {
    let maps = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    String::from_utf8_lossy(&maps).lines().filter_map(MappedFile::parse).collect()
}

/// The files that a process has mapped as executable, each by the mapping of its first page.
pub fn mapped_files(pid: u32) -> Vec<MappedFile> {
    loaded(mappings(pid), |m| m.runs)
}

/// The file that contains an address, by the mapping of its first page. Segments may share a page
/// of the file, so the other mappings do not tell the load bias.
pub fn mapped_at(pid: u32, address: u64) -> Option<MappedFile> {
    loaded(mappings(pid), |m| (m.start..m.end).contains(&address)).pop()
}

/// The first mappings of the files with a wanted mapping, each file once. A program may map its own
/// file once more, to read its symbols: the right one is the last first mapping before the wanted
/// mapping.
fn loaded(mappings: Vec<MappedFile>, wanted: impl Fn(&MappedFile) -> bool) -> Vec<MappedFile> {
    let mut beginnings: HashMap<PathBuf, MappedFile> = HashMap::new();
    let mut found: Vec<MappedFile> = Vec::new();
    let mut end = 0;
    for mapping in mappings {
        // The code of a small file may be in its first page as well.
        let goes_on = mapping.runs && mapping.start == end;
        end = mapping.end;
        if mapping.offset == 0 && !goes_on || !beginnings.contains_key(&mapping.path) {
            beginnings.insert(mapping.path.clone(), mapping.clone());
        }
        if wanted(&mapping) && found.iter().all(|f| f.path != mapping.path) {
            found.extend(beginnings.get(&mapping.path).cloned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_of_files_are_read_and_others_are_not() {
        let line = "7f00-7f10 r-xp 00002000 08:01 42                 /opt/my lib.so";
        let path = "/opt/my lib.so".into();
        let expected = MappedFile { path, start: 0x7f00, end: 0x7f10, offset: 0x2000, runs: true };
        assert_eq!(MappedFile::parse(line), Some(expected));
        assert_eq!(MappedFile::parse("7f00-7f10 rw-p 00000000 00:00 0  [heap]"), None);
        assert_eq!(MappedFile::parse("7f00 r-xp 0 /x"), None);
    }

    #[test]
    fn a_file_that_is_also_mapped_to_be_read_is_known_where_it_runs() {
        let text = "10000-20000 r--p 00000000 08:01 42 /a\n30000-31000 r--p 00000000 08:01 42 /a\n\
                    31000-32000 r-xp 00000000 08:01 42 /a\n32000-33000 rw-p 00001000 08:01 42 /a\n\
                    40000-41000 r--p 00000000 08:01 43 /b\n";
        let all: Vec<MappedFile> = text.lines().filter_map(MappedFile::parse).collect();
        let starts = |found: Vec<MappedFile>| found.iter().map(|f| f.start).collect::<Vec<_>>();
        assert_eq!(starts(loaded(all.clone(), |m| m.runs)), [0x30000]);
        assert_eq!(starts(loaded(all.clone(), |m| m.start == 0x32000)), [0x30000]);
        assert_eq!(starts(loaded(all.clone(), |m| m.start == 0x10000)), [0x10000]);
        assert_eq!(starts(loaded(all, |m| m.start == 0x40000)), [0x40000]);
    }

    #[test]
    fn this_process_is_known() {
        let me = std::process::id();
        let files = mapped_files(me);
        let own = std::env::current_exe().unwrap();
        assert!(files.iter().any(|f| f.path == own));
        let code = this_process_is_known as *const () as u64;
        assert_eq!(mapped_at(me, code).unwrap().path, own);
        let mut modules = Modules::default();
        let all: Vec<Loaded> = files.iter().filter_map(|f| modules.load(f)).collect();
        let name = "strtok";
        assert_eq!(modules.function(name, &all), libc::strtok as *const () as u64);
        assert_eq!(modules.function("no_such_function", &all), 0);
    }
}
