//! What a function does with the memory that its pointer parameters point to.

use super::places::{ARGUMENTS, Storage};
use super::view::View;

/// A store through a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ParameterStore {
    pub(crate) index: u32,
    /// The register that holds the pointer at entry.
    pub(crate) parameter: u8,
    pub(crate) distance: i64,
    pub(crate) size: u32,
}

/// A call that receives a parameter, or a pointer near it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HandedOn {
    pub(crate) index: u32,
    pub(crate) parameter: u8,
    pub(crate) distance: i64,
    /// The register that passes the pointer on.
    pub(crate) argument: u8,
}

/// All ways in which a function changes the memory it was given.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outlets {
    pub(crate) stores: Vec<ParameterStore>,
    pub(crate) handed_on: Vec<HandedOn>,
}

impl Outlets {
    pub(super) fn of(view: &View) -> Self {
        let mut outlets = Self::default();
        for index in 0..view.function.len() as u32 {
            if view.data().heights[index as usize].is_none() {
                continue;
            }
            if view.is_call(index) {
                outlets.add_call(view, index);
                continue;
            }
            for (operand, place) in view.operands(index) {
                let (true, Some(Storage::Memory { form, .. })) = (operand.writes, place) else { continue };
                let forms = view.data().forms.borrow();
                if let Some((parameter, distance)) = forms.parameter(forms.form(form)) {
                    outlets.stores.push(ParameterStore { index, parameter, distance, size: operand.size });
                }
            }
        }
        outlets
    }

    fn add_call(&mut self, view: &View, index: u32) {
        let known =
            view.callee(index).is_some_and(|callee| callee.probe().is_none() && callee.entry.is_some());
        for argument in ARGUMENTS.into_iter().filter(|_| known) {
            let form = view.form(index, argument);
            let parameter = view.data().forms.borrow().parameter(&form);
            if let Some((parameter, distance)) = parameter {
                self.handed_on.push(HandedOn { index, parameter, distance, argument });
            }
        }
    }
}
