//! What the debug directory of an assembly says of its portable PDB (PE/COFF): which build it is
//! of, and the PDB itself if it is inside of the assembly ("Embedded Portable PDB Debug Directory
//! Entry"), compressed with deflate.

/// The PDB in an assembly. None if there is none, or if it is broken.
pub fn embedded(file: &[u8]) -> Option<Vec<u8>> {
    const EMBEDDED: u32 = 17;
    unpack(entry(file, EMBEDDED)?)
}

/// The number of the build, which its PDB has, too. None: it has no PDB.
pub fn build(file: &[u8]) -> Option<[u8; 16]> {
    const CODE_VIEW: u32 = 2;
    entry(file, CODE_VIEW)?.strip_prefix(b"RSDS")?.first_chunk().copied()
}

/// What the first entry of a kind refers to.
fn entry(file: &[u8], kind: u32) -> Option<&[u8]> {
    const ENTRY: usize = 28;
    let (at, len) = debug_directory(file)?;
    let mut entries = file.get(at..at.checked_add(len)?)?.chunks_exact(ENTRY);
    let entry = entries.find(|entry| u32_at(entry, 12) == Some(kind))?;
    let (len, at) = (u32_at(entry, 16)? as usize, u32_at(entry, 24)? as usize);
    file.get(at..at.checked_add(len)?)
}

/// Unpacks a mark, the uncompressed length, and the compressed data.
fn unpack(data: &[u8]) -> Option<Vec<u8>> {
    /// No PDB is longer, and a broken length must not take all memory.
    const LONGEST: usize = 256 << 20;
    let packed = data.strip_prefix(b"MPDB")?;
    let len = u32_at(packed, 0)? as usize;
    let unpacked = miniz_oxide::inflate::decompress_to_vec_with_limit(&packed[4..], len.min(LONGEST)).ok()?;
    (unpacked.len() == len).then_some(unpacked)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_le_bytes(*b))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_le_bytes(*b))
}

/// The offset and length of the debug directory in the file.
fn debug_directory(file: &[u8]) -> Option<(usize, usize)> {
    const WIDE: u16 = 0x20B;
    const DEBUG: usize = 6;
    let pe = u32_at(file, 0x3C)? as usize;
    if file.get(pe..pe.checked_add(4)?)? != b"PE\0\0" {
        return None;
    }
    let header = pe + 24;
    let directories = header + if u16_at(file, header)? == WIDE { 112 } else { 96 };
    let (address, len) = (u32_at(file, directories + 8 * DEBUG)?, u32_at(file, directories + 8 * DEBUG + 4)?);
    let sections = header + usize::from(u16_at(file, pe + 20)?);
    (0..usize::from(u16_at(file, pe + 6)?)).find_map(|n| {
        let section = sections + 40 * n;
        let [size, start, raw] =
            [u32_at(file, section + 8)?, u32_at(file, section + 12)?, u32_at(file, section + 20)?];
        let offset = address.checked_sub(start).filter(|offset| *offset < size)?;
        Some((raw.checked_add(offset)? as usize, len as usize))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed_comes_back() {
        let text = b"BSJB and so on ".repeat(20);
        let packed = miniz_oxide::deflate::compress_to_vec(&text, 6);
        let whole = [&b"MPDB"[..], &(text.len() as u32).to_le_bytes(), &packed].concat();
        assert_eq!(unpack(&whole).as_deref(), Some(&text[..]));
        for len in 0..whole.len() {
            assert_eq!(unpack(&whole[..len]), None, "cut off at {len}");
        }
        let wrong = [&b"MPDB"[..], &(text.len() as u32 + 1).to_le_bytes(), &packed].concat();
        assert_eq!(unpack(&wrong), None);
    }

    #[test]
    fn what_is_no_assembly_has_none() {
        assert_eq!((embedded(b""), build(b"")), (None, None));
        assert_eq!(embedded(&[0; 200]), None);
        let mut broken = vec![0xFF; 200];
        broken[0x3C..0x40].copy_from_slice(&64_u32.to_le_bytes());
        broken[64..68].copy_from_slice(b"PE\0\0");
        assert_eq!(embedded(&broken), None);
    }
}
