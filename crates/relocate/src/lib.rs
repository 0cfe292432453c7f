//! Copies the functions of a finished program or shared library and puts probes into the copy.
//!
//! This is the third source of probes, beside gcc's and clang's `-fsanitize=thread`: an object that
//! nobody can rebuild. The driver calls [`relocate`] for the executable before the target starts,
//! and for a library when a runtime asks for it; the runtime maps the result and makes the object
//! execute it (`rt::relocated`). The file between the two is `wire::relocated`.
//!
//! # How
//!
//! 1. `program`: functions, from `.eh_frame` and, where that is silent, from symbols.
//! 2. `code`: their instructions, and which functions can be copied. The others stay as they are
//!    and are counted.
//! 3. `access`: what each instruction does to memory that threads may share.
//! 4. `merge`: which accesses one probe announces together.
//! 5. `loops`: which loops are checked as they are left, and not in each iteration.
//! 6. `emit`: the copy, with a probe before each access and around each call. Most are checks in
//!    the code (`inline`), in registers that nobody looks at again (`liveness`).
//! 7. `translate`: the function that finds copies of addresses while the program runs.
//! 8. Here: all copies encoded as one block, so that jumps between functions resolve, and tables
//!    from old to new addresses and back.
//!
//! # Invariants
//!
//! - *Data stays where it is.* A copied instruction that names an address (`lea`, RIP-relative
//!   operands, tables in read-only data) names the original. So a pointer to a function is the same
//!   everywhere, and a call through it runs into the jump at the function's old beginning.
//! - *Objects know nothing of each other's copies.*
//! - *Every address of the original text that the program can jump to is translated or patched*:
//!   direct branches when they are copied, jump tables and computed gotos by `TRANSLATE`, entries
//!   by patches, landing pads of exceptions by the runtime's `_Unwind_SetIP`.
//! - *Return addresses are those of the copy.* So `ret`, `setjmp` and `longjmp` need nothing. The
//!   unwinder needs the runtime's `_Unwind_Find_FDE`, which is why a program with an unwinder of
//!   its own is refused.
//! - *A probe changes nothing that the program can see*: see `emit`.
//! - *Copied and uncopied code do not jump into each other's middle*: see `code`.
//!
//! # Shared libraries
//!
//! - *Where.* A copy must be within 2 GiB of its object, whose data it names by 32-bit distances.
//!   Of an executable the neighbourhood is known. Libraries lie close together, so the runtime
//!   looks for a free place, and corrects the distances that the table `moved` lists.
//! - *When.* After the loader has mapped a library and before its constructors run. The runtime is
//!   initialised before all libraries (`-z initfirst`), and then hears of others by the function
//!   that the loader calls for debuggers (`r_brk`). At that time nobody executes the code that is
//!   changed.
//! - *Calls between objects* go through the original PLT and GOT to the original entry of a
//!   function, which is a jump to the copy. So interposition, lazy binding, `dlsym` and functions
//!   that are chosen by a resolver (IFUNC) stay as they are. Resolvers of libraries that the
//!   program starts with have run before there are copies.
//! - *Thread-local storage* is reached through the original GOT, or through fs.
//! - *`dlclose`.* When the loader has removed a library, its copy is unmapped too.
//! - *Unwinding* asks the runtime, as for an executable. A library with an unwinder of its own is
//!   refused. If the program has one, all its libraries are left alone: an exception that passes
//!   through them would be lost. So is one that a refused library throws through another library's
//!   copy.
//! - A library whose text the loader relocates (DT_TEXTREL) is refused.
//! - What the compiler instrumented is not copied: it imports `__tsan_init`.
//!
//! # What machine code does not say
//!
//! An acquire load, a release store and a relaxed access are plain `mov`s. In C++ and Rust the
//! debug information says which of them were inlined from an atomic operation, and mostly its
//! memory order (`atomic_calls`): a relaxed one is not checked and orders nothing, another acquires
//! or releases. Read-modify-writes of other orders than relaxed acquire and release both.
//!
//! Without that, as in C, an instruction with LOCK, or `xchg`, makes its variable one that
//! synchronises: from then on its loads acquire and its stores release, and it is not checked.
//! Global variables that such an instruction names are known before the program starts. So relaxed
//! read-modify-writes of C synchronise here, which can hide races.
//!
//! A global variable that only its type in the debug information makes atomic counts as relaxed: it
//! is not checked, and orders nothing. If a release store and an acquire load of it are what orders
//! other accesses, those look like races. To let it order instead would hide every race behind a
//! relaxed flag: it hid those of 82 of 198 programs of the corpus. An atomic variable on the
//! heap that no LOCK has touched looks like a race itself. For all that, races found in copied code
//! are *suspected*.
//!
//! # What can be wrong or slow
//!
//! - The stack of a function whose frame's address does not leave rsp and rbp is not watched. A
//!   function that computes its own frame's address in another way would be missed.
//! - Data between functions that decodes as code is copied, and never executed.
//! - Flags that a hand-written function returns to its caller are lost: calls have probes around
//!   them, and no compiler passes flags on.
//! - A handler of a fault that compares the faulting address with a label of the program sees the
//!   address of the copy.
//! - `rep movs` and its like count as going upwards, also where the program has set the direction
//!   flag, and `bts` and its like with a register as accesses of the word that they name.
//! - A signal that unwinds out of the middle of a probe finds a stack pointer that `.eh_frame` does
//!   not describe.
//! - Accesses of other sizes than 1, 2, 4, 8 and 16 bytes have a call for a probe.
//! - Encoding takes about 2 µs an instruction. The driver keeps the result.

