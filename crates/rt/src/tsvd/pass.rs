//! The fast path of a redirected call: what `raddle_tsvd::Tsvd::passes` does, in assembly. So a
//! call in a hot loop saves five registers and not thirty-one. A call that it cannot let pass takes
//! the slow path, [`super::stub`], as if it had come there at once.
//!
//! There is an even shorter path before it, in the stub itself (see [`super::near`]). A thread
//! stores, for each site, the object of its last call. If that was the same twice, the next
//! [`CHUNK`] calls may pass if only the core's epoch is unchanged: a dozen instructions. They are
//! counted when granted, and unused ones are taken back.
//!
//! There is one such routine for each place where a call may have its object, since a stub has no
//! time to ask. The runtime's state must exist before the first stub runs (see [`super::turn_on`]).

use core::mem::offset_of;

use super::Own;
use super::point::NEAR_FRAMES;
use super::redirect::{self, LIBRARY, RedirectedSite};
use super::state;
use crate::detect::thread::Thread;
use raddle_tsvd::{Tsvd, layout};
use raddle_wire::tsvd::site_flag;

const OWN: usize = offset_of!(Thread, tsvd);

/// The object of a thread's last call at a site, and how many such calls the stub may let pass.
#[repr(C)]
pub struct Near {
    /// The object, as in its register.
    pub object: u64,
    pub left: i32,
    pub site: u32,
}

/// Sites whose numbers are equal modulo this displace each other.
pub const NEAR: usize = 128;
const CHUNK: i32 = 32;

