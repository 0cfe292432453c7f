//! Atomic operations of 8 to 128 bits.
//!
//! The operation itself is always sequentially consistent; the memory order that the program asked
//! for decides what the detector learns. An operation that the plan marks as part of a library's
//! lock (Rust's `Mutex`) counts as a lock operation. Hybrid mode needs locks, and a reader-writer
//! lock seen as bare atomics would order readers that it does not order.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};

use crate::detect::atomics::{self, OrderNumber};
use crate::detect::hand_over;
use crate::detect::held_locks::HoldMode;
use crate::detect::sync::{self, Taking};
use crate::detect::thread::{Current, current};
use crate::entry::entry;
use crate::explore;
use crate::hub::plan;
use crate::trace;
use raddle_explore::OpKind;
use raddle_wire::plan::{LockOperation, SiteClass, SiteEffect};
use raddle_wire::record::LockKind;

/// A read-modify-write. `op` performs it and returns the old value and whether it wrote.
#[inline]
fn update<T: Copy + Into<u128>>(
    address: usize,
    size: usize,
    orders: (c_int, c_int),
    op: impl FnOnce() -> (T, bool),
) -> T {
    let mut t = current();
    let pc = t.caller;
    if explore::is_on() {
        explore::atomic(OpKind::AtomicRmw, address, size, false, pc);
        let (old, wrote) = op();
        explore::memory::updated(address, size, orders, old, wrote);
        trace::atomic(wrote, address, size, wrote.then_some(old.into() as u64), pc);
        return old;
    }
    trace::delays::access(address, pc);
    if trace::plain::is_on() {
        return trace::plain::atomic(address, size, true, pc, op);
    }
    let orders = (OrderNumber(orders.0), OrderNumber(orders.1));
    match plan::lock_site(&t, pc) {
        Some(site) if t.known && counts(site, orders.0) => at_lock_site(t, site, address, op),
        _ => atomics::update(&mut t, address, size, orders, pc, op),
    }
}

/// An operation that may release a lock. Where the optimiser has merged code, the plan cannot tell.
/// But if the thread holds this word as a lock, only a release can look like this.
#[inline]
fn update_or_unlock<T: Copy + Into<u128>>(
    address: usize,
    size: usize,
    order: c_int,
    op: impl FnOnce() -> (T, bool),
) -> T {
    let t = current();
    if t.known
        && OrderNumber(order).releases()
        && !t.held.is_empty()
        && plan::has_sites()
        && t.held.holds(address)
    {
        let waits = plan::lock_site(&t, t.caller).filter(|site| site.class == SiteClass::WaitRelease);
        let release = LockOperation { class: SiteClass::MutexRelease, effect: SiteEffect::Always, depth: 0 };
        return at_lock_site(t, waits.unwrap_or(release), address, op);
    }
    update(address, size, (order, order), op)
}

/// A lock is taken with acquire and released with release; weaker operations at the same site
/// announce a waiter.
fn counts(site: LockOperation, order: OrderNumber) -> bool {
    match site.class {
        SiteClass::MutexAcquire | SiteClass::ReadAcquire | SiteClass::WriteAcquire => order.acquires(),
        _ => order.releases(),
    }
}

/// An operation inside the implementation of a lock whose word is at `address`.
#[cold]
fn at_lock_site<T: Copy + Into<u128>>(
    mut t: Current,
    site: LockOperation,
    address: usize,
    op: impl FnOnce() -> (T, bool),
) -> T {
    let pc = t.caller;
    let taking = |mode, what| Taking { mode, what, pc };
    let (mutex, rwlock) = (LockKind::StdMutex, LockKind::StdRwlock);
    let (mode, what) = match site.class {
        SiteClass::MutexAcquire => (HoldMode::Write, mutex),
        SiteClass::WriteAcquire => (HoldMode::Write, rwlock),
        _ => (HoldMode::Read, rwlock),
    };
    match site.class {
        SiteClass::MutexRelease | SiteClass::ReadRelease | SiteClass::WriteRelease => {
            sync::unlocking(t, address);
            op().0
        }
        SiteClass::WaitRelease => {
            hand_over::waits(&mut t, address, pc);
            sync::unlocking(t, address);
            t.waits_with = address;
            op().0
        }
        SiteClass::Downgrade => {
            sync::unlocking(t, address);
            let old = op().0;
            sync::locked(t, address, taking(HoldMode::Read, rwlock));
            old
        }
        SiteClass::MutexAcquire | SiteClass::ReadAcquire | SiteClass::WriteAcquire => {
            let (old, wrote) = op();
            let taken = match site.effect {
                SiteEffect::Always => true,
                SiteEffect::IfExchanged => wrote,
                SiteEffect::IfReturnedZero => old.into() == 0,
            };
            if taken {
                sync::locking(&mut t, address, taking(mode, what));
                sync::locked(t, address, taking(mode, what));
                if t.waits_with == address {
                    t.waits_with = 0;
                    hand_over::waited(&mut t, address, true);
                }
            }
            old
        }
    }
}

