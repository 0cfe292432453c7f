// Rust: panics, atomics, println!, bounds, Option in a Mutex.
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicUsize, Ordering::*};

static STOP: AtomicBool = AtomicBool::new(false);
static BALANCE: AtomicI32 = AtomicI32::new(10);
static NOISE: AtomicUsize = AtomicUsize::new(0);
static INDEX: AtomicUsize = AtomicUsize::new(0);
static HEAD: AtomicPtr<i32> = AtomicPtr::new(std::ptr::null_mut());
static JOB: Mutex<Option<u32>> = Mutex::new(Some(1));
static mut STATE: u32 = 0;
static mut LIMIT: u32 = 5;
static mut TABLE: [u32; 4] = [1, 2, 3, 4];

#[inline(never)]
fn spin() {
    while !STOP.load(Acquire) { // [stop] ~ loop: stop@1#12 std#0 waits fails(stop=0)#12 holds(stop=1)#12 fails(std=0)#0 holds(std=1)#0
        std::hint::spin_loop();
    }
}

#[inline(never)]
fn check() {
    NOISE.fetch_add(1, Relaxed);
    let state = unsafe { STATE }; // [state]
    let limit = unsafe { LIMIT }; // [limit]
    assert!(state < limit, "too far"); // ~ assert: state@1 limit@1 fails(state=5,limit=5) holds(state=4,limit=5)
}

#[inline(never)]
fn equal() {
    assert_eq!(BALANCE.load(SeqCst), 10); // [balance] ~ assert: balance@1#12 std#0 fails(balance=9)#12 holds(balance=10)#12
}

#[inline(never)]
fn pay() {
    let left = BALANCE.load(Relaxed); // [left]
    if left < 0 {
        eprintln!("overdrawn"); // ~ error: left@1#12 std#0 fails(left=-1)#12 holds(left=1)#12 fails(std=-1)#0 holds(std=1)#0
    }
    println!("left {left}"); // ~ output: left@1#12 std#0
}

#[inline(never)]
fn job() -> u32 {
    let mut guard = JOB.lock().unwrap(); // [lock] ~ assert: lock? std?
    guard.take().expect("a job") // [job] ~ assert#12: job@1#12
}

#[inline(never)]
fn pick() -> u32 {
    let i = INDEX.load(Relaxed); // [index]
    unsafe { TABLE[i] } // ~ assert: index@1#12 std#0 fails(index=4)#12 holds(index=3)#12 fails(std=4)#0 holds(std=3)#0
}

#[inline(never)]
fn follow() -> i32 {
    let p = HEAD.load(Acquire); // [head]
    unsafe { *p } // ~ memory#12: head@1#12
}

fn main() {
    let t = std::thread::spawn(|| {
        spin();
        check();
        pay();
        equal();
    });
    HEAD.store(Box::into_raw(Box::new(3)), Release);
    unsafe {
        STATE = std::env::args().len() as u32;
        LIMIT = 6 + STATE;
        TABLE[1] = STATE;
    }
    INDEX.store(2, Release);
    BALANCE.store(9, Release);
    BALANCE.store(10, Release);
    STOP.store(true, Release);
    let n = job() + pick();
    t.join().unwrap();
    std::process::exit((n as i32) + follow());
}