macro_rules! fast_way {
    ($name:literal, local: [$($local:expr),*], object: [$($object:expr),+]) => {
        core::arch::global_asm!(
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            ".cfi_startproc",
            ".cfi_def_cfa_offset 16", // The entry's number is above the return address.
            "push rax",
            "push r10",
            "push r11",
            "push rbx",
            "push r12",
            ".cfi_def_cfa_offset 56",
            ".cfi_offset rbx, -48",
            ".cfi_offset r12, -56",
            ".cfi_remember_state",
            "mov eax, dword ptr [rsp + 40]",
            "shl rax, {entry_shift}",
            "add rax, qword ptr [rip + {entries}]",
            "mov r11, qword ptr [rip + raddle_thread@GOTTPOFF]",
            "add r11, qword ptr fs:[0]",
            // If the function's entry is watched as well, it has nothing more to do.
            "lea r10, [rsp + 48]",
            "mov qword ptr [r11 + {passed}], r10",
            "mov r10, qword ptr [rsp + 48]",
            "mov qword ptr [r11 + {passed} + 8], r10",
            $($local,)*
            "mov r10, qword ptr [r11 + {lane}]",
            "test r10, r10",
            "jz 9f",
            "mov r11d, dword ptr [r11 + {number}]",
            "cmp r11d, dword ptr [r10 + {owner}]",
            "jne 9f",
            "mov rbx, qword ptr [rip + {state}]",
            "cmp dword ptr [rbx + {all_wanted}], 0",
            "jne 9f",
            "cmp r11d, dword ptr [rbx + {alone}]",
            "je 7f",
            $($object,)+
            "xor r11, qword ptr [rax + {mix}]",
            "mov r12, r11",
            "shr r12, {object_shift}",
            "mov eax, dword ptr [rax + {id}]",
            "add r12d, eax",
            "and r12d, {passes} - 1",
            "shl r12d, {pass_shift}",
            "add r12, r10",
            "cmp eax, dword ptr [r12 + {lane_passes} + {pass_site}]",
            "jne 9f",
            "mov eax, dword ptr [rbx + {epoch}]",
            "cmp eax, dword ptr [r12 + {lane_passes} + {pass_epoch}]",
            "jne 9f",
            "movzx eax, word ptr [r12 + {lane_passes} + {pass_way}]",
            "shl eax, {way_shift}",
            "lea rbx, [rbx + rax + {ways}]",
            "cmp r11, qword ptr [rbx + {way_object}]",
            "jne 9f",
            "mov eax, dword ptr [rbx + {way_version}]",
            "cmp eax, dword ptr [r12 + {lane_passes} + {pass_version}]",
            "jne 9f",
            "cmp dword ptr [r12 + {lane_passes} + {pass_left}], 0",
            "je 9f",
            "dec dword ptr [r12 + {lane_passes} + {pass_left}]",
            "mov eax, dword ptr [rsp + 40]",
            "shl rax, {entry_shift}",
            "add rax, qword ptr [rip + {entries}]",
            "mov r11d, dword ptr [rax + {ends}]",
            "cmp r11d, dword ptr [rbx + {way_ended}]",
            "je 5f",
            "mov dword ptr [rbx + {way_ended}], r11d",
            // An object ends: calls that the stub lets pass would not report that the next one at
            // its address exists.
            "test r11d, r11d",
            "jz 5f",
            "mov r11, qword ptr [rip + raddle_thread@GOTTPOFF]",
            "add r11, qword ptr fs:[0]",
            "mov dword ptr [r11 + {near_epoch}], 0",
            "5:",
            "cmp dword ptr [rax + {has_near}], 0",
            "je 33f",
            // Check whether the next calls may pass in the stub. r12 is the pass, or zero.
            "mov rbx, qword ptr [rip + raddle_thread@GOTTPOFF]",
            "add rbx, qword ptr fs:[0]",
            "mov r11, qword ptr [rip + {epoch_at}]",
            "mov r11d, dword ptr [r11]",
            "cmp r11d, dword ptr [rbx + {near_epoch}]",
            "jne 3f",
            "inc qword ptr [r10 + {points}]",
            "mov r11d, dword ptr [rax + {id}]",
            "and r11d, {near_count} - 1",
            "shl r11d, {near_shift}",
            "lea rbx, [rbx + r11 + {near}]",
            $($object,)+
            "cmp r11, qword ptr [rbx + {near_object}]",
            "jne 4f",
            "mov r11d, dword ptr [rax + {id}]",
            "cmp r11d, dword ptr [rbx + {near_site}]",
            "jne 4f",
            "test r12, r12",
            "jz 2f",
            "sub dword ptr [r12 + {lane_passes} + {pass_left}], {chunk}",
            "jae 2f",
            "add dword ptr [r12 + {lane_passes} + {pass_left}], {chunk}",
            "jmp 8f",
            "2:",
            "mov dword ptr [rbx + {near_left}], {chunk}",
            "add qword ptr [r10 + {points}], {chunk}",
            "jmp 8f",
            // Another object or site was here before.
            "4:",
            "movsxd r11, dword ptr [rbx + {near_left}]",
            "test r11, r11",
            "jle 2f",
            "sub qword ptr [r10 + {points}], r11",
            "2:",
            $($object,)+
            "mov qword ptr [rbx + {near_object}], r11",
            "mov r11d, dword ptr [rax + {id}]",
            "mov dword ptr [rbx + {near_site}], r11d",
            "mov dword ptr [rbx + {near_left}], 0",
            "jmp 8f",
            // The slow path updates this thread's epoch; a thread that has passes has been there.
            "3:",
            "test r12, r12",
            "jz 9f",
            "33:",
            "inc qword ptr [r10 + {points}]",
            "8:",
            "mov r11, qword ptr [rax + {target}]",
            "test byte ptr [rax + {flags}], {slot}",
            "jz 6f",
            "mov r11, qword ptr [r11]",
            "6:",
            "mov qword ptr [rsp + 40], r11",
            "pop r12",
            "pop rbx",
            "pop r11",
            "pop r10",
            "pop rax",
            ".cfi_def_cfa_offset 16",
            ".cfi_restore rbx",
            ".cfi_restore r12",
            // No register is free for the jump. Memory just below the stack pointer is safe from
            // signal handlers.
            "lea rsp, [rsp + 8]",
            ".cfi_def_cfa_offset 8",
            "jmp qword ptr [rsp - 8]",
            ".cfi_restore_state",
            // The only thread passes if the site was seen once.
            "7:",
            "mov r11d, dword ptr [rax + {id}]",
            "imul r11, r11, {site_size}",
            "test dword ptr [rbx + r11 + {sites}], {site_hit}",
            "jz 9f",
            "xor r12d, r12d",
            "jmp 5b",
            "9:",
            "pop r12",
            "pop rbx",
            "pop r11",
            "pop r10",
            "pop rax",
            ".cfi_def_cfa_offset 16",
            ".cfi_restore rbx",
            ".cfi_restore r12",
            "jmp raddle_tsvd_way",
            ".cfi_endproc",
            concat!(".size ", $name, ", . - ", $name),
            entries = sym redirect::ENTRIES,
            epoch_at = sym state::EPOCH_AT,
            near_epoch = const OWN + offset_of!(Own, near_epoch),
            near = const OWN + offset_of!(Own, near),
            near_count = const NEAR,
            near_shift = const size_of::<Near>().trailing_zeros(),
            near_object = const offset_of!(Near, object),
            near_site = const offset_of!(Near, site),
            near_left = const offset_of!(Near, left),
            chunk = const CHUNK,
            state = sym state::STATE,
            entry_shift = const size_of::<RedirectedSite>().trailing_zeros(),
            passed = const OWN + offset_of!(Own, passed),
            lane = const OWN + offset_of!(Own, lane),
            number = const OWN + offset_of!(Own, number),
            owner = const layout::LANE_OWNER,
            all_wanted = const layout::ALL_WANTED,
            alone = const layout::ALONE,
            has_near = const offset_of!(RedirectedSite, near),
            mix = const offset_of!(RedirectedSite, mix),
            id = const offset_of!(RedirectedSite, id),
            ends = const offset_of!(RedirectedSite, ends),
            target = const offset_of!(RedirectedSite, target),
            flags = const offset_of!(RedirectedSite, flags),
            slot = const site_flag::SLOT,
            object_shift = const layout::OBJECT_SHIFT,
            passes = const layout::PASSES,
            pass_shift = const layout::PASS_SIZE.trailing_zeros(),
            lane_passes = const layout::LANE_PASSES,
            pass_site = const layout::PASS_SITE,
            pass_epoch = const layout::PASS_EPOCH,
            pass_way = const layout::PASS_WAY,
            pass_version = const layout::PASS_VERSION,
            pass_left = const layout::PASS_LEFT,
            epoch = const layout::EPOCH,
            way_shift = const layout::WAY_SIZE.trailing_zeros(),
            ways = const layout::WAYS,
            way_object = const layout::WAY_OBJECT,
            way_version = const layout::WAY_VERSION,
            way_ended = const layout::WAY_ENDED,
            points = const layout::LANE_POINTS,
            site_size = const layout::SITE_SIZE,
            sites = const layout::SITES,
            site_hit = const layout::SITE_HIT,
        );
    };
}

