//! The .NET SDK that `./test setup` puts into `target/dotnet`, to compile and run C# in tests.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::repository;

/// .NET Core 3.1 with its compiler, and OpenSSL 1.1, which the compiler wants.
pub struct Sdk {
    folder: PathBuf,
    openssl: PathBuf,
}

impl Sdk {
    /// None, and a sentence, if it is not installed: the test ends without having tested anything.
    pub fn find() -> Option<Sdk> {
        let Ok(target) = repository("target/dotnet").canonicalize() else { return Sdk::missing() };
        let sdk = Sdk { folder: target.join("sdk"), openssl: target.join("openssl") };
        if sdk.program().is_file() { Some(sdk) } else { Sdk::missing() }
    }

    fn missing() -> Option<Sdk> {
        eprintln!("no .NET SDK in target/dotnet: `./test setup` gets one; nothing was tested");
        None
    }

    /// Its folder, as `DOTNET_ROOT` names one.
    pub fn root(&self) -> &Path {
        &self.folder
    }

    /// The program `dotnet`.
    pub fn program(&self) -> PathBuf {
        self.folder.join("dotnet")
    }

    /// `dotnet`, without a library for cultures, which a machine need not have.
    pub fn dotnet(&self) -> Command {
        let mut dotnet = Command::new(self.program());
        dotnet.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1").env("DOTNET_CLI_TELEMETRY_OPTOUT", "1");
        dotnet.env("LD_LIBRARY_PATH", &self.openssl);
        dotnet
    }

    /// The only folder that matches.
    fn only(&self, below: &str) -> PathBuf {
        let all = std::fs::read_dir(self.folder.join(below)).unwrap();
        all.map(|entry| entry.unwrap().path()).next().unwrap_or_else(|| panic!("{below} is empty"))
    }

    /// Compiles sources with further options into the assembly `to`, which `dotnet` can run.
    pub fn compile(&self, sources: &[PathBuf], to: &Path, options: &[&str]) {
        let framework = self.only("shared/Microsoft.NETCore.App");
        let version = framework.file_name().unwrap().to_string_lossy().into_owned();
        let references = std::fs::read_dir(&framework).unwrap().filter_map(|entry| {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            let managed = name.ends_with(".dll") && !name.contains("Native");
            // Of the last two `dynamic` is made.
            let wanted =
                name.starts_with("System") || name == "Microsoft.CSharp.dll" || name == "netstandard.dll";
            let wanted = managed && wanted;
            wanted.then(|| format!("-r:{}", framework.join(name).display()))
        });
        let mut compile = self.dotnet();
        compile.arg(self.only("sdk").join("Roslyn/bincore/csc.dll"));
        compile
            .args(["-nologo", "-langversion:8", "-debug:portable", "-optimize+", "-unsafe+"])
            .args(references);
        let output =
            compile.args(options).arg(format!("-out:{}", to.display())).args(sources).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let settings = format!(
            r#"{{"runtimeOptions":{{"tfm":"netcoreapp3.1","framework":{{"name":"Microsoft.NETCore.App","version":"{version}"}}}}}}"#
        );
        std::fs::write(to.with_extension("runtimeconfig.json"), settings).unwrap();
    }

    /// Makes the program beside an assembly that starts it, as a build leaves one.
    pub fn make_host(&self, assembly: &Path) -> PathBuf {
        /// Stands for the name of the assembly in the template.
        const PLACE: &[u8] = b"c3ab8ff13720e8ad9047dd39466b3c8974e592c2fa383d4a3960714caef0c4f2";
        let mut host = std::fs::read(self.only("sdk").join("AppHostTemplate/apphost")).unwrap();
        let at = host.windows(PLACE.len()).position(|window| window == PLACE).expect("a place for the name");
        let name = assembly.file_name().unwrap().as_encoded_bytes();
        host[at..at + PLACE.len()].fill(0);
        host[at..at + name.len()].copy_from_slice(name);
        let to = assembly.with_extension("");
        std::fs::write(&to, host).unwrap();
        std::fs::set_permissions(&to, std::fs::Permissions::from_mode(0o755)).unwrap();
        to
    }

    /// Makes one file of an assembly and what starts it, beside them, as a single-file program is.
    pub fn make_bundle(&self, assembly: &Path) -> PathBuf {
        const BUNDLER: &str = r#"
            class Bundle {
                static void Main(string[] words) {
                    var files = new System.Collections.Generic.List<Microsoft.NET.HostModel.Bundle.FileSpec>();
                    for (int i = 2; i < words.Length; i++)
                        files.Add(new Microsoft.NET.HostModel.Bundle.FileSpec(words[i], System.IO.Path.GetFileName(words[i])));
                    new Microsoft.NET.HostModel.Bundle.Bundler(words[0], words[1], true, false).GenerateBundle(files);
                }
            }"#;
        let host = self.make_host(assembly);
        let folder = assembly.with_extension("bundle");
        std::fs::create_dir(&folder).unwrap();
        let (source, bundler) = (folder.join("bundler.cs"), folder.join("bundler.dll"));
        std::fs::write(&source, BUNDLER).unwrap();
        let library = "Microsoft.NET.HostModel.dll";
        std::fs::copy(self.only("sdk").join(library), folder.join(library)).unwrap();
        self.compile(&[source], &bundler, &[&format!("-r:{}", folder.join(library).display())]);
        let mut command = self.dotnet();
        command.arg(bundler).arg(host.file_name().unwrap()).arg(folder.join("made")).arg(&host);
        command.args(["dll", "pdb", "runtimeconfig.json"].map(|kind| assembly.with_extension(kind)));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        folder.join("made").join(host.file_name().unwrap())
    }

    /// Puts the runtime into the folder of an assembly, so that its program needs none elsewhere.
    pub fn carry_runtime(&self, assembly: &Path) {
        let (framework, host) = (self.only("shared/Microsoft.NETCore.App"), self.only("host/fxr"));
        let version = framework.file_name().unwrap().to_string_lossy().into_owned();
        let folder = assembly.parent().unwrap();
        for entry in [framework, host].iter().flat_map(|from| std::fs::read_dir(from).unwrap()) {
            let entry = entry.unwrap();
            std::os::unix::fs::symlink(entry.path(), folder.join(entry.file_name())).unwrap();
        }
        let settings = format!(
            r#"{{"runtimeOptions":{{"tfm":"netcoreapp3.1","includedFrameworks":[{{"name":"Microsoft.NETCore.App","version":"{version}"}}]}}}}"#
        );
        std::fs::write(assembly.with_extension("runtimeconfig.json"), settings).unwrap();
    }
}
