//! The identity of a function, independent of its address.
//!
//! After a rebuild most functions are unchanged, but none is at its old address. A fingerprint is a
//! hash of everything that an analysis of the function reads: its instructions, with addresses
//! replaced by what they mean; the shape of its control flow; and for each callee its name, whether
//! it returns, whether it is worth entering, and its own hash. Data is named by its symbol. Data
//! without a symbol is named by the order of its first use, because the analysis only asks whether
//! two places are the same.

use iced_x86::{FlowControl, Instruction, OpKind};
use rustc_hash::FxHashMap as HashMap;
use sha2::{Digest, Sha256};

use super::function::MachineFunction;
use super::program::MachineProgram;

/// The hash. Two functions with one fingerprint get the same answers, at their own addresses.
pub type Fingerprint = [u8; 16];

impl<'m> MachineProgram<'m> {
    /// The fingerprint of a function; `None` if there is none at `entry` or it is too large.
    pub fn fingerprint(&self, entry: u64) -> Option<Fingerprint> {
        if let Some(&known) = self.fingerprints.borrow().get(&entry) {
            return known;
        }
        let function = self.function(entry);
        let found = function.map(|function| {
            let mut hash = Hash(Sha256::new());
            hash.bytes(&self.looks(&function));
            let mut callees: Vec<_> = function.callees.iter().collect();
            callees.sort_unstable_by_key(|(index, _)| **index);
            for (_, callee) in callees.into_iter().filter(|(_, callee)| callee.probe().is_none()) {
                let local = callee.entry.and_then(|entry| self.function(entry));
                hash.bytes(&local.map(|callee| self.looks(&callee)).unwrap_or_default());
            }
            hash.finish()
        });
        self.fingerprints.borrow_mut().insert(entry, found);
        found
    }

    /// The hash of a function that knows its callees by name only.
    fn looks(&self, function: &MachineFunction<'m>) -> Fingerprint {
        if let Some(&known) = self.looks.borrow().get(&function.entry()) {
            return known;
        }
        let mut hash = Hash(Sha256::new());
        hash.text(function.name().unwrap_or_default());
        hash.number(u64::from(function.entry_block()));
        let mut unnamed = HashMap::default();
        for (index, instruction) in (0..).zip(&function.code) {
            self.add_instruction(&mut hash, function, index, instruction, &mut unnamed);
        }
        for block in 0..function.blocks.len() as u32 {
            hash.number(u64::from(function.last_of(block)));
            function.graph.successors(block).iter().for_each(|to| hash.number(u64::from(*to)));
        }
        function.unwinding.iter().for_each(|(from, to)| hash.number(u64::from(*from) << 32 | u64::from(*to)));
        let found = hash.finish();
        self.looks.borrow_mut().insert(function.entry(), found);
        found
    }

    fn add_instruction(
        &self,
        hash: &mut Hash,
        function: &MachineFunction<'m>,
        index: u32,
        instruction: &Instruction,
        unnamed: &mut HashMap<u64, u64>,
    ) {
        hash.number(instruction.code() as u64);
        for operand in 0..instruction.op_count() {
            match instruction.op_kind(operand) {
                OpKind::Register => hash.number(instruction.op_register(operand) as u64),
                OpKind::NearBranch64 => {
                    let target = function.index_of(instruction.near_branch_target());
                    hash.number(target.map_or(u64::MAX, u64::from));
                }
                OpKind::Memory if instruction.is_ip_rel_memory_operand() => {
                    self.add_data(hash, instruction.ip_rel_memory_address(), unnamed);
                }
                OpKind::Memory => {
                    hash.number(instruction.memory_base() as u64);
                    hash.number(instruction.memory_index() as u64);
                    hash.number(u64::from(instruction.memory_index_scale()));
                    hash.number(instruction.memory_displacement64());
                    hash.number(instruction.segment_prefix() as u64);
                }
                OpKind::FarBranch16 | OpKind::FarBranch32 | OpKind::NearBranch16 | OpKind::NearBranch32 => {}
                kind => {
                    hash.number(kind as u64);
                    let is_immediate = super::transfer::is_immediate(instruction, operand);
                    hash.number(if is_immediate { instruction.immediate(operand) } else { 0 });
                }
            }
        }
        if let Some(callee) = function.callee(index) {
            hash.text(callee.name.unwrap_or_default());
            if callee.probe().is_none() && instruction.flow_control() != FlowControl::ConditionalBranch {
                hash.number(u64::from(self.callee_returns(callee)));
                hash.number(u64::from(callee.entry.is_some_and(|entry| self.is_worth_entering(entry))));
            }
        }
    }

    fn add_data(&self, hash: &mut Hash, address: u64, unnamed: &mut HashMap<u64, u64>) {
        let next = unnamed.len() as u64;
        if let Some(name) = self.word_name(address) {
            hash.text(name);
        } else if let Some(symbol) = self.module().symbols().data_at(address) {
            hash.text(symbol.name);
            hash.number(address - symbol.address);
        } else {
            hash.number(*unnamed.entry(address).or_insert(next));
        }
        hash.number(u64::from(self.module().is_writable(address)));
    }
}

/// A hash that separates its inputs.
struct Hash(Sha256);

impl Hash {
    fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    fn finish(self) -> Fingerprint {
        let mut short = Fingerprint::default();
        short.copy_from_slice(&self.0.finalize()[..16]);
        short
    }
}
