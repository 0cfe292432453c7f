// Threads hand over by a file that comes into being, and by how long it is, which std asks for by statx.
// expect: nothing
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::thread;
use std::time::Duration;

static mut SHARED: [u64; 2] = [0; 2];

fn pause() {
    thread::sleep(Duration::from_micros(100));
}

fn main() {
    let path = std::env::temp_dir().join(format!("raddle_seen_{}", std::process::id()));
    let made = path.clone();
    let maker = thread::spawn(move || {
        unsafe { SHARED[0] = 1 };
        File::create(&made).unwrap();
    });
    while !path.exists() {
        pause();
    }
    unsafe { SHARED[0] += 1 };
    maker.join().unwrap();

    let file = File::open(&path).unwrap();
    let grown = path.clone();
    let writer = thread::spawn(move || {
        unsafe { SHARED[1] = 1 };
        OpenOptions::new().append(true).open(&grown).unwrap().write_all(b"x").unwrap();
    });
    while file.metadata().unwrap().len() == 0 {
        pause();
    }
    unsafe { SHARED[1] += 1 };
    writer.join().unwrap();
    fs::remove_file(&path).unwrap();
    assert!(unsafe { SHARED[0] + SHARED[1] } == 4);
}