mod access;
mod atomic_calls;
mod atomic_types;
mod code;
mod emit;
mod inline;
mod liveness;
mod loops;
mod merge;
mod program;
mod translate;
mod unknown;

use iced_x86::{
    BlockEncoder, BlockEncoderOptions, BlockEncoderResult, Instruction, InstructionBlock, OpKind, Register,
};
use raddle_wire::relocated::{CopyCounts, Identity, MAGIC, RelocatedHeader, slot};
use thiserror::Error;

use access::InstructionAccess;
use code::{BIAS, Code};
use emit::{EmittedInstruction, Emitter};
use merge::Entries;
use program::RelocatedProgram;

/// Why a program or a library cannot be watched without being built for it.
#[derive(Debug, Error)]
pub enum Refusal {
    #[error("it is not for 64-bit x86")]
    NotX86_64,
    #[error("it is statically linked, and raddle works through the dynamic linker")]
    Static,
    #[error("it is written in Go, whose runtime has its own stacks and threads")]
    Go,
    #[error("the loader writes to its code (DT_TEXTREL)")]
    WrittenText,
    #[error("it is too large: {0} MiB of code")]
    TooLarge(u64),
    #[error(
        "it carries its own copy of the exception unwinder (-static-libgcc), which would not find its way through copied code"
    )]
    OwnUnwinder,
    #[error("it has no code section, or none of its functions can be copied")]
    NoText,
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    #[error("its code cannot be copied: {0}")]
    NotEncodable(String),
}

/// An object's code with probes, as the runtime maps it.
pub struct Relocated {
    pub file: Vec<u8>,
    pub counts: CopyCounts,
}

/// Whether the program in `bytes` unwinds its stack by code of its own, which the runtime does not
/// help through copies.
pub fn has_own_unwinder(bytes: &[u8]) -> bool {
    program::has_own_unwinder_in(bytes)
}

const PAGE: u64 = 4096;
/// Between the copy and a program that is loaded anywhere, which it lies below.
const GAP: u64 = 16 << 20;
/// From a program at a fixed address to the copy, which lies above, beyond the heap.
const ABOVE: u64 = 1 << 30;

/// How an object is copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyOptions {
    /// It is a shared library.
    pub library: bool,
    /// The runtime is to overwrite the originals with traps.
    pub poison: bool,
    /// Each access keeps a probe of its own.
    pub keep_probes: bool,
    /// For `explore`: each access, atomic or not, is announced with all that is known of it, and no
    /// check is in the code. Implies `keep_probes`.
    pub scheduled: bool,
}

/// Copies the functions of the object in `bytes`.
pub fn relocate(bytes: &[u8], object: Identity, options: CopyOptions) -> Result<Relocated, Refusal> {
    relocate_at(bytes, object, options, 0)
}

