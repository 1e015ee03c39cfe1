//! What the client is and what it decides: events in, actions out. It knows no terminal, no process and no clock.

pub(crate) mod action;
pub(crate) mod ask;
mod commands;
mod config;
pub(crate) mod event;
pub(crate) mod form;
pub(crate) mod hint;
mod keys;
mod news;
pub(crate) mod picker;
pub(crate) mod popup;
pub(crate) mod shell;
pub(crate) mod start;
pub(crate) mod tab;
mod tabs;
pub(crate) mod tour;

use std::collections::VecDeque;

use ratatui::layout::Rect;

pub(crate) use self::action::{Action, Target};
pub(crate) use self::config::{Care, current_name, find_setting};
pub(crate) use self::event::Event;
use self::event::{Facts, Failure};
use self::picker::Picker;
use self::popup::Popup;
use self::shell::Shell;
use self::start::Start;
use self::tab::{Attention, Tab};
use self::tour::Tour;
use crate::composer::{Composer, History};
use crate::diff::DiffStyle;
use crate::keymap::Keys;
use crate::options::{Open, Options};
use crate::paths::Paths;
use crate::theme::{ColorDepth, THEME_NAMES, Theme};
use crate::wire_log::WireLog;

/// Milliseconds since the client began.
pub(crate) type Tick = u64;

/// Notices shown at once.
const NOTICES_MAX: usize = 3;
/// How long a notice is shown, in milliseconds.
const NOTICE_MS: Tick = 8000;
/// How long a first Ctrl-C is remembered, in milliseconds.
const QUIT_MS: Tick = 2000;
/// How long a question's answers have to be in sight before a key can give one, in milliseconds: a key that was meant for
/// something else is pressed by then.
const ASK_MS: Tick = 500;
/// How long a cancelled turn may go on before that is said, in milliseconds, where the agent was not even asked yet.
const CANCEL_MS: Tick = 10_000;
/// Sessions that are named when the client has ended.
const FAREWELLS_MAX: usize = 5;
/// Columns of the terminal's title.
const TITLE_COLUMNS_MAX: usize = 200;
/// How often what is being written is saved, in milliseconds.
const DRAFT_MS: Tick = 1000;

/// An agent, by its place in the list of choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AgentId(pub(crate) usize);

/// A tab; never used again for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TabId(pub(crate) u64);

/// A question of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AskId(pub(crate) u64);

/// Where keys go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Focus {
    Composer,
    /// The agent's questions.
    Asks,
    /// The prompts that wait; the number of the one that is chosen.
    Queue(usize),
    /// The form that was being filled in is gone: what is typed is for nobody, until the user goes back to the composer.
    Nowhere,
}

/// Something that covers the rest.
#[derive(Debug)]
pub(crate) enum Overlay {
    Help { scroll: u16 },
    Picker(Picker),
}

/// A search in the history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Search {
    pub(crate) words: String,
    pub(crate) skip: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    /// When it goes by itself; an error stays until the user does something about it.
    until: Option<Tick>,
}

/// What is known of an agent that can be chosen.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) name: String,
    pub(crate) program: String,
    pub(crate) install: Option<String>,
    pub(crate) facts: Option<Facts>,
}

/// The wire log on the screen.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LogPane {
    pub(crate) is_open: bool,
    /// The line that the keys are on.
    pub(crate) chosen: Option<u64>,
    /// It is shown whole, from this row on.
    pub(crate) whole: Option<usize>,
}

/// What the client is.
pub(crate) struct App {
    pub(crate) agents: Vec<Known>,
    pub(crate) tabs: Vec<Tab>,
    pub(crate) current: usize,
    next_tab: u64,
    pub(crate) focus: Focus,
    pub(crate) overlay: Option<Overlay>,
    pub(crate) popup: Option<Popup>,
    /// The popup was closed with Esc and stays so until the text changes.
    popup_closed: bool,
    pub(crate) search: Option<Search>,
    pub(crate) notices: VecDeque<Notice>,
    pub(crate) theme: Theme,
    /// Themes of the user's own.
    themes: Vec<(String, Theme)>,
    pub(crate) keys: Keys,
    /// The command that the user ran last.
    pub(crate) shell: Option<Shell>,
    next_shell: u64,
    colors: Option<ColorDepth>,
    pub(crate) diff_style: DiffStyle,
    pub(crate) show_thoughts: bool,
    pub(crate) show_plan: bool,
    pub(crate) log_pane: LogPane,
    pub(crate) log: WireLog,
    pub(crate) start: Start,
    pub(crate) tour: Option<Tour>,
    /// Where paths are seen from, unless a session works elsewhere.
    paths: Paths,
    /// Says how long ago a time was.
    ago: fn(&str) -> String,
    history: History,
    /// The files of the session's directory.
    pub(crate) files: Option<Vec<String>>,
    /// They may have changed since.
    are_files_stale: bool,
    /// Until then Enter and numbers do nothing: the question that they may be meant for is gone.
    deaf_until: Tick,
    pub(crate) is_focused: bool,
    quit_armed: Option<Tick>,
    /// When a key was last pressed.
    key_at: Tick,
    draft_saved: Tick,
    /// What is being written may have changed since.
    is_draft_touched: bool,
    pub(crate) now: Tick,
    /// Where the transcript was drawn, for the mouse.
    pub(crate) transcript_area: Rect,
    is_changed: bool,
}

