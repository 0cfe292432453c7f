//! Points call sites at stubs, when the process starts and whenever a library has been loaded. A
//! plan has the sites of everything that is mapped. A site that was redirected before no longer has
//! the bytes of its file, and is left alone.

use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering::*};

use super::plans::{self, Given};
use super::stub::Area;
use super::{callers, copies, hook, near};
use crate::hub::{log, modules};
use crate::sys::{self, Shared, Spin};
use raddle_wire::tsvd::{ObjectOperand, RedirectSite, TsvdPlan, site_flag};

/// A redirected site, in the form that its calls need.
#[repr(C, align(64))]
pub struct RedirectedSite {
    /// The function, or the slot that holds its address.
    pub target: usize,
    /// The address after the instruction.
    pub behind: usize,
    pub via: usize,
    pub safe_if: usize,
    /// Mixed with an object's address, since objects of different classes may have the same one.
    pub mix: u64,
    pub id: u32,
    pub field: i32,
    /// 1 if the object ends with the call.
    pub ends: u32,
    /// 1 if its stub lets calls pass: see [`near`].
    pub near: u32,
    /// The number of the argument, or [`LIBRARY`].
    pub object: u8,
    pub flags: u8,
}

/// [`RedirectedSite::object`] of a class whose state belongs to the library.
pub const LIBRARY: u8 = 0xff;

const MOST: usize = 1 << 20;
pub static ENTRIES: AtomicPtr<RedirectedSite> = AtomicPtr::new(core::ptr::null_mut());
static COUNT: AtomicU32 = AtomicU32::new(0);

/// The entry that a stub names.
#[inline(always)]
pub fn entry(number: u64) -> &'static RedirectedSite {
    // SAFETY: stubs carry numbers of entries that were written before the stub; entries are never
    // freed.
    unsafe { &*ENTRIES.load(Relaxed).add(number as usize) }
}

static EXEMPT: AtomicPtr<u64> = AtomicPtr::new(core::ptr::null_mut());
static EXEMPT_COUNT: AtomicU32 = AtomicU32::new(0);

fn set_exempt(plan: TsvdPlan, given: &Given) {
    let n = plan.exempt.len();
    let objects = sys::ARENA.take(n * 8 + 8).cast::<u64>();
    for (i, object) in plan.exempt.iter().enumerate() {
        // SAFETY: fresh memory of that many words.
        unsafe { *objects.add(i) = given.address(*object) };
    }
    // A reader that sees the old count with the new objects sees some of them, never others.
    EXEMPT.store(objects, Relaxed);
    EXEMPT_COUNT.store(n as u32, Release);
}

/// True if an object may be shared whatever its class says.
#[inline]
pub fn is_exempt(object: u64) -> bool {
    let n = EXEMPT_COUNT.load(Acquire) as usize;
    // SAFETY: that many words or more, which are never freed.
    n > 0 && unsafe { core::slice::from_raw_parts(EXEMPT.load(Relaxed), n) }.contains(&object)
}

static LOCK: Spin = Spin::new();
/// In the child of a fork: the holder is gone.
pub fn reset_after_fork() {
    LOCK.reset();
}

/// Redirects all sites of what is mapped now.
pub fn all() {
    let _guard = LOCK.lock();
    plans::each(follow);
}

/// Watches the functions of this name.
pub fn for_name(hash: u64) {
    let _guard = LOCK.lock();
    if let Some(given) = plans::of_name(hash) {
        follow(&given);
    }
}

/// Redirects what a plan names.
fn follow(given: &Given) {
    let Some(plan) = TsvdPlan::decode(given.words) else { return };
    if ENTRIES.load(Relaxed).is_null() {
        ENTRIES.store(sys::pages(MOST * size_of::<RedirectedSite>()).cast(), Release);
    }
    // The plan of a library has none: the program's apply to all.
    if !plan.exempt.is_empty() {
        set_exempt(plan, given);
    }
    for pair in plan.pairs() {
        super::state::seed(pair);
    }
    callers::set_watched(plan, given.is_fixed().then_some(given.bias as u64));
    if given.is_fixed() {
        copies::add(plan, given);
    }
    if plan.has_sites() || plan.has_hooks() {
        log::mark_instrumented();
        modules::refresh();
        patch(plan, given);
    }
}

const MOST_MAPPINGS: usize = 1024;

