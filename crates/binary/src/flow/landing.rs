//! Landing pads: where execution continues when an exception leaves a call (the language-specific
//! data area of the Itanium C++ ABI, `.gcc_except_table`; Rust uses the same).

use std::ops::Range;

use gimli::{Pointer, constants};
use rustc_hash::FxHashMap as HashMap;

use crate::module::Module;

/// The calls in a range of code, and where their exceptions land.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Landing {
    pub(crate) calls: Range<u64>,
    pub(crate) pad: u64,
}

impl Module {
    /// The table of each function that has one, by the function's start.
    pub(crate) fn landing_tables(&self) -> HashMap<u64, u64> {
        let mut tables = HashMap::default();
        self.each_unwind_entry(|fde| {
            if let Some(Pointer::Direct(address)) = fde.lsda() {
                tables.insert(fde.initial_address(), address);
            }
        });
        tables
    }

    /// Reads the table at `address` of the function at `start`. Reading stops at damage.
    pub(crate) fn landings(&self, start: u64, address: u64) -> Vec<Landing> {
        self.all_landings(start, address).unwrap_or_default()
    }

    /// Like [`Module::landings`]; `None` if the table is damaged.
    pub(crate) fn all_landings(&self, start: u64, address: u64) -> Option<Vec<Landing>> {
        Reader { module: self, at: address }.landings(start)
    }
}

struct Reader<'m> {
    module: &'m Module,
    at: u64,
}

impl Reader<'_> {
    fn landings(&mut self, start: u64) -> Option<Vec<Landing>> {
        let base_encoding = self.byte()?;
        let base =
            if base_encoding == constants::DW_EH_PE_omit.0 { start } else { self.encoded(base_encoding)? };
        if self.byte()? != constants::DW_EH_PE_omit.0 {
            self.uleb()?;
        }
        let encoding = self.byte()?;
        let end = self.uleb()?.checked_add(self.at)?;
        let mut landings = Vec::new();
        while self.at < end {
            let (from, length, pad) =
                (self.encoded(encoding)?, self.encoded(encoding)?, self.encoded(encoding)?);
            self.uleb()?;
            if pad != 0 {
                let from = start.wrapping_add(from);
                landings
                    .push(Landing { calls: from..from.wrapping_add(length), pad: base.wrapping_add(pad) });
            }
        }
        Some(landings)
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.module.bytes_at(self.at, 1)?.first()?;
        self.at += 1;
        Some(byte)
    }

    fn uleb(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn fixed(&mut self, size: u64) -> Option<u64> {
        let bytes = self.module.bytes_at(self.at, size as usize)?;
        let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        self.at += size;
        Some(value)
    }

    /// A value in one of the pointer encodings, relative to its own place if so marked.
    fn encoded(&mut self, encoding: u8) -> Option<u64> {
        let place = self.at;
        let value = match encoding & 0x0f {
            0x00 | 0x04 | 0x0c => self.fixed(8)?,
            0x01 => self.uleb()?,
            0x02 => self.fixed(2)?,
            0x03 => self.fixed(4)?,
            0x0b => i64::from(self.fixed(4)? as i32) as u64,
            _ => return None,
        };
        Some(if encoding & 0x70 == 0x10 && value != 0 { value.wrapping_add(place) } else { value })
    }
}
