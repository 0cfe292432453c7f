//! The tests of the speed bench, rewritten for shuttle and for loom.
//!
//! Each peer runs in a process of its own, `raddle-bench peer TOOL TEST SECONDS`. So it can be
//! pinned like raddle, and a failed test does not affect the next. The peers are behind the feature
//! `peers`, which is off by default: they bring some sixty crates, and work on raddle does not need
//! them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::BenchError;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Peer {
    ShuttleRandom,
    ShuttleDfs,
    Loom,
}

impl Peer {
    pub const ALL: [Peer; 3] = [Peer::ShuttleRandom, Peer::ShuttleDfs, Peer::Loom];
    /// Whether this program was built with the peers.
    pub const AVAILABLE: bool = cfg!(feature = "peers");

    pub fn name(self) -> &'static str {
        match self {
            Peer::ShuttleRandom => "shuttle-random",
            Peer::ShuttleDfs => "shuttle-dfs",
            Peer::Loom => "loom",
        }
    }

    /// Why a peer cannot be measured on a test.
    pub fn unfit(self, test: &str) -> Option<&'static str> {
        (self == Peer::Loom && test == "abba")
            .then_some("a deadlock ends its process, and there is nothing to begin again")
    }

    pub(crate) fn parse(name: &str) -> Result<Peer, String> {
        let known = || format!("there are {}", Peer::ALL.map(Peer::name).join(", "));
        Peer::ALL.into_iter().find(|peer| peer.name() == name).ok_or_else(known)
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a peer did in its time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Pace {
    pub schedules: u64,
    pub seconds: f64,
    pub failures: u64,
    /// How often the peer had nothing left to try and was restarted.
    pub completed: u64,
}

/// Runs a test for this many seconds.
pub fn run(peer: Peer, test: &str, seconds: f64) -> Result<Pace, BenchError> {
    #[cfg(feature = "peers")]
    return engines::run(peer, test, seconds);
    #[cfg(not(feature = "peers"))]
    Err(BenchError::Usage(format!("{peer} cannot run {test} for {seconds} s without the feature `peers`")))
}

#[cfg(feature = "peers")]
mod engines {
    use std::panic::{self, AssertUnwindSafe};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    use ::shuttle::scheduler::{DfsScheduler, RandomScheduler};
    use ::shuttle::{Config, FailurePersistence, Runner};

    use super::{Pace, Peer};
    use crate::error::BenchError;

    static SCHEDULES: AtomicU64 = AtomicU64::new(0);

    /// The same source for both peers. Only the imports differ.
    macro_rules! tests {
        ($peer:ident) => {
            mod $peer {
                use ::$peer::sync::{Arc, Mutex};
                use ::$peer::thread;

                pub fn mutex() {
                    let count = Arc::new(Mutex::new(0));
                    let add =
                        |count: Arc<Mutex<i32>>| move || (0..5).for_each(|_| *count.lock().unwrap() += 1);
                    let threads: Vec<_> = (0..3).map(|_| thread::spawn(add(count.clone()))).collect();
                    threads.into_iter().for_each(|t| t.join().unwrap());
                    assert_eq!(*count.lock().unwrap(), 15);
                }

                fn add(count: Arc<Mutex<i32>>) -> impl FnOnce() {
                    move || {
                        let seen = *count.lock().unwrap();
                        *count.lock().unwrap() = seen + 1;
                    }
                }

                pub fn atomicity() {
                    let count = Arc::new(Mutex::new(0));
                    let threads: Vec<_> = (0..2).map(|_| thread::spawn(add(count.clone()))).collect();
                    threads.into_iter().for_each(|t| t.join().unwrap());
                    assert_eq!(*count.lock().unwrap(), 2);
                }

                fn both(first: &Arc<Mutex<()>>, second: &Arc<Mutex<()>>) -> impl FnOnce() + use<> {
                    let (first, second) = (first.clone(), second.clone());
                    move || {
                        let _first = first.lock().unwrap();
                        let _second = second.lock().unwrap();
                    }
                }

                pub fn abba() {
                    let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
                    let threads = [thread::spawn(both(&a, &b)), thread::spawn(both(&b, &a))];
                    threads.into_iter().for_each(|t| t.join().unwrap());
                }

                pub fn by_name(name: &str) -> Option<fn()> {
                    match name {
                        "mutex" => Some(mutex),
                        "atomicity" => Some(atomicity),
                        "abba" => Some(abba),
                        _ => None,
                    }
                }
            }
        };
    }

    tests!(shuttle);
    tests!(loom);

    pub fn run(peer: Peer, test: &str, seconds: f64) -> Result<Pace, BenchError> {
        let body = match peer {
            Peer::ShuttleRandom | Peer::ShuttleDfs => shuttle::by_name(test),
            Peer::Loom => loom::by_name(test),
        };
        let body = body.ok_or_else(|| BenchError::Usage(format!("no test is called `{test}`")))?;
        // Failures are counted, not printed, because printing would be most of their cost.
        panic::set_hook(Box::new(|_| {}));
        SCHEDULES.store(0, Ordering::Relaxed);
        let (begun, limit) = (Instant::now(), Duration::from_secs_f64(seconds));
        let mut pace = Pace { schedules: 0, seconds: 0.0, failures: 0, completed: 0 };
        for seed in 1.. {
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                break;
            }
            match panic::catch_unwind(AssertUnwindSafe(|| explore(peer, body, seed, left))) {
                Ok(()) => pace.completed += 1,
                Err(_) => pace.failures += 1,
            }
        }
        pace.seconds = begun.elapsed().as_secs_f64();
        pace.schedules = SCHEDULES.load(Ordering::Relaxed);
        Ok(pace)
    }

    fn explore(peer: Peer, body: fn(), seed: u64, left: Duration) {
        let counted = move || {
            SCHEDULES.fetch_add(1, Ordering::Relaxed);
            body();
        };
        let mut config = Config::new();
        config.failure_persistence = FailurePersistence::None;
        config.max_time = Some(left);
        match peer {
            Peer::ShuttleRandom => {
                let scheduler = RandomScheduler::new_from_seed(seed, usize::MAX);
                Runner::new(scheduler, config).run(counted);
            }
            Peer::ShuttleDfs => {
                Runner::new(DfsScheduler::new(None, false), config).run(counted);
            }
            Peer::Loom => {
                let mut builder = ::loom::model::Builder::new();
                builder.max_duration = Some(left);
                // It reads the clock this often, and writes nothing without a file.
                builder.checkpoint_interval = 256;
                builder.check(counted);
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn each_peer_runs_each_test_and_finds_what_is_wrong_with_it() {
            for peer in Peer::ALL {
                assert_eq!(run(peer, "mutex", 0.05).unwrap().failures, 0, "{peer}");
                for test in ["atomicity", "abba"].into_iter().filter(|test| peer.unfit(test).is_none()) {
                    // On a busy machine, a short time may pass without any execution.
                    let mut paces = (0..50).map(|_| run(peer, test, 0.1).unwrap());
                    let pace = paces.find(|pace| pace.failures > 0);
                    assert!(pace.is_some_and(|p| p.schedules >= p.failures), "{peer} {test}");
                }
            }
            assert!(run(Peer::Loom, "other", 0.1).is_err());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_known_by_name() {
        for peer in Peer::ALL {
            assert_eq!(Peer::parse(peer.name()), Ok(peer));
        }
        assert!(Peer::parse("chess").is_err());
    }

    #[cfg(not(feature = "peers"))]
    #[test]
    fn without_the_feature_a_peer_says_so() {
        assert!(run(Peer::Loom, "mutex", 0.1).unwrap_err().to_string().contains("the feature `peers`"));
    }
}