/// The mappings of code that may be patched: private, readable, executable, of a file.
struct Code {
    ranges: [(usize, usize); MOST_MAPPINGS],
    n: usize,
}

static CODE: Shared<Code> = Shared::new(Code { ranges: [(0, 0); MOST_MAPPINGS], n: 0 });

fn patch(plan: TsvdPlan, given: &Given) {
    // SAFETY: used under LOCK only.
    let code = unsafe { &mut *CODE.get() };
    code.n = 0;
    modules::each_line(|line| {
        if let Some((range, b"r-xp")) = modules::parse_line(line)
            && code.n < MOST_MAPPINGS
        {
            code.ranges[code.n] = range;
            code.n += 1;
        }
    });
    let alone = is_alone();
    for &(start, end) in &code.ranges[..code.n] {
        // The last ones could reach past the end.
        let (first, last) = (start.wrapping_sub(given.bias), (end - 16).wrapping_sub(given.bias));
        if first < last {
            let inside = plan.within(first as u64..last as u64);
            patch_mapping((start, end), inside.sites().map(|site| given.placed(site)), alone);
            if alone {
                let hooks = plan.hooks_within(first as u64..last as u64);
                if given.is_fixed() {
                    hook::patch_mapping((start, end), hooks.map(|hook| copies::placed(given, hook)));
                } else {
                    hook::patch_mapping((start, end), hooks);
                }
            }
        }
    }
}

/// First writes all stubs, then the code: a thread may run through it at any moment.
fn patch_mapping(
    (start, end): (usize, usize),
    sites: impl Iterator<Item = RedirectSite> + Clone,
    alone: bool,
) {
    let fits = |s: &RedirectSite| is_as_read(s) && (alone || is_in_one_line(s));
    let count = sites.clone().filter(fits).count();
    let first = COUNT.load(Relaxed);
    if count == 0 || first as usize + count > MOST {
        return;
    }
    let Some(mut area) = Area::near(start, count) else { return };
    if !area.reaches(end) {
        return;
    }
    for (i, site) in sites.clone().filter(fits).enumerate() {
        let number = first + i as u32;
        // SAFETY: below MOST, and no stub carries this number yet.
        let entry = unsafe {
            let at = ENTRIES.load(Relaxed).add(number as usize);
            at.write(new_entry(&site));
            &*at
        };
        area.add(number, entry);
    }
    area.close();
    COUNT.store(first + count as u32, Release);
    let (read, write) =
        (libc::PROT_READ | libc::PROT_EXEC, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC);
    if !sys::protect(start, end - start, write) {
        return;
    }
    for (i, site) in sites.filter(fits).enumerate() {
        let behind = site.address as usize + site.len as usize;
        let stub = area.stub(i);
        let to = if site.is(site_flag::SLOT) { Area::slot(stub) } else { stub };
        store_operand(behind - 4, (to as i64 - behind as i64) as i32);
    }
    sys::protect(start, end - start, read);
}

/// True if the instruction in memory is the one in the file, and has a four-byte operand.
fn is_as_read(site: &RedirectSite) -> bool {
    let len = site.len as usize;
    if !(5..=8).contains(&len) {
        return false;
    }
    // SAFETY: `patch` has checked that these bytes are mapped and readable.
    let found = unsafe { core::slice::from_raw_parts(site.address as *const u8, len) };
    found == &site.bytes.to_le_bytes()[..len]
}

/// True if the operand lies in one cache line: then a running thread sees a store to it at once.
fn is_in_one_line(site: &RedirectSite) -> bool {
    let behind = site.address as usize + site.len as usize;
    (behind - 4) / 64 == (behind - 1) / 64
}

fn store_operand(at: usize, value: i32) {
    // SAFETY: the operand of an instruction in memory that was made writable. It is one store, so
    // it is never half done within a cache line.
    unsafe {
        core::arch::asm!("mov dword ptr [{at}], {value:e}", at = in(reg) at, value = in(reg) value, options(nostack))
    }
}

fn new_entry(site: &RedirectSite) -> RedirectedSite {
    let behind = site.address as usize + site.len as usize;
    // SAFETY: the operand is mapped, as above; it need not be aligned.
    let operand = unsafe { core::ptr::read_unaligned((behind - 4) as *const i32) };
    let entry = entry_to(site, behind.wrapping_add_signed(operand as isize));
    RedirectedSite { near: u32::from(near::is_for(&entry)), ..entry }
}

