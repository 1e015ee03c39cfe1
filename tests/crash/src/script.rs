//! Scripts: prompts that say what the agent is to do, so that what must be there afterwards is known.
//!
//! A script is a tag and steps, such as `[s1t4] say:3 tool:2 ask:allow`. Its [beats](Beat) are what the agent does one after
//! the other; those of them that leave something in the session are [atoms](Atom), and each holds a [token](Token) of its own.
//! Whoever sees a token in anything that the agent wrote has been told of its atom.

mod shape;
mod token;

use std::fmt;
use std::str::FromStr;

use ply_sim::Choices;

pub use self::shape::{Shape, Status};
pub use self::token::{Tag, Token, tags_in, tokens_in};

/// What a prompt asks the agent to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Whose turn it is.
    pub tag: Tag,
    steps: Vec<Step>,
}

/// One step of a script, with how many or how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Chunks of one message.
    Say(usize),
    /// Chunks of one thought.
    Think(usize),
    /// A plan of so many entries.
    Plan(usize),
    /// A tool call with an effect and so many pieces of output.
    Tool(usize),
    /// A tool call with one output of so many kibibytes.
    Long(usize),
    /// A tool call that changes a file.
    Edit,
    /// A tool call that the user is asked about.
    Ask(Choice),
    /// Nothing, for so many milliseconds.
    Rest(usize),
}

/// What the user answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Yes, this time.
    Allow,
    /// No, this time.
    Reject,
}

/// What the agent does, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Beat {
    /// Leaves something in the session.
    Atom(Atom),
    /// Does something outside of it that cannot be undone.
    Effect(Token),
    /// Waits, in milliseconds.
    Rest(u64),
}

/// What leaves something in the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Atom {
    /// A chunk of a message.
    Say(String),
    /// A chunk of a thought.
    Think(String),
    /// A plan, in place of the one before.
    Plan(Vec<String>),
    /// Opens a tool call.
    Open(String),
    /// Starts it.
    Start,
    /// Adds to its output.
    Output(String),
    /// Adds a change of a file.
    Edit {
        /// The file.
        path: String,
        /// Its text before.
        old: String,
        /// Its text after.
        new: String,
    },
    /// Asks about it.
    Ask {
        /// What is asked.
        title: String,
        /// What will be answered.
        choice: Choice,
    },
    /// Ends it well.
    Finish,
    /// Ends it badly, with a reason.
    Fail(String),
}

/// Bytes of one line of long output, about.
const LINE_BYTES: usize = 64;

impl Script {
    /// Returns a script of these steps.
    #[must_use]
    pub fn new(tag: Tag, steps: impl Into<Vec<Step>>) -> Self {
        let steps = steps.into();
        Self { tag, steps }
    }

    /// Returns a script of a few steps of any kind.
    #[must_use]
    pub fn random(tag: Tag, choices: &mut Choices<'_>) -> Self {
        let steps = (0..=choices.below(5)).map(|_| Step::random(choices));
        let steps: Vec<_> = steps.collect();
        Self { tag, steps }
    }

    /// Returns what the agent does.
    #[must_use]
    pub fn beats(&self) -> Vec<Beat> {
        let mut beats = Beats {
            tag: self.tag,
            atoms: 0,
            beats: Vec::new(),
        };
        for step in &self.steps {
            beats.step(*step);
        }
        beats.beats
    }

    /// Returns what it leaves in the session, in order.
    #[must_use]
    pub fn atoms(&self) -> Vec<Atom> {
        let beats = self.beats().into_iter();
        beats
            .filter_map(|beat| match beat {
                Beat::Atom(atom) => Some(atom),
                Beat::Effect(_) | Beat::Rest(_) => None,
            })
            .collect()
    }

    /// Returns what is to be answered to the question that an atom puts.
    #[must_use]
    pub fn answer(&self, atom: usize) -> Option<Choice> {
        match self.atoms().get(atom)? {
            Atom::Ask { choice, .. } => Some(*choice),
            _ => None,
        }
    }
}

impl Step {
    fn random(choices: &mut Choices<'_>) -> Self {
        // Small numbers are the usual ones.
        let mut up_to = |limit: u64| 1 + usize::try_from(choices.below(limit)).unwrap_or(0);
        let (small, large) = (up_to(8), up_to(80));
        match choices.weighted(&[24, 6, 10, 10, 16, 8, 6, 14, 6, 10]) {
            0 => Self::Say(small),
            1 => Self::Say(3 * large),
            2 => Self::Think(small),
            3 => Self::Plan(small),
            4 => Self::Tool(small),
            5 => Self::Long(large),
            6 => Self::Edit,
            7 => Self::Ask(Choice::Allow),
            8 => Self::Ask(Choice::Reject),
            // From far below to above the time that what is said may wait to be written.
            _ => Self::Rest(3 * small),
        }
    }
}

struct Beats {
    tag: Tag,
    atoms: usize,
    beats: Vec<Beat>,
}

