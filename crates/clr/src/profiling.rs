//! The used part of `ICorProfilerInfo5`.

use core::ffi::c_void;
use core::ptr::null_mut;

use crate::com::{Com, Guid, HResult, OK, bytes, text};

/// A row of a metadata table: the table in the upper byte.
pub type MetadataToken = u32;
pub type ModuleId = usize;
pub type FunctionId = usize;
pub type ClassId = usize;

/// What the runtime offers to a profiler.
#[derive(Clone, Copy)]
pub struct Info(pub Com);

/// A frame of a managed stack, innermost first: the function, which is zero for native code, and
/// the instruction pointer.
pub type RawFrame = (FunctionId, usize);

/// The maximum depth of recorded stacks.
const MOST_FRAMES: usize = 64;

impl Info {
    pub fn set_events(self, events: u32) -> HResult {
        com!(self.0, 82, events => u32, 0 => u32)
    }

    /// The module and token of a function.
    pub fn function(self, function: FunctionId) -> Option<(ModuleId, MetadataToken)> {
        let (mut class, mut module, mut token) = (0, 0, 0);
        let status = com!(self.0, 15, function => usize, &mut class => *mut usize, &mut module => *mut usize,
            &mut token => *mut u32);
        (status == OK).then_some((module, token))
    }

    /// The address and length of a function's code.
    pub fn code(self, function: FunctionId) -> Option<(usize, usize)> {
        let (mut start, mut len) = (0, 0_u32);
        let status = com!(self.0, 5, function => usize, &mut start => *mut usize, &mut len => *mut u32);
        (status == OK).then_some((start, len as usize))
    }

    /// For each range, the offset in the method's IL, and its begin and end in the native code.
    pub fn il_to_native(self, function: FunctionId) -> Vec<[u32; 3]> {
        let (mut map, mut len) = (vec![[0_u32; 3]; 1024], 0_u32);
        let status = com!(self.0, 35, function => usize, map.len() as u32 => u32, &mut len => *mut u32,
            map.as_mut_ptr() => *mut [u32; 3]);
        map.truncate(if status == OK { len as usize } else { 0 });
        map
    }

    pub fn module_path(self, module: ModuleId) -> Option<String> {
        text(|buffer, room, len| {
            let (mut base, mut assembly) = (0_usize, 0_usize);
            com!(self.0, 20, module => usize, &mut base => *mut usize, room => u32, len => *mut u32,
                buffer => *mut u16, &mut assembly => *mut usize)
        })
    }

    pub fn metadata(self, module: ModuleId, writable: bool, id: &Guid) -> Option<Com> {
        let mut found = Com::NULL;
        let status = com!(self.0, 21, module => usize, u32::from(writable) => u32, id => *const Guid,
            &mut found => *mut Com);
        (status == OK && found != Com::NULL).then_some(found)
    }

    pub fn body<'a>(self, module: ModuleId, method: MetadataToken) -> Option<&'a [u8]> {
        let (mut at, mut len) = (core::ptr::null(), 0);
        let status = com!(self.0, 22, module => usize, method => u32, &mut at => *mut *const u8,
            &mut len => *mut u32);
        (status == OK && !at.is_null()).then(|| bytes(at, len))
    }

    pub fn set_body(self, module: ModuleId, method: MetadataToken, body: &[u8]) -> bool {
        let mut allocator = Com::NULL;
        if com!(self.0, 23, module => usize, &mut allocator => *mut Com) != OK || allocator == Com::NULL {
            return false;
        }
        // SAFETY: `IMethodMalloc::Alloc`, which returns a pointer.
        let alloc =
            unsafe { core::mem::transmute::<usize, extern "C" fn(Com, u32) -> *mut u8>(allocator.slot(3)) };
        let memory = alloc(allocator, body.len() as u32);
        if memory.is_null() {
            return false;
        }
        // SAFETY: fresh memory of that length.
        unsafe { memory.copy_from(body.as_ptr(), body.len()) };
        com!(self.0, 24, module => usize, method => u32, memory => *const u8) == OK
    }

