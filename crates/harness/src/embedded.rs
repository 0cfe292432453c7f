//! The runtime inside this binary, made by the build script.

/// The prelinked, position-independent runtime that executables are linked with.
pub const RUNTIME_OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/raddle_rt.o"));
/// The same runtime as a shared library, for targets that cannot be relinked.
pub const RUNTIME_SHARED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libraddle_rt.so"));
/// The same for `raddle tsvd`, which interposes only the functions that it needs.
pub const TSVD_SHARED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libraddle_tsvd.so"));
/// The same for the policy `tsvd-hb`, which observes synchronisation.
pub const TSVD_HB_SHARED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libraddle_tsvd_hb.so"));
/// The profiler that .NET processes load under `raddle tsvd`.
pub const CLR_PROFILER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libraddle_clr.so"));
/// `raddle/annotations.h`.
pub const ANNOTATIONS_H: &[u8] = include_bytes!("../include/raddle/annotations.h");
/// The symbols an executable must export so that libraries loaded later bind to them.
pub const DYNAMIC_LIST: &str = include_str!(concat!(env!("OUT_DIR"), "/dynamic.list"));
/// A digest of all of these.
pub const DIGEST: &[u8; 32] = include_bytes!(concat!(env!("OUT_DIR"), "/digest"));
