//! The classes of a program whose values are objects. Fields and methods are found by name, through
//! the object itself.
//!
//! A language with runtime types puts one of these tables beside its code. An object is a block
//! whose first word is the [`tag`] of its class. Each field has eight bytes, so that no two share a
//! granule of the access history.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// The offset of an object's first field.
pub const FIRST_FIELD: u32 = 8;
/// An array has its length and the length of its second dimension before its elements.
pub const ARRAY_LENGTH: u32 = 8;
pub const ARRAY_STRIDE: u32 = 16;
pub const ARRAY_FIRST: u32 = 24;
/// A delegate has its function, the object it is bound to, and the variables it has captured.
pub const DELEGATE_FUNCTION: u32 = 8;
pub const DELEGATE_TARGET: u32 = 16;
pub const DELEGATE_CAPTURED: u32 = 24;

/// Classes that the machine itself knows, by number.
pub const ARRAY: u32 = 0;
pub const DELEGATE: u32 = 1;
pub const TEXT: u32 = 2;

const TAG: u64 = 0x0C1A_55ED << 32;

/// The first word of an object of a class.
pub fn tag(class: u32) -> u64 {
    TAG | u64::from(class)
}

/// The class that a first word names.
pub fn class_of_tag(word: u64) -> Option<u32> {
    (word & !0xFFFF_FFFF == TAG).then_some(word as u32)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldSlot {
    pub offset: u32,
    pub volatile: bool,
}

#[derive(Debug, Clone, Default)]
pub struct ObjectClass {
    pub name: Arc<str>,
    pub size: u32,
    /// By the number of their name.
    pub fields: FxHashMap<u32, FieldSlot>,
    /// Fields by offset, with the class that declares them, for reports.
    pub labels: Vec<(u32, Arc<str>)>,
    /// By the number of a key. A key is a name with its parameter types, or with the number of
    /// parameters.
    pub methods: FxHashMap<u32, u32>,
    /// The class itself and everything it derives from or implements.
    pub supers: Vec<u32>,
    /// Run by the collector on unreachable objects.
    pub finalizer: Option<u32>,
    /// True if it stands for a captured variable, not for a class of the source.
    pub is_variable: bool,
    /// Part of the library.
    pub builtin: bool,
}

impl ObjectClass {
    pub fn field_at(&self, offset: u32) -> Option<&Arc<str>> {
        self.labels.iter().find(|l| l.0 == offset).map(|l| &l.1)
    }
}

/// A place that calls a method of an object.
#[derive(Debug, Clone)]
pub struct MethodCall {
    /// The keys to look for, the most exact first.
    pub keys: [u32; 2],
    pub arguments: u8,
    pub name: Arc<str>,
}

#[derive(Debug, Clone, Default)]
pub struct Classes {
    pub all: Vec<ObjectClass>,
    pub calls: Vec<MethodCall>,
    /// For each member name, the keys of its getter and setter.
    pub properties: Vec<[u32; 2]>,
    /// The names of the fields that say that an awaited object is done, and which thread will
    /// complete it.
    pub done: u32,
    pub handle: u32,
    /// The library function that calls a delegate the way an unknown caller would.
    pub call_back: Option<u32>,
    /// Library methods, by key, that start a thread on an unknown object. A continuation of an
    /// unknown task runs whatever the task was.
    pub on_unknown: FxHashMap<u32, u32>,
}
