//! The locks of Rust's std in programs built by the installed rustc.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{Workshop, functions};
use raddle_binary::{Address, Effect, LockClass, LockSite, Lookup, Module, Patience};

const PROGRAM: &str = r#"
use std::sync::{Mutex, RwLock, RwLockWriteGuard};
use std::sync::atomic::{AtomicU32, Ordering::*};
#[inline(never)] pub fn lock(m: &Mutex<u32>) -> u32 { let mut g = m.lock().unwrap(); *g += 1; *g }
#[inline(never)] pub fn try_lock(m: &Mutex<u32>) -> u32 { match m.try_lock() { Ok(mut g) => { *g += 1; *g } _ => 0 } }
#[inline(never)] pub fn read(l: &RwLock<u32>) -> u32 { *l.read().unwrap() }
#[inline(never)] pub fn try_read(l: &RwLock<u32>) -> u32 { match l.try_read() { Ok(g) => *g, _ => 0 } }
#[inline(never)] pub fn write(l: &RwLock<u32>) -> u32 { let mut g = l.write().unwrap(); *g += 1; *g }
#[inline(never)] pub fn try_write(l: &RwLock<u32>) -> u32 { match l.try_write() { Ok(mut g) => { *g += 1; *g } _ => 0 } }
#[inline(never)] pub fn lower(l: &RwLock<u32>) -> u32 { *RwLockWriteGuard::downgrade(l.write().unwrap()) }
#[inline(never)] pub fn no_lock(a: &AtomicU32) -> u32 {
    a.swap(0, Release) + a.fetch_sub(1, Release) + a.compare_exchange(0, 1, Acquire, Relaxed).unwrap_or(2)
}
fn main() {
    let (m, l, a) = (Mutex::new(1), RwLock::new(2), AtomicU32::new(0));
    println!("{}", lock(&m) + try_lock(&m) + read(&l) + try_read(&l) + write(&l) + try_write(&l) + lower(&l) + no_lock(&a));
}
"#;

/// The classes of the sites within each function of the program, by the function's name.
fn classes(module: &Module) -> BTreeMap<String, Vec<LockClass>> {
    let mut found: BTreeMap<String, Vec<LockClass>> = BTreeMap::new();
    for site in module.lock_sites().sites {
        let frames = module.frames(Address::Virtual(site.return_address), Lookup::Return);
        let function = functions(&frames).last().unwrap().to_string();
        found.entry(function).or_default().push(site.class);
    }
    found
}

/// What one function does, each class once.
fn of(classes: &BTreeMap<String, Vec<LockClass>>, function: &str) -> Vec<LockClass> {
    let mut list: Vec<LockClass> = Vec::new();
    for class in classes.get(function).into_iter().flatten() {
        if !list.contains(class) {
            list.push(*class);
        }
    }
    list
}

/// The function that contains the atomic is in the first crate that needs it. The others call it
/// through a register: their locks were not known, so a counter under a `Mutex` was suspected.
#[test]
fn crates_that_share_the_function_with_the_atomic_tell_their_locks() {
    let shop = Workshop::new();
    let shared = "use std::sync::atomic::{AtomicU32, Ordering::*};
        pub fn set(x: &AtomicU32) -> bool {
            x.compare_exchange(0, 1, Acquire, Relaxed).is_ok() && x.swap(0, Release) == 1
        }";
    shop.file("flag.rs", shared);
    shop.sh("env RUSTC_BOOTSTRAP=1 rustc --edition 2024 --crate-type rlib flag.rs -g -Zsanitizer=thread \
         -Zexternal-clangrt -Cunsafe-allow-abi-mismatch=sanitizer --target x86_64-unknown-linux-gnu");
    let source = "use std::sync::{Mutex, atomic::AtomicU32};
        fn main() {
            let m = Mutex::new(1);
            *m.lock().unwrap() += i32::from(flag::set(&AtomicU32::new(0)));
        }";
    let module = shop.build_rust(source, "-g --extern flag=libflag.rlib");
    let found = classes(&module);
    let has = |class: LockClass| found.values().flatten().any(|c| *c == class);
    assert!(has(LockClass::MutexAcquire) && has(LockClass::MutexRelease), "{found:?}");
}

