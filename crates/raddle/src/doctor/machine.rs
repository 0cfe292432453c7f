//! The kernel, its limits and settings, and what else raddle uses of the machine.

use super::Check;
use crate::wrap::compiler::lookup;
use raddle_harness::glibc;
use raddle_harness::install::{Runtime, cache};
use rustix::process::{Resource, getrlimit};
use std::ffi::OsStr;

/// With at most this many random bits in `mmap`, every mapping stays clear of shadow memory.
const ASLR_BITS: u32 = 28;
/// Bit 1 of AT_HWCAP2: user code may read and write its FS base.
const FSGSBASE: usize = 1 << 1;
/// With less memory, programs under raddle begin to fail.
const LITTLE_MEMORY: u64 = 1 << 30;

/// All checks of the machine, in the order in which they are shown.
pub fn checks() -> Vec<Check> {
    let uname = rustix::system::uname();
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    vec![
        kernel(&uname.release().to_string_lossy(), &uname.machine().to_string_lossy()),
        glibc(glibc::version()),
        cache_folder(),
        aslr(number("/proc/sys/vm/mmap_rnd_bits"), may_turn_aslr_off),
        address_space(getrlimit(Resource::As).current),
        memory(available_memory(&meminfo), number("/proc/sys/vm/overcommit_memory")),
        fsgsbase(rustix::param::linux_hwcap().1),
        perf(number("/proc/sys/kernel/perf_event_paranoid")),
        ptrace(number("/proc/sys/kernel/yama/ptrace_scope")),
        gdb(),
    ]
}

fn number<T: std::str::FromStr>(path: &str) -> Option<T> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn kernel(release: &str, machine: &str) -> Check {
    if machine == "x86_64" {
        Check::ok("kernel", format!("Linux {release}, {machine}"))
    } else {
        let remedy = "use an x86-64 machine; other processors are not supported";
        Check::fail("kernel", format!("Linux {release}, {machine}"), remedy)
    }
}

fn glibc(version: Option<(u32, u32)>) -> Check {
    let (major, minor) = glibc::OLDEST;
    let remedy = format!("use a system with glibc {major}.{minor} or later");
    match version {
        None => Check::warn("glibc", "not found where distributions keep it", remedy),
        Some(found) if found < glibc::OLDEST => Check::fail(
            "glibc",
            format!("{}.{}, on which the runtime does not load", found.0, found.1),
            remedy,
        ),
        Some(found) => Check::ok("glibc", format!("{}.{}", found.0, found.1)),
    }
}

fn cache_folder() -> Check {
    match cache::root().and_then(|root| Runtime::open().map(|_| root)) {
        Ok(root) => Check::ok("cache folder", root.display().to_string()),
        Err(error) => Check::fail("cache folder", error.to_string(), "set XDG_CACHE_HOME"),
    }
}

fn aslr(bits: Option<u32>, may_turn_off: impl Fn() -> bool) -> Check {
    let name = "address randomisation";
    match bits {
        None => Check::ok(name, "no setting vm.mmap_rnd_bits"),
        Some(bits) if bits <= ASLR_BITS => Check::ok(name, format!("{bits} bits")),
        Some(bits) if may_turn_off() => {
            Check::ok(name, format!("{bits} bits, turned off for the program under test"))
        }
        Some(bits) => Check::fail(
            name,
            format!("{bits} bits, and this process may not turn it off (seccomp?)"),
            format!(
                "sysctl vm.mmap_rnd_bits={ASLR_BITS} on the host, or allow personality(2), as \
                 docker run --security-opt seccomp=unconfined does"
            ),
        ),
    }
}

/// Whether this process may switch address randomisation off for its children.
fn may_turn_aslr_off() -> bool {
    const ASK: libc::c_ulong = 0xffff_ffff;
    // SAFETY: personality(2) takes one integer and touches no memory; the flag only has an
    // effect on later calls of exec, and is put back at once.
    unsafe {
        let before = libc::personality(ASK);
        if before < 0 {
            return false;
        }
        let wanted = before | libc::ADDR_NO_RANDOMIZE;
        let set = libc::personality(wanted as libc::c_ulong) >= 0 && libc::personality(ASK) == wanted;
        libc::personality(before as libc::c_ulong);
        set
    }
}

fn address_space(limit: Option<u64>) -> Check {
    match limit {
        None => Check::ok("address space", "not limited"),
        Some(bytes) => Check::fail(
            "address space",
            format!("limited to {} MiB; shadow memory reserves terabytes", bytes >> 20),
            "ulimit -v unlimited",
        ),
    }
}

fn available_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

