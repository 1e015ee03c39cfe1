//! Everything that the app can want done.

use std::path::PathBuf;

use ply_client::v2;

use super::shell::ShellId;
use super::{AgentId, AskId, TabId};
use crate::composer::Outgoing;
use crate::tour::TourProgram;

/// Something to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    /// Open a session in a tab, and start its agent first if need be.
    Open(TabId, AgentId, Target),
    Prompt(TabId, Outgoing),
    Cancel(TabId),
    /// Choose an option of a permission request.
    Select(AskId, v2::PermissionOptionId),
    AnswerForm(AskId, v2::ElicitationAction),
    SetOption(TabId, v2::SessionConfigId, v2::SessionConfigOptionValue),
    ListSessions(AgentId),
    Login(AgentId, v2::AuthMethodId),
    /// End an agent's processes at once.
    Kill(AgentId),
    /// Let go of a session; the agent keeps it.
    Close(TabId),
    /// Look for the files of the directory of a tab's session.
    FindFiles(TabId),
    /// See whether a pasted text is the path of an image.
    CheckImage(TabId, String),
    /// Let the user edit the text of a tab with their editor.
    Edit(TabId, String),
    /// Keep a prompt for later days.
    Remember(String),
    /// Keep what was not sent; an empty text forgets it.
    SaveDraft {
        agent: AgentId,
        session: String,
        text: String,
    },
    /// Run a command of the user's in the directory of a tab's session.
    Shell(ShellId, TabId, String),
    /// End the command of the user's that runs.
    StopShell {
        is_forced: bool,
    },
    /// Write a tab's session as a document; to a file of some name if none is given.
    Export(TabId, String),
    /// Run a program of a tour.
    Errand(TourProgram),
    /// Call the user, who looks elsewhere.
    Notify(String),
    /// Draw everything anew, whatever the terminal shows.
    Redraw,
    Suspend,
    Quit,
}

/// What to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    New,
    Stored {
        id: String,
        cwd: Option<PathBuf>,
        /// What it was called where it was chosen.
        title: String,
    },
    /// The latest of the directory, else a new one.
    Latest,
}