#[test]
fn optimised_code_tells_each_acquire_and_each_release() {
    use LockClass::{
        Downgrade, MutexAcquire, MutexRelease, ReadAcquire, ReadRelease, WriteAcquire, WriteRelease,
    };
    for flags in [
        "-g -Copt-level=1",
        "-g -Copt-level=3",
        "-Cdebuginfo=line-tables-only -Copt-level=2",
        "-g -O -Csymbol-mangling-version=legacy -Zunstable-options",
    ] {
        let workshop = Workshop::new();
        let module = workshop.build_rust(PROGRAM, flags);
        let found = classes(&module);
        assert_eq!(of(&found, "main::lock"), [MutexAcquire, MutexRelease], "{flags}");
        assert_eq!(of(&found, "main::try_lock"), [MutexAcquire, MutexRelease], "{flags}");
        assert_eq!(of(&found, "main::read"), [ReadAcquire, ReadRelease], "{flags}");
        assert_eq!(of(&found, "main::try_read"), [ReadAcquire, ReadRelease], "{flags}");
        assert_eq!(of(&found, "main::write"), [WriteAcquire, WriteRelease], "{flags}");
        assert_eq!(of(&found, "main::try_write"), [WriteAcquire, WriteRelease], "{flags}");
        assert_eq!(of(&found, "main::lower"), [WriteAcquire, Downgrade, ReadRelease], "{flags}");
        assert_eq!(of(&found, "main::no_lock"), [], "{flags}: an atomic is not a lock");
        assert_eq!(module.lock_sites().without_debug_info, 0, "{flags}");
        assert!(module.lock_sites().sites.iter().all(|site| site.depth == 0), "{flags}");
    }
}

#[test]
fn code_for_size_keeps_the_drops_of_guards_apart_and_they_are_told() {
    let workshop = Workshop::new();
    let module = workshop.build_rust(PROGRAM, "-Cdebuginfo=1 -Copt-level=s");
    let found = classes(&module);
    assert_eq!(of(&found, "main::lock")[0], LockClass::MutexAcquire);
    for (lock, class) in [
        ("Mutex", LockClass::MutexRelease),
        ("RwLockRead", LockClass::ReadRelease),
        ("RwLockWrite", LockClass::WriteRelease),
    ] {
        let released = found.iter().filter(|(name, _)| name.contains(lock) && name.contains("drop"));
        assert!(released.into_iter().any(|(_, classes)| classes.contains(&class)), "{lock}: {found:#?}");
    }
}

#[test]
fn it_is_told_who_waits_for_the_lock_and_who_only_tries() {
    let workshop = Workshop::new();
    let module = workshop.build_rust(PROGRAM, "-g -Copt-level=1");
    let sites = module.lock_sites().sites;
    let patience = |function: &str| -> Vec<Patience> {
        let acquires = |s: &&&LockSite| s.effect == Effect::IfExchanged;
        sites_in(&module, &sites, function).iter().filter(acquires).map(|s| s.patience).collect()
    };
    assert_eq!(patience("main::lock"), [Patience::Waits]);
    assert_eq!(patience("main::try_lock"), [Patience::Tries]);
    assert_eq!(patience("main::write"), [Patience::Waits]);
    let releases = sites.iter().filter(|s| s.class == LockClass::MutexRelease);
    assert!(releases.into_iter().all(|s| s.patience == Patience::Other));
}

#[test]
fn unoptimised_code_is_told_by_the_call_of_the_function_that_holds_the_atomic() {
    for flags in ["-g", "-Cdebuginfo=line-tables-only"] {
        let workshop = Workshop::new();
        let module = workshop.build_rust(PROGRAM, flags);
        let sites = module.lock_sites().sites;
        let count = |class, depth| sites.iter().filter(|s| s.class == class && s.depth == depth).count();
        assert_eq!(count(LockClass::MutexAcquire, 1), 2, "{flags}: lock and try_lock: {sites:#x?}");
        assert_eq!(count(LockClass::ReadAcquire, 1), 2, "{flags}: read and try_read");
        assert_eq!(count(LockClass::WriteAcquire, 1), 2, "{flags}: write and try_write");
        assert_eq!(count(LockClass::MutexRelease, 0), 1, "{flags}: the guard's drop");
        assert_eq!(count(LockClass::ReadRelease, 0), 1, "{flags}");
        assert_eq!(count(LockClass::WriteRelease, 0), 1, "{flags}");
        assert_eq!(count(LockClass::Downgrade, 0), 1, "{flags}");
        assert_eq!(sites.len(), 10, "{flags}: and nothing else: {sites:#x?}");
    }
}

#[test]
fn without_debug_information_the_code_tells_all_but_try_and_downgrade() {
    use LockClass::{MutexAcquire, MutexRelease, ReadAcquire, ReadRelease, WriteAcquire, WriteRelease};
    let workshop = Workshop::new();
    let module = workshop.build_rust(PROGRAM, "-Cdebuginfo=0 -O");
    let found = classes(&module);
    assert_eq!(of(&found, "main::lock"), [MutexAcquire, MutexRelease]);
    assert_eq!(of(&found, "main::read"), [ReadAcquire, ReadRelease]);
    assert_eq!(of(&found, "main::write"), [WriteAcquire, WriteRelease]);
    assert_eq!(of(&found, "main::try_lock"), [MutexRelease]);
    assert_eq!(of(&found, "main::no_lock"), []);
    assert!(module.lock_sites().without_debug_info > 8, "and the caller is told");
}

