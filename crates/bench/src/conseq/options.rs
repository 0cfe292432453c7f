//! The command line of `raddle-bench conseq`.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::Error;
use crate::explore::options::{Output, each};
use crate::options::{list, number, shown};

#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    pub suite: PathBuf,
    /// Parts of program names. All programs if empty.
    pub only: Vec<String>,
    /// The greatest distance to try.
    pub distances: u32,
    /// The kernels for measuring overhead. If empty, overhead is not measured.
    pub kernels: Vec<String>,
    pub output: Output,
    pub command: String,
}

/// Kernels that do little but access memory, in different ways.
const KERNELS: [&str; 4] = ["stencil", "hashtable", "queue", "wordcount"];

pub fn parse(arguments: &[OsString]) -> Result<Options, Error> {
    let mut options = Options {
        suite: PathBuf::from("corpus/conseq"),
        only: Vec::new(),
        distances: 5,
        kernels: KERNELS.map(str::to_owned).to_vec(),
        output: Output::default(),
        command: shown("conseq", arguments),
    };
    if arguments.iter().any(|argument| argument == "--quick") {
        (options.distances, options.kernels) = (0, Vec::new());
    }
    each(arguments, &mut options.output, |name, value| {
        match name {
            "--suite" => options.suite = value.into(),
            "--only" => options.only = list(value),
            "--distances" => options.distances = number(name, value)?,
            "--kernels" => options.kernels = list(value),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn options_have_defaults_and_quick_is_less() {
        let all = parse(&[]).unwrap();
        assert_eq!((all.distances, all.kernels.len()), (5, 4));
        let quick = parse(&words("--quick --only url,log --distances 2")).unwrap();
        assert_eq!((quick.distances, quick.kernels.len()), (2, 0));
        assert_eq!(quick.only, ["url", "log"]);
        assert!(parse(&words("--strategy x")).is_err());
    }
}