/// The same for a place that is `shift` bytes above the usual one.
fn relocate_at(
    bytes: &[u8],
    object: Identity,
    options: CopyOptions,
    shift: i64,
) -> Result<Relocated, Refusal> {
    let program = RelocatedProgram::read(bytes, options.library)?;
    let code = Code::read(&program);
    if !code.functions.iter().any(|f| f.can_be_copied) {
        return Err(Refusal::NoText);
    }
    let mut layout = Layout::new(&program, &code);
    layout.distance += shift;
    let slots = layout.start() + std::mem::offset_of!(RelocatedHeader, slots) as u64;
    let keep = options.keep_probes || options.scheduled;
    let entries = (!keep).then(|| Entries::of(&code, &program.handlers));
    let short = layout.start() + size_of::<RelocatedHeader>() as u64 + 4 * program.code.len() as u64;
    let mut emitter = Emitter::new(&code, entries, slots, short);
    emitter.scheduled = options.scheduled;
    code.functions.iter().filter(|f| f.can_be_copied).for_each(|f| emitter.function(f));
    let (probed, uses_high_vectors) = (emitter.probed, emitter.uses_high_vectors());
    let (copies, cold_parts, loads) = (emitter.copies, emitter.cold_parts, emitter.loads);
    let (late_parts, late_loops) = (emitter.late_parts, emitter.late_loops);
    let mut all = emitter.hot;
    let late = all.len();
    all.append(&mut emitter.late);
    let cold = all.len();
    all.append(&mut emitter.cold);
    let translate = all.len();
    all.extend(translate::function(&program, layout.start(), layout.start() + layout.code));
    let encoded = layout.encode(&all, layout.start())?;
    if encoded.code_buffer.len() as u64 > layout.room {
        return Err(Refusal::NotEncodable("the copy is larger than was reserved for it".into()));
    }

    let offset = |n: usize| encoded.new_instruction_offsets[n];
    let text_offset = |address: u64| (address - BIAS - program.text) as u32;
    let of = |n: usize, at: usize| [offset(at), text_offset(code.instructions[n].ip())];
    let mut back: Vec<[u32; 2]> = copies.iter().map(|(n, at)| of(*n, *at)).collect();
    let mut map = vec![0u32; program.code.len()];
    back.iter().for_each(|[new, old]| map[*old as usize] = new + 1);
    back.extend(late_parts.iter().map(|(n, at)| of(*n, late + at)));
    back.extend(cold_parts.iter().map(|(n, at)| of(*n, cold + at)));
    let returns_to = |place: &EmittedInstruction| match place {
        EmittedInstruction::Hot(at) => offset(*at),
        EmittedInstruction::Cold(at) => offset(cold + at),
    };
    let mut loads: Vec<[u32; 2]> =
        loads.iter().map(|(place, way)| [returns_to(place), offset(cold + way)]).collect();
    loads.sort_unstable();
    debug_assert!(back.is_sorted());
    let patches: Vec<[u32; 2]> = patches(&program, &code, &map);
    let counts = count(&program, &code, probed);
    let tables = Tables {
        moved: layout.moved(&all, &encoded)?,
        translate: offset(translate).into(),
        late_loops,
        map,
        back,
        patches,
        loads,
        atomics: atomics(&program, &code),
        relaxed: distances(&program, program.atomics.iter().copied()),
        uses_high_vectors,
        has_atomics: !program.atomics.is_empty() || code.accesses.iter().any(InstructionAccess::is_atomic),
        poisoned: if options.poison { poisoned(&program, &code) } else { Vec::new() },
    };
    let file = layout.file(&program, &tables, &encoded.code_buffer, object, counts)?;
    Ok(Relocated { file, counts })
}

/// Copied functions that are to begin with a jump to their copies.
fn patches(program: &RelocatedProgram, code: &Code, map: &[u32]) -> Vec<[u32; 2]> {
    let copied = code.functions.iter().filter(|f| f.can_be_copied && f.can_be_patched);
    copied
        .map(|f| {
            let at = (f.range.start - program.text) as u32;
            [at, map[at as usize] - 1]
        })
        .collect()
}

