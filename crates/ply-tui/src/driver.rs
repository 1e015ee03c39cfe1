//! The loop around the app: it owns the terminal, the agents and the tasks, and does what the app says.

mod agents;
mod background;
mod editor;
mod export;
mod failure;
mod files;
mod images;
mod input;
mod sessions;
mod shell;
mod store;
mod tty;

use std::io;
use std::process::Stdio;
use std::time::Duration;

use crossterm::event::KeyEvent;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::Instant;

use self::agents::Agents;
use self::input::Input;
use self::sessions::{Note, Sessions};
use self::shell::Shell;
use self::store::Store;
use self::tty::{Screen, Tty};
use crate::app::{Action, AgentId, App, Event, TabId};
use crate::draw::Transcripts as _;
use crate::error::Error;
use crate::options::{Background, Exported, Options};
use crate::tour::TourProgram;
use crate::wire_log::WireLog;

/// The time between two frames.
const FRAME_TIME: Duration = Duration::from_millis(16);
/// The time between two looks at the clock, while something moves.
const TICK_TIME: Duration = Duration::from_millis(100);
/// Notes that wait for the loop before who writes them waits too.
const NOTES_MAX: usize = 256;
/// Notes taken before keys are looked at again.
const NOTES_AT_ONCE_MAX: usize = 64;
/// How long agents end in silence.
const END_SAID_AFTER: Duration = Duration::from_millis(500);
/// Keys taken before the screen is drawn.
const KEYS_AT_ONCE_MAX: usize = 256;

/// Shows the client until the user quits.
///
/// # Errors
///
/// [`Error::NoAgent`] without agents, [`Error::Terminal`] if the terminal cannot be used or is gone.
///
/// # Cancel safety
///
/// The terminal is restored and the agents end.
pub async fn run(options: Options) -> Result<(), Error> {
    if options.agents.is_empty() {
        return Err(Error::NoAgent);
    }
    let screen = Tty::new(options.mouse)?;
    let mut options = options;
    let mut typed = Vec::new();
    if options.background == Background::Unknown && options.theme.is_none() {
        // Before anybody else reads what the terminal sends.
        let answer = background::ask()?;
        options.background = answer.background.unwrap_or_default();
        typed = answer.typed;
    }
    drive(options, screen, Input::terminal(), typed).await
}

/// Runs the client on any screen with any input.
async fn drive(
    options: Options,
    screen: impl Screen,
    input: Input,
    typed: Vec<KeyEvent>,
) -> Result<(), Error> {
    let began = Instant::now();
    let log = WireLog::default();
    let (notes, inbox) = mpsc::channel(NOTES_MAX);
    let store = Store::new(&options);
    let (app, first) = App::new(&options, store.history(), log.clone());
    let agents = Agents::new(&options, &log, began, &notes);
    let mut driver = Driver {
        sessions: Sessions::new(&options, agents, notes),
        app,
        screen,
        input,
        store,
        shell: Shell::default(),
        options,
        began,
        title: String::new(),
        is_away: false,
        is_over: false,
    };
    driver.act_all(first);
    driver.sessions.recall(AgentId(0));
    for key in typed {
        driver.feed(Event::Key(key), false);
    }
    let shown = driver.show(inbox).await;
    // The terminal is the user's again before agents take their time to end, and so is what they type meanwhile.
    driver.input.pause();
    let left = driver.screen.leave();
    for line in driver.app.farewell(&driver.options) {
        // A terminal that is gone needs no words.
        drop(driver.screen.say_after(&line));
    }
    let Driver {
        sessions,
        mut screen,
        ..
    } = driver;
    end(sessions, &mut screen).await;
    shown.and(left).map_err(Error::Terminal)
}

