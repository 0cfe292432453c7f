//! A profiler of the CLR that turns calls of thread-unsafe .NET APIs into points of TSVD, in
//! unmodified programs: no file is rewritten, and no SDK is needed.
//!
//! It follows "Efficient Scalable Thread-Safety-Violation Detection" (Li, Lu, Musuvathi, Nath,
//! Padhye, SOSP 2019), whose tool rewrites assemblies on disk. This crate uses the runtime's
//! profiling interface instead: the runtime asks before it compiles a method, and the method's IL
//! is changed in memory then. The pure core, `raddle_tsvd`, decides what to do at a point.
//!
//! `raddle tsvd` contains the profiler, sets the variables that make a runtime load it, and reads
//! its records (`raddle::tsvd::clr`).
//!
//! ```text
//! com, profiling, metadata   COM by hand, and the methods of the interfaces that are used
//! signature, il              types of arguments, bodies of methods: pure functions of bytes
//! pdb, embedded_pdb          lines
//! lists                      which APIs are thread-unsafe
//! ownership                  which modules are the user's
//! calls                      classifies a call in the code
//! rewrite, delegates         adds points to methods as they are compiled
//! order_calls                adds the calls that record order
//! probe, order_probe         the class that rewritten code calls
//! point                      one call: asks the core, sleeps, catches violations in the act
//! classes                    what is known about the classes of objects
//! force_async                makes `await` wait
//! order, hand_overs,         what locks, tasks and threads say about the order of calls
//! semaphores, locks,
//! class_constructors
//! sites                      call sites, names and places
//! session, record            the input from the driver, and the output for it
//! ```
//!
//! # Data structures and their invariants
//! - *Modules* (`rewrite`): the user's modules, each with a probe class. A method is rewritten at
//!   most once, before it is compiled. Its entry in `methods` is made under the lock, so two tiers
//!   of compilation agree on site numbers.
//! - *Places*: for each rewritten method, the old and new offset of each instruction. Offsets in
//!   records are always those of the original code.
//! - *Sites*: append only. A number is part of compiled code, so it is never reused.
//! - *Classes* (`classes`): method tables of classes that the code alone does not tell. All are
//!   forgotten when a module is unloaded.
//! - Only a thread in cooperative mode reads a held thread's reference, and only while the trap is
//!   set.
//!
//! # What could make it slow
//! A point costs a managed call of native code, a hash, and `Tsvd::passes`. If the call does not
//! pass, it also reads the clock. Modules of the framework are left alone, and precompiled code is
//! refused only for the user's modules.
//!
//! # What could make it wrong
//! - A program whose behaviour changes. Arguments go through local variables of their own types;
//!   branches keep their targets; anything not understood is left alone and recorded as unseen.
//! - A stack trace with other lines. The runtime is told where each instruction is now.
//! - A false report. A trap is sprung only if both references are the same object, compared while
//!   no collection can run.
//! - A deadlock with the collector. `fast` never waits for managed code; `slow` sleeps in
//!   preemptive mode.
//!
//! # What runs
//! A thread does one piece of work after the other (a task, a part of an asynchronous method). The
//! core is told where a piece begins, so that it does not take an idle thread for one that waited
//! for a delay. `order` says which pieces come after which, and follows an asynchronous method from
//! thread to thread.
//!
//! # Not seen
//! Reflection and `dynamic` (these are counted), code generated at run time, framework code that
//! uses the user's collections other than through LINQ and the listed functions, delegates made
//! from listed methods of a type with type parameters, methods of structures, the second collection
//! of a query. Run on CoreCLR 3.1, x86-64 Linux.

mod calls;
mod class_constructors;
mod classes;
#[macro_use]
mod com;
mod delegates;
mod embedded_pdb;
mod force_async;
mod hand_overs;
pub mod il;
pub mod lists;
mod locks;
mod metadata;
mod order;
mod order_calls;
mod order_probe;
mod ownership;
pub mod pdb;
mod point;
mod probe;
mod profiling;
pub mod record;
mod rewrite;
mod semaphores;
pub mod session;
pub mod signature;
mod sites;

use std::sync::OnceLock;

use com::{CANCEL_ACTIVATION, Com, Guid, IID_CALLBACKS, IID_CLASS_FACTORY, IID_INFO5, IID_UNKNOWN};
use com::{HResult, NO_INTERFACE, OK};
use profiling::{FunctionId, ModuleId};
use session::session;

/// The identifier by which the runtime asks for this profiler, in `CORECLR_PROFILER`.
pub const CLASS: &str = "{7AD1E5C0-0000-4000-8000-000000000001}";

