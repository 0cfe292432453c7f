// Computation for the Rust programs of this folder, as work.h has it for C and C++.

/// About so many milliseconds of one processor. The loop has few operations a round in an unoptimised build, too.
pub fn work(ms: u64) {
    let mut x = 88172645463325252u64.wrapping_add(ms);
    let mut i = 0;
    while i < ms * 160_000 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        i += 1;
    }
    std::hint::black_box(x);
}
