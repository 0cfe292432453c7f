//! Copies the functions of a finished program and puts probes into the copy.
//!
//! This is the third source of probes, beside gcc's and clang's `-fsanitize=thread`: a program that
//! nobody can rebuild. The driver calls [`relocate`] before the target starts; the runtime maps the
//! result and makes the program execute it (`rt::relocated`). The file between the two is
//! `wire::relocated`.
//!
//! # How
//!
//! 1. `program`: functions, from `.eh_frame` and, where that is silent, from symbols.
//! 2. `code`: their instructions, and which functions can be copied. The others stay as they are and
//!    are counted.
//! 3. `access`: what each instruction does to memory that threads may share.
//! 4. `merge`: which accesses one probe announces together.
//! 5. `emit`: the copy, with a probe before each access and around each call. Most are checks in the
//!    code (`inline`), in registers that nobody looks at again (`liveness`).
//! 6. Here: all copies encoded as one block, so that jumps between functions resolve, and tables
//!    from old to new addresses and back.
//!
//! # Invariants
//!
//! - *Data stays where it is.* A copied instruction that names an address (`lea`, RIP-relative
//!   operands, tables in read-only data) names the original. So a pointer to a function is the same
//!   everywhere, and a call through it runs into the jump at the function's old beginning.
//! - *Every address of the original text that the program can jump to is translated or patched*:
//!   direct branches when they are copied, jump tables and computed gotos by `TRANSLATE`, entries by
//!   patches, landing pads of exceptions by the runtime's `_Unwind_SetIP`.
//! - *Return addresses are those of the copy.* So `ret`, `setjmp` and `longjmp` need nothing. The
//!   unwinder needs the runtime's `_Unwind_Find_FDE`, which is why a program with an unwinder of its
//!   own is refused.
//! - *A probe changes nothing that the program can see*: see `emit`.
//! - *Copied and uncopied code do not jump into each other's middle*: see `code`.
//!
//! # What machine code does not say
//!
//! An acquire load, a release store and a relaxed access are plain `mov`s. In C++ and Rust the debug
//! information says which of them were inlined from an atomic operation, and mostly its memory order
//! (`atomic_calls`): a relaxed one is not checked and orders nothing, another acquires or releases.
//! Read-modify-writes of other orders than relaxed acquire and release both.
//!
//! Without that, as in C, an instruction with LOCK, or `xchg`, makes its variable one that
//! synchronises: from then on its loads acquire and its stores release, and it is not checked. Global
//! variables that such an instruction names are known before the program starts. So relaxed
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
mod merge;
mod program;

use iced_x86::{BlockEncoder, BlockEncoderOptions, InstructionBlock, Register};
use raddle_wire::relocated::{Counts, Header, Identity, MAGIC, slot};
use thiserror::Error;

use access::Access;
use code::{BIAS, Code};
use emit::{Emitter, Place};
use merge::Entries;
use program::Program;

/// Why a program cannot be watched without being built for it.
#[derive(Debug, Error)]
pub enum Refusal {
    #[error("it is not a 64-bit x86 program")]
    NotX86_64,
    #[error("it is statically linked, and raddle works through the dynamic linker")]
    Static,
    #[error("it is a Go program, whose runtime has its own stacks and threads")]
    Go,
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

/// A program's code with probes, as the runtime maps it.
pub struct Relocated {
    pub file: Vec<u8>,
    pub counts: Counts,
}

const PAGE: u64 = 4096;
/// Between the copy and a program that is loaded anywhere, which it lies below.
const GAP: u64 = 16 << 20;
/// From a program at a fixed address to the copy, which lies above, beyond the heap.
const ABOVE: u64 = 1 << 30;

/// How a program is copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The runtime is to overwrite the originals with traps.
    pub poison: bool,
    /// Each access keeps a probe of its own.
    pub keep_probes: bool,
}

/// Copies the functions of the executable in `bytes`.
pub fn relocate(bytes: &[u8], executable: Identity, options: Options) -> Result<Relocated, Refusal> {
    let program = Program::read(bytes)?;
    let code = Code::read(&program);
    if !code.functions.iter().any(|f| f.can_be_copied) {
        return Err(Refusal::NoText);
    }
    let layout = Layout::new(&program, &code);
    let slots = layout.start() + std::mem::offset_of!(Header, slots) as u64;
    let entries = (!options.keep_probes).then(|| Entries::of(&code, &program.handlers));
    let mut emitter = Emitter::new(&code, entries, slots);
    code.functions.iter().filter(|f| f.can_be_copied).for_each(|f| emitter.function(f));
    let (probed, uses_high_vectors) = (emitter.probed, emitter.uses_high_vectors());
    let (copies, cold_parts, loads) = (emitter.copies, emitter.cold_parts, emitter.loads);
    let hot = emitter.hot.len();
    let mut all = emitter.hot;
    all.append(&mut emitter.cold);
    let block = InstructionBlock::new(&all, layout.start() + layout.code);
    let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS)
        .map_err(|e| Refusal::NotEncodable(e.to_string()))?;
    if encoded.code_buffer.len() as u64 > layout.room {
        return Err(Refusal::NotEncodable("the copy is larger than was reserved for it".into()));
    }

    let offset = |n: usize| encoded.new_instruction_offsets[n];
    let text_offset = |address: u64| (address - BIAS - program.text) as u32;
    let of = |n: usize, at: usize| [offset(at), text_offset(code.instructions[n].ip())];
    let mut back: Vec<[u32; 2]> = copies.iter().map(|(n, at)| of(*n, *at)).collect();
    let mut map = vec![0u32; program.code.len()];
    back.iter().for_each(|[new, old]| map[*old as usize] = new + 1);
    back.extend(cold_parts.iter().map(|(n, at)| of(*n, hot + at)));
    let returns_to = |place: &Place| match place {
        Place::Hot(at) => offset(*at),
        Place::Cold(at) => offset(hot + at),
    };
    let mut loads: Vec<[u32; 2]> =
        loads.iter().map(|(place, cold)| [returns_to(place), offset(hot + cold)]).collect();
    loads.sort_unstable();
    debug_assert!(back.is_sorted());
    let patches: Vec<[u32; 2]> = patches(&program, &code, &map);
    let counts = count(&program, &code, probed);
    let tables = Tables {
        map,
        back,
        patches,
        loads,
        atomics: atomics(&program, &code),
        relaxed: distances(&program, program.atomics.iter().copied()),
        uses_high_vectors,
        poisoned: if options.poison { poisoned(&program, &code) } else { Vec::new() },
    };
    let file = layout.file(&program, &tables, &encoded.code_buffer, executable, counts)?;
    Ok(Relocated { file, counts })
}

