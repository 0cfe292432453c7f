//! COM by hand: identifiers, and calls through a table of functions by slot number.
//!
//! Slot numbers are those of `corprof.idl` and `cor.h`, with `IUnknown` at 0 to 2. On Linux the
//! calling convention is the platform's own.

/// `com!(interface, slot, argument => type, …)`: the HRESULT of a method.
macro_rules! com {
    ($com:expr, $slot:expr $(, $argument:expr => $type:ty)* $(,)?) => {{
        let com: $crate::com::Com = $com;
        // SAFETY: the slot has this type in the interface's definition, and pointers are to places
        // that outlive the call.
        unsafe {
            core::mem::transmute::<usize, extern "C" fn($crate::com::Com $(, $type)*) -> $crate::com::HResult>(
                com.slot($slot),
            )(com $(, $argument)*)
        }
    }};
}

/// An HRESULT: negative is a failure.
pub type HResult = i32;
pub const OK: HResult = 0;
pub const NO_INTERFACE: HResult = 0x8000_4002_u32 as i32;
/// The profiler does not want to run; the program runs without it.
pub const CANCEL_ACTIVATION: HResult = 0x8013_1375_u32 as i32;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guid(u32, u16, u16, [u8; 8]);

/// From the usual spelling, without dashes.
pub const fn guid(digits: u128) -> Guid {
    let (a, b, c) = ((digits >> 96) as u32, (digits >> 80) as u16, (digits >> 64) as u16);
    Guid(a, b, c, (digits as u64).to_be_bytes())
}

pub const IID_UNKNOWN: Guid = guid(0x00000000_0000_0000_C000_000000000046);
pub const IID_CLASS_FACTORY: Guid = guid(0x00000001_0000_0000_C000_000000000046);
/// `ICorProfilerCallback` to `ICorProfilerCallback9`. Later ones are requested and refused.
pub const IID_CALLBACKS: [Guid; 9] = [
    guid(0x176FBED1_A55C_4796_98CA_A9DA0EF883E7),
    guid(0x8A8CC829_CCF2_49FE_BBAE_0F022228071A),
    guid(0x4FD2ED52_7731_4B8D_9469_03D2CC3086C5),
    guid(0x7B63B2E3_107D_4D48_B2F6_F61E229470D2),
    guid(0x8DFBA405_8C9F_45F8_BFFA_83B14CEF78B5),
    guid(0xFC13DF4B_4448_4F4F_950C_BA8D19D00C36),
    guid(0xF76A2DBA_1D52_4539_866C_2AA518F9EFC3),
    guid(0x5BED9B15_C079_4D47_BFE2_215A140C07E0),
    guid(0x27583EC3_C8F5_482F_8052_194B8CE4705A),
];
pub const IID_INFO5: Guid = guid(0x07602928_CE38_4B83_81E7_74ADAF781214);
pub const IID_METADATA_IMPORT2: Guid = guid(0xFCE5EFA0_8BBA_4F8E_A036_8F2022B08466);
pub const IID_METADATA_EMIT: Guid = guid(0xBA3FEE4C_ECB9_4E41_83B7_183FA41CD859);

pub const IID_METADATA_ASSEMBLY_EMIT: Guid = guid(0x211EF15B_5317_4438_B196_DEC87B887693);

/// A pointer to an interface, that is, to a pointer to its table of functions.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Com(*const *const usize);

// SAFETY: the interfaces used here may be called from any thread.
unsafe impl Send for Com {}
// SAFETY: as above.
unsafe impl Sync for Com {}

impl Com {
    pub const NULL: Com = Com(core::ptr::null());

    /// An interface without state. It is never freed.
    pub fn of(table: Vec<usize>) -> Com {
        Com(Box::leak(Box::new(table.leak().as_ptr())))
    }

    pub fn slot(self, index: usize) -> usize {
        // SAFETY: an interface has at least the slots of its definition.
        unsafe { *(*self.0).add(index) }
    }

    pub fn query(self, id: &Guid) -> Option<Com> {
        let mut found = Com::NULL;
        let status = com!(self, 0, id => *const Guid, &mut found => *mut Com);
        (status == OK && found != Com::NULL).then_some(found)
    }
}

/// Text as the interfaces expect it: UTF-16 with a final zero.
pub fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

/// The text that a method puts into a buffer: (buffer, its capacity, the length with the final
/// zero). Names may be longer than any buffer, so a second call gets one that is long enough.
pub fn text(fill: impl Fn(*mut u16, u32, *mut u32) -> HResult) -> Option<String> {
    let mut buffer = vec![0_u16; 256];
    loop {
        let mut len = 0;
        if fill(buffer.as_mut_ptr(), buffer.len() as u32, &mut len) < 0 {
            return None;
        }
        let len = len as usize;
        if len <= buffer.len() {
            return Some(String::from_utf16_lossy(&buffer[..len.saturating_sub(1)]));
        }
        buffer.resize(len, 0);
    }
}

/// Memory that a method returned and that stays valid: metadata, or the body of a method.
pub fn bytes<'a>(at: *const u8, len: u32) -> &'a [u8] {
    // SAFETY: the interfaces guarantee the length, and modules are not unloaded while their methods
    // are examined.
    if at.is_null() { &[] } else { unsafe { core::slice::from_raw_parts(at, len as usize) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guids_are_laid_out_as_in_memory() {
        let id = guid(0x07602928_CE38_4B83_81E7_74ADAF781214);
        assert_eq!((id.0, id.1, id.2, id.3[0], id.3[7]), (0x0760_2928, 0xCE38, 0x4B83, 0x81, 0x14));
    }

    #[test]
    fn long_names_are_asked_for_again() {
        let name = "x".repeat(1000);
        let whole = wide(&name);
        let told = text(|buffer, room, len| {
            let n = whole.len().min(room as usize);
            // SAFETY: a buffer of that many characters, and a place for the length.
            unsafe {
                buffer.copy_from(whole.as_ptr(), n);
                *len = whole.len() as u32;
            }
            OK
        });
        assert_eq!(told.as_deref(), Some(name.as_str()));
        assert_eq!(text(|_, _, _| NO_INTERFACE), None);
    }
}