/// Runs a program of a tour and waits for it, in a thread of its own. It says nothing to the terminal, which is the client's.
fn errand(program: &TourProgram) -> io::Result<()> {
    let Some((name, arguments)) = program.words.split_first() else {
        return Ok(());
    };
    let mut command = std::process::Command::new(name);
    command
        .args(arguments)
        .envs(
            program
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn()?;
    // What comes of it is on the screen, or is not.
    let waiting = std::thread::Builder::new().name("errand".to_owned());
    waiting.spawn(move || drop(child.wait()))?;
    Ok(())
}

/// Ends the agents, says so if that takes a while, and stops waiting when the user has enough.
async fn end(sessions: Sessions, screen: &mut impl Screen) {
    // Without the signals only the time ends it.
    let ends = Ends::new();
    let enough = async {
        match ends {
            Ok(mut ends) => ends.next(false).await,
            Err(_) => std::future::pending().await,
        }
    };
    let mut ended = std::pin::pin!(sessions.end());
    let mut enough = std::pin::pin!(enough);
    tokio::select! {
        () = &mut ended => return,
        () = &mut enough => return,
        () = tokio::time::sleep(END_SAID_AFTER) => {}
    }
    // A terminal that is gone needs no words.
    drop(screen.say_after("waiting for the agent to end; Ctrl-C ends it at once"));
    tokio::select! {
        () = ended => {}
        () = enough => {}
    }
}

struct Driver<S> {
    app: App,
    screen: S,
    input: Input,
    sessions: Sessions,
    store: Store,
    /// The user's own commands.
    shell: Shell,
    options: Options,
    began: Instant,
    title: String,
    /// Somebody else has the terminal: an editor.
    is_away: bool,
    is_over: bool,
}

impl<S: Screen> Driver<S> {
    async fn show(&mut self, mut inbox: mpsc::Receiver<Note>) -> io::Result<()> {
        let mut ends = Ends::new()?;
        let mut drawn_at = self.began - FRAME_TIME;
        let mut is_stale = true;
        let mut ticks = tokio::time::interval(TICK_TIME);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        while !self.is_over {
            is_stale |= self.app.take_changed();
            let due = drawn_at + FRAME_TIME;
            if is_stale && !self.is_away && Instant::now() >= due {
                self.draw()?;
                drawn_at = Instant::now();
                // A frame may have left something for the next.
                is_stale = self.app.take_changed();
            }
            tokio::select! {
                biased;
                () = ends.next(self.is_away) => self.feed(Event::Tick(self.now()), true),
                event = self.input.next(), if !self.is_away => self.keys(event).await?,
                note = inbox.recv() => {
                    self.note(note);
                    for _ in 1..NOTES_AT_ONCE_MAX {
                        match inbox.try_recv() {
                            Ok(note) => self.note(Some(note)),
                            Err(_) => break,
                        }
                    }
                }
                () = tokio::time::sleep_until(due), if is_stale && !self.is_away => {}
                _ = ticks.tick(), if self.app.wants_ticks() => {
                    self.feed(Event::Tick(self.now()), false);
                }
            }
        }
        Ok(())
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Takes a key, and those right behind it, so that a burst is drawn once.
    async fn keys(&mut self, first: Option<io::Result<Event>>) -> io::Result<()> {
        let now = self.now();
        self.feed(Event::Tick(now), false);
        let mut next = first;
        for _ in 0..KEYS_AT_ONCE_MAX {
            match next {
                Some(Ok(event)) => {
                    // A screen that became smaller and is now as it was has lost what it showed.
                    if matches!(event, Event::Resize) {
                        self.screen.refresh();
                    }
                    self.feed(event, false);
                }
                Some(Err(error)) => return Err(error),
                // The terminal is gone.
                None => self.is_over = true,
            }
            if self.is_over || self.is_away {
                break;
            }
            match self.input.ready().await {
                Some(event) => next = Some(event),
                None => break,
            }
        }
        Ok(())
    }

    fn note(&mut self, note: Option<Note>) {
        if let Some(Note::EditorEnded(tab, result)) = note {
            self.back();
            self.feed(Event::Edited(tab, result), false);
        } else if let Some(event) = note.and_then(|note| self.sessions.take(note)) {
            self.feed(event, false);
        }
    }

    fn feed(&mut self, event: Event, is_end: bool) {
        // Without this, what happens after a long silence would seem to have happened before it.
        self.app.set_now(self.now());
        if matches!(event, Event::Key(_)) {
            crate::draw::check_question(&mut self.app, &self.sessions);
        }
        let actions = self.app.update(event);
        self.act_all(actions);
        if is_end {
            let mut last = Vec::new();
            self.app.quit(&mut last);
            self.act_all(last);
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        self.app.set_now(self.now());
        let (app, sessions) = (&mut self.app, &self.sessions);
        self.screen
            .draw(&mut |frame| crate::draw::draw(app, frame, sessions))?;
        let title = self.app.title();
        if title != self.title {
            self.screen.set_title(&title)?;
            self.title = title;
        }
        Ok(())
    }

    fn act_all(&mut self, actions: Vec<Action>) {
        for action in actions {
            if let Err(error) = self.act(action) {
                self.app.complain(error.to_string());
            }
        }
    }

    fn act(&mut self, action: Action) -> io::Result<()> {
        match action {
            Action::Quit => self.is_over = true,
            Action::Redraw => self.screen.refresh(),
            Action::Suspend => {
                self.away()?;
                // Everything of this process stands still until the user brings it back.
                let own = rustix::process::getpid();
                rustix::process::kill_process(own, rustix::process::Signal::TSTP)?;
                self.back();
            }
            Action::Edit(tab, text) => {
                let file = self.store.scratch(&text)?;
                let editor = self.options.editor.clone();
                self.away()?;
                if let Err(error) = editor::start(tab, editor, file, self.sessions.notes()) {
                    self.back();
                    return Err(error);
                }
            }
            Action::Shell(id, tab, line) => {
                let cwd = self.sessions.cwd_of(tab).to_owned();
                let (shell, notes) = (&self.options.shell, self.sessions.notes());
                self.shell.start(id, shell, &line, &cwd, notes);
            }
            Action::StopShell { is_forced } => self.shell.stop(is_forced),
            Action::Export(tab, name) => {
                let told = self.export(tab, &name)?;
                self.app.say(told);
            }
            Action::Errand(program) => errand(&program)?,
            Action::Remember(text) => self.store.remember(&text)?,
            Action::SaveDraft {
                agent,
                session,
                text,
            } => self.store.save_draft(agent, &session, &text)?,
            Action::Notify(words) => self.screen.notify(&words, self.options.notify)?,
            action => self.sessions.act(action, &self.store),
        }
        Ok(())
    }

    /// Writes a session to a file and says where it is.
    fn export(&mut self, tab: TabId, name: &str) -> io::Result<String> {
        let Some(write) = self.options.export else {
            return Err(io::Error::other("sessions cannot be exported here"));
        };
        let cwd = self.sessions.cwd_of(tab).to_owned();
        let known = self.app.tab_by_id(tab);
        let known = known.and_then(|tab| Some((tab.session.clone()?, tab.name().to_owned())));
        let Some((id, title)) = known else {
            return Err(io::Error::other("there is nothing to export yet"));
        };
        let mut document = Vec::new();
        self.sessions.with(tab, &mut |transcript| {
            document = write(&Exported {
                title: &title,
                id: &id,
                cwd: &cwd,
                transcript,
            });
        });
        let path = export::path(name, &id, &cwd, self.options.home.as_deref());
        export::write(&path, &document)?;
        Ok(format!("exported to {}", ply_client::text::path(&path)))
    }

    /// Gives the terminal away.
    fn away(&mut self) -> io::Result<()> {
        self.is_away = true;
        self.input.pause();
        self.screen.leave()
    }

    fn back(&mut self) {
        self.is_away = false;
        self.input.resume();
        if let Err(error) = self.screen.enter() {
            self.app.complain(format!("the terminal: {error}"));
        }
        let actions = self.app.update(Event::Resize);
        self.act_all(actions);
    }
}

/// The signals that end the client.
struct Ends {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
}

impl Ends {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self, is_away: bool) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.hang_up.recv() => return,
                // Ctrl-C in an editor is for the editor, and reaches us too.
                _ = self.interrupt.recv() => if !is_away { return },
            }
        }
    }
}

#[cfg(test)]
mod tests;