    /// Says where the instructions of a function are in its new code, so that the stack traces of
    /// the program have the lines that they have without raddle.
    pub fn set_map(self, function: FunctionId, places: &[(u32, u32)]) {
        let entries: Vec<[u32; 3]> = places.iter().map(|(old, new)| [*old, *new, 1]).collect();
        // SAFETY: memory of that length, of which the runtime becomes the owner.
        let memory = unsafe {
            let memory = libc::malloc(size_of_val(&entries[..])).cast::<[u32; 3]>();
            if memory.is_null() {
                return;
            }
            memory.copy_from(entries.as_ptr(), entries.len());
            memory
        };
        com!(self.0, 29, function => usize, 1 => u32, entries.len() as u32 => u32, memory => *const [u32; 3]);
    }

    /// The module, token and base of a class.
    pub fn class(self, class: ClassId) -> Option<(ModuleId, MetadataToken, ClassId)> {
        let (mut module, mut token, mut base, mut arguments) = (0, 0, 0, 0_u32);
        let status = com!(self.0, 41, class => usize, &mut module => *mut usize, &mut token => *mut u32,
            &mut base => *mut usize, 0 => u32, &mut arguments => *mut u32, null_mut() => *mut usize);
        (status >= 0).then_some((module, token, base))
    }

    /// The fields that a class itself declares, and their offsets in its objects.
    pub fn fields(self, class: ClassId) -> Vec<(MetadataToken, u32)> {
        let (mut fields, mut len, mut size) = (vec![[0_u32; 2]; 256], 0_u32, 0_u32);
        let status = com!(self.0, 40, class => usize, fields.as_mut_ptr() => *mut [u32; 2],
            fields.len() as u32 => u32, &mut len => *mut u32, &mut size => *mut u32);
        fields.truncate(if status == OK { len as usize } else { 0 });
        // A structure begins after the first word of the object that boxes it.
        let mut offset = 0_u32;
        let boxed = com!(self.0, 47, class => usize, &mut offset => *mut u32) == OK;
        fields.iter().map(|[token, at]| (*token, if boxed { at + offset } else { *at })).collect()
    }

    /// The version of the runtime.
    pub fn version(self) -> Option<(u16, u16)> {
        let (mut instance, mut kind) = (0_u16, 0_u32);
        let (mut major, mut minor, mut build, mut fix) = (0_u16, 0_u16, 0_u16, 0_u16);
        let status = com!(self.0, 67, &mut instance => *mut u16, &mut kind => *mut u32, &mut major => *mut u16,
            &mut minor => *mut u16, &mut build => *mut u16, &mut fix => *mut u16, 0 => u32,
            null_mut() => *mut u32, null_mut() => *mut u16);
        (status == OK).then_some((major, minor))
    }

    /// The stack of the calling thread. Unlike most of this interface, it may be called anywhere.
    pub fn stack(self) -> Vec<RawFrame> {
        extern "C" fn frame(
            function: FunctionId,
            at: usize,
            _: usize,
            _: u32,
            _: *const u8,
            to: *mut c_void,
        ) -> HResult {
            // SAFETY: the vector passed below.
            let frames = unsafe { &mut *to.cast::<Vec<RawFrame>>() };
            frames.push((function, at));
            // A failure ends the walk.
            if frames.len() < MOST_FRAMES { OK } else { 1 }
        }
        let mut frames: Vec<RawFrame> = Vec::new();
        let callback: extern "C" fn(FunctionId, usize, usize, u32, *const u8, *mut c_void) -> HResult = frame;
        com!(self.0, 36, 0 => usize, callback as usize => usize, 0 => u32,
            (&raw mut frames).cast::<c_void>() => *mut c_void, null_mut() => *mut u8, 0 => u32);
        frames
    }
}