/// Copied functions that are to begin with a jump to their copies.
fn patches(program: &Program, code: &Code, map: &[u32]) -> Vec<[u32; 2]> {
    let copied = code.functions.iter().filter(|f| f.can_be_copied && f.can_be_patched);
    copied
        .map(|f| {
            let at = (f.range.start - program.text) as u32;
            [at, map[at as usize] - 1]
        })
        .collect()
}

fn count(program: &Program, code: &Code, probed: u64) -> Counts {
    let is_access = |a: &&Access| **a != Access::None;
    Counts {
        functions: program.functions.iter().filter(|r| !r.contains(&program.entry)).count() as u64,
        // One without a jump to its copy is watched only where it is called by name.
        functions_copied: code.functions.iter().filter(|f| f.can_be_copied && f.can_be_patched).count()
            as u64,
        accesses: code.accesses.iter().filter(is_access).count() as u64,
        accesses_probed: probed,
    }
}

/// Variables that an atomic instruction names, and guards: distances from the text.
fn atomics(program: &Program, code: &Code) -> Vec<u32> {
    let named = code.instructions.iter().zip(&code.accesses).filter_map(|(i, access)| {
        let is = *access == Access::Atomic && i.memory_base() == Register::RIP;
        is.then(|| i.memory_displacement64() - BIAS)
    });
    distances(program, named.chain(program.guards.iter().copied()))
}

fn distances(program: &Program, addresses: impl Iterator<Item = u64>) -> Vec<u32> {
    let mut all: Vec<u32> = addresses.map(|address| address.wrapping_sub(program.text) as u32).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The instructions of functions that nothing enters any more.
fn poisoned(program: &Program, code: &Code) -> Vec<u32> {
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
    uses_high_vectors: bool,
}

/// Where the parts of the file are. Decided before the code is encoded, which refers to them.
struct Layout {
    code: u64,
    /// For the code, at most.
    room: u64,
    distance: i64,
}

impl Layout {
    fn new(program: &Program, code: &Code) -> Layout {
        let instructions = code.instructions.len() as u64;
        // Each table has at most one entry for each instruction, but `back`, which has two more for
        // the cold parts.
        let tables = program.code.len() as u64 * 4 + instructions * 8 * 6 + code.functions.len() as u64 * 8;
        let start =
            (size_of::<Header>() as u64 + tables + 8 * (program.guards.len() + program.atomics.len()) as u64)
                .next_multiple_of(PAGE);
        // An instruction is at most 15 bytes, its probes with all ways fewer than 385; the constants
        // of the checks are fewer than 1000.
        let room = (instructions * 400 + code.functions.len() as u64 * 16 + 1000).next_multiple_of(PAGE);
        let distance = if program.is_fixed {
            ABOVE as i64
        } else {
            -((start + room + GAP).next_multiple_of(PAGE) as i64)
        };
        Layout { code: start, room, distance }
    }

    /// The address of the file's beginning, among those that the code was decoded at.
    fn start(&self) -> u64 {
        BIAS.wrapping_add_signed(self.distance)
    }

    fn file(
        &self,
        program: &Program,
        tables: &Tables,
        code: &[u8],
        executable: Identity,
        counts: Counts,
    ) -> Result<Vec<u8>, Refusal> {
        let mut body: Vec<u8> = vec![0; size_of::<Header>()];
        let mut put = |words: &mut dyn Iterator<Item = u32>| {
            let at = body.len() as u64;
            words.for_each(|w| body.extend_from_slice(&w.to_le_bytes()));
            at
        };
        let map = put(&mut tables.map.iter().copied());
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
        body.resize(body.len().next_multiple_of(PAGE as usize), 0xcc);
        let mut slots = [0; slot::COUNT];
        slots[slot::HIGH_VECTORS] = u64::from(tables.uses_high_vectors);
        let header = Header {
            magic: MAGIC,
            version: raddle_wire::VERSION,
            pad: 0,
            executable,
            distance: self.distance,
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
            counts,
            slots,
            end: 0,
        };
        body[..size_of::<Header>()].copy_from_slice(header.as_bytes());
        Ok(body)
    }
}
