//! Explores programs of `corpus/explore` and compares what is found with what their comments
//! expect.
//!
//! One test a program and compiler; `corpus/README.md` is the format. A fixed part is run by
//! default, so that a test run stays short; `RADDLE_CORPUS=all` runs every program, also as machine
//! code. `cargo test
//! --test explore_corpus -- NAME` runs those whose path contains NAME.

mod expect;
mod explored;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use expect::Program;
use libtest_mimic::{Arguments, Failed, Trial};

/// Run by default: each kind of finding, each language, each primitive, and right twins.
const PART: &[&str] = &[
    "suite/bank_transfer_bad.cc",
    "suite/check_then_act_bad.c",
    "suite/check_then_act_ok.c",
    "suite/deadlock_3_locks_bad.c",
    "suite/double_free_bad.c",
    "suite/exit_status_bad.c",
    "suite/lost_update_bad.c",
    "suite/lost_update_bad.rs",
    "suite/lost_wakeup_bad.c",
    "suite/lost_wakeup_ok.c",
    "suite/philosophers_3_bad.c",
    "suite/refcount_bad.c",
    "suite/reorder_3_bad.c",
    "suite/reorder_3_ok.c",
    "suite/wronglock_1_bad.c",
    "control/bit_field_bad.c",
    "control/constant_memset_bad.c",
    "control/constant_memset_ok.c",
    "control/timeout_ten_ok.c",
    "control/unmapped_and_mapped_ok.c",
    "control/fault_jump_ok.c",
    "control/fault_mapping_ok.c",
    "control/fault_raised_again_bad.c",
    "control/libc_gmtime_bad.c",
    "control/mutex_destroyed_bad.c",
    "control/nondeterminism_bad.c",
    "control/rwlock_writers_first_bad.c",
    "control/shared_mapping_ok.c",
    "control/signal_lost_bad.c",
    "control/stream_before_ok.c",
    "control/stream_broken_off_ok.c",
    "control/descriptor_closed_bad.c",
    "control/descriptor_closed_ok.c",
    "control/alarm_lock_bad.c",
    "control/alarm_watchdog_ok.c",
    "control/barrier_never_full_bad.c",
    "control/cancel_async_lock_bad.c",
    "control/cancel_async_ok.c",
    "control/cancel_leaves_lock_bad.c",
    "control/cancel_points_ok.c",
    "control/cond_never_signalled_bad.c",
    "control/cond_spurious_bad.c",
    "control/cxx_exception_bad.cc",
    "control/cxx_future_ok.cc",
    "control/eventfd_ok.c",
    "control/exit_before_work_bad.c",
    "control/fork_in_lock_bad.c",
    "control/fifo_partner_gone_ok.c",
    "control/fork_pipe_ok.c",
    "control/futex_lock_bad.c",
    "control/guard_pages_bad.c",
    "control/guard_pages_ok.c",
    "control/join_cycle_bad.c",
    "control/leak_bad.c",
    "control/leak_of_list_bad.c",
    "control/leak_ok.c",
    "control/leak_reachable_ok.cc",
    "control/message_queue_bad.c",
    "control/message_queue_ok.c",
    "control/sysv_messages_ok.c",
    "control/sysv_semaphores_bad.c",
    "control/mutex_polite_livelock_bad.c",
    "control/mutex_self_deadlock_bad.c",
    "control/never_ends_bad.c",
    "control/openmp_critical_bad.c",
    "control/openmp_critical_ok.c",
    "control/openmp_locks_bad.c",
    "control/openmp_shares_ok.c",
    "control/openmp_tasks_bad.c",
    "control/openmp_tasks_ok.c",
    "control/output_order_bad.c",
    "control/output_order_ok.c",
    "control/output_value_bad.c",
    "control/race_at_exit_bad.c",
    "control/race_at_exit_ok.c",
    "control/race_crowded_atomics_ok.c",
    "control/race_in_std_ok.rs",
    "control/race_on_one_path_bad.c",
    "control/race_on_one_path_ok.c",
    "control/race_orders_ok.c",
    "control/pipe_handover_ok.c",
    "control/semaphore_named_ok.c",
    "control/race_relaxed_publish_bad.c",
    "control/race_beside_library_state_bad.c",
    "control/race_signal_orders_ok.c",
    "control/yield_then_block_bad.c",
    "control/long_write_ok.c",
    "control/long_write_bad.c",
    "control/rust_mpsc_bad.rs",
    "control/rust_panic_bad.rs",
    "control/rust_panic_ignored_bad.rs",
    "control/rust_panic_ok.rs",
    "control/rwlock_upgrade_bad.c",
    "control/scope_only_bad.c",
    "control/scope_skip.c",
    "control/scope_skip_racy.c",
    "control/sem_eintr_bad.c",
    "control/sem_never_posted_bad.c",
    "control/signal_queued_ok.c",
    "control/spin_yield_ok.c",
    "control/clock_deadline_bad.c",
    "control/clock_deadline_ok.c",
    "control/status_by_sleep_bad.c",
    "control/status_by_sleep_ok.c",
    "control/exec_first_bad.c",
    "control/exec_late_bad.c",
    "control/exec_late_ok.c",
    "control/poll_counts_bad.c",
    "control/poll_cxx_ok.cc",
    "control/poll_rust_ok.rs",
    "control/poll_trylock_ok.c",
    "control/poll_under_lock_bad.c",
    "control/poll_under_lock_ok.c",
    "control/stress_loop_ok.c",
    "control/timeout_far_cond_ok.c",
    "control/timeout_far_lock_ok.c",
    "control/timeout_far_poll_ok.c",
    "control/timeout_far_rust_ok.rs",
    "control/timeout_far_sem_ok.c",
    "control/timeout_far_unmet_ok.c",
    "control/timeout_near_lock_bad.c",
    "control/timeout_near_poll_bad.c",
    "control/timeout_near_rust_bad.rs",
    "control/timeout_near_sem_bad.c",
    "control/timer_late_callback_bad.c",
    "control/timer_rearmed_ok.c",
    "control/timerfd_cancelled_bad.c",
    "control/float_rounding_bad.c",
    "control/float_rounding_ok.c",
    "control/library_locks_bad.c",
    "control/library_locks_ok.c",
    "control/loader_callback_bad.c",
    "control/signal_stack_bad.c",
    "control/signal_stack_ok.c",
    "control/stack_left_bad.c",
    "control/stack_left_ok.c",
    "control/stack_size_bad.c",
    "control/stack_size_ok.c",
    "control/thread_number_bad.c",
    "control/thread_number_ok.c",
];

