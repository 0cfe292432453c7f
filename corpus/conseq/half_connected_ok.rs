// expect: nothing
// The twin of half_connected_bad.rs: one lock around both.
use std::sync::Mutex;
use std::thread;

struct State {
    open: bool,
    address: Option<&'static str>,
}
static STATE: Mutex<State> = Mutex::new(State { open: false, address: None });

fn connect() {
    let mut state = STATE.lock().unwrap();
    state.open = true;
    state.address = Some("10.0.0.1");
}

fn report() {
    let state = STATE.lock().unwrap();
    if state.open && state.address.is_none() {
        eprintln!("error: connected to nowhere");
    }
}

fn main() {
    let a = thread::spawn(connect);
    let b = thread::spawn(report);
    a.join().unwrap();
    b.join().unwrap();
}
