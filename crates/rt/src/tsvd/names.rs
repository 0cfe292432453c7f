//! Functions that the program looks up by name, with `dlsym` and its like. From then on, all listed
//! functions of that name are watched at their entries, whatever the look-up finds. The program
//! gets a plain pointer, and the look-up itself, which depends on its caller, remains the program's
//! own call.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicU64, Ordering::*};

use super::redirect;
use raddle_wire::tsvd::name_hash;

const SLOTS: usize = 1 << 12;
/// How far from its position a hash is searched.
const FARTHEST: usize = 16;

/// Hashes of names that were asked about.
static SEEN: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];

/// The program is about to look for a function of this name.
#[cold]
pub fn look_up(name: *const c_char) {
    super::loading::look_if_pending();
    // Entries change only while nobody else runs. Otherwise asking is useless, and the name may be
    // asked about later.
    if name.is_null() || !redirect::is_alone() {
        return;
    }
    // SAFETY: the program passes it to a function that wants a string.
    let hash = name_hash(unsafe { CStr::from_ptr(name) }.to_bytes());
    if is_new(hash) {
        redirect::for_name(hash);
    }
}

/// A hash that finds no room counts as new each time: that only costs time.
fn is_new(hash: u64) -> bool {
    let place = (hash >> 40) as usize;
    for i in (0..FARTHEST).map(|step| (place + step) % SLOTS) {
        match SEEN[i].compare_exchange(0, hash, Relaxed, Relaxed) {
            Ok(_) => return true,
            Err(found) if found == hash => return false,
            Err(_) => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_new_once() {
        let hash = name_hash(b"strtok");
        assert!(is_new(hash));
        assert!(!is_new(hash));
        // Others with the same place, until there is no room.
        assert!((1..100).all(|n| is_new(hash + n)));
        assert!(!is_new(hash) && !is_new(hash + 1));
    }
}