impl App {
    /// Returns the app and what it wants done first.
    pub(crate) fn new(
        options: &Options,
        history: Vec<String>,
        log: WireLog,
    ) -> (Self, Vec<Action>) {
        let agents = options.agents.iter().map(|choice| Known {
            name: choice.name.clone(),
            program: choice.command.program().to_string_lossy().into_owned(),
            install: choice.install.clone(),
            facts: None,
        });
        let theme = match (&options.theme, options.background) {
            (Some(name), _) => named(name, &options.themes).unwrap_or_else(Theme::dark),
            (None, crate::Background::Dark | crate::Background::Unknown) => Theme::dark(),
            (None, crate::Background::Light) => Theme::light(),
        };
        let mut app = Self {
            agents: agents.collect(),
            tabs: Vec::new(),
            current: 0,
            next_tab: 1,
            focus: Focus::Composer,
            overlay: None,
            popup: None,
            popup_closed: false,
            search: None,
            notices: VecDeque::new(),
            theme: fit(theme, options.colors),
            themes: options.themes.clone(),
            keys: options.keys.clone(),
            shell: None,
            next_shell: 1,
            colors: options.colors,
            diff_style: options.diff_style,
            show_thoughts: false,
            show_plan: true,
            log_pane: LogPane::default(),
            log,
            start: Start::new(options),
            tour: Tour::new(&options.tour),
            paths: Paths::new(&options.cwd, options.home.clone()),
            ago: options.ago,
            history: History::new(history),
            files: None,
            are_files_stale: false,
            deaf_until: 0,
            is_focused: true,
            quit_armed: None,
            key_at: 0,
            draft_saved: 0,
            is_draft_touched: false,
            now: 0,
            transcript_area: Rect::default(),
            is_changed: true,
        };
        let mut out = Vec::new();
        let target = match &options.open {
            Open::New | Open::Picker => Target::New,
            Open::Latest => Target::Latest,
            Open::Session(id) => Target::Stored {
                id: id.clone(),
                cwd: None,
                title: String::new(),
            },
        };
        if options.open == Open::Picker {
            app.pick_session(AgentId(0), &mut out);
        } else {
            app.open_tab(AgentId(0), target, &mut out);
        }
        if let Some(prompt) = &options.prompt {
            if app.tabs.is_empty() {
                app.open_tab(AgentId(0), Target::New, &mut out);
            }
            if let Some(tab) = app.tab_mut() {
                tab.queue.push_back(Composer::with_text(prompt));
            }
        }
        (app, out)
    }

    /// Takes one event and returns what is to be done.
    #[must_use]
    pub(crate) fn update(&mut self, event: Event) -> Vec<Action> {
        let mut out = Vec::new();
        // Looking is left for later: a text may be long.
        self.is_draft_touched |= matches!(
            event,
            Event::Key(_) | Event::Paste(_) | Event::Edited(..) | Event::Image(..)
        );
        match event {
            Event::Tick(now) => self.tick(now, &mut out),
            Event::Key(key) => {
                self.is_changed = true;
                self.key_at = self.now;
                if !self.tour_key(key) {
                    self.press(key, &mut out);
                }
            }
            Event::Mouse(mouse) => self.mouse(mouse),
            Event::Paste(text) => {
                self.is_changed = true;
                self.paste(text, &mut out);
            }
            event => {
                self.is_changed = true;
                let queued = self.tab().map(|tab| (tab.id, tab.queue.len()));
                self.news(event, &mut out);
                self.follow_queue(queued);
            }
        }
        out
    }

    /// Tells the time without asking what it changes.
    pub(crate) fn set_now(&mut self, now: Tick) {
        self.now = self.now.max(now);
    }