/// Built with clang as well.
const CLANG: &[&str] = &["suite/check_then_act_bad.c", "suite/reorder_3_bad.c", "suite/bank_transfer_bad.cc"];

/// Built by a plain compiler as well, and scheduled in a copy of its machine code.
const MACHINE_CODE: &[&str] = &[
    "suite/aba_stack_bad.c",
    "suite/bank_transfer_bad.cc",
    "suite/check_then_act_ok.c",
    "suite/deadlock_3_locks_bad.c",
    "suite/double_free_bad.c",
    "suite/lost_update_bad.rs",
    "suite/lost_wakeup_ok.c",
    "suite/refcount_bad.c",
    "control/bit_field_bad.c",
    "control/cxx_exception_bad.cc",
    "control/fault_jump_ok.c",
    "control/rust_mpsc_bad.rs",
    "control/signal_stack_ok.c",
    "control/stack_left_bad.c",
];

/// The load that spins is not known to be atomic and not yet a scheduling point, so it keeps the
/// others from running.
const SPINS: &str = "no schedule comes to its end, and raddle says so";

/// Those whose verdict on machine code must differ, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("control/race_on_one_path_bad.c", "`--races` shows those of one run"),
    ("control/race_relaxed_publish_bad.c", "`--races` shows those of one run, where LOCK orders"),
    ("control/race_beside_library_state_bad.c", "`--races` shows those of one run, and it may not have it"),
    ("control/timer_overlap_bad.c", "only a timer starts threads there, so it is not copied"),
    ("control/spin_bit_ok.c", SPINS),
    ("control/spin_counts_ok.c", SPINS),
    ("control/spin_halt_bad.c", SPINS),
    ("control/spin_pause_ok.c", SPINS),
    ("control/spin_plain_bad.c", SPINS),
    ("control/spin_ticket_ok.c", SPINS),
];

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/explore");
    let all = is_all();
    let mut trials = Vec::new();
    for file in programs(&root) {
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        if all || PART.contains(&name.as_str()) {
            trials.extend(trials_of(&file, &name, all || CLANG.contains(&name.as_str())));
        }
        if all || MACHINE_CODE.contains(&name.as_str()) {
            trials.extend(machine_code(&file, &name));
        }
    }
    libtest_mimic::run(&args, trials).exit_code()
}

fn is_all() -> bool {
    std::env::var_os("RADDLE_CORPUS").is_some_and(|v| v == "all")
}

fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in
            std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())).flatten()
        {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| ["c", "cc", "rs"].iter().any(|known| e == *known)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The verdict on a copy of the machine code is that on a program built with raddle.
fn machine_code(file: &Path, name: &str) -> Option<Trial> {
    let text = std::fs::read_to_string(file).unwrap();
    let program = Program::parse(&text).ok().filter(|p| p.expected.is_some())?;
    if DIFFERENT.iter().any(|(different, _)| *different == name) {
        return None;
    }
    let (file, name) = (file.to_path_buf(), format!("{name} ({})", explored::MACHINE_CODE));
    Some(Trial::test(name, move || explored::check(&file, &program, explored::MACHINE_CODE)))
}

fn trials_of(file: &Path, name: &str, clang: bool) -> Vec<Trial> {
    let text = std::fs::read_to_string(file).unwrap();
    let program = match Program::parse(&text) {
        Ok(program) => program,
        Err(e) => return vec![Trial::test(name, move || Err(Failed::from(e)))],
    };
    // What C11 allows beyond sequential consistency is `explore_weak`'s.
    if program.expected.is_none() {
        return Vec::new();
    }
    let is_rust = file.extension().is_some_and(|e| e == "rs");
    let compilers: Vec<&str> = match (is_rust, clang) {
        (true, _) => vec!["rustc"],
        (false, true) => program.compilers.iter().map(String::as_str).collect(),
        (false, false) => vec!["gcc"],
    };
    let trial = |compiler: &str| {
        let (file, program, compiler) = (file.to_path_buf(), program.clone(), compiler.to_owned());
        Trial::test(format!("{name} ({compiler})"), move || explored::check(&file, &program, &compiler))
    };
    compilers.into_iter().map(trial).collect()
}
