//! All keys and commands, for the help screen and the guide.

/// A command of this client, written after a slash or a colon.
#[derive(Debug)]
pub(crate) struct LocalCommand {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
}

const fn command(name: &'static str, what: &'static str) -> LocalCommand {
    LocalCommand { name, what }
}

/// The commands of this client.
pub(crate) const COMMANDS: &[LocalCommand] = &[
    command("help", "shows keys and commands"),
    command(
        "new",
        "starts a session, with another agent if you name one",
    ),
    command("sessions", "lists the agent's sessions"),
    command("agents", "starts a session with another agent"),
    command("model", "chooses the model"),
    command("mode", "chooses the mode"),
    command("set", "sets an option: /set NAME VALUE"),
    command("theme", "chooses the theme"),
    command("log", "shows the wire log"),
    command("plan", "shows or hides the plan"),
    command("thoughts", "shows or hides thoughts"),
    command("diff", "shows diffs in one or in two columns"),
    command(
        "export",
        "writes the session to a Markdown file: /export FILE",
    ),
    command("kill", "ends an agent that does not stop"),
    command("clear", "starts a new session in place of this one"),
    command("redraw", "redraws the screen"),
    command("close", "closes the session here; the agent keeps it"),
    command("quit", "quits"),
];

/// Keys and what they do, in groups.
pub(crate) const KEYS: &[(&str, &[(&str, &str)])] = &[
    (
        "Writing",
        &[
            ("Enter", "sends; while the agent works, queues"),
            (
                "Alt-Enter, Ctrl-J",
                "new line (Shift-Enter where the terminal reports it)",
            ),
            (
                "Alt-I",
                "interrupts the turn and sends (Ctrl-Enter where the terminal reports it)",
            ),
            ("Tab", "in a new session, a prompt to try"),
            ("Esc", "closes, returns a queued prompt, else cancels"),
            (
                "Ctrl-C",
                "clears the text, else cancels; press twice to quit",
            ),
            ("Ctrl-D", "quits, when nothing is written"),
            ("Up, Down", "earlier prompts, at the edges of the text"),
            ("Ctrl-R", "searches earlier prompts"),
            ("Ctrl-G", "writes in your editor"),
            ("@", "names a file"),
            ("/", "a command of the agent or of this client"),
            (":", "a command of this client, at the beginning"),
            ("!", "a shell command; the agent does not see it"),
            ("!!", "the same, and adds its output to your prompt"),
            ("Ctrl-A, Ctrl-E", "start and end of the line"),
            ("Alt-B, Alt-F", "a word back, a word on"),
            (
                "Ctrl-W, Ctrl-U, Ctrl-K",
                "deletes a word, to the start, to the end",
            ),
            ("Ctrl-Y", "restores what was deleted"),
            (
                "Ctrl-X, or Up",
                "goes to the queued prompts: Enter edits, Del removes",
            ),
        ],
    ),
    (
        "Questions of the agent",
        &[
            ("1–9", "answers, when nothing is written"),
            ("Tab", "goes to the questions, and through them"),
            ("Up, Down, Enter", "another way to answer"),
            ("PgUp, PgDn", "scrolls a long question"),
            ("Ctrl-D", "declines a form"),
        ],
    ),
    (
        "Looking",
        &[
            ("PgUp, PgDn, wheel", "scrolls"),
            ("Ctrl-Home, Ctrl-End", "first and last line"),
            ("Alt-Up, Alt-Down", "previous and next prompt"),
            (
                "Alt-F",
                "folds and unfolds, when nothing is written; a click does one",
            ),
            ("Alt-T", "thoughts"),
            ("Ctrl-T", "plan"),
            ("Alt-L", "wire log; Up, Down and Enter show a line whole"),
            ("Ctrl-L", "redraws the screen"),
            ("Shift with the mouse", "selects, as the terminal does"),
        ],
    ),
    (
        "Sessions",
        &[
            ("Ctrl-N", "new session"),
            ("Ctrl-S", "stored sessions"),
            ("Ctrl-P", "next open session"),
            ("Alt-1 … Alt-9", "open session by number"),
            ("Alt-W", "closes the session here; the agent keeps it"),
            ("Shift-Tab", "next mode"),
            ("Ctrl-O", "options: model, mode and others"),
            ("Alt-K", "kills an agent that does not stop"),
            ("Ctrl-Z", "suspends this program"),
            ("F1, ?", "this help; ? when nothing is written"),
        ],
    ),
];
