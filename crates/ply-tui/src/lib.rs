//! The screens of the terminal client: a transcript, a composer, and what needs a person.
//!
//! [`run`] shows them until the user quits. Everything that is decided is decided in `app`, which knows no terminal and no
//! process: events go in, actions come out. `driver` does what it says, and `draw` shows what it is.
//!
//! The library reads neither environment nor configuration; [`Options`] has all of that.

mod app;
#[doc(hidden)]
pub mod bench_support;
mod block;
mod composer;
mod diff;
mod draw;
mod driver;
mod error;
mod fuzzy;
mod help;
mod highlight;
mod keymap;
mod markdown;
mod options;
mod paths;
mod theme;
mod tour;
mod transcript_view;
mod wire_log;
mod wrap;

pub use diff::DiffStyle;
pub use driver::run;
pub use error::Error;
pub use keymap::Keys;
pub use options::{AgentChoice, Background, Exported, Notify, Open, Options};
pub use theme::{ColorDepth, THEME_NAMES, Theme};
pub use tour::{TourAct, TourKey, TourMoment, TourProgram, TourStep};
