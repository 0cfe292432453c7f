//! Compiles kernels, once for each compiler and flavour.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::BenchError;
use crate::kernel::{HEADER, Kernel, KernelLanguage};
use crate::tool::{CCompiler, Flavour};

/// The flags with which the reference figures were taken.
const FLAGS: [&str; 3] = ["-O1", "-g", "-pthread"];

/// Builds kernels into a folder.
pub struct Workshop {
    folder: PathBuf,
    raddle: Option<PathBuf>,
}

impl Workshop {
    /// Writes the common header into the folder.
    pub fn new(folder: &Path, raddle: Option<PathBuf>) -> Result<Workshop, BenchError> {
        let header = folder.join(HEADER.0);
        fs::write(&header, HEADER.1).map_err(BenchError::file("write", &header))?;
        Ok(Workshop { folder: folder.to_owned(), raddle })
    }

    /// The binary, built anew.
    pub fn build(
        &self,
        kernel: &Kernel,
        compiler: &CCompiler,
        flavour: Flavour,
    ) -> Result<PathBuf, BenchError> {
        let source = self.folder.join(&kernel.file);
        fs::write(&source, kernel.source).map_err(BenchError::file("write", &source))?;
        let binary = self.folder.join(format!("{}-{compiler}-{flavour:?}", kernel.name).to_lowercase());

        let mut command = self.compiler_command(kernel.language, compiler, flavour);
        command.args(FLAGS);
        if flavour == Flavour::Tsan {
            command.arg("-fsanitize=thread");
        }
        command.arg(&source).arg("-o").arg(&binary).arg("-lm");
        let output = command.output().map_err(|_| BenchError::MissingProgram {
            program: command.get_program().to_string_lossy().into_owned(),
            remedy: "install it, or leave its compiler out with --compilers".to_owned(),
        })?;
        if output.status.success() {
            return Ok(binary);
        }
        let diagnostics = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(BenchError::Build {
            kernel: kernel.name.clone(),
            tool: format!("{flavour:?} by {compiler}"),
            diagnostics,
        })
    }

    fn compiler_command(&self, language: KernelLanguage, compiler: &CCompiler, flavour: Flavour) -> Command {
        match flavour {
            Flavour::Plain | Flavour::Tsan => match language {
                KernelLanguage::C => Command::new(compiler.c()),
                KernelLanguage::Cpp => Command::new(compiler.cpp()),
            },
            Flavour::Raddle => {
                let raddle = self.raddle.as_deref().unwrap_or(Path::new("raddle"));
                let mut command = Command::new(raddle);
                command.arg(if language == KernelLanguage::C { "cc" } else { "c++" });
                command.env("RADDLE_CC", compiler.c()).env("RADDLE_CXX", compiler.cpp());
                command
            }
        }
    }
}
