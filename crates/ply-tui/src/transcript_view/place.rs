//! Places in a transcript, and the way from one to another.

use ply_client::Transcript;

use super::store::Store;
use crate::block::Unit;

/// A line: of a part of the unit that begins with an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Place {
    pub(super) unit: usize,
    pub(super) part: usize,
    pub(super) line: usize,
}

impl Place {
    /// Returns the first line of a unit of one part, after the empty one before it.
    pub(super) fn begin(transcript: &Transcript, unit: Unit) -> Self {
        Self {
            unit: unit.start,
            part: 0,
            line: usize::from(unit.has_gap(transcript)),
        }
    }
}

/// Which way to look for the next line.
#[derive(Clone, Copy)]
enum Way {
    Up,
    Down,
}

impl Store {
    /// Returns the place that is so many lines further down, or up if negative, or the last one on
    /// the way.
    pub(super) fn moved(&mut self, transcript: &Transcript, from: Place, lines: i32) -> Place {
        let mut place = from;
        for _ in 0..lines.unsigned_abs() {
            let next = if lines < 0 {
                self.up(transcript, place)
            } else {
                self.down(transcript, place)
            };
            match next {
                Some(next) => place = next,
                None => break,
            }
        }
        place
    }

    /// Returns whether a screen that begins with this place shows the last line.
    pub(super) fn reaches_end(
        &mut self,
        transcript: &Transcript,
        top: Place,
        height: usize,
    ) -> bool {
        let mut place = top;
        for _ in 0..height {
            match self.down(transcript, place) {
                Some(next) => place = next,
                None => return true,
            }
        }
        false
    }

    /// Returns the place of the last line.
    pub(super) fn last(&mut self, transcript: &Transcript) -> Option<Place> {
        self.in_units(transcript, Unit::last(transcript)?, Way::Up)
    }

    /// Returns the nearest place that there is, since what was there may be folded or hidden now.
    pub(super) fn settle(&mut self, transcript: &Transcript, place: Place) -> Option<Place> {
        let Some(unit) = Unit::at(transcript, place.unit) else {
            return self.last(transcript);
        };
        if unit.start != place.unit {
            return self.in_units(transcript, unit, Way::Down);
        }
        let parts = self.parts(transcript, unit);
        if parts == 0 {
            let next = self.in_units(transcript, unit, Way::Down);
            return next.or_else(|| self.in_units(transcript, unit, Way::Up));
        }
        let part = place.part.min(parts - 1);
        match self.height(transcript, unit, part) {
            0 => self.in_units(transcript, unit, Way::Down),
            height if part < place.part => Some(Place {
                part,
                line: height - 1,
                ..place
            }),
            height => Some(Place {
                line: place.line.min(height - 1),
                ..place
            }),
        }
    }

    pub(super) fn down(&mut self, transcript: &Transcript, place: Place) -> Option<Place> {
        let unit = Unit::at(transcript, place.unit)?;
        let line = place.line + 1;
        if line < self.height(transcript, unit, place.part) {
            return Some(Place { line, ..place });
        }
        let parts = self.parts(transcript, unit);
        self.in_parts(transcript, unit, place.part + 1..parts, Way::Down)
            .or_else(|| self.in_units(transcript, unit.next(transcript)?, Way::Down))
    }

    pub(super) fn up(&mut self, transcript: &Transcript, place: Place) -> Option<Place> {
        let unit = Unit::at(transcript, place.unit)?;
        if let Some(line) = place.line.checked_sub(1) {
            return Some(Place { line, ..place });
        }
        self.in_parts(transcript, unit, 0..place.part, Way::Up)
            .or_else(|| self.in_units(transcript, unit.previous(transcript)?, Way::Up))
    }

    /// Returns the first line in a unit or those after it that have one.
    fn in_units(&mut self, transcript: &Transcript, mut unit: Unit, way: Way) -> Option<Place> {
        loop {
            if !unit.is_hidden(transcript, &self.look) {
                let parts = self.parts(transcript, unit);
                let found = self.in_parts(transcript, unit, 0..parts, way);
                if found.is_some() {
                    return found;
                }
            }
            unit = match way {
                Way::Up => unit.previous(transcript)?,
                Way::Down => unit.next(transcript)?,
            };
        }
    }

    fn in_parts(
        &mut self,
        transcript: &Transcript,
        unit: Unit,
        mut parts: std::ops::Range<usize>,
        way: Way,
    ) -> Option<Place> {
        loop {
            let part = match way {
                Way::Up => parts.next_back()?,
                Way::Down => parts.next()?,
            };
            let height = self.height(transcript, unit, part);
            if let Some(last) = height.checked_sub(1) {
                let line = match way {
                    Way::Up => last,
                    Way::Down => 0,
                };
                let unit = unit.start;
                return Some(Place { unit, part, line });
            }
        }
    }
}