const _: () = assert!(
    size_of::<RedirectedSite>().is_power_of_two()
        && layout::PASS_SIZE.is_power_of_two()
        && layout::WAY_SIZE.is_power_of_two()
        && layout::PASSES.is_power_of_two()
        && NEAR_FRAMES == 65536
        && size_of::<Near>().is_power_of_two()
        && NEAR.is_power_of_two()
);

/// An object in an argument. If most objects of a class lie in the frames of their callers, those
/// are recognised at once: they are no points.
macro_rules! argument {
    ($fast:literal, $local:literal, $register:literal) => {
        fast_way!($fast, local: [], object: [concat!("mov r11, ", $register)]);
        fast_way!(
            $local,
            local: [
                concat!("mov r10, ", $register),
                "lea r12, [rsp + 48]",
                "sub r10, r12",
                "cmp r10, 65536",
                "jb 8f"
            ],
            object: [concat!("mov r11, ", $register)]
        );
    };
}

argument!("raddle_tsvd_fast_0", "raddle_tsvd_local_0", "rdi");
argument!("raddle_tsvd_fast_1", "raddle_tsvd_local_1", "rsi");
argument!("raddle_tsvd_fast_2", "raddle_tsvd_local_2", "rdx");
argument!("raddle_tsvd_fast_3", "raddle_tsvd_local_3", "rcx");
argument!("raddle_tsvd_fast_4", "raddle_tsvd_local_4", "r8");
argument!("raddle_tsvd_fast_5", "raddle_tsvd_local_5", "r9");
// State of the library: see `super::point::object`.
fast_way!("raddle_tsvd_fast_library", local: [], object: ["mov r11d, 1"]);
// The object has to be computed first: only a single thread passes.
fast_way!("raddle_tsvd_fast_alone", local: [], object: ["jmp 9f"]);

