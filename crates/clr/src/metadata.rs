//! The used parts of `IMetaDataImport2` and `IMetaDataEmit`.

use crate::com::{Com, OK, bytes, text, wide};
use crate::profiling::MetadataToken;

/// The tables that tokens refer to.
pub mod table {
    pub const TYPE_REF: u32 = 0x01;
    pub const TYPE_DEF: u32 = 0x02;
    pub const FIELD: u32 = 0x04;
    pub const METHOD_DEF: u32 = 0x06;
    pub const MEMBER_REF: u32 = 0x0A;
    pub const TYPE_SPEC: u32 = 0x1B;
    pub const METHOD_SPEC: u32 = 0x2B;

    pub const fn of(token: super::MetadataToken) -> u32 {
        token >> 24
    }
}

#[derive(Clone, Copy)]
pub struct Import(pub Com);

/// A called or defined method, or a field: its class, its name, its signature.
pub struct MemberRef<'a> {
    pub parent: MetadataToken,
    pub name: String,
    pub signature: &'a [u8],
}

impl Import {
    /// The name of a class of the module. A nested class follows a slash.
    pub fn type_def(self, token: MetadataToken) -> Option<String> {
        const VISIBILITY: u32 = 7;
        const NESTED: u32 = 2;
        let mut flags = 0_u32;
        let flags_at = &raw mut flags;
        let name = text(|buffer, room, len| {
            let mut base = 0_u32;
            com!(self.0, 12, token => u32, buffer => *mut u16, room => u32, len => *mut u32,
                flags_at => *mut u32, &mut base => *mut u32)
        })?;
        let mut outer = 0;
        let nested =
            flags & VISIBILITY >= NESTED && com!(self.0, 62, token => u32, &mut outer => *mut u32) == OK;
        Some(if nested { self.type_def(outer)? + "/" + &name } else { name })
    }

    /// Whether a class of the module is a structure.
    pub fn is_structure(self, token: MetadataToken) -> bool {
        let (mut len, mut flags, mut base) = (0_u32, 0_u32, 0_u32);
        com!(self.0, 12, token => u32, core::ptr::null_mut() => *mut u16, 0 => u32, &mut len => *mut u32,
            &mut flags => *mut u32, &mut base => *mut u32);
        let base = self.type_name(base);
        base.is_some_and(|name| ["System.ValueType", "System.Enum"].contains(&name.as_str()))
    }

