//! Where a report goes.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ply_check::Report;
use ply_check::report::{Detail, Result as Amount, Style};

use super::arguments::{Form, Run};
use super::{BROKEN, UNCLEAR};
use crate::program::error::Error;
use crate::program::output;

/// Where a report goes, and in which form.
#[derive(Debug)]
pub(crate) struct Place {
    form: Form,
    detail: Detail,
    file: Option<(PathBuf, File)>,
    /// Further reports.
    more: Vec<(Form, PathBuf, File)>,
}

impl Place {
    /// Opens the file of the report, if it goes to one: a check may take minutes, and all of it would be lost.
    pub(crate) fn open(run: &Run) -> Result<Self, Error> {
        let file = match &run.file {
            None => None,
            Some(path) => Some((path.clone(), opened(path)?)),
        };
        let mut more = Vec::new();
        for (form, path) in &run.reports {
            more.push((*form, path.clone(), opened(path)?));
        }
        Ok(Self {
            form: run.output,
            detail: match run.all {
                true => Detail::All,
                false => Detail::Findings,
            },
            file,
            more,
        })
    }

    /// Writes a report in place of the one before, and returns the exit code.
    pub(crate) fn write(&mut self, report: &Report) -> Result<ExitCode, Error> {
        for (form, path, file) in &mut self.more {
            let text = text(*form, self.detail, Style::Plain, report);
            replace(file, &text).map_err(|source| unwritable(path, source))?;
        }
        let style = match self.file.is_none() && output::has_colours() {
            true => Style::Coloured,
            false => Style::Plain,
        };
        let text = text(self.form, self.detail, style, report);
        match &mut self.file {
            Some((path, file)) => {
                replace(file, &text).map_err(|source| unwritable(path, source))?;
            }
            None => {
                let mut out = output::stdout();
                let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
                written.map_err(Error::Output)?;
            }
        }
        Ok(match report.result() {
            Amount::Kept => ExitCode::SUCCESS,
            Amount::Broken => ExitCode::from(BROKEN),
            Amount::Unclear => ExitCode::from(UNCLEAR),
        })
    }
}

/// Opens the file of a report. An older report stays until there is a new one.
fn opened(path: &Path) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    let opened = options.write(true).create(true).truncate(false).open(path);
    opened.map_err(|source| unwritable(path, source))
}

fn text(form: Form, detail: Detail, style: Style, report: &Report) -> String {
    match form {
        Form::Text => report.to_text(detail, style),
        Form::Json => format!("{:#}\n", report.to_json()),
        Form::Junit => report.to_junit(),
        Form::Sarif => format!("{:#}\n", report.to_sarif()),
        Form::Html => report.to_html(),
    }
}

fn unwritable(path: &Path, source: io::Error) -> Error {
    Error::File {
        path: path.to_owned(),
        source,
    }
}

fn replace(file: &mut File, text: &str) -> io::Result<()> {
    // A pipe or a device has no length and no place to go back to.
    if file.metadata()?.is_file() {
        file.rewind()?;
        file.set_len(0)?;
    }
    file.write_all(text.as_bytes())
}
