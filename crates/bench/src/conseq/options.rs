//! The command line of `raddle-bench conseq`.

use std::path::PathBuf;

use clap::{Args, value_parser};

use crate::options::{OutputOptions, named};

#[derive(Clone, PartialEq, Debug)]
pub struct ConseqOptions {
    pub suite: PathBuf,
    /// Parts of program names. All programs if empty.
    pub only: Vec<String>,
    /// The greatest distance to try.
    pub distances: u32,
    /// The kernels for measuring overhead. If empty, overhead is not measured.
    pub kernels: Vec<String>,
    pub output: OutputOptions,
    pub command: String,
}

/// Kernels that do little but access memory, in different ways.
const KERNELS: [&str; 4] = ["stencil", "hashtable", "queue", "wordcount"];

/// The options of `conseq`.
#[derive(Args)]
pub(crate) struct ConseqArgs {
    /// The programs
    #[arg(long, value_name = "FOLDER", default_value = "corpus/conseq")]
    suite: PathBuf,
    /// Programs with A or B in their names
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    only: Vec<String>,
    /// MaxDistance from 1 to this [default: 5]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    distances: Option<u32>,
    /// On which overhead is measured [default: stencil,hashtable,queue,wordcount]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    kernels: Option<Vec<String>>,
    #[command(flatten)]
    output: OutputOptions,
}

impl ConseqArgs {
    pub(crate) fn options(self, command: String) -> ConseqOptions {
        let (distances, kernels) =
            if self.output.quick { (0, Vec::new()) } else { (5, KERNELS.map(str::to_owned).to_vec()) };
        ConseqOptions {
            suite: self.suite,
            only: named(self.only),
            distances: self.distances.unwrap_or(distances),
            kernels: self.kernels.map_or(kernels, named),
            output: self.output,
            command,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::BenchError;
    use crate::options::{BenchCommand, parse};

    fn options(line: &str) -> Result<ConseqOptions, BenchError> {
        match parse(["conseq"].into_iter().chain(line.split_whitespace()).map(Into::into))? {
            BenchCommand::Conseq(options) => Ok(*options),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_have_defaults_and_quick_is_less() {
        let all = options("").unwrap();
        assert_eq!((all.distances, all.kernels.len()), (5, 4));
        let quick = options("--quick --only url,log --distances 2").unwrap();
        assert_eq!((quick.distances, quick.kernels.len()), (2, 0));
        assert_eq!(quick.only, ["url", "log"]);
        assert_eq!(options("--quick --kernels queue").unwrap().kernels, ["queue"]);
        assert!(options("--strategy x").is_err());
    }
}
