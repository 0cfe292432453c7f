// expect: assertion
// A value is written twice in a row, and the first of them is never to be seen.
// Fails when: the reader comes between the two writes, which lie in one thread with nothing between them.
use std::ptr::{addr_of, addr_of_mut};

static mut VALUE: u64 = 0;

fn main() {
    let writer = std::thread::spawn(|| {
        let value = addr_of_mut!(VALUE);
        // SAFETY: none; this is the bug.
        unsafe {
            value.write_volatile(1);
            value.write_volatile(2);
        }
    });
    // SAFETY: none; this is the bug.
    let seen = unsafe { addr_of!(VALUE).read_volatile() };
    writer.join().unwrap();
    assert_ne!(seen, 1); // expect: assertion here
}
