//! Functions of the mathematical library that store a second result where their caller says. Those
//! of `long double` are passed on unseen: Rust has no such type.

use core::ffi::{c_double, c_float, c_int};

use super::access::accesses;

accesses! {
    fn frexp(x: c_double, to: *mut c_int) -> c_double, |c| { c.writes_one(to) }
    fn frexpf(x: c_float, to: *mut c_int) -> c_float, |c| { c.writes_one(to) }
    fn modf(x: c_double, to: *mut c_double) -> c_double, |c| { c.writes_one(to) }
    fn modff(x: c_float, to: *mut c_float) -> c_float, |c| { c.writes_one(to) }
    fn lgamma_r(x: c_double, to: *mut c_int) -> c_double, |c| { c.writes_one(to) }
    fn lgammaf_r(x: c_float, to: *mut c_int) -> c_float, |c| { c.writes_one(to) }
    fn remquo(x: c_double, y: c_double, to: *mut c_int) -> c_double, |c| { c.writes_one(to) }
    fn remquof(x: c_float, y: c_float, to: *mut c_int) -> c_float, |c| { c.writes_one(to) }
    fn sincos(x: c_double, sine: *mut c_double, cosine: *mut c_double), |c| { c.writes_one(sine); c.writes_one(cosine) }
    fn sincosf(x: c_float, sine: *mut c_float, cosine: *mut c_float), |c| { c.writes_one(sine); c.writes_one(cosine) }
}