macro_rules! atomics {
    ($bits:literal, $module:ident, $t:ty, $atomic:ty) => {
        mod $module {
            use super::*;
            const SIZE: usize = size_of::<$t>();

            fn at(a: usize) -> &'static $atomic {
                // SAFETY: the compiler's own address of an atomic object.
                unsafe { &*(a as *const $atomic) }
            }
            extern "C" fn load(a: usize, order: c_int) -> $t {
                let mut t = current();
                let pc = t.caller;
                if explore::is_on() {
                    explore::atomic(OpKind::AtomicLoad, a, SIZE, false, pc);
                    let now = at(a).load(SeqCst);
                    trace::atomic(false, a, SIZE, None, pc);
                    return explore::memory::load(a, SIZE, order, now, pc).map_or(now, |v| v as $t);
                }
                trace::delays::access(a, pc);
                if trace::plain::is_on() {
                    return trace::plain::atomic(a, SIZE, true, pc, || (at(a).load(SeqCst), false));
                }
                atomics::load(&mut t, a, SIZE, OrderNumber(order), pc, || at(a).load(SeqCst))
            }
            extern "C" fn store(a: usize, v: $t, order: c_int) {
                let mut t = current();
                let pc = t.caller;
                if explore::is_on() {
                    explore::atomic(OpKind::AtomicStore, a, SIZE, OrderNumber(order).is_seq_cst(), pc);
                    explore::memory::store(a, SIZE, order, v);
                    let before = at(a).swap(v, SeqCst);
                    return trace::atomic_store(a, SIZE, before as u64, pc);
                }
                trace::delays::access(a, pc);
                if trace::plain::is_on() {
                    trace::plain::atomic(a, SIZE, false, pc, || (at(a).swap(v, SeqCst), true));
                    return;
                }
                // A plain release store may release a lock (parking_lot, hand-written ones).
                atomics::store(&mut t, a, SIZE, OrderNumber(order), pc, || at(a).store(v, SeqCst))
            }
            extern "C" fn exchange(a: usize, v: $t, order: c_int) -> $t {
                let op = || (at(a).swap(v, SeqCst), true);
                if v == 0 {
                    update_or_unlock(a, SIZE, order, op)
                } else {
                    update(a, SIZE, (order, order), op)
                }
            }
            extern "C" fn fetch_add(a: usize, v: $t, order: c_int) -> $t {
                update(a, SIZE, (order, order), || (at(a).fetch_add(v, SeqCst), true))
            }
            extern "C" fn fetch_sub(a: usize, v: $t, order: c_int) -> $t {
                update_or_unlock(a, SIZE, order, || (at(a).fetch_sub(v, SeqCst), true))
            }
            extern "C" fn fetch_and(a: usize, v: $t, order: c_int) -> $t {
                update(a, SIZE, (order, order), || (at(a).fetch_and(v, SeqCst), true))
            }
            extern "C" fn fetch_or(a: usize, v: $t, order: c_int) -> $t {
                update(a, SIZE, (order, order), || (at(a).fetch_or(v, SeqCst), true))
            }
            extern "C" fn fetch_xor(a: usize, v: $t, order: c_int) -> $t {
                update(a, SIZE, (order, order), || (at(a).fetch_xor(v, SeqCst), true))
            }
            extern "C" fn fetch_nand(a: usize, v: $t, order: c_int) -> $t {
                update(a, SIZE, (order, order), || (at(a).fetch_nand(v, SeqCst), true))
            }
            extern "C" fn compare_exchange_val(a: usize, c: $t, v: $t, order: c_int, failed: c_int) -> $t {
                update(a, SIZE, (order, failed), || match at(a).compare_exchange(c, v, SeqCst, SeqCst) {
                    Ok(old) => (old, true),
                    Err(old) => (old, false),
                })
            }
            extern "C" fn compare_exchange(
                a: usize,
                c: *mut $t,
                v: $t,
                order: c_int,
                failed: c_int,
            ) -> c_int {
                // SAFETY: the program's own variable for the expected value.
                unsafe {
                    let expected = *c;
                    let old = compare_exchange_val(a, expected, v, order, failed);
                    if old != expected {
                        *c = old;
                    }
                    (old == expected) as c_int
                }
            }
            const _: () = {
                entry!(concat!("__tsan_atomic", $bits, "_load"), load);
            };
            const _: () = {
                entry!(concat!("__tsan_atomic", $bits, "_store"), store);
            };
            const _: () = {
                entry!(concat!("__tsan_atomic", $bits, "_exchange"), exchange);
            };
            const _: () = {
                entry!(concat!("__tsan_atomic", $bits, "_fetch_add"), fetch_add);
            };
            const _: () = {
                entry!(concat!("__tsan_atomic", $bits, "_fetch_sub"), fetch_sub);
            };
            const _: () = {
                entry!(concat!("__tsan_atomic", $bits, "_fetch_and"), fetch_and);
            };
            const _: () = {
                entry!(concat!("__tsan_atomic", $bits, "_fetch_or"), fetch_or);
            };
            const _: () = {
                entry!(concat!("__tsan_atomic", $bits, "_fetch_xor"), fetch_xor);
            };
            const _: () = {
                entry!(concat!("__tsan_atomic", $bits, "_fetch_nand"), fetch_nand);
            };
            const _: () = {
                entry!(concat!("__tsan_atomic", $bits, "_compare_exchange_val"), compare_exchange_val);
            };
            const _: () = {
                entry!(concat!("__tsan_atomic", $bits, "_compare_exchange_strong"), compare_exchange);
            };
            const _: () = {
                entry!(concat!("__tsan_atomic", $bits, "_compare_exchange_weak"), compare_exchange);
            };
        }
    };
}
atomics!("8", bits8, u8, AtomicU8);
atomics!("16", bits16, u16, AtomicU16);
atomics!("32", bits32, u32, AtomicU32);
atomics!("64", bits64, u64, AtomicU64);
atomics!("128", bits128, u128, wide::AtomicU128);

