//! Lines from portable PDBs: metadata (ECMA-335 II.24) with its own tables. Two of them are read,
//! `Document` (0x30) and `MethodDebugInformation` (0x31). See "Portable PDB v1.0: Format
//! Specification".

use crate::signature::{number, signed_number};

#[derive(Debug, Default)]
pub struct Pdb {
    /// The number of the build that it is of.
    id: [u8; 16],
    documents: Vec<String>,
    /// By row of the method.
    methods: Vec<Vec<SequencePoint>>,
}

/// The first instruction of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SequencePoint {
    offset: u32,
    /// Counted from one.
    document: u32,
    line: u32,
}

impl Pdb {
    /// None if it is not a PDB, or if a part of it is malformed.
    pub fn parse(file: &[u8]) -> Option<Pdb> {
        let Streams { tables, blobs, header } = streams(file)?;
        let mut rows = Rows::new(tables)?;
        let mut pdb = Pdb { id: *header.first_chunk()?, ..Pdb::default() };
        for _ in 0..rows.count(0x30) {
            let name = blob(blobs, rows.blob()?)?;
            pdb.documents.push(document_name(name, blobs)?);
            // The algorithm of its hash, the hash, and its language.
            rows.guid()?;
            rows.blob()?;
            rows.guid()?;
        }
        let wide = rows.count(0x30) > 0xFFFF;
        for _ in 0..rows.count(0x31) {
            let document = rows.index(wide)?;
            let points = sequence_points(document, blob(blobs, rows.blob()?)?);
            pdb.methods.push(points.unwrap_or_default());
        }
        Some(pdb)
    }

    /// Whether it is of this build. One of another build has lines that are not those of the
    /// module.
    pub fn is_of(&self, build: [u8; 16]) -> bool {
        self.id == build
    }

    /// The file and line of an instruction of a method, by the method's token.
    pub fn line(&self, method: u32, offset: u32) -> Option<(&str, u32)> {
        let row = (method & 0xFF_FFFF).checked_sub(1)?;
        let points = self.methods.get(row as usize)?;
        let point = points.iter().rfind(|point| point.offset <= offset)?;
        Some((self.documents.get(point.document.checked_sub(1)? as usize)?, point.line))
    }
}

fn word(bytes: &[u8], at: usize, len: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(len)?)?;
    Some(bytes.iter().rev().fold(0, |n, byte| n << 8 | u32::from(*byte)))
}

fn blob(heap: &[u8], at: u32) -> Option<&[u8]> {
    let (len, rest) = number(heap.get(at as usize..)?)?;
    rest.get(..len as usize)
}

struct Streams<'a> {
    tables: &'a [u8],
    /// The heap of blobs.
    blobs: &'a [u8],
    header: &'a [u8],
}

fn streams(file: &[u8]) -> Option<Streams<'_>> {
    if word(file, 0, 4)? != u32::from_le_bytes(*b"BSJB") {
        return None;
    }
    let mut at = 16 + word(file, 12, 4)? as usize;
    let count = word(file, at + 2, 2)?;
    at += 4;
    let (mut tables, mut blobs, mut header) = (None, None, None);
    for _ in 0..count {
        let (start, len) = (word(file, at, 4)? as usize, word(file, at + 4, 4)? as usize);
        let name = file.get(at + 8..)?.split(|b| *b == 0).next()?;
        at += 8 + (name.len() + 4) / 4 * 4;
        let stream = file.get(start..start.checked_add(len)?)?;
        match name {
            b"#~" => tables = Some(stream),
            b"#Blob" => blobs = Some(stream),
            b"#Pdb" => header = Some(stream),
            _ => {}
        }
    }
    Some(Streams { tables: tables?, blobs: blobs?, header: header? })
}

/// The rows of all tables, one after the other. No table comes before `Document` in such a file.
struct Rows<'a> {
    tables: &'a [u8],
    at: usize,
    counts: [u32; 64],
}

