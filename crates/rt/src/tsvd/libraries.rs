//! The libraries that an instrumented copy has plans for. A loaded library is recognised by its
//! file name. Its first page, which has the headers and, as linkers lay files out, the build id,
//! shows that it is still the same file.

use super::plans::{Given, map_words, named};
use crate::hub::modules;
use crate::hub::session::{PathBuffer, map_file};
use raddle_wire::tsvd::{FIXED_LIBRARIES, FIXED_NAMES, FIXED_PLACES, FIXED_PLAN, PlannedLibrary};

/// Visits the plan of each library that is mapped now.
pub fn each(mut visit: impl FnMut(&Given)) {
    let Some((at, len)) = map_file(&named(FIXED_LIBRARIES), 0) else { return };
    // SAFETY: a mapping of that many bytes, which stays.
    let known = unsafe { core::slice::from_raw_parts(at as *const u8, len) };
    for (number, library) in
        (1..).zip(known.chunks_exact(PlannedLibrary::LEN).filter_map(PlannedLibrary::decode))
    {
        let mut found = None;
        modules::each_beginning(|start, path| {
            let name = path.rsplit(|b| *b == b'/').next();
            if found.is_none() && name == Some(library.name()) && is_the_same(&library, start) {
                found = Some(start);
            }
        });
        let Some(start) = found else { continue };
        let names = map_file(&numbered(FIXED_NAMES, number), 0);
        // SAFETY: a mapping of that many bytes, which stays.
        let names = names.map(|(at, len)| unsafe { core::slice::from_raw_parts(at as *const u8, len) });
        if let Some(words) = map_words(&numbered(FIXED_PLAN, number)) {
            let bias = start.wrapping_sub(library.address as usize);
            let places = map_words(&numbered(FIXED_PLACES, number)).unwrap_or(&[]);
            visit(&Given { words, bias, names: Some(names.unwrap_or(&[])), file: number as u32, places });
        }
    }
}

fn numbered(name: &str, number: u64) -> PathBuffer {
    let mut path = named(name);
    path.push(b".");
    path.number(number);
    path
}

fn is_the_same(library: &PlannedLibrary, start: usize) -> bool {
    // SAFETY: the first page of a mapping of a file, which `each_beginning` has checked to be
    // readable.
    let page = unsafe { core::slice::from_raw_parts(start as *const u8, PlannedLibrary::PAGE) };
    PlannedLibrary::identity(page) == library.identity
}
