//! What the program has said about races on its memory (paper, 5): BENIGN_RACE and EXPECT_RACE.

use crate::event::ByteRange;

struct Expectation {
    bytes: ByteRange,
    met: bool,
}

#[derive(Default)]
pub struct Annotations {
    benign: Vec<ByteRange>,
    expected: Vec<Expectation>,
}

impl Annotations {
    pub fn add_benign(&mut self, bytes: ByteRange) {
        self.benign.push(bytes);
    }

    pub fn add_expected(&mut self, bytes: ByteRange) {
        self.expected.push(Expectation { bytes, met: false });
    }

    /// Records a race on the byte, and returns whether to report it.
    pub fn reportable(&mut self, byte: u64) -> bool {
        let mut expected = false;
        for expectation in self.expected.iter_mut().filter(|e| e.bytes.contains(byte)) {
            expectation.met = true;
            expected = true;
        }
        !expected && !self.benign.iter().any(|range| range.contains(byte))
    }

    /// The bytes are fresh: a benign-race annotation of the old object does not apply to the next
    /// one. An expectation stays, because the test that made it asks for it at the end.
    pub fn reset(&mut self, bytes: ByteRange) {
        self.benign = self.benign.iter().flat_map(|range| range.without(bytes)).collect();
    }

    pub fn unmet(&self) -> Vec<ByteRange> {
        self.expected.iter().filter(|e| !e.met).map(|e| e.bytes).collect()
    }
}
