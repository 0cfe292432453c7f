//! The intermediate code: a stack machine with instructions for concurrency.
//!
//! Section 3.2 of the paper maps source to "a self-designed virtual stack machine code … extended
//! with concurrency-specific instructions". This is ours. It knows bytes, scalars, frames, threads
//! and synchronisation objects; it knows no language. A front end lowers one file to a [`Unit`],
//! whose names are still symbolic. [`link`] puts units together into a [`Program`], whose code is
//! one contiguous array and whose addresses are final. The interpreter runs only programs.
//!
//! Conventions that every front end keeps:
//!
//! 1. A value is 64 bits. Narrow integers are extended to 64 bits according to their type. `F32` is
//!    its 32 bits zero-extended. Pointers are addresses in the simulated memory.
//! 2. Every function returns exactly one value; a function without a result returns 0.
//! 3. Arguments are pushed left to right and become the first locals of the callee.
//! 4. Aggregates are passed by the address of a copy that belongs to the caller.
//! 5. The operand stack is balanced: [`cfg::verify`] computes its depth along all paths, and
//!    linking rejects a function for which that fails.

pub mod build;
pub mod cfg;
pub mod doom;
mod instr;
pub mod link;
pub mod objects;
mod unit;

pub use instr::{
    AccessClass, AtomicInstr, Bin, Instr, Intrinsic, MemoryOrdering, Scalar, SyncOp, UNKNOWN_ELEMENT, Un,
};
pub use unit::{
    BitField, EntryPoint, Function, Global, GlobalInfo, GlobalShape, Handler, Linkage, MemberId, Pos,
    Program, Reloc, SourceFile, SwitchTable, SymbolRef, Unit, UnitFunction,
};
