// expect: nothing
// A panic that is expected: join gives Err, the Mutex is poisoned and repaired, and catch_unwind catches.
use std::panic;
use std::sync::Mutex;
use std::thread;

static VALUE: Mutex<u32> = Mutex::new(1);

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let t = thread::spawn(|| {
        let mut value = VALUE.lock().unwrap();
        *value = 99;
        panic!("on purpose");
    });
    assert!(t.join().is_err());
    let value = VALUE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    assert_eq!(*value, 99);
    drop(value);
    VALUE.clear_poison();
    assert!(VALUE.lock().is_ok());
    assert!(panic::catch_unwind(|| panic!("again")).is_err());
}