/// The requested events (`COR_PRF_MONITOR` in `corprof.idl`).
mod event {
    pub const MODULE_LOADS: u32 = 0x4;
    pub const JIT_COMPILATION: u32 = 0x20;
    /// Needed to refuse precompiled code.
    pub const CACHE_SEARCHES: u32 = 0x2_0000;
    /// Needed for the stacks of held threads.
    pub const STACK_SNAPSHOT: u32 = 0x1000_0000;
}

fn address(function: *const ()) -> usize {
    function as usize
}

/// The runtime calls this to get the profiler's class factory.
#[unsafe(no_mangle)]
extern "C" fn DllGetClassObject(_class: *const Guid, _interface: *const Guid, out: &mut Com) -> HResult {
    static FACTORY: OnceLock<Com> = OnceLock::new();
    *out = *FACTORY.get_or_init(|| {
        Com::of(vec![
            address(query_factory as *const ()),
            address(count as *const ()),
            address(count as *const ()),
            address(create as *const ()),
            address(ignore as *const ()),
        ])
    });
    OK
}

/// Both objects live forever, so nothing is counted.
extern "C" fn count(_this: Com) -> u32 {
    1
}

extern "C" fn ignore(_this: Com) -> HResult {
    OK
}

extern "C" fn query_factory(this: Com, id: &Guid, out: &mut Com) -> HResult {
    answer([IID_UNKNOWN, IID_CLASS_FACTORY].contains(id), this, out)
}

extern "C" fn query(this: Com, id: &Guid, out: &mut Com) -> HResult {
    answer(*id == IID_UNKNOWN || IID_CALLBACKS.contains(id), this, out)
}

fn answer(known: bool, this: Com, out: &mut Com) -> HResult {
    *out = if known { this } else { Com::NULL };
    if known { OK } else { NO_INTERFACE }
}

extern "C" fn create(_this: Com, _outer: Com, id: &Guid, out: &mut Com) -> HResult {
    /// `ICorProfilerCallback` to `ICorProfilerCallback9`.
    const SLOTS: usize = 95;
    static PROFILER: OnceLock<Com> = OnceLock::new();
    let profiler = *PROFILER.get_or_init(|| {
        // Unused callbacks return success whatever their arguments are: the caller cleans up the
        // stack.
        let mut table = vec![address(ignore as *const ()); SLOTS];
        table[0] = address(query as *const ());
        table[1] = address(count as *const ());
        table[2] = address(count as *const ());
        table[3] = address(initialize as *const ());
        table[14] = address(module_loaded as *const ());
        table[15] = address(module_unloading as *const ());
        table[23] = address(compilation_started as *const ());
        table[25] = address(cache_search_started as *const ());
        table[28] = address(inlining as *const ());
        Com::of(table)
    });
    query(profiler, id, out)
}

/// Without a driver, or in a runtime that is too old, the program runs as if the profiler were
/// absent.
extern "C" fn initialize(_this: Com, info: Com) -> HResult {
    let Some(session) = info.query(&IID_INFO5).and_then(session::begin) else { return CANCEL_ACTIVATION };
    session.info.set_events(
        event::MODULE_LOADS | event::JIT_COMPILATION | event::CACHE_SEARCHES | event::STACK_SNAPSHOT,
    )
}

extern "C" fn module_loaded(_this: Com, module: ModuleId, status: HResult) -> HResult {
    if status >= 0 {
        rewrite::load(module);
    }
    OK
}

extern "C" fn module_unloading(_this: Com, module: ModuleId) -> HResult {
    rewrite::unload(module);
    OK
}

extern "C" fn compilation_started(_this: Com, function: FunctionId, _may_block: i32) -> HResult {
    if let Some((module, method)) = session().info.function(function)
        && !rewrite::is_known(module, method)
        && rewrite::method(module, method)
    {
        rewrite::tell_places(function, module, method);
    }
    OK
}

/// An inlined method may never be compiled by itself. It is rewritten now, and not inlined this
/// once, because its code has already been read. Later its points are inlined with it, and keep
/// their sites.
extern "C" fn inlining(_this: Com, _caller: FunctionId, callee: FunctionId, allowed: &mut i32) -> HResult {
    if let Some((module, method)) = session().info.function(callee)
        && !rewrite::is_known(module, method)
        && rewrite::method(module, method)
    {
        rewrite::tell_places(callee, module, method);
        *allowed = 0;
    }
    OK
}

/// Precompiled code has no points.
extern "C" fn cache_search_started(_this: Com, function: FunctionId, usable: &mut i32) -> HResult {
    if session().info.function(function).is_some_and(|(module, _)| rewrite::is_watched(module)) {
        *usable = 0;
    }
    OK
}