fn memory(available: Option<u64>, overcommit: Option<u32>) -> Check {
    let detail = match available {
        Some(bytes) => format!("{} MiB available", bytes >> 20),
        None => "amount unknown".to_owned(),
    };
    if overcommit == Some(2) {
        let detail = format!("{detail}; the kernel does not overcommit (vm.overcommit_memory=2)");
        let remedy = "sysctl vm.overcommit_memory=0, or =1";
        return Check::warn("memory", detail, remedy);
    }
    match available {
        Some(bytes) if bytes < LITTLE_MEMORY => {
            Check::warn("memory", detail, "close other programs, or use --memory-limit")
        }
        _ => Check::ok("memory", detail),
    }
}

fn fsgsbase(hwcap2: usize) -> Check {
    if hwcap2 & FSGSBASE != 0 {
        Check::ok("FSGSBASE", "fast switching between threads")
    } else {
        let remedy = "Linux 5.9 or later, on a processor since 2013, without nofsgsbase";
        Check::warn("FSGSBASE", "absent: controlled scheduling is slower", remedy)
    }
}

fn perf(paranoid: Option<i32>) -> Check {
    match paranoid {
        Some(level @ ..=2) => Check::ok("perf events", format!("perf_event_paranoid={level}")),
        Some(level) => Check::warn(
            "perf events",
            format!("perf_event_paranoid={level}: no hardware counters"),
            "sysctl kernel.perf_event_paranoid=2",
        ),
        None => Check::warn("perf events", "not in this kernel", "a kernel with CONFIG_PERF_EVENTS"),
    }
}

fn ptrace(scope: Option<u32>) -> Check {
    match scope {
        None => Check::ok("ptrace", "not restricted by Yama"),
        Some(scope @ 0..=1) => Check::ok("ptrace", format!("ptrace_scope={scope}")),
        Some(scope) => Check::warn(
            "ptrace",
            format!("ptrace_scope={scope}: debuggers cannot attach"),
            "sysctl kernel.yama.ptrace_scope=1",
        ),
    }
}

fn gdb() -> Check {
    let path = std::env::var_os("PATH").unwrap_or_default();
    match lookup(OsStr::new("gdb"), &path).next() {
        Some(found) => Check::ok("gdb", found.display().to_string()),
        None => Check::warn("gdb", "not found: schedules cannot be debugged", "apt install gdb"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;

    #[test]
    fn an_old_c_library_is_a_failure() {
        assert_eq!(glibc(Some((2, 34))).status, Status::Ok);
        assert_eq!(glibc(Some((2, 31))).status, Status::Fail);
        assert_eq!(glibc(None).status, Status::Warn);
    }

    #[test]
    fn only_x86_64() {
        assert_eq!(kernel("6.1", "x86_64").status, Status::Ok);
        assert_eq!(kernel("6.1", "aarch64").status, Status::Fail);
    }

    #[test]
    fn randomisation() {
        assert_eq!(aslr(Some(28), || false).status, Status::Ok);
        assert_eq!(aslr(Some(32), || true).status, Status::Ok);
        assert_eq!(aslr(Some(32), || false).status, Status::Fail);
        assert_eq!(aslr(None, || false).status, Status::Ok);
    }

    #[test]
    fn asking_leaves_the_personality_as_it_was() {
        let before = std::fs::read_to_string("/proc/self/personality").unwrap();
        may_turn_aslr_off();
        assert_eq!(std::fs::read_to_string("/proc/self/personality").unwrap(), before);
    }

    #[test]
    fn limits() {
        assert_eq!(address_space(None).status, Status::Ok);
        let limited = address_space(Some(4 << 30));
        assert_eq!(limited.status, Status::Fail);
        assert!(limited.detail.contains("4096 MiB"), "{}", limited.detail);
    }

    #[test]
    fn memory_and_overcommit() {
        assert_eq!(available_memory("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"), Some(2 << 20));
        assert_eq!(available_memory(""), None);
        assert_eq!(memory(Some(8 << 30), Some(0)).status, Status::Ok);
        assert_eq!(memory(Some(8 << 30), Some(2)).status, Status::Warn);
        assert_eq!(memory(Some(100 << 20), Some(0)).status, Status::Warn);
        assert_eq!(memory(None, None).status, Status::Ok);
    }

    #[test]
    fn features_and_settings() {
        assert_eq!(fsgsbase(0b10).status, Status::Ok);
        assert_eq!(fsgsbase(0b01).status, Status::Warn);
        assert_eq!(perf(Some(-1)).status, Status::Ok);
        assert_eq!(perf(Some(3)).status, Status::Warn);
        assert_eq!(perf(None).status, Status::Warn);
        assert_eq!(ptrace(None).status, Status::Ok);
        assert_eq!(ptrace(Some(1)).status, Status::Ok);
        assert_eq!(ptrace(Some(3)).status, Status::Warn);
    }
}