    /// Keeps the focus on the same queued prompt, now that others came or went before it.
    fn follow_queue(&mut self, before: Option<(TabId, usize)>) {
        let now = self.tab().map(|tab| (tab.id, tab.queue.len()));
        let (Focus::Queue(place), Some((old, was)), Some((new, is))) = (self.focus, before, now)
        else {
            return;
        };
        self.focus = match (place + is).checked_sub(was) {
            Some(place) if old == new && place < is => Focus::Queue(place),
            _ => Focus::Composer,
        };
    }

    /// Notes whether the answers of the question that is open were drawn.
    pub(crate) fn asks_drawn(&mut self, is_shown: bool) {
        let now = self.now;
        let Some(tab) = self.tab_mut() else {
            return;
        };
        let open = tab.ask;
        for (place, ask) in tab.asks.iter_mut().enumerate() {
            ask.drawn_at = match place == open && is_shown {
                true => ask.drawn_at.or(Some(now)),
                false => None,
            };
        }
    }

    /// Returns whether keys answer the question that is open: whoever presses them has seen it.
    pub(crate) fn can_answer(&self) -> bool {
        let ask = self.tab().and_then(Tab::open_ask);
        let drawn_at = ask.and_then(|ask| ask.drawn_at);
        drawn_at.is_some_and(|at| at + ASK_MS <= self.now)
    }

    /// Returns whether a question waits for its moment.
    fn is_ask_fresh(&self) -> bool {
        let ask = self.tab().and_then(Tab::open_ask);
        ask.is_some_and(|ask| ask.drawn_at.is_some()) && !self.can_answer()
    }