impl<'a> Rows<'a> {
    fn new(tables: &'a [u8]) -> Option<Rows<'a>> {
        let valid = u64::from(word(tables, 12, 4)?) << 32 | u64::from(word(tables, 8, 4)?);
        let mut rows = Rows { tables, at: 24, counts: [0; 64] };
        for table in (0..64).filter(|table| valid >> table & 1 != 0) {
            rows.counts[table] = word(tables, rows.at, 4)?;
            rows.at += 4;
        }
        (rows.counts[..0x30] == [0; 0x30]).then_some(rows)
    }

    fn count(&self, table: usize) -> u32 {
        self.counts[table]
    }

    fn index(&mut self, wide: bool) -> Option<u32> {
        let len = if wide { 4 } else { 2 };
        self.at += len;
        word(self.tables, self.at - len, len)
    }

    fn heap(&mut self, bit: u8) -> Option<u32> {
        let wide = self.tables.get(6)? & bit != 0;
        self.index(wide)
    }

    fn guid(&mut self) -> Option<u32> {
        self.heap(2)
    }

    fn blob(&mut self) -> Option<u32> {
        self.heap(4)
    }
}

/// A separator and the blobs of the parts.
fn document_name(name: &[u8], heap: &[u8]) -> Option<String> {
    let (separator, mut rest) = name.split_first()?;
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let (part, following) = number(rest)?;
        rest = following;
        parts.push(core::str::from_utf8(blob(heap, part)?).ok()?);
    }
    let separator = if *separator == 0 { String::new() } else { char::from(*separator).to_string() };
    Some(parts.join(&separator))
}

fn sequence_points(mut document: u32, blob: &[u8]) -> Option<Vec<SequencePoint>> {
    let mut points = Vec::new();
    if blob.is_empty() {
        return Some(points);
    }
    let (_locals, mut rest) = number(blob)?;
    if document == 0 {
        (document, rest) = number(rest)?;
    }
    let (mut offset, mut first, mut line) = (0_u32, true, None::<u32>);
    while !rest.is_empty() {
        let delta;
        (delta, rest) = number(rest)?;
        if delta == 0 && !first {
            (document, rest) = number(rest)?;
            continue;
        }
        first = false;
        offset = offset.checked_add(delta)?;
        let (lines, columns);
        (lines, rest) = number(rest)?;
        (columns, rest) =
            if lines == 0 { number(rest).map(|(n, r)| (n as i32, r))? } else { signed_number(rest)? };
        if lines == 0 && columns == 0 {
            // Code that belongs to no line.
            continue;
        }
        let start = match line {
            None => {
                let (start, following) = number(rest)?;
                rest = number(following)?.1;
                start
            }
            Some(before) => {
                let (delta, following) = signed_number(rest)?;
                rest = signed_number(following)?.1;
                before.checked_add_signed(delta)?
            }
        };
        line = Some(start);
        points.push(SequencePoint { offset, document, line: start });
    }
    Some(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_points_are_differences() {
        // Local signature 0; offset 0, 0 lines, 5 columns, line 10, column 9; a hidden one; then 3
        // lines down.
        let blob = [0, 0, 0, 5, 10, 9, 4, 0, 0, 2, 1, 0x06, 0x06, 0x06];
        let points = sequence_points(1, &blob).unwrap();
        let point = |offset, line| SequencePoint { offset, document: 1, line };
        assert_eq!(points, [point(0, 10), point(6, 13)]);
    }

    #[test]
    fn a_change_of_document_is_no_point() {
        // No document of its own: 2, then document 3.
        let blob = [0, 2, 0, 0, 5, 10, 9, 0, 3, 7, 0, 1, 0x02, 0x00];
        let points = sequence_points(0, &blob).unwrap();
        assert_eq!(points.iter().map(|p| (p.document, p.line)).collect::<Vec<_>>(), [(2, 10), (3, 11)]);
    }

    #[test]
    fn what_is_no_such_file_is_refused() {
        assert!(Pdb::parse(b"").is_none() && Pdb::parse(b"Microsoft C/C++ MSF 7.00").is_none());
        assert!(Pdb::parse(b"BSJB\x01\x00\x01\x00\x00\x00\x00\x00\xff\xff\xff\xff").is_none());
    }
}
