//! One life of fixed turns, with a fault at each of its calls in turn (F2, F5, F6).

mod play;

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::thread;

use self::play::Play;
use crate::Version;
use crate::check::{self, Ending};
use crate::failure::{Failure, Result};
use crate::fault::{CALLS, Call, Fault};
use crate::life::Life;
use crate::scratch::Scratch;
use crate::tally::Tally;
use crate::told::Told;
use crate::tools::Tools;

/// A fault in a life, shown as `v1:write:17:kill-torn`, or `v1-long:…` in the long one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// The client's version.
    pub version: Version,
    /// Which life.
    pub length: Length,
    /// The fault.
    pub fault: Fault,
}

/// Which of two lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// A few turns of every kind. What was written moves from the log to the file when the agent ends.
    Short,
    /// The same, and so much more that it moves while the agent works.
    Long,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let life = match (self.version, self.length) {
            (Version::V1, Length::Short) => "v1",
            (Version::V1, Length::Long) => "v1-long",
            (Version::V2, Length::Short) => "v2",
            (Version::V2, Length::Long) => "v2-long",
        };
        write!(f, "{life}:{}", self.fault)
    }
}

impl FromStr for Point {
    type Err = String;

    fn from_str(words: &str) -> std::result::Result<Self, String> {
        let wrong = || format!("{words} is no point; say one such as v1:write:17:kill-torn");
        let (life, fault) = words.split_once(':').ok_or_else(wrong)?;
        let (version, length) = match life {
            "v1" => (Version::V1, Length::Short),
            "v1-long" => (Version::V1, Length::Long),
            "v2" => (Version::V2, Length::Short),
            "v2-long" => (Version::V2, Length::Long),
            _ => return Err(wrong()),
        };
        let fault = fault.parse()?;
        Ok(Self {
            version,
            length,
            fault,
        })
    }
}

/// Returns how many calls of each kind the life makes when nothing goes wrong. They differ a little from life to life, since
/// what comes at the same time is written together.
///
/// # Errors
///
/// Something goes wrong.
pub fn count(version: Version, length: Length) -> std::result::Result<Vec<(Call, u64)>, Failure> {
    let (tools, scratch) = (Tools::find()?, Scratch::new()?);
    let mut told = Told::default();
    let mut life = Life::start(&tools, &scratch, version, None, &mut told)?;
    Play::new(&mut life, length, None).run()?;
    let counts = CALLS.map(|(call, _)| Ok((call, life.board().count(call)?)));
    let counts = counts.into_iter().collect::<Result<Vec<_>>>()?;
    match counts
        .iter()
        .any(|(call, count)| *call == Call::Write && *count > 0)
    {
        true => Ok(counts),
        false => Err(Failure::other(
            "no call was counted: the library is not in the agent",
        )),
    }
}

/// Returns the numbers from 1 to `count`, or about `wanted` of them, spread over all.
#[must_use]
pub fn spread(count: u64, wanted: u64) -> Vec<u64> {
    if count <= wanted || wanted < 2 {
        return (1..=count).collect();
    }
    (0..wanted)
        .map(|place| 1 + place * (count - 1) / (wanted - 1))
        .collect()
}

/// Plays every point on a store of its own, and checks after each. `progress` is told how many were played.
pub fn run(points: Vec<Point>, workers: usize, progress: impl Fn(usize) + Sync) -> Tally {
    let total = Mutex::new((Tally::default(), 0));
    let points = Mutex::new(VecDeque::from(points));
    let work = || {
        loop {
            let next = points
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pop_front();
            let Some(point) = next else { return };
            let tally = one(point);
            let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
            total.0.merge(tally);
            total.1 += 1;
            progress(total.1);
        }
    };
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    total.into_inner().unwrap_or_else(PoisonError::into_inner).0
}

fn one(point: Point) -> Tally {
    let (mut tally, mut told) = (Tally::default(), Told::default());
    let again = format!("cargo xtask crash --point {point}");
    let ran = Scratch::with(|scratch| play(&Tools::find()?, scratch, point, &mut told, &mut tally));
    tally.add(&told, &again);
    tally
        .failures
        .extend(ran.err().map(|failure| (failure, again)));
    tally
}

fn play(
    tools: &Tools,
    scratch: &Scratch,
    point: Point,
    told: &mut Told,
    tally: &mut Tally,
) -> Result<()> {
    let Point {
        version,
        length,
        fault,
    } = point;
    let mut life = Life::start(tools, scratch, version, Some(fault), told)?;
    let errors = Play::new(&mut life, length, Some(fault)).run()?;
    tally.errors += errors;
    tally.unplayed += u64::from(!life.board().has_fired()?);
    tally.count(fault.name());
    drop(life);
    // The other version shows the same.
    let other = match version {
        Version::V1 => Version::V2,
        Version::V2 => Version::V1,
    };
    check::check(tools, scratch, other, Ending::HungUp, told, tally)?;
    check::check(tools, scratch, version, Ending::HungUp, told, tally)
}