    /// Returns whether the screen has to be drawn again, once for each change.
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.is_changed)
    }

    /// Asks for another drawing: this one could not show all there is in its time.
    pub(crate) fn draw_again(&mut self) {
        self.is_changed = true;
    }

    /// Returns whether time changes what is shown.
    pub(crate) fn wants_ticks(&self) -> bool {
        self.tabs.iter().any(Tab::is_moving)
            || self.tour.is_some()
            || self.notices.iter().any(|notice| notice.until.is_some())
            || self.shell.as_ref().is_some_and(Shell::is_running)
            || self.quit_armed.is_some()
            || self.is_draft_touched
            || self.is_ask_fresh()
    }

    pub(crate) fn tab(&self) -> Option<&Tab> {
        self.tabs.get(self.current)
    }

    pub(crate) fn tab_mut(&mut self) -> Option<&mut Tab> {
        self.tabs.get_mut(self.current)
    }

    pub(crate) fn tab_by_id(&mut self, id: TabId) -> Option<&mut Tab> {
        self.tabs.iter_mut().find(|tab| tab.id == id)
    }

    /// Returns where the paths of the session that is looked at are seen from.
    pub(crate) fn paths(&self) -> Paths {
        match self.tab().map(|tab| &tab.target) {
            Some(Target::Stored { cwd: Some(cwd), .. }) => self.paths.at(cwd),
            _ => self.paths.clone(),
        }
    }

    /// Returns how long ago a time was, as people say it.
    pub(crate) fn ago(&self, time: &str) -> String {
        (self.ago)(time)
    }

    pub(crate) fn agent(&self, id: AgentId) -> Option<&Known> {
        self.agents.get(id.0)
    }

    /// Returns whether the first Ctrl-C was a moment ago.
    pub(crate) fn is_quit_armed(&self) -> bool {
        self.quit_armed.is_some()
    }

    /// Returns the title for the terminal, harmless.
    pub(crate) fn title(&self) -> String {
        let needs = self.tabs.iter().any(|tab| !tab.asks.is_empty());
        let works = self.tabs.iter().any(Tab::is_working);
        let mark = match (needs, works) {
            (true, _) => "! ",
            (false, true) => "… ",
            (false, false) => "",
        };
        let tab = self.tab();
        let name = tab.and_then(|tab| self.agent(tab.agent));
        let name = name.map_or("ply", |known| known.name.as_str());
        let title = tab.map_or("", Tab::name);
        let title = match title {
            "" => format!("{mark}{name}"),
            title => format!("{mark}{title} — {name}"),
        };
        let title = ply_client::text::Line(&title).to_string();
        ply_client::text::beginning(&title, TITLE_COLUMNS_MAX).into_owned()
    }

    /// Returns what is said when the client has ended: how to go on with what was said in it.
    pub(crate) fn farewell(&self, options: &Options) -> Vec<String> {
        let mut lines = Vec::new();
        for tab in self.tabs.iter().filter(|tab| tab.has_content()) {
            let choice = options.agents.get(tab.agent.0);
            let resume = choice.and_then(|choice| choice.resume.as_deref());
            if let (Some(resume), Some(session)) = (resume, &tab.session) {
                let session = ply_client::text::Line(session).to_string();
                lines.push(format!("  {}", resume.replace("{}", &session)));
            }
        }
        let more = lines.len().saturating_sub(FAREWELLS_MAX);
        lines.truncate(FAREWELLS_MAX);
        if more > 0 {
            lines.push(format!("  and {more} more: ply sessions recent"));
        }
        if !lines.is_empty() {
            lines.insert(0, "To continue:".to_owned());
        }
        lines
    }

    /// Shows a notice for `NOTICE_MS`.
    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.add_notice(text.into(), false);
    }

    /// Shows an error until the user presses Esc or sends something.
    pub(crate) fn complain(&mut self, text: impl Into<String>) {
        self.add_notice(text.into(), true);
    }

    fn add_notice(&mut self, text: String, is_error: bool) {
        let until = (!is_error).then_some(self.now + NOTICE_MS);
        self.notices.retain(|notice| notice.text != text);
        self.notices.push_back(Notice {
            text,
            is_error,
            until,
        });
        while self.notices.len() > NOTICES_MAX {
            self.notices.pop_front();
        }
    }

    pub(crate) fn set_theme(&mut self, name: &str) {
        match named(name, &self.themes) {
            Some(theme) => self.theme = fit(theme, self.colors),
            None => {
                let names = self.theme_names().join(", ");
                self.complain(format!("unknown theme `{name}`; the themes are {names}"));
            }
        }
    }

    /// Returns the names of all themes.
    pub(crate) fn theme_names(&self) -> Vec<String> {
        let own = self.themes.iter().map(|(name, _)| name.clone());
        THEME_NAMES
            .into_iter()
            .map(str::to_owned)
            .chain(own)
            .collect()
    }

    /// Takes away the errors that the user has seen.
    fn dismiss_errors(&mut self) {
        self.notices.retain(|notice| notice.until.is_some());
    }

    /// Notes that a tab wants to be looked at, and calls a user who is elsewhere.
    fn call_user(&mut self, id: TabId, why: Attention, out: &mut Vec<Action>) {
        let is_looked_at = self.tab().is_some_and(|tab| tab.id == id);
        let is_focused = self.is_focused;
        let Some(tab) = self.tab_by_id(id) else {
            return;
        };
        if !is_looked_at && tab.attention != Some(Attention::NeedsYou) {
            tab.attention = Some(why);
        }
        if !is_focused {
            let what = match why {
                Attention::NeedsYou => "needs you",
                Attention::Finished => "has finished",
            };
            let agent = tab.agent;
            let name = self.agent(agent).map_or("the agent", |known| &known.name);
            out.push(Action::Notify(format!("{name} {what}")));
        }
    }

    fn tick(&mut self, now: Tick, out: &mut Vec<Action>) {
        let was_fresh = self.is_ask_fresh();
        self.set_now(now);
        self.is_changed |= was_fresh != self.is_ask_fresh();
        for tab in &mut self.tabs {
            tab.look_at_clock(now);
        }
        let notices = self.notices.len();
        self.notices
            .retain(|notice| notice.until.is_none_or(|until| until > now));
        self.is_changed |= notices != self.notices.len();
        self.is_changed |= self.tabs.iter().any(Tab::is_moving)
            || self.shell.as_ref().is_some_and(Shell::is_running);
        if self.quit_armed.is_some_and(|at| at + QUIT_MS <= now) {
            self.quit_armed = None;
            self.is_changed = true;
        }
        if self.is_draft_touched && self.draft_saved + DRAFT_MS <= now {
            self.save_draft(out);
        }
        self.go_on_tour(out);
    }
}

/// Returns a theme by name: one of the user's own, or one that there always is.
fn named(name: &str, own: &[(String, Theme)]) -> Option<Theme> {
    let found = own.iter().find(|(known, _)| known == name);
    found
        .map(|(_, theme)| theme.clone())
        .or_else(|| Theme::named(name))
}

fn fit(theme: Theme, colors: Option<ColorDepth>) -> Theme {
    match colors {
        Some(depth) => theme.for_colors(depth),
        None => Theme::plain(),
    }
}

impl Failure {
    /// Returns the words alone.
    pub(crate) fn words(&self) -> &str {
        match self {
            Self::Missing(words) | Self::Died(words) | Self::Other(words) => words,
            Self::Auth(_, Some(words)) => words,
            Self::Auth(_, None) => "the agent needs a login first",
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