    /// The name and type of a field.
    pub fn field<'a>(self, token: MetadataToken) -> Option<(String, &'a [u8])> {
        let field = self.whole_field(token)?;
        Some((field.name, field.signature))
    }

    /// The class that declares a field.
    pub fn class_of_field(self, token: MetadataToken) -> Option<MetadataToken> {
        Some(self.whole_field(token)?.parent)
    }

    fn whole_field<'a>(self, token: MetadataToken) -> Option<MemberRef<'a>> {
        let (mut parent, mut signature, mut signature_len) = (0_u32, core::ptr::null(), 0_u32);
        let (parent_at, signature_at, len_at) = (&raw mut parent, &raw mut signature, &raw mut signature_len);
        let name = text(|buffer, room, len| {
            let (mut flags, mut kind, mut value_len) = (0_u32, 0_u32, 0_u32);
            let mut value = core::ptr::null();
            com!(self.0, 57, token => u32, parent_at => *mut u32, buffer => *mut u16, room => u32,
                len => *mut u32, &mut flags => *mut u32, signature_at => *mut *const u8, len_at => *mut u32,
                &mut kind => *mut u32, &mut value => *mut *const u8, &mut value_len => *mut u32)
        })?;
        // The signature follows a byte that says that it is a field.
        Some(MemberRef { parent, name, signature: bytes(signature, signature_len).get(1..)? })
    }

    /// Whether a class of the module has a static constructor.
    pub fn has_static_constructor(self, class: MetadataToken) -> bool {
        self.declares_method(class, ".cctor")
    }

    fn declares_method(self, class: MetadataToken, name: &str) -> bool {
        let mut found = 0_u32;
        com!(self.0, 27, class => u32, wide(name).as_ptr() => *const u16,
            core::ptr::null() => *const u8, 0 => u32, &mut found => *mut u32)
            == OK
    }

    /// The scope of a class of another module, and its name.
    pub fn type_ref(self, token: MetadataToken) -> Option<(MetadataToken, String)> {
        let mut scope = 0_u32;
        let at = &raw mut scope;
        let name = text(
            |buffer, room, len| com!(self.0, 14, token => u32, at => *mut u32, buffer => *mut u16, room => u32, len => *mut u32),
        )?;
        Some((scope, name))
    }

    /// Whether the module defines this class with this method.
    pub fn has_method(self, class: &str, method: &str) -> bool {
        let mut of = 0_u32;
        com!(self.0, 9, wide(class).as_ptr() => *const u16, 0 => u32, &mut of => *mut u32) == OK
            && self.declares_method(of, method)
    }

    pub fn type_refs(self) -> Vec<MetadataToken> {
        let (mut walk, mut all) = (0_usize, Vec::new());
        let mut some = [0_u32; 256];
        loop {
            let mut len = 0_u32;
            com!(self.0, 8, &mut walk => *mut usize, some.as_mut_ptr() => *mut u32, some.len() as u32 => u32,
                &mut len => *mut u32);
            if len == 0 {
                break;
            }
            all.extend_from_slice(&some[..len as usize]);
        }
        com!(self.0, 3, walk => usize);
        all
    }

    /// The full name of a class, defined here or elsewhere.
    pub fn type_name(self, token: MetadataToken) -> Option<String> {
        match table::of(token) {
            table::TYPE_REF => {
                let (scope, name) = self.type_ref(token)?;
                let nested = table::of(scope) == table::TYPE_REF;
                Some(if nested { self.type_name(scope)? + "/" + &name } else { name })
            }
            table::TYPE_DEF => self.type_def(token),
            _ => None,
        }
    }

    /// A method that the module defines.
    pub fn method<'a>(self, token: MetadataToken) -> Option<MemberRef<'a>> {
        let (mut class, mut signature, mut signature_len) = (0_u32, core::ptr::null(), 0_u32);
        let (class_at, signature_at, len_at) = (&raw mut class, &raw mut signature, &raw mut signature_len);
        let name = text(|buffer, room, len| {
            let (mut flags, mut address, mut implementation) = (0_u32, 0_u32, 0_u32);
            com!(self.0, 30, token => u32, class_at => *mut u32, buffer => *mut u16, room => u32,
                len => *mut u32, &mut flags => *mut u32, signature_at => *mut *const u8, len_at => *mut u32,
                &mut address => *mut u32, &mut implementation => *mut u32)
        })?;
        Some(MemberRef { parent: class, name, signature: bytes(signature, signature_len) })
    }

    /// Whether the runtime takes a lock before it runs a method that the module defines.
    pub fn is_synchronized(self, token: MetadataToken) -> bool {
        const SYNCHRONIZED: u32 = 0x20;
        let (mut flags, mut implementation) = (0_u32, 0_u32);
        let (mut class, mut address, mut len) = (0_u32, 0_u32, 0_u32);
        let (mut signature, mut signature_len) = (core::ptr::null(), 0_u32);
        let status = com!(self.0, 30, token => u32, &mut class => *mut u32, core::ptr::null_mut() => *mut u16,
            0 => u32, &mut len => *mut u32, &mut flags => *mut u32, &mut signature => *mut *const u8,
            &mut signature_len => *mut u32, &mut address => *mut u32, &mut implementation => *mut u32);
        status >= 0 && implementation & SYNCHRONIZED != 0
    }

    /// A method of another module, or of an instance of a generic class.
    pub fn member_ref<'a>(self, token: MetadataToken) -> Option<MemberRef<'a>> {
        let (mut parent, mut signature, mut signature_len) = (0_u32, core::ptr::null(), 0_u32);
        let (parent_at, signature_at, len_at) = (&raw mut parent, &raw mut signature, &raw mut signature_len);
        let name = text(|buffer, room, len| {
            com!(self.0, 31, token => u32, parent_at => *mut u32, buffer => *mut u16, room => u32,
                len => *mut u32, signature_at => *mut *const u8, len_at => *mut u32)
        })?;
        Some(MemberRef { parent, name, signature: bytes(signature, signature_len) })
    }

    /// The generic method of an instance, and its type arguments.
    pub fn method_spec<'a>(self, token: MetadataToken) -> Option<(MetadataToken, &'a [u8])> {
        let (mut parent, mut signature, mut len) = (0, core::ptr::null(), 0);
        let status = com!(self.0, 67, token => u32, &mut parent => *mut u32, &mut signature => *mut *const u8,
            &mut len => *mut u32);
        (status == OK).then(|| (parent, bytes(signature, len)))
    }

    pub fn type_spec<'a>(self, token: MetadataToken) -> Option<&'a [u8]> {
        self.blob(44, token)
    }

    /// The signature behind a token, for local variables.
    pub fn signature<'a>(self, token: MetadataToken) -> Option<&'a [u8]> {
        self.blob(41, token)
    }

    fn blob<'a>(self, slot: usize, token: MetadataToken) -> Option<&'a [u8]> {
        let (mut signature, mut len) = (core::ptr::null(), 0);
        let status = com!(self.0, slot, token => u32, &mut signature => *mut *const u8, &mut len => *mut u32);
        (status == OK).then(|| bytes(signature, len))
    }
}