/// The entry of a function whose first instructions have moved to `target`.
pub fn hook_entry(site: &RedirectSite, target: usize) -> RedirectedSite {
    let entry = entry_to(site, target);
    RedirectedSite { flags: entry.flags & !site_flag::SLOT | site_flag::HOOK, ..entry }
}

/// Adds one more entry, under the lock. None if there is no room.
pub fn add(entry: RedirectedSite) -> Option<u32> {
    let number = COUNT.load(Relaxed);
    if number as usize >= MOST {
        return None;
    }
    // SAFETY: below MOST, and no stub carries this number yet.
    unsafe { ENTRIES.load(Relaxed).add(number as usize).write(entry) };
    COUNT.store(number + 1, Release);
    Some(number)
}

fn entry_to(site: &RedirectSite, target: usize) -> RedirectedSite {
    RedirectedSite {
        target,
        behind: site.address as usize + site.len as usize,
        via: site.via as usize,
        safe_if: site.safe_if as usize,
        mix: u64::from(site.class + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) << 1,
        id: site.id,
        field: site.field.map_or(-1, i32::from),
        ends: u32::from(site.is(site_flag::ENDS)),
        near: 0,
        object: match site.object {
            ObjectOperand::Argument(n) => n,
            ObjectOperand::Library => LIBRARY,
        },
        flags: site.flags,
    }
}

/// True if no other thread can be running: the directory of threads has one entry.
pub fn is_alone() -> bool {
    let mut stat = [0u64; 18];
    let path = c"/proc/self/task".as_ptr() as usize;
    let done = sys::syscall(libc::SYS_stat, [path, stat.as_mut_ptr() as usize, 0, 0, 0, 0]) == 0;
    done && stat[2] == 3
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// An entry without a site, with these flags.
    pub fn entry(flags: u8) -> RedirectedSite {
        entry_to(&RedirectSite { flags, ..site(0, 0, 5) }, 0)
    }

    fn site(address: u64, bytes: u64, len: u8) -> RedirectSite {
        let object = ObjectOperand::Argument(0);
        RedirectSite {
            address,
            bytes,
            len,
            flags: 0,
            object,
            class: 1,
            id: 7,
            field: None,
            via: 0,
            safe_if: 0,
        }
    }

    /// `call .+5+0x10`, and something after it.
    static CODE: [u8; 8] = [0xe8, 0x10, 0, 0, 0, 0x90, 0x90, 0x90];

    #[test]
    fn only_what_is_as_the_driver_read_it_is_redirected() {
        let at = CODE.as_ptr() as u64;
        let word = u64::from_le_bytes(CODE) & 0xff_ffff_ffff;
        assert!(is_as_read(&site(at, word, 5)));
        assert!(!is_as_read(&site(at, word ^ 1 << 8, 5)), "another operand: redirected already");
        assert!(!is_as_read(&site(at, word ^ 1, 5)), "another instruction");
        assert!(!is_as_read(&site(at, word, 4)) && !is_as_read(&site(at, word, 9)), "no such call");
    }

    #[test]
    fn an_entry_knows_where_the_call_went() {
        let at = CODE.as_ptr() as usize;
        let entry = new_entry(&site(at as u64, 0, 5));
        assert_eq!((entry.behind, entry.target), (at + 5, at + 5 + 0x10));
        assert_eq!((entry.object, entry.field, entry.id), (0, -1, 7));
        let library =
            RedirectSite { object: ObjectOperand::Library, field: Some(64), ..site(at as u64, 0, 5) };
        assert_eq!((new_entry(&library).object, new_entry(&library).field), (LIBRARY, 64));
    }

    #[test]
    fn an_operand_that_lies_in_two_cache_lines_is_told_apart() {
        assert!(is_in_one_line(&site(0x1000, 0, 5)));
        assert!(is_in_one_line(&site(0x103b, 0, 5)), "its last byte is the last of the line");
        assert!(!is_in_one_line(&site(0x103c, 0, 5)));
        assert!(!is_in_one_line(&site(0x103e, 0, 5)));
        assert!(is_in_one_line(&site(0x103f, 0, 5)), "only the opcode is in the line before");
    }

    #[test]
    fn a_store_changes_the_operand_alone() {
        let mut code = CODE;
        store_operand(code.as_mut_ptr() as usize + 1, -2);
        assert_eq!(code, [0xe8, 0xfe, 0xff, 0xff, 0xff, 0x90, 0x90, 0x90]);
    }
}
