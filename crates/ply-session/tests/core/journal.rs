//! A journal that does what it is told.

use ply_session::{Description, Input, Level, Persist, ViewId};

use crate::world::failure;

/// How the journal answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    #[default]
    Answers,
    /// Never, until it is told to.
    Stuck,
    Fails,
    /// With an error that may pass.
    FailsInPassing,
    /// With an error, though the records are there.
    FailsAfterWriting,
}

#[derive(Debug)]
pub(crate) struct Journal {
    pub(crate) records: Vec<Vec<u8>>,
    /// How many of them survive a failure.
    written: usize,
    pub(crate) epoch: u64,
    pub(crate) appends: Mode,
    pub(crate) creates: Mode,
    pub(crate) opens: Mode,
    /// Whether closing is answered.
    pub(crate) releases: bool,
    pub(crate) under_way: Option<Persist>,
    /// What was appended, at its level.
    pub(crate) levels: Vec<Level>,
    pub(crate) descriptions: Vec<Description>,
    /// How far appends come at least, whatever was asked for.
    pub(crate) reaches: Level,
    /// Records of a page.
    pub(crate) page: usize,
    pub(crate) pages: usize,
}

impl Default for Journal {
    fn default() -> Self {
        Self {
            records: Vec::new(),
            written: 0,
            epoch: 1,
            appends: Mode::Answers,
            creates: Mode::Answers,
            opens: Mode::Answers,
            releases: true,
            under_way: None,
            levels: Vec::new(),
            descriptions: Vec::new(),
            reaches: Level::Accepted,
            page: 4,
            pages: 0,
        }
    }
}

impl Journal {
    /// Takes an append, and returns what it is answered with, if it is.
    pub(crate) fn append(&mut self, persist: Persist) -> Option<Input> {
        let failed = |may_pass| {
            let error = failure();
            Some(Input::NotPersisted { error, may_pass })
        };
        match self.appends {
            Mode::Stuck => {
                assert!(self.under_way.is_none(), "one append at a time");
                self.under_way = Some(persist);
                None
            }
            Mode::Fails => {
                self.lose();
                failed(false)
            }
            Mode::FailsInPassing => failed(true),
            Mode::FailsAfterWriting => {
                self.write(persist);
                self.written = self.records.len();
                failed(false)
            }
            Mode::Answers => {
                self.write(persist);
                Some(Input::Persisted {
                    reached: self.reaches,
                })
            }
        }
    }

    pub(crate) fn write(&mut self, persist: Persist) {
        self.records
            .extend(persist.records.into_iter().map(Vec::from));
        self.levels.push(persist.level);
        self.descriptions.extend(persist.description);
        if persist.level.max(self.reaches) >= Level::Written {
            self.written = self.records.len();
        }
    }

    /// Forgets what was no more than accepted.
    pub(crate) fn lose(&mut self) {
        self.records.truncate(self.written);
    }

    pub(crate) fn page(&mut self, view: ViewId, from: u64) -> Input {
        self.pages += 1;
        let start = usize::try_from(from).unwrap();
        let records = self.records.iter().skip(start).take(self.page);
        let records: Vec<Vec<u8>> = records.cloned().collect();
        assert!(
            !records.is_empty(),
            "{view:?} reads what is not there: {from}"
        );
        let next = from + records.len() as u64;
        Input::Page {
            view,
            from,
            records,
            next,
        }
    }

    /// Returns the records as text.
    pub(crate) fn text(&self) -> Vec<&str> {
        let records = self.records.iter();
        records
            .map(|record| std::str::from_utf8(record).unwrap())
            .collect()
    }
}
