//! Sun's external data representation, of libtirpc. A call turns a value into bytes of a stream, or
//! back; the stream says which.

use core::ffi::{c_char, c_int, c_uint, c_void};

use super::access::{Call, accesses};

/// The beginning of every stream.
#[repr(C)]
pub struct XdrStream {
    what: c_int,
    operations: *const c_void,
}

const ENCODE: c_int = 0;
const DECODE: c_int = 1;

/// Before a value is encoded or decoded. The stream's accesses to its own memory are not followed.
unsafe fn before<T>(c: &mut Call, stream: *const XdrStream, value: *const T) {
    c.changes_outside();
    // SAFETY: the caller's stream.
    c.reads_one(unsafe { &raw const (*stream).what });
    // SAFETY: as above.
    match unsafe { (*stream).what } {
        ENCODE => c.reads_one(value),
        DECODE => c.fills(value),
        _ => {}
    }
}

unsafe fn after<T>(c: &mut Call, stream: *const XdrStream, value: *const T, result: c_int) {
    // SAFETY: the caller's stream.
    c.wrote_if(result != 0 && unsafe { (*stream).what } == DECODE, value);
}

/// Before bytes that the caller has elsewhere are encoded.
unsafe fn encodes_bytes(c: &mut Call, stream: *const XdrStream, at: *const *mut c_char, n: usize) {
    // SAFETY: the caller's stream, and where its bytes are.
    unsafe {
        if (*stream).what == ENCODE {
            c.reads(*at, n);
        }
    }
}

/// Bytes were decoded, to where the caller wanted them or to their own block.
unsafe fn decoded_bytes(
    c: &mut Call,
    stream: *const XdrStream,
    at: *const *mut c_char,
    n: usize,
    result: c_int,
) {
    // SAFETY: the caller's stream, and where the bytes are now.
    unsafe {
        if result != 0 && (*stream).what == DECODE {
            c.wrote(*at, n);
        }
    }
}

/// Writes the fields that every function that makes a stream sets.
unsafe fn makes(c: &mut Call, stream: *mut XdrStream) {
    c.changes_outside();
    // SAFETY: the caller's stream.
    unsafe {
        c.writes_one(&raw const (*stream).what);
        c.writes_one(&raw const (*stream).operations);
    }
}

macro_rules! values {
    ($($name:ident(value: $ty:ty) -> c_int,)*) => {
        accesses! {$(
            fn $name(stream: *mut XdrStream, value: *mut $ty) -> c_int, |c| { before(&mut c, stream, value) } then |r| {
                after(&mut c, stream, value, r)
            }
        )*}
    };
}

values! {
    xdr_bool(value: i32) -> c_int,
    xdr_enum(value: i32) -> c_int,
    xdr_float(value: f32) -> c_int,
    xdr_double(value: f64) -> c_int,
    xdr_char(value: i8) -> c_int,
    xdr_u_char(value: u8) -> c_int,
    xdr_short(value: i16) -> c_int,
    xdr_u_short(value: u16) -> c_int,
    xdr_int(value: i32) -> c_int,
    xdr_u_int(value: u32) -> c_int,
    xdr_long(value: i64) -> c_int,
    xdr_u_long(value: u64) -> c_int,
    xdr_hyper(value: i64) -> c_int,
    xdr_u_hyper(value: u64) -> c_int,
    xdr_longlong_t(value: i64) -> c_int,
    xdr_u_longlong_t(value: u64) -> c_int,
    xdr_quad_t(value: i64) -> c_int,
    xdr_u_quad_t(value: u64) -> c_int,
    xdr_int8_t(value: i8) -> c_int,
    xdr_uint8_t(value: u8) -> c_int,
    xdr_int16_t(value: i16) -> c_int,
    xdr_uint16_t(value: u16) -> c_int,
    xdr_int32_t(value: i32) -> c_int,
    xdr_uint32_t(value: u32) -> c_int,
    xdr_int64_t(value: i64) -> c_int,
    xdr_uint64_t(value: u64) -> c_int,
}

accesses! {
    fn xdr_bytes(stream: *mut XdrStream, at: *mut *mut c_char, n: *mut c_uint, most: c_uint) -> c_int, |c| {
        before(&mut c, stream, at);
        before(&mut c, stream, n);
        encodes_bytes(&mut c, stream, at, *n as usize)
    } then |r| {
        after(&mut c, stream, n, r);
        decoded_bytes(&mut c, stream, at, *n as usize, r)
    }
    fn xdr_string(stream: *mut XdrStream, at: *mut *mut c_char, most: c_uint) -> c_int, |c| {
        before(&mut c, stream, at);
        if (*stream).what == ENCODE { c.text(*at); }
    } then |r| {
        if r != 0 && (*stream).what == DECODE { c.wrote_text(*at) }
    }
    fn xdr_opaque(stream: *mut XdrStream, at: *mut c_char, n: c_uint) -> c_int, |c| {
        c.changes_outside();
        encodes_bytes(&mut c, stream, &raw const at, n as usize)
    } then |r| { decoded_bytes(&mut c, stream, &raw const at, n as usize, r) }
    fn xdrmem_create(stream: *mut XdrStream, room: *mut c_char, n: c_uint, what: c_int), |c| { makes(&mut c, stream) }
    fn xdrstdio_create(stream: *mut XdrStream, file: *mut c_void, what: c_int), |c| { makes(&mut c, stream) }
    fn xdrrec_create(stream: *mut XdrStream, send: c_uint, receive: c_uint, handle: *mut c_char, read: usize, write: usize), |c| { c.changes_outside(); c.writes_one(&raw const (*stream).operations) }
}
