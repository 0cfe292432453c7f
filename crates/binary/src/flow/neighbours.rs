//! One probe for neighbouring fields.
//!
//! `p->x * p->x + p->y * p->y` calls two probes. If nothing between the calls can synchronise, the
//! first may announce both accesses, and the second is left out. All probes of a *group* are in one
//! basic block, so that whoever calls the first comes to the others. They announce reads alone or
//! writes alone: a read that counted as a write would race with other reads. Their bytes are whole
//! words that lie side by side: nothing is announced that is not accessed.
//!
//! All of them are in one segment, so an access is ordered before or after the first exactly if it
//! is before or after the others. The first has the probe: if a value that was read leads to a
//! crash, the race is reported before.
//!
//! Nothing is announced that does not happen. So between the probes of a group the program must not
//! die, nor jump away in the handler of a fault: no division, and no access to memory other than
//! globals, the frame, the object of the group, and objects that the block has accessed before.

use super::covered::{Access, Event, is_near};
use super::form::Form;

/// The most groups that are extended at once, and the most accesses that are remembered.
const MOST: usize = 64;
/// The most granules that one probe of the runtime announces.
const MOST_GRANULES: i64 = 4;
/// A granule: the bytes of one probe of a group.
const WORD: i64 = 8;

/// Probes of one block, by the numbers of their instructions.
pub(super) struct Group<'e> {
    /// The probe that stays. Its address is the least.
    pub(super) first: usize,
    pub(super) others: Vec<usize>,
    access: &'e Access,
}

impl Group<'_> {
    pub(super) fn granules(&self) -> u8 {
        1 + self.others.len() as u8
    }

    /// Whether the bytes of `access` follow those of the group.
    fn is_followed_by(&self, access: &Access) -> bool {
        let after = self.access.address.constant.wrapping_add(WORD * i64::from(self.granules()));
        access.write == self.access.write
            && access.address.constant == after
            && access.address.terms == self.access.address.terms
            && i64::from(self.granules()) < MOST_GRANULES
    }
}

/// The groups of a block with more than one probe. `stays`: whether no other probe covers this
/// one, and its call can be changed.
pub(super) fn groups(events: &[Event], stays: impl Fn(usize) -> bool) -> Vec<Group<'_>> {
    let mut done = Vec::new();
    let mut open: Vec<Group> = Vec::new();
    // What the block has accessed: it can be accessed again.
    let mut mapped: Vec<&Form> = Vec::new();
    for event in events {
        match event {
            Event::Barrier => {
                done.append(&mut open);
                mapped.clear();
            }
            Event::Divide => done.append(&mut open),
            Event::Touch(address) if mapped.iter().any(|other| is_near(address, other)) => {}
            Event::Touch(address) => {
                done.extend(open.extract_if(.., |group| !is_near(address, &group.access.address)));
                if mapped.len() < MOST {
                    mapped.push(address);
                }
            }
            Event::Probe { index, access } if i64::from(access.size) == WORD && stays(*index) => {
                if let Some(group) = open.iter_mut().find(|group| group.is_followed_by(access)) {
                    group.others.push(*index);
                } else if open.len() < MOST {
                    open.push(Group { first: *index, others: Vec::new(), access });
                }
            }
            Event::Probe { .. } => {}
        }
    }
    done.append(&mut open);
    done.retain(|group| !group.others.is_empty());
    done
}