/// Adds to a module. If an item already exists, the status is neither a failure nor `OK`.
#[derive(Clone, Copy)]
pub struct Emit(pub Com);

impl Emit {
    pub fn signature(self, signature: &[u8]) -> Option<MetadataToken> {
        let mut token = 0;
        let status = com!(self.0, 23, signature.as_ptr() => *const u8, signature.len() as u32 => u32,
            &mut token => *mut u32);
        (status >= 0).then_some(token)
    }

    /// An instance of a generic class.
    pub fn type_spec(self, signature: &[u8]) -> Option<MetadataToken> {
        let mut token = 0;
        let status = com!(self.0, 26, signature.as_ptr() => *const u8, signature.len() as u32 => u32,
            &mut token => *mut u32);
        (status >= 0).then_some(token)
    }

    pub fn type_ref(self, scope: MetadataToken, name: &str) -> Option<MetadataToken> {
        let mut token = 0;
        let status =
            com!(self.0, 12, scope => u32, wide(name).as_ptr() => *const u16, &mut token => *mut u32);
        (status >= 0).then_some(token)
    }

    pub fn member_ref(self, parent: MetadataToken, name: &str, signature: &[u8]) -> Option<MetadataToken> {
        let mut token = 0;
        let status = com!(self.0, 14, parent => u32, wide(name).as_ptr() => *const u16,
            signature.as_ptr() => *const u8, signature.len() as u32 => u32, &mut token => *mut u32);
        (status >= 0).then_some(token)
    }

    /// Adds a class without instances.
    pub fn class(self, name: &str, base: MetadataToken) -> Option<MetadataToken> {
        const ABSTRACT_SEALED_BEFORE_FIELD_INIT: u32 = 0x10_0180;
        let (mut token, no_interfaces) = (0, [0_u32; 1]);
        let status = com!(self.0, 7, wide(name).as_ptr() => *const u16,
            ABSTRACT_SEALED_BEFORE_FIELD_INIT => u32, base => u32, no_interfaces.as_ptr() => *const u32,
            &mut token => *mut u32);
        (status == OK).then_some(token)
    }

    /// Adds a static method that is never inlined. Its body is set later.
    pub fn static_method(self, class: MetadataToken, name: &str, signature: &[u8]) -> Option<MetadataToken> {
        const PUBLIC_STATIC_HIDE_BY_SIG: u32 = 0x96;
        const NO_INLINING: u32 = 8;
        let mut token = 0;
        let status = com!(self.0, 10, class => u32, wide(name).as_ptr() => *const u16,
            PUBLIC_STATIC_HIDE_BY_SIG => u32, signature.as_ptr() => *const u8, signature.len() as u32 => u32,
            0 => u32, NO_INLINING => u32, &mut token => *mut u32);
        (status == OK).then_some(token)
    }
}

/// Adds references to other assemblies.
#[derive(Clone, Copy)]
pub struct AssemblyEmit(pub Com);

/// `ASSEMBLYMETADATA`.
#[repr(C)]
struct Assembly {
    version: [u16; 4],
    locale: *const u16,
    locale_len: u32,
    processors: *const u32,
    processors_len: u32,
    systems: *const u32,
    systems_len: u32,
}

impl AssemblyEmit {
    /// The runtime's core library.
    pub fn core_library(self) -> Option<MetadataToken> {
        const KEY: [u8; 8] = [0x7C, 0xEC, 0x85, 0xD7, 0xBE, 0xA7, 0x79, 0x8E];
        let none = core::ptr::null();
        let assembly = Assembly {
            version: [4, 0, 0, 0],
            locale: core::ptr::null(),
            locale_len: 0,
            processors: none,
            processors_len: 0,
            systems: none,
            systems_len: 0,
        };
        let (name, mut token) = (wide("System.Private.CoreLib"), 0);
        let status = com!(self.0, 4, KEY.as_ptr() => *const u8, KEY.len() as u32 => u32,
            name.as_ptr() => *const u16, &assembly => *const Assembly, core::ptr::null() => *const u8, 0 => u32,
            0 => u32, &mut token => *mut u32);
        (status >= 0).then_some(token)
    }
}
