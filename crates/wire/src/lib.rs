//! What crosses the boundary between the driver and the runtime in the target.
//!
//! A **session** is a folder that the driver creates for one command. The environment variable
//! [`SESSION_ENV`] of the target and of all its descendants names its path. It contains:
//!
//! | file | written by | read by | what |
//! |---|---|---|---|
//! | `lock` | driver | other drivers | locked while the driver lives; the next driver removes a session whose lock is free |
//! | `config` | driver | runtime, mapped | [`config::Config`]: mode, limits, and the flags the driver flips while the target runs |
//! | `<pid>.<n>.log` | runtime, mapped | driver | [`log::Header`] and [`record`]s, one file for each process image |
//! | `ask` | runtime | driver | a FIFO: "process *pid* has started and wants its plan", or the copy of a library |
//! | `plan.<pid>` | driver | runtime, which removes it | [`plan`]: program counters that mean something; empty: there is none |
//! | `explore` | both, mapped | both | [`explore`]: orders and traces |
//! | `tsvd`, `params`, `plan.<pid>.<n>`, `<pid>.<n>.state` | | | [`tsvd`] |
//! | `relocated` | driver | runtime, mapped privately | [`relocated`]: the code of an uninstrumented program with probes in it |
//! | `library.<pid>.<n>`, `plan.<pid>.<n>`, `relocated.<n>` | | | [`relocated`]: the same of a shared library |
//! | `delays` | both, mapped | both | [`delays`]: where a run is delayed, for `conseq` |
//! | `trace` | runtime, mapped | driver | [`trace`]: accesses with values, for `conseq` |
//!
//! The log is a shared file mapping, and a record is valid once its first word is stored. So
//! whatever ends the target (a crash, `_exit`, `kill -9`, `exec`), nothing that was recorded before
//! is lost, and no code needs to run at exit.
//!
//! Each layout carries [`VERSION`]. A runtime and a driver with different versions refuse each
//! other with one sentence.
#![cfg_attr(not(any(feature = "std", test)), no_std)]

/// An enum whose values cross the boundary as numbers. What comes from the other side may be
/// anything: a target can die, or write over the memory that it shares.
macro_rules! numbered {
    ($(#[$meta:meta])* pub enum $name:ident: $number:ty { $($(#[$about:meta])* $value:ident = $n:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$about])* $value = $n,)*
        }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$value),*];

            pub const fn number(self) -> $number {
                self as $number
            }

            /// None for a number that stands for nothing.
            pub const fn from_number(n: $number) -> Option<$name> {
                match n {
                    $($n => Some($name::$value),)*
                    _ => None,
                }
            }
        }
    };
}

pub mod config;
pub mod delays;
pub mod explore;
pub mod log;
pub mod plan;
pub mod record;
pub mod relocated;
pub mod trace;
pub mod tsvd;

/// The version of every layout in this crate. 2: `explore` with data races, leaks and output;
/// `tsvd`; traces of `conseq`. 3: traces with numbers of given lengths, and in two parts. 6: gaps
/// and called imports of explored executions. 7: questions about libraries.
pub const VERSION: u32 = 8;

/// The variable that tells the runtime where the session's folder is.
pub const SESSION_ENV: &core::ffi::CStr = c"RADDLE_SESSION";

/// The files of a session, as in the table above. The name of a plan ends with the number of a
/// process.
pub const CONFIG: &str = "config";
pub const ASK: &str = "ask";
pub const PLAN: &str = "plan.";

/// What the detector's runtime writes to `ask`: its process, and the number of a question about a
/// library ([`relocated`]); 0: it wants its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    pub pid: u32,
    pub number: u32,
}

impl Asked {
    pub const LEN: usize = 8;

    pub fn encode(self) -> [u8; Self::LEN] {
        (u64::from(self.pid) << 32 | u64::from(self.number)).to_le_bytes()
    }

    pub fn decode(bytes: [u8; Self::LEN]) -> Asked {
        let both = u64::from_le_bytes(bytes);
        Asked { pid: (both >> 32) as u32, number: both as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::explore::{Cannot, Outside, Status};
    use super::record::{LockKind, MisuseKind};

    /// Whatever a dying target leaves there, the driver gets a value or nothing.
    #[test]
    fn numbers_from_the_other_side_are_checked() {
        macro_rules! check {
            ($($name:ident: $number:ty),*) => {$(
                for n in (0..100).chain([<$number>::MAX - 1, <$number>::MAX]) {
                    let known = $name::ALL.iter().find(|v| v.number() == n);
                    assert_eq!($name::from_number(n), known.copied(), "{n} as {}", stringify!($name));
                }
            )*};
        }
        check!(Status: u32, Outside: u64, Cannot: u64, LockKind: u64, MisuseKind: u64);
    }
}