impl Beats {
    /// Adds the atom that is made of its token.
    fn atom(&mut self, make: impl FnOnce(Token) -> Atom) -> Token {
        let token = Token {
            tag: self.tag,
            atom: self.atoms,
        };
        self.atoms += 1;
        self.beats.push(Beat::Atom(make(token)));
        token
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Say(count) => (0..count).for_each(|_| {
                self.atom(|token| Atom::Say(format!("{token} ")));
            }),
            Step::Think(count) => (0..count).for_each(|_| {
                self.atom(|token| Atom::Think(format!("{token} ")));
            }),
            Step::Plan(count) => {
                let entries = |token| (0..count).map(move |entry| format!("{token} {entry}"));
                self.atom(|token| Atom::Plan(entries(token).collect()));
            }
            Step::Tool(count) => {
                let call = self.open();
                self.start(call);
                for _ in 0..count {
                    self.atom(|token| Atom::Output(token.to_string()));
                }
                self.atom(|_| Atom::Finish);
            }
            Step::Long(kib) => {
                let call = self.open();
                self.start(call);
                self.atom(|token| Atom::Output(long(token, kib * 1024)));
                self.atom(|_| Atom::Finish);
            }
            Step::Edit => {
                let call = self.open();
                self.start(call);
                self.atom(|token| Atom::Edit {
                    path: format!("/work/{token}"),
                    old: format!("before {token}\n"),
                    new: format!("after {token}\n"),
                });
                self.atom(|_| Atom::Finish);
            }
            Step::Ask(choice) => {
                let call = self.open();
                self.atom(|token| Atom::Ask {
                    title: format!("May I? {token}"),
                    choice,
                });
                if choice == Choice::Reject {
                    self.atom(|token| Atom::Fail(format!("refused {token}")));
                    return;
                }
                self.start(call);
                self.atom(|token| Atom::Output(token.to_string()));
                self.atom(|_| Atom::Finish);
            }
            Step::Rest(ms) => self.beats.push(Beat::Rest(ms as u64)),
        }
    }

    fn open(&mut self) -> Token {
        self.atom(|token| Atom::Open(format!("call {token}")))
    }

    /// Starts a tool call, whose effect follows at once.
    fn start(&mut self, call: Token) {
        self.atom(|_| Atom::Start);
        self.beats.push(Beat::Effect(call));
    }
}

/// Returns a long text in which a missing piece would show.
fn long(token: Token, bytes: usize) -> String {
    let lines =
        (0..bytes / LINE_BYTES).map(|line| format!("\n{line:0width$}", width = LINE_BYTES - 1));
    std::iter::once(token.to_string()).chain(lines).collect()
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tag.fmt(f)?;
        for step in &self.steps {
            match step {
                Step::Say(count) => write!(f, " say:{count}"),
                Step::Think(count) => write!(f, " think:{count}"),
                Step::Plan(count) => write!(f, " plan:{count}"),
                Step::Tool(count) => write!(f, " tool:{count}"),
                Step::Long(kib) => write!(f, " long:{kib}"),
                Step::Edit => write!(f, " edit:1"),
                Step::Ask(Choice::Allow) => write!(f, " allow:1"),
                Step::Ask(Choice::Reject) => write!(f, " reject:1"),
                Step::Rest(ms) => write!(f, " rest:{ms}"),
            }?;
        }
        Ok(())
    }
}

impl FromStr for Script {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("no script: {text}");
        let mut words = text.split_ascii_whitespace();
        let tag = words.next().and_then(|word| tags_in(word).next());
        let step = |word: &str| {
            let (name, count) = word.split_once(':')?;
            let count = count.parse().ok()?;
            Some(match name {
                "say" => Step::Say(count),
                "think" => Step::Think(count),
                "plan" => Step::Plan(count),
                "tool" => Step::Tool(count),
                "long" => Step::Long(count),
                "edit" => Step::Edit,
                "allow" => Step::Ask(Choice::Allow),
                "reject" => Step::Ask(Choice::Reject),
                "rest" => Step::Rest(count),
                _ => return None,
            })
        };
        let steps = words.map(step).collect::<Option<Vec<_>>>();
        Ok(Self {
            tag: tag.ok_or_else(wrong)?,
            steps: steps.ok_or_else(wrong)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_what_its_words_say() {
        let mut choices = Choices::from_seed(1);
        for turn in 0..100 {
            let script = Script::random(Tag { session: 3, turn }, &mut choices);
            assert_eq!(script.to_string().parse(), Ok(script));
        }
        for wrong in ["", "say:1", "[s1t1] say", "[s1t1] sing:1", "[s1] say:1"] {
            assert!(wrong.parse::<Script>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_atom_with_a_text_has_its_own_token() {
        let script: Script = "[s1t2] say:2 tool:1 allow:1 reject:1 long:1 edit:1 plan:1"
            .parse()
            .unwrap();
        let atoms = script.atoms();
        let has_text = |atom: &Atom| !matches!(atom, Atom::Start | Atom::Finish);
        for (place, atom) in atoms.iter().enumerate().filter(|(_, atom)| has_text(atom)) {
            let text = format!("{atom:?}");
            assert!(tokens_in(&text).all(|token| token.atom == place && token.tag == script.tag));
            assert!(tokens_in(&text).next().is_some(), "{text}");
        }
    }
}
