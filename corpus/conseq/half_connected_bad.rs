// expect: exit-status
// Rust: a connection's state is set in two steps, and a reader in between complains and gives up. Every access is under a lock: that
// it is wrong is said by the message and the status together.
use std::sync::Mutex;
use std::thread;

static OPEN: Mutex<bool> = Mutex::new(false);
static ADDRESS: Mutex<Option<&str>> = Mutex::new(None);

fn connect() {
    *OPEN.lock().unwrap() = true;
    *ADDRESS.lock().unwrap() = Some("10.0.0.1");
}

fn report() {
    let open = *OPEN.lock().unwrap();
    let address = *ADDRESS.lock().unwrap();
    if open && address.is_none() {
        eprintln!("error: connected to nowhere");
        std::process::exit(1);
    }
}

fn main() {
    let a = thread::spawn(connect);
    let b = thread::spawn(report);
    a.join().unwrap();
    b.join().unwrap();
}