unsafe extern "C" {
    fn raddle_tsvd_fast_0();
    fn raddle_tsvd_fast_1();
    fn raddle_tsvd_fast_2();
    fn raddle_tsvd_fast_3();
    fn raddle_tsvd_fast_4();
    fn raddle_tsvd_fast_5();
    fn raddle_tsvd_local_0();
    fn raddle_tsvd_local_1();
    fn raddle_tsvd_local_2();
    fn raddle_tsvd_local_3();
    fn raddle_tsvd_local_4();
    fn raddle_tsvd_local_5();
    fn raddle_tsvd_fast_library();
    fn raddle_tsvd_fast_alone();
}

/// All paths that a stub can take, by number; [`WHOLE`] is first.
pub const WAYS: [unsafe extern "C" fn(); 15] = [
    super::stub::raddle_tsvd_way,
    raddle_tsvd_fast_0,
    raddle_tsvd_fast_1,
    raddle_tsvd_fast_2,
    raddle_tsvd_fast_3,
    raddle_tsvd_fast_4,
    raddle_tsvd_fast_5,
    raddle_tsvd_local_0,
    raddle_tsvd_local_1,
    raddle_tsvd_local_2,
    raddle_tsvd_local_3,
    raddle_tsvd_local_4,
    raddle_tsvd_local_5,
    raddle_tsvd_fast_library,
    raddle_tsvd_fast_alone,
];

/// The slow path, which checks everything.
pub const WHOLE: usize = 0;
const FAST: usize = 1;
const LOCAL: usize = 7;
const FAST_LIBRARY: usize = 13;
const FAST_ALONE: usize = 14;

/// The path that the stub of an entry takes.
pub fn way_of(entry: &RedirectedSite) -> usize {
    if entry.flags & (site_flag::HOOK | site_flag::ASYNC) != 0 {
        WHOLE
    } else if entry.field >= 0 || entry.via | entry.safe_if != 0 {
        FAST_ALONE
    } else if entry.object == LIBRARY {
        FAST_LIBRARY
    } else if entry.flags & site_flag::OFTEN_LOCAL != 0 {
        LOCAL + usize::from(entry.object)
    } else {
        FAST + usize::from(entry.object)
    }
}

/// Called after the slow path: the stubs may let calls pass again, as far as the core's epoch
/// allows. What they had left is void.
pub fn renew(own: &mut Own, tsvd: &Tsvd, thread: u32) {
    let epoch = tsvd.epoch();
    if own.near_epoch == epoch {
        return;
    }
    let mut unused = 0;
    for near in &mut own.near {
        unused += u64::from(near.left.max(0).unsigned_abs());
        near.left = 0;
    }
    if unused != 0 {
        tsvd.take_back(thread, unused);
    }
    own.near_epoch = epoch;
}

/// In the child of a fork, which has other state.
pub fn forget(own: &mut Own) {
    own.near_epoch = 0;
    own.near.iter_mut().for_each(|near| near.left = 0);
}
