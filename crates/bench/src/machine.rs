//! The machine and date of the figures, without host names or paths.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MachineInfo {
    pub cpu: String,
    pub cores: usize,
    pub memory_gib: u64,
    /// The load average of the last minute at the start. If it is more than a little, the times are
    /// noisy.
    pub load: f64,
    /// The first line of `--version` by program.
    pub versions: BTreeMap<String, String>,
}

impl MachineInfo {
    /// Describes this machine, and asks these programs for their versions.
    pub fn look<'a>(programs: impl IntoIterator<Item = &'a Path>) -> MachineInfo {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        MachineInfo {
            cpu: field(&read("/proc/cpuinfo"), "model name").unwrap_or("unknown").to_owned(),
            cores: thread::available_parallelism().map_or(1, usize::from),
            memory_gib: memory_gib(&read("/proc/meminfo")),
            load: read("/proc/loadavg").split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0),
            versions: programs.into_iter().filter_map(version).collect(),
        }
    }
}

/// The value of the first `name : value` line.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| Some(line.strip_prefix(name)?.trim_start().strip_prefix(':')?.trim()))
}

fn memory_gib(meminfo: &str) -> u64 {
    let kib = field(meminfo, "MemTotal").and_then(|value| value.split(' ').next()?.parse::<f64>().ok());
    kib.map_or(0, |kib| (kib / 1024.0 / 1024.0).round() as u64)
}

fn version(program: &Path) -> Option<(String, String)> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let line = String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_owned();
    Some((program.file_name()?.to_string_lossy().into_owned(), line))
}

/// The path of a program: as given if it has a slash, else from the search path.
pub fn find_program(name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return name.is_file().then(|| name.to_owned());
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
}

/// Today's date in UTC, as 2026-01-31.
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date_of_day(seconds / 86_400)
}

/// The civil date of a day counted from 1970-01-01, by Howard Hinnant's `civil_from_days`.
fn date_of_day(day: u64) -> String {
    let shifted = day + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day_of_month:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_around_leap_days_and_centuries() {
        assert_eq!(date_of_day(0), "1970-01-01");
        assert_eq!(date_of_day(11_016), "2000-02-29");
        assert_eq!(date_of_day(11_017), "2000-03-01");
        assert_eq!(date_of_day(20_512), "2026-02-28");
        assert_eq!(date_of_day(20_513), "2026-03-01");
        assert_eq!(date_of_day(47_540), "2100-02-28");
        assert_eq!(date_of_day(47_541), "2100-03-01");
    }

    #[test]
    fn the_kernels_tables_are_read() {
        assert_eq!(
            field("vendor_id\t: X\nmodel name\t: A CPU @ 2 GHz\n", "model name"),
            Some("A CPU @ 2 GHz")
        );
        assert_eq!(field("flags : a\n", "model name"), None);
        assert_eq!(memory_gib("MemTotal:       24640872 kB\n"), 23);
    }

    #[test]
    fn programs_are_found_by_name_or_by_path() {
        assert!(find_program(Path::new("sh")).is_some_and(|path| path.is_absolute()));
        assert!(find_program(Path::new("/bin/sh")).is_some());
        assert!(find_program(Path::new("no-such-program-anywhere")).is_none());
        assert!(find_program(Path::new("/no/such/program")).is_none());
    }

    #[test]
    fn this_machine_has_cores_and_memory_and_a_compiler_with_a_version() {
        let machine = MachineInfo::look([Path::new("gcc"), Path::new("no-such-program-anywhere")]);
        assert!(machine.cores > 0 && machine.memory_gib > 0 && !machine.cpu.is_empty());
        assert_eq!(machine.versions.keys().collect::<Vec<_>>(), ["gcc"]);
    }
}
