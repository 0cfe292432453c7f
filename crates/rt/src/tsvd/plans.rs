//! Where plans come from. The driver reads the files and answers questions. An instrumented copy of
//! a program, which runs without a driver, has a plan in the folder beside it.

use core::ffi::c_char;
use core::sync::atomic::{AtomicU32, Ordering::*};

use super::{ITSELF, copies, libraries};
use crate::hub::init;
use crate::hub::session::{PathBuffer, dir, has_driver, map_file};
use crate::sys;
use raddle_wire::tsvd::{
    About, EntryCall, FIXED_NAMES, FIXED_OWN, FIXED_PLACES, FIXED_PLAN, Question, RedirectSite, TsvdPlan,
};

/// How long the driver may take: the first time, it disassembles what is mapped.
const PATIENCE_US: i64 = 120_000_000;

/// A plan, and how to interpret its addresses.
pub struct Given {
    pub words: &'static [u64],
    /// What is added to the addresses of sites.
    pub bias: usize,
    /// Names for functions and objects; None: they are addresses already.
    pub names: Option<&'static [u8]>,
    /// For an instrumented copy: which of its files, and where calls through pointers count there.
    pub file: u32,
    pub places: &'static [u64],
}

impl Given {
    /// A plan from the driver, for this process.
    fn asked(words: &'static [u64]) -> Given {
        Given { words, bias: 0, names: None, file: 0, places: &[] }
    }

    /// True for a plan of an instrumented copy.
    pub fn is_fixed(&self) -> bool {
        self.names.is_some()
    }

    /// A site with its address in this process.
    pub fn placed(&self, site: RedirectSite) -> RedirectSite {
        let address = site.address.wrapping_add(self.bias as u64);
        RedirectSite { address, via: self.address(site.via), safe_if: self.address(site.safe_if), ..site }
    }

    /// The address of a function or object; 0 stays 0.
    pub fn address(&self, number: u64) -> u64 {
        let Some(names) = self.names.filter(|_| number != 0) else { return number };
        if number & FIXED_OWN != 0 {
            return (number & !FIXED_OWN).wrapping_add(self.bias as u64);
        }
        let mut names = names.split_inclusive(|b| *b == 0);
        let Some(name) = names.nth(number as usize - 1).filter(|n| n.ends_with(&[0])) else { return 0 };
        // SAFETY: a look-up by name, which ends in zero.
        unsafe { sys::dlsym(libc::RTLD_DEFAULT, name.as_ptr().cast::<c_char>()) as u64 }
    }
}

static QUESTIONS: AtomicU32 = AtomicU32::new(0);

/// Visits the plans for what is mapped now.
pub fn each(mut visit: impl FnMut(&Given)) {
    let number = QUESTIONS.fetch_add(1, Relaxed);
    if !ITSELF.load(Relaxed) {
        if let Some(words) = ask(number, About::Mapped) {
            visit(&Given::asked(words));
        }
        return;
    }
    // The program itself does not change; its libraries may be loaded later.
    if number == 0
        && let Some(program) = of_program()
    {
        visit(&program);
    }
    libraries::each(visit);
}

fn of_program() -> Option<Given> {
    let names = map_file(&named(FIXED_NAMES), 0);
    // SAFETY: a mapping of that many bytes, which stays.
    let names = names.map(|(at, len)| unsafe { core::slice::from_raw_parts(at as *const u8, len) });
    Some(Given {
        words: map_words(&named(FIXED_PLAN))?,
        bias: init::bias(),
        names: Some(names.unwrap_or(&[])),
        file: 0,
        places: map_words(&named(FIXED_PLACES)).unwrap_or(&[]),
    })
}

pub fn named(name: &str) -> PathBuffer {
    let mut path = PathBuffer::new(dir());
    path.push(name.as_bytes());
    path
}

pub fn map_words(path: &PathBuffer) -> Option<&'static [u64]> {
    let (at, len) = map_file(path, 0)?;
    // SAFETY: a mapping of that many bytes, page-aligned, which stays.
    Some(unsafe { core::slice::from_raw_parts(at as *const u64, len / 8) })
}

/// The site of a call that arrived at a function's entry. None if it is no point, or if there is
/// nobody to ask.
pub fn ask_about(caller: EntryCall) -> Option<u32> {
    if ITSELF.load(Relaxed) {
        return copies::site(caller);
    }
    let plan = TsvdPlan::decode(ask(QUESTIONS.fetch_add(1, Relaxed), About::Call(caller))?)?;
    plan.pairs().for_each(super::state::seed);
    plan.sites().next().map(|site| site.id)
}

/// The functions to watch now that one with this name is looked up.
pub fn of_name(hash: u64) -> Option<Given> {
    if ITSELF.load(Relaxed) {
        return None;
    }
    let words = ask(QUESTIONS.fetch_add(1, Relaxed), About::Name(hash))?;
    Some(Given::asked(words))
}

/// Asks the driver and waits for its answer.
fn ask(number: u32, about: About) -> Option<&'static [u64]> {
    let fd =
        sys::open(named(raddle_wire::ASK).as_ptr(), libc::O_WRONLY | libc::O_NONBLOCK | libc::O_CLOEXEC, 0);
    if fd < 0 {
        return None;
    }
    sys::write(fd, &Question { pid: sys::pid(), number, about }.encode());
    sys::close(fd);
    let mut path = named(raddle_wire::PLAN);
    path.number(u64::from(sys::pid()));
    path.push(b".");
    path.number(u64::from(number));
    let mut waited = 0;
    while waited < PATIENCE_US {
        if let Some(words) = map_words(&path) {
            // A program that this one becomes by `exec` has the same process id and asks again from
            // zero.
            sys::unlink(path.as_ptr());
            return Some(words);
        }
        if !has_driver() {
            break;
        }
        // A driver that has seen all files answers at once.
        let nap = match waited {
            ..2_000 => 100,
            2_000..100_000 => 1_000,
            _ => 10_000,
        };
        sys::sleep_us(nap);
        waited += nap;
    }
    None
}
