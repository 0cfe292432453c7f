//! The programs that are measured, embedded in the bench.
//!
//! A kernel is one file in `kernels/`, with its sizes in its own header:
//!
//! ```c
//! /* bench: dense arrays with barrier phases
//!  * full: 1300 300
//!  * reduced: 700 30
//!  * quick: 150 10
//! ```
//!
//! To add a kernel, add that file and one line in [`SOURCES`].

use serde::{Deserialize, Serialize};

use crate::error::BenchError;

/// What the kernels include.
pub const HEADER: (&str, &str) = ("kernel.h", include_str!("../kernels/kernel.h"));

const SOURCES: [(&str, &str); 11] = [
    ("stencil.c", include_str!("../kernels/stencil.c")),
    ("lu.c", include_str!("../kernels/lu.c")),
    ("nbody.c", include_str!("../kernels/nbody.c")),
    ("sort.c", include_str!("../kernels/sort.c")),
    ("hashtable.c", include_str!("../kernels/hashtable.c")),
    ("rwtable.c", include_str!("../kernels/rwtable.c")),
    ("queue.c", include_str!("../kernels/queue.c")),
    ("atomics.c", include_str!("../kernels/atomics.c")),
    ("tree.c", include_str!("../kernels/tree.c")),
    ("wordcount.c", include_str!("../kernels/wordcount.c")),
    ("bfs.cc", include_str!("../kernels/bfs.cc")),
];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Takes 0.3 to 0.6 seconds natively.
    Full,
    /// Small enough for valgrind's tools to finish in some seconds.
    Reduced,
    /// Takes milliseconds. The figures mean nothing; the run shows that everything works.
    Quick,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelLanguage {
    C,
    Cpp,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    pub name: String,
    /// The name of the source file.
    pub file: String,
    pub source: &'static str,
    pub language: KernelLanguage,
    pub summary: String,
    full: [u64; 2],
    reduced: [u64; 2],
    quick: [u64; 2],
}

impl Kernel {
    /// Reads a kernel's header.
    pub fn parse(file: &str, source: &'static str) -> Result<Kernel, BenchError> {
        let (name, extension) = file.rsplit_once('.').unwrap_or((file, ""));
        let lacks =
            |what: &str| BenchError::MalformedKernel { kernel: name.to_owned(), what: what.to_owned() };
        let field = |key: &str| {
            source
                .lines()
                .take(10)
                .find_map(|line| {
                    line.trim_start_matches(['/', '*', ' ']).strip_prefix(key)?.strip_prefix(": ")
                })
                .ok_or_else(|| lacks(&format!("`{key}:`")))
        };
        let sizes = |key: &str| {
            let numbers: Option<Vec<u64>> = field(key)?.split_whitespace().map(|n| n.parse().ok()).collect();
            numbers
                .and_then(|numbers| <[u64; 2]>::try_from(numbers).ok())
                .ok_or_else(|| lacks(&format!("two numbers after `{key}:`")))
        };
        Ok(Kernel {
            name: name.to_owned(),
            file: file.to_owned(),
            source,
            language: if extension == "c" { KernelLanguage::C } else { KernelLanguage::Cpp },
            summary: field("bench")?.to_owned(),
            full: sizes("full")?,
            reduced: sizes("reduced")?,
            quick: sizes("quick")?,
        })
    }

    /// SIZE and ROUNDS, the kernel's two arguments.
    pub fn arguments(&self, scale: Scale) -> [String; 2] {
        match scale {
            Scale::Full => self.full,
            Scale::Reduced => self.reduced,
            Scale::Quick => self.quick,
        }
        .map(|number| number.to_string())
    }
}

pub fn all() -> Result<Vec<Kernel>, BenchError> {
    SOURCES.into_iter().map(|(file, source)| Kernel::parse(file, source)).collect()
}

/// The kernels of these names, or all when none is named.
pub fn select(names: &[String]) -> Result<Vec<Kernel>, BenchError> {
    let all = all()?;
    if let Some(name) = names.iter().find(|name| !all.iter().any(|kernel| kernel.name == **name)) {
        let known = all.into_iter().map(|kernel| kernel.name).collect();
        return Err(BenchError::UnknownKernel { name: name.clone(), known });
    }
    Ok(all.into_iter().filter(|kernel| names.is_empty() || names.contains(&kernel.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_a_whole_header_and_the_three_sizes_shrink() {
        for kernel in all().unwrap() {
            assert!(!kernel.summary.is_empty(), "{}", kernel.name);
            let work = |sizes: [u64; 2]| sizes[0] * sizes[1];
            assert!(work(kernel.full) > work(kernel.reduced), "{}", kernel.name);
            assert!(work(kernel.reduced) > work(kernel.quick), "{}", kernel.name);
        }
    }

    #[test]
    fn the_issue_asks_for_six_kernels_or_more_and_c_plus_plus_is_among_them() {
        let kernels = all().unwrap();
        assert!(kernels.len() >= 6);
        assert!(kernels.iter().any(|kernel| kernel.language == KernelLanguage::Cpp));
    }

    #[test]
    fn a_header_is_read_in_both_comment_styles() {
        let c =
            Kernel::parse("a.c", "/* bench: x y\n * full: 3 4\n * reduced: 2 1\n * quick: 1 1\n").unwrap();
        assert_eq!((c.name.as_str(), c.summary.as_str(), c.language), ("a", "x y", KernelLanguage::C));
        assert_eq!(c.arguments(Scale::Full), ["3", "4"]);
        let cpp =
            Kernel::parse("b.cc", "// bench: z\n// full: 3 4\n// reduced: 2 1\n// quick: 1 1\n").unwrap();
        assert_eq!(cpp.language, KernelLanguage::Cpp);
        assert_eq!(cpp.arguments(Scale::Quick), ["1", "1"]);
    }

    #[test]
    fn a_header_with_a_field_or_a_number_missing_is_refused() {
        let error = Kernel::parse("a.c", "/* bench: x\n * full: 3 4\n * quick: 1 1\n").unwrap_err();
        assert_eq!(error.to_string(), "the header of kernel `a` lacks `reduced:`");
        let error =
            Kernel::parse("a.c", "/* bench: x\n * full: 3\n * reduced: 2 1\n * quick: 1 1\n").unwrap_err();
        assert_eq!(error.to_string(), "the header of kernel `a` lacks two numbers after `full:`");
    }

    #[test]
    fn selection_keeps_the_order_of_the_list_and_names_what_is_unknown() {
        let chosen = select(&["sort".to_owned(), "lu".to_owned()]).unwrap();
        assert_eq!(chosen.iter().map(|kernel| kernel.name.as_str()).collect::<Vec<_>>(), ["lu", "sort"]);
        assert!(
            matches!(select(&["nope".to_owned()]), Err(BenchError::UnknownKernel { name, .. }) if name == "nope")
        );
    }
}
