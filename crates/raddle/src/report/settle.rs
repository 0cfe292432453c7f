//! Settles a report: suppressions, grouping, the baseline, the format, the exit status.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use raddle_finding::baseline::Baseline;
use raddle_finding::suppress::Suppressions;
use raddle_finding::{
    Confidence, Finding, Format, RenderOptions, Report, STAT_BASELINE, STAT_SUPPRESSED, Stat, cause, group,
    render,
};

use super::args::{self, FailOn, ReportOptions};
use super::keeper::Keeper;
use super::output::{self, OutputFile};
use super::source::SourceFiles;
use super::terminal::Terminal;

/// Where text for a reader goes if no file is named. Documents go to stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextTo {
    Stdout,
    /// For commands that run a target, so that the target's output stays unchanged.
    Stderr,
}

/// Everything needed to settle a report, read and checked before the work begins.
pub struct Settler {
    suppressions: Suppressions,
    baseline: Option<Baseline>,
    write_baseline: Option<OutputFile>,
    output: Option<OutputFile>,
    text_to: TextTo,
    format: Format,
    terminal: Terminal,
    verbose: bool,
    editor: String,
    fail_on: FailOn,
    exit_code: u8,
    keeper: Option<Keeper>,
}

impl Settler {
    /// Adds the suppressions in `text`, which messages call `name`.
    pub fn suppress_also(&mut self, name: &str, text: &str) -> Result<()> {
        self.suppressions.extend(Suppressions::parse(name, text)?);
        Ok(())
    }

    pub fn new(options: &ReportOptions, text_to: TextTo) -> Result<Settler> {
        let mut suppressions = Suppressions::default();
        for path in &options.suppressions {
            let name = path.display().to_string();
            suppressions.extend(Suppressions::parse(&name, &read(path, "suppressions")?)?);
        }
        let baseline = match &options.baseline {
            Some(path) => Some(Baseline::load(&path.display().to_string(), &read(path, "baseline")?)?),
            None => None,
        };
        let file = |what, path: &Option<std::path::PathBuf>| {
            path.as_deref().map(|p| OutputFile::new(what, p)).transpose()
        };
        let output = file("the report", &options.output)?;
        let terminal = Terminal::new(text_to, options.color, output.is_some());
        if options.quiet {
            raddle_harness::say::be_quiet();
        }
        Ok(Settler {
            suppressions,
            baseline,
            write_baseline: file("the baseline", &options.write_baseline)?,
            output,
            text_to,
            format: format(options.format),
            terminal,
            verbose: options.verbose,
            editor: super::editor()?,
            fail_on: options.fail_on,
            exit_code: options.exit_code,
            keeper: Keeper::new(options.no_store),
        })
    }

    /// Writes the report and returns the exit status: `otherwise` if no finding counts.
    pub fn settle(&self, mut report: Report, otherwise: u8) -> Result<ExitCode> {
        report.findings.retain(|f| !raddle_finding::library::is_its_own(f));
        let applied = self.suppressions.apply(std::mem::take(&mut report.findings));
        if !self.suppressions.rules().is_empty() {
            let suppressed =
                grouped(&report.command, applied.suppressed.into_iter().map(|(f, _)| f).collect());
            let suppressed = causes(&report.command, suppressed).len();
            report.stats.insert(STAT_SUPPRESSED.into(), Stat::from(suppressed as u64));
        }
        report.findings = grouped(&report.command, applied.kept);
        let written =
            self.write_baseline.as_ref().map_or(Ok(()), |f| f.write(&Baseline::of(&report).write()));
        if let Some(baseline) = &self.baseline {
            let split = baseline.split(&report);
            let known = causes(&report.command, split.known).len();
            report.stats.insert(STAT_BASELINE.into(), Stat::from(known as u64));
            report.findings = split.new;
        }
        report.findings = causes(&report.command, std::mem::take(&mut report.findings));
        if let Some(keeper) = &self.keeper {
            keeper.keep(&report);
        }
        self.show(&report)?;
        written?;
        let counts = |c| c == Confidence::Confirmed || self.fail_on == FailOn::Suspected;
        if report.findings.iter().any(|f| counts(f.confidence)) {
            return Ok(ExitCode::from(self.exit_code));
        }
        Ok(ExitCode::from(otherwise))
    }

    fn show(&self, report: &Report) -> Result<()> {
        let root = std::env::current_dir().ok().map(|d| d.to_string_lossy().into_owned());
        let source = SourceFiles::of(report);
        let options = RenderOptions {
            color: self.terminal.color,
            width: self.terminal.width,
            links: self.terminal.links.as_deref(),
            ascii: self.terminal.ascii,
            all_frames: self.verbose,
            source: &|file: &str, line: u32| source.line(file, line),
            root: root.as_deref(),
            editor: Some(&self.editor),
        };
        let text = render(report, self.format, &options);
        match &self.output {
            Some(file) => {
                if let Err(why) = file.write(&text) {
                    // A full disk is no reason to withhold the findings.
                    output::print(&render(report, Format::Text, &options), TextTo::Stderr)?;
                    return Err(why.into());
                }
            }
            None if self.format == Format::Text => output::print(&text, self.text_to)?,
            None => output::print(&text, TextTo::Stdout)?,
        }
        Ok(())
    }
}

/// Groups findings by id. Those of a hunt are one for each cause, and stored under the ids that
/// they have.
fn grouped(command: &str, findings: Vec<Finding>) -> Vec<Finding> {
    if command == "hunt" { findings } else { group::group(findings) }
}

/// Groups the findings of `run` by cause. The other commands look for each pair of places by
/// itself, and say what they did about it.
fn causes(command: &str, findings: Vec<Finding>) -> Vec<Finding> {
    if command == "run" { cause::together(findings) } else { findings }
}

fn read(path: &Path, what: &str) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read the {what} file {}", path.display()))
}

/// The format that a user asked for.
pub fn format(format: args::ReportFormat) -> Format {
    match format {
        args::ReportFormat::Text => Format::Text,
        args::ReportFormat::Json => Format::Json,
        args::ReportFormat::Sarif => Format::Sarif,
        args::ReportFormat::Junit => Format::Junit,
        args::ReportFormat::Github => Format::Github,
        args::ReportFormat::Html => Format::Html,
        args::ReportFormat::Markdown => Format::Markdown,
        args::ReportFormat::Perfetto => Format::Perfetto,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_finding::Kind;

    #[test]
    fn a_hunt_reports_the_ids_under_which_its_findings_are_stored() {
        let mut stored = Finding::new(Kind::Crash, Confidence::Confirmed, "it crashes");
        stored.id = "crash-as-stored".into();
        assert_eq!(grouped("hunt", vec![stored.clone()])[0].id, stored.id);
        assert_ne!(grouped("explore", vec![stored.clone()])[0].id, stored.id);
    }
}