/// 16 bytes at once, by `cmpxchg16b`, which every x86-64 machine of the last fifteen years has.
mod wide {
    use core::arch::asm;
    use core::sync::atomic::Ordering;

    #[repr(C, align(16))]
    pub struct AtomicU128(core::cell::UnsafeCell<u128>);

    impl AtomicU128 {
        pub fn compare_exchange(&self, old: u128, new: u128, _: Ordering, _: Ordering) -> Result<u128, u128> {
            let (mut low, mut high) = (old as u64, (old >> 64) as u64);
            // SAFETY: the address is 16-byte aligned. rbx is the compiler's own, so it is put
            // aside; the others are named, or one of them might be rbx.
            unsafe {
                asm!(
                    "xchg rsi, rbx",
                    "lock cmpxchg16b [rdi]",
                    "mov rbx, rsi",
                    inout("rsi") new as u64 => _,
                    in("rdi") self.0.get(),
                    in("rcx") (new >> 64) as u64,
                    inout("rax") low,
                    inout("rdx") high,
                    options(nostack),
                );
            }
            let was = (high as u128) << 64 | low as u128;
            if was == old { Ok(was) } else { Err(was) }
        }

        pub fn load(&self, order: Ordering) -> u128 {
            // Stores zero only where there is zero.
            match self.compare_exchange(0, 0, order, order) {
                Ok(v) | Err(v) => v,
            }
        }

        fn update(&self, new: impl Fn(u128) -> u128) -> u128 {
            let mut old = self.load(Ordering::SeqCst);
            loop {
                match self.compare_exchange(old, new(old), Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(_) => return old,
                    Err(now) => old = now,
                }
            }
        }

        pub fn store(&self, v: u128, _: Ordering) {
            self.update(|_| v);
        }
        pub fn swap(&self, v: u128, _: Ordering) -> u128 {
            self.update(|_| v)
        }
        pub fn fetch_add(&self, v: u128, _: Ordering) -> u128 {
            self.update(|o| o.wrapping_add(v))
        }
        pub fn fetch_sub(&self, v: u128, _: Ordering) -> u128 {
            self.update(|o| o.wrapping_sub(v))
        }
        pub fn fetch_and(&self, v: u128, _: Ordering) -> u128 {
            self.update(|o| o & v)
        }
        pub fn fetch_or(&self, v: u128, _: Ordering) -> u128 {
            self.update(|o| o | v)
        }
        pub fn fetch_xor(&self, v: u128, _: Ordering) -> u128 {
            self.update(|o| o ^ v)
        }
        pub fn fetch_nand(&self, v: u128, _: Ordering) -> u128 {
            self.update(|o| !(o & v))
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn all_sixteen_bytes_take_part() {
            let (a, b) = (u128::MAX - 7, 1 << 100);
            let x = AtomicU128(a.into());
            let o = Ordering::SeqCst;
            assert_eq!(x.load(o), a);
            assert_eq!(x.compare_exchange(a ^ 1 << 127, b, o, o), Err(a));
            assert_eq!(x.compare_exchange(a, b, o, o), Ok(a));
            assert_eq!(x.fetch_add(u128::MAX, o), b);
            assert_eq!(x.swap(3, o), b - 1);
            assert_eq!(x.fetch_nand(1, o), 3);
            assert_eq!(x.load(o), !1);
        }
    }
}
