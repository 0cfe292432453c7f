//! Delegates made from listed methods: `Parallel.ForEach(items, list.Add)`.
//!
//! Nothing is called where the delegate is made, and where it is called, nothing says what it is.
//! So it is made from a method of the probe's class instead (a *thunk*), bound to the same object:
//!
//! ```text
//! static void Thunk1(List<int> on, int item) { Point(on, site); on.Add(item); }
//! ```
//!
//! A runtime accepts new methods only while it loads a module. So all thunks are declared then, one
//! for each listed method whose address is taken anywhere in the file. A thunk gets its point when
//! the first delegate is made. All places share one thunk, so that two delegates of one method on
//! one object are still equal.

use std::collections::HashMap;

use crate::calls::{CallKind, WatchedCall};
use crate::il;
use crate::il::code;
use crate::lists::ObjectPosition;
use crate::metadata::{Emit, Import, table};
use crate::point;
use crate::probe::ProbeMethods;
use crate::profiling::{MetadataToken, ModuleId};
use crate::session::session;
use crate::signature::{self, is_closed};

/// The thunks by the method that they call. A thunk without a point has no delegate yet.
#[derive(Default)]
pub struct Thunks(HashMap<MetadataToken, Thunk>);

struct Thunk {
    method: MetadataToken,
    has_point: bool,
}

impl Thunks {
    pub fn prepare(
        module: ModuleId,
        path: &str,
        import: Import,
        (probe, emit): (ProbeMethods, Emit),
    ) -> Thunks {
        let mut thunks = HashMap::new();
        for token in taken_addresses(&std::fs::read(path).unwrap_or_default()) {
            let Some(call) = WatchedCall::look_at(import, token) else { continue };
            let name = format!("Thunk{}", thunks.len());
            let declare = |signature: Vec<u8>| emit.static_method(probe.class, &name, &signature);
            let Some(method) = signature_for(&call).and_then(declare) else { continue };
            // A class whose methods have no code is not loaded.
            let text = thunk_code(token, call.method.parameters.len(), None);
            if session().info.set_body(module, method, &il::plain_body(&text)) {
                thunks.insert(token, Thunk { method, has_point: false });
            }
        }
        Thunks(thunks)
    }

    /// The method to make a delegate from. None if this method has no thunk.
    pub fn of(
        &mut self,
        token: MetadataToken,
        call: &WatchedCall,
        (module, probe): (ModuleId, ProbeMethods),
        new_site: impl FnOnce() -> u32,
    ) -> Option<MetadataToken> {
        let thunk = self.0.get_mut(&token)?;
        let CallKind::Point(operation) = call.what else { return None };
        if !thunk.has_point {
            let word = point::site_word(new_site(), operation);
            let target = if operation.checked { probe.through } else { probe.point };
            let text = thunk_code(token, call.method.parameters.len(), Some((word, target)));
            thunk.has_point = session().info.set_body(module, thunk.method, &il::plain_body(&text));
        }
        thunk.has_point.then_some(thunk.method)
    }
}

/// The signature of a static method whose first argument is the object.
fn signature_for(call: &WatchedCall) -> Option<Vec<u8>> {
    let CallKind::Point(operation) = call.what else { return None };
    let types = || [&call.method.result, &call.this].into_iter().chain(&call.method.parameters);
    let fits = operation.object == ObjectPosition::This && types().all(|kind| is_closed(kind));
    fits.then(|| {
        let mut signature = vec![0];
        signature::put_number(&mut signature, call.method.parameters.len() as u32 + 1);
        signature.extend(types().flatten());
        signature
    })
}

/// The code of a thunk. `point`: the argument of the probe, and its method.
fn thunk_code(method: MetadataToken, parameters: usize, point: Option<(u32, MetadataToken)>) -> Vec<u8> {
    let load = |n: usize| il::load_argument(n as u16);
    let mut text = Vec::new();
    if let Some((site, probe)) = point {
        text.extend([load(0), il::load_int(site), il::with_token(code::CALL as u8, probe)].concat());
    }
    text.extend((0..=parameters).flat_map(load));
    text.extend(il::with_token(code::CALL_VIRTUAL as u8, method));
    text.push(code::RETURN);
    text
}

/// The methods of other modules whose addresses are taken somewhere in a file. There may be extra
/// ones, because other bytes can look like such an instruction.
fn taken_addresses(file: &[u8]) -> Vec<MetadataToken> {
    let mut tokens: Vec<MetadataToken> = file
        .windows(6)
        .filter(|window| window[0] == 0xFE && matches!(window[1], 0x06 | 0x07))
        .map(|window| u32::from_le_bytes([window[2], window[3], window[4], window[5]]))
        .filter(|token| table::of(*token) == table::MEMBER_REF)
        .collect();
    tokens.sort_unstable();
    tokens.dedup();
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_taken_are_found() {
        let file = [
            0, 0xFE, 0x06, 7, 0, 0, 0x0A, 0xFE, 0x07, 3, 0, 0, 0x0A, 0xFE, 0x06, 7, 0, 0, 0x0A, 0xFE, 0x06,
            1, 0, 0, 6,
        ];
        assert_eq!(taken_addresses(&file), [0x0A00_0003, 0x0A00_0007]);
        assert_eq!(taken_addresses(&[0xFE, 0x06]), [0; 0]);
    }
}
