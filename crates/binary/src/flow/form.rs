//! Addresses as linear forms: a constant plus roots with factors.
//!
//! A probe and the access it announces compute one address in two ways: at different places, in
//! different registers, spilled and reloaded. Both are reduced to their components. A *root* is a
//! value that is not decomposed further. Two values with the same root are equal, because a root
//! names the definitions that reach it. Extensions of an index count as copies, because forms are
//! compared and not evaluated.

use rustc_hash::FxHashMap as HashMap;

/// A value that is not decomposed further.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Root {
    /// The stack pointer at entry.
    StackPointer,
    /// A register as the caller left it.
    Parameter(u8),
    /// What these definitions left in a register.
    Register { number: u8, definitions: Vec<u32> },
    /// What these definitions left in a stack slot.
    Slot { at: i32, definitions: Vec<u32> },
    /// A word of the global offset table that the loader fills in.
    Offset(u64),
}

/// `constant + Σ factor · root`, sorted by root, without zero factors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    pub(crate) constant: i64,
    pub(crate) terms: Vec<(u32, i64)>,
}

impl Form {
    pub(crate) fn constant(constant: i64) -> Self {
        Self { constant, terms: Vec::new() }
    }

    pub(crate) fn root(root: u32) -> Self {
        Self { constant: 0, terms: vec![(root, 1)] }
    }

    /// Adds `other` a number of times.
    pub(crate) fn add(&mut self, other: &Self, times: i64) {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(times));
        for &(root, factor) in &other.terms {
            let more = factor.wrapping_mul(times);
            match self.terms.binary_search_by_key(&root, |term| term.0) {
                Ok(at) => self.terms[at].1 = self.terms[at].1.wrapping_add(more),
                Err(at) => self.terms.insert(at, (root, more)),
            }
        }
        self.terms.retain(|term| term.1 != 0);
    }

    /// The sum with `other`, taken a number of times.
    pub(crate) fn plus(&self, other: &Self, times: i64) -> Self {
        let mut form = self.clone();
        form.add(other, times);
        form
    }

    pub(crate) fn scaled(&self, factor: i64) -> Self {
        let mut form = Self::default();
        form.add(self, factor);
        form
    }
}

/// Roots and forms by number, so that places stay small.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    roots: HashMap<Root, u32>,
    root_list: Vec<Root>,
    forms: HashMap<Form, u32>,
    form_list: Vec<Form>,
}

impl Forms {
    pub(crate) fn root_number(&mut self, root: Root) -> u32 {
        let next = self.root_list.len() as u32;
        *self.roots.entry(root).or_insert_with_key(|root| {
            self.root_list.push(root.clone());
            next
        })
    }

    pub(crate) fn root(&self, number: u32) -> &Root {
        &self.root_list[number as usize]
    }

    pub(crate) fn number(&mut self, form: Form) -> u32 {
        let next = self.form_list.len() as u32;
        *self.forms.entry(form).or_insert_with_key(|form| {
            self.form_list.push(form.clone());
            next
        })
    }

    pub(crate) fn form(&self, number: u32) -> &Form {
        &self.form_list[number as usize]
    }

    /// The distance from the stack pointer at entry, if the form consists of nothing else.
    pub(crate) fn stack_distance(&self, form: &Form) -> Option<i32> {
        match form.terms[..] {
            [(root, 1)] if *self.root(root) == Root::StackPointer => i32::try_from(form.constant).ok(),
            _ => None,
        }
    }

    /// The register and distance, if the form is a parameter plus a constant.
    pub(crate) fn parameter(&self, form: &Form) -> Option<(u8, i64)> {
        match form.terms[..] {
            [(root, 1)] => match self.root(root) {
                Root::Parameter(number) => Some((*number, form.constant)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the form contains the stack pointer at all: a local array with a variable index.
    pub(crate) fn is_in_frame(&self, form: &Form) -> bool {
        form.terms.iter().any(|(root, _)| *self.root(*root) == Root::StackPointer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_that_add_up_to_the_same_are_the_same() {
        let (a, b) = (Form::root(1), Form::root(2));
        let mut left = a.clone();
        left.add(&b, 4);
        left.constant += 8;
        let mut right = Form::constant(8);
        right.add(&b.scaled(2), 2);
        right.add(&a, 1);
        assert_eq!(left, right);
        right.add(&a, -1);
        assert_eq!(right.terms, [(2, 4)], "what cancels is gone");
    }

    #[test]
    fn numbers_stand_for_what_they_were_given_for() {
        let mut forms = Forms::default();
        let stack = forms.root_number(Root::StackPointer);
        let parameter = forms.root_number(Root::Parameter(7));
        assert_eq!(forms.root_number(Root::StackPointer), stack);
        let mut slot = Form::root(stack);
        slot.constant = -24;
        assert_eq!(forms.stack_distance(&slot), Some(-24));
        assert_eq!(forms.stack_distance(&Form::root(parameter)), None);
        let mut field = Form::root(parameter);
        field.constant = 16;
        assert_eq!(forms.parameter(&field), Some((7, 16)));
        let number = forms.number(field.clone());
        assert_eq!(forms.form(number), &field);
        let mut array = slot.clone();
        array.add(&field, 4);
        assert!(forms.is_in_frame(&array) && forms.stack_distance(&array).is_none());
    }
}
