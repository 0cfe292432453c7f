//! Reads values from memory, in the sizes that a trace knows.

/// The aligned pieces of a block, each as large as possible.
pub fn pieces(address: usize, len: usize) -> impl Iterator<Item = (usize, usize)> {
    let end = address + len;
    let mut at = address;
    core::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let mut size = 8;
        while !at.is_multiple_of(size) || at + size > end {
            size /= 2;
        }
        at += size;
        Some((at - size, size))
    })
}

/// The value in memory as a number. No other thread runs.
#[inline]
pub fn value(address: usize, size: usize) -> u64 {
    // SAFETY: the program is about to access it, or just has.
    unsafe {
        match size {
            1 => u64::from((address as *const u8).read_volatile()),
            2 => u64::from((address as *const u16).read_unaligned()),
            4 => u64::from((address as *const u32).read_unaligned()),
            _ => (address as *const u64).read_unaligned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_cut_at_whole_words() {
        assert_eq!(pieces(5, 14).collect::<Vec<_>>(), [(5, 1), (6, 2), (8, 8), (16, 2), (18, 1)]);
        assert_eq!(pieces(16, 8).collect::<Vec<_>>(), [(16, 8)]);
        assert_eq!(pieces(16, 0).count(), 0);
    }

    #[test]
    fn values_are_read_in_each_size() {
        let word = 0x8877_6655_4433_2211u64;
        let at = &raw const word as usize;
        assert_eq!([1, 2, 4, 8].map(|size| value(at, size)), [0x11, 0x2211, 0x4433_2211, word]);
        assert_eq!(value(at + 1, 2), 0x3322);
    }
}