/// An overlay of the sysroot whose std calls `__tsan_*`, made from the bitcode in its rlib.
const INSTRUMENT_STD: &str = r#"set -eu
sysroot=$(rustc --print sysroot); lib=lib/rustlib/x86_64-unknown-linux-gnu/lib
mkdir -p "$1/$lib" work; ln -s "$sysroot/$lib/../bin" "$1/$lib/../bin"
for f in "$sysroot/$lib"/*; do ln -s "$f" "$1/$lib/"; done
rlib=$(basename "$sysroot/$lib"/libstd-*.rlib); cd work; ar x "$sysroot/$lib/$rlib"
for o in *.o; do
  objcopy --dump-section .llvmbc=m.bc "$o" /dev/null
  "$sysroot/$lib/../bin/rust-lld" -flavor gnu -r -mllvm -force-attribute=sanitize_thread \
    --lto-newpm-passes='forceattrs,tsan-module,function(tsan)' m.bc -o "$o"
done
rm "$1/$lib/$rlib"; ar rcs "$1/$lib/$rlib" lib.rmeta *.o
"#;

fn instrument_std(workshop: &Workshop) -> String {
    workshop.file("instrument.sh", INSTRUMENT_STD);
    let overlay = workshop.path("overlay").display().to_string();
    workshop.sh(&format!("bash instrument.sh {overlay}"));
    overlay
}

fn sites_in<'a>(module: &Module, sites: &'a [LockSite], function: &str) -> Vec<&'a LockSite> {
    let of = |site: &&LockSite| {
        let frames = module.frames(Address::Virtual(site.return_address), Lookup::Return);
        functions(&frames).last().is_some_and(|name| name.contains(function))
    };
    sites.iter().filter(of).collect()
}

#[test]
fn an_instrumented_std_shows_its_contended_paths() {
    let workshop = Workshop::new();
    let overlay = instrument_std(&workshop);
    let module = workshop.build_rust(PROGRAM, &format!("-g -O --sysroot {overlay}"));
    let sites = module.lock_sites().sites;
    let effects = |function: &str| -> Vec<(LockClass, Effect)> {
        sites_in(&module, &sites, function).iter().map(|site| (site.class, site.effect)).collect()
    };
    let mutex =
        [(LockClass::MutexAcquire, Effect::IfExchanged), (LockClass::MutexAcquire, Effect::IfReturnedZero)];
    assert_eq!(effects("Mutex>::lock_contended"), mutex);
    assert!(effects("RwLock>::read_contended").contains(&(LockClass::ReadAcquire, Effect::IfExchanged)));
    assert!(effects("RwLock>::write_contended").contains(&(LockClass::WriteAcquire, Effect::IfExchanged)));
    assert_eq!(effects("wake_writer_or_readers"), [], "counting a wake-up is no release");
    assert_eq!(effects("once::futex::Once>::call"), []);
    assert!(!effects("std::io::stdio").is_empty(), "stdout's reentrant lock is a mutex inside");
    workshop.sh("strip --strip-debug out");
    let bare = workshop.open("out").lock_sites().sites;
    let kept: Vec<_> = bare.iter().filter(|s| s.effect == Effect::IfReturnedZero).collect();
    assert_eq!(kept.len(), 1, "symbols alone tell lock_contended");
}

#[test]
fn a_site_is_where_the_atomic_returns_to() {
    let workshop = Workshop::new();
    let module = workshop.build_rust(PROGRAM, "-g -O");
    let calls = module.call_sites(|name| name.starts_with("__tsan_atomic"));
    for site in module.lock_sites().sites {
        let call = calls.iter().find(|call| call.return_address == site.return_address);
        assert_eq!(call.map(|call| call.callee.as_str()), Some(site.operation.as_str()));
    }
}

#[test]
fn a_c_program_with_atomics_has_no_rust_locks() {
    let workshop = Workshop::new();
    let source = "#include <stdatomic.h>\natomic_int x; int main(void) { return atomic_exchange(&x, 0); }";
    let module = workshop.build("a.c", source, "gcc -g -fsanitize=thread");
    assert!(!module.call_sites(|name| name.starts_with("__tsan_atomic32")).is_empty());
    assert_eq!(module.lock_sites().sites, []);
    let sh = Module::open(Path::new("/bin/sh")).unwrap();
    assert_eq!(sh.lock_sites().sites, []);
}