fn count(program: &RelocatedProgram, code: &Code, probed: u64) -> CopyCounts {
    let is_access = |a: &&InstructionAccess| **a != InstructionAccess::None;
    CopyCounts {
        functions: program.functions.iter().filter(|r| !r.contains(&program.entry)).count() as u64,
        // One without a jump to its copy is watched only where it is called by name.
        functions_copied: code.functions.iter().filter(|f| f.can_be_copied && f.can_be_patched).count()
            as u64,
        accesses: code.accesses.iter().filter(is_access).count() as u64,
        accesses_probed: probed,
        unknown_code: u64::from(program.has_unknown_code),
    }
}

/// Variables that an atomic instruction names, and guards: distances from the text.
fn atomics(program: &RelocatedProgram, code: &Code) -> Vec<u32> {
    let named = code.instructions.iter().zip(&code.accesses).filter_map(|(i, access)| {
        let is = *access == InstructionAccess::Atomic && i.memory_base() == Register::RIP;
        is.then(|| i.memory_displacement64() - BIAS)
    });
    distances(program, named.chain(program.guards.iter().copied()))
}

fn distances(program: &RelocatedProgram, addresses: impl Iterator<Item = u64>) -> Vec<u32> {
    let mut all: Vec<u32> = addresses.map(|address| address.wrapping_sub(program.text) as u32).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The instructions of functions that nothing enters any more.
fn poisoned(program: &RelocatedProgram, code: &Code) -> Vec<u32> {
    let dead = code.functions.iter().filter(|f| f.can_be_copied && f.can_be_patched);
    dead.flat_map(|f| &code.instructions[f.body.clone()])
        .map(|i| (i.ip() - BIAS - program.text) as u32)
        .collect()
}

struct Tables {
    map: Vec<u32>,
    back: Vec<[u32; 2]>,
    patches: Vec<[u32; 2]>,
    loads: Vec<[u32; 2]>,
    atomics: Vec<u32>,
    relaxed: Vec<u32>,
    poisoned: Vec<u32>,
    moved: Vec<u32>,
    translate: u64,
    late_loops: usize,
    uses_high_vectors: bool,
    has_atomics: bool,
}

/// Where the parts of the file are. Decided before the code is encoded, which refers to them.
struct Layout {
    code: u64,
    /// For the code, at most.
    room: u64,
    distance: i64,
}

impl Layout {
    fn new(program: &RelocatedProgram, code: &Code) -> Layout {
        let instructions = code.instructions.len() as u64;
        let (loops, in_loops) = loops::at_most(code);
        // Each table has at most one entry for each instruction, but `back`, which has two more for
        // the cold parts, one for the copy of a loop, and some where that is left.
        let tables = program.code.len() as u64 * 4
            + instructions * 8 * 7
            + loops * (4 + 8 * loops::MOST_PARTS)
            + code.functions.len() as u64 * 8;
        let start = (size_of::<RelocatedHeader>() as u64
            + tables
            + 8 * (program.guards.len() + program.atomics.len()) as u64)
            .next_multiple_of(PAGE);
        // An instruction is at most 15 bytes, its probes with all ways fewer than 385; the
        // constants of the checks are fewer than 1000.
        let room = ((instructions + in_loops) * 400
            + loops * 128 * loops::MOST_PARTS
            + code.functions.len() as u64 * 16
            + 1000)
            .next_multiple_of(PAGE);
        let distance = if program.is_fixed {
            ABOVE as i64
        } else {
            -((start + room + GAP).next_multiple_of(PAGE) as i64)
        };
        Layout { code: start, room, distance }
    }

    /// The address of the file's beginning, among those that the code was decoded at: the place
    /// that needs no corrections.
    fn start(&self) -> u64 {
        BIAS.wrapping_add_signed(self.distance)
    }

    /// As if the file began at `start`.
    fn encode(&self, all: &[Instruction], start: u64) -> Result<BlockEncoderResult, Refusal> {
        let block = InstructionBlock::new(all, start + self.code);
        let wanted = BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS
            | BlockEncoderOptions::RETURN_CONSTANT_OFFSETS;
        BlockEncoder::encode(64, block, wanted).map_err(|e| Refusal::NotEncodable(e.to_string()))
    }

    /// Where in the code distances to the object are: they change with the place of the copy.
    fn moved(&self, all: &[Instruction], encoded: &BlockEncoderResult) -> Result<Vec<u32>, Refusal> {
        let own = self.start()..self.start() + self.code + encoded.code_buffer.len() as u64;
        // Labels are far above.
        let is_of_object = |address: u64| address < 2 * BIAS && !own.contains(&address);
        let mut moved = Vec::new();
        for (n, i) in all.iter().enumerate() {
            let offsets = &encoded.constant_offsets[n];
            let branches = i.op_count() > 0 && i.op0_kind() == OpKind::NearBranch64;
            let at = if branches && is_of_object(i.near_branch_target()) {
                (offsets.immediate_size() == 4).then(|| offsets.immediate_offset())
            } else if i.is_ip_rel_memory_operand() && is_of_object(i.memory_displacement64()) {
                (offsets.displacement_size() == 4).then(|| offsets.displacement_offset())
            } else {
                continue;
            };
            let at = at.ok_or_else(|| Refusal::NotEncodable(format!("`{:?}` has no distance", i.code())))?;
            moved.push(encoded.new_instruction_offsets[n] + at as u32);
        }
        Ok(moved)
    }

    fn file(
        &self,
        program: &RelocatedProgram,
        tables: &Tables,
        code: &[u8],
        object: Identity,
        counts: CopyCounts,
    ) -> Result<Vec<u8>, Refusal> {
        let mut body: Vec<u8> = vec![0; size_of::<RelocatedHeader>()];
        let mut put = |words: &mut dyn Iterator<Item = u32>| {
            let at = body.len() as u64;
            words.for_each(|w| body.extend_from_slice(&w.to_le_bytes()));
            at
        };
        let map = put(&mut tables.map.iter().copied());
        put(&mut std::iter::repeat_n(0, tables.late_loops));
        let mut pairs = |t: &Vec<[u32; 2]>| [put(&mut t.iter().flatten().copied()), t.len() as u64];
        let (back, patches, loads) = (pairs(&tables.back), pairs(&tables.patches), pairs(&tables.loads));
        let mut words = |t: &Vec<u32>| [put(&mut t.iter().copied()), t.len() as u64];
        let (atomics, relaxed) = (words(&tables.atomics), words(&tables.relaxed));
        let poisoned = words(&tables.poisoned);
        if body.len() as u64 > self.code {
            return Err(Refusal::NotEncodable("its tables are larger than was reserved for them".into()));
        }
        body.resize(self.code as usize, 0);
        body.extend_from_slice(code);
        body.resize(body.len().next_multiple_of(4), 0xcc);
        let moved = [body.len() as u64, tables.moved.len() as u64];
        tables.moved.iter().for_each(|at| body.extend_from_slice(&at.to_le_bytes()));
        body.resize(body.len().next_multiple_of(PAGE as usize), 0xcc);
        let mut slots = [0; slot::COUNT];
        slots[slot::HIGH_VECTORS] = u64::from(tables.uses_high_vectors);
        slots[slot::ATOMICS] = u64::from(tables.has_atomics);
        let header = RelocatedHeader {
            magic: MAGIC,
            version: raddle_wire::VERSION,
            pad: 0,
            object,
            distance: self.distance,
            image: [program.image.start, program.image.end],
            text: program.text,
            text_len: program.code.len() as u64,
            len: body.len() as u64,
            code: self.code,
            code_len: code.len() as u64,
            map,
            back,
            patches,
            loads,
            atomics,
            relaxed,
            poisoned,
            moved,
            translate: tables.translate,
            counts,
            slots,
            end: 0,
        };
        body[..size_of::<RelocatedHeader>()].copy_from_slice(header.as_bytes());
        Ok(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const LIBRARY: &str = "#include <stdio.h>
#include <stdlib.h>
int counter, table[8];
static __thread int mine;
int by_table(int x) {
    switch (x % 8) {
    case 0: return 3; case 1: return x * 7; case 2: return x ^ 55; case 3: return x - 9;
    case 4: return 100 - x; case 5: return table[x]; case 6: return x | 64; default: return -x;
    }
}
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int work(int n) {
    static const float weights[4] = {1, 2, 3, 4};
    for (int i = 0; i < n; i++) counter += by_table(i) + (int)weights[i % 4] + mine++;
    __atomic_fetch_add(&table[1], 1, __ATOMIC_SEQ_CST);
    qsort(table, 8, sizeof *table, compare);
    printf(\"%d\\n\", counter);
    return __atomic_load_n(&table[2], __ATOMIC_ACQUIRE);
}
";

    fn library(flags: &[&str]) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let (source, made) = (folder.path().join("library.c"), folder.path().join("library.so"));
        std::fs::write(&source, LIBRARY).unwrap();
        let mut gcc = Command::new("gcc");
        assert!(
            gcc.args(["-shared", "-fPIC", "-g"])
                .args(flags)
                .arg(&source)
                .arg("-o")
                .arg(&made)
                .status()
                .unwrap()
                .success()
        );
        std::fs::read(made).unwrap()
    }

    fn word(file: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(file[at..at + 4].try_into().unwrap())
    }

    /// What the runtime does to put a copy elsewhere gives the copy that was made for that place.
    #[test]
    fn a_moved_copy_is_one_made_for_its_place() {
        const SHIFT: i64 = 0x1234_5000;
        for flags in [["-O0"], ["-O2"]] {
            let bytes = library(&flags);
            let options = CopyOptions { library: true, ..CopyOptions::default() };
            let at = |shift| relocate_at(&bytes, Identity::default(), options, shift).unwrap().file;
            let (mut usual, moved) = (at(0), at(SHIFT));
            // SAFETY: a header, which is numbers.
            let header = unsafe { usual.as_ptr().cast::<RelocatedHeader>().read_unaligned() };
            let [first, count] = header.moved.map(|n| n as usize);
            assert!(count > 4, "{count}");
            for n in 0..count {
                let place = header.code as usize + word(&usual, first + 4 * n) as usize;
                let distance = word(&usual, place).wrapping_sub(SHIFT as u32);
                usual[place..place + 4].copy_from_slice(&distance.to_le_bytes());
            }
            let code = header.code as usize..(header.code + header.code_len) as usize;
            assert!(usual[code.clone()] == moved[code], "{flags:?}");
        }
    }

    /// Parallel regions of C have handlers, and no more of the unwinder than its personality.
    #[test]
    fn the_personality_of_c_is_the_unwinder_of_libgcc() {
        let folder = tempfile::tempdir().unwrap();
        let (source, made) = (folder.path().join("parallel.c"), folder.path().join("parallel.so"));
        let text = "int work(int);\nint sum(int n) {\n int s = 0;\n#pragma omp parallel for reduction(+ : s)\n for (int i = 0; i < n; i++) s += work(i);\n return s;\n}\n";
        std::fs::write(&source, text).unwrap();
        let mut gcc = Command::new("gcc");
        gcc.args(["-shared", "-fPIC", "-O1", "-fopenmp", "-fexceptions"]).arg(&source).arg("-o").arg(&made);
        assert!(gcc.status().unwrap().success());
        let options = CopyOptions { library: true, ..CopyOptions::default() };
        let bytes = std::fs::read(made).unwrap();
        assert!(bytes.windows(20).any(|w| w == b"__gcc_personality_v0"));
        let copied = relocate(&bytes, Identity::default(), options).unwrap().counts;
        assert_eq!((copied.functions_copied, copied.functions), (2, 2));
    }

    #[test]
    fn a_library_whose_code_the_loader_writes_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (source, made) = (folder.path().join("text.s"), folder.path().join("text.so"));
        let text = ".globl f\n.type f, @function\nf: movabs $f, %rax\n ret\n.size f, .-f\n";
        std::fs::write(&source, text).unwrap();
        let mut gcc = Command::new("gcc");
        let status = gcc.args(["-shared", "-Wl,-z,notext"]).arg(&source).arg("-o").arg(&made).status();
        assert!(status.unwrap().success());
        let options = CopyOptions { library: true, ..CopyOptions::default() };
        let refused = relocate(&std::fs::read(made).unwrap(), Identity::default(), options);
        assert!(matches!(refused, Err(Refusal::WrittenText)));
    }
}
